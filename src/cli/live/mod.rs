//! The live page: what a run does now, and below it the page that `report --html` writes, served on loopback while the
//! run goes on. `tlaforge watch` serves it for a run of another process, `run --watch` for its own.

mod server;
mod status;

use std::path::{Path, PathBuf};

pub(super) use server::LiveServer;

use super::progress::CheckProgress;

/// The run that a page shows.
pub(super) struct WatchedRun {
    pub folder: PathBuf,
    /// `None` if another process runs it: its checker reports to that process only.
    pub check: Option<CheckProgress>,
    /// Asks the run to stop; an error says why it cannot.
    pub stop: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl WatchedRun {
    fn journal(&self) -> PathBuf {
        self.folder.join("journal.jsonl")
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}
