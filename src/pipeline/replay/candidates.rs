//! The choice among candidates, recomputed from the results that `formalize` had received.

use super::verification::Verification;
use crate::pipeline::machine::{MAX_CANDIDATES, candidate_lifeline};
use crate::pipeline::records::{
    Candidate, CandidateFinished, CandidateReceived, Chosen, Entry, LeadersSelected, ObjectiveStep, Quantity, RunEvent,
    RunView, Stage,
};
use crate::pipeline::run::{select_best, select_leaders};

/// Compares an event of the candidates with what follows from earlier events of the same attempt.
pub(super) fn check_event(verification: &mut Verification, view: &RunView, entry: &Entry) {
    let results =
        Results { here: view.in_flight.as_ref().map(|attempt| attempt.events.as_slice()).unwrap_or_default() };
    match &entry.event {
        RunEvent::CandidateFinished(finished) => check_finished(verification, view, entry, finished),
        RunEvent::CandidateReceived(CandidateReceived { candidate, stage, points: _ }) => {
            match results.finished(*candidate, *stage) {
                Some(one) => {
                    let received = CandidateReceived { candidate: *candidate, stage: *stage, points: one.points() };
                    verification.compare("candidates", entry, &RunEvent::CandidateReceived(received));
                }
                None => verification.object("candidates", entry.seq, "the received result had not been sent"),
            }
        }
        RunEvent::LeadersSelected(journaled) => {
            let drafted = results.received(Stage::Formalization);
            let sorted = |mut numbers: Vec<u32>| {
                numbers.sort_unstable();
                numbers
            };
            let received = sorted(drafted.iter().map(|one| one.candidate).collect());
            // The order in which they arrived has no effect.
            let is_same = sorted(journaled.received.clone()) == received;
            let received = if is_same { journaled.received.clone() } else { received };
            let selected = LeadersSelected { leaders: select_leaders(&drafted), received };
            verification.compare("candidates", entry, &RunEvent::LeadersSelected(selected));
        }
        RunEvent::CandidateChosen(journaled) => match results.choose(journaled) {
            Some(chosen) => verification.compare("candidates", entry, &RunEvent::CandidateChosen(chosen)),
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
        | RunEvent::MutantsJudged(_)
        | RunEvent::MutantsSampled(_)
        | RunEvent::PropertiesRead(_) => {}
    }
}

/// Checks the claims of a candidate, and its step of the objective by its metrics. The rest of its result was observed by
/// the candidate.
fn check_finished(verification: &mut Verification, view: &RunView, entry: &Entry, finished: &CandidateFinished) {
    let one = &finished.candidate;
    if !(1..=MAX_CANDIDATES).contains(&one.candidate) || candidate_lifeline(one.candidate) != entry.lifeline {
        let text = format!("{} speaks of candidate {}", entry.lifeline, one.candidate);
        verification.object("candidates", entry.seq, text);
        return;
    }
    let recomputed = CandidateFinished { claims: one.claims(), candidate: one.clone() };
    verification.compare("candidates", entry, &RunEvent::CandidateFinished(Box::new(recomputed)));
    let Some(journaled) = &one.step else { return };
    // Only these metrics follow from the journal; the others are measured by the candidate alone.
    let mut metrics = journaled.metrics.clone();
    let states = one.quick.as_ref().and_then(|quick| quick.distinct);
    let covered = one.rank.map(|rank| u64::try_from(rank.covered).unwrap_or(u64::MAX));
    for (name, value) in [("states", states), ("covered", covered)] {
        if let (Some(metric), Some(value)) = (metrics.0.get_mut(name), value) {
            *metric = Quantity::Count(value);
        }
    }
    let step = view.objective_after(view.parent, &journaled.metrics).map(|step| ObjectiveStep { metrics, step });
    let recomputed =
        CandidateFinished { candidate: Candidate { step, ..one.clone() }, claims: finished.claims.clone() };
    verification.compare("objective", entry, &RunEvent::CandidateFinished(Box::new(recomputed)));
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
    fn choose(&self, journaled: &Chosen) -> Option<Chosen> {
        let mut all = self.received(Stage::Formalization);
        let leading = self.received(Stage::Properties);
        all.retain(|one| leading.iter().all(|leader| leader.candidate != one.candidate));
        all.extend(leading.iter().cloned());
        let (winner, criterion) = select_best(if leading.is_empty() { &all } else { &leading })?;
        Some(Chosen {
            chosen: winner.candidate,
            criterion,
            received: all.iter().map(|one| (one.candidate, one.points())).collect(),
            // How long the run waited for the others depended on the clock.
            missing: journaled.missing.clone(),
            // Words can differ between releases that decide the same.
            why: journaled.why.clone(),
        })
    }
}
