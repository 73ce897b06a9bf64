//! Interventions computed again: what each answer that came would have come to, and which of them was to be taken.

use serde_json::json;

use super::rules::Rules;
use super::verification::Verification;
use crate::journal::{Kind, Sha, is_apart};
use crate::monitor::StepText;
use crate::pipeline::machine::NodeName;
use crate::pipeline::policy::{Forecast, Watch};
use crate::pipeline::records::{
    AnswerAccepted, AnswerFacts, AnswerLabels, AnswerReceived, Entry, Intervened, Labelled, Predicted, Record,
    RunEvent, Sampled, record, to_value,
};

/// An answer that a journal takes, or would take if its candidate is chosen.
struct Taken<'a> {
    purpose: &'a str,
    candidate: u32,
    artifact: &'a Sha,
    facts: &'a AnswerFacts,
    /// The field that holds the facts.
    field: &'static str,
}

impl<'a> Taken<'a> {
    fn of(event: &'a RunEvent) -> Option<Self> {
        match event {
            RunEvent::AnswerAccepted(a) => Some(Self {
                purpose: &a.purpose,
                candidate: a.candidate,
                artifact: &a.artifact,
                facts: &a.answer,
                field: "answer",
            }),
            RunEvent::AnswerOffered(a) => Some(Self {
                purpose: &a.purpose,
                candidate: a.candidate,
                artifact: &a.artifact,
                facts: &a.pending_answer,
                field: "pending_answer",
            }),
            _ => None,
        }
    }
}

/// An answer that was received and held until it was decided whether it is taken.
#[derive(Clone, Copy)]
struct Received<'a> {
    entry: &'a Entry,
    answer: &'a AnswerReceived,
    facts: &'a AnswerFacts,
}

impl<'a> Received<'a> {
    fn of(entry: &'a Entry) -> Option<Self> {
        let answer = entry.event.try_as_answer_received_ref()?;
        Some(Self { entry, answer, facts: answer.pending_answer.as_ref()? })
    }
}

/// Compares `intervened` of a group, and the answer that is taken with it, with what the answers that came come to.
pub(super) fn hold(again: &mut Verification, rules: &Rules, before: &[Entry], group: &[Entry]) {
    let intervened = group.iter().find_map(|entry| Some((entry, entry.event.try_as_intervened_ref()?)));
    let Some((entry, told)) = intervened else { return };
    let taken = group.iter().find_map(|entry| Taken::of(&entry.event));
    if taken.as_ref().is_none_or(|taken| taken.candidate != told.candidate) {
        again.object("intervention", entry.seq, "the answer that is taken with it is another");
    }
    let Some(best) = Sampled::best(&told.samples) else {
        again.object("intervention", entry.seq, "`samples` of intervened is empty");
        return;
    };
    let mut met = None;
    for (at, sample) in told.samples.iter().enumerate() {
        let Some(received) = answer(before, entry, &told.purpose, sample.candidate) else {
            let text = format!("answer {} was not received", sample.candidate);
            again.object("intervention", entry.seq, text);
            return;
        };
        if at == best && taken.as_ref().is_some_and(|taken| *taken.artifact != received.answer.artifact) {
            again.object("intervention", entry.seq, "the text that is taken with it is of another answer");
        }
        let Some((forecast, follows)) = forecast(rules, before, (entry, told), received, sample) else {
            // If there is no policy to ask, that is told already.
            if rules.watch().is_some() {
                again
                    .unverified
                    .push(format!("what answer {} would have come to before event {}", sample.candidate, entry.seq));
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
            again.object("intervention", entry.seq, text);
        }
    }
    let (first, best) = (&told.samples[0], &told.samples[best]);
    let all = |sample: &Sampled| [sample.violated.clone(), sample.predicted.clone()].concat();
    let left = all(best);
    let prevented: Vec<String> = all(first).into_iter().filter(|rule| !left.contains(rule)).collect();
    let mut follows = json!({
        "candidate": best.candidate, "calls": told.samples.len() - 1, "violated": best.violated, "prevented": prevented,
        "rule": told.rule, "intervention": told.intervention,
    });
    if let Some(rule) = met {
        follows["intervention"] = json!(rules.watch().and_then(|watch| watch.intervention(&rule)));
        follows["rule"] = json!(rule);
    }
    let fields = ["rule", "intervention", "calls", "candidate", "violated", "prevented"];
    again.compare("intervention", entry, &fields, &follows);
}

/// Compares answers that are taken after they were held with what was received, and with its labels.
pub(super) fn taken(again: &mut Verification, rules: &Rules, before: &[Entry], group: &[Entry]) {
    for entry in group {
        let Some(taken) = Taken::of(&entry.event) else { continue };
        let is_it = |received: &Received<'_>| {
            let Received { entry: from, answer, .. } = received;
            from.rev == entry.rev
                && (from.lifeline == entry.lifeline || is_apart(&from.lifeline))
                && (answer.purpose.as_str(), answer.candidate, &answer.artifact)
                    == (taken.purpose, taken.candidate, taken.artifact)
        };
        let Some(received) = before.iter().rev().filter_map(Received::of).find(is_it) else {
            again.object("intervention", entry.seq, "an answer is taken that was not received");
            continue;
        };
        // Another policy may have asked for other labels since: those that are told are asked alone if they are its own.
        let asked = taken.facts.labels.as_ref().map(|labels| &labels.propositions);
        let labelled =
            labelled(rules, before, received).filter(|(_, labelled)| Some(&labelled.given.propositions) == asked);
        let labels = labelled.map(|(_, labelled)| labelled.given.clone()).or_else(|| taken.facts.labels.clone());
        let mut data = json!({});
        data[taken.field] = to_value(&AnswerFacts { labels, ..received.facts.clone() });
        again.compare("intervention", entry, &[taken.field], &data);
    }
}

/// The answer of that number to the same request.
fn answer<'a>(before: &'a [Entry], intervened: &Entry, purpose: &str, candidate: u32) -> Option<Received<'a>> {
    let is_it = |Received { entry, answer, .. }: &Received<'_>| {
        (&entry.lifeline, entry.rev, entry.attempt) == (&intervened.lifeline, intervened.rev, intervened.attempt)
            && answer.purpose == purpose
            && answer.candidate == candidate
    };
    before.iter().rev().filter_map(Received::of).find(is_it)
}

/// What an answer would have come to when it was asked: right behind it and its labels, or, if the run was resumed since,
/// wherever it was asked then. `None` if there is nothing to ask.
fn forecast(
    rules: &Rules,
    before: &[Entry],
    (entry, intervened): (&Entry, &Intervened),
    received: Received<'_>,
    told: &Sampled,
) -> Option<(Forecast, Sampled)> {
    let labelled = labelled(rules, before, received);
    let labels = labelled.map(|(_, labelled)| labelled.given.clone());
    let (taker, mut records) = drafted(before, received);
    let (rev, attempt) = (received.entry.rev, received.entry.attempt);
    records.push(taken_record(taker, rev, attempt, received.answer, labels)?);
    let predicted = |forecast: &Forecast, watch: &Watch| -> Vec<String> {
        if forecast.violated.iter().any(|rule| rule.intervention.is_some()) {
            return Vec::new();
        }
        let here = |other: &&Entry| (&other.lifeline, other.rev, other.attempt) == (&entry.lifeline, rev, attempt);
        let mut predictions = before.iter().rev().filter(here).filter_map(|e| e.event.try_as_predicted_ref());
        let is_it =
            |predicted: &&Predicted| predicted.purpose == intervened.purpose && predicted.candidate == told.candidate;
        let Some(predicted) = predictions.find(is_it) else { return Vec::new() };
        let threshold = predicted.threshold - f64::EPSILON;
        let high = |rule: &String| predicted.estimates.get(rule).is_some_and(|estimate| *estimate >= threshold);
        watch.undecided().into_iter().map(|rule| rule.rule).filter(high).collect()
    };
    let seq = received.entry.seq;
    let ready = labelled.map_or(seq, |(labelled, _)| labelled.max(seq));
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

fn taken_record(
    taker: &'static str,
    rev: u32,
    attempt: u32,
    answer: &AnswerReceived,
    labels: Option<AnswerLabels>,
) -> Option<Record> {
    let taken = AnswerAccepted::of(answer, labels)?;
    Some(record(taker, Kind::Act, rev, attempt, RunEvent::AnswerAccepted(taken)))
}

/// What labelled an answer, and the number of its event: of the same text, asked by the policy's own words.
fn labelled<'a>(rules: &Rules, before: &'a [Entry], received: Received<'_>) -> Option<(u64, &'a Labelled)> {
    let asked = rules.watch()?.labels();
    if asked.is_empty() {
        return None;
    }
    let text = rules.text(&received.answer.artifact)?;
    let (step, asked) = (StepText { text, tools: received.facts.tools.clone() }.sha(), asked.sha());
    let mine = |entry: &&Entry| entry.lifeline == received.entry.lifeline || !is_apart(&entry.lifeline);
    let mut labelled = before.iter().rev().filter(mine).filter_map(|e| Some((e.seq, e.event.try_as_labelled_ref()?)));
    labelled.find(|(_, labelled)| labelled.given.propositions == asked && labelled.step == step)
}

/// Who would take an answer, and what would be taken before it: of a candidate's properties, its draft.
fn drafted(before: &[Entry], received: Received<'_>) -> (&'static str, Vec<Record>) {
    let Entry { lifeline, rev, seq, attempt, .. } = received.entry;
    if !is_apart(lifeline) {
        return (NodeName::by_name(lifeline).map_or("second_reading", NodeName::name), Vec::new());
    }
    let mine = |entry: &&Entry| entry.seq < *seq && (&entry.lifeline, &entry.rev) == (lifeline, rev);
    let own = || before.iter().rev().filter(mine);
    let draft = own()
        .filter(|entry| entry.attempt == *attempt)
        .find_map(|entry| entry.event.try_as_candidate_finished_ref())
        .map(|finished| &finished.candidate.answer);
    let node = NodeName::Formalize.name();
    let Some(draft) = draft else { return (node, Vec::new()) };
    let offered = own().find_map(|entry| match &entry.event {
        RunEvent::AnswerOffered(offered) if offered.artifact == *draft => {
            let taken = RunEvent::AnswerAccepted(offered.clone().into());
            Some(record(node, Kind::Act, entry.rev, entry.attempt, taken))
        }
        _ => None,
    });
    let answered = || {
        own()
            .filter_map(Received::of)
            .find(|received| received.answer.artifact == *draft)
            .and_then(|received| taken_record(node, received.entry.rev, received.entry.attempt, received.answer, None))
    };
    (NodeName::GenerateInvariants.name(), offered.or_else(answered).into_iter().collect())
}
