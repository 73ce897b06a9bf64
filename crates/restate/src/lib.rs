//! Jobs on many machines by the durable execution engine Restate: a client that calls jobs, and a worker that serves them.
//! Knows nothing of what a job does.

mod address;
mod client;
mod engine;
mod limits;
mod patience;
mod worker;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use address::{AddressError, EngineAddress};
pub use client::Client;
pub use limits::{
    Admission, Change, JobCount, LimitName, Limits, LimitsChange, LimitsClient, LimitsStatus, QuotaError, RequestUse,
    TICK, count_jobs,
};
pub use patience::CallError;
pub use worker::{Job, JobFuture, NoAnswer, Worker, WorkerError};

/// Bytes of a request or of an answer. The engine itself refuses messages above 32 MiB, and keeps each for a day.
pub const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// The answer to a job. That a worker could not do it is an answer, too: the engine would repeat an error without end, and
/// hide its reason.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Done(Box<RawValue>),
    /// Why the worker could not do it.
    Failed(String),
}

/// The service of a job for all workers of one version of a program; without a job, the name of the version. Each version has its
/// own services: a job never reaches a worker of another version.
fn service_name(program: &str, version: &str, job: Option<&str>) -> String {
    // Build metadata follows a `+`, which names of services cannot contain.
    let version = version.replace('+', "-");
    match job {
        Some(job) => format!("{program}-{job}-{version}"),
        None => format!("{program}-{version}"),
    }
}
