//! The Messages API: streaming, the conversation with the Read tool, and a cached prefix that many requests share.
//!
//! A call is one try; the caller decides on retries, budgets and another model. A request consists of tools, shared
//! documents, exemplars, role and conversation, in this order, with a cache breakpoint after each of the last four (the
//! API allows four). The cache matches byte for byte from the start, so the parts that most requests share come first.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::anthropic_stream::{Turn, read_turn};
use super::call_state::CallState;
use super::failure::{CallFailure, FailureKind};
use super::http::{CallTally, HttpClient, HttpSettings, SetupError, unless_cancelled};
use super::http_failure::excerpt;
use super::provider::{Answer, AnswerFuture, LlmError, Provider, Request};
use super::read_tool::{self, LoadedFile, ReadTool, render_files};
use super::secret::Secret;
use tlaforge_process::Cancel;

/// The model that answers if the request names none.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-5";
/// Limit of output tokens if the request sets none: the API requires one. Claude Code sends the same (measured).
const MAX_OUTPUT: u32 = 32_000;
/// Largest total size of shared files in the prefix, in bytes (about 50,000 tokens). Larger ones are left for the Read tool.
const MAX_PREFIX_BYTES: u64 = 200_000;
const API_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// The Messages API as a provider.
#[derive(Debug)]
pub struct Anthropic {
    http: HttpClient,
    /// Models that rejected a schema.
    without_schema: Mutex<BTreeSet<String>>,
}

impl Anthropic {
    /// A server with the Messages API. A local server may need no key.
    pub fn new(settings: HttpSettings) -> Result<Self, SetupError> {
        Ok(Self { http: HttpClient::new(settings, "messages")?, without_schema: Mutex::default() })
    }

    /// Checks that the server is there and accepts the key. Costs no tokens.
    pub async fn check_access(&self) -> Result<(), CallFailure> {
        self.http.check_access(self.headers()).await
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", API_VERSION);
        if let Some(key) = self.http.key().map(|key| key.header("")) {
            headers.insert("x-api-key", key);
        }
        headers
    }

    async fn serve(&self, request: &Request, state: &CallState, cancel: &Cancel) -> Result<Answer, LlmError> {
        let mut read_tool = ReadTool::open(&request.workspace)?;
        let mut tally = CallTally::default();
        let text = unless_cancelled(self.converse(request, state, &mut read_tool, &mut tally), cancel).await?;
        let text = match text.and_then(|text| self.http.check_answer(text)) {
            Ok(text) => text,
            Err(failure) => return Err(tally.add_to_failure(failure, read_tool).into()),
        };
        let (reads, refused_reads) = read_tool.finish();
        Ok(Answer {
            text,
            reads,
            refused_reads: refused_reads.iter().map(|path| self.http.redact(path)).collect(),
            usage: tally.usage,
            estimated: tally.estimated(),
            cost_usd: None,
            model: tally.model.map(|m| self.http.redact(&m)).or_else(|| Some(model_of(request).to_owned())),
            stale: false,
            changed_documents: Vec::new(),
            request_ids: tally.request_ids,
            stop_reason: tally.stop_reason,
        })
    }

    /// Asks, and executes tool calls, until the model has answered.
    async fn converse(
        &self,
        request: &Request,
        state: &CallState,
        read_tool: &mut ReadTool,
        tally: &mut CallTally,
    ) -> Result<String, CallFailure> {
        let system = system_blocks(request, read_tool);
        let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": request.prompt}]})];
        let mut text = String::new();
        loop {
            let turn = self.turn(request, state, (&system, &messages), tally).await?;
            tally.set_stop_reason(turn.stop.as_ref());
            // The text of several turns adds up: after `pause_turn` the next turn continues the same answer.
            text.push_str(&turn.text());
            let calls = turn.calls();
            let failed = |kind, what: &str| {
                Err(CallFailure { request_id: turn.request_id.clone(), ..CallFailure::new(kind, what) })
            };
            // The blocks decide about tool calls, not the stop reason: the API rejects a conversation in which a
            // `tool_use` block has no result.
            match turn.stop.as_deref() {
                Some("end_turn" | "stop_sequence") if calls.is_empty() && text.trim().is_empty() => {
                    return failed(FailureKind::Empty, "the answer of the model has no text");
                }
                Some("end_turn" | "stop_sequence") if calls.is_empty() => return Ok(text),
                Some("end_turn" | "stop_sequence" | "tool_use") if !calls.is_empty() => {
                    read_tool.begin_turn()?;
                    // Text before a tool call is not the answer.
                    text.clear();
                    let results: Vec<Value> = calls.iter().map(|call| call.execute(read_tool)).collect();
                    messages.push(turn.message());
                    // One message with the results of all calls, and no text after them: the API documents that text
                    // there makes the model end its next turn without an answer.
                    messages.push(json!({"role": "user", "content": results}));
                }
                // The server interrupted a long turn; the same conversation, sent again, continues it. It counts as a
                // turn, so that a server that pauses without end is given up.
                Some("pause_turn") => {
                    read_tool.begin_turn()?;
                    messages.push(turn.message());
                }
                Some("tool_use") => {
                    return failed(FailureKind::Malformed, "the model stopped to call a tool but named none");
                }
                Some("max_tokens") => {
                    return failed(FailureKind::Truncated, "the answer was cut off at the limit of output tokens");
                }
                Some("model_context_window_exceeded") => {
                    return failed(
                        FailureKind::PromptTooLong,
                        "request and answer together exceed the model's context",
                    );
                }
                Some("refusal") => {
                    let why = turn.stop_details.as_deref().map_or(String::new(), |d| format!(": {}", excerpt(d)));
                    return failed(
                        FailureKind::Refusal,
                        &self.http.redact(&format!("the model refused to answer{why}")),
                    );
                }
                // A stop reason that we do not know may mean that the answer is incomplete, so its text is not used.
                other => {
                    let what = format!("the model stopped for an unknown reason ({})", other.unwrap_or("none"));
                    return failed(FailureKind::Malformed, &self.http.redact(&excerpt(&what)));
                }
            }
        }
    }

    /// Sends one request. A model that rejects the schema is asked again without it.
    async fn turn(
        &self,
        request: &Request,
        state: &CallState,
        (system, messages): (&[Value], &[Value]),
        tally: &mut CallTally,
    ) -> Result<Turn, CallFailure> {
        let model = model_of(request);
        // Remembered for the life of the process and by model: one server has models with and without structured
        // outputs, and each rejected request costs time.
        let known = self.without_schema.lock().unwrap_or_else(PoisonError::into_inner).contains(model);
        let schema = request.schema.as_ref().filter(|_| !known);
        let first = self.send(&body(request, system, messages, schema), state, tally).await;
        match first {
            Err(failure) if schema.is_some() && rejects_schema(&failure) => {
                self.without_schema.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned());
                state.leave_out("the JSON schema of the answer", &failure);
                self.send(&body(request, system, messages, None), state, tally).await
            }
            other => other,
        }
    }

    async fn send(&self, body: &Value, state: &CallState, tally: &mut CallTally) -> Result<Turn, CallFailure> {
        let tokens = tally.begin_request(body, state).await?;
        let posted = self.http.post(self.headers(), body, tally).await;
        let mut events = posted.inspect_err(|failure| tally.end_request(None, tokens, 0, Some(failure)))?;
        let mut turn = Turn { request_id: events.request_id.clone(), ..Turn::default() };
        let read = read_turn(&mut events, &mut turn).await;
        // Before `read?`: what arrived before a stream broke is billed as well.
        tally.add_usage(turn.usage(), turn.model.as_ref());
        tally.end_request(turn.usage(), tokens, turn.text().len(), read.as_ref().err());
        read?;
        // Only before another turn. Waiting would delay a complete answer, and a signal could then lose it.
        if !turn.calls().is_empty() {
            events.finish().await;
        }
        Ok(turn)
    }
}

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn key_fingerprint(&self) -> Option<String> {
        self.http.key().map(Secret::fingerprint)
    }

    fn ask<'a>(&'a self, request: &'a Request, cancel: &'a Cancel) -> AnswerFuture<'a> {
        Box::pin(async move { self.serve(request, &CallState::default(), cancel).await })
    }

    fn ask_with<'a>(&'a self, request: &'a Request, state: &'a CallState, cancel: &'a Cancel) -> AnswerFuture<'a> {
        Box::pin(self.serve(request, state, cancel))
    }
}

fn model_of(request: &Request) -> &str {
    request.choice.model.as_deref().unwrap_or(DEFAULT_MODEL)
}

fn rejects_schema(failure: &CallFailure) -> bool {
    let message = failure.message.to_ascii_lowercase();
    failure.status == Some(400)
        && failure.kind == FailureKind::BadRequest
        && ["output_config", "output_format", "schema", "structured output"].iter().any(|word| message.contains(word))
}

fn with_cache_breakpoint(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

/// The system blocks before the conversation: shared documents, exemplars, role.
fn system_blocks(request: &Request, read_tool: &mut ReadTool) -> Vec<Value> {
    let files = shared_files(request, read_tool).unwrap_or_default();
    let (exemplars, documents): (Vec<LoadedFile>, Vec<LoadedFile>) =
        files.into_iter().partition(|file| file.path.starts_with("exemplars/"));
    let mut blocks = Vec::new();
    // Documents come first, because more requests offer documents than exemplars, and the cache finds only identical
    // beginnings.
    for group in [documents, exemplars].iter().filter(|group| !group.is_empty()) {
        for file in group {
            read_tool.record_shown(file);
        }
        blocks.push(with_cache_breakpoint(json!({"type": "text", "text": render_files(group)})));
    }
    // The API rejects an empty text block.
    if !request.role.trim().is_empty() {
        blocks.push(with_cache_breakpoint(json!({"type": "text", "text": request.role})));
    }
    blocks
}

/// The files that many requests share; `None` if they are too large together or one of them is not text.
fn shared_files(request: &Request, read_tool: &ReadTool) -> Option<Vec<LoadedFile>> {
    let mut room = MAX_PREFIX_BYTES;
    let mut files = Vec::new();
    for offered in request.offered.iter().filter(|o| o.shared) {
        let file = read_tool.load(&offered.path, room)?;
        room -= file.text.len() as u64;
        files.push(file);
    }
    Some(files)
}

fn body(request: &Request, system: &[Value], messages: &[Value], schema: Option<&Value>) -> Value {
    let mut messages = messages.to_vec();
    // Each turn can read the cache entry that the turn before has written. Only our own messages get a breakpoint: the
    // model's must be sent back unchanged.
    if let Some(message) = messages.last_mut().filter(|m| m["role"] == "user")
        && let Some(block) = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut())
    {
        *block = with_cache_breakpoint(block.take());
    }
    // The tool is part of every request, also if no file is offered: tools are the beginning of the cached prefix.
    let mut body = json!({
        "model": model_of(request),
        "max_tokens": request.choice.max_output.map_or(MAX_OUTPUT, NonZeroU32::get),
        "stream": true,
        "tools": [{
            "name": read_tool::TOOL, "description": read_tool::DESCRIPTION, "input_schema": read_tool::input_schema(),
        }],
    });
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    body["messages"] = Value::Array(messages);
    if let Some(temperature) = request.choice.temperature {
        body["temperature"] = json!(temperature);
    }
    let mut output = serde_json::Map::new();
    if let Some(effort) = &request.choice.effort {
        output.insert("effort".into(), json!(effort));
    }
    if let Some(schema) = schema {
        output.insert("format".into(), json!({"type": "json_schema", "schema": schema}));
    }
    if !output.is_empty() {
        body["output_config"] = Value::Object(output);
    }
    body
}
