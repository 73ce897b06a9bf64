//! Jobs on many machines by the durable execution engine Restate: a client that calls jobs, and a worker that serves them.
//! Knows nothing of what a job does.

mod address;
mod client;
mod job;
mod worker;

pub use address::{AddressError, EngineAddress};
pub use client::{CallError, Client};
pub use job::MAX_MESSAGE_BYTES;
pub use worker::{JobFuture, Worker, WorkerError};
