//! Checks a violation again: does it remain under weak fairness, and within larger bounds? A run that neither shows it
//! nor finishes without it decides nothing.

use std::time::Duration;

use tlaforge_tla::{
    Cfg, CheckOutcome, ConstantProbe, FairnessProbe, Module, ProbeResult, Probes, Verdict, Violation, ViolationKind,
    WeakFairness, unprobed_bounds,
};

use super::check::drop_unsound_reductions;
use super::explorer::{Explorer, Run};
use super::plan::{self, RunPlan};
use super::session::Session;
use super::{CheckRequest, ProbeReport, ToolContext, ToolError};

/// Makes the further runs of [`Toolchain::probe`](super::Toolchain::probe).
pub(crate) async fn probe(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    outcome: &CheckOutcome,
    cx: &ToolContext<'_>,
) -> Result<Option<ProbeReport>, ToolError> {
    let (Verdict::Violated { violated }, Some(trace)) = (&outcome.verdict, &outcome.trace) else { return Ok(None) };
    // A violated `TypeOK` is never reported as a flaw of the protocol.
    if violated.property().is_none_or(|name| name == "TypeOK") {
        return Ok(None);
    }
    // Its warning is in the outcome of the check already.
    let request = &*drop_unsound_reductions(request, &mut Vec::new());
    let session = Session { explorer, request, cx, output: String::new() };
    let mut prober = Prober { session, violated, left: cx.limits.check };
    let weak_fairness = if trace.lasso.is_some() { Some(prober.recheck_under_fairness().await?) } else { None };
    let mut larger = Vec::new();
    for (constant, value) in &request.cfg.constants {
        // One constant at a time, so that the report can say which bound matters.
        let Some(value) = value.parse::<i64>().ok().and_then(|n| n.checked_add(1)) else { continue };
        let value = value.to_string();
        let result = prober.recheck_with_constant(constant, &value).await?;
        larger.push(ConstantProbe { constant: constant.clone(), value, result });
    }
    let module = Module::parse(&request.spec.text).ok();
    let unprobed_bounds = unprobed_bounds(module.as_ref(), &request.cfg);
    Ok(Some(ProbeReport {
        probes: Probes { weak_fairness, larger_constants: larger, unprobed_bounds },
        output: prober.session.output,
    }))
}

struct Prober<'a> {
    session: Session<'a>,
    violated: &'a Violation,
    /// Time left for all runs together.
    left: Duration,
}

impl Prober<'_> {
    async fn recheck_under_fairness(&mut self) -> Result<FairnessProbe, ToolError> {
        let undecided = |why: String| FairnessProbe::new(Vec::new(), Vec::new(), ProbeResult::Inconclusive(why));
        let (Ok(module), Some(property)) = (Module::parse(&self.session.request.spec.text), &self.violated.name) else {
            return Ok(undecided("it is not known which property is violated".to_owned()));
        };
        let fairness = match WeakFairness::derive(&module, &self.session.request.cfg) {
            Ok(fairness) => fairness,
            Err(why) => return Ok(undecided(why)),
        };
        let cfg = &self.session.request.cfg;
        let plan = plan::under_weak_fairness(&self.session.request.spec, cfg, property, &fairness);
        let result = self.recheck(&plan, cfg).await?;
        Ok(FairnessProbe::new(fairness.actions, fairness.unsplit_actions, result))
    }

    async fn recheck_with_constant(&mut self, constant: &str, value: &str) -> Result<ProbeResult, ToolError> {
        let mut cfg = self.session.request.cfg.clone();
        cfg.constants.insert(constant.to_owned(), value.to_owned());
        let Some(plan) = plan::single_violation(&cfg, self.violated) else {
            return Ok(ProbeResult::Inconclusive("no run can search for this violation alone".to_owned()));
        };
        self.recheck(&RunPlan { label: format!("with {constant} = {value}"), ..plan }, &cfg).await
    }

    async fn recheck(&mut self, plan: &RunPlan, cfg: &Cfg) -> Result<ProbeResult, ToolError> {
        Ok(match self.session.run_in_time_left(plan, &mut self.left).await? {
            Ok(run) => self.judge(run, cfg),
            Err(why) => ProbeResult::Inconclusive(why),
        })
    }

    fn judge(&self, run: Run, cfg: &Cfg) -> ProbeResult {
        let constrained = !(cfg.constraints.is_empty() && cfg.action_constraints.is_empty());
        match run.verdict {
            Verdict::Violated { violated } if self.is_same_violation(&violated) => ProbeResult::StillViolated {
                states: run.parsed.trace.map(|trace| trace.steps.len()).filter(|n| *n > 0),
            },
            Verdict::Violated { violated } => {
                ProbeResult::Inconclusive(format!("it ended with another violation: {}", violated.description()))
            }
            Verdict::Holds if constrained && run.parsed.liveness => {
                ProbeResult::Inconclusive("a constraint can hide violations of temporal properties".to_owned())
            }
            Verdict::Holds => ProbeResult::Holds,
            Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => ProbeResult::Inconclusive(reason),
        }
    }

    fn is_same_violation(&self, found: &Violation) -> bool {
        let temporal = |kind| matches!(kind, ViolationKind::Property | ViolationKind::ActionProperty);
        // A run for a temporal property checks no other property, and TLC does not always name the violated one.
        (temporal(found.kind) && temporal(self.violated.kind))
            || (found.kind == self.violated.kind && found.name == self.violated.name)
    }
}
