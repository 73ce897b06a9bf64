//! Informal specification to a module with a PlusCal algorithm.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::desk::{Ask, Desk, as_read, current, diagnostics_text, feedback_file, numbered};
use crate::pipeline::{Attempt, Event, Facts, Feedback, Product, RunView, Station, StationError, file};
use crate::prompt::module;
use crate::tla::{UNCUT, outcome_text, without_translation};

const ANSWER: &str = "formalize.answer";

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, StationError> {
    let previous = match current(view, attempt, file::SOURCE)? {
        Some(text) => Some(text),
        None => current(view, attempt, ANSWER)?,
    };
    let exemplars: Vec<String> = view
        .settings
        .exemplars
        .iter()
        .map(|e| e.path.clone())
        .filter(|p| Path::new(p).extension().is_some_and(|e| e == "tla"))
        .collect();
    let mut data = json!({"exemplars": exemplars, "interface": view.settings.interface, "has_check": false});
    let informal = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    let mut files = vec![("informal_spec.md".to_owned(), informal)];
    let purpose = if let Some(previous) = previous {
        files.push(("previous.md".to_owned(), numbered(&previous)));
        let otherwise = if view.rejected.is_empty() {
            "`informal_spec.md` has a new version: bring the module in line with it.".to_owned()
        } else {
            format!("The module was not accepted:\n\n{}", diagnostics_text(&view.rejected))
        };
        files.push(("feedback.md".to_owned(), feedback_file(view.open_for(Station::Formalize), &otherwise)));
        if let Some(check) = view.check() {
            data["has_check"] = json!(true);
            files.push(("check.md".to_owned(), outcome_text(&check.outcome, UNCUT)));
        }
        "repair"
    } else {
        "draft"
    };
    let reply = desk
        .ask(
            view,
            Ask {
                purpose,
                node: Station::Formalize.name(),
                role: "formalize/role",
                prompt: format!("formalize/{purpose}"),
                data,
                files,
                docs: false,
                exemplars: true,
                attempt,
            },
        )
        .await?;
    let mut artifacts = BTreeMap::from([(ANSWER.to_owned(), reply.sha)]);
    match module(&reply.text, "Spec") {
        Ok(read) => {
            let source = attempt.keep(&without_translation(&as_read(attempt, read)?))?;
            artifacts.insert(file::SOURCE.to_owned(), source.clone());
            artifacts.insert(file::MODULE.to_owned(), source);
            Ok(Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts: Facts::Nothing })
        }
        Err(problem) => Ok(Product {
            event: Event::Unreadable,
            artifacts,
            feedback: vec![Feedback {
                station: Station::Formalize,
                from: "your last answer could not be read".into(),
                text: problem.what,
            }],
            facts: Facts::Nothing,
        }),
    }
}
