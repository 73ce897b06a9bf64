//! What the clock decides. A recording holds it, and a replay takes it from there: another machine, or a busy one, must
//! not choose otherwise.

use std::time::Duration;

use super::desk::{Desk, draft_key};
use crate::llm::Timing;
use crate::pipeline::{Attempt, NodeName};
use crate::toolchain::Limits;

/// The wall time of a quick check.
const QUICK: Duration = Duration::from_secs(10);
/// A replay gives what ended in time so many times the run's limit, on any machine.
const REPLAY_TIMES: u32 = 10;
/// And at least so long.
const REPLAY_LEAST: Duration = Duration::from_secs(600);

impl Desk {
    /// What the clock decided in this attempt when it was recorded; `None` if the recording does not say, or nothing is
    /// replayed.
    pub(super) fn timing(&self, attempt: &Attempt<'_>) -> Option<&Timing> {
        self.caller.timing(attempt.lifeline, attempt.place, attempt.attempt)
    }

    /// The time for what is known to have ended in time.
    pub(super) fn replay_limit(&self) -> Duration {
        self.limits.check.saturating_mul(REPLAY_TIMES).max(REPLAY_LEAST)
    }

    /// The limits of a check: a candidate's is a quick one. In a replay, a check that did not end in time does not begin,
    /// and any other has the time that it needs, however slow this machine is.
    pub(super) fn limits_of(&self, attempt: &Attempt<'_>, node: NodeName) -> Limits {
        let timed_out = || self.caller.check_timed_out(&draft_key(attempt, node));
        let check = match (attempt.candidate, self.timing(attempt)) {
            (0, Some(timing)) if timing.out_of_time => Duration::ZERO,
            (0, Some(_)) => self.replay_limit(),
            (0, None) => self.limits.check,
            _ if self.replays() && timed_out() => Duration::ZERO,
            _ if self.replays() => self.replay_limit(),
            _ => self.limits.check.min(QUICK),
        };
        Limits { check, ..self.limits.clone() }
    }
}
