//! JSON-RPC lines on standard input and output. Unlike the transport of `rmcp`, it answers a line that is no message with an
//! error, and a notification before the first request does not end the server.
//!
//! Two threads read and write, so that a pending read does not keep the process from ending.

use std::io::{self, BufRead, Write};
use std::thread::Builder;

use rmcp::RoleServer;
use rmcp::model::ClientRequest;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::cli::secrets::hide_secrets;

/// Longest line from the client, in bytes. An answer to a request has at most 8 MiB, which JSON can double.
const MAX_LINE: usize = 20 << 20;
/// The methods with parameters.
const METHODS: [&str; 9] = [
    "initialize",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tasks/get",
    "tasks/cancel",
    "tasks/update",
];
/// Lines that wait in each direction.
const QUEUE: usize = 64;

type Written = oneshot::Sender<io::Result<()>>;

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

pub(super) struct StdioTransport {
    lines: mpsc::Receiver<Line>,
    outgoing: mpsc::Sender<(Vec<u8>, Option<Written>)>,
    /// The answer to a line that is no message, until the queue has room for it. `receive` can be cancelled meanwhile.
    pending_error: Option<Value>,
    has_begun: bool,
}

impl StdioTransport {
    pub(super) fn start() -> io::Result<Self> {
        let (sender, lines) = mpsc::channel(QUEUE);
        let (outgoing, receiver) = mpsc::channel(QUEUE);
        Builder::new().name("mcp-input".to_owned()).spawn(move || read_lines(&mut io::stdin().lock(), &sender))?;
        Builder::new().name("mcp-output".to_owned()).spawn(move || write_lines(receiver))?;
        Ok(Self { lines, outgoing, pending_error: None, has_begun: false })
    }

    /// The message on a line; `None` if it is to be ignored.
    fn parse(&mut self, line: Line) -> Option<RxJsonRpcMessage<RoleServer>> {
        let Line::Whole(line) = line else {
            let what = format!("the line is longer than {} MiB", MAX_LINE >> 20);
            self.pending_error = Some(error(-32600, &what, &Value::Null));
            return None;
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let object: Value = match serde_json::from_slice(&line) {
            Ok(object) => object,
            Err(e) => {
                self.pending_error = Some(error(-32700, &format!("the line is not JSON: {e}"), &Value::Null));
                return None;
            }
        };
        let id = object["id"].clone();
        let is_notification = object.is_object() && id.is_null() && object["method"].is_string();
        // A notification before the first request other than `ping` would end the server.
        match serde_json::from_value(object) {
            Ok(RxJsonRpcMessage::<RoleServer>::Request(request)) => {
                if let ClientRequest::CustomRequest(other) = &request.request
                    && METHODS.contains(&other.method.as_str())
                {
                    // rmcp would say that there is no such method.
                    let what = format!("the parameters of {} do not match the protocol", other.method);
                    self.pending_error = Some(error(-32602, &what, &id));
                    return None;
                }
                self.has_begun |= !matches!(request.request, ClientRequest::PingRequest(_));
                Some(RxJsonRpcMessage::<RoleServer>::Request(request))
            }
            Ok(message) => self.has_begun.then_some(message),
            Err(_) if is_notification => None,
            Err(e) => {
                self.pending_error = Some(error(-32600, &format!("this is no request of the protocol: {e}"), &id));
                None
            }
        }
    }
}

fn error(code: i32, message: &str, id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let (written, result) = oneshot::channel();
            let line = serde_json::to_vec(&message)?;
            outgoing.send((line, Some(written))).await.map_err(|_| closed())?;
            result.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.pending_error.is_some() {
                let room = self.outgoing.reserve().await.ok()?;
                let line = self.pending_error.take().unwrap_or_default().to_string();
                room.send((line.into_bytes(), None));
            }
            let line = self.lines.recv().await?;
            if let Some(message) = self.parse(line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.lines.close();
        Ok(())
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client does not read any more")
}

/// Sends each line until the input ends or the server does. The rest of a line that is too long is skipped.
fn read_lines(input: &mut impl BufRead, lines: &mpsc::Sender<Line>) {
    let mut line = Vec::new();
    let mut is_skipping = false;
    while let Ok(available) = input.fill_buf() {
        if available.is_empty() {
            // The last line may have no end.
            if !line.is_empty() && !is_skipping {
                let _ = lines.blocking_send(Line::Whole(line));
            }
            return;
        }
        let end = memchr::memchr(b'\n', available);
        let taken = end.map_or(available.len(), |end| end + 1);
        if !is_skipping {
            line.extend_from_slice(&available[..taken]);
        }
        input.consume(taken);
        let is_too_long = line.len() > MAX_LINE;
        if is_too_long {
            line = Vec::new();
            is_skipping = true;
        }
        let next = match end {
            _ if is_too_long => Some(Line::TooLong),
            Some(_) if !is_skipping => Some(Line::Whole(std::mem::take(&mut line))),
            _ => None,
        };
        is_skipping &= end.is_none();
        if next.is_some_and(|next| lines.blocking_send(next).is_err()) {
            return;
        }
    }
}

fn write_lines(mut lines: mpsc::Receiver<(Vec<u8>, Option<Written>)>) {
    let mut output = io::stdout().lock();
    while let Some((line, written)) = lines.blocking_recv() {
        let line = hide_secrets(&String::from_utf8_lossy(&line));
        let result =
            output.write_all(line.as_bytes()).and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush());
        let is_closed = result.is_err();
        if let Some(written) = written {
            let _ = written.send(result);
        }
        if is_closed {
            return;
        }
    }
}
