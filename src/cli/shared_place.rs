//! The place of a run in a shared store: where its working copy is, and what can be wrong with the store.

#[cfg(feature = "restate")]
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::environment::nonempty_variable;
#[cfg(feature = "restate")]
use super::failure::Fails as _;
use super::failure::Failure;
use super::progress::Display;
use super::run_failure::run_failure;
use super::run_writing::Writing;
use super::terminal::print_message;
use crate::exit::Exit;
#[cfg(feature = "restate")]
use crate::journal::{Replica, Sha};
use crate::journal::{RunLock, this_host};
use crate::pipeline::RunError;
#[cfg(feature = "restate")]
use tlaforge_store::TAKEN_OVER;
use tlaforge_store::{Address, Notify, SharedRun, SharedStoreError, StoreClient, Update};
#[cfg(feature = "restate")]
use tlaforge_store::{WorkerCopy, remove_worker_copies};

/// Time between two looks for what other machines have written.
const LOOK: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(super) struct SharedPlace {
    address: Address,
    folder: PathBuf,
    /// Shared by the runs of one command; `None` to create one when it is needed.
    client: Option<StoreClient>,
    /// Whether a worker works on the run, and not a command of a person.
    is_on_worker: bool,
}

impl SharedPlace {
    /// With a working copy in the cache folder of the user.
    pub(super) fn new(address: &str) -> Result<Self, Failure> {
        let address = parse_address(address)?;
        let folder = cache_folder()?.join(address.key());
        Ok(Self { address, folder, client: None, is_on_worker: false })
    }

    /// For a worker, with a working copy in `cache`.
    #[cfg(feature = "restate")]
    pub(super) fn on_worker(address: &str, cache: &Path) -> Result<Self, Failure> {
        let address = parse_address(address)?;
        let folder = cache.join(address.key());
        Ok(Self { address, folder, client: None, is_on_worker: true })
    }

    #[cfg(feature = "restate")]
    pub(super) fn with_folder(address: &str, folder: &Path, client: StoreClient) -> Result<Self, Failure> {
        let address = parse_address(address)?;
        Ok(Self { address, folder: folder.to_owned(), client: Some(client), is_on_worker: false })
    }

    #[cfg(feature = "restate")]
    pub(super) fn address(&self) -> &str {
        self.address.text()
    }

    /// Stores texts of a run that may not have begun, and returns their names.
    #[cfg(feature = "restate")]
    pub(super) fn put_artifacts<'a>(&self, texts: impl Iterator<Item = &'a str>) -> Result<Vec<Sha>, Failure> {
        let run = self.connect(Arc::new(|text: &str| print_message(&format!("note: {text}"))))?;
        let put = |text: &str| {
            let sha = Sha::digest(text);
            let stored = run.put_artifact(&sha, text.as_bytes());
            stored.map(|()| sha).map_err(|error| Failure::new(Exit::Tool, error.to_string()))
        };
        texts.map(put).collect()
    }

    /// The texts with these names.
    #[cfg(feature = "restate")]
    pub(super) fn read_artifacts<'a>(&self, names: impl Iterator<Item = &'a Sha>) -> Result<Vec<String>, Failure> {
        let run = self.connect(Arc::new(|text: &str| print_message(&format!("note: {text}"))))?;
        names.map(|sha| run.read_text(sha).map_err(|error| store_failure(&error))).collect()
    }

    /// Removes what an earlier process left after another one continued its run.
    #[cfg(feature = "restate")]
    pub(super) fn forget_takeover(&self) {
        let _ = std::fs::remove_file(self.folder.join(TAKEN_OVER));
    }

    /// Whether another process continued the run after the one here that wrote to it last.
    #[cfg(feature = "restate")]
    pub(super) fn was_taken_over(&self) -> bool {
        self.folder.join(TAKEN_OVER).exists()
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn update(&self) -> Result<(), Failure> {
        let notify: Notify = Arc::new(|text: &str| print_message(&format!("note: {text}")));
        let update = self.connect(notify.clone())?.update_to_read().map_err(|error| store_failure(&error))?;
        note_set_aside(&update, &notify);
        Ok(())
    }

    pub(super) fn prepare_to_write(&self, display: &Arc<Display>) -> Result<Writing, Failure> {
        let shown = display.clone();
        let notify: Notify = Arc::new(move |text: &str| {
            // A run inside a larger command waits for the store like any other.
            if shown.is_silent() { print_message(&format!("note: {text}")) } else { shown.note(text) }
        });
        let run = self.connect(notify.clone())?;
        let failed = |error: SharedStoreError| store_failure(&error);
        let lock = run.lock_working_copy().map_err(failed)?;
        // The working copy of a process that works on the run must not be changed.
        if let Some(held) = RunLock::holder(&self.folder) {
            return Err(run_failure(&RunError::Lock(held)));
        }
        let update = run.update().map_err(failed)?;
        note_set_aside(&update, &notify);
        run.check_conditional_writes().map_err(failed)?;
        run.mark().map_err(failed)?;
        Ok(Writing { replica: Arc::new(run), _lock: lock })
    }

    /// Updates the working copy again and again. `error` is that of the last update.
    pub(super) async fn keep_up_to_date(self, error: Arc<Mutex<Option<String>>>) {
        let mut has_failed = false;
        loop {
            tokio::time::sleep(LOOK).await;
            let place = self.clone();
            let updated = tokio::task::spawn_blocking(move || place.update()).await;
            let failure = updated.ok().and_then(Result::err);
            if let Some(failure) = failure.as_ref().filter(|_| !has_failed) {
                print_message(&format!("note: {}; trying again", failure.message));
            }
            has_failed = failure.is_some();
            *error.lock().unwrap_or_else(PoisonError::into_inner) = failure.map(|failure| failure.message);
        }
    }

    fn connect(&self, notify: Notify) -> Result<SharedRun, Failure> {
        let writer = format!("process {} on {}", std::process::id(), this_host());
        let client = self.client.clone().map_or_else(|| connect_store(&self.address), Ok)?;
        let run = SharedRun::new(self.address.clone(), self.folder.clone(), &writer, client, notify);
        Ok(if self.is_on_worker { run.on_worker() } else { run })
    }

    /// Takes the working copy for one job of a worker. `None` if another process uses it.
    #[cfg(feature = "restate")]
    pub(super) fn take_for_job(&self) -> Result<Option<WorkerCopy>, Failure> {
        WorkerCopy::take(&self.folder).map_err(|error| store_failure(&error))
    }
}

pub(super) fn parse_address(address: &str) -> Result<Address, Failure> {
    Address::parse(address).map_err(|error| store_failure(&error))
}

/// A client of the store of this address, with the credentials of the environment. Sends no request.
pub(super) fn connect_store(address: &Address) -> Result<StoreClient, Failure> {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    StoreClient::new(address, variables).map_err(|error| store_failure(&error))
}

/// Checks that a worker can keep working copies and that its stores take objects, so that it does not take runs which it cannot
/// begin. Returns the folder of the copies, after it has removed those that a killed worker left there.
#[cfg(feature = "restate")]
pub(super) fn prepare_worker(cache: Option<&Path>, runs: &[Address]) -> Result<PathBuf, Failure> {
    let cache = match cache {
        Some(cache) => std::path::absolute(cache).fails(Exit::Usage)?,
        None => cache_folder()?,
    };
    let usable = std::fs::create_dir_all(&cache)
        .and_then(|()| remove_worker_copies(&cache))
        .and_then(|()| tempfile::tempfile_in(&cache)?.write_all(b"tlaforge"));
    usable.map_err(|error| {
        Failure::usage(format!("cannot keep working copies of runs in {}: {error}", cache.display()))
            .hint("name a writable folder on a disk that is not full: --cache DIR")
    })?;
    for address in runs {
        let place = SharedPlace::with_folder(address.text(), &cache, connect_store(address)?)?;
        let checked = place.connect(Arc::new(|_| {}))?.check_conditional_writes();
        checked.map_err(|error| store_failure(&error))?;
    }
    Ok(cache)
}

fn note_set_aside(update: &Update, notify: &Notify) {
    if let Some(folder) = &update.set_aside {
        notify(&format!("the working copy did not belong to this run; it was moved to {}", folder.display()));
    }
}

/// Where the working copies are: `TLAFORGE_CACHE`, else `$XDG_CACHE_HOME/tlaforge/runs`, else `~/.cache/tlaforge/runs`.
fn cache_folder() -> Result<PathBuf, Failure> {
    if let Some(folder) = nonempty_variable("TLAFORGE_CACHE") {
        return std::path::absolute(&folder).map_err(|e| Failure::usage(format!("TLAFORGE_CACHE is {folder:?}: {e}")));
    }
    let cache = nonempty_variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&nonempty_variable("HOME")?).join(".cache")));
    cache.filter(|path| path.is_absolute()).map(|path| path.join("tlaforge").join("runs")).ok_or_else(|| {
        Failure::usage("there is no folder for the working copy of the run").hint("set TLAFORGE_CACHE to a folder")
    })
}

fn store_failure(error: &SharedStoreError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        // These messages already say what to do.
        SharedStoreError::Address { .. } | SharedStoreError::NotConditional { .. } | SharedStoreError::Damaged { .. } => {
            failure
        }
        SharedStoreError::Unavailable { .. } => Failure { exit: Exit::Tool, ..failure }.hint(
            "check the address, the network and the credentials in the environment (AWS_…, GOOGLE_… or AZURE_…); the page on \
             shared stores in the book lists them",
        ),
        SharedStoreError::Io { .. } => {
            failure.hint("check that the folder is writable and the disk not full, or set TLAFORGE_CACHE to another folder")
        }
    }
}
