//! Accepted answers: each must be one that was received, and the one that an intervention chose must be the best of its
//! samples. What each sample would have led to is taken from the journal: it depends on when the run evaluated its rules.

use super::verification::Verification;
use crate::journal::is_parallel_lifeline;
use crate::pipeline::records::{AnswerAccepted, AnswerFacts, Entry, Intervened, RunEvent, Sampled};

/// The answer that an event accepts, or would accept if its candidate is chosen.
fn accepted_answer(event: &RunEvent) -> Option<AnswerAccepted> {
    match event {
        RunEvent::AnswerAccepted(accepted) => Some(accepted.clone()),
        RunEvent::AnswerOffered(offered) => Some(offered.clone().into()),
        _ => None,
    }
}

/// The acceptance of the received answer that this one was. Answers of a candidate are accepted by the node. Labels are
/// the word of a model, so they are copied from the journal.
fn recompute_acceptance(entry: &Entry, journaled: &AnswerAccepted, before: &[Entry]) -> Option<AnswerAccepted> {
    let labels = &journaled.answer.labels;
    before.iter().rev().find_map(|from| {
        let received = from.event.try_as_answer_received_ref()?;
        let is_it = from.rev == entry.rev
            && (from.lifeline == entry.lifeline || is_parallel_lifeline(&from.lifeline))
            && (&received.purpose, received.sample, &received.artifact)
                == (&journaled.purpose, journaled.sample, &journaled.artifact);
        let accepted = if is_it { AnswerAccepted::accept(received, None)? } else { return None };
        Some(AnswerAccepted { answer: AnswerFacts { labels: labels.clone(), ..accepted.answer }, ..accepted })
    })
}

/// Compares each accepted answer with the answer that was received.
pub(super) fn check_accepted(verification: &mut Verification, before: &[Entry], group: &[Entry]) {
    for entry in group {
        let Some(journaled) = accepted_answer(&entry.event) else { continue };
        let Some(recomputed) = recompute_acceptance(entry, &journaled, before) else {
            verification.object("intervention", entry.seq, "an answer is accepted that was not received");
            continue;
        };
        let recomputed = if entry.event.is_answer_offered() {
            RunEvent::AnswerOffered(recomputed.into())
        } else {
            RunEvent::AnswerAccepted(recomputed)
        };
        verification.compare("intervention", entry, &recomputed);
    }
}

/// Compares the choice of an intervention with its samples.
pub(super) fn check_choice(verification: &mut Verification, group: &[Entry]) {
    let Some((entry, intervened)) = group.iter().find_map(|e| Some((e, e.event.try_as_intervened_ref()?))) else {
        return;
    };
    let accepted = group.iter().find_map(|entry| accepted_answer(&entry.event));
    if accepted.as_ref().is_none_or(|accepted| accepted.sample != intervened.sample) {
        verification.object("intervention", entry.seq, "the answer that is accepted with it is another");
    }
    let Some(best) = Sampled::best(&intervened.samples) else {
        verification.object("intervention", entry.seq, "`samples` of intervened is empty");
        return;
    };
    let (first, best) = (&intervened.samples[0], &intervened.samples[best]);
    let broken_by = |sample: &Sampled| [sample.violated.clone(), sample.predicted.clone()].concat();
    let left = broken_by(best);
    let recomputed = Intervened {
        calls: u32::try_from(intervened.samples.len() - 1).unwrap_or(u32::MAX),
        sample: best.sample,
        prevented_violations: broken_by(first).into_iter().filter(|rule| !left.contains(rule)).collect(),
        violated: best.violated.clone(),
        purpose: accepted.map_or_else(|| intervened.purpose.clone(), |accepted| accepted.purpose),
        // These depend on when the run evaluated its rules.
        samples: intervened.samples.clone(),
        rule: intervened.rule.clone(),
        intervention: intervened.intervention,
        residual: intervened.residual.clone(),
        // Prices were known at the time of the run.
        cost_usd: intervened.cost_usd,
        tokens: intervened.tokens,
    };
    verification.compare("intervention", entry, &RunEvent::Intervened(recomputed));
}
