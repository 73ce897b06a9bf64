//! After a check in which all properties hold: checks the same properties with one constant of the configuration enlarged,
//! for each constant in turn. The verdict of the check stays what it is.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::context::{NodeContext, halt_for_tool};
use super::timing::late_in_replay;
use crate::pipeline::{Attempt, NodeError};
use crate::tla::{LargerBound, LargerBoundResult, Trace, Verdict, Violation, ViolationKind};
use crate::toolchain::{CheckReport, CheckRequest, Limits, Progress, ToolContext};

/// A check with a larger bound ends when it has met more distinct states than this, so that the result depends on
/// the model and not on the speed of the machine. The checker reports its counts from time to time, so it may go a little further.
const MAX_STATES: u64 = 200_000;

impl NodeContext {
    /// Adds the results to the outcome of the check, which `took` this long.
    pub(super) async fn check_larger_bounds(
        &self,
        attempt: &Attempt<'_>,
        request: &CheckRequest,
        checked: &mut CheckReport,
        took: Duration,
    ) -> Result<(), NodeError> {
        let recorded = self.timing(attempt);
        let is_wanted = !self.bounds_budget.is_zero() && attempt.candidate == 0;
        // Older recordings, and those of runs that tried none, do not have it.
        let is_recorded = !self.is_replay() || recorded.is_some_and(|timing| timing.larger_bounds);
        let holds = checked.outcome.verdict == Verdict::Holds && checked.outcome.is_complete();
        if !(is_wanted && is_recorded && holds) {
            return Ok(());
        }
        let mut left = self.bounds_budget;
        let larger = request.cfg.larger_constants(&request.spec.text);
        for (open, (constant, value)) in (1..=larger.len()).rev().zip(larger) {
            let mut bound = LargerBound { constant, value, result: LargerBoundResult::NotTried };
            let began = Instant::now();
            let late = |names: &[String]| names.contains(&bound.name());
            bound.result = match recorded {
                Some(timing) if late(&timing.unjudged) => LargerBoundResult::NotTried,
                Some(timing) if late(&timing.timed_out) => LargerBoundResult::TooLarge,
                Some(timing) if late(&timing.too_many_states) => LargerBoundResult::TooManyStates { limit: MAX_STATES },
                Some(_) => self.check_with(request, &bound, self.replay_limit(), &mut checked.output).await?,
                None if took > self.bounds_budget => LargerBoundResult::NotTried,
                None => {
                    // Time that a bound does not use is for those that remain.
                    match left / u32::try_from(open).unwrap_or(u32::MAX) {
                        Duration::ZERO => LargerBoundResult::NotTried,
                        share => self.check_with(request, &bound, share, &mut checked.output).await?,
                    }
                }
            };
            left = left.saturating_sub(began.elapsed());
            checked.outcome.larger_bounds.push(bound);
        }
        Ok(())
    }

    /// Checks the properties of the request with this bound. An error that concerns only this check leaves it undecided.
    async fn check_with(
        &self,
        request: &CheckRequest,
        bound: &LargerBound,
        time: Duration,
        output: &mut String,
    ) -> Result<LargerBoundResult, NodeError> {
        let began = Instant::now();
        let mut request = request.clone();
        request.cfg.constants.insert(bound.constant.clone(), bound.value.clone());
        request.cfg.witnesses.clear();
        request.cfg_text = request.cfg.render();
        let limits = Limits { check: time, ..self.limits.clone() };
        let is_too_large = Notify::new();
        let progress = |progress: Progress| {
            // The recording says where it ended.
            if progress.distinct > MAX_STATES && !self.is_replay() {
                is_too_large.notify_one();
            }
            (self.progress)(progress);
        };
        let cx = ToolContext { limits: &limits, progress: &progress, ..self.tool_context() };
        // `limits.check` limits each run of the checker, and one check can need several.
        let checked = tokio::select! {
            checked = async {
                match &self.side_toolchain {
                    // One run with one thread: what it prints does not depend on how fast this machine is.
                    Some(tools) => tools.decide(&request, &cx).await,
                    None => self.toolchain.check_without_details(&request, &cx).await,
                }
            } => checked,
            () = self.wait_unless_replay(time) => return Ok(LargerBoundResult::TooLarge),
            () = is_too_large.notified() => return Ok(LargerBoundResult::TooManyStates { limit: MAX_STATES }),
        };
        let CheckReport { outcome, output: own, .. } = match checked {
            Ok(checked) => checked,
            Err(error) if error.is_fatal() => return Err(halt_for_tool(&error).into()),
            Err(error) => return Ok(LargerBoundResult::Undecided { why: error.to_string() }),
        };
        let _ = write!(output, "\n\n===== with {} =====\n{own}", bound.name());
        match LargerBoundResult::of(outcome) {
            // As on a machine that is slow enough for the checker to report its counts before it ends.
            LargerBoundResult::Holds { states: Some(states) } if states > MAX_STATES && !self.is_replay() => {
                Ok(LargerBoundResult::TooManyStates { limit: MAX_STATES })
            }
            LargerBoundResult::TooLarge if self.is_replay() => {
                Err(late_in_replay(&format!("the check with `{}`", bound.name()), time).into())
            }
            LargerBoundResult::Violated { violated, trace: Some(trace) } if !has_names(&trace) => {
                let named = tokio::select! {
                    named = self.trace_with_names(request, &violated, &cx) => named?,
                    () = self.wait_unless_replay(time.saturating_sub(began.elapsed())) => None,
                };
                let trace = named.unwrap_or(trace);
                Ok(LargerBoundResult::Violated { violated, trace: Some(trace) })
            }
            result => Ok(result),
        }
    }

    /// Finds the violation again, by a check that explains its trace. `None` if that finds another one, or none.
    pub(super) async fn trace_with_names(
        &self,
        mut request: CheckRequest,
        violated: &Violation,
        cx: &ToolContext<'_>,
    ) -> Result<Option<Trace>, NodeError> {
        // Only the violated property.
        let cfg = &mut request.cfg;
        cfg.invariants.retain(|name| violated.name.as_ref() == Some(name));
        cfg.properties.retain(|name| violated.name.as_ref() == Some(name));
        if violated.kind != ViolationKind::Deadlock {
            cfg.check_deadlock = Some(false);
        }
        request.cfg_text = request.cfg.render();
        match self.toolchain.check(&request, cx).await {
            Ok(CheckReport { outcome, .. }) => {
                let same = matches!(&outcome.verdict, Verdict::Violated { violated: again } if again == violated);
                Ok(outcome.trace.filter(|_| same))
            }
            Err(error) if error.is_fatal() => Err(halt_for_tool(&error).into()),
            Err(_) => Ok(None),
        }
    }
}

fn has_names(trace: &Trace) -> bool {
    trace.steps.iter().skip(1).all(|step| step.action.is_some())
}
