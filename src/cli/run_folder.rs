//! Opens a run, and updates its visible files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::{clock, crash_point_from_env};
use super::failure::Failure;
use super::progress::Display;
use super::run_failure::run_failure;
use super::run_place::RunPlace;
use super::spec_files::read_spec;
use crate::journal::{LockError, RunLock, address_of_working_copy};
use crate::pipeline::{self, Outcome, Run, RunEnvironment};
use crate::report::{Findings, run_findings};

/// Opens a run for writing, or creates its folder; `display` shows every event that is written.
pub(super) fn open_run(place: &RunPlace, display: &Arc<Display>) -> Result<Run, Failure> {
    refuse_files_for_folders(place.folder())?;
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
            "removed the last {torn} bytes of the journal, an incomplete line or empty lines, which no step of the run used"
        ));
    }
    Ok(run)
}

/// The folders that a run writes into, besides the one of its artifacts.
pub(super) const FOLDERS: [&str; 4] = ["workspace", "history", "handoff", "candidates"];

/// Refuses a run folder in which a file has the name of a folder that a run needs.
pub(super) fn refuse_files_for_folders(run: &Path) -> Result<(), Failure> {
    match FOLDERS.iter().chain([&"artifacts"]).map(|name| run.join(name)).find(|path| path.is_file()) {
        None => Ok(()),
        Some(file) => {
            let why = format!("{} is a file, and a run needs a folder with that name", file.display());
            Err(Failure::usage(why).hint("move the file away, or choose another folder for the run"))
        }
    }
}

/// The findings of a run. `docs` is where the user has the documents.
pub(super) fn findings_of_run(run: &Run, docs: &Path) -> Findings {
    run_findings(&run.view(), run.root(), docs, &|path| read_spec(path).ok())
}

/// What the user calls a run: its address, if the folder is a working copy.
pub(super) fn name_of_run(folder: &Path) -> PathBuf {
    address_of_working_copy(folder).map_or_else(|| folder.to_owned(), PathBuf::from)
}

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
        _ => Err("no process works on the run in this folder".to_owned()),
    }
}
