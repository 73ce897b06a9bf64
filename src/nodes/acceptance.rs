//! Records that accept an answer. Rules see an answer that was held back only with such a record (`answer_accepted`).

use super::sample::Sample;
use crate::journal::{Kind, Sha};
use crate::pipeline::{AnswerAccepted, Attempt, Halt, NodeError, Record, RunEvent, StopReason, candidate_lifeline};

/// The record that accepts an answer; `None` if the rules saw the answer on arrival.
pub(super) fn acceptance_record(sample: &Sample, attempt: &Attempt<'_>) -> Option<Record> {
    let taken = AnswerAccepted::accept(&sample.received, sample.labels.clone())?;
    Some(accept_at_taker(taken, attempt))
}

/// A record on the lifeline that accepts the answers of this attempt: a candidate's answer is accepted by the node that
/// it drafts for.
pub(super) fn accept_at_taker(taken: AnswerAccepted, attempt: &Attempt<'_>) -> Record {
    let record = attempt.event(Kind::Act, RunEvent::AnswerAccepted(taken));
    Record { lifeline: attempt.accepting_lifeline.to_owned(), ..record }
}

/// The events that would follow if the answer were accepted now.
pub(super) fn records_if_accepted(sample: &Sample, attempt: &Attempt<'_>) -> Vec<Record> {
    attempt.accepted_before.iter().cloned().chain(acceptance_record(sample, attempt)).collect()
}

/// The record that ends the decision about an answer. A candidate's answer is only offered: rules see it if the
/// candidate is chosen.
pub(super) fn accept_or_offer(sample: &Sample, attempt: &Attempt<'_>) -> Option<Record> {
    if attempt.candidate == 0 {
        return acceptance_record(sample, attempt);
    }
    let taken = AnswerAccepted::accept(&sample.received, sample.labels.clone())?;
    Some(attempt.event(Kind::Act, RunEvent::AnswerOffered(taken.into())))
}

/// The record that accepts an answer of the candidate that was chosen; `None` if the answer is not on its lifeline,
/// because it is a part of another answer.
pub(super) fn accept_chosen(attempt: &Attempt<'_>, candidate: u32, answer: &Sha) -> Result<Option<Record>, NodeError> {
    let lifeline = candidate_lifeline(candidate);
    let offered = attempt.run.find_last(lifeline, |entry| match &entry.event {
        RunEvent::AnswerOffered(offered) if offered.artifact == *answer => Some(AnswerAccepted::from(offered.clone())),
        _ => None,
    });
    // Without interventions a candidate's answer is never offered: it is only received.
    let received = || {
        attempt.run.find_last(lifeline, |entry| match &entry.event {
            RunEvent::AnswerReceived(received) if received.artifact == *answer => {
                AnswerAccepted::accept(received, None)
            }
            _ => None,
        })
    };
    let Some(taken) = offered.or_else(received) else { return Ok(None) };
    let required = attempt.run.label_propositions();
    // Drafted before the policy asked for these labels, so no rule about them could be evaluated.
    if !required.is_empty() && taken.answer.labels.as_ref().is_none_or(|labels| labels.propositions != required.sha()) {
        let message = format!(
            "an answer of candidate {candidate} has no labels for the policy's rules; resume with the policy that it was \
             drafted under, or start a new run with this one"
        );
        return Err(Halt { reason: StopReason::Settings, message }.into());
    }
    Ok(Some(attempt.event(Kind::Act, RunEvent::AnswerAccepted(taken))))
}
