//! The run as its journal shows it, read and folded once for all pages.

use std::sync::Arc;

use super::known::Known;
use super::status::Status;
use super::watched_run::WatchedRun;
use crate::journal::{Appended, Follower, RunLock};

pub(super) struct FollowedRun {
    follower: Follower,
    known: Arc<Known>,
    /// The status of what is known, without what only processes know.
    status: Status,
}

impl FollowedRun {
    pub(super) fn new(run: &WatchedRun) -> Self {
        Self { follower: Follower::new(run.journal()), known: Arc::default(), status: Status::default() }
    }

    /// The run with what its journal holds by now.
    pub(super) fn known(&mut self, run: &WatchedRun) -> Result<Arc<Known>, String> {
        let Appended { is_anew, entries } = self.follower.read_new().map_err(|error| error.to_string())?;
        if is_anew || !entries.is_empty() {
            // Copies only while a report is made of it.
            let known = Arc::make_mut(&mut self.known);
            if is_anew {
                *known = Known { version: known.version, ..Known::default() };
            }
            known.version += 1;
            for entry in &entries {
                known.view.apply(entry);
            }
            known.entries.extend(entries);
            self.status = Status::new(run.folder(), known);
        }
        Ok(self.known.clone())
    }

    pub(super) fn status(&mut self, run: &WatchedRun) -> Result<Status, String> {
        // Before the journal: a process that ends between the two has written its last event.
        let is_running = RunLock::is_held(run.folder());
        self.known(run)?;
        Ok(self.status.with_process(is_running, run.checker_progress()))
    }
}
