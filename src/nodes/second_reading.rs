//! The second, independent reader of a flaw sees only documents, requirement and trace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::desk::{Ask, Desk, as_read, schema_of};
use super::facts::enlarged;
use super::workspace::{current, numbered};
use crate::journal::Kind;
use crate::pipeline::{
    AnswerUnreadable, Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, RunEvent, RunView, file,
};
use crate::prompt::{Problem, Readable, Requirement, changes, json_object};
use crate::tla::{UNLIMITED_WIDTH, probe_lines, trace_table};

const ANSWER: &str = "second_reading.answer";
/// What [`Opinion`] reads, for models that can be held to a shape.
const SCHEMA: &str = include_str!("second_reading_schema.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opinion {
    agrees: bool,
    why: String,
}

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, NodeError> {
    let flaw = view.reviews.last.as_ref().and_then(|r| r.flaw.as_ref());
    let requirement = flaw.and_then(|f| view.specification.requirements.iter().find(|r| r.id == f.requirement));
    let trace = view.check().and_then(|c| c.outcome.trace.as_ref());
    let trace = trace.map(|t| trace_table(t, UNLIMITED_WIDTH)).unwrap_or_default();
    // After a repair the documents alone no longer say which protocol this is.
    let changes = match current(view, attempt, file::INFORMAL)? {
        Some(informal) if view.state.repaired => changes(&informal),
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
    claim.push_str(&besides(view));
    let mut files = vec![("claim.md".to_owned(), claim.clone())];
    let mut prompt = "review/second_reading".to_owned();
    // The answer before this one stands as it was given: what could not be read of it is found again.
    if view.state.unreadable
        && let Some(previous) = current(view, attempt, ANSWER)?
        && let Err(problem) = read(&previous)
    {
        files.push(("previous.md".to_owned(), numbered(&previous)));
        files.push(("feedback.md".to_owned(), format!("# Still open\n\n{}\n", problem.what)));
        prompt.push_str("_repair");
    }
    let ask = Ask {
        role: "review/second_reading_role".to_owned(),
        prompt,
        data: json!({"changed": !changes.is_empty()}),
        files,
        docs: true,
        schema: Some(schema_of(SCHEMA)),
        ..Ask::at(NodeName::Review, "second_reading", attempt)
    };
    let reply = desk.ask(view, ask).await?;
    let artifacts = BTreeMap::from([(ANSWER.to_owned(), reply.sha)]);
    let best_inconclusive = view.best(Some(view.reviews.rank)).is_some_and(|(_, best)| best.inconclusive);
    let opinion = match read(&reply.text) {
        Ok(opinion) => as_read(attempt, opinion)?,
        Err(problem) if !view.state.unreadable => {
            attempt.record(Kind::Act, RunEvent::AnswerUnreadable(AnswerUnreadable { why: problem.what }))?;
            return Ok(Product { event: Event::Unreadable, artifacts, feedback: Vec::new(), facts: Facts::Nothing });
        }
        // Whoever cannot be understood twice has not agreed.
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

/// What further runs of the checker showed of the violation, and the lines that the claim cites for it.
fn besides(view: &RunView) -> String {
    let check = view.check().map(|c| &c.outcome);
    let mut lines = check.map(probe_lines).unwrap_or_default();
    let open = check.map(|check| enlarged(check, true).open).unwrap_or_default();
    // Sets and numbers of the module have a line of their own, all together.
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
    let Readable { value, normalised } = json_object(answer)?;
    let value = Opinion::deserialize(&value).map_err(|e| Problem::new(format!("the answer cannot be read: {e}")))?;
    Ok(Readable { value, normalised })
}
