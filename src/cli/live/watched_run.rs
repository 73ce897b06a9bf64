//! The run that a live page shows.

use std::path::{Path, PathBuf};

use crate::cli::checker_progress::read_progress;
use crate::cli::progress::CheckProgress;
use crate::cli::run_place::UpdateError;
use crate::toolchain::Progress;

pub(in crate::cli) struct WatchedRun {
    pub folder: PathBuf,
    /// Whether it is in a shared store, so that processes elsewhere can work on it.
    pub is_shared: bool,
    /// Why the folder could not be brought up to date.
    pub update_error: UpdateError,
    /// `None` if another process runs it: then its reports are in a file.
    pub check: Option<CheckProgress>,
    /// Asks the run to stop; an error says why it cannot.
    pub stop: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl WatchedRun {
    pub(super) fn journal(&self) -> PathBuf {
        self.folder.join("journal.jsonl")
    }

    /// How far the checker is in the attempt that began at this time.
    pub(super) fn checker_progress(&self, since: Option<&str>) -> Option<Progress> {
        match &self.check {
            Some(check) => check.lock().ok()?.clone(),
            None => read_progress(&self.folder, since?),
        }
    }

    pub(super) fn update_error(&self) -> Option<String> {
        self.update_error.lock().ok()?.clone()
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}
