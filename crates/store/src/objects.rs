//! Requests to a store, with retries that never store anything twice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutMode};
use tlaforge_files as files;
use tokio::time::{sleep, timeout};
use tracing::debug;

/// How long a process waits for a store that does not answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) first_pause: Duration,
    pub(crate) longest_pause: Duration,
    /// After so much time it gives up. The pauses between two tries are counted, and what a try takes beyond `uncounted`.
    pub(crate) total: Duration,
    /// Time of a try that is not counted, so that a slow machine does not give up earlier.
    pub(crate) uncounted: Duration,
    /// Longest time of one request.
    pub(crate) request: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(15),
            total: Duration::from_secs(15 * 60),
            uncounted: Duration::from_secs(5),
            request: Duration::from_secs(120),
        }
    }
}

/// The pauses between the tries of one request.
struct Pauses {
    patience: Patience,
    /// How many there were.
    count: usize,
    next: Duration,
    left: Duration,
}

impl Pauses {
    fn new(patience: Patience) -> Self {
        Self { patience, count: 0, next: patience.first_pause, left: patience.total }
    }

    /// The pause after a try that took so long; `None` if the patience ends.
    fn after(&mut self, took: Duration) -> Option<Duration> {
        let Patience { longest_pause, uncounted, .. } = self.patience;
        let pause = self.next;
        self.left = self.left.checked_sub(pause)?.checked_sub(took.saturating_sub(uncounted))?;
        self.next = (pause * 2).min(longest_pause);
        self.count += 1;
        Some(pause)
    }
}

/// Why an object was not stored.
#[derive(Debug)]
pub(crate) enum PutError {
    /// There is another object under this name.
    Occupied(Bytes),
    Failed(Error),
}

/// The number of requests at a time.
const PARALLEL: usize = 16;

/// A client of a store.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) patience: Patience,
    /// Whether requests that read wait for the store, too.
    pub(crate) waits_to_read: bool,
}

impl Objects {
    /// Creates an object that does not exist yet. Calls `waiting` before the first pause.
    pub(crate) async fn create(&self, path: &Path, body: Bytes, waiting: impl Fn(&Error)) -> Result<(), PutError> {
        let mut pauses = Pauses::new(self.patience);
        loop {
            let began = Instant::now();
            let Err(error) = self.put(path, &body, PutMode::Create).await else { return Ok(()) };
            let error = match error {
                error if is_permanent(&error) => return Err(PutError::Failed(error)),
                // An answer may have been lost, also inside of the client: the object can be ours.
                error => match self.get(path).await {
                    Ok(stored) if stored == body => return Ok(()),
                    Ok(stored) => return Err(PutError::Occupied(stored)),
                    Err(Error::NotFound { .. }) => error,
                    Err(error) if is_permanent(&error) => return Err(PutError::Failed(error)),
                    Err(error) => error,
                },
            };
            self.pause(&mut pauses, began.elapsed(), error, &waiting).await.map_err(PutError::Failed)?;
        }
    }

    /// Stores an object whose name follows from its content. Calls `waiting` before the first pause.
    pub(crate) async fn store(&self, path: &Path, body: Bytes, waiting: impl Fn(&Error)) -> Result<(), Error> {
        self.retry(|| self.put(path, &body, PutMode::Overwrite), is_permanent, &waiting).await
    }

    /// Repeats a request until it has an answer, a final error, or the patience ends.
    async fn retry<T, F: Future<Output = Result<T, Error>>>(
        &self,
        request: impl Fn() -> F,
        is_final: impl Fn(&Error) -> bool,
        waiting: &impl Fn(&Error),
    ) -> Result<T, Error> {
        let mut pauses = Pauses::new(self.patience);
        loop {
            let began = Instant::now();
            match request().await {
                Err(error) if !is_final(&error) => self.pause(&mut pauses, began.elapsed(), error, waiting).await?,
                ended => return ended,
            }
        }
    }

    /// Sends a request that may be sent twice. Retries only if this client waits for the store.
    async fn send_repeatable<T, F: Future<Output = Result<T, Error>>>(
        &self,
        request: impl Fn() -> F,
        waiting: &impl Fn(&Error),
    ) -> Result<T, Error> {
        let is_answer = |error: &Error| {
            matches!(error, Error::NotFound { .. } | Error::AlreadyExists { .. } | Error::Precondition { .. })
        };
        let is_final = |error: &Error| !self.waits_to_read || is_answer(error) || is_permanent(error);
        self.retry(request, is_final, waiting).await
    }

    async fn pause(
        &self,
        pauses: &mut Pauses,
        took: Duration,
        error: Error,
        waiting: &impl Fn(&Error),
    ) -> Result<(), Error> {
        let Some(pause) = pauses.after(took) else { return Err(error) };
        debug!(%error, number = pauses.count, "a request to the store failed; trying again");
        if pauses.count == 1 {
            waiting(&error);
        }
        sleep(pause).await;
        Ok(())
    }

    async fn put(&self, path: &Path, body: &Bytes, mode: PutMode) -> Result<(), Error> {
        self.limited(self.store.put_opts(path, body.clone().into(), mode.into())).await.map(|_| ())
    }

    /// Creates an object, without reading it back after an answer that was lost.
    pub(crate) async fn put_once(&self, path: &Path, body: &Bytes, waiting: &impl Fn(&Error)) -> Result<(), Error> {
        self.send_repeatable(|| self.put(path, body, PutMode::Create), waiting).await
    }

    pub(crate) async fn get(&self, path: &Path) -> Result<Bytes, Error> {
        let read = async {
            let found = self.store.get(path).await?;
            // Everything is in memory at once.
            if found.meta.size > files::LARGE {
                let source = format!("{path} has {} bytes, more than {}", found.meta.size, files::LARGE).into();
                return Err(Error::NotSupported { source });
            }
            found.bytes().await
        };
        self.limited(read).await
    }

    /// Reads many objects, in this order.
    pub(crate) async fn get_all(
        &self,
        paths: Vec<Path>,
        waiting: impl Fn(&Error),
    ) -> Result<Vec<Bytes>, (Path, Error)> {
        let waiting = &waiting;
        let read = |path: Path| async move {
            self.send_repeatable(|| self.get(&path), waiting).await.map_err(|error| (path, error))
        };
        futures_util::stream::iter(paths).map(read).buffered(PARALLEL).try_collect().await
    }

    /// The names of the objects in a folder, without those in folders inside of it.
    pub(crate) async fn list(&self, folder: &Path, waiting: impl Fn(&Error)) -> Result<Vec<Path>, Error> {
        let request = || self.limited(self.store.list_with_delimiter(Some(folder)));
        let listed = self.send_repeatable(request, &waiting).await?;
        Ok(listed.objects.into_iter().map(|meta| meta.location).collect())
    }

    async fn limited<T>(&self, request: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        timeout(self.patience.request, request).await.unwrap_or_else(|_| {
            let why = format!("no answer within {} s", self.patience.request.as_secs());
            Err(Error::Generic { store: "store", source: why.into() })
        })
    }
}

/// Whether another try cannot help.
fn is_permanent(error: &Error) -> bool {
    matches!(
        error,
        Error::NotSupported { .. }
            | Error::NotImplemented { .. }
            | Error::InvalidPath { .. }
            | Error::PermissionDenied { .. }
            | Error::Unauthenticated { .. }
            | Error::UnknownConfigurationKey { .. }
    )
}
