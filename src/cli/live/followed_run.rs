//! The run as its journal shows it, read and folded once for all pages.

use std::path::Path;
use std::sync::Arc;

use super::run_snapshot::RunSnapshot;
use super::status::Status;
use super::watched_run::WatchedRun;
use crate::journal::{Appended, Follower, RunLock};

pub(super) struct FollowedRun {
    follower: Follower,
    snapshot: Arc<RunSnapshot>,
    /// The status by the journal, without the progress of a process.
    status: Status,
}

impl FollowedRun {
    pub(super) fn new(run: &WatchedRun) -> Self {
        Self { follower: Follower::new(run.journal()), snapshot: Arc::default(), status: Status::default() }
    }

    /// The run with what its journal holds by now.
    pub(super) fn snapshot(&mut self, run: &WatchedRun) -> Result<Arc<RunSnapshot>, String> {
        let Appended { is_anew, entries } = self.follower.read_new().map_err(|error| error.to_string())?;
        if is_anew || !entries.is_empty() {
            // Copies only while a report is made of it.
            let snapshot = Arc::make_mut(&mut self.snapshot);
            if is_anew {
                *snapshot = RunSnapshot { version: snapshot.version, ..RunSnapshot::default() };
            }
            snapshot.version += 1;
            for entry in &entries {
                snapshot.view.apply(entry);
            }
            snapshot.entries.extend(entries);
            // Files that a line names are where the process works.
            let is_here = !run.is_shared || RunLock::is_held(run.folder());
            let folder = if is_here { run.folder() } else { Path::new("") };
            self.status = Status::new(folder, snapshot);
        }
        Ok(self.snapshot.clone())
    }

    /// The status; if the journal cannot be read, the last one with the error.
    pub(super) fn status(&mut self, run: &WatchedRun) -> Status {
        // Before the journal: a process that ends between the two has written its last event.
        let is_running = RunLock::is_held(run.folder());
        let error = self.snapshot(run).err().or_else(|| run.update_error());
        let progress = run.checker_progress(self.status.work().map(|(_, _, since)| since));
        self.status.with_process(is_running, run.is_shared, progress).with_error(error)
    }
}
