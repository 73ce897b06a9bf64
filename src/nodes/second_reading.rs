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
use crate::prompt::{OpenPoint, Problem, Readable, extract_json_object, marked_changes};

const ANSWER: &str = "second_reading.answer";
/// JSON schema of [`Opinion`], for models that can be constrained to one.
const SCHEMA: &str = include_str!("second_reading_schema.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opinion {
    agrees: bool,
    why: String,
    /// The open point whose reading alone grants a step.
    #[serde(default)]
    open_point: Option<String>,
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
        && let Err(problem) = read(&previous, view)
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
    let opinion = match read(&answer.text, view) {
        Ok(opinion) => record_normalisation(attempt, opinion)?,
        Err(problem) if !view.state.unreadable => {
            attempt.record(Kind::Act, RunEvent::AnswerUnreadable(AnswerUnreadable { why: problem.what }))?;
            return Ok(Product { event: Event::Unreadable, artifacts, feedback: Vec::new(), facts: Facts::Nothing });
        }
        // After two unreadable answers the claim counts as not confirmed.
        Err(problem) => {
            Opinion { agrees: false, why: format!("it could not be read: {}", problem.what), open_point: None }
        }
    };
    let Opinion { agrees, why, open_point } = opinion;
    // What the review rests on counts, too: the reader may take the reading for the only one.
    let named = open_point.and_then(|id| view.undecided_open_point(&id));
    let open_point = named.or_else(|| view.claimed_open_point()).filter(|_| agrees).cloned();
    let feedback = match &open_point {
        Some(point) => other_reading_feedback(point, &claim, &why),
        None if agrees => Feedback {
            node: NodeName::InformalSpec,
            from: Feedback::CONFIRMED_FLAW.into(),
            text: format!("{claim}\nThe second reader: {why}"),
        },
        None => Feedback {
            node: NodeName::Formalize,
            from: "a claim of a flaw in the protocol was refused by the second reader".into(),
            text: why.clone(),
        },
    };
    let ambiguous = open_point.is_some();
    Ok(Product {
        event: Event::SecondRead { agrees, ambiguous, best_inconclusive, objective_lost: false },
        artifacts,
        feedback: vec![feedback],
        facts: Facts::SecondRead { agrees, why, open_point },
    })
}

/// The task to take the other reading of an open point.
fn other_reading_feedback(point: &OpenPoint, claim: &str, why: &str) -> Feedback {
    let OpenPoint { id, question, taken, otherwise, .. } = point;
    let text = format!(
        "{id} [{}] {question} With the reading that you took (\"{taken}\") the requirement below breaks. Now take the other \
         reading: \"{otherwise}\". Change every step and requirement that depends on it, and nothing else. Keep {id} in \
         the open points under its number, with the two readings exchanged.\n\n{claim}\nThe second reader: {why}",
        point.place_words()
    );
    Feedback { node: NodeName::InformalSpec, from: Feedback::OTHER_READING.into(), text }
}

fn read(answer: &str, view: &RunView) -> Result<Readable<Opinion>, Problem> {
    let Readable { value, normalised } = extract_json_object(answer)?;
    let opinion = Opinion::deserialize(&value).map_err(|e| Problem::new(format!("the answer cannot be read: {e}")))?;
    if let Some(id) = opinion.open_point.as_ref().filter(|id| view.undecided_open_point(id).is_none()) {
        return Err(Problem::new(format!("`open_point` is {id:?}, and `claim.md` lists no such open point")));
    }
    Ok(Readable { value: opinion, normalised })
}
