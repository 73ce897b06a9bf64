//! Decisions that depend on the clock. A recording holds them, and a replay takes them from there, so that a slower or
//! busier machine decides the same.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::context::{NodeContext, draft_key};
use crate::llm::Timing;
use crate::pipeline::{Attempt, Halt, NodeName, StopReason};
use crate::toolchain::Limits;

/// Time limit of a candidate's quick check, and of a check of the initial states alone.
const QUICK_CHECK: Duration = Duration::from_secs(10);
/// A replay multiplies the run's time limit by this for checks that ended in time when they were recorded.
const REPLAY_FACTOR: u32 = 10;
/// Minimum time limit of such a check.
const MIN_REPLAY_LIMIT: Duration = Duration::from_secs(600);

/// A wait by the clock of the run.
pub(super) type Wait<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The reason to stop if this check ended in time when it was recorded, but not within this time here.
pub(super) fn late_in_replay(check: &str, limit: Duration) -> Halt {
    let message = format!(
        "{check} ended in time when it was recorded, and did not end within {} s here; resume with a longer \
         --tlc-timeout, or with --bounds-budget off if it is one with a larger bound",
        limit.as_secs()
    );
    Halt { reason: StopReason::Tool, message }
}

impl NodeContext {
    /// The clock's decisions in this attempt when it was recorded; `None` if the recording has none, or if this is no
    /// replay.
    pub(super) fn timing(&self, attempt: &Attempt<'_>) -> Option<&Timing> {
        self.caller.timing(attempt.lifeline, attempt.branch_index, attempt.attempt)
    }

    /// Ends after this time, counted from the call; in a replay never, because there the recording decides what was late.
    pub(super) fn wait_unless_replay(&self, time: Duration) -> Wait<'_> {
        if self.is_replay() { Box::pin(std::future::pending()) } else { self.caller.pause(time) }
    }

    /// Time limit for a check that is known to have ended in time.
    pub(super) fn replay_limit(&self) -> Duration {
        self.limits.check.saturating_mul(REPLAY_FACTOR).max(MIN_REPLAY_LIMIT)
    }

    /// The limits of a check of a few states. In a replay it ends even on a slow machine.
    pub(super) fn quick_limits(&self) -> Limits {
        let check = if self.is_replay() { self.replay_limit() } else { self.limits.check.min(QUICK_CHECK) };
        Limits { check, ..self.limits.clone() }
    }

    /// The limits of a check; a candidate's check is a quick one. In a replay, a check that did not end in time gets none,
    /// and any other gets much more than the run's limit, so that it ends even on a slow machine.
    pub(super) fn check_limits(&self, attempt: &Attempt<'_>, node: NodeName) -> Limits {
        let timed_out = || self.caller.check_timed_out(&draft_key(attempt, node));
        let check = match (attempt.candidate, self.timing(attempt)) {
            // It ends at once, with the same verdict and without the work.
            (0, Some(timing)) if timing.check_timed_out => Duration::ZERO,
            (0, Some(_)) => self.replay_limit(),
            (0, None) => self.limits.check,
            _ if self.is_replay() && timed_out() => Duration::ZERO,
            _ if self.is_replay() => self.replay_limit(),
            _ => self.limits.check.min(QUICK_CHECK),
        };
        Limits { check, ..self.limits.clone() }
    }
}
