//! What goes back to its author at once, before a check and a review: invariants that cannot be evaluated in the initial
//! states, and what the checker refuses.

use super::context::NodeContext;
use super::inspection::quote_lines;
use crate::tla::{Cfg, Checker, Diagnostic, Module, Stage, Verdict, ViolationKind};
use crate::toolchain::{CheckRequest, SpecText, ToolContext, ToolError};

impl NodeContext {
    /// Diagnostics if an invariant cannot be evaluated in an initial state, or if the embedded checker cannot decide a
    /// property.
    /// Empty if it is neither, if the initial predicate itself cannot be evaluated, or if nothing was decided: the check that
    /// follows decides that.
    pub(super) async fn unevaluable_invariants(&self, text: &str, cfg: &Cfg) -> Result<Vec<Diagnostic>, ToolError> {
        let Ok(module) = Module::parse(text) else { return Ok(Vec::new()) };
        let starts_at_init = match (&cfg.specification, &cfg.init) {
            (Some(specification), _) => specification == "Spec",
            (None, init) => init.as_deref() == Some("Init"),
        };
        let (Some(variable), Some(end)) = (module.variables.first(), text.rfind("\n====")) else {
            return Ok(Vec::new());
        };
        if !starts_at_init || module.definition("Init").is_none() || cfg.invariants.is_empty() {
            return Ok(Vec::new());
        }
        let mut no_step = "TlaforgeNoStep".to_owned();
        while text.contains(&no_step) {
            no_step.push('_');
        }
        // At the end, so that all positions stay those of the module. TLC refuses a constant as next-state relation.
        let stays = format!("{no_step} == {0}' = {0} /\\ FALSE", variable.name);
        let text = format!("{}\n{stays}{}", &text[..end], &text[end..]);
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
            let properties = Cfg { properties: cfg.properties.clone(), ..initial(Vec::new()) };
            return self.refused_properties(&text, properties, initial(Vec::new())).await;
        };
        if self.evaluation_error(&text, initial(Vec::new())).await?.is_some() {
            return Ok(Vec::new());
        }
        let names = cfg.invariants.join(", ");
        let explained = |diagnostic: Diagnostic| Diagnostic {
            message: format!(
                "one of the invariants ({names}) cannot be evaluated in an initial state: {}",
                diagnostic.message
            ),
            ..diagnostic
        };
        Ok(quote_lines(found.into_iter().map(explained).collect(), &text))
    }

    /// A diagnostic if the embedded checker cannot decide these properties even in the initial states, and decides the module
    /// without them.
    async fn refused_properties(&self, text: &str, properties: Cfg, none: Cfg) -> Result<Vec<Diagnostic>, ToolError> {
        if self.toolchain.checker() != Checker::Embedded || properties.properties.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.initial_verdict(text, properties).await?;
        let Some(Verdict::Inconclusive { reason: message, timed_out: false }) = found else { return Ok(Vec::new()) };
        Ok(match self.initial_verdict(text, none).await? {
            Some(Verdict::Holds) => vec![Diagnostic { stage: Stage::Embedded, line: 0, column: 0, message }],
            _ => Vec::new(),
        })
    }

    /// A diagnostic if the checker would refuse the module with this configuration, whatever its states are.
    pub(super) async fn refusal(&self, text: &str, cfg: &Cfg) -> Result<Option<Diagnostic>, ToolError> {
        let request = CheckRequest { spec: SpecText::alone(text.to_owned()), cfg_text: cfg.render(), cfg: cfg.clone() };
        let refused = self.toolchain.find_refusal(&request, &self.tool_context()).await?;
        Ok(refused.map(|message| Diagnostic { stage: Stage::Embedded, line: 0, column: 0, message }))
    }

    async fn evaluation_error(&self, text: &str, cfg: Cfg) -> Result<Option<Vec<Diagnostic>>, ToolError> {
        Ok(match self.initial_verdict(text, cfg).await? {
            Some(Verdict::Invalid { violated, diagnostics, .. }) if violated.kind == ViolationKind::Evaluation => {
                Some(diagnostics)
            }
            _ => None,
        })
    }

    /// The verdict in the initial states; `None` if there is none, which the check that follows reports.
    async fn initial_verdict(&self, text: &str, cfg: Cfg) -> Result<Option<Verdict>, ToolError> {
        let spec = SpecText::alone(text.to_owned());
        let request = CheckRequest { spec, cfg_text: cfg.render(), cfg };
        let limits = self.quick_limits();
        let cx = ToolContext { limits: &limits, ..self.tool_context() };
        match self.toolchain.decide(&request, &cx).await {
            Ok(checked) => Ok(Some(checked.outcome.verdict)),
            Err(error) if error.is_fatal() => Err(error),
            Err(_) => Ok(None),
        }
    }
}
