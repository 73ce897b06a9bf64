//! The embedded checker as an [`Explorer`]: derives the verdict of a run from its status and output.

use std::time::Duration;

use async_trait::async_trait;
use tlaforge_process::{Cancel, Status};
use tlaforge_tla::{ActionCoverage, Cfg, Checker, Trace, Verdict, WitnessOutcome};

use super::action_coverage;
use super::embedded_process::{CHECKER_NAME, CheckerRun, EmbeddedChecker, SINGLE_THREAD_TIME, VERSION, crash_error};
use super::explorer::{Explorer, FurtherRuns, ParsedOutput, PastViolations, Run, SingleRunCheck, judge};
use super::past_violations::{self, Continues};
use super::plan::{self, RunPlan};
use super::targets::Targets;
use super::witness_negations::Negations;
use super::{
    CheckRequest, Detail, Limits, PastViolationLimits, SpecText, ToolContext, ToolError, embedded_output,
    environment_failure, step_names,
};

/// Runs a plan with one thread first, and again with all threads if that takes too long.
async fn run_plan(
    checker: &EmbeddedChecker<'_>,
    spec: &SpecText,
    plan: &RunPlan,
    cx: &ToolContext<'_>,
) -> Result<(Run, String), ToolError> {
    let workers = plan.order.workers(cx.limits);
    let first = if workers > 1 { SINGLE_THREAD_TIME.min(cx.limits.check) } else { cx.limits.check };
    let alone = Limits { check: first, workers: Some(1), ..cx.limits.clone() };
    let first = ToolContext { limits: &alone, ..*cx };
    let mut before = Duration::ZERO;
    let (checker_run, workers) = match checker.explore(spec, plan, None, &first, &Cancel::new(), &mut |_| {}).await? {
        slow if slow.ended.status == Status::DeadlineExceeded && cx.limits.check > alone.check => {
            before = slow.ended.wall;
            // Both runs together keep to the limit of one.
            let limits = Limits { check: cx.limits.check.saturating_sub(SINGLE_THREAD_TIME), ..cx.limits.clone() };
            let rest = ToolContext { limits: &limits, ..*cx };
            (checker.explore(spec, plan, None, &rest, &Cancel::new(), &mut |_| {}).await?, workers)
        }
        done => (done, 1),
    };
    let (verdict, parsed) = interpret(&checker_run, cx)?;
    let verdict = limit_to_action_constraint(verdict, plan);
    let seconds = (before + checker_run.ended.wall).as_secs_f64();
    Ok((Run { verdict, parsed, seconds, workers }, checker_run.output))
}

/// The verdict of a run, with the parsed output.
fn interpret(checker_run: &CheckerRun, cx: &ToolContext<'_>) -> Result<(Verdict, ParsedOutput), ToolError> {
    let parsed = embedded_output::parse(&checker_run.stdout, &checker_run.stderr, checker_run.ended.status);
    let judged = judge(CHECKER_NAME, &checker_run.ended, &parsed, cx, |_| crash_error(&checker_run.ended));
    // A verdict that the checker reached counts, whatever else it wrote to standard error.
    if !matches!(judged, Ok(Verdict::Holds | Verdict::Violated { .. }))
        && let Some(what) = environment_failure::find(&checker_run.stderr)
    {
        return Err(ToolError::Environment { tool: CHECKER_NAME.to_owned(), what });
    }
    Ok((judged?, parsed))
}

/// How the reason begins if a search past violations ended at its limit of states or steps.
const AT_LIMIT: &str = "the search ended at its limit of ";

/// Whether a search past violations ended at its limit of states or steps.
pub(crate) fn is_state_limit(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Inconclusive { reason, .. } if reason.starts_with(AT_LIMIT))
}

async fn run_past_violations(
    checker: &EmbeddedChecker<'_>,
    spec: &SpecText,
    plan: &RunPlan,
    cx: &ToolContext<'_>,
) -> Result<Option<PastViolations>, ToolError> {
    // The order of variables under SYMMETRY is known only to the command line of the checker. A VIEW may give a state
    // outside a constraint the fingerprint of a state inside, and its invariants would not be evaluated.
    let can_continue = |cfg: &Cfg| cfg.symmetry.is_empty() && (cfg.view.is_none() || cfg.constraints.is_empty());
    let Some(cfg) = Cfg::parse(&plan.cfg).ok().filter(can_continue) else { return Ok(None) };
    let PastViolationLimits { states: max_states, depth: max_depth, ends_after_all } = cx.limits.past_violations;
    let continues = Continues::AfterAny { max_states, max_depth, ends_after_all };
    let checker_run = checker.explore_past_violations(spec, plan, continues, cx).await?;
    let violated: Vec<String> = past_violations::parse(&checker_run.stdout).into_iter().map(|v| v.name).collect();
    let is_open = |name: &String| !violated.contains(name);
    let nothing_is_open = !cfg.invariants.iter().chain(&cfg.properties).any(is_open);
    let (verdict, parsed) = if ends_after_all && nothing_is_open {
        (
            Verdict::inconclusive("the search stopped because all checked properties are violated"),
            ParsedOutput::default(),
        )
    } else if past_violations::found_too_many_states(&checker_run.stdout) {
        let limits = [(max_states, "states"), (max_depth, "steps")];
        let limits: Vec<String> =
            limits.iter().filter_map(|(limit, what)| Some(format!("{} {what}", (*limit)?))).collect();
        let why = format!("{AT_LIMIT}{}", limits.join(" and "));
        (Verdict::inconclusive(why), ParsedOutput::default())
    } else {
        interpret(&checker_run, cx)?
    };
    let open = Cfg { properties: cfg.properties.iter().filter(|name| is_open(name)).cloned().collect(), ..cfg.clone() };
    let open_plan = RunPlan { cfg: open.render(), ..plan.clone() };
    let verdict = limit_to_action_constraint(verdict, &open_plan);
    let seconds = checker_run.ended.wall.as_secs_f64();
    let run = Run { verdict, parsed, seconds, workers: 1 };
    Ok(Some(PastViolations { violated, run, output: checker_run.output }))
}

/// Searches for all of these witnesses in one run, which ends once it has reached each of them.
async fn search_witnesses(
    checker: &EmbeddedChecker<'_>,
    request: &CheckRequest,
    targets: &Targets,
    cx: &ToolContext<'_>,
) -> Result<FurtherRuns<Vec<WitnessOutcome>>, ToolError> {
    let Some(negations) = Negations::new(request, targets) else { return Ok(FurtherRuns::nothing(Vec::new())) };
    let spec = &request.spec;
    let plan = negations.add_to(spec, &plan::witnesses(&request.cfg));
    let checker_run = checker.explore_past_violations(spec, &plan, negations.continues(true), cx).await?;
    let rest = match interpret(&checker_run, cx) {
        Ok((verdict, _)) => Some(limit_to_action_constraint(verdict, &plan)),
        Err(error) if error.is_fatal() => return Err(error),
        // Also the end of a run that has reached all of them.
        Err(_) => None,
    };
    let decided = negations.outcomes(&checker_run.stdout, rest.as_ref());
    Ok(FurtherRuns { result: decided, warnings: Vec::new(), output: checker_run.output })
}

/// TLC also checks properties in the steps that an `ACTION_CONSTRAINT` cuts off; tla-mc does not.
fn limit_to_action_constraint(verdict: Verdict, plan: &RunPlan) -> Verdict {
    match (verdict, Cfg::parse(&plan.cfg)) {
        (Verdict::Holds, Ok(cfg)) if !cfg.action_constraints.is_empty() && !cfg.properties.is_empty() => {
            Verdict::inconclusive(format!(
                "no violation of a property was found, but not in the steps that the ACTION_CONSTRAINT cuts off ({})",
                cfg.action_constraints.join(", ")
            ))
        }
        (verdict, _) => verdict,
    }
}

#[async_trait]
impl Explorer for EmbeddedChecker<'_> {
    fn checker(&self) -> Checker {
        Checker::Embedded
    }

    fn version(&self) -> String {
        VERSION.to_owned()
    }

    async fn run(&self, spec: &SpecText, plan: &RunPlan, cx: &ToolContext<'_>) -> Result<(Run, String), ToolError> {
        run_plan(self, spec, plan, cx).await
    }

    async fn run_past_violations(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        cx: &ToolContext<'_>,
    ) -> Result<Option<PastViolations>, ToolError> {
        run_past_violations(self, spec, plan, cx).await
    }

    async fn search_witnesses(
        &self,
        request: &CheckRequest,
        targets: &Targets,
        cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Vec<WitnessOutcome>>, ToolError> {
        search_witnesses(self, request, targets, cx).await
    }

    async fn check_in_one_run(
        &self,
        request: &CheckRequest,
        targets: &Targets,
        detail: Detail,
        cx: &ToolContext<'_>,
    ) -> Result<Option<SingleRunCheck>, ToolError> {
        action_coverage::check_in_one_run(self, request, targets, detail, cx).await
    }

    async fn coverage(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Option<Vec<ActionCoverage>>>, ToolError> {
        action_coverage::coverage(self, request, cx).await
    }

    async fn name_steps(
        &self,
        request: &CheckRequest,
        trace: Trace,
        cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Trace>, ToolError> {
        step_names::name_steps(self, request, trace, cx).await
    }
}
