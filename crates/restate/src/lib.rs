//! Jobs on many machines by the durable execution engine Restate: a client that calls jobs, and a worker that serves them.
//! Knows nothing of what a job does.

mod address;
mod attempt;
mod client;
mod connection;
mod engine;
mod job;
mod jobs;
mod limits;
mod patience;
mod registration;
#[cfg(test)]
mod scripted_engine;
mod worker;

pub use address::{AddressError, EngineAddress};
pub use attempt::JobState;
pub use client::Client;
pub use job::MAX_MESSAGE_BYTES;
pub use jobs::{Deployment, JobCount, JobReader, ObjectJob};
pub use limits::{
    Admission, Change, LimitName, Limits, LimitsChange, LimitsClient, LimitsStatus, QuotaError, RequestUse,
    RunRequests, TICK, UnreadableKey,
};
pub use patience::CallError;
pub use registration::RegistrationError;
pub use worker::{Job, JobFuture, NoAnswer, Worker, WorkerError};
