//! A connection that the engine opens to a worker.

use std::convert::Infallible;
use std::future::Ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http2;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use restate_sdk::endpoint::{Endpoint, ResponseBody};
use restate_sdk::hyper::HyperEndpoint;
use tlaforge_process::Cancel;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Sleep;

/// Time between two signs of life, and time to answer one.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// A stream that is open for this long has a long job. Its connection then takes no other one.
const LONG_JOB: Duration = Duration::from_millis(300);
/// Time for the engine to close its side, after ours was closed.
const LINGER: Duration = Duration::from_secs(10);

/// What is known of the jobs of a connection.
///
/// The engine knows only one address for all workers, and a load balancer there gives each connection to a worker. It sends a
/// job, also one that was refused, over a connection that has a stream for it, and opens another one if few are free. So that
/// jobs reach the workers with a free turn,
/// - a connection has one stream, so that no job is sent to a worker because another one runs there;
/// - a connection with a long job begins its graceful shutdown (GOAWAY): it takes no other job, and closes after this one. The
///   engine sends several jobs over a new connection before it knows that there is only one stream. All but the first would wait
///   until the first has ended; the shutdown makes them fail, and the engine sends them again;
/// - a connection over which a job was refused is closed, because its worker is full.
///
/// With a second stream, the shutdown would do harm: if the engine (1.7) finds a free stream for another job there, it cuts the
/// connection, and with it the job that runs.
pub(crate) struct ConnectionJobs {
    streams: watch::Sender<Streams>,
    refused: watch::Sender<bool>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Streams {
    open: usize,
    /// How many were opened so far.
    opened: u64,
}

impl ConnectionJobs {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { streams: watch::Sender::new(Streams::default()), refused: watch::Sender::new(false) })
    }

    /// A job found no free turn.
    pub(crate) fn refuse(&self) {
        self.refused.send_replace(true);
    }

    fn open_stream(self: &Arc<Self>) -> OpenStream {
        self.streams.send_modify(|streams| {
            streams.open += 1;
            streams.opened += 1;
        });
        OpenStream(self.clone())
    }

    /// Returns when no stream is open any more after a job was refused.
    async fn idle_after_refusal(&self) {
        let (mut refused, mut streams) = (self.refused.subscribe(), self.streams.subscribe());
        // Both senders live as long as this.
        let _ = refused.wait_for(|refused| *refused).await;
        let _ = streams.wait_for(|streams| streams.open == 0).await;
    }

    /// Returns when a stream has been open for [`LONG_JOB`].
    async fn has_long_job(&self) {
        let mut streams = self.streams.subscribe();
        loop {
            let last = streams.wait_for(|streams| streams.open > 0).await.map_or(0, |streams| streams.opened);
            let ended = streams.wait_for(|streams| streams.open == 0 || streams.opened != last);
            if tokio::time::timeout(LONG_JOB, ended).await.is_err() {
                return;
            }
        }
    }
}

struct OpenStream(Arc<ConnectionJobs>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.streams.send_modify(|streams| streams.open -= 1);
    }
}

/// Serves a connection until it is closed. Cancelling `end` begins its graceful shutdown.
pub(crate) async fn serve(stream: TcpStream, endpoint: Endpoint, jobs: Arc<ConnectionJobs>, end: Cancel) {
    // Otherwise an answer of several small frames waits 40 ms for an acknowledgement. An error is harmless.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(LingeringStream { stream, linger: None });
    let endpoint = CountedEndpoint { endpoint: HyperEndpoint::new(endpoint), jobs: jobs.clone() };
    let connection = http2::Builder::new(TokioExecutor::new())
        // A connection that was cut ends, and its jobs with it: the engine has sent them to another worker.
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(1)
        .serve_connection(stream, endpoint);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async {
            tokio::select! {
                () = end.cancelled() => {}
                () = jobs.idle_after_refusal() => {}
                () = jobs.has_long_job() => {}
            }
        } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection of the engine ended");
    }
}

/// A stream whose shutdown waits until the other side has closed it, too. If it were closed while data arrive, the system would
/// throw away the part of the last answer that is not sent yet.
struct LingeringStream {
    stream: TcpStream,
    /// Since the shutdown.
    linger: Option<Pin<Box<Sleep>>>,
}

impl AsyncRead for LingeringStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for LingeringStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            self.linger = Some(Box::pin(tokio::time::sleep(LINGER)));
        }
        let mut bytes = [0; 4096];
        loop {
            let mut unread = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(cx, &mut unread) {
                Poll::Ready(Ok(())) if !unread.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => break,
            }
        }
        self.linger.as_mut().map_or(Poll::Ready(()), |linger| linger.as_mut().poll(cx)).map(Ok)
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
        let stream = self.jobs.open_stream();
        let Ok(response) = self.endpoint.call(request).into_inner();
        std::future::ready(Ok(response.map(|body| CountedBody { body: Box::pin(body), _stream: stream })))
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// The other side still sends when the stream is shut down, as the engine does while it reads a large answer.
    #[tokio::test]
    async fn what_was_written_before_the_shutdown_arrives() {
        const SIZE: usize = 4 << 20;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it has one");
        let engine = async {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            let (mut received, mut part) = (0, vec![0; 1 << 14]);
            loop {
                stream.write_all(b"a window update").await.expect("the stream is open");
                match stream.read(&mut part).await.expect("the stream was not cut") {
                    0 => return received,
                    size => received += size,
                }
            }
        };
        let worker = async {
            let (stream, _) = listener.accept().await.expect("a connection");
            let mut stream = LingeringStream { stream, linger: None };
            stream.write_all(&vec![1; SIZE]).await.expect("it is written");
            stream.shutdown().await.expect("it is shut down");
        };
        let (received, ()) = tokio::join!(engine, worker);
        assert_eq!(received, SIZE);
    }
}
