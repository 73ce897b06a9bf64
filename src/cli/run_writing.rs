//! What a process holds while it may write to a run in a shared store.

use std::sync::Arc;

use crate::journal::Replica;

/// A run that this process may write to. Other processes of this machine wait with their updates until it is dropped, which is
/// after the run is open.
pub(super) struct Writing {
    pub replica: Arc<dyn Replica>,
    /// Held open: it is the lock of the working copy.
    pub _lock: std::fs::File,
}
