//! What the driver needs of the nodes: the trait that they implement, and why one can end without a result.

use std::future::Future;
use std::pin::Pin;

use super::attempt::Attempt;
use super::background::BackgroundTasks;
use super::open_run::RunError;
use crate::pipeline::machine::{Activity, StopReason};
use crate::pipeline::records::{Product, RunView};

/// Why a node has no result, and the run stops.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Halt {
    pub reason: StopReason,
    /// What happened and what to do.
    pub message: String,
}

impl Halt {
    pub fn interrupted() -> Self {
        Self { reason: StopReason::Interrupted, message: "interrupted".into() }
    }
}

/// The work of a node.
pub type NodeFuture<'a, T = Product> = Pin<Box<dyn Future<Output = Result<T, NodeError>> + Send + 'a>>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The run stops and can be resumed.
    #[error(transparent)]
    Halt(#[from] Halt),
    /// An error of the run's own files.
    #[error(transparent)]
    Run(#[from] RunError),
}

pub trait Nodes: Send + Sync {
    /// Does the work at a position. `attempt` recalls its durable steps; `view` is the run when the attempt began. Work
    /// that outlives the attempt goes to `tasks`.
    fn perform<'a, 'run: 'a>(
        &'run self,
        activity: Activity,
        view: &'a RunView,
        attempt: &'a Attempt<'run>,
        tasks: &'a BackgroundTasks<'run>,
    ) -> NodeFuture<'a>;

    /// Judges a sample of the mutants of the specification that `attempt` is about to approve, and journals the result.
    /// It never prevents the approval. Returns whether anything was journaled now.
    fn sample_mutants<'a>(&'a self, view: &'a RunView, attempt: &'a Attempt<'_>) -> NodeFuture<'a, bool>;
}
