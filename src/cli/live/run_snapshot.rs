//! What the live page knows of a run.

use crate::pipeline::{Entry, RunView};

/// The run as its journal describes it; it changes only with the journal.
#[derive(Debug, Clone, Default)]
pub(super) struct RunSnapshot {
    /// Counts the changes.
    pub version: u64,
    pub entries: Vec<Entry>,
    pub view: RunView,
}
