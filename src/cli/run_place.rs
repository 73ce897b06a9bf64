//! Where a run is: in a folder, or at an address in a shared store, with a working copy on this machine. Commands read the
//! folder in both cases; only `open_run` writes to a run, and gives it the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};

use super::failure::{Fails as _, Failure};
use super::progress::Display;
use super::run_failure::run_failure;
use super::run_writing::Writing;
use crate::exit::Exit;
use crate::pipeline::{Run, RunError};

/// The place of a run.
#[derive(Debug, Clone)]
pub(super) struct RunPlace {
    folder: PathBuf,
    shared: Option<SharedPlace>,
}

impl From<PathBuf> for RunPlace {
    /// A folder, whatever its name looks like.
    fn from(folder: PathBuf) -> Self {
        Self { folder, shared: None }
    }
}

#[cfg(feature = "restate")]
impl From<SharedPlace> for RunPlace {
    fn from(shared: SharedPlace) -> Self {
        Self::shared(shared)
    }
}

impl RunPlace {
    /// The run that an argument names. Brings its working copy up to date.
    pub(super) fn find(run: &Path) -> Result<Self, Failure> {
        let place = match run.to_str().filter(|text| is_address(text)) {
            Some(address) => Self::at(address)?,
            None => return Ok(run.to_owned().into()),
        };
        place.update()?;
        Ok(place)
    }

    /// Like [`Self::find`]; it is an error if there is no run.
    pub(super) fn find_existing(run: &Path) -> Result<Self, Failure> {
        Self::find(run)?.require_run(run)
    }

    /// An error that names `run` if there is no run.
    pub(super) fn require_run(self, run: &Path) -> Result<Self, Failure> {
        if Run::exists(&self.folder) { Ok(self) } else { Err(run_failure(&RunError::NoRun { folder: run.to_owned() })) }
    }

    /// A run in a shared store. Its working copy is in the cache folder of the user. Sends no request.
    fn at(address: &str) -> Result<Self, Failure> {
        Ok(Self::shared(SharedPlace::new(address)?))
    }

    fn shared(shared: SharedPlace) -> Self {
        Self { folder: shared.folder().to_owned(), shared: Some(shared) }
    }

    #[cfg(feature = "restate")]
    pub(super) fn require_shared(&self) -> Result<&SharedPlace, Failure> {
        self.shared.as_ref().ok_or_else(|| Failure::usage("the run is not in a shared store"))
    }

    /// Where its files are on this machine.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Brings the working copy up to date, for reading.
    pub(super) fn update(&self) -> Result<(), Failure> {
        self.shared.as_ref().map_or(Ok(()), SharedPlace::update)
    }

    /// Brings the working copy up to date, and keeps other processes of this machine from changing it. `None` for a folder.
    pub(super) fn prepare_to_write(&self, display: &Arc<Display>) -> Result<Option<Writing>, Failure> {
        self.shared.as_ref().map(|shared| shared.prepare_to_write(display)).transpose()
    }

    /// Keeps the working copy up to date until the result is dropped, for a command that shows the run while it goes on.
    pub(super) fn follow(&self) -> Following {
        let error = UpdateError::default();
        let task = self.shared.clone().map(|shared| tokio::spawn(shared.keep_up_to_date(error.clone())));
        Following { task, error }
    }
}

/// Number of runs that are read from a store at a time.
const PARALLEL: usize = 16;

/// Updates the working copies of these runs, several at a time, and counts them in `done`. Returns the failures of single runs; if
/// the store cannot be reached, returns that error and reads no further runs.
pub(super) async fn update_all(
    places: Vec<(String, RunPlace)>,
    done: &AtomicUsize,
) -> Result<BTreeMap<String, Failure>, Failure> {
    let update = async |(name, place): (String, RunPlace)| {
        let updated = tokio::task::spawn_blocking(move || place.update()).await.fails(Exit::Defect);
        done.fetch_add(1, Ordering::Relaxed);
        (name, updated.and_then(|updated| updated))
    };
    let mut updates = std::pin::pin!(stream::iter(places).map(update).buffer_unordered(PARALLEL));
    let mut failures = BTreeMap::new();
    while let Some((name, updated)) = updates.next().await {
        match updated {
            Ok(()) => {}
            // The store itself, or this program: it would be the same for each run.
            Err(failure) if failure.exit != Exit::Usage => return Err(failure),
            Err(failure) => {
                failures.insert(name, failure);
            }
        }
    }
    Ok(failures)
}

/// Why the last update of a working copy failed.
pub(super) type UpdateError = Arc<Mutex<Option<String>>>;

/// Updates of a working copy, until it is dropped.
pub(super) struct Following {
    task: Option<tokio::task::JoinHandle<()>>,
    pub error: UpdateError,
}

impl Drop for Following {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Whether a text is an address and not a path: it begins with the scheme of a URL.
fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

#[cfg(feature = "shared-store")]
use super::shared_place::SharedPlace;

/// In a build without the feature there are no such places.
#[cfg(not(feature = "shared-store"))]
#[derive(Debug, Clone)]
enum SharedPlace {}

#[cfg(not(feature = "shared-store"))]
impl SharedPlace {
    fn new(address: &str) -> Result<Self, Failure> {
        // An address may contain a password.
        let scheme = address.split("://").next().unwrap_or_default();
        Err(Failure::usage(format!("this build of tlaforge cannot use a shared store ({scheme}://…)"))
            .hint("build it with the feature `shared-store`: cargo install --path . --features shared-store")
            .hint("or name a folder"))
    }

    fn folder(&self) -> &Path {
        match *self {}
    }

    fn update(&self) -> Result<(), Failure> {
        match *self {}
    }

    fn prepare_to_write(&self, _: &Arc<Display>) -> Result<Writing, Failure> {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "as in a build with the feature")]
    async fn keep_up_to_date(self, _: UpdateError) {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_begins_with_a_scheme() {
        for address in ["s3://bucket/run", "file:///tmp/run", "http://host/run", "S3://x"] {
            assert!(is_address(address), "{address}");
        }
        for path in ["specs", "./s3://x", "/tmp/a://b", "-", "C:/x", "://x", "a b://c"] {
            assert!(!is_address(path), "{path}");
        }
    }
}
