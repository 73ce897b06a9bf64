//! The chat completions API of many servers: streaming, with the Read tool if the server supports tools, otherwise with
//! the files inside the request.
//!
//! Such servers differ in the parts of a request that they support. A part that a server rejects is left out from then on:
//! tools, the JSON schema, token counts, the old name of the output limit.

use std::sync::{Mutex, PoisonError};

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};

use super::call_state::CallState;
use super::failure::{CallFailure, FailureKind};
use super::http::{CallTally, HttpClient, HttpSettings, SetupError, unless_cancelled};
use super::http_failure::excerpt;
use super::openai_stream::{Turn, read_turn};
use super::provider::{Answer, AnswerFuture, LlmError, Provider, Request};
use super::read_tool::{self, LoadedFile, ReadTool, render_files};
use super::secret::Secret;
use tlaforge_process::Cancel;

/// Largest file that is put into a request, in bytes.
const MAX_INLINE_BYTES: u64 = 4 << 20;
/// Bytes per token, for the check against the context. It is lower than the average for budgets, because specifications
/// have more tokens per byte than prose and a request that is too long fails.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens reserved for the answer if the request sets no limit.
const ANSWER_RESERVE: u64 = 4_000;

/// Known capabilities of a server. `None` means unknown: the provider finds out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAiSettings {
    /// Whether it supports tools, which spares the first request that it would reject.
    pub tools: Option<bool>,
    /// The model's context: input and output tokens together.
    pub context_tokens: Option<u64>,
}

/// The parts of a request that are sent to the server, until it rejects them.
#[derive(Debug, Clone, Copy)]
struct Capabilities {
    tools: bool,
    schema: bool,
    usage: bool,
    /// The output limit is named `max_completion_tokens` instead of `max_tokens`.
    completion_limit: bool,
}

/// Chat completions as a provider.
#[derive(Debug)]
pub struct OpenAi {
    http: HttpClient,
    context_tokens: Option<u64>,
    capabilities: Mutex<Capabilities>,
}

impl OpenAi {
    /// A server with the chat completions API. The key is optional.
    pub fn new(http: HttpSettings, settings: OpenAiSettings) -> Result<Self, SetupError> {
        let capabilities =
            Capabilities { tools: settings.tools.unwrap_or(true), schema: true, usage: true, completion_limit: false };
        let http = HttpClient::new(http, "chat/completions")?;
        Ok(Self { http, context_tokens: settings.context_tokens, capabilities: Mutex::new(capabilities) })
    }

    /// Checks that the server is there and accepts the key. Costs no tokens.
    pub async fn check_access(&self) -> Result<(), CallFailure> {
        self.http.check_access(self.headers()).await
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(key) = self.http.key() {
            headers.insert(AUTHORIZATION, key.header("Bearer "));
        }
        headers
    }

    async fn serve(&self, request: &Request, state: &CallState, cancel: &Cancel) -> Result<Answer, LlmError> {
        let mut read_tool = ReadTool::open(&request.workspace)?;
        let mut tally = CallTally::default();
        let text = unless_cancelled(self.ask_model(request, state, &mut read_tool, &mut tally), cancel).await?;
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
            model: tally.model.map(|m| self.http.redact(&m)).or_else(|| request.choice.model.clone()),
            stale: false,
            changed_documents: Vec::new(),
            request_ids: tally.request_ids,
            stop_reason: tally.stop_reason,
        })
    }

    async fn ask_model(
        &self,
        request: &Request,
        state: &CallState,
        read_tool: &mut ReadTool,
        tally: &mut CallTally,
    ) -> Result<String, CallFailure> {
        let Some(model) = &request.choice.model else {
            return Err(CallFailure::new(FailureKind::ModelNotFound, "no model is set"));
        };
        if self.capabilities().tools {
            match self.converse(request, state, (model, &request.prompt), read_tool, tally).await {
                // `turn` has just learned that the server supports no tools.
                Err(failure) if !self.capabilities().tools && rejects(&failure, &TOOL_WORDS) => {}
                other => return other,
            }
            // A new conversation, in which the model has seen nothing.
            read_tool.reset();
        }
        let files = self.load_files(request, read_tool)?;
        for file in &files {
            read_tool.record_shown(file);
        }
        let prompt = format!("{}\n\n{}", render_files(&files), request.prompt);
        self.converse(request, state, (model, &prompt), read_tool, tally).await
    }

    /// Loads all files of a request, if they fit into the context.
    fn load_files(&self, request: &Request, read_tool: &ReadTool) -> Result<Vec<LoadedFile>, CallFailure> {
        let too_long = |what: String| CallFailure::new(FailureKind::PromptTooLong, what);
        let mut files = Vec::new();
        for offered in &request.offered {
            files.push(read_tool.load(&offered.path, MAX_INLINE_BYTES).ok_or_else(|| {
                let (path, bytes) = (&offered.path, offered.bytes);
                too_long(format!(
                    "the server supports no tools, and {path} ({bytes} bytes) cannot be part of a request"
                ))
            })?);
        }
        if let Some(context) = self.context_tokens {
            let bytes: usize =
                files.iter().map(|f| f.text.len()).sum::<usize>() + request.role.len() + request.prompt.len();
            let tokens = bytes as u64 / BYTES_PER_TOKEN;
            let answer = request.choice.max_output.map_or(ANSWER_RESERVE, |tokens| tokens.get().into());
            if tokens + answer > context {
                return Err(too_long(format!(
                    "the server supports no tools, so {} files must be part of the request; that is {bytes} bytes, about \
                     {tokens} tokens, with {answer} more for the answer, and the context has {context}",
                    files.len()
                )));
            }
        }
        Ok(files)
    }

    async fn converse(
        &self,
        request: &Request,
        state: &CallState,
        (model, prompt): (&str, &str),
        read_tool: &mut ReadTool,
        tally: &mut CallTally,
    ) -> Result<String, CallFailure> {
        let mut messages = Vec::new();
        if !request.role.trim().is_empty() {
            messages.push(json!({"role": "system", "content": request.role}));
        }
        messages.push(json!({"role": "user", "content": prompt}));
        loop {
            let turn = self.turn(request, state, (model, &messages), tally).await?;
            tally.set_stop_reason(turn.finish.as_ref());
            let failed = |kind, what: &str| {
                let message = self.http.redact(what);
                Err(CallFailure { request_id: turn.request_id.clone(), ..CallFailure::new(kind, message) })
            };
            match turn.finish.as_deref() {
                Some("length") => {
                    return failed(FailureKind::Truncated, "the answer was cut off at the limit of output tokens");
                }
                Some("content_filter") => {
                    return failed(FailureKind::Refusal, "a filter of the server stopped the answer");
                }
                Some("stop" | "tool_calls" | "function_call" | "eos") => {}
                other => {
                    let what = format!("the model stopped for an unknown reason ({})", other.unwrap_or("none"));
                    return failed(FailureKind::Malformed, &excerpt(&what));
                }
            }
            if !turn.calls.is_empty() {
                read_tool.begin_turn()?;
                messages.push(turn.message());
                messages.extend(turn.calls.iter().map(|call| call.execute(read_tool)));
            } else if !turn.text.trim().is_empty() {
                return Ok(turn.text);
            } else if turn.refusal.trim().is_empty() {
                return failed(FailureKind::Empty, "the answer of the model has no text");
            } else {
                let what = format!("the model refused to answer: {}", excerpt(&turn.refusal));
                return failed(FailureKind::Refusal, &what);
            }
        }
    }

    /// Sends one request. If the server rejects a part that can be left out, sends it again without that part.
    async fn turn(
        &self,
        request: &Request,
        state: &CallState,
        (model, messages): (&str, &[Value]),
        tally: &mut CallTally,
    ) -> Result<Turn, CallFailure> {
        loop {
            let capabilities = self.capabilities();
            let has_schema = capabilities.schema && request.schema.is_some();
            let failure = match self.send(&body(request, model, messages, capabilities), state, tally).await {
                // Only a server's own refusal says that it lacks a part; a broken connection does not.
                Err(failure) if failure.status.is_some() || (has_schema && is_schema_failure(&failure)) => failure,
                other => return other,
            };
            let mut reduced = capabilities;
            if has_schema && (rejects(&failure, &SCHEMA_WORDS) || is_schema_failure(&failure)) {
                reduced.schema = false;
                state.leave_out("the JSON schema of the answer", &failure);
            } else if capabilities.usage && rejects(&failure, &["stream_options", "include_usage"]) {
                reduced.usage = false;
                state.leave_out("the counts of tokens", &failure);
            } else if !capabilities.completion_limit && rejects(&failure, &["max_completion_tokens"]) {
                // OpenAI's newer models reject `max_tokens`, and most other servers know only that name.
                reduced.completion_limit = true;
                state.leave_out("`max_tokens` (replaced by `max_completion_tokens`)", &failure);
            } else {
                if capabilities.tools && rejects(&failure, &TOOL_WORDS) {
                    // The caller starts a new conversation, with the files inside the request.
                    reduced.tools = false;
                    state.leave_out("tools (the files are part of the request instead)", &failure);
                    self.set_capabilities(reduced);
                }
                return Err(failure);
            }
            self.set_capabilities(reduced);
        }
    }

    fn capabilities(&self) -> Capabilities {
        *self.capabilities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_capabilities(&self, capabilities: Capabilities) {
        *self.capabilities.lock().unwrap_or_else(PoisonError::into_inner) = capabilities;
    }

    async fn send(&self, body: &Value, state: &CallState, tally: &mut CallTally) -> Result<Turn, CallFailure> {
        let tokens = tally.begin_request(body, state).await?;
        let posted = self.http.post(self.headers(), body, tally).await;
        let mut events = posted.inspect_err(|failure| tally.end_request(None, tokens, 0, Some(failure)))?;
        let mut turn = Turn { request_id: events.request_id.clone(), ..Turn::default() };
        let read = read_turn(&mut events, &mut turn).await;
        tally.add_usage(turn.usage, turn.model.as_ref());
        tally.end_request(turn.usage, tokens, turn.text.len(), read.as_ref().err());
        read?;
        // Only before another turn. Waiting would delay a complete answer, and a signal could then lose it.
        if !turn.calls.is_empty() {
            events.finish().await;
        }
        Ok(turn)
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
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

/// Words in messages of servers that reject tools.
const TOOL_WORDS: [&str; 2] = ["tool", "function call"];
/// Whether the server broke an answer off because it violates the schema. llama.cpp accepts a schema together with tools
/// and then fails in this way.
fn is_schema_failure(failure: &CallFailure) -> bool {
    failure.message.contains("does not match the expected") && failure.message.contains("format")
}

/// Words in messages of servers that reject a schema.
const SCHEMA_WORDS: [&str; 5] = ["response_format", "json_schema", "grammar", "schema", "structured output"];

/// Whether the server rejects a part of the request, by the words in its message.
fn rejects(failure: &CallFailure, words: &[&str]) -> bool {
    let kinds = [FailureKind::BadRequest, FailureKind::ModelNotFound, FailureKind::Server];
    let message = failure.message.to_ascii_lowercase();
    // A server that fails inside a tool call has not rejected tools.
    let is_explicit = failure.status != Some(500) || ["support", "require"].iter().any(|word| message.contains(word));
    is_explicit
        && matches!(failure.status, Some(400 | 404 | 405 | 415 | 422 | 500 | 501))
        && kinds.contains(&failure.kind)
        && words.iter().any(|word| message.contains(word))
}

/// The schema in the form that strict servers require: every field of an object is required. Optional fields can be empty
/// or null instead, which reads the same.
fn strict_schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    require_all_fields(&mut schema);
    schema
}

fn require_all_fields(schema: &mut Value) {
    if let Some(names) =
        schema.get("properties").and_then(Value::as_object).map(|p| p.keys().cloned().collect::<Vec<_>>())
    {
        schema["required"] = json!(names);
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(require_all_fields),
        Value::Array(items) => items.iter_mut().for_each(require_all_fields),
        _ => {}
    }
}

fn body(request: &Request, model: &str, messages: &[Value], capabilities: Capabilities) -> Value {
    let mut body = json!({"model": model, "stream": true, "messages": messages});
    // In a stream, usage is reported only on request.
    if capabilities.usage {
        body["stream_options"] = json!({"include_usage": true});
    }
    if capabilities.tools {
        body["tools"] = json!([{"type": "function", "function": {
            "name": read_tool::TOOL, "description": read_tool::DESCRIPTION, "parameters": read_tool::input_schema(),
        }}]);
    }
    if let Some(schema) = request.schema.as_ref().filter(|_| capabilities.schema) {
        body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": strict_schema(schema)}});
    }
    if let Some(limit) = request.choice.max_output {
        body[if capabilities.completion_limit { "max_completion_tokens" } else { "max_tokens" }] = json!(limit);
    }
    if let Some(temperature) = request.choice.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(effort) = &request.choice.effort {
        body["reasoning_effort"] = json!(effort);
    }
    body
}
