//! The run as its journal describes it.

use crate::pipeline::{Entry, RunView};

/// What is known of the run. It changes only with the journal.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// Counts the changes.
    pub version: u64,
    pub entries: Vec<Entry>,
    pub view: RunView,
}
