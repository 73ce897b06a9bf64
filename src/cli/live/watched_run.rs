//! The run that a live page shows.

use std::path::{Path, PathBuf};

use crate::cli::progress::CheckProgress;
use crate::toolchain::Progress;

pub(in crate::cli) struct WatchedRun {
    pub folder: PathBuf,
    /// `None` if another process runs it: its checker reports to that process only.
    pub check: Option<CheckProgress>,
    /// Asks the run to stop; an error says why it cannot.
    pub stop: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl WatchedRun {
    pub(super) fn journal(&self) -> PathBuf {
        self.folder.join("journal.jsonl")
    }

    pub(super) fn checker_progress(&self) -> Option<Progress> {
        self.check.as_ref()?.lock().ok()?.clone()
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}
