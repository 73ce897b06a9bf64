//! Answers that correct a text: with edits of it, or with the whole text. An answer that was used only in part is the text
//! that the next request shows and that its edits change, so that nothing is asked for twice.

use std::collections::BTreeMap;

use super::ask::record_normalisation;
use super::sample::NodeAnswer;
use super::workspace::{current, feedback_file};
use crate::journal::Sha;
use crate::pipeline::{Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, RunView};
use crate::prompt::{Problem, Readable, apply_edits, normalise};

/// Why a text is not accepted.
pub(super) struct Mistakes {
    pub problem: Problem,
    /// Whether the text is usable apart from them, so that only they are asked for.
    pub is_usable: bool,
}

impl Mistakes {
    pub(super) fn unreadable(problem: Problem) -> Self {
        Self { problem, is_usable: false }
    }

    pub(super) fn in_usable_text(problem: Problem) -> Self {
        Self { problem, is_usable: true }
    }
}

/// Reads a text. The second argument says that mistakes which can be marked are accepted.
type ReadText<'a, T> = dyn Fn(&str, bool) -> Result<Readable<T>, Mistakes> + 'a;

/// Whether the text of an answer is accepted.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(super) enum CorrectionResult<T> {
    /// The text of this artifact is accepted.
    Accepted { value: T, sha: Sha },
    /// The node is asked once more, or gives up after its second answer.
    SentBack(Product),
}

/// The text that a node corrects.
pub(super) struct TextToCorrect<'a> {
    node: NodeName,
    attempt: &'a Attempt<'a>,
    /// Whether the answer before was sent back, so that this one is the last.
    is_last: bool,
    /// The last text that was accepted, if there is one.
    accepted: Option<String>,
    /// The last answer, which is corrected if nothing was accepted so far.
    last_answer: Option<String>,
    /// The text of the last answer, if it was sent back.
    pending: Option<String>,
    /// Whether all but a part of the last answer was used, so that only this part is requested.
    only_the_rest: bool,
}

impl<'a> TextToCorrect<'a> {
    /// `accepted` is the last accepted text, `last_answer` the last answer, accepted or not.
    pub(super) fn new(
        node: NodeName,
        accepted: Option<String>,
        last_answer: Option<String>,
        view: &RunView,
        attempt: &'a Attempt<'a>,
    ) -> Result<Self, NodeError> {
        let is_last = view.state.unreadable;
        let pending = if is_last { current(view, attempt, &pending_name(node))? } else { None };
        let pending = pending.filter(|text| !text.is_empty());
        let only_the_rest = pending.is_some() && view.feedback_for(node).any(Feedback::is_rest_of_an_answer);
        Ok(Self { node, attempt, is_last, accepted, last_answer, pending, only_the_rest })
    }

    /// The text that the request shows, and that edits change.
    pub(super) fn shown(&self) -> Option<&str> {
        self.pending.as_deref().or(self.accepted.as_deref()).or(self.last_answer.as_deref())
    }

    /// The text of `feedback.md`, without the feedback that the last answer has resolved.
    pub(super) fn feedback_file<'b>(&self, open: impl Iterator<Item = &'b Feedback>, if_none: &str) -> String {
        feedback_file(open.filter(|item| !self.only_the_rest || item.is_rest_of_an_answer()), if_none)
    }

    /// Applies an answer and decides whether its text is accepted. `read` reads a text; its second argument says that mistakes
    /// which can be marked are accepted. After the second answer, the text of the first one is accepted if it is the better one.
    ///
    /// `answer_name` is the artifact of the node's answers.
    pub(super) fn apply_answer<T>(
        &self,
        answer: NodeAnswer,
        answer_name: &str,
        view: &RunView,
        read: &ReadText<'_, T>,
    ) -> Result<CorrectionResult<T>, NodeError> {
        let before = self.pending.as_ref().and(self.accepted.as_deref());
        let normal = normalise(&answer.text);
        let applied = self.shown().and_then(|shown| apply_edits(&normalise(shown), before, &normal));
        let is_change = |text: &str| self.accepted.as_deref() != Some(text);
        let (sha, text, left, notes) = match applied {
            None => {
                // The next request shows this text with line numbers, which would move a tab.
                let sha = if normal == answer.text { answer.sha } else { self.attempt.keep(&normal)? };
                (sha, answer.text, None, Vec::new())
            }
            Some(Err(problem)) => {
                return self.fall_back(is_change, read, || {
                    self.send_back(None, answer_name, &answer.sha, problem.what.clone(), false, view)
                });
            }
            Some(Ok(edited)) => {
                let left = edited.problem();
                if let Some(problem) = left.as_ref().filter(|_| edited.applied == 0) {
                    return self.fall_back(is_change, read, || {
                        self.send_back(None, answer_name, &answer.sha, problem.what.clone(), self.only_the_rest, view)
                    });
                }
                (
                    self.attempt.keep(&edited.text)?,
                    edited.text,
                    left,
                    vec!["edits, applied to the previous version".to_owned()],
                )
            }
        };
        let (problem, is_usable) = match (read(&text, self.is_last), left) {
            (Ok(value), None) => return self.accept(value, sha, notes),
            (Ok(value), Some(_)) if self.is_last && is_change(&text) => return self.accept(value, sha, notes),
            (Ok(_), Some(left)) => (left.what, true),
            (Err(mistakes), None) => (mistakes.problem.what, mistakes.is_usable),
            (Err(mistakes), Some(left)) => (format!("{}\n\n{}", left.what, mistakes.problem.what), mistakes.is_usable),
        };
        self.fall_back(is_change, read, || {
            self.send_back(Some(&text), answer_name, &sha, problem.clone(), is_usable, view)
        })
    }

    /// After the second answer, accepts the text of the first one if it can be read and changes anything.
    fn fall_back<T>(
        &self,
        is_change: impl Fn(&str) -> bool,
        read: &ReadText<'_, T>,
        otherwise: impl Fn() -> Result<CorrectionResult<T>, NodeError>,
    ) -> Result<CorrectionResult<T>, NodeError> {
        if let Some(pending) = self.pending.as_deref().filter(|pending| self.is_last && is_change(pending))
            && let Ok(value) = read(pending, true)
        {
            let notes = vec!["the answer before, because this one could not be used".to_owned()];
            return self.accept(value, self.attempt.keep(pending)?, notes);
        }
        otherwise()
    }

    fn accept<T>(
        &self,
        mut read: Readable<T>,
        sha: Sha,
        mut notes: Vec<String>,
    ) -> Result<CorrectionResult<T>, NodeError> {
        if !notes.is_empty() && self.node == NodeName::Formalize {
            // A module as it was stored has no fence.
            read.normalised.clear();
        }
        read.normalised.append(&mut notes);
        Ok(CorrectionResult::Accepted { value: record_normalisation(self.attempt, read)?, sha })
    }

    /// `text` is what the next request shows; `None` leaves what this one has shown.
    fn send_back<T>(
        &self,
        text: Option<&str>,
        answer_name: &str,
        answer: &Sha,
        problem: String,
        is_usable: bool,
        view: &RunView,
    ) -> Result<CorrectionResult<T>, NodeError> {
        let mut artifacts = BTreeMap::new();
        let pending = text.or(self.pending.as_deref());
        if pending.is_some() || view.artifact(&pending_name(self.node)).is_some() {
            artifacts.insert(pending_name(self.node), self.attempt.keep(pending.unwrap_or_default())?);
        }
        // As long as nothing is accepted, the answer is what a later revision corrects.
        if self.accepted.is_none() && text.is_some() {
            artifacts.insert(answer_name.to_owned(), answer.clone());
        }
        let (from, what) = if is_usable {
            (
                Feedback::REST_OF_AN_ANSWER,
                format!("Your last answer is in `previous.md`. Only this is left:\n\n{problem}"),
            )
        } else {
            ("your last answer could not be read", problem)
        };
        Ok(CorrectionResult::SentBack(Product {
            event: Event::Unreadable,
            artifacts,
            feedback: vec![Feedback { node: self.node, from: from.to_owned(), text: what }],
            facts: Facts::Nothing,
        }))
    }
}

/// The artifact of a text that was sent back.
fn pending_name(node: NodeName) -> String {
    format!("{}.pending", node.name())
}
