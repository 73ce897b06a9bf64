//! A violation, checked again: is it there under weak fairness, is it there within larger bounds? A run that does not
//! show it, and is not a complete run without it either, decides nothing.

use std::time::Duration;

use crate::tla::{
    Cfg, CheckOutcome, ConstantProbe, FairnessProbe, Module, ProbeResult, Probes, Verdict, Violation, ViolationKind,
    WeakFairness, unprobed_bounds,
};

use super::check::with_sound_symmetry;
use super::explorer::{Explorer, Run};
use super::plan::{self, RunPlan};
use super::{CheckRequest, Limits, Probed, ToolContext, ToolError};

/// See [`Toolchain::probe`](super::Toolchain::probe).
pub(crate) async fn probe(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    outcome: &CheckOutcome,
    cx: &ToolContext<'_>,
) -> Result<Option<Probed>, ToolError> {
    let (Verdict::Violated { violated }, Some(trace)) = (&outcome.verdict, &outcome.trace) else { return Ok(None) };
    // No flaw rests on a violated TypeOK.
    if violated.property().is_none_or(|name| name == "TypeOK") {
        return Ok(None);
    }
    let request = &*with_sound_symmetry(request, &mut Vec::new());
    let mut prober = Prober { explorer, request, cx, violated, left: cx.limits.check, output: String::new() };
    let weak_fairness = if trace.lasso.is_some() { Some(prober.under_fairness().await?) } else { None };
    let mut larger_constants = Vec::new();
    for (constant, value) in &request.cfg.constants {
        let Some(value) = value.parse::<i64>().ok().and_then(|n| n.checked_add(1)) else { continue };
        let value = value.to_string();
        let result = prober.with(constant, &value).await?;
        larger_constants.push(ConstantProbe { constant: constant.clone(), value, result });
    }
    let module = Module::parse(&request.spec.text).ok();
    let unprobed_bounds = unprobed_bounds(module.as_ref(), &request.cfg);
    Ok(Some(Probed { probes: Probes { weak_fairness, larger_constants, unprobed_bounds }, output: prober.output }))
}

struct Prober<'a> {
    explorer: &'a dyn Explorer,
    request: &'a CheckRequest,
    cx: &'a ToolContext<'a>,
    violated: &'a Violation,
    /// The time that is left to all runs together.
    left: Duration,
    output: String,
}

impl Prober<'_> {
    async fn under_fairness(&mut self) -> Result<FairnessProbe, ToolError> {
        let undecided = |why: String| FairnessProbe::new(Vec::new(), Vec::new(), ProbeResult::Inconclusive(why));
        let (Ok(module), Some(property)) = (Module::parse(&self.request.spec.text), &self.violated.name) else {
            return Ok(undecided("which property is violated is not known".to_owned()));
        };
        let fairness = match WeakFairness::derive(&module, &self.request.cfg) {
            Ok(fairness) => fairness,
            Err(why) => return Ok(undecided(why)),
        };
        let cfg = &self.request.cfg;
        let plan = plan::fair(&self.request.spec, cfg, property, &fairness);
        let again = self.again(&plan, cfg).await?;
        Ok(FairnessProbe::new(fairness.actions, fairness.unsplit_actions, again))
    }

    async fn with(&mut self, constant: &str, value: &str) -> Result<ProbeResult, ToolError> {
        let mut cfg = self.request.cfg.clone();
        cfg.constants.insert(constant.to_owned(), value.to_owned());
        let Some(plan) = plan::violation(&cfg, self.violated) else {
            return Ok(ProbeResult::Inconclusive("no run looks for this violation alone".to_owned()));
        };
        self.again(&RunPlan { label: format!("with {constant} = {value}"), ..plan }, &cfg).await
    }

    async fn again(&mut self, plan: &RunPlan, cfg: &Cfg) -> Result<ProbeResult, ToolError> {
        if self.left.as_millis() < 100 {
            return Ok(ProbeResult::Inconclusive("no time was left for it".to_owned()));
        }
        let limits = Limits { check: self.left, ..self.cx.limits.clone() };
        let cx = ToolContext { limits: &limits, cancel: self.cx.cancel, progress: self.cx.progress };
        let (run, output) = match self.explorer.run(&self.request.spec, plan, &cx).await {
            Ok(done) => done,
            Err(error) if error.is_fatal() => return Err(error),
            // The check itself has its verdict; that a further run broke takes nothing from it.
            Err(error) => return Ok(ProbeResult::Inconclusive(error.to_string())),
        };
        self.output.push_str(&output);
        self.left = self.left.saturating_sub(Duration::from_secs_f64(run.seconds));
        Ok(self.judge(run, cfg))
    }

    fn judge(&self, run: Run, cfg: &Cfg) -> ProbeResult {
        let constrained = !(cfg.constraints.is_empty() && cfg.action_constraints.is_empty());
        match run.verdict {
            Verdict::Violated { violated } if self.is_the_same(&violated) => {
                ProbeResult::StillViolated { states: run.read.trace.map(|trace| trace.steps.len()).filter(|n| *n > 0) }
            }
            Verdict::Violated { violated } => {
                ProbeResult::Inconclusive(format!("it ended with another: {}", violated.description()))
            }
            Verdict::Holds if constrained && run.read.liveness => {
                ProbeResult::Inconclusive("a constraint can hide violations of temporal properties".to_owned())
            }
            Verdict::Holds => ProbeResult::Holds,
            Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => ProbeResult::Inconclusive(reason),
        }
    }

    fn is_the_same(&self, found: &Violation) -> bool {
        let temporal = |kind| matches!(kind, ViolationKind::Property | ViolationKind::ActionProperty);
        // A run for a temporal property has no other, and TLC does not always name it.
        (temporal(found.kind) && temporal(self.violated.kind))
            || (found.kind == self.violated.kind && found.name == self.violated.name)
    }
}
