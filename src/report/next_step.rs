//! What a person can do after a run, as commands.

use serde::Serialize;

use crate::pipeline::{Outcome, Question, RunView};
use crate::report::text::decisive_revision;

/// A command with the reason to type it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct NextStep {
    pub why: String,
    pub command: String,
}

/// The commands that answer a question, for the first and for the other reading.
pub fn answer_commands(question: &Question, folder: &str) -> [String; 2] {
    let id = &question.open_point.id;
    ["a", "b"].map(|choice| format!("tlaforge resume '{folder}' --answer {id}={choice}"))
}

/// The commands that lead on from the end of a run, the most likely one first.
pub(super) fn next_steps(view: &RunView, folder: &str) -> Vec<NextStep> {
    let step = |why: &str, command: String| NextStep { why: why.to_owned(), command };
    let module =
        format!("'{folder}/{}.tla'", decisive_revision(view).map_or("Spec", |revision| revision.module_name()));
    let from = decisive_revision(view).map(|revision| revision.revision).unwrap_or_default();
    match view.finished.as_ref().map(|finished| finished.outcome) {
        Some(Outcome::Approved | Outcome::ApprovedRepaired) => vec![
            step("Check it again after an edit:", format!("tlaforge check {module}")),
            step("Measure what the properties notice:", format!("tlaforge mutate {module}")),
        ],
        Some(Outcome::FlawFound) => vec![
            step(
                "Change the documents and run again, or let the model propose the smallest repair of the protocol:",
                format!("tlaforge resume '{folder}' --from rev_{from} --repair"),
            ),
            step("See the counterexample again after an edit of the module:", format!("tlaforge check {module}")),
        ],
        Some(Outcome::AmbiguityFound) => {
            let Some(question) = view.open_question() else { return Vec::new() };
            let [first, other] = answer_commands(&question, folder);
            vec![step("If reading a is meant:", first), step("If reading b is meant:", other)]
        }
        Some(Outcome::NotApproved | Outcome::Undecided) => vec![step(
            "Edit the files of the revision in its folder, then continue from it:",
            format!("tlaforge resume '{folder}' --from rev_{from} --at model_check"),
        )],
        Some(Outcome::Stopped) | None => vec![step("Continue the run:", format!("tlaforge resume '{folder}'"))],
    }
}
