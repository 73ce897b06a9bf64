//! Opens a run folder, and explains what can be wrong with its files.

use std::path::Path;
use std::sync::Arc;

use super::environment::{clock, crash_point_from_env};
use super::failure::Failure;
use super::progress::Display;
use crate::exit::Exit;
use crate::journal::{JournalError, LockError, StoreError};
use crate::pipeline::{self, Outcome, Run, RunError, RunEnvironment, WatchError};

/// Opens the run folder with everything that watches it.
pub(super) fn open_run(out: &Path, display: &Arc<Display>) -> Result<Run, Failure> {
    let watcher = display.clone();
    let surroundings = RunEnvironment {
        clock: clock(),
        observer: Some(Box::new(move |event| watcher.event(event))),
        crash: crash_point_from_env()?,
    };
    let run = Run::open(out, surroundings).map_err(|e| run_failure(&e))?;
    let torn = run.recovery().torn_bytes;
    if torn > 0 {
        display.note(&format!("the journal ended within a line; {torn} bytes that were never acted on were cut off"));
    }
    Ok(run)
}

/// Trouble with the run's own files: nothing that the program has to answer for, so it says what a person can do.
pub(super) fn run_failure(error: &RunError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        RunError::Lock(LockError::Held { .. })
        | RunError::NoRun { .. }
        | RunError::Journal(JournalError::Damaged { .. } | JournalError::Version { .. })
        | RunError::Watch(WatchError::Unlabelled { .. }) => failure,
        RunError::Store(StoreError::Altered { .. } | StoreError::NotText { .. }) => failure.hint(RESTORE),
        RunError::Store(StoreError::Io { what: "read", .. }) => failure.hint(RESTORE),
        _ if no_room(error) => Failure { exit: Exit::Tool, ..failure }.hint(
            "the disk is full or a limit is reached: make room, or raise the limit; a run that had begun goes on with \
             `tlaforge resume`",
        ),
        _ => failure.hint(
            "if the disk is full or the folder not writable, mend that; a run that had begun goes on with `tlaforge \
             resume`",
        ),
    }
}

/// Whether the operating system had no room for what was to be written.
fn no_room(error: &RunError) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let (what, source) = match error {
        RunError::Io { what, source, .. }
        | RunError::Journal(JournalError::Io { what, source, .. })
        | RunError::Store(StoreError::Io { what, source, .. }) => (*what, source),
        RunError::Lock(LockError::Io { source, .. }) => ("lock", source),
        _ => return false,
    };
    // A file that is too large to be read is no matter of room.
    what != "read" && matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

const RESTORE: &str = "what the run rests on is not as it was written: restore the file, or forge again into another \
                       folder with --out DIR";

/// Brings the visible files in line with the journal, and tells which of them are not what the run made.
pub(super) fn update_visible_files(run: &Run, display: &Display) -> Result<(), Failure> {
    let approved =
        run.view().finished.as_ref().is_some_and(|f| matches!(f.outcome, Outcome::Approved | Outcome::ApprovedRepaired));
    let not_this = if approved { "; it is not what was approved" } else { "" };
    for path in pipeline::reconcile(run).map_err(|e| run_failure(&e))? {
        display.note(&format!("{} was edited by hand and was left as it is{not_this}", path.display()));
    }
    Ok(())
}
