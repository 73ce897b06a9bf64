//! A client of `tlaforge mcp`: writes lines of JSON-RPC and reads the answers, as any client does.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::support::Bench;
use serde_json::{Value, json};

pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    /// What it answers to `roots/list` and `elicitation/create`.
    pub roots: Vec<String>,
    pub elicited: Value,
    /// Requests and notifications of the server.
    pub received: VecDeque<Value>,
}

impl Client {
    /// Starts the server in the folder of the bench, without a handshake.
    pub(super) fn raw(bench: &Bench, flags: &[&str]) -> Self {
        let mut command = bench.command(&[&["mcp"], flags].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let (roots, received) = (Vec::new(), VecDeque::new());
        Self { child, input, output, next_id: 0, roots, elicited: Value::Null, received }
    }

    /// With these capabilities of the client.
    pub(super) fn with(bench: &Bench, flags: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::raw(bench, flags);
        let who = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": who });
        let answer = client.request("initialize", &hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "tlaforge", "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// That may read and write the folder of the bench.
    pub(super) fn start(bench: &Bench) -> Self {
        Self::with(bench, &["--allow", "."], &json!({}))
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    pub(super) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// The next message of the server.
    pub(super) fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// Sends a request without waiting for its answer.
    pub(super) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request; answers the server's own requests meanwhile.
    pub(super) fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            let result = match message["method"].as_str() {
                Some("roots/list") => {
                    let roots: Vec<Value> = self.roots.iter().map(|uri| json!({ "uri": uri })).collect();
                    Some(json!({ "roots": roots }))
                }
                Some("elicitation/create") => Some(self.elicited.clone()),
                _ => None,
            };
            if let Some(result) = result {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            }
            self.received.push_back(message);
        }
    }

    pub(super) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer_to(id)
    }

    /// The whole answer to a call.
    pub(super) fn call_raw(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The data of a call that succeeds.
    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.call_raw(tool, arguments);
        assert_eq!(answer["result"]["isError"], false, "{tool}: {answer}");
        let said = text(&answer);
        assert!(!said.is_empty() && said.len() < 25_000, "{tool}: {answer}");
        let data = answer["result"]["structuredContent"].clone();
        if data.is_null() {
            // A text to be read; some clients would show their model only the data.
            let mut about = answer["result"]["_meta"]["tlaforge"].clone();
            about["text"] = json!(said);
            return about;
        }
        assert!(data.to_string().len() < 12_500, "{tool}: {} bytes", data.to_string().len());
        assert_eq!(data["message"], said, "{tool}: {answer}");
        data
    }

    /// The message of a call that fails.
    #[track_caller]
    pub(super) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call_raw(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{tool} {arguments:.200}: {answer:.900}");
        text(&answer)
    }

    /// The text of a resource.
    #[track_caller]
    pub(super) fn read(&mut self, uri: &str) -> String {
        let answer = self.request("resources/read", &json!({ "uri": uri }));
        answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{uri}: {answer}")).to_owned()
    }

    /// Kills the server with SIGKILL.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its input, and returns the status with which it ends.
    pub(super) fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }

    /// Waits for its end, and returns its status.
    pub(super) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first text of an answer.
pub(super) fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}
