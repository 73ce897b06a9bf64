//! How far the run of a folder is, and how it ended, as its journal says.

use std::path::Path;

use super::failure::{Fails, Failure};
use super::forge::exit_status;
use crate::exit::Exit;
use crate::journal;
use crate::pipeline::{Outcome, Run, RunView};

/// Whether it has an outcome, so that it cannot be continued.
pub(super) fn has_ended(view: &RunView) -> bool {
    view.finished.as_ref().is_some_and(|finished| finished.outcome != Outcome::Stopped)
}

/// The exit status of a run. The reports in its folder keep a contradiction of checkers, also of an earlier call.
pub(super) fn exit_of(view: &RunView, folder: &Path) -> Exit {
    if std::fs::read_dir(folder.join("defects")).is_ok_and(|mut reports| reports.next().is_some()) {
        return Exit::Defect;
    }
    view.finished.as_ref().map_or(Exit::Undecided, |finished| exit_status(finished.outcome, finished.reason))
}

/// The run of a folder, if one has begun there. Takes no lock, so it can be read while another process works on it.
pub(super) fn read_view(folder: &Path) -> Result<Option<RunView>, Failure> {
    if !Run::exists(folder) {
        return Ok(None);
    }
    let events = journal::read(&folder.join("journal.jsonl")).fails(Exit::Usage)?;
    // The process was killed within the first line, so no run has begun.
    Ok((!events.is_empty()).then(|| RunView::from_entries(&events)))
}
