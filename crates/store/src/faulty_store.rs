//! A store in memory that fails as a network does, for tests.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What happens to one request that writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// It never reaches the store.
    Lost,
    /// The store carries it out, and the answer is lost.
    AnswerLost,
    /// The store carries it out, and the answer never comes.
    AnswerHangs,
    /// The client tried twice, and the second try found the object of the first one.
    TriedTwice,
    /// The store replaces the object, although it should only create it.
    Replaces,
    /// The key is refused.
    Denied,
}

/// Shares its objects with its clones.
#[derive(Debug, Default)]
pub(crate) struct FaultyStore {
    pub(crate) objects: InMemory,
    /// The faults of the next requests that write.
    pub(crate) faults: Mutex<VecDeque<Fault>>,
    /// The fault of every further one.
    pub(crate) always: Mutex<Option<Fault>>,
    /// Number of the next requests that read and never reach the store.
    pub(crate) lost_reads: AtomicUsize,
    /// Whether requests that read have no answer after that.
    pub(crate) reads_hang: AtomicBool,
    /// Number of requests that read.
    pub(crate) reads: AtomicUsize,
}

impl FaultyStore {
    pub(crate) fn fail(&self, faults: &[Fault]) {
        self.faults.lock().unwrap().extend(faults);
    }

    async fn read(&self) -> Result<()> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let lost_reads = self.lost_reads.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match lost_reads {
            Ok(_) => Err(lost()),
            Err(_) if self.reads_hang.load(Ordering::SeqCst) => std::future::pending().await,
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn fail_always(&self, fault: Option<Fault>) {
        *self.always.lock().unwrap() = fault;
    }
}

impl Display for FaultyStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyStore")
    }
}

fn lost() -> Error {
    Error::Generic { store: "test", source: "connection reset".into() }
}

#[async_trait::async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, path: &Path, payload: PutPayload, mut options: PutOptions) -> Result<PutResult> {
        let fault = self.faults.lock().unwrap().pop_front().or(*self.always.lock().unwrap());
        match fault {
            None => self.objects.put_opts(path, payload, options).await,
            Some(Fault::Lost) => Err(lost()),
            Some(Fault::AnswerLost) => self.objects.put_opts(path, payload, options).await.and(Err(lost())),
            Some(Fault::AnswerHangs) => {
                self.objects.put_opts(path, payload, options).await?;
                std::future::pending().await
            }
            Some(Fault::TriedTwice) => {
                self.objects.put_opts(path, payload.clone(), options.clone()).await?;
                self.objects.put_opts(path, payload, options).await
            }
            Some(Fault::Replaces) => {
                options.mode = PutMode::Overwrite;
                self.objects.put_opts(path, payload, options).await
            }
            Some(Fault::Denied) => {
                Err(Error::PermissionDenied { path: path.to_string(), source: "the key is unknown".into() })
            }
        }
    }

    async fn put_multipart_opts(&self, path: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.objects.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.read().await?;
        self.objects.get_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.objects.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.read().await?;
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.objects.copy_opts(from, to, options).await
    }
}
