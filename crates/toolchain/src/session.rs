//! The runs of one check, by whichever checker. It does not know which runs a check needs.

use std::time::Duration;

use tlaforge_tla::{Reached, Verdict, ViolationKind};

use super::explorer::{Explorer, FurtherRuns, Run};
use super::plan::RunPlan;
use super::{CheckRequest, Limits, ToolContext, ToolError};

/// A check in progress: its checker and request, and the output of the runs so far.
pub(super) struct Session<'a> {
    pub(super) explorer: &'a dyn Explorer,
    pub(super) request: &'a CheckRequest,
    pub(super) cx: &'a ToolContext<'a>,
    pub(super) output: String,
}

/// Why a further run was not started.
pub(super) const NO_TIME_LEFT: &str = "no time was left for it";

impl Session<'_> {
    pub(super) fn add_further_runs<T>(&mut self, further: FurtherRuns<T>, warnings: &mut Vec<String>) -> T {
        self.output.push_str(&further.output);
        warnings.extend(further.warnings);
        further.result
    }

    pub(super) async fn run(&mut self, plan: &RunPlan) -> Result<Run, ToolError> {
        let (run, output) = self.execute(plan).await?;
        self.output.push_str(&output);
        Ok(run)
    }

    /// Runs a plan; returns the result, and the output under a heading.
    pub(super) async fn execute(&self, plan: &RunPlan) -> Result<(Run, String), ToolError> {
        self.explorer.run(&self.request.spec, plan, self.cx).await
    }

    /// Runs a plan within `left`, the time for a series of runs, and subtracts what it took. The inner error says why
    /// there is no result: the check has its verdict already, so a further run that fails leaves only itself undecided.
    pub(super) async fn run_in_time_left(
        &mut self,
        plan: &RunPlan,
        left: &mut Duration,
    ) -> Result<Result<Run, String>, ToolError> {
        // Starting TLC alone takes several times as long.
        if left.as_millis() < 100 {
            return Ok(Err(NO_TIME_LEFT.to_owned()));
        }
        let limits = Limits { check: *left, ..self.cx.limits.clone() };
        let cx = ToolContext { limits: &limits, ..*self.cx };
        let (run, output) = match self.explorer.run(&self.request.spec, plan, &cx).await {
            Ok(done) => done,
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => return Ok(Err(error.to_string())),
        };
        self.output.push_str(&output);
        *left = left.saturating_sub(Duration::from_secs_f64(run.seconds));
        Ok(Ok(run))
    }
}

/// What a run that checks only that `~P` holds, in each state or each step, says about `P`.
pub(super) fn reached_verdict(run: Run) -> Reached {
    match run.verdict {
        Verdict::Holds => Reached::No,
        Verdict::Violated { violated }
            if matches!(
                violated.kind,
                ViolationKind::Invariant | ViolationKind::Property | ViolationKind::ActionProperty
            ) =>
        {
            Reached::Yes { depth: run.parsed.trace.map_or(1, |trace| trace.steps.len().max(1)) }
        }
        Verdict::Violated { violated } => {
            Reached::Unknown(format!("its run ended with another violation: {}", describe_kind(violated.kind)))
        }
        Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => Reached::Unknown(reason),
    }
}

fn describe_kind(kind: ViolationKind) -> &'static str {
    match kind {
        ViolationKind::Invariant => "an invariant",
        ViolationKind::Property => "a temporal property",
        ViolationKind::ActionProperty => "an action property",
        ViolationKind::Deadlock => "a deadlock",
        ViolationKind::NoBehaviour => "no behaviour",
        ViolationKind::Assumption => "an assumption",
        ViolationKind::Assertion => "an assertion",
        ViolationKind::Evaluation => "an evaluation",
        ViolationKind::Parse => "the module",
    }
}
