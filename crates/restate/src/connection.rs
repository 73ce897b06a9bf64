//! A connection that the engine opens to a worker, and what a full worker does with it.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http2;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use restate_sdk::endpoint::{Endpoint, ResponseBody};
use restate_sdk::hyper::HyperEndpoint;
use tlaforge_process::Cancel;
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Time between two signs of life, and time to answer one.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Streams of a connection: one for a job that runs, and one for a job that waits for its turn. If both are taken, the engine opens
/// another connection, which may reach another worker.
const STREAMS: u32 = 2;
/// Time that a job of an object waits for its turn if others may be waiting for its stream: the engine sends all that it has over a
/// connection before it knows the number of streams.
const SHORT_WAIT: Duration = Duration::from_millis(50);
/// Time that it waits otherwise. While it does, the engine has to use other connections for other jobs.
pub(crate) const LONG_WAIT: Duration = Duration::from_secs(5);
/// No job was refused on a connection for this long if none is waiting for its stream.
const QUIET: Duration = Duration::from_secs(1);

/// What is known of the jobs of a connection.
///
/// The engine knows only one address for all workers, and a load balancer there gives each connection to a worker. It sends a job
/// that was refused again over any connection with a free stream. So that jobs reach workers with a free turn, a full worker
/// fills the streams of a connection over which a job runs, and ends one over which none runs. It does not end the first kind:
/// the engine cuts a connection that is ending as soon as it has another job for it, also if a job runs over it (1.7).
pub(crate) struct ConnectionJobs {
    /// Streams, also those of messages to limits.
    streams: watch::Sender<usize>,
    /// Jobs that have a turn.
    running: AtomicUsize,
    /// When it was opened, or when a job was last refused.
    last_refusal: Mutex<Instant>,
    refused: watch::Sender<bool>,
}

impl ConnectionJobs {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            streams: watch::Sender::new(0),
            running: AtomicUsize::new(0),
            last_refusal: Mutex::new(Instant::now()),
            refused: watch::Sender::new(false),
        })
    }

    /// How long a job of an object waits for its turn.
    pub(crate) fn patience(&self) -> Duration {
        let last_refusal = *self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner);
        let is_used = self.running.load(Ordering::SeqCst) > 0;
        if is_used && last_refusal.elapsed() > QUIET { LONG_WAIT } else { SHORT_WAIT }
    }

    pub(crate) fn refuse(&self) {
        *self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.refused.send_replace(true);
    }

    /// Counts a job that has its turn until the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> RunningJob {
        self.running.fetch_add(1, Ordering::SeqCst);
        RunningJob(self.clone())
    }

    fn begin_stream(self: &Arc<Self>) -> OpenStream {
        self.streams.send_modify(|streams| *streams += 1);
        OpenStream(self.clone())
    }

    /// Returns when no stream is open any more after a job was refused.
    async fn idle_after_refusal(&self) {
        let (mut refused, mut streams) = (self.refused.subscribe(), self.streams.subscribe());
        // Both senders live as long as this.
        let _ = refused.wait_for(|refused| *refused).await;
        let _ = streams.wait_for(|streams| *streams == 0).await;
    }
}

pub(crate) struct RunningJob(Arc<ConnectionJobs>);

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

struct OpenStream(Arc<ConnectionJobs>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.streams.send_modify(|streams| *streams -= 1);
    }
}

/// Serves a connection to its end. From `end` on it takes no further jobs.
pub(crate) async fn serve(stream: TcpStream, endpoint: Endpoint, jobs: Arc<ConnectionJobs>, end: Cancel) {
    // Otherwise an answer of several small frames waits 40 ms for an acknowledgement. An error is harmless.
    let _ = stream.set_nodelay(true);
    let endpoint = CountedEndpoint { endpoint: HyperEndpoint::new(endpoint), jobs: jobs.clone() };
    let connection = http2::Builder::new(TokioExecutor::new())
        // A connection that was cut ends, and its jobs with it: the engine has sent them to another worker.
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(STREAMS)
        .serve_connection(TokioIo::new(stream), endpoint);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async { tokio::select! { () = end.cancelled() => {}, () = jobs.idle_after_refusal() => {} } } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection of the engine ended");
    }
}

/// Counts the streams of a connection.
struct CountedEndpoint {
    endpoint: HyperEndpoint,
    jobs: Arc<ConnectionJobs>,
}

impl Service<Request<Incoming>> for CountedEndpoint {
    type Response = Response<CountedBody>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let stream = self.jobs.begin_stream();
        let Ok(response) = self.endpoint.call(request).into_inner();
        ready(Ok(response.map(|body| CountedBody { body: Box::pin(body), _stream: stream })))
    }
}

/// An answer. A job runs while its answer is read.
struct CountedBody {
    body: Pin<Box<ResponseBody>>,
    _stream: OpenStream,
}

impl Body for CountedBody {
    type Data = <ResponseBody as Body>::Data;
    type Error = <ResponseBody as Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.body.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
