//! What can be wrong with the files of a run, and what to do.

use super::failure::Failure;
use crate::exit::Exit;
use crate::journal::{JournalError, LockError, ReplicaError, StoreError};
use crate::pipeline::{RuleMonitorError, RunError};
use crate::shell::shell_word;

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
