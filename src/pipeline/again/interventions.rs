//! Interventions computed again: what each answer that came would have come to, and which of them was to be taken.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::candidates::Candidate;
use super::super::run::{record, to_value};
use super::super::station::Station;
use super::super::watch::{Forecast, Intervened, Sampled, Watch, taken_data};
use super::policy::Rules;
use super::replay::Again;
use crate::journal::{Event, Kind, Record, Sha, is_apart};
use crate::monitor::StepText;

/// Holds `intervened` of a group, and the answer that is taken with it, against what the answers that came come to.
pub(super) fn hold(again: &mut Again, rules: &Rules, before: &[Event], group: &[Event]) {
    let Some(event) = group.iter().find(|event| event.name == "intervened") else { return };
    // What cannot be understood is told when it is folded.
    let Ok(told) = Intervened::deserialize(&event.data) else { return };
    let taken = group.iter().find(|e| matches!(e.name.as_str(), "answer_taken" | "answer_offered"));
    if taken.is_none_or(|taken| taken.data["candidate"] != event.data["candidate"]) {
        again.object("intervention", event.seq, "the answer that is taken with it is another");
    }
    // An earlier version did not tell what each came to.
    let Some(best) = Sampled::best(&told.samples) else { return };
    let mut met = None;
    for (at, sample) in told.samples.iter().enumerate() {
        let received = answer(before, event, told.purpose.as_str(), sample.candidate);
        let Some(received) = received else {
            let text = format!("answer {} was not received", sample.candidate);
            again.object("intervention", event.seq, text);
            return;
        };
        if at == best && taken.is_some_and(|taken| taken.data["artifact"] != received.data["artifact"]) {
            again.object("intervention", event.seq, "the text that is taken with it is of another answer");
        }
        let Some((forecast, follows)) = forecast(rules, before, (event, received), sample) else {
            // Where there is no policy to ask, that is told already.
            if rules.watch().is_some() {
                again
                    .open
                    .push(format!("what answer {} would have come to before event {}", sample.candidate, event.seq));
            }
            continue;
        };
        if at == 0 {
            let first = forecast.violated.iter().find(|rule| rule.intervention.is_some());
            met = first.map(|rule| rule.rule.clone()).or_else(|| follows.predicted.first().cloned());
        }
        let (told, follows) = (to_value(sample), to_value(&follows));
        if told != follows {
            let text = format!("of answer {}, `samples` says {told}; it follows: {follows}", sample.candidate);
            again.object("intervention", event.seq, text);
        }
    }
    let (first, best) = (&told.samples[0], &told.samples[best]);
    let all = |sample: &Sampled| [sample.violated.clone(), sample.predicted.clone()].concat();
    let left = all(best);
    let prevented: Vec<String> = all(first).into_iter().filter(|rule| !left.contains(rule)).collect();
    let mut follows = json!({
        "candidate": best.candidate, "calls": told.samples.len() - 1, "violated": best.violated, "prevented": prevented,
        "rule": event.data["rule"], "which": event.data["which"],
    });
    if let Some(rule) = met {
        follows["which"] = json!(rules.watch().and_then(|watch| watch.intervention(&rule)));
        follows["rule"] = json!(rule);
    }
    let fields = ["rule", "which", "calls", "candidate", "violated", "prevented"];
    again.compare("intervention", event, &fields, &follows);
}

/// Holds answers that are taken, where answers are held before, against what was received, and against its labels.
pub(super) fn taken(again: &mut Again, rules: &Rules, before: &[Event], group: &[Event]) {
    let takes = |event: &&Event| matches!(event.name.as_str(), "answer_taken" | "answer_offered");
    for event in group.iter().filter(takes) {
        let is_it = |received: &&Event| {
            let one = |field: &str| received.data[field] == event.data[field];
            received.name == "answer_received"
                && received.rev == event.rev
                && (received.lifeline == event.lifeline || is_apart(&received.lifeline))
                && ["purpose", "candidate", "artifact"].into_iter().all(one)
                && !received.data["held"].is_null()
        };
        let Some(received) = before.iter().rfind(is_it) else {
            again.object("intervention", event.seq, "an answer is taken that was not received");
            continue;
        };
        let field = if event.name == "answer_taken" { "told" } else { "held" };
        let mut follows = received.data["held"].clone();
        // Another policy may have asked for other labels since: those that are told are asked alone where they are its own.
        let labelled = labelled(rules, before, received).filter(|e| e.data["asked"] == event.data[field]["asked"]);
        for name in ["asked", "by", "labels"] {
            follows[name] = labelled.map_or(&event.data[field], |event| &event.data)[name].clone();
        }
        let mut data = json!({});
        data[field] = follows;
        again.compare("intervention", event, &[field], &data);
    }
}

/// The answer of that number to the same request.
fn answer<'a>(before: &'a [Event], intervened: &Event, purpose: &str, candidate: u32) -> Option<&'a Event> {
    let is_it = |event: &&Event| {
        event.name == "answer_received"
            && (event.lifeline.as_str(), event.rev, event.attempt)
                == (intervened.lifeline.as_str(), intervened.rev, intervened.attempt)
            && event.data["purpose"] == purpose
            && event.data["candidate"] == candidate
            && !event.data["held"].is_null()
    };
    before.iter().rfind(is_it)
}

/// What an answer would have come to when it was asked: right behind it and its labels, or, where the run was resumed
/// since, wherever it was asked then. `None` where nobody can ask.
fn forecast(
    rules: &Rules,
    before: &[Event],
    (intervened, received): (&Event, &Event),
    told: &Sampled,
) -> Option<(Forecast, Sampled)> {
    let labelled = labelled(rules, before, received);
    let labels = labelled.map(|e| json!({"labels": e.data["labels"], "asked": e.data["asked"], "by": e.data["by"]}));
    let (taker, mut records) = drafted(before, received);
    let (rev, attempt) = (received.rev, received.attempt);
    let data = taken_data(&received.data, labels.as_ref());
    records.push(record(taker, Kind::Act, "answer_taken", rev, attempt, data));
    let predicted = |forecast: &Forecast, watch: &Watch| -> Vec<String> {
        if forecast.violated.iter().any(|rule| rule.intervention.is_some()) {
            return Vec::new();
        }
        let is_it = |event: &&Event| {
            event.name == "predicted"
                && (event.lifeline == intervened.lifeline && event.rev == rev && event.attempt == attempt)
                && event.data["purpose"] == intervened.data["purpose"]
                && event.data["candidate"] == told.candidate
        };
        let Some(event) = before.iter().rfind(is_it) else { return Vec::new() };
        let threshold = event.data["threshold"].as_f64().unwrap_or_default() - f64::EPSILON;
        let high = |rule: &String| event.data["estimates"][rule].as_f64().is_some_and(|estimate| estimate >= threshold);
        watch.undecided().into_iter().map(|rule| rule.rule).filter(high).collect()
    };
    let ready = labelled.map_or(received.seq, |event| event.seq.max(received.seq));
    let mut first = None;
    for watch in rules.watches_since(ready) {
        let Some(forecast) = Rules::forecast(watch, before, records.clone()) else { continue };
        let follows = forecast.sampled(told.candidate, predicted(&forecast, &watch.1));
        if follows == *told {
            return Some((forecast, follows));
        }
        first.get_or_insert((forecast, follows));
    }
    first
}

/// What labelled an answer: of the same text, asked by the policy's own words.
fn labelled<'a>(rules: &Rules, before: &'a [Event], received: &Event) -> Option<&'a Event> {
    let asked = rules.watch()?.labels();
    if asked.is_empty() {
        return None;
    }
    let sha = Sha::deserialize(&received.data["artifact"]).ok()?;
    let tools = received.data["held"]["tools"].as_array().into_iter().flatten();
    let tools = tools.filter_map(Value::as_str).map(str::to_owned).collect();
    let (step, asked) = (StepText { text: rules.text(&sha)?, tools }.sha(), asked.sha());
    let is_it = |event: &&Event| {
        event.name == "labelled"
            && (event.lifeline == received.lifeline || !is_apart(&event.lifeline))
            && event.data["asked"] == *asked.as_str()
            && event.data["step"] == *step.as_str()
    };
    before.iter().rfind(is_it)
}

/// Who would take an answer, and what would be taken before it: of a candidate's properties, its draft.
fn drafted(before: &[Event], received: &Event) -> (&'static str, Vec<Record>) {
    let lifeline = received.lifeline.as_str();
    if !is_apart(lifeline) {
        return (Station::by_name(lifeline).map_or("second_reading", Station::name), Vec::new());
    }
    let mine = |event: &&Event| event.seq < received.seq && (event.lifeline == lifeline && event.rev == received.rev);
    let own = || before.iter().filter(mine);
    let is_draft = |event: &&Event| event.name == "candidate_finished" && event.attempt == received.attempt;
    let Some(draft) = own().rfind(is_draft).and_then(|event| Candidate::deserialize(&event.data).ok()) else {
        return (Station::Formalize.name(), Vec::new());
    };
    let is_answer = |event: &&Event| event.data["artifact"] == *draft.answer.as_str() && !event.data["held"].is_null();
    let named = |name: &'static str| own().filter(move |event| event.name == name).rfind(is_answer);
    let answer = named("answer_offered").or_else(|| named("answer_received"));
    let station = Station::Formalize.name();
    let taken = |event: &Event| {
        record(station, Kind::Act, "answer_taken", event.rev, event.attempt, taken_data(&event.data, None))
    };
    (Station::GenerateInvariants.name(), answer.map(taken).into_iter().collect())
}
