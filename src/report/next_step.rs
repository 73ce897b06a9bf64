//! What a person can do after a run, as commands.

use serde::Serialize;

use crate::pipeline::{Outcome, Question, RunView};
use crate::report::text::{decisive_revision, undecided_open_points};
use crate::shell::shell_word;

/// A command with the reason to type it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct NextStep {
    pub why: String,
    pub command: String,
}

/// The commands that answer a question, for the first and for the other reading.
pub fn answer_commands(question: &Question, folder: &str) -> [String; 2] {
    let (folder, id) = (shell_word(folder), &question.open_point.id);
    ["a", "b"].map(|choice| format!("tlaforge resume {folder} --answer {id}={choice}"))
}

/// The commands that lead on from the end of a run, the most likely one first.
pub(super) fn next_steps(view: &RunView, folder: &str) -> Vec<NextStep> {
    let step = |why: &str, command: String| NextStep { why: why.to_owned(), command };
    let module = format!("{folder}/{}.tla", decisive_revision(view).map_or("Spec", |revision| revision.module_name()));
    let (module, run) = (shell_word(&module), shell_word(folder));
    let from = decisive_revision(view).map(|revision| revision.revision).unwrap_or_default();
    match view.finished.as_ref().map(|finished| finished.outcome) {
        Some(Outcome::Approved | Outcome::ApprovedRepaired) => {
            let point = decisive_revision(view).and_then(|revision| undecided_open_points(revision).into_iter().next());
            let answer = point.map(|point| {
                step(
                    "Decide the open points. If a reading taken is not the one that you meant, for example:",
                    format!("tlaforge resume {run} --answer {}=b", point.id),
                )
            });
            let check = decisive_revision(view).and_then(|revision| revision.check.as_ref());
            let again = check.filter(|check| check.is_without_reference()).map(|_| {
                step("Check it with the reference tools, too:", format!("tlaforge check {module} --checker tlc"))
            });
            let mutate = step("Measure what the properties notice:", format!("tlaforge mutate {module}"));
            answer.into_iter().chain(again).chain([mutate]).collect()
        }
        Some(Outcome::FlawFound) => vec![step(
            "Change the documents and run again, or let a language model propose the smallest repair of the protocol:",
            format!("tlaforge resume {run} --from rev_{from} --repair"),
        )],
        Some(Outcome::AmbiguityFound) => {
            let Some(question) = view.open_question() else { return Vec::new() };
            let [first, other] = answer_commands(&question, folder);
            vec![step("If reading a is meant:", first), step("If reading b is meant:", other)]
        }
        Some(Outcome::NotApproved | Outcome::Undecided) => vec![step(
            "Edit the files of the revision in its folder, then continue from it:",
            format!("tlaforge resume {run} --from rev_{from} --at model_check"),
        )],
        // The journal does not say whether its process lives, and in a shared store that process may be on another machine.
        Some(Outcome::Stopped) | None => {
            vec![step("Continue the run, if no process works on it:", format!("tlaforge resume {run}"))]
        }
    }
}
