//! Drafting as a whole: one answer in the first pass of a run, of which each node takes its part. Whatever is not in
//! it, or was drafted for something that it does not hold, is asked for at its own node.

use super::desk::Reply;
use super::intervene::taken_of;
use super::workspace::current;
use crate::config::Draft;
use crate::journal::Kind;
use crate::pipeline::{Attempt, NodeError, NodeName, PartMissing, PartTaken, RunError, RunEvent, RunView, file};
use crate::prompt::{module, parts};

/// The artifact that later nodes find their parts in.
pub(super) const ANSWER: &str = "whole.answer";
/// The purpose of the request.
pub(super) const PURPOSE: &str = "whole";

/// Whether the first question of the run is for the whole. A branch has another revision than the first.
pub(super) fn is_due(view: &RunView, attempt: &Attempt<'_>) -> bool {
    let received = |purpose: &str| {
        attempt.has(|event| event.try_as_answer_received_ref().is_some_and(|answer| answer.purpose == purpose))
    };
    // What was received is used, whatever is set since.
    view.rev == 0 && (received(PURPOSE) || (view.settings.draft == Draft::Whole && !received("draft")))
}

/// The properties of the candidate that was chosen, where it has some and the module is still its own.
pub(super) fn of_candidate(view: &RunView, attempt: &Attempt<'_>, own: &str) -> Result<Option<Reply>, NodeError> {
    let chosen = view.chosen_candidate().filter(|one| one.source.as_ref() == view.artifact(file::SOURCE));
    let Some(sha) = chosen.and_then(|one| one.properties.clone()).filter(|_| view.artifact(own).is_none()) else {
        return Ok(None);
    };
    if !attempt.has(RunEvent::is_part_taken) {
        let part = PartTaken { whole_answer: Some(sha.clone()), artifact: sha.clone() };
        let part = attempt.event(Kind::Act, RunEvent::PartTaken(part));
        let taken = match view.chosen_candidate() {
            Some(one) => taken_of(attempt, one.candidate, &sha)?,
            None => None,
        };
        attempt.run.append(taken.into_iter().chain([part]).collect())?;
    }
    let text = attempt.run.store().text(&sha).map_err(RunError::from)?;
    Ok(Some(Reply { text, sha, reads: Vec::new(), replayed: false }))
}

/// A node's part, where there is one that it has not answered yet; `own` is the artifact of its own answers.
pub(super) fn part(
    view: &RunView,
    attempt: &Attempt<'_>,
    node: NodeName,
    own: &str,
) -> Result<Option<Reply>, NodeError> {
    // What was drafted as a whole is the first candidate; the others are drafted for themselves.
    let other = attempt.candidate > 1 || view.chosen_candidate().is_some_and(|one| one.candidate > 1);
    if view.rev != 0 || view.artifact(own).is_some() || other {
        return Ok(None);
    }
    let Some(answer) = current(view, attempt, ANSWER)? else { return Ok(None) };
    let parts = parts(&answer);
    let has_module = parts.module.as_ref().is_some_and(|text| module(text, "Spec").is_ok());
    let (part, why) = match node {
        NodeName::Formalize => (parts.module, "it holds no module"),
        // Properties are drafted for a module: for one that is not there they mean nothing.
        NodeName::GenerateInvariants if !has_module => (None, "its module was not there or could not be read"),
        NodeName::GenerateInvariants => (parts.properties, "it holds no section of properties"),
        _ => (None, "it is not asked for this"),
    };
    let whole_answer = view.artifact(ANSWER).cloned();
    let Some(text) = part else {
        if !attempt.has(RunEvent::is_part_missing) {
            let missing = PartMissing { whole_answer, why: why.to_owned() };
            attempt.record(Kind::Act, RunEvent::PartMissing(missing))?;
        }
        return Ok(None);
    };
    let sha = attempt.keep(&text)?;
    if !attempt.has(RunEvent::is_part_taken) {
        let taken = PartTaken { whole_answer, artifact: sha.clone() };
        attempt.record(Kind::Act, RunEvent::PartTaken(taken))?;
    }
    Ok(Some(Reply { text, sha, reads: Vec::new(), replayed: false }))
}
