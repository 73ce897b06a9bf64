//! Serves a live page on loopback: the page, its events (server-sent) and, of a run, the report and a button that stops it.
//!
//! The address holds a random token, so that other users and web pages of this machine cannot find it. Requests of other
//! origins and for other hosts are refused, which prevents DNS rebinding.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::File;
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use super::live_run::LiveRun;
use super::subject::{Subject, Update};
use super::watched_run::WatchedRun;
use crate::cli::failure::Failure;
use crate::exit::Exit;
use crate::process::Cancel;

/// How often a stream looks for something new.
const INTERVAL: Duration = Duration::from_millis(500);
/// Connections at once that have shown the token. A page needs three.
const MAX_CONNECTIONS: usize = 32;
/// Connections at once that have not shown the token. Any program of this machine can open them, so one more closes the
/// oldest: the user's browser sends its request at once, and has shown the token by then.
const MAX_UNAUTHENTICATED: usize = 64;
/// Time for the first request of a connection, from its beginning to the end of its headers.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a run that has ended waits until its pages know it, and then until they have fetched the last report.
const MAX_WAIT: Duration = Duration::from_secs(5);
const MAX_REPORT_WAIT: Duration = Duration::from_secs(60);

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A server in a thread of its own, because computations block the run's runtime. It ends with the process.
pub(in crate::cli) struct LiveServer {
    address: String,
    service: Arc<Service>,
}

struct Service {
    subject: Box<dyn Subject>,
    /// `127.0.0.1:PORT` and `localhost:PORT`.
    hosts: [String; 2],
    token: String,
    /// Connections that have shown the token.
    connections: AtomicUsize,
    /// Those that have not, the oldest first.
    unauthenticated: Mutex<VecDeque<Arc<Connection>>>,
    /// Event streams that have not sent the outcome yet.
    waiting: AtomicUsize,
    /// Cancelled when connections end with the answer that they are sending.
    closing: Cancel,
}

/// A connection, whoever opened it.
struct Connection {
    /// Whether it has shown the token.
    has_token: AtomicBool,
    /// Cancelled to make room for another one.
    evicted: Cancel,
}

impl LiveServer {
    /// Starts to serve the page of a run; port 0 is any free one.
    pub(in crate::cli) fn start(run: WatchedRun, port: u16) -> Result<Self, Failure> {
        Self::serve(Box::new(LiveRun::new(run)), port)
    }

    pub(in crate::cli) fn serve(subject: Box<dyn Subject>, port: u16) -> Result<Self, Failure> {
        let failed = |what: &str, error: &std::io::Error| {
            Failure::new(
                Exit::Tool,
                format!("cannot serve the live page on port {port} of this machine: {what}: {error}"),
            )
            .hint("choose another port with --port N")
        };
        let token = random_token().map_err(|error| failed("no random token", &error))?;
        let (started, result) = mpsc::channel();
        // The listener belongs to the runtime of the thread.
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
            runtime.block_on(async {
                let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                    Ok(listener) => listener,
                    Err(error) => {
                        let _ = started.send(Err(error));
                        return;
                    }
                };
                let port = listener.local_addr().map_or(port, |address| address.port());
                let service = Arc::new(Service {
                    subject,
                    hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
                    token,
                    connections: AtomicUsize::new(0),
                    unauthenticated: Mutex::default(),
                    waiting: AtomicUsize::new(0),
                    closing: Cancel::new(),
                });
                let _ = started.send(Ok(service.clone()));
                accept(&listener, &service).await;
            });
        });
        match result.recv() {
            Ok(Ok(service)) => Ok(Self { address: format!("http://{}/{}/", service.hosts[0], service.token), service }),
            Ok(Err(error)) => Err(failed("bind", &error)),
            Err(_) => Err(Failure::new(Exit::Tool, "cannot serve the live page: no runtime")),
        }
    }

    /// The address of the page, with its token.
    pub(in crate::cli) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until the open pages show the outcome. The time is limited.
    pub(in crate::cli) async fn wait_for_pages(&self) {
        if self.service.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let _ = tokio::time::timeout(MAX_WAIT, wait_for_zero(&self.service.waiting)).await;
        // With the outcome, a page asks for the report.
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.service.closing.cancel();
        let _ = tokio::time::timeout(MAX_REPORT_WAIT, wait_for_zero(&self.service.connections)).await;
    }
}

async fn wait_for_zero(count: &AtomicUsize) {
    while count.load(Ordering::Relaxed) > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// 128 random bits as hexadecimal digits.
fn random_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

async fn accept(listener: &TcpListener, service: &Arc<Service>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For example, out of file descriptors: retry later.
            tokio::time::sleep(INTERVAL).await;
            continue;
        };
        tokio::spawn(serve(stream, service.clone(), service.admit_unauthenticated()));
    }
}

/// Serves a connection until it ends, is closed to make room for another, or sends no request with the token in time.
async fn serve(stream: TcpStream, service: Arc<Service>, own: Arc<Connection>) {
    let answer = service_fn(async |request| Ok::<_, Infallible>(service.answer(&request, &own).await));
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10)).max_buf_size(16 * 1024);
    let mut connection = std::pin::pin!(connection.serve_connection(TokioIo::new(stream), answer));
    let first_request = async {
        tokio::time::sleep(FIRST_REQUEST_TIMEOUT).await;
        if own.has_token.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        _ = connection.as_mut() => {}
        () = own.evicted.cancelled() => {}
        () = first_request => {}
        () = service.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            // The end of the run waits only for those that have shown the token.
            let _ = connection.await;
        }
    }
    service.remove(&own);
}

impl Service {
    fn unauthenticated(&self) -> MutexGuard<'_, VecDeque<Arc<Connection>>> {
        self.unauthenticated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection that has not shown the token. If there are too many, closes the oldest.
    fn admit_unauthenticated(&self) -> Arc<Connection> {
        let connection = Arc::new(Connection { has_token: AtomicBool::new(false), evicted: Cancel::new() });
        let mut unauthenticated = self.unauthenticated();
        unauthenticated.push_back(connection.clone());
        if unauthenticated.len() > MAX_UNAUTHENTICATED
            && let Some(oldest) = unauthenticated.pop_front()
        {
            oldest.evicted.cancel();
        }
        connection
    }

    /// Notes that a connection has shown the token; `false` if there are too many of them.
    fn authenticate(&self, own: &Arc<Connection>) -> bool {
        if own.has_token.load(Ordering::Relaxed) {
            return true;
        }
        if self.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        own.has_token.store(true, Ordering::Relaxed);
        self.unauthenticated().retain(|other| !Arc::ptr_eq(other, own));
        true
    }

    fn remove(&self, own: &Arc<Connection>) {
        if own.has_token.load(Ordering::Relaxed) {
            self.connections.fetch_sub(1, Ordering::Relaxed);
        } else {
            self.unauthenticated().retain(|other| !Arc::ptr_eq(other, own));
        }
    }

    async fn answer(self: &Arc<Self>, request: &Request<Incoming>, own: &Arc<Connection>) -> Response<Body> {
        if let Err(why) = self.check_origin(request) {
            return plain(StatusCode::FORBIDDEN, why);
        }
        let path = request.uri().path();
        let Some(page) = path.strip_prefix('/').and_then(|path| path.strip_prefix(self.token.as_str())) else {
            return plain(StatusCode::NOT_FOUND, "the address is not complete: copy all of it");
        };
        if !self.authenticate(own) {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many pages of this run are open: close some");
        }
        match (request.method(), page) {
            (&Method::GET, "/") => {
                let page = self.subject.page();
                html(page.text, &page.policy)
            }
            (&Method::GET, "/report") => {
                let service = self.clone();
                // In another thread, because a report can take seconds.
                match tokio::task::spawn_blocking(move || service.subject.report()).await {
                    Ok(None) => no_page(),
                    // Its own policy is part of the page.
                    Ok(Some(Ok(text))) => html(text, "frame-ancestors 'self'"),
                    Ok(Some(Err(why))) => plain(StatusCode::INTERNAL_SERVER_ERROR, &why),
                    Err(why) => plain(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string()),
                }
            }
            (&Method::GET, "/events") => self.events(),
            (&Method::POST, "/stop") => match self.subject.stop() {
                None => no_page(),
                Some(Ok(())) => plain(StatusCode::OK, "The run is stopping."),
                Some(Err(why)) => plain(StatusCode::CONFLICT, &why),
            },
            (_, "/" | "/report" | "/events" | "/stop") => plain(StatusCode::METHOD_NOT_ALLOWED, "no such request"),
            _ => no_page(),
        }
    }

    fn check_origin(&self, request: &Request<Incoming>) -> Result<(), &'static str> {
        let text = |name| request.headers().get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        if !text(header::HOST).is_some_and(is_own) {
            return Err("this server answers only for 127.0.0.1 and localhost");
        }
        if text(header::ORIGIN).is_some_and(|origin| !origin.strip_prefix("http://").is_some_and(is_own)) {
            return Err("this server answers no other origin");
        }
        match request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes) {
            // `none`: the address was typed or opened from outside.
            None | Some(b"same-origin" | b"none") => Ok(()),
            Some(_) => Err("this server answers no other origin"),
        }
    }

    /// What the page shows, and again whenever it has changed. The stream ends with the last change.
    fn events(self: &Arc<Self>) -> Response<Body> {
        let events = EventStream { service: self.clone(), sent: None };
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let frames = stream::unfold(events, |mut events| async move {
            let event = events.next().await?;
            Some((Ok::<_, Infallible>(Frame::data(Bytes::from(event))), events))
        });
        let body = StreamBody::new(frames).boxed_unsync();
        response(StatusCode::OK, "text/event-stream", body)
    }
}

/// One open stream of events.
struct EventStream {
    service: Arc<Service>,
    sent: Option<Update>,
}

impl EventStream {
    /// The next event to send; `None` after the outcome was sent.
    async fn next(&mut self) -> Option<String> {
        if self.sent.as_ref().is_some_and(|sent| sent.is_last) {
            return None;
        }
        loop {
            let update = self.service.subject.update();
            if self.sent.as_ref() != Some(&update) {
                let event = format!("data: {}\n\n", update.json);
                self.sent = Some(update);
                return Some(event);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.service.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn html(text: impl Into<Bytes>, policy: &str) -> Response<Body> {
    let mut response = response(StatusCode::OK, "text/html; charset=utf-8", full(text));
    if let Ok(policy) = HeaderValue::from_str(policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn no_page() -> Response<Body> {
    plain(StatusCode::NOT_FOUND, "no such page")
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    response(status, "text/plain; charset=utf-8", full(text.to_owned() + "\n"))
}

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

fn response(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}
