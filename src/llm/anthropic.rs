//! The Messages API: streaming, the Read loop, and a prefix that calls share so that it is paid for once.
//!
//! A call is one try: retries, budgets and the choice of another model are the caller's. The request is laid out as
//! tools, shared documents, exemplars, role, conversation, with a cache breakpoint behind each of the last four, so that
//! what many requests of a run have in common stands first and byte for byte alike.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::anthropic_stream::{Turn, read_turn};
use super::contract::{Answer, Asking, LlmError, Provider, Request};
use super::failure::{CallFailure, FailureKind};
use super::http::{Http, HttpSettings, SetupError, Tally, unless_cancelled};
use super::http_failure::excerpt;
use super::reading::{self, Loaded, Reading, marked};
use super::terms::Terms;
use crate::process::Cancel;

/// Who answers where the request names nobody.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-5";
/// Tokens that an answer may take where the request does not say.
const MAX_OUTPUT: u32 = 32_000;
/// Shared files stand in the prefix when all of them together are at most so large, in bytes.
const PREFIX_BYTES: u64 = 200_000;
const API_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// The Messages API as a provider.
#[derive(Debug)]
pub struct Anthropic {
    http: Http,
    /// Models that turned out not to take a schema.
    without_schema: Mutex<BTreeSet<String>>,
}

impl Anthropic {
    /// A server that speaks the Messages API. A server of one's own may need no key.
    pub fn new(settings: HttpSettings) -> Result<Self, SetupError> {
        Ok(Self { http: Http::new(settings, "messages")?, without_schema: Mutex::default() })
    }

    /// Whether the server is there and takes the key. No model is asked.
    pub async fn reach(&self) -> Result<(), CallFailure> {
        self.http.reach(self.headers()).await
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", API_VERSION);
        if let Some(key) = self.http.key().map(|key| key.header("")) {
            headers.insert("x-api-key", key);
        }
        headers
    }

    async fn serve(&self, request: &Request, terms: &Terms, cancel: &Cancel) -> Result<Answer, LlmError> {
        let mut reading = Reading::open(&request.workspace)?;
        let mut tally = Tally::default();
        let text = unless_cancelled(self.converse(request, terms, &mut reading, &mut tally), cancel).await?;
        let text = match text.and_then(|text| self.http.answer(text)) {
            Ok(text) => text,
            Err(failure) => return Err(tally.charge(failure, reading).into()),
        };
        let (reads, refused_reads) = reading.finish();
        Ok(Answer {
            text,
            reads,
            refused_reads: refused_reads.iter().map(|path| self.http.scrub(path)).collect(),
            usage: tally.usage,
            estimated: tally.estimated(),
            cost_usd: None,
            model: tally.model.map(|m| self.http.scrub(&m)).or_else(|| Some(model_of(request).to_owned())),
            stale: false,
            request_ids: tally.request_ids,
            stop_reason: tally.stop,
        })
    }

    /// Asks until the model has answered; what it reads in between is given to it.
    async fn converse(
        &self,
        request: &Request,
        terms: &Terms,
        reading: &mut Reading,
        tally: &mut Tally,
    ) -> Result<String, CallFailure> {
        let system = system(request, reading);
        let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": request.prompt}]})];
        let mut text = String::new();
        loop {
            let turn = self.turn(request, terms, (&system, &messages), tally).await?;
            tally.stopped(turn.stop.as_ref());
            text.push_str(&turn.text());
            let calls = turn.calls();
            let failed = |kind, what: &str| {
                Err(CallFailure { request_id: turn.request_id.clone(), ..CallFailure::new(kind, what) })
            };
            match turn.stop.as_deref() {
                Some("end_turn" | "stop_sequence") if calls.is_empty() && text.trim().is_empty() => {
                    return failed(FailureKind::Empty, "the model answered without a word");
                }
                Some("end_turn" | "stop_sequence") if calls.is_empty() => return Ok(text),
                Some("end_turn" | "stop_sequence" | "tool_use") if !calls.is_empty() => {
                    reading.begin_turn()?;
                    // What it says while it looks things up is not its answer.
                    text.clear();
                    let results: Vec<Value> = calls.iter().map(|call| call.answered(reading)).collect();
                    messages.push(turn.message());
                    messages.push(json!({"role": "user", "content": results}));
                }
                Some("pause_turn") => {
                    reading.begin_turn()?;
                    messages.push(turn.message());
                }
                Some("tool_use") => {
                    return failed(FailureKind::Malformed, "the model stopped for a tool and named none");
                }
                Some("max_tokens") => {
                    return failed(FailureKind::Truncated, "the answer reached the limit of tokens before its end");
                }
                Some("model_context_window_exceeded") => {
                    return failed(FailureKind::PromptTooLong, "request and answer together fill the model's context");
                }
                Some("refusal") => {
                    let why = turn.stop_details.as_deref().map_or(String::new(), |d| format!(": {}", excerpt(d)));
                    return failed(
                        FailureKind::Refusal,
                        &self.http.scrub(&format!("the model declines to answer{why}")),
                    );
                }
                other => {
                    let what =
                        format!("the model stopped for a reason that is not known ({})", other.unwrap_or("none"));
                    return failed(FailureKind::Malformed, &self.http.scrub(&excerpt(&what)));
                }
            }
        }
    }

    /// One request. A model that takes no schema is asked again without.
    async fn turn(
        &self,
        request: &Request,
        terms: &Terms,
        (system, messages): (&[Value], &[Value]),
        tally: &mut Tally,
    ) -> Result<Turn, CallFailure> {
        let model = model_of(request);
        let known = self.without_schema.lock().unwrap_or_else(PoisonError::into_inner).contains(model);
        let schema = request.schema.as_ref().filter(|_| !known);
        let first = self.send(&body(request, system, messages, schema), terms, tally).await;
        match first {
            Err(failure) if schema.is_some() && refuses_schema(&failure) => {
                self.without_schema.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned());
                terms.leave_out("the JSON schema of the answer", &failure);
                self.send(&body(request, system, messages, None), terms, tally).await
            }
            other => other,
        }
    }

    async fn send(&self, body: &Value, terms: &Terms, tally: &mut Tally) -> Result<Turn, CallFailure> {
        let tokens = tally.begin(body, terms)?;
        let posted = self.http.post(self.headers(), body, tally).await;
        let mut events = posted.inspect_err(|failure| tally.end(None, tokens, 0, Some(failure)))?;
        let mut turn = Turn { request_id: events.request_id.clone(), ..Turn::default() };
        let read = read_turn(&mut events, &mut turn).await;
        tally.add(turn.usage(), turn.model.as_ref());
        tally.end(turn.usage(), tokens, turn.text().len(), read.as_ref().err());
        read?;
        // Only where another turn follows: an answer that is complete is not kept waiting, nor lost to a signal.
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

    fn ask<'a>(&'a self, request: &'a Request, cancel: &'a Cancel) -> Asking<'a> {
        Box::pin(async move { self.serve(request, &Terms::default(), cancel).await })
    }

    fn ask_under<'a>(&'a self, request: &'a Request, terms: &'a Terms, cancel: &'a Cancel) -> Asking<'a> {
        Box::pin(self.serve(request, terms, cancel))
    }
}

fn model_of(request: &Request) -> &str {
    request.choice.model.as_deref().unwrap_or(DEFAULT_MODEL)
}

fn refuses_schema(failure: &CallFailure) -> bool {
    let message = failure.message.to_ascii_lowercase();
    failure.status == Some(400)
        && failure.kind == FailureKind::BadRequest
        && ["output_config", "output_format", "schema", "structured output"].iter().any(|word| message.contains(word))
}

fn cached(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

/// The blocks that stand before the conversation: shared documents, exemplars, role.
fn system(request: &Request, reading: &mut Reading) -> Vec<Value> {
    let files = shared_files(request, reading).unwrap_or_default();
    let (exemplars, documents): (Vec<Loaded>, Vec<Loaded>) =
        files.into_iter().partition(|file| file.path.starts_with("exemplars/"));
    let mut blocks = Vec::new();
    for group in [documents, exemplars].iter().filter(|group| !group.is_empty()) {
        for file in group {
            reading.put_before(file);
        }
        blocks.push(cached(json!({"type": "text", "text": marked(group)})));
    }
    if !request.role.trim().is_empty() {
        blocks.push(cached(json!({"type": "text", "text": request.role})));
    }
    blocks
}

/// The files that many requests share; `None` where they are too large together or one of them cannot be shown.
fn shared_files(request: &Request, reading: &Reading) -> Option<Vec<Loaded>> {
    let mut room = PREFIX_BYTES;
    let mut files = Vec::new();
    for offered in request.offered.iter().filter(|o| o.shared) {
        let file = reading.load(&offered.path, room)?;
        room -= file.text.len() as u64;
        files.push(file);
    }
    Some(files)
}

fn body(request: &Request, system: &[Value], messages: &[Value], schema: Option<&Value>) -> Value {
    let mut messages = messages.to_vec();
    // Each turn may read what the turn before has written. What a model wrote itself is not marked.
    if let Some(message) = messages.last_mut().filter(|m| m["role"] == "user")
        && let Some(block) = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut())
    {
        *block = cached(block.take());
    }
    let mut body = json!({
        "model": model_of(request),
        "max_tokens": request.choice.max_output.map_or(MAX_OUTPUT, NonZeroU32::get),
        "stream": true,
        "tools": [{
            "name": reading::TOOL, "description": reading::DESCRIPTION, "input_schema": reading::input_schema(),
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
