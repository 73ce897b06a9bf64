//! The second reading of a disagreement: a review says that the documents allow what the algorithm does and what the contract of the
//! step says. Before the author of the informal specification is told so, an independent reader, who sees the documents and the two
//! readings, confirms it or says which one holds.

use std::fmt::Write as _;

use serde::Deserialize;

use super::ask::NodeRequest;
use super::context::{NodeContext, draft_key, parse_schema};
use super::review_facts::ReviewSubject;
use crate::llm::{RequestKey, changed_documents_words};
use crate::pipeline::{Attempt, Blame, Issue, NodeError, NodeName, Review, RunView};
use crate::prompt::{Readable, object_and_rest};
use crate::tla::{UNLIMITED_WIDTH, trace_table};

/// The purposes of the requests, one for each disagreement of a review, which also limit their number.
const PURPOSES: [&str; 3] = ["disagreement", "disagreement_2", "disagreement_3"];
const SCHEMA: &str = r#"{"type": "object", "additionalProperties": false, "required": ["agrees", "why"],
    "properties": {"agrees": {"type": "boolean"}, "why": {"type": "string"}}}"#;

/// An answer of a second reader.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    agrees: bool,
    why: String,
}

/// What is known from a second reader, with the reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opinion {
    /// The documents allow both readings.
    Both(String),
    /// The documents decide it.
    Decided(String),
    /// Nothing: the answer could not be used.
    Unknown(String),
}

impl Opinion {
    /// For `review.md`.
    pub(super) fn words(&self) -> String {
        let (said, why) = match self {
            Self::Both(why) => ("the documents allow both readings", why),
            Self::Decided(why) => ("the documents decide it", why),
            Self::Unknown(why) => ("not confirmed", why),
        };
        format!("\n## A disagreement, read a second time\n\n{said}: {why}\n")
    }
}

/// Whether an issue says that the documents allow what the algorithm does and what a contract says.
pub(super) fn is_disagreement(issue: &Issue) -> bool {
    issue.routes() && issue.blame == Some(Blame::Documents)
}

/// Has the disagreements of a review read a second time, in their order. There are none if no contract is violated, and in a replay
/// of a run that had none read.
pub(super) async fn read_disagreements(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
    subject: &ReviewSubject<'_>,
    review: &Review,
) -> Result<Vec<Opinion>, NodeError> {
    let mut opinions = Vec::new();
    for (issue, purpose) in review.issues.iter().filter(|issue| is_disagreement(issue)).zip(PURPOSES) {
        let key = RequestKey { purpose: purpose.to_owned(), ..draft_key(attempt, NodeName::Review) };
        let Some(text) = disagreement_text(subject, issue) else { break };
        if context.replays_earlier_version() && !context.caller.has_answer(&key) {
            break;
        }
        let ask = NodeRequest {
            role_template: "review/disagreement_role".to_owned(),
            prompt_template: "review/disagreement".to_owned(),
            files: vec![("disagreement.md".to_owned(), text)],
            offers_documents: true,
            schema: Some(parse_schema(SCHEMA)),
            ..NodeRequest::new(NodeName::Review, purpose, attempt)
        };
        let answer = context.ask(view, ask).await?;
        opinions.push(if answer.changed_documents.is_empty() {
            read(&answer.text)
        } else {
            let documents = changed_documents_words(&answer.changed_documents);
            Opinion::Unknown(format!("the recorded second reader read other documents: {documents}"))
        });
    }
    Ok(opinions)
}

/// The readings of a disagreement: the violated contracts that the issue names, or all if it names none, their counterexamples, and
/// what the review says. `None` if no contract is violated.
fn disagreement_text(subject: &ReviewSubject<'_>, issue: &Issue) -> Option<String> {
    let violated = subject.violated_contracts();
    let named: Vec<String> = violated.iter().filter(|name| issue.mentions(name)).cloned().collect();
    let meant = if named.is_empty() { violated } else { named };
    let check = subject.fresh_check().filter(|_| !meant.is_empty())?;
    let mut text = format!(
        "# What one author wrote that the step does\n\n`x` is a value before the step, `x'` the value after it.\n\n```tla\n{}```\n",
        subject.contract_definitions(&meant)
    );
    for name in &meant {
        let Some(trace) = check.focused_on(name).and_then(|focused| focused.trace) else { continue };
        let _ = write!(
            text,
            "\n# What the other author's algorithm does instead ({name})\n\nThe last step is the one that differs.\n\n```\n{}```\n",
            trace_table(&trace, UNLIMITED_WIDTH)
        );
    }
    let _ = writeln!(text, "\n# What the reviewer says\n\n{} {}", issue.description.trim(), issue.suggestion.trim());
    Some(text)
}

fn read(answer: &str) -> Opinion {
    let found = object_and_rest(answer).ok().and_then(|(Readable { value, .. }, rest)| {
        Answer::deserialize(&value).ok().filter(|answer| rest.is_none() && !answer.why.trim().is_empty())
    });
    match found {
        Some(Answer { agrees: true, why }) => Opinion::Both(why),
        Some(Answer { agrees: false, why }) => Opinion::Decided(why),
        None => Opinion::Unknown("the second reader's answer could not be read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_cannot_be_read_says_nothing() {
        let both = read("```json\n{\"agrees\": true, \"why\": \"neither line says\"}\n```");
        assert_eq!(both, Opinion::Both("neither line says".to_owned()));
        assert_eq!(read("{\"agrees\": false, \"why\": \"line 3\"}"), Opinion::Decided("line 3".to_owned()));
        for answer in [
            "{\"agrees\": true, \"why\": \" \"}",
            "{\"agrees\": true}",
            "{\"agrees\": true, \"why\": \"x\"} but not really",
            "I agree.",
        ] {
            assert!(matches!(read(answer), Opinion::Unknown(_)), "{answer}");
        }
    }
}
