//! The second reading: an independent reader of a claimed flaw, who sees only the documents, the requirement and the
//! trace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::ask::{NodeRequest, record_normalisation};
use super::claim_text::claim_text;
use super::context::{NodeContext, parse_schema};
use super::workspace::{current, documents, number_lines};
use crate::journal::Kind;
use crate::pipeline::{
    AnswerUnreadable, Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, RunEvent, RunView, file,
};
use crate::prompt::{Problem, Readable, extract_json_object, marked_changes};

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
    // After a repair the protocol differs from the documents.
    let changes = match current(view, attempt, file::INFORMAL)? {
        Some(informal) if view.state.repaired => marked_changes(&informal),
        _ => Vec::new(),
    };
    let module = current(view, attempt, file::MODULE)?.and_then(|text| context.modules.parse(&text).ok());
    let claim = claim_text(view, module.as_deref(), &documents(view, attempt)?, &changes);
    // Neither the module nor the review: the reader has to come to an opinion of its own.
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

fn read(answer: &str) -> Result<Readable<Opinion>, Problem> {
    let Readable { value, normalised } = extract_json_object(answer)?;
    let value = Opinion::deserialize(&value).map_err(|e| Problem::new(format!("the answer cannot be read: {e}")))?;
    Ok(Readable { value, normalised })
}
