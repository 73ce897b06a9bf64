//! How far the checker of a run is, for other processes: a file in the run folder, which the process of the run writes when
//! its checker reports, and removes at its beginning and end.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::environment::clock;
use crate::files;
use crate::toolchain::Progress;

#[derive(Serialize, Deserialize)]
struct Report {
    /// RFC 3339.
    at: String,
    #[serde(flatten)]
    progress: Progress,
}

fn path(folder: &Path) -> PathBuf {
    folder.join("checker.json")
}

/// Writes a report. Without the file, other processes know less, so an error is ignored.
pub(super) fn write_progress(folder: &Path, progress: &Progress) {
    let report = Report { at: clock()(), progress: progress.clone() };
    let text = serde_json::to_string(&report).unwrap_or_default();
    // Not before the run has created its folder.
    if folder.is_dir() {
        let _ = files::write_atomically(&path(folder), text.as_bytes());
    }
}

pub(super) fn remove_progress(folder: &Path) {
    let _ = std::fs::remove_file(path(folder));
}

/// The last report, unless it is older than the current attempt, which began at `since` (RFC 3339).
pub(super) fn read_progress(folder: &Path, since: &str) -> Option<Progress> {
    let bytes = files::read_below(folder, &path(folder), 4096).ok()?;
    let report: Report = serde_json::from_slice(&bytes).ok()?;
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    (time(&report.at)? >= time(since)?).then_some(report.progress)
}
