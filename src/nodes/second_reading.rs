//! The second reading: an independent reader of a claimed flaw, who sees only the documents, the requirement and the
//! trace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::ask::{NodeRequest, record_normalisation};
use super::context::{NodeContext, parse_schema};
use super::review_facts::compare_larger_bounds;
use super::workspace::{current, number_lines};
use crate::journal::Kind;
use crate::pipeline::{
    AnswerUnreadable, Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, RunEvent, RunView, file,
};
use crate::prompt::{Problem, Readable, Requirement, extract_json_object, marked_changes};
use crate::tla::{UNLIMITED_WIDTH, probe_lines, trace_table};

const ANSWER: &str = "second_reading.answer";
/// JSON schema of [`Opinion`], for models that can be constrained to one.
const SCHEMA: &str = include_str!("second_reading_schema.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opinion {
    agrees: bool,
    why: String,
}

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let flaw = view.reviews.last.as_ref().and_then(|r| r.flaw.as_ref());
    let requirement = flaw.and_then(|f| view.specification.requirements.iter().find(|r| r.id == f.requirement));
    let trace = view.check().and_then(|c| c.outcome.trace.as_ref());
    let trace = trace.map(|t| trace_table(t, UNLIMITED_WIDTH)).unwrap_or_default();
    // After a repair the protocol differs from the documents.
    let changes = match current(view, attempt, file::INFORMAL)? {
        Some(informal) if view.state.repaired => marked_changes(&informal),
        _ => Vec::new(),
    };
    let (which, listed) = if changes.is_empty() {
        ("as documented", String::new())
    } else {
        let list = changes.join("\n");
        ("as documented and then changed", format!("\n# Changes, in place of what the documents say\n\n{list}\n"))
    };
    let mut claim = format!(
        "# Claim\n\nThe protocol, {which}, breaks this requirement:\n\n{} [{}] {}\n{listed}\n# Trace\n\nThe first \
         state in full, then what each step changes.\n\n```\n{}\n```\n",
        requirement.map_or("", |r| &r.id),
        requirement.map_or_else(|| "no place given".to_owned(), Requirement::place_words),
        requirement.map_or("", |r| &r.text),
        trace.trim_end(),
    );
    claim.push_str(&recheck_section(view));
    // Not the module and not the review: the reader has to come to an opinion of its own.
    let mut files = vec![("claim.md".to_owned(), claim.clone())];
    let mut prompt = "review/second_reading".to_owned();
    // Reading the previous answer again gives the problem that the model has to correct.
    if view.state.unreadable
        && let Some(previous) = current(view, attempt, ANSWER)?
        && let Err(problem) = read(&previous)
    {
        files.push(("previous.md".to_owned(), number_lines(&previous)));
        files.push(("feedback.md".to_owned(), format!("# Still open\n\n{}\n", problem.what)));
        prompt.push_str("_repair");
    }
    let ask = NodeRequest {
        role_template: "review/second_reading_role".to_owned(),
        prompt_template: prompt,
        template_data: json!({"changed": !changes.is_empty()}),
        files,
        offers_documents: true,
        schema: Some(parse_schema(SCHEMA)),
        ..NodeRequest::new(NodeName::Review, "second_reading", attempt)
    };
    let answer = context.ask(view, ask).await?;
    let artifacts = BTreeMap::from([(ANSWER.to_owned(), answer.sha)]);
    let best_inconclusive = view.best(Some(view.reviews.rank)).is_some_and(|(_, best)| best.inconclusive);
    let opinion = match read(&answer.text) {
        Ok(opinion) => record_normalisation(attempt, opinion)?,
        Err(problem) if !view.state.unreadable => {
            attempt.record(Kind::Act, RunEvent::AnswerUnreadable(AnswerUnreadable { why: problem.what }))?;
            return Ok(Product { event: Event::Unreadable, artifacts, feedback: Vec::new(), facts: Facts::Nothing });
        }
        // After two unreadable answers the claim counts as not confirmed.
        Err(problem) => Opinion { agrees: false, why: format!("it could not be read: {}", problem.what) },
    };
    let feedback = if opinion.agrees {
        vec![Feedback {
            node: NodeName::InformalSpec,
            from: Feedback::CONFIRMED_FLAW.into(),
            text: format!("{claim}\nThe second reader: {}", opinion.why),
        }]
    } else {
        vec![Feedback {
            node: NodeName::Formalize,
            from: "a claim of a flaw in the protocol was refused by the second reader".into(),
            text: opinion.why.clone(),
        }]
    };
    Ok(Product {
        event: Event::SecondRead { agrees: opinion.agrees, best_inconclusive, objective_lost: false },
        artifacts,
        feedback,
        facts: Facts::SecondRead { agrees: opinion.agrees, why: opinion.why },
    })
}

/// The results of further checks of the violation, and the lines that the claim cites.
fn recheck_section(view: &RunView) -> String {
    let check = view.check().map(|c| &c.outcome);
    let mut lines = check.map(probe_lines).unwrap_or_default();
    let open = check.map(|check| compare_larger_bounds(check, true).open).unwrap_or_default();
    // `probe_lines` already has one line for all sets and numbers of the module.
    let missing = |line: &String| !lines.contains(line) && !line.ends_with(": not checked with more");
    let open: Vec<String> = open.into_iter().filter(missing).collect();
    lines.extend(open);
    let flaw = view.reviews.last.as_ref().and_then(|r| r.flaw.as_ref());
    for (what, cited) in [
        ("that the behaviour may go on like this", flaw.and_then(|f| f.unfair.as_ref())),
        ("that the documents grant the bound", flaw.and_then(|f| f.bound.as_ref())),
    ] {
        lines.extend(cited.map(|c| format!("the claim cites {}, line {}, {what}: {}", c.file, c.line, c.why.trim())));
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.into_iter().fold("\n# The violation, checked again\n\n".to_owned(), |text, line| text + "- " + &line + "\n")
}

fn read(answer: &str) -> Result<Readable<Opinion>, Problem> {
    let Readable { value, normalised } = extract_json_object(answer)?;
    let value = Opinion::deserialize(&value).map_err(|e| Problem::new(format!("the answer cannot be read: {e}")))?;
    Ok(Readable { value, normalised })
}
