//! A run in a shared store: what its process stores there, and how it is refused after another process continued the run.

use std::fmt::{self, Debug, Formatter};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use object_store::Error;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tlaforge_files::write_atomically;
use tlaforge_journal::{Replica, ReplicaError, Sha};
use tracing::info;

use super::address::Address;
use super::error::SharedStoreError;
use super::executor::Executor;
use super::objects::{Objects, Patience, PutError};

/// File in the working copy that says that another process continued the run.
pub const TAKEN_OVER: &str = "taken-over.txt";

/// Shows a message to the user.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// The first line of each object of the journal. Without it, two processes that write the same events in the same
/// millisecond would both take the object for their own.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The process, for messages.
    writer: String,
    /// A random number of the process.
    id: String,
}

/// A client of a store, for any number of its runs. Clones share its connections.
#[derive(Debug, Clone)]
pub struct StoreClient {
    pub(crate) objects: Objects,
    pub(crate) executor: Arc<Executor>,
}

impl StoreClient {
    /// The client of the store of this address, without a request. `variables` is the environment.
    pub fn new(address: &Address, variables: impl Iterator<Item = (String, String)>) -> Result<Self, SharedStoreError> {
        let store = address.store(variables)?;
        Self::with_objects(Objects { store, patience: Patience::default(), waits_to_read: false }, address)
    }

    pub(crate) fn with_objects(objects: Objects, address: &Address) -> Result<Self, SharedStoreError> {
        let executor = Executor::start().map_err(|error| SharedStoreError::Unavailable {
            what: "use",
            address: address.text().to_owned(),
            why: error.to_string(),
        })?;
        Ok(Self { objects, executor: Arc::new(executor) })
    }
}

/// A run in a shared store, with its working copy.
pub struct SharedRun {
    pub(crate) address: Address,
    /// The folder of the working copy.
    pub(crate) folder: PathBuf,
    client: StoreClient,
    /// Whether this is the process of a worker, and not of a person.
    pub(crate) is_on_worker: bool,
    /// The first line of the objects of this process, with its line end.
    header: Vec<u8>,
    pub(crate) notify: Notify,
}

impl Debug for SharedRun {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRun")
            .field("address", &self.address.text())
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl SharedRun {
    /// A run in the store of this client. `writer` names this process in the messages of others. Sends no request.
    pub fn new(address: Address, folder: PathBuf, writer: &str, client: StoreClient, notify: Notify) -> Self {
        let header = Header { writer: writer.to_owned(), id: format!("{:016x}", fastrand::u64(..)) };
        let mut header = serde_json::to_vec(&header).expect("plain strings");
        header.push(b'\n');
        Self { address, folder, client, is_on_worker: false, header, notify }
    }

    /// For the process of a worker: it waits for a store that cannot be reached also before it reads the run, and the working
    /// copy does not stay because of it.
    #[must_use]
    pub fn on_worker(mut self) -> Self {
        self.is_on_worker = true;
        self.client.objects.waits_to_read = true;
        self
    }

    /// Sends requests, and waits for their result.
    pub(crate) fn run<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &self,
        requests: impl FnOnce(Objects) -> F,
    ) -> T {
        self.client.executor.run(requests(self.client.objects.clone()))
    }

    pub fn address(&self) -> &str {
        self.address.text()
    }

    /// The folder of the working copy.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Checks that the store creates an object only if it is absent: that alone keeps a second writer out.
    pub fn check_conditional_writes(&self) -> Result<(), SharedStoreError> {
        let (path, waiting) = (self.path(&["conditional-writes"]), self.waiting());
        let checked = self.run(move |objects| async move {
            let body = Bytes::from_static(b"tlaforge\n");
            // Created now, or by an earlier writer. An answer that was lost is no answer to this question.
            for _ in 0..2 {
                match objects.put_once(&path, &body, &waiting).await {
                    Ok(()) => {}
                    Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => return Ok(true),
                    Err(error) => return Err(error),
                }
            }
            Ok(false)
        });
        match checked {
            Ok(true) => Ok(()),
            Ok(false) => Err(SharedStoreError::NotConditional { address: self.address().to_owned() }),
            Err(error) => Err(self.unavailable("write to", &error)),
        }
    }

    pub(crate) fn unavailable(&self, what: &'static str, error: &Error) -> SharedStoreError {
        SharedStoreError::Unavailable { what, address: self.address().to_owned(), why: error.to_string() }
    }

    pub(crate) fn path(&self, parts: &[&str]) -> Path {
        parts.iter().fold(self.address.prefix().clone(), |path, part| path.join(*part))
    }

    pub(crate) fn group_path(&self, first: u64) -> Path {
        self.path(&["journal", &format!("{first:020}.jsonl")])
    }

    /// What to do before the first pause of a request: tell the user, once for all that it is called for.
    pub(crate) fn waiting(&self) -> impl Fn(&Error) + Send + Sync + use<> {
        let (notify, address) = (self.notify.clone(), self.address().to_owned());
        let (patience, once) = (self.client.objects.patience, std::sync::Once::new());
        move |error| {
            let minutes = patience.total.as_secs() / 60;
            once.call_once(|| {
                notify(&format!(
                    "{address} cannot be used now ({error}); the run waits for it for up to {minutes} minutes"
                ));
            });
        }
    }

    fn failed(&self, error: &Error) -> ReplicaError {
        ReplicaError::Unavailable { address: self.address().to_owned(), why: error.to_string() }
    }
}

impl Replica for SharedRun {
    fn put_artifact(&self, sha: &Sha, bytes: &[u8]) -> Result<(), ReplicaError> {
        let (path, waiting) = (self.path(&["artifacts", sha.as_str()]), self.waiting());
        let body = Bytes::copy_from_slice(bytes);
        self.run(move |objects| async move { objects.store(&path, body, waiting).await })
            .map_err(|error| self.failed(&error))
    }

    fn put_group(&self, first: u64, lines: &[u8]) -> Result<(), ReplicaError> {
        let (path, waiting) = (self.group_path(first), self.waiting());
        let body = Bytes::from([&self.header, lines].concat());
        match self.run(move |objects| async move { objects.create(&path, body, waiting).await }) {
            Ok(()) => Ok(()),
            Err(PutError::Failed(error)) => Err(self.failed(&error)),
            Err(PutError::Occupied(stored)) => {
                let header = stored.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let writer = serde_json::from_slice(header)
                    .map_or_else(|_| "another process".to_owned(), |Header { writer, .. }| writer);
                let error = ReplicaError::TakenOver { address: self.address().to_owned(), seq: first, writer };
                info!(%error, "refused");
                // Only for a person who looks into the folder, so it may fail.
                let _ = write_atomically(&self.folder.join(TAKEN_OVER), format!("{error}\n").as_bytes());
                Err(error)
            }
        }
    }
}
