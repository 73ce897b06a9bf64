//! Answers that repair a text with edits instead of repeating it.

use super::sample::NodeAnswer;
use crate::journal::Sha;
use crate::pipeline::{Attempt, NodeError};
use crate::prompt::{Problem, apply_edits, normalise};

/// What a repair answers.
pub(super) struct Repaired {
    /// The artifact of the whole text; of the answer itself if its edits do not fit.
    pub sha: Sha,
    pub text: Result<String, Problem>,
    /// What was done with the answer, for the journal.
    pub normalised: Vec<String>,
}

/// The whole text of an answer: with its edits applied to the text that it repairs, if it holds edits.
pub(super) fn repaired(
    previous: Option<&str>,
    answer: NodeAnswer,
    attempt: &Attempt<'_>,
) -> Result<Repaired, NodeError> {
    let normal = normalise(&answer.text);
    // The next attempt shows this text to the model, with line numbers, which would move a tab.
    let sha = if normal == answer.text { answer.sha } else { attempt.keep(&normal)? };
    Ok(match previous.and_then(|previous| apply_edits(&normalise(previous), &normal)) {
        None => Repaired { sha, text: Ok(answer.text), normalised: Vec::new() },
        Some(Err(problem)) => Repaired { sha, text: Err(problem), normalised: Vec::new() },
        Some(Ok(text)) => Repaired {
            sha: attempt.keep(&text)?,
            text: Ok(text),
            normalised: vec!["edits, applied to the previous version".to_owned()],
        },
    })
}
