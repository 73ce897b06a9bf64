//! The choice among candidates computed again: from what each came to, as `formalize` had received it.

use serde_json::{Value, json};

use super::verification::Verification;
use crate::pipeline::machine::{MAX_CANDIDATES, lifeline_of};
use crate::pipeline::records::{
    Candidate, CandidateFinished, CandidateReceived, Entry, RunEvent, RunView, Stage, to_value,
};
use crate::pipeline::run::{best, leaders};

/// Compares an event of the candidates with what follows from those before it in the same attempt.
pub(super) fn hold(again: &mut Verification, view: &RunView, entry: &Entry) {
    let results =
        Results { here: view.in_flight.as_ref().map(|attempt| attempt.events.as_slice()).unwrap_or_default() };
    match &entry.event {
        RunEvent::CandidateFinished(finished) => check_finished(again, view, entry, finished),
        RunEvent::CandidateReceived(CandidateReceived { candidate, stage, .. }) => {
            match results.finished(*candidate, *stage) {
                Some(one) => again.compare("candidates", entry, &["points"], &json!({"points": one.points()})),
                None => again.object("candidates", entry.seq, "what is received had not been sent"),
            }
        }
        RunEvent::LeadersSelected(named) => {
            let drafted = results.received(Stage::Formalization);
            let mut received: Vec<u32> = drafted.iter().map(|one| one.candidate).collect();
            received.sort_unstable();
            let mut told = named.received.clone();
            told.sort_unstable();
            if told != received {
                let text = format!("`received` of leaders_selected is {told:?}; it follows that it is {received:?}");
                again.object("candidates", entry.seq, text);
            }
            again.compare("candidates", entry, &["leaders"], &json!({"leaders": leaders(&drafted)}));
        }
        RunEvent::CandidateChosen(_) => match results.choice() {
            Some(follows) => again.compare("candidates", entry, &["chosen", "criterion", "received"], &follows),
            None => again.object("candidates", entry.seq, "a candidate is chosen where none had been received"),
        },
        _ => {}
    }
}

/// The claims of a candidate, and its step of the objective by what was measured of it.
fn check_finished(
    again: &mut Verification,
    view: &RunView,
    entry: &Entry,
    CandidateFinished { candidate: one, .. }: &CandidateFinished,
) {
    if !(1..=MAX_CANDIDATES).contains(&one.candidate) || lifeline_of(one.candidate) != entry.lifeline {
        let text = format!("{} speaks of candidate {}", entry.lifeline, one.candidate);
        again.object("candidates", entry.seq, text);
        return;
    }
    again.compare("candidates", entry, &["claims"], &json!({"claims": one.claims()}));
    let Some(step) = &one.step else { return };
    let mut follows = view.objective_after(view.parent, &step.metrics).map_or(json!({}), |step| to_value(&step));
    let mut metrics = to_value(&step.metrics);
    // What else was measured of it is its own testimony.
    for (name, value) in [
        ("states", one.quick.as_ref().and_then(|quick| quick.distinct).map(|n| json!(n))),
        ("covered", one.rank.map(|rank| json!(rank.covered))),
    ] {
        if let (Some(told), Some(value)) = (metrics.get_mut(name), value) {
            *told = value;
        }
    }
    follows["metrics"] = metrics;
    again.compare("objective", entry, &["step"], &json!({"step": follows}));
}

/// The events of the attempt so far.
struct Results<'a> {
    here: &'a [Entry],
}

impl Results<'_> {
    /// The result of a candidate at a stage.
    fn finished(&self, number: u32, stage: Stage) -> Option<Candidate> {
        let finished = self.here.iter().rev().filter_map(|entry| entry.event.try_as_candidate_finished_ref());
        let mut results = finished.map(|finished| &finished.candidate);
        results.find(|one| (one.candidate, one.stage) == (number, stage)).cloned()
    }

    /// The results of a stage that had been received.
    fn received(&self, stage: Stage) -> Vec<Candidate> {
        let received = self.here.iter().filter_map(|entry| entry.event.try_as_candidate_received_ref());
        let of_stage = received.filter(|received| received.stage == stage);
        of_stage.filter_map(|received| self.finished(received.candidate, stage)).collect()
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
        Some(json!({"chosen": winner.candidate, "criterion": by, "received": received}))
    }
}
