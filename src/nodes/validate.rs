//! Validates the module: the PlusCal translator and SANY must accept it, and it must declare the names that the settings
//! require.

use std::collections::BTreeMap;

use super::context::{NodeContext, halt_for_tool};
use super::inspection::{Inspection, recall_inspection, record_inspection};
use super::workspace::{current, diagnostics_text};
use crate::pipeline::{
    Acceptance, Attempt, Event, Facts, Feedback, Interface, NodeError, NodeName, Product, RunView, file,
};
use crate::tla::{Cfg, Diagnostic, Module, Stage, checked_texts, parsed_by};

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let source = current(view, attempt, file::SOURCE)?.unwrap_or_default();
    let inspection = match recall_inspection(attempt)? {
        Some(inspection) => inspection,
        None => {
            let mut inspection = context.inspect(&source).await.map_err(|e| halt_for_tool(&e))?;
            if let Some(text) = &inspection.module
                && let Some(refused) = refusal(context, text).await?
            {
                inspection = Inspection { module: None, diagnostics: vec![refused] };
            }
            record_inspection(attempt, "translate and parse", &inspection, None)?;
            inspection
        }
    };
    // Names are looked up only in a module that both tools accept.
    let missing = match &inspection.module {
        Some(module) => {
            let missing = |module: &Module| {
                let asked = view.settings.interface_names.missing(module);
                asked.into_iter().chain(Interface::fixed_by(&view.specification.names).missing(module)).collect()
            };
            context.modules.parse(module).map(|module| missing(&module)).unwrap_or_default()
        }
        None => Vec::new(),
    };
    match inspection.module {
        Some(_) if !missing.is_empty() => Ok(rejected(
            "the interface of the specification",
            &format!(
                "The module is accepted, and lacks names that it was asked to declare.\n\n{}",
                diagnostics_text(&missing)
            ),
            missing,
        )),
        Some(module) => {
            let cfg = Cfg { specification: Some("Spec".to_owned()), ..Cfg::default() };
            let texts = context.modules.parse(&module).map(|module| checked_texts(&module, &cfg)).unwrap_or_default();
            let sha = attempt.keep(&module)?;
            let artifacts = BTreeMap::from([(file::VALIDATED.to_owned(), sha.clone()), (file::MODULE.to_owned(), sha)]);
            Ok(Product {
                event: Event::Validated(Acceptance::Accepted),
                artifacts,
                feedback: Vec::new(),
                facts: Facts::Validated { texts },
            })
        }
        None if inspection.diagnostics.iter().any(|found| found.stage == Stage::Embedded) => Ok(rejected(
            "the embedded checker",
            &format!("The checker refuses the module.\n\n{}", diagnostics_text(&inspection.diagnostics)),
            inspection.diagnostics,
        )),
        None => Ok(rejected(
            parsed_by(context.toolchain.checker()).trim_start_matches("the "),
            &format!(
                "The module was rejected. Lines and columns refer to the module with its translation.\n\n{}",
                diagnostics_text(&inspection.diagnostics)
            ),
            inspection.diagnostics,
        )),
    }
}

/// Why the checker would refuse the module alone, with a model value for each constant.
async fn refusal(context: &NodeContext, text: &str) -> Result<Option<Diagnostic>, NodeError> {
    let Ok(module) = context.modules.parse(text) else { return Ok(None) };
    if module.definition("Spec").is_none() || module.constants.iter().any(|constant| constant.arity > 0) {
        return Ok(None);
    }
    let values = module.constants.iter().map(|constant| (constant.name.clone(), constant.name.clone()));
    let cfg = Cfg { specification: Some("Spec".to_owned()), constants: values.collect(), ..Cfg::default() };
    Ok(context.refusal(text, &cfg).await.map_err(|e| halt_for_tool(&e))?)
}

fn rejected(from: &str, text: &str, diagnostics: Vec<Diagnostic>) -> Product {
    let (from, text) = (from.to_owned(), text.to_owned());
    Product {
        event: Event::Validated(Acceptance::Rejected),
        artifacts: BTreeMap::new(),
        feedback: vec![Feedback { node: NodeName::Formalize, from, text }],
        facts: Facts::Rejected { diagnostics },
    }
}
