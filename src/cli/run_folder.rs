//! Opens a run, and explains what can be wrong with its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::{clock, crash_point_from_env};
use super::failure::Failure;
use super::progress::Display;
use super::run_place::RunPlace;
use super::spec_files::read_spec;
use crate::exit::Exit;
use crate::journal::{JournalError, LockError, ReplicaError, RunLock, StoreError, address_of_working_copy};
use crate::pipeline::{self, Outcome, RuleMonitorError, Run, RunEnvironment, RunError};
use crate::report::{Findings, run_findings};
use crate::shell::shell_word;

/// Opens a run for writing, or creates its folder; `display` shows every event that is written.
pub(super) fn open_run(place: &RunPlace, display: &Arc<Display>) -> Result<Run, Failure> {
    let (watcher, folder) = (display.clone(), place.folder().to_owned());
    let writing = place.prepare_to_write(display)?;
    let environment = RunEnvironment {
        clock: clock(),
        observer: Some(Box::new(move |event| watcher.show_event(event, &folder))),
        crash: crash_point_from_env()?,
        replica: writing.as_ref().map(|writing| writing.replica.clone()),
    };
    let run = Run::open(place.folder(), environment).map_err(|e| run_failure(&e))?;
    let torn = run.recovery().torn_bytes;
    if torn > 0 {
        display.note(&format!(
            "the journal ended within a line: removed its last {torn} bytes, which no step of the run used"
        ));
    }
    Ok(run)
}

/// The findings of a run. `docs` is where the user has the documents.
pub(super) fn findings_of_run(run: &Run, docs: &Path) -> Findings {
    run_findings(&run.view(), run.root(), docs, &|path| read_spec(path).ok())
}

/// What the user calls a run: its address, if the folder is a working copy.
pub(super) fn name_of_run(folder: &Path) -> PathBuf {
    address_of_working_copy(folder).map_or_else(|| folder.to_owned(), PathBuf::from)
}

/// Errors of the run's own files. They are not defects of the program, so each says what to do.
pub(super) fn run_failure(error: &RunError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        // These messages already say what to do.
        RunError::Lock(LockError::Held { .. })
        | RunError::NoRun { .. }
        | RunError::Journal(JournalError::Damaged { .. } | JournalError::Version { .. })
        | RunError::RuleMonitor(RuleMonitorError::Unlabelled { .. }) => failure,
        RunError::WorkingCopy { address, .. } => {
            failure.hint(format!("name the run by its address: {}", shell_word(address)))
        }
        RunError::Journal(JournalError::Replica(error)) | RunError::Store(StoreError::Replica(error)) => {
            replica_failure(error)
        }
        RunError::Store(StoreError::Altered { .. } | StoreError::NotText { .. }) => failure.hint(RESTORE),
        RunError::Store(StoreError::Io { what: "read", .. }) => failure.hint(RESTORE),
        _ if is_out_of_space(error) => Failure { exit: Exit::Tool, ..failure }.hint(
            "the disk is full or a limit is reached: free some space or raise the limit; `tlaforge resume` continues a run \
             that has begun",
        ),
        _ => failure.hint(
            "check that the disk is not full and the folder is writable; `tlaforge resume` continues a run that has begun",
        ),
    }
}

/// The shared store did not take what the run has written.
fn replica_failure(error: &ReplicaError) -> Failure {
    let failure = Failure::new(Exit::Tool, error.to_string());
    match error {
        ReplicaError::TakenOver { address, .. } => {
            failure.hint(format!("see how far it is: tlaforge report {}", shell_word(address)))
        }
        ReplicaError::Unavailable { address, .. } => failure.hint(format!(
            "everything before this is in the store; when it can be reached again: tlaforge resume {}",
            shell_word(address)
        )),
    }
}

/// The file of accepted changes cannot be read.
pub(super) fn accepted_drift_failure(error: &RunError) -> Failure {
    Failure::usage(error.to_string()).hint("restore the file, or move it away: then nothing counts as accepted")
}

/// Whether a write failed for lack of space.
fn is_out_of_space(error: &RunError) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let (what, source) = match error {
        RunError::Io { what, source, .. }
        | RunError::Journal(JournalError::Io { what, source, .. })
        | RunError::Store(StoreError::Io { what, source, .. }) => (*what, source),
        RunError::Lock(LockError::Io { source, .. }) => ("lock", source),
        _ => return false,
    };
    // Reading can fail with `FileTooLarge` too.
    what != "read" && matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

pub(super) const RESTORE: &str = "a file of the run was changed or damaged: restore it, or start a new run in another folder with \
                       --out DIR";

/// Updates the visible files from the journal, and reports those that were edited by hand.
pub(super) fn update_visible_files(run: &Run, display: &Display) -> Result<(), Failure> {
    let approved = run
        .view()
        .finished
        .as_ref()
        .is_some_and(|f| matches!(f.outcome, Outcome::Approved | Outcome::ApprovedRepaired));
    let not_approved = if approved { "; it is not the approved version" } else { "" };
    for path in pipeline::reconcile(run).map_err(|e| run_failure(&e))? {
        display.note(&format!("{} was edited by hand and is left unchanged{not_approved}", path.display()));
    }
    Ok(())
}

/// Asks the process that works on the run to stop, as Ctrl-C does.
pub(super) fn stop_holder(folder: &Path) -> Result<(), String> {
    match RunLock::holder(folder) {
        Some(held @ LockError::Held { .. }) => {
            held.interrupt().map_err(|error| format!("cannot stop the run: {error}"))
        }
        _ => Err("no process works on the run".to_owned()),
    }
}
