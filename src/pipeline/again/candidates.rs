//! The choice among candidates computed again: from what each came to, as `formalize` had received it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::candidates::{Candidate, MAX_CANDIDATES, Stage, best, leaders, lifeline_of};
use super::super::run::to_value;
use super::super::view::RunView;
use super::replay::Again;
use crate::journal::Event;

/// Holds an event of the candidates against what follows from those before it in the same attempt.
pub(super) fn hold(again: &mut Again, view: &RunView, event: &Event) {
    let contest =
        Contest { here: view.in_flight.as_ref().map(|attempt| attempt.events.as_slice()).unwrap_or_default() };
    match event.name.as_str() {
        "candidate_finished" => finished(again, view, event),
        "candidate_received" => {
            let (number, stage) = of(event);
            match number.and_then(|number| contest.finished(number, stage?)) {
                Some(one) => again.compare("candidates", event, &["points"], &json!({"points": one.points()})),
                None => again.object("candidates", event.seq, "what is received had not been sent"),
            }
        }
        "leaders_named" => {
            let drafted = contest.received(Stage::Formalization);
            let mut received: Vec<u32> = drafted.iter().map(|one| one.candidate).collect();
            received.sort_unstable();
            let mut told = Vec::<u32>::deserialize(&event.data["received"]).unwrap_or_default();
            told.sort_unstable();
            if told != received {
                let text = format!("`received` of leaders_named is {told:?}; it follows that it is {received:?}");
                again.object("candidates", event.seq, text);
            }
            again.compare("candidates", event, &["leaders"], &json!({"leaders": leaders(&drafted)}));
        }
        _ => match contest.choice() {
            Some(follows) => again.compare("candidates", event, &["chosen", "by", "received"], &follows),
            None => again.object("candidates", event.seq, "a candidate is chosen where none had been received"),
        },
    }
}

/// What a candidate says of itself, and its step of the objective by what was measured of it.
fn finished(again: &mut Again, view: &RunView, event: &Event) {
    // What cannot be understood is told when it is folded.
    let Ok(one) = Candidate::deserialize(&event.data) else { return };
    if !(1..=MAX_CANDIDATES).contains(&one.candidate) || lifeline_of(one.candidate) != event.lifeline {
        let text = format!("{} speaks of candidate {}", event.lifeline, one.candidate);
        again.object("candidates", event.seq, text);
        return;
    }
    again.compare("candidates", event, &["says"], &json!({"says": one.says()}));
    let Some(step) = one.step.as_ref().filter(|_| !event.data["step"]["metrics"].is_null()) else { return };
    let mut follows = view.objective_after(view.parent, &step.metrics).map_or(json!({}), |step| to_value(&step));
    let mut metrics = event.data["step"]["metrics"].clone();
    // What else was measured of it is its own testimony.
    for (name, value) in [
        ("states", one.quick.as_ref().and_then(|quick| quick.distinct).map(|n| json!(n))),
        ("covered", one.standing.map(|standing| json!(standing.covered))),
    ] {
        if let (Some(told), Some(value)) = (metrics.get_mut(name), value) {
            *told = value;
        }
    }
    follows["metrics"] = metrics;
    again.compare("objective", event, &["step"], &json!({"step": follows}));
}

fn of(event: &Event) -> (Option<u32>, Option<Stage>) {
    let number = event.data["candidate"].as_u64().and_then(|n| u32::try_from(n).ok());
    (number, Stage::deserialize(&event.data["stage"]).ok())
}

/// The events of the attempt so far.
struct Contest<'a> {
    here: &'a [Event],
}

impl Contest<'_> {
    /// What a candidate came to at a stage.
    fn finished(&self, number: u32, stage: Stage) -> Option<Candidate> {
        let is_it = |event: &&Event| event.name == "candidate_finished" && of(event) == (Some(number), Some(stage));
        self.here.iter().rfind(is_it).and_then(|event| Candidate::deserialize(&event.data).ok())
    }

    /// What had been received of a stage.
    fn received(&self, stage: Stage) -> Vec<Candidate> {
        let is_it = |event: &&Event| event.name == "candidate_received" && of(event).1 == Some(stage);
        let numbers = self.here.iter().filter(is_it).filter_map(|event| of(event).0);
        numbers.filter_map(|number| self.finished(number, stage)).collect()
    }

    /// Which one goes on, and why it does.
    fn choice(&self) -> Option<Value> {
        let mut all = self.received(Stage::Formalization);
        let leading = self.received(Stage::Properties);
        all.retain(|one| leading.iter().all(|leader| leader.candidate != one.candidate));
        all.extend(leading.iter().cloned());
        let (winner, by) = best(if leading.is_empty() { &all } else { &leading })?;
        let points = all.iter().map(|one| (one.candidate.to_string(), json!(one.points())));
        let received = Value::Object(points.collect());
        Some(json!({"chosen": winner.candidate, "by": by, "received": received}))
    }
}
