//! Evaluates the properties of a merged module in its initial states, so that what cannot be evaluated there goes back to
//! the author of the properties at once and not after a whole check and a review.

use super::context::NodeContext;
use crate::tla::{Cfg, Diagnostic, Module, Verdict, ViolationKind};
use crate::toolchain::{CheckRequest, SpecText, ToolError};

impl NodeContext {
    /// The diagnostics of a property that cannot be evaluated in an initial state. Empty if all can be, if the initial
    /// predicate itself cannot, or if nothing was decided: the check that follows decides that.
    pub(super) async fn unevaluable_properties(&self, text: &str, cfg: &Cfg) -> Result<Vec<Diagnostic>, ToolError> {
        let is_defined = Module::parse(text).is_ok_and(|module| module.definition("Init").is_some());
        let Some(end) = text.rfind("\n====").filter(|_| is_defined && !cfg.invariants.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut no_step = "TlaforgeNoStep".to_owned();
        while text.contains(&no_step) {
            no_step.push('_');
        }
        // At the end, so that all positions stay those of the module.
        let text = format!("{}\n{no_step} == FALSE{}", &text[..end], &text[end..]);
        let initial = |invariants: Vec<String>| Cfg {
            specification: None,
            init: Some("Init".to_owned()),
            next: Some(no_step.clone()),
            invariants,
            properties: Vec::new(),
            witnesses: Vec::new(),
            check_deadlock: Some(false),
            ..cfg.clone()
        };
        let Some(found) = self.evaluation_error(&text, initial(cfg.invariants.clone())).await? else {
            return Ok(Vec::new());
        };
        let by_module = self.evaluation_error(&text, initial(Vec::new())).await?.is_some();
        Ok(if by_module { Vec::new() } else { found })
    }

    async fn evaluation_error(&self, text: &str, cfg: Cfg) -> Result<Option<Vec<Diagnostic>>, ToolError> {
        let spec = SpecText { name: "Spec".to_owned(), text: text.to_owned(), local_modules: Vec::new() };
        let request = CheckRequest { spec, cfg_text: cfg.render(), cfg };
        let checked = match self.toolchain.check_without_details(&request, &self.tool_context()).await {
            Ok(checked) => checked,
            Err(error) if error.is_fatal() => return Err(error),
            // The check that follows reports it.
            Err(_) => return Ok(None),
        };
        Ok(match checked.outcome.verdict {
            Verdict::Invalid { violated, diagnostics, .. } if violated.kind == ViolationKind::Evaluation => {
                Some(diagnostics)
            }
            _ => None,
        })
    }
}
