//! The choice among candidates, recomputed from the results that `formalize` had received.

use serde_json::{Value, json};

use super::verification::Verification;
use crate::pipeline::machine::{MAX_CANDIDATES, candidate_lifeline};
use crate::pipeline::records::{
    Candidate, CandidateFinished, CandidateReceived, Entry, RunEvent, RunView, Stage, to_value,
};
use crate::pipeline::run::{select_best, select_leaders};

/// Compares an event of the candidates with what follows from earlier events of the same attempt.
pub(super) fn check_event(verification: &mut Verification, view: &RunView, entry: &Entry) {
    let results =
        Results { here: view.in_flight.as_ref().map(|attempt| attempt.events.as_slice()).unwrap_or_default() };
    match &entry.event {
        RunEvent::CandidateFinished(finished) => check_finished(verification, view, entry, finished),
        RunEvent::CandidateReceived(CandidateReceived { candidate, stage, .. }) => {
            match results.finished(*candidate, *stage) {
                Some(one) => verification.compare("candidates", entry, &["points"], &json!({"points": one.points()})),
                None => verification.object("candidates", entry.seq, "the received result had not been sent"),
            }
        }
        RunEvent::LeadersSelected(named) => {
            let drafted = results.received(Stage::Formalization);
            let mut received: Vec<u32> = drafted.iter().map(|one| one.candidate).collect();
            received.sort_unstable();
            let mut told = named.received.clone();
            told.sort_unstable();
            if told != received {
                let text = format!("`received` of leaders_selected is {told:?}; recomputed: {received:?}");
                verification.object("candidates", entry.seq, text);
            }
            verification.compare("candidates", entry, &["leaders"], &json!({"leaders": select_leaders(&drafted)}));
        }
        RunEvent::CandidateChosen(_) => match results.choice() {
            Some(follows) => verification.compare("candidates", entry, &["chosen", "criterion", "received"], &follows),
            None => verification.object("candidates", entry.seq, "a candidate is chosen, but none had been received"),
        },
        // Verified with their group, the rules or the interventions.
        RunEvent::AttemptFinished(_)
        | RunEvent::BranchStarted(_)
        | RunEvent::CheckFinished(_)
        | RunEvent::RunFinished(_)
        | RunEvent::RuleViolated(_)
        | RunEvent::AnswerAccepted(_)
        | RunEvent::AnswerOffered(_)
        | RunEvent::Intervened(_)
        | RunEvent::GuardEvaluated(_)
        | RunEvent::Routed(_)
        | RunEvent::ClaimsRestored(_)
        | RunEvent::RevisionClosed(_)
        | RunEvent::RunStarted(_)
        | RunEvent::RunResumed(_)
        | RunEvent::AttemptStarted(_) => {}
        // Not recomputed: the words of models and tools, and what was observed outside of the journal.
        RunEvent::RequestSent(_)
        | RunEvent::AnswerReceived(_)
        | RunEvent::Labelled(_)
        | RunEvent::Predicted(_)
        | RunEvent::AnswerNormalised(_)
        | RunEvent::PartTaken(_)
        | RunEvent::PartMissing(_)
        | RunEvent::CallFailed(_)
        | RunEvent::ModelSwitched(_)
        | RunEvent::RequestPartOmitted(_)
        | RunEvent::ReadRefused(_)
        | RunEvent::AnswerUnreadable(_)
        | RunEvent::ToolFinished(_)
        | RunEvent::CandidateStarted(_)
        | RunEvent::QuickCheckFinished(_)
        | RunEvent::CandidateAbandoned(_)
        | RunEvent::LeaderNotified(_)
        | RunEvent::MutantsJudged(_) => {}
    }
}

/// Checks the claims of a candidate, and its step of the objective by its metrics.
fn check_finished(
    verification: &mut Verification,
    view: &RunView,
    entry: &Entry,
    CandidateFinished { candidate: one, .. }: &CandidateFinished,
) {
    if !(1..=MAX_CANDIDATES).contains(&one.candidate) || candidate_lifeline(one.candidate) != entry.lifeline {
        let text = format!("{} speaks of candidate {}", entry.lifeline, one.candidate);
        verification.object("candidates", entry.seq, text);
        return;
    }
    verification.compare("candidates", entry, &["claims"], &json!({"claims": one.claims()}));
    let Some(step) = &one.step else { return };
    let mut follows = view.objective_after(view.parent, &step.metrics).map_or(json!({}), |step| to_value(&step));
    let mut metrics = to_value(&step.metrics);
    // Only these metrics follow from the journal; the others are measured by the candidate alone.
    for (name, value) in [
        ("states", one.quick.as_ref().and_then(|quick| quick.distinct).map(|n| json!(n))),
        ("covered", one.rank.map(|rank| json!(rank.covered))),
    ] {
        if let (Some(told), Some(value)) = (metrics.get_mut(name), value) {
            *told = value;
        }
    }
    follows["metrics"] = metrics;
    verification.compare("objective", entry, &["step"], &json!({"step": follows}));
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

    /// The candidate that goes on, by which criterion, and the points of all received ones.
    fn choice(&self) -> Option<Value> {
        let mut all = self.received(Stage::Formalization);
        let leading = self.received(Stage::Properties);
        all.retain(|one| leading.iter().all(|leader| leader.candidate != one.candidate));
        all.extend(leading.iter().cloned());
        let (winner, by) = select_best(if leading.is_empty() { &all } else { &leading })?;
        let points = all.iter().map(|one| (one.candidate.to_string(), json!(one.points())));
        let received = Value::Object(points.collect());
        Some(json!({"chosen": winner.candidate, "criterion": by, "received": received}))
    }
}
