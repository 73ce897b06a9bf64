//! Informal specification to a module with a PlusCal algorithm.

use std::collections::BTreeMap;

use serde_json::json;

use super::desk::{Ask, Desk, as_read};
use super::whole;
use super::workspace::{current, diagnostics_text, exemplar_modules, feedback_file, is_changed, numbered, offer_check};
use crate::pipeline::{Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, RunView, file};
use crate::pluscal;
use crate::prompt::module;
use crate::tla::without_translation;

pub(super) const ANSWER: &str = "formalize.answer";

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, NodeError> {
    let previous = match current(view, attempt, file::SOURCE)? {
        Some(text) => Some(text),
        None => current(view, attempt, ANSWER)?,
    };
    let mut data = json!({
        "exemplars": exemplar_modules(view), "interface": view.settings.interface,
        "changed": is_changed(view, attempt)?,
    });
    let informal = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    let mut files = vec![("informal_spec.md".to_owned(), informal)];
    let purpose = if let Some(previous) = previous {
        files.push(("previous.md".to_owned(), numbered(&previous)));
        let otherwise = if view.specification.diagnostics.is_empty() {
            "`informal_spec.md` has a new version: bring the module in line with it.".to_owned()
        } else {
            format!("The module was not accepted:\n\n{}", diagnostics_text(&view.specification.diagnostics))
        };
        files.push(("feedback.md".to_owned(), feedback_file(view.feedback_for(NodeName::Formalize), &otherwise)));
        offer_check(view, &mut data, &mut files);
        "repair"
    } else {
        "draft"
    };
    let ask = Ask { data, files, exemplars: true, ..Ask::at(NodeName::Formalize, purpose, attempt) };
    let reply = match whole::part(view, attempt, NodeName::Formalize, ANSWER)? {
        Some(part) => part,
        None => desk.ask(view, ask).await?,
    };
    let mut artifacts = BTreeMap::from([(ANSWER.to_owned(), reply.sha)]);
    match module(&reply.text, "Spec") {
        Ok(read) => {
            let source = attempt.keep(&without_own_translation(&as_read(attempt, read)?))?;
            artifacts.insert(file::SOURCE.to_owned(), source.clone());
            artifacts.insert(file::MODULE.to_owned(), source);
            Ok(Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts: Facts::Nothing })
        }
        Err(problem) => Ok(Product {
            event: Event::Unreadable,
            artifacts,
            feedback: vec![Feedback {
                node: NodeName::Formalize,
                from: "your last answer could not be read".into(),
                text: problem.what,
            }],
            facts: Facts::Nothing,
        }),
    }
}

/// The module without a translation that hides nothing: an empty block, or byte for byte what the translator makes of the
/// algorithm. Any other stays, so that it is refused.
fn without_own_translation(text: &str) -> String {
    let plain = without_translation(text);
    let is_made = || {
        pluscal::translate(&plain, &pluscal::Options::default())
            .is_ok_and(|made| made.is_some_and(|made| made.text == text))
    };
    if is_empty_block(text, &plain) || is_made() { plain } else { text.to_owned() }
}

/// Whether all that `plain` lacks are the two lines of the marks and blank lines.
fn is_empty_block(text: &str, plain: &str) -> bool {
    let filled = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    filled(text) == filled(plain) + 2
}
