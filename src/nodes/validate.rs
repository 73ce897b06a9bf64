//! The PlusCal translator and SANY.

use std::collections::BTreeMap;

use super::desk::{Desk, current, diagnostics_text, recall_inspection, record_inspection, tool_trouble};
use crate::pipeline::{Acceptance, Attempt, Event, Facts, Feedback, Product, RunView, Station, StationError, file};
use crate::tla::parsed_by;

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, StationError> {
    let source = current(view, attempt, file::SOURCE)?.unwrap_or_default();
    let inspection = match recall_inspection(attempt)? {
        Some(inspection) => inspection,
        None => {
            let inspection = desk.inspect(&source).await.map_err(|e| tool_trouble(&e))?;
            record_inspection(attempt, "translate and parse", &inspection, &[])?;
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
                from: parsed_by(desk.toolchain.checker()).trim_start_matches("the ").into(),
                text: format!(
                    "The module was rejected. Lines and columns refer to the module with its translation.\n\n{}",
                    diagnostics_text(&inspection.diagnostics)
                ),
            }],
            facts: Facts::Rejected { diagnostics: inspection.diagnostics },
        }),
    }
}
