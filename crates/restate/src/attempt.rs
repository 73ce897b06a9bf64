//! The state of a job, from what the tables of an engine say about its last attempt.

use std::time::Duration;

use serde::Deserialize;

use crate::job::{GIVEN_BACK, OBJECT_TURN, found_no_turn};

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobState {
    /// A worker has it.
    Running,
    /// An attempt has failed; the engine tries it again.
    Retrying,
    /// It waits for a worker with a free place, or for another job of its object.
    Waiting,
    /// It was cancelled.
    Cancelled,
    /// It has no answer and never gets one.
    Failed,
    /// It has an answer.
    Ended,
}

/// The columns of `sys_invocation` that a [`LastAttempt`] is read from.
pub(crate) const ATTEMPT_COLUMNS: &str = "status, last_failure, CAST(last_start_at AS BIGINT) AS started, \
                                          CAST(now() AS BIGINT) / 1000000 AS now";

/// An attempt after a failed one counts as running on a worker only after this time: until then, the engine may still be connecting,
/// which its tables do not show.
const CONNECT_TIME: Duration = Duration::from_secs(1);
/// The same for hosts that do not answer, by a part of the previous failure. With a shorter time, the job would alternate between
/// running and retrying.
const CONNECT_TIMES_OF_SILENT_HOSTS: [(&str, Duration); 2] = [
    // The `connect-timeout` of the engine is 10 s.
    ("connect timeout", Duration::from_secs(15)),
    // The host accepts the connection and is silent. The engine gives up after about 60 s (`http2-keep-alive-interval` plus
    // `-timeout`). If a worker ends after it has answered, the failure is another one.
    ("connection error: stream closed", Duration::from_secs(75)),
];

/// The last attempt of a job, which has not ended unless its status is `completed`.
#[derive(Debug, Deserialize)]
pub(crate) struct LastAttempt {
    pub status: String,
    /// Why the attempt before failed, or this one if it has ended.
    pub last_failure: Option<String>,
    /// When it began; `None` if the job was not sent to a worker yet.
    pub started: Option<u64>,
    pub now: u64,
}

impl LastAttempt {
    /// The state of a job that has not ended.
    pub(crate) fn state(&self) -> JobState {
        let is_under_way = matches!(self.status.as_str(), "running" | "suspended");
        match self.status.as_str() {
            _ if is_under_way && self.has_reached_a_worker() => JobState::Running,
            "running" | "suspended" | "backing-off" | "paused" if !self.waits_for_turn() => JobState::Retrying,
            _ => JobState::Waiting,
        }
    }

    fn waits_for_turn(&self) -> bool {
        self.last_failure.as_ref().is_some_and(|why| found_no_turn(why) || why.contains(GIVEN_BACK))
    }

    /// Estimated by its length, because the engine does not say whether an attempt has reached a worker, or a free place there.
    fn has_reached_a_worker(&self) -> bool {
        let Some(failure) = &self.last_failure else { return true };
        let mut silent = CONNECT_TIMES_OF_SILENT_HOSTS.iter();
        let connect_time = match silent.find(|(part, _)| failure.contains(part)) {
            _ if self.waits_for_turn() => 2 * OBJECT_TURN,
            Some((_, time)) => *time,
            None => CONNECT_TIME,
        };
        let running_ms = self.started.map_or(0, |started| self.now.saturating_sub(started));
        u128::from(running_ms) > connect_time.as_millis()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::BUSY;

    #[test]
    fn the_state_of_a_job_follows_from_its_last_attempt() {
        let refused = Some("h2 pool connection error: Connection refused (os error 111)");
        let silent = Some("h2 pool connection error: connect timeout");
        let mute = Some("h2 pool connection error: stream closed because of a broken pipe");
        let behind = "h2 pool connection error: connection error received: not a result of an error";
        let before_settings = "h2 pool connection error: stream error received: refused stream before processing any \
                               application logic";
        let killed = Some("unexpected error while reading the response body: stream closed because of a broken pipe");
        for (status, failure, running_ms, expected) in [
            ("pending", None, 0, JobState::Waiting),
            ("running", None, 0, JobState::Running),
            ("running", Some(BUSY), 20, JobState::Waiting),
            ("running", Some(BUSY), 500, JobState::Running),
            ("running", refused, 500, JobState::Retrying),
            ("running", refused, 5000, JobState::Running),
            // As long as the engine can wait for a connection, and between two attempts.
            ("running", silent, 500, JobState::Retrying),
            ("running", silent, 10_500, JobState::Retrying),
            ("backing-off", silent, 0, JobState::Retrying),
            ("running", silent, 20_000, JobState::Running),
            ("running", mute, 66_000, JobState::Retrying),
            ("running", mute, 80_000, JobState::Running),
            ("running", killed, 500, JobState::Retrying),
            ("running", killed, 5000, JobState::Running),
            ("backing-off", Some(BUSY), 0, JobState::Waiting),
            ("backing-off", Some(behind), 0, JobState::Waiting),
            ("backing-off", Some(before_settings), 0, JobState::Waiting),
            ("backing-off", Some(GIVEN_BACK), 0, JobState::Waiting),
            ("backing-off", refused, 0, JobState::Retrying),
            ("paused", refused, 0, JobState::Retrying),
        ] {
            let (now, started) = (100_000, Some(100_000 - running_ms));
            let (status, last_failure) = (status.to_owned(), failure.map(str::to_owned));
            let attempt = LastAttempt { status, last_failure, started, now };
            assert_eq!(attempt.state(), expected, "{attempt:?}");
        }
    }
}
