//! A model server on loopback, scripted request by request: the Messages API (`POST /v1/messages`, streaming or not) and
//! chat completions (`POST /v1/chat/completions`), with every way to fail. What it was sent is kept.
//!
//! ```ignore
//! let server = ModelServer::start(|seen| match seen.tool_results().len() {
//!     0 => Reply::reads(&["docs/a.md", "docs/b.md"]),
//!     _ => Reply::text("done"),
//! });
//! // … a client talks to server.url() …
//! assert_eq!(server.requests()[0].header("x-api-key"), Some("key"));
//! ```

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::waiting::{wait_until, wait_until_async};

/// A received request.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Number of the request, from 0. Only requests with a scripted answer count.
    pub number: usize,
    pub method: String,
    /// With the query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// The parsed body; null if it is not JSON.
    pub body: Value,
    /// The body byte for byte.
    pub raw: Vec<u8>,
}

impl Seen {
    /// A header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    pub fn is_chat_completion(&self) -> bool {
        self.path.contains("chat/completions")
    }

    pub fn streams(&self) -> bool {
        self.body["stream"] == true
    }

    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The system text, from a string or from blocks.
    pub fn system(&self) -> String {
        let of_chat = self.messages().iter().filter(|m| m["role"] == "system").map(|m| text_of(&m["content"]));
        [text_of(&self.body["system"])].into_iter().chain(of_chat).filter(|t| !t.is_empty()).collect()
    }

    /// All text of the first user message.
    pub fn prompt(&self) -> String {
        self.messages().iter().find(|m| m["role"] == "user").map_or(String::new(), |m| text_of(&m["content"]))
    }

    /// The names of the offered tools.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let name = |t: &Value| t["name"].as_str().or(t["function"]["name"].as_str()).unwrap_or("?").to_owned();
        tools.iter().map(name).collect()
    }

    /// All tool results in the conversation so far.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let mut results = Vec::new();
        for message in self.messages() {
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or("").to_owned();
                results.push(ToolResult { id, text: text_of(&message["content"]), is_error: false });
            }
            for block in message["content"].as_array().map_or(&[][..], Vec::as_slice) {
                if block["type"] == "tool_result" {
                    let id = block["tool_use_id"].as_str().unwrap_or("").to_owned();
                    let is_error = block["is_error"] == true;
                    results.push(ToolResult { id, text: text_of(&block["content"]), is_error });
                }
            }
        }
        results
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub id: String,
    pub text: String,
    /// Chat completions have no such field.
    pub is_error: bool,
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|b| b["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// A block of a model's turn.
#[derive(Debug, Clone)]
pub enum Block {
    Text(String),
    Thinking(String),
    /// Tool and input. A string as input is sent as it is, to simulate broken JSON.
    Tool(String, Value),
}

/// The token counts of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// How a stream ends early.
#[derive(Debug, Clone)]
enum End {
    Whole,
    /// The connection breaks after this many events.
    Cut(usize),
    /// The body ends properly after this many events.
    Short(usize),
    /// An error event follows this many events, and nothing after it.
    Error(usize, Value),
    /// Nothing follows this many events, and the connection stays open.
    Stall(usize),
    /// After this many events only this text is sent, repeatedly.
    Alive(usize, &'static str),
}

#[derive(Debug, Clone)]
enum Body {
    Turn(Vec<Block>),
    /// Type and message, in the format of the requested API.
    Error(String, String),
    Text(String),
    /// A text of this many bytes.
    Huge(usize),
    /// These bytes instead of HTTP, then the connection is closed.
    Raw(Vec<u8>),
    /// Nothing; the connection stays open.
    Nothing,
    /// Nothing; the connection is closed.
    Close,
}

/// What has to hold before a reply.
#[derive(Clone)]
struct Gate(Arc<dyn Fn() -> bool + Send + Sync>);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

/// The reply to a request.
#[derive(Debug, Clone)]
pub struct Reply {
    body: Body,
    status: u16,
    headers: Vec<(String, String)>,
    content_type: Option<String>,
    stop: Option<String>,
    tokens: Tokens,
    usage: Option<Value>,
    end: End,
    drip: Option<Duration>,
    delay: Duration,
    gate: Option<Gate>,
    extra: Value,
}

impl Reply {
    fn of(body: Body) -> Self {
        Self {
            body,
            status: 200,
            headers: Vec::new(),
            content_type: None,
            stop: None,
            tokens: Tokens { input: 100, output: 10, cache_read: 0, cache_write: 0 },
            usage: None,
            end: End::Whole,
            drip: None,
            delay: Duration::ZERO,
            gate: None,
            extra: Value::Null,
        }
    }

    /// A turn of these blocks. The stop reason follows from them unless [`Reply::stop`] says otherwise.
    pub fn turn(blocks: Vec<Block>) -> Self {
        Self::of(Body::Turn(blocks))
    }

    /// An answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self::turn(vec![Block::Text(text.into())])
    }

    /// `Read` calls, all in one turn.
    pub fn reads(paths: &[&str]) -> Self {
        Self::turn(paths.iter().map(|p| Block::Tool("Read".into(), json!({ "file_path": p }))).collect())
    }

    /// One call of a tool.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::turn(vec![Block::Tool(name.into(), input)])
    }

    /// An error status, with type and message in the format of the requested API.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self { status, ..Self::of(Body::Error(kind.into(), message.into())) }
    }

    /// Any body with any status.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self { status, ..Self::of(Body::Text(body.into())) }
    }

    /// A body of this many bytes.
    pub fn huge(status: u16, bytes: usize) -> Self {
        Self { status, ..Self::of(Body::Huge(bytes)) }
    }

    /// These bytes instead of HTTP.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(Body::Raw(bytes.into()))
    }

    /// Nothing is ever sent.
    pub fn nothing() -> Self {
        Self::of(Body::Nothing)
    }

    /// The connection is closed without a reply.
    pub fn close() -> Self {
        Self::of(Body::Close)
    }

    /// The stop reason, in the terms of the requested API.
    pub fn stop(mut self, reason: &str) -> Self {
        self.stop = Some(reason.into());
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn content_type(mut self, value: &str) -> Self {
        self.content_type = Some(value.into());
        self
    }

    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Without token counts.
    pub fn uncounted(self) -> Self {
        self.usage(Value::Null)
    }

    /// The turn's `usage`, verbatim.
    pub fn usage(mut self, usage: Value) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The connection breaks after this many events of the stream.
    pub fn cut_after(mut self, events: usize) -> Self {
        self.end = End::Cut(events);
        self
    }

    /// The stream ends properly, but after this many events.
    pub fn short_after(mut self, events: usize) -> Self {
        self.end = End::Short(events);
        self
    }

    /// Nothing is sent after this many events.
    pub fn stall_after(mut self, events: usize) -> Self {
        self.end = End::Stall(events);
        self
    }

    /// Only this is sent after this many events, as long as the client reads.
    pub fn alive_after(mut self, events: usize, text: &'static str) -> Self {
        self.end = End::Alive(events, text);
        self
    }

    /// An error event with this `error` object after this many events.
    pub fn error_event_after(mut self, events: usize, error: Value) -> Self {
        self.end = End::Error(events, error);
        self
    }

    /// Waits before each event of the stream.
    pub fn drip(mut self, pause: Duration) -> Self {
        self.drip = Some(pause);
        self
    }

    /// Waits before the reply.
    pub fn delay(mut self, time: Duration) -> Self {
        self.delay = time;
        self
    }

    /// Waits before the reply until this file contains this text.
    pub fn after(self, file: PathBuf, text: &'static str) -> Self {
        self.once(move || std::fs::read_to_string(&file).is_ok_and(|content| content.contains(text)))
    }

    /// Waits before the reply until this holds.
    pub fn once(mut self, holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.gate = Some(Gate(Arc::new(holds)));
        self
    }

    /// Overrides fields of the `error` object in the body.
    pub fn error_fields(mut self, fields: Value) -> Self {
        self.extra = fields;
        self
    }
}

type Script = Box<dyn FnMut(&Seen) -> Reply + Send>;

struct Shared {
    script: Mutex<Script>,
    seen: Mutex<Vec<Seen>>,
    stopped: AtomicBool,
    /// Wakes pausing threads when the server stops.
    stops: (Mutex<()>, Condvar),
    body_bytes: AtomicUsize,
    /// Number of replies that were written as far as they can be for now.
    written: AtomicUsize,
}

impl Shared {
    /// Pauses for this time, or until the server stops.
    fn pause(&self, time: Duration) {
        let guard = self.stops.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.stops.1.wait_timeout_while(guard, time, |()| !self.stopped.load(Ordering::SeqCst));
    }
}

/// A running server. Dropping it stops it.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ModelServer {
    /// Starts on a free loopback port. Calls the script once for each `POST`; `HEAD` and `GET` get status 200.
    pub fn start(script: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Mutex::new(Box::new(script)),
            seen: Mutex::new(Vec::new()),
            stopped: AtomicBool::new(false),
            stops: (Mutex::new(()), Condvar::new()),
            body_bytes: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
        });
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if of_thread.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&of_thread);
                // A client that goes away in the middle is no concern of the server.
                std::thread::spawn(move || drop(serve(stream, &shared)));
            }
        });
        Self { address, shared }
    }

    /// Sends these replies in order, and repeats the last one.
    pub fn replies(replies: Vec<Reply>) -> Self {
        let mut next = 0;
        Self::start(move |_| {
            let reply = replies[next.min(replies.len() - 1)].clone();
            next += 1;
            reply
        })
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, including `HEAD` and `GET`.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Bytes of single-piece answers that were written to clients.
    pub fn body_bytes(&self) -> usize {
        self.shared.body_bytes.load(Ordering::SeqCst)
    }

    /// Waits until the client has read everything that the server sends for now.
    pub async fn wait_until_read(&self) {
        let mut looks = 0;
        // The client handles what it has read while this waits for the next look.
        let read = || {
            looks += usize::from(self.is_read());
            looks > 5
        };
        wait_until_async("the client has read the reply", read).await;
    }

    /// Whether every request has a reply, and the kernel's queues of this server's connections are empty.
    fn is_read(&self) -> bool {
        let posts = self.posts().len();
        if posts == 0 || self.shared.written.load(Ordering::SeqCst) < posts {
            return false;
        }
        let port = format!(":{:04X}", self.address.port());
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let connections = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        connections.filter(|c| c[1].ends_with(&port) || c[2].ends_with(&port)).all(|c| {
            let (to_send, to_read) = c[4].split_once(':').unwrap();
            let (is_client, is_listening, is_closing) = (c[2].ends_with(&port), c[3] == "0A", c[3] == "08");
            // The end of a stream counts as one byte.
            let to_read = usize::from_str_radix(to_read, 16).unwrap().saturating_sub(usize::from(is_closing));
            is_listening || (usize::from_str_radix(to_send, 16).unwrap() == 0 && !(is_client && to_read > 0))
        })
    }

    /// The requests that the script answered.
    pub fn posts(&self) -> Vec<Seen> {
        self.requests().into_iter().filter(|s| s.method == "POST").collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.stops.1.notify_all();
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(mut seen) = read_request(&mut reader, &mut stream)? {
        let posted = seen.method == "POST";
        let reply = {
            let mut all = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.number = all.iter().filter(|s| s.method == "POST").count();
            all.push(seen.clone());
            drop(all);
            let mut script = shared.script.lock().unwrap_or_else(PoisonError::into_inner);
            if posted { script(&seen) } else { Reply::status(200, if seen.method == "HEAD" { "" } else { "{}" }) }
        };
        shared.pause(reply.delay);
        if let Some(Gate(holds)) = &reply.gate {
            wait_until("the reply may be sent", || holds() || shared.stopped.load(Ordering::SeqCst));
        }
        let stays = answer(&mut stream, &seen, &reply, shared)?;
        shared.written.fetch_add(1, Ordering::SeqCst);
        if !stays {
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
    Ok(())
}

fn read_request(reader: &mut BufReader<TcpStream>, stream: &mut TcpStream) -> std::io::Result<Option<Seen>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap_or("").to_owned(), words.next().unwrap_or("").to_owned());
    let mut headers: Vec<(String, String)> = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let header = |name: &str| headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    if header("expect").is_some() {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut raw = Vec::new();
    if header("transfer-encoding").is_some_and(|v| v.contains("chunked")) {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk)?;
            raw.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else {
        raw.resize(header("content-length").and_then(|v| v.parse().ok()).unwrap_or(0), 0);
        reader.read_exact(&mut raw)?;
    }
    let body = serde_json::from_slice(&raw).unwrap_or(Value::Null);
    Ok(Some(Seen { number: 0, method, path, headers, body, raw }))
}

/// Writes a reply. Returns whether the connection can be reused.
fn answer(stream: &mut TcpStream, seen: &Seen, reply: &Reply, shared: &Shared) -> std::io::Result<bool> {
    let chat = seen.is_chat_completion();
    match &reply.body {
        Body::Close => return Ok(false),
        Body::Nothing => {
            stay(stream, shared);
            return Ok(false);
        }
        Body::Raw(bytes) => {
            stream.write_all(bytes)?;
            return Ok(false);
        }
        Body::Turn(blocks) if seen.streams() && reply.status == 200 => {
            return stream_events(stream, &super::model_wire::events(chat, blocks, reply, seen), reply, chat, shared);
        }
        _ => {}
    }
    let body = match &reply.body {
        Body::Turn(blocks) => super::model_wire::whole(chat, blocks, reply, seen).to_string(),
        Body::Error(kind, message) => error_body(chat, reply, kind, message).to_string(),
        Body::Text(text) => text.clone(),
        Body::Huge(bytes) => "x".repeat(*bytes),
        Body::Raw(_) | Body::Nothing | Body::Close => unreachable!("answered above"),
    };
    let mut head = head(reply, "application/json");
    let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    if seen.method != "HEAD" {
        for part in body.as_bytes().chunks(64 << 10) {
            stream.write_all(part)?;
            shared.body_bytes.fetch_add(part.len(), Ordering::SeqCst);
        }
    }
    Ok(true)
}

fn head(reply: &Reply, content_type: &str) -> String {
    let content_type = reply.content_type.as_deref().unwrap_or(content_type);
    let mut head = format!("HTTP/1.1 {} Scripted\r\ncontent-type: {content_type}\r\n", reply.status);
    if !reply.headers.iter().any(|(n, _)| n == "request-id") {
        head += "request-id: req_scripted\r\n";
    }
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head
}

fn error_body(chat: bool, reply: &Reply, kind: &str, message: &str) -> Value {
    let mut error = if chat {
        json!({"code": reply.status, "message": message, "type": kind})
    } else {
        json!({"type": kind, "message": message})
    };
    for (name, value) in reply.extra.as_object().into_iter().flatten() {
        error[name] = value.clone();
    }
    if chat { json!({ "error": error }) } else { json!({"type": "error", "error": error, "request_id": "req_body"}) }
}

fn stream_events(
    stream: &mut TcpStream,
    events: &[String],
    reply: &Reply,
    chat: bool,
    shared: &Shared,
) -> std::io::Result<bool> {
    let mut head = head(reply, "text/event-stream");
    head += "transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    let mut chunk = |text: &str| stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    let upto = match reply.end {
        End::Whole => events.len(),
        End::Cut(n) | End::Short(n) | End::Stall(n) | End::Error(n, _) | End::Alive(n, _) => n.min(events.len()),
    };
    for event in &events[..upto] {
        if let Some(pause) = reply.drip {
            shared.written.fetch_add(1, Ordering::SeqCst);
            shared.pause(pause);
        }
        chunk(event)?;
    }
    match &reply.end {
        End::Cut(_) => return Ok(false),
        End::Stall(_) => {
            stay(stream, shared);
            return Ok(false);
        }
        End::Alive(_, text) => {
            while !shared.stopped.load(Ordering::SeqCst) {
                chunk(text)?;
                shared.pause(Duration::from_millis(50));
            }
            return Ok(false);
        }
        End::Error(_, error) if chat => chunk(&format!("data: {}\n\n", json!({ "error": error })))?,
        End::Error(_, error) => {
            chunk(&format!("event: error\ndata: {}\n\n", json!({"type": "error", "error": error})))?;
        }
        End::Whole | End::Short(_) => {}
    }
    stream.write_all(b"0\r\n\r\n")?;
    Ok(true)
}

/// Keeps the connection open until the client closes it or the server stops.
fn stay(stream: &mut TcpStream, shared: &Shared) {
    shared.written.fetch_add(1, Ordering::SeqCst);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(50)));
    while !shared.stopped.load(Ordering::SeqCst) {
        match stream.read(&mut [0; 64]) {
            Ok(0) => return,
            Err(e) if !matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => return,
            _ => {}
        }
    }
}

impl Reply {
    pub(super) fn stop_reason(&self) -> Option<&str> {
        self.stop.as_deref()
    }

    pub(super) fn used(&self) -> Tokens {
        self.tokens
    }

    pub(super) fn written_usage(&self) -> Option<&Value> {
        self.usage.as_ref()
    }
}
