//! What a client and a worker agree on.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Bytes of a request or of an answer. The engine itself refuses messages above 32 MiB, and keeps each for a day.
pub const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// What a worker says that has no turn for a job. It is not a failure: the job waits.
pub(crate) const BUSY: &str = "all turns of this worker are taken";
/// The failure of an attempt that found no free turn contains one of these. Either the worker had none, or the engine (1.7) had
/// queued the job behind another one on a new connection ([`crate::connection`]).
pub(crate) const NO_TURN: [&str; 3] = [
    BUSY,
    "stream error received: refused stream before processing any application logic",
    "connection error received: not a result of an error",
];
/// What a worker says that gives a job back.
pub(crate) const GIVEN_BACK: &str = "a worker gave the job back, because it ends or another process works on it";
/// Time that a job of an object waits for its turn; then the engine sends it again, perhaps to another worker.
pub(crate) const OBJECT_TURN: Duration = Duration::from_millis(50);

/// The answer to a job. That a worker could not do it is an answer, too: the engine would repeat an error without end, and
/// hide its reason.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Done(Box<RawValue>),
    /// Why the worker could not do it. Another one may be able to.
    Failed(String),
    /// Why no worker shall try it again.
    Refused(String),
}

/// The service of a job for all workers of one version of a program; without a job, the name of the version. Each version has its
/// own services: a job never reaches a worker of another version.
pub(crate) fn service_name(program: &str, version: &str, job: Option<&str>) -> String {
    // Build metadata follows a `+`, which names of services cannot contain.
    let version = version.replace('+', "-");
    match job {
        Some(job) => format!("{program}-{job}-{version}"),
        None => format!("{program}-{version}"),
    }
}

/// Whether an attempt found no free turn, which is not a failure: the job waits.
pub(crate) fn found_no_turn(failure: &str) -> bool {
    NO_TURN.iter().any(|part| failure.contains(part))
}
