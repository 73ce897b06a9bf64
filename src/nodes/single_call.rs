//! Drafts from a single call: in the first revision of a run, one answer holds the parts of several nodes, and each node
//! takes its part. A node asks for a part of its own if the answer lacks it, or if the part belongs to a module that is
//! not there.

use super::acceptance::accept_chosen;
use super::sample::NodeAnswer;
use super::workspace::{NOT_FOR_THE_MODEL, current};
use crate::config::Draft;
use crate::journal::{Kind, Sha};
use crate::pipeline::{Attempt, NodeError, NodeName, PartMissing, PartTaken, RunError, RunEvent, RunView, file};
use crate::prompt::{extract_module, split_answer, without_sections};

/// The artifact that holds the answer for later nodes.
pub(super) const ANSWER: &str = "single_call.answer";
/// The purpose of the request. Recordings are matched by it, so it keeps its name.
pub const PURPOSE: &str = "whole";

/// Whether the first request of the run asks for all parts. A branch never does: its revision is not 0.
pub(super) fn is_due(view: &RunView, attempt: &Attempt<'_>) -> bool {
    let received = |purpose: &str| {
        attempt.has(|event| event.try_as_answer_received_ref().is_some_and(|answer| answer.purpose == purpose))
    };
    // An answer that was received is used, even if the setting has changed since.
    view.rev == 0 && (received(PURPOSE) || (view.settings.draft == Draft::SingleCall && !received("draft")))
}

/// The properties of the chosen candidate, if it has any and its module has not changed since. `own` is the artifact of
/// the node's own answers.
pub(super) fn take_candidate_properties(
    view: &RunView,
    attempt: &Attempt<'_>,
    own: &str,
) -> Result<Option<NodeAnswer>, NodeError> {
    let chosen = view.chosen_candidate().filter(|one| one.source.as_ref() == view.artifact(file::SOURCE));
    let Some(sha) = chosen.and_then(|one| one.properties.clone()).filter(|_| view.artifact(own).is_none()) else {
        return Ok(None);
    };
    if !attempt.has(RunEvent::is_part_taken) {
        let part = PartTaken { whole_answer: Some(sha.clone()), artifact: sha.clone() };
        let part = attempt.event(Kind::Act, RunEvent::PartTaken(part));
        let accepted = match view.chosen_candidate() {
            Some(one) => accept_chosen(attempt, one.candidate, &sha)?,
            None => None,
        };
        attempt.run.append(accepted.into_iter().chain([part]).collect())?;
    }
    let text = attempt.run.store().text(&sha).map_err(RunError::from)?;
    Ok(Some(earlier_answer(text, sha)))
}

/// The node's part of the single answer, unless the node has an answer of its own. `own` is the artifact of the node's
/// own answers.
pub(super) fn take_part(
    view: &RunView,
    attempt: &Attempt<'_>,
    node: NodeName,
    own: &str,
) -> Result<Option<NodeAnswer>, NodeError> {
    // The module of the single answer counts as the first candidate. Further candidates draft their own.
    let other_candidate = attempt.candidate > 1 || view.chosen_candidate().is_some_and(|one| one.candidate > 1);
    if view.rev != 0 || view.artifact(own).is_some() || other_candidate {
        return Ok(None);
    }
    let Some(answer) = current(view, attempt, ANSWER)? else { return Ok(None) };
    let parts = split_answer(&answer);
    let corrected = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    let is_same = parts.informal.as_ref().is_ok_and(|informal| describes_same_model(informal, &corrected));
    let has_module = parts.module.as_ref().is_some_and(|text| extract_module(text, view.module_name()).is_ok());
    let (part, why) = match node {
        _ if !is_same => (None, "its informal specification was corrected since, in more than its places"),
        NodeName::Formalize => (parts.module, "it holds no module"),
        // The properties refer to the definitions of the answer's own module and fit no other.
        NodeName::GenerateInvariants if !has_module => (None, "its module was not there or could not be read"),
        NodeName::GenerateInvariants => (parts.properties, "it holds no section of properties"),
        _ => (None, "it is not asked for this"),
    };
    let of = view.artifact(ANSWER).cloned();
    let Some(text) = part else {
        if !attempt.has(RunEvent::is_part_missing) {
            let missing = PartMissing { whole_answer: of, why: why.to_owned() };
            attempt.record(Kind::Act, RunEvent::PartMissing(missing))?;
        }
        return Ok(None);
    };
    let sha = attempt.keep(&text)?;
    if !attempt.has(RunEvent::is_part_taken) {
        let part = PartTaken { whole_answer: of, artifact: sha.clone() };
        attempt.record(Kind::Act, RunEvent::PartTaken(part))?;
    }
    Ok(Some(earlier_answer(text, sha)))
}

/// Whether two informal specifications say the same of the model: they differ only in places, and in sections that have no
/// effect on module and properties.
fn describes_same_model(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        let mut kept = String::new();
        let mut depth = 0_usize;
        for c in without_sections(text, &[&NOT_FOR_THE_MODEL[..], &["open points", "assumptions"]].concat()).chars() {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ if depth == 0 => kept.push(c),
                _ => {}
            }
        }
        kept.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    words(one) == words(other)
}

/// A text that an earlier answer gave, as an answer. The reads belong to that answer.
pub(super) fn earlier_answer(text: String, sha: Sha) -> NodeAnswer {
    NodeAnswer { text, sha, reads: Vec::new(), replayed: false, changed_documents: Vec::new() }
}
