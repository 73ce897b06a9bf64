//! The second reading: an independent reader of a claimed flaw, who sees only the documents, the requirement and the
//! trace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::ask::{NodeRequest, record_normalisation};
use super::claim_text::claim_text;
use super::context::{NodeContext, parse_schema};
use super::sample::NodeAnswer;
use super::workspace::{current, documents, number_lines};
use crate::journal::Kind;
use crate::llm::changed_documents_words;
use crate::pipeline::{
    AnswerUnreadable, Attempt, Event, Facts, Feedback, Flaw, FurtherReading, NodeError, NodeName, Product,
    ReplacedClaim, RunEvent, RunView, file,
};
use crate::prompt::{OpenPoint, Problem, Readable, marked_changes, object_and_rest};

const ANSWER: &str = "second_reading.answer";
const PROMPT: &str = "review/second_reading";
/// The purposes of the requests about further claims, which also limit their number.
const FURTHER_PURPOSES: [&str; 4] = ["second_reading_2", "second_reading_3", "second_reading_4", "second_reading_5"];
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
    let documents = documents(view, attempt)?;
    let text_of = |flaw: &Flaw| claim_text(view, flaw, module.as_deref(), &documents, &changes);
    let review = view.reviews.last.as_ref();
    let main = review.and_then(|review| review.flaw.as_ref());
    let claim = main.map(text_of).unwrap_or_default();
    // Neither the module nor the review: the reader has to come to an opinion of its own.
    let mut files = vec![("claim.md".to_owned(), claim.clone())];
    let mut prompt = PROMPT.to_owned();
    if offer_previous(view, attempt, &mut files)? {
        prompt.push_str("_repair");
    }
    let has_changes = !changes.is_empty();
    let answer = context.ask(view, request("second_reading", prompt, files, has_changes, attempt)).await?;
    let artifacts = BTreeMap::from([(ANSWER.to_owned(), answer.sha.clone())]);
    let best_inconclusive = view.best(Some(view.reviews.rank)).is_some_and(|(_, best)| best.inconclusive);
    let mut is_readable = true;
    let opinion = match (read(&answer.text, view), about_other_documents(&answer)) {
        (Ok(_), Some(why)) => {
            is_readable = false;
            Opinion { agrees: false, why, open_point: None }
        }
        (Ok(opinion), None) => record_normalisation(attempt, opinion)?,
        (Err(problem), _) if !view.state.unreadable => {
            attempt.record(Kind::Act, RunEvent::AnswerUnreadable(AnswerUnreadable { why: problem.what }))?;
            return Ok(Product { event: Event::Unreadable, artifacts, feedback: Vec::new(), facts: Facts::Nothing });
        }
        // After two unreadable answers the claim counts as not confirmed.
        (Err(problem), _) => {
            is_readable = false;
            unreadable_opinion(&problem)
        }
    };
    let (agrees, why, open_point) = weigh(view, opinion, main);
    let mut further = Vec::new();
    let claims = view.reviews.claims_of(view.rev).map(|claims| claims.further.as_slice()).unwrap_or_default();
    let flaws = review.map(|review| review.further_flaws.as_slice()).unwrap_or_default();
    let readable = flaws.iter().zip(claims).filter(|(_, claim)| claim.refused_by.is_none());
    for ((flaw, _), purpose) in readable.zip(FURTHER_PURPOSES) {
        let files = vec![("claim.md".to_owned(), text_of(flaw))];
        let answer = context.ask(view, request(purpose, PROMPT.to_owned(), files, has_changes, attempt)).await?;
        let (agrees, why, open_point) = match (read(&answer.text, view), about_other_documents(&answer)) {
            // A reader of other documents decides nothing about these.
            (Ok(_), Some(why)) => (None, why, None),
            (Ok(opinion), None) => {
                let (agrees, why, open_point) = weigh(view, record_normalisation(attempt, opinion)?, Some(flaw));
                (Some(agrees), why, open_point)
            }
            // Not asked again: it decides nothing, and the report says that it is not decided.
            (Err(problem), _) => {
                (None, format!("the answer of the second reader could not be read: {}", problem.what), None)
            }
        };
        let (requirement, property) = (flaw.requirement.clone(), flaw.property.clone());
        further.push(FurtherReading { requirement, property, agrees, why, open_point });
    }
    // A flaw is a flaw, whichever claim of the review shows it.
    let is_main_flaw = agrees && open_point.is_none();
    let instead = if is_main_flaw { None } else { view.confirmed_further_claim(&further) };
    let replaced = instead.zip(main).map(|((flaw, _), main)| {
        Box::new(ReplacedClaim {
            by: flaw.property.clone(),
            reading: FurtherReading {
                requirement: main.requirement.clone(),
                property: main.property.clone(),
                agrees: is_readable.then_some(agrees),
                why: why.clone(),
                open_point: open_point.clone(),
            },
        })
    });
    let (agrees, why, open_point, claim) = match instead {
        Some((flaw, reading)) => (true, reading.why.clone(), None, text_of(flaw)),
        None => (agrees, why, open_point, claim),
    };
    let property = instead.map(|(flaw, _)| flaw.property.as_str());
    let others = further.iter().filter(|also| also.is_flaw() && Some(also.property.as_str()) != property);
    let feedback = match &open_point {
        Some(point) => other_reading_feedback(point, &claim, &why),
        None if agrees => confirmed_flaw_feedback(&claim, &why, others),
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
        facts: Facts::SecondRead { agrees, why, replaced, open_point, further },
    })
}

/// Adds an unreadable answer to the files, with its problem: reading it again gives what the model has to correct. Returns
/// whether there is one.
fn offer_previous(view: &RunView, attempt: &Attempt<'_>, files: &mut Vec<(String, String)>) -> Result<bool, NodeError> {
    if view.state.unreadable
        && let Some(previous) = current(view, attempt, ANSWER)?
        && let Err(problem) = read(&previous, view)
    {
        files.push(("previous.md".to_owned(), number_lines(&previous)));
        files.push(("feedback.md".to_owned(), format!("# Still open\n\n{}\n", problem.what)));
        return Ok(true);
    }
    Ok(false)
}

/// A request for an independent reading of the claim in `files`.
fn request<'a>(
    purpose: &'static str,
    prompt_template: String,
    files: Vec<(String, String)>,
    changed: bool,
    attempt: &'a Attempt<'a>,
) -> NodeRequest<'a> {
    NodeRequest {
        role_template: "review/second_reading_role".to_owned(),
        prompt_template,
        template_data: json!({"changed": changed}),
        files,
        offers_documents: true,
        schema: Some(parse_schema(SCHEMA)),
        ..NodeRequest::new(NodeName::Review, purpose, attempt)
    }
}

/// Why a recorded answer confirms nothing: it was given for other documents.
fn about_other_documents(answer: &NodeAnswer) -> Option<String> {
    let changed = &answer.changed_documents;
    (!changed.is_empty()).then(|| {
        let documents = changed_documents_words(changed);
        format!("the recorded second reader read other documents, so it confirms nothing here: {documents}")
    })
}

fn unreadable_opinion(problem: &Problem) -> Opinion {
    Opinion { agrees: false, why: format!("it could not be read: {}", problem.what), open_point: None }
}

/// Whether the reader agrees, why, and the open point on which the claim rests. What the review rests on counts, too: the
/// reader may take the reading for the only one.
fn weigh(view: &RunView, opinion: Opinion, flaw: Option<&Flaw>) -> (bool, String, Option<OpenPoint>) {
    let Opinion { agrees, why, open_point } = opinion;
    let named = open_point.and_then(|id| view.undecided_open_point(&id));
    let open_point = named.or_else(|| view.open_point_of(flaw?)).filter(|_| agrees).cloned();
    (agrees, why, open_point)
}

/// The task to mend the protocol after a confirmed claim; `others` are confirmed, too.
fn confirmed_flaw_feedback<'a>(claim: &str, why: &str, others: impl Iterator<Item = &'a FurtherReading>) -> Feedback {
    let text = others.fold(format!("{claim}\nThe second reader: {why}"), |text, also| {
        let FurtherReading { requirement, property, why, .. } = also;
        text + &format!("\n\nAlso confirmed: {requirement} is violated, shown by {property}. The second reader: {why}")
    });
    Feedback { node: NodeName::InformalSpec, from: Feedback::CONFIRMED_FLAW.into(), text }
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
    let (Readable { value, normalised }, outside) = object_and_rest(answer)?;
    let mut mistakes: Vec<String> = outside.into_iter().map(|problem| problem.what).collect();
    match Opinion::deserialize(&value) {
        Err(e) => mistakes.push(format!("the answer cannot be read: {e}")),
        Ok(opinion) => {
            if let Some(id) = opinion.open_point.as_ref().filter(|id| view.undecided_open_point(id).is_none()) {
                mistakes.push(format!("`open_point` is {id:?}, and `claim.md` lists no such open point"));
            }
            if opinion.open_point.is_some() && !opinion.agrees {
                mistakes.push("`agrees` is false, but `open_point` names a reading that grants the claim".to_owned());
            }
            if opinion.why.trim().is_empty() {
                mistakes.push("`why` is empty".to_owned());
            }
            if mistakes.is_empty() {
                return Ok(Readable { value: opinion, normalised });
            }
        }
    }
    Err(Problem::of_mistakes(&mistakes))
}
