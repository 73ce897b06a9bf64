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

/// The purpose of the request.
pub(super) const PURPOSE: &str = "disagreement";
const SCHEMA: &str = r#"{"type": "object", "additionalProperties": false, "required": ["agrees", "why"],
    "properties": {"agrees": {"type": "boolean"}, "why": {"type": "string"}}}"#;

/// What the second reader says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Opinion {
    /// The documents allow both readings.
    pub agrees: bool,
    pub why: String,
}

impl Opinion {
    /// For `review.md`.
    pub(super) fn words(&self) -> String {
        let said =
            if self.agrees { "the documents allow both readings" } else { "the documents do not allow both readings" };
        format!("\n## The disagreement, read a second time\n\n{said}: {}\n", self.why)
    }
}

/// Has the disagreements of a review read a second time. `None` if it has none that rests on a violated contract, and in a replay of
/// a run that had none read.
pub(super) async fn read_disagreement(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
    subject: &ReviewSubject<'_>,
    review: &Review,
) -> Result<Option<Opinion>, NodeError> {
    let key = RequestKey { purpose: PURPOSE.to_owned(), ..draft_key(attempt, NodeName::Review) };
    let Some(text) = disagreement_text(subject, review).filter(|_| context.caller.has_answer(&key)) else {
        return Ok(None);
    };
    let ask = NodeRequest {
        role_template: "review/disagreement_role".to_owned(),
        prompt_template: "review/disagreement".to_owned(),
        files: vec![("disagreement.md".to_owned(), text)],
        offers_documents: true,
        schema: Some(parse_schema(SCHEMA)),
        ..NodeRequest::new(NodeName::Review, PURPOSE, attempt)
    };
    let answer = context.ask(view, ask).await?;
    if !answer.changed_documents.is_empty() {
        let documents = changed_documents_words(&answer.changed_documents);
        let why = format!("the recorded second reader read other documents, so it confirms nothing here: {documents}");
        return Ok(Some(Opinion { agrees: false, why }));
    }
    Ok(Some(read(&answer.text)))
}

/// The readings of a disagreement: the violated contracts, their counterexamples, and what the review says.
fn disagreement_text(subject: &ReviewSubject<'_>, review: &Review) -> Option<String> {
    let is_disagreement = |issue: &&Issue| issue.routes() && issue.blame == Some(Blame::Documents);
    let issues: Vec<&Issue> = review.issues.iter().filter(is_disagreement).collect();
    let violated = subject.violated_contracts();
    if issues.is_empty() || violated.is_empty() {
        return None;
    }
    let is_named = |name: &&String| issues.iter().any(|issue| issue.mentions(name));
    let named: Vec<String> = violated.iter().filter(is_named).cloned().collect();
    let meant = if named.is_empty() { violated } else { named };
    let mut text = format!(
        "# What one author wrote that the step does\n\n`x` is a value before the step, `x'` the value after it.\n\n```tla\n{}```\n",
        subject.contract_definitions(&meant)
    );
    let check = subject.fresh_check()?;
    for name in &meant {
        let Some(trace) = check.focused_on(name).and_then(|focused| focused.trace) else { continue };
        let _ = write!(
            text,
            "\n# What the other author's algorithm does instead ({name})\n\nThe last step is the one that differs.\n\n```\n{}```\n",
            trace_table(&trace, UNLIMITED_WIDTH)
        );
    }
    text.push_str("\n# What the reviewer says\n\n");
    for issue in issues {
        let _ = writeln!(text, "- {} {}", issue.description.trim(), issue.suggestion.trim());
    }
    Some(text)
}

/// An answer that cannot be read confirms nothing.
fn read(answer: &str) -> Opinion {
    let opinion = object_and_rest(answer)
        .ok()
        .and_then(|(Readable { value, .. }, rest)| rest.is_none().then(|| Opinion::deserialize(&value).ok())?)
        .filter(|opinion| !opinion.why.trim().is_empty());
    opinion.unwrap_or_else(|| Opinion {
        agrees: false,
        why: "the second reader's answer could not be read, so it is not confirmed that the documents allow both"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_can_be_read_confirms() {
        assert!(read("```json\n{\"agrees\": true, \"why\": \"neither line says\"}\n```").agrees);
        for answer in [
            "{\"agrees\": false, \"why\": \"line 3\"}",
            "{\"agrees\": true, \"why\": \" \"}",
            "{\"agrees\": true}",
            "{\"agrees\": true, \"why\": \"x\"} but not really",
            "I agree.",
        ] {
            assert!(!read(answer).agrees, "{answer}");
        }
    }
}
