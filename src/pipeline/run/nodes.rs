//! What the driver needs of the nodes: the trait that they implement, and why one can end without a result.

use std::future::Future;
use std::pin::Pin;

use super::attempt::Attempt;
use super::background::BackgroundTasks;
use super::open_run::RunError;
use crate::pipeline::machine::{Activity, StopReason};
use crate::pipeline::records::{Product, RunView};

/// Why a node made nothing: the absence of a result.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Halt {
    /// What kind of trouble.
    pub reason: StopReason,
    /// In words, with what to do.
    pub message: String,
}

impl Halt {
    /// Ended by a person or a signal.
    pub fn interrupted() -> Self {
        Self { reason: StopReason::Interrupted, message: "interrupted".into() }
    }
}

/// A node's work.
pub type NodeFuture<'a> = Pin<Box<dyn Future<Output = Result<Product, NodeError>> + Send + 'a>>;

/// Why a node made nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// Trouble outside: the run is stopped, and can be resumed.
    #[error(transparent)]
    Halt(#[from] Halt),
    /// Trouble with the run's own files.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What works at the nodes.
pub trait Nodes: Send + Sync {
    /// Does a job. What is durable of this attempt is recalled from `attempt`; `view` is the run when it began. What is
    /// to go on beside the nodes is given to `tasks`.
    fn perform<'a, 'run: 'a>(
        &'run self,
        activity: Activity,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        tasks: &'a BackgroundTasks<'run>,
    ) -> NodeFuture<'a>;
}
