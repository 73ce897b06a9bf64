//! The PlusCal translator and SANY.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::desk::{Desk, Inspection, current, defect, diagnostics_text, to_json, tool_trouble};
use crate::journal::Kind;
use crate::pipeline::{Acceptance, Attempt, Event, Facts, Feedback, Product, RunView, Station, StationError, file};

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, StationError> {
    let source = current(view, attempt, file::SOURCE)?.unwrap_or_default();
    let inspection = match attempt.recall("tool_finished", |_| true) {
        Some(event) => Inspection::deserialize(&event.data["inspection"]).map_err(|e| defect(&e))?,
        None => {
            let inspection = desk.inspect(&source).await.map_err(|e| tool_trouble(&e))?;
            let accepted = inspection.module.is_some();
            let data = serde_json::json!({
                "tool": "translate and parse", "accepted": accepted, "inspection": to_json(&inspection),
            });
            attempt.record(Kind::Act, "tool_finished", data)?;
            inspection
        }
    };
    match inspection.module {
        Some(module) => {
            let sha = attempt.keep(&module)?;
            let artifacts = BTreeMap::from([(file::VALIDATED.to_owned(), sha.clone()), (file::MODULE.to_owned(), sha)]);
            Ok(Product {
                event: Event::Validated(Acceptance::Accepted),
                artifacts,
                feedback: Vec::new(),
                facts: Facts::Nothing,
            })
        }
        None => Ok(Product {
            event: Event::Validated(Acceptance::Rejected),
            artifacts: BTreeMap::new(),
            feedback: vec![Feedback {
                station: Station::Formalize,
                from: "PlusCal translator and SANY".into(),
                text: format!(
                    "The module was rejected. Lines and columns refer to the module with its translation.\n\n{}",
                    diagnostics_text(&inspection.diagnostics)
                ),
            }],
            facts: Facts::Rejected { diagnostics: inspection.diagnostics },
        }),
    }
}
