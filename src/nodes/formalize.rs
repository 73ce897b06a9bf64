//! Turns the informal specification into a module with a PlusCal algorithm. Without feedback, and if its input has not
//! changed, it keeps its module and asks no model.

use std::collections::BTreeMap;

use serde_json::json;

use super::ask::NodeRequest;
use super::context::NodeContext;
use super::edited::{CorrectionResult, Mistakes, TextToCorrect};
use super::single_call;
use super::workspace::{
    NOT_FOR_THE_MODEL, append_changes, current, diagnostics_text, exemplar_modules, has_marked_changes, number_lines,
    offer_check,
};
use crate::pipeline::{Attempt, Event, Facts, NodeError, NodeName, Product, RunView, file};
use crate::pluscal;
use crate::prompt::{extract_module, without_sections};
use crate::tla::without_translation;
use crate::toolchain::translate_pluscal;

pub(super) const ANSWER: &str = file::FORMALIZE_ANSWER;
/// What the current module was made from.
const INPUT: &str = file::FORMALIZE_INPUT;

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let (source, last_answer) = (current(view, attempt, file::SOURCE)?, current(view, attempt, ANSWER)?);
    let correcting = TextToCorrect::new(NodeName::Formalize, source, last_answer, view, attempt)?;
    let mut data = json!({
        "exemplars": exemplar_modules(view), "interface": view.settings.interface, "module": view.module_name(),
        "changed": has_marked_changes(view, attempt)?,
    });
    let informal = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    let input = without_sections(&informal, &NOT_FOR_THE_MODEL);
    let input_sha = attempt.keep(&input)?;
    let is_open = view.feedback_for(NodeName::Formalize).next().is_some() || !view.specification.diagnostics.is_empty();
    // A branch that begins here asks for another module.
    let follows = view.attempts.contains_key(&(view.rev, NodeName::InformalSpec.name().to_owned()));
    let is_kept = follows && !is_open && view.artifact(INPUT) == Some(&input_sha);
    if let Some(source) = view.artifact(file::SOURCE).filter(|_| is_kept) {
        let artifacts = BTreeMap::from([(file::MODULE.to_owned(), source.clone())]);
        return Ok(Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts: Facts::Nothing });
    }
    let mut files = Vec::new();
    let purpose = if let Some(previous) = correcting.shown() {
        files.push(("previous.md".to_owned(), number_lines(previous)));
        let otherwise = if view.specification.diagnostics.is_empty() {
            "`informal_spec.md` has a new version: bring the module in line with it.".to_owned()
        } else {
            format!("The module was not accepted:\n\n{}", diagnostics_text(&view.specification.diagnostics))
        };
        let mut feedback = correcting.feedback_file(view.feedback_for(NodeName::Formalize), &otherwise);
        if let Some(read) = current(view, attempt, INPUT)? {
            append_changes(&mut feedback, "`informal_spec.md`", &read, &input);
        }
        files.push(("feedback.md".to_owned(), feedback));
        offer_check(view, &mut data, &mut files);
        "repair"
    } else {
        "draft"
    };
    files.insert(0, ("informal_spec.md".to_owned(), input));
    let ask = NodeRequest {
        template_data: data,
        files,
        offers_exemplars: true,
        ..NodeRequest::new(NodeName::Formalize, purpose, attempt)
    };
    let answer = match single_call::take_part(view, attempt, NodeName::Formalize, ANSWER)? {
        Some(part) => part,
        None => context.ask(view, ask).await?,
    };
    let read = |text: &str, _: bool| extract_module(text, view.module_name()).map_err(Mistakes::unreadable);
    let (text, sha) = match correcting.apply_answer(answer, ANSWER, view, &read)? {
        CorrectionResult::Accepted { value, sha } => (value, sha),
        CorrectionResult::SentBack(product) => return Ok(product),
    };
    let source = attempt.keep(&without_own_translation(&text))?;
    let artifacts = BTreeMap::from([
        (ANSWER.to_owned(), sha),
        (file::SOURCE.to_owned(), source.clone()),
        (INPUT.to_owned(), input_sha),
        // Until the validation adds the translation.
        (file::MODULE.to_owned(), source),
    ]);
    Ok(Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts: Facts::Nothing })
}

/// Removes a harmless translation: an empty block, or exactly the text that the translator generates for the algorithm.
/// Any other translation stays, and the validation rejects it: it could define behaviour that the algorithm does not have.
fn without_own_translation(text: &str) -> String {
    let plain = without_translation(text);
    let is_generated = || {
        translate_pluscal(&plain, &pluscal::Options::default())
            .is_ok_and(|translated| translated.is_some_and(|translated| translated.text == text))
    };
    if is_empty_block(text, &plain) || is_generated() { plain } else { text.to_owned() }
}

/// Whether `plain` differs only by the two marker lines of the translation and blank lines.
fn is_empty_block(text: &str, plain: &str) -> bool {
    let filled = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    filled(text) == filled(plain) + 2
}
