//! Any server that speaks chat completions: streaming, with the Read tool where the server has tools, else with
//! the files inside the request.
//!
//! Such servers differ in what they take. What one refuses is left out from then on: tools, the JSON schema, the counts of
//! tokens, the old name of the limit of an answer.

use std::sync::{Mutex, PoisonError};

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};

use super::contract::{Answer, Asking, LlmError, Provider, Request};
use super::failure::{CallFailure, FailureKind};
use super::http::{Http, HttpSettings, SetupError, Tally, unless_cancelled};
use super::http_failure::excerpt;
use super::openai_stream::{Turn, read_turn};
use super::reading::{self, Loaded, Reading, marked};
use super::terms::Terms;
use crate::process::Cancel;

/// Bytes of one file that is put into a request.
const FILE_BYTES: u64 = 4 << 20;
/// Bytes that make a token, at least: text of specifications is denser than prose.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens that are left for the answer where the request does not say.
const ROOM_TO_ANSWER: u64 = 4_000;

/// What is known of a server beforehand. What is `None` is found out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAiSettings {
    /// Whether it has tools.
    pub tools: Option<bool>,
    /// The tokens that its model reads and writes together.
    pub context_tokens: Option<u64>,
}

/// What the server takes, as far as it is known.
#[derive(Debug, Clone, Copy)]
struct Takes {
    tools: bool,
    schema: bool,
    usage: bool,
    completion_limit: bool,
}

/// Chat completions as a provider.
#[derive(Debug)]
pub struct OpenAi {
    http: Http,
    context_tokens: Option<u64>,
    takes: Mutex<Takes>,
}

impl OpenAi {
    /// A server that speaks chat completions. Its key is optional.
    pub fn new(http: HttpSettings, settings: OpenAiSettings) -> Result<Self, SetupError> {
        let takes = Takes { tools: settings.tools.unwrap_or(true), schema: true, usage: true, completion_limit: false };
        let http = Http::new(http, "chat/completions")?;
        Ok(Self { http, context_tokens: settings.context_tokens, takes: Mutex::new(takes) })
    }

    /// Whether the server is there and takes the key. No model is asked.
    pub async fn reach(&self) -> Result<(), CallFailure> {
        self.http.reach(self.headers()).await
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(key) = self.http.key() {
            headers.insert(AUTHORIZATION, key.header("Bearer "));
        }
        headers
    }

    async fn serve(&self, request: &Request, terms: &Terms, cancel: &Cancel) -> Result<Answer, LlmError> {
        let mut reading = Reading::open(&request.workspace)?;
        let mut tally = Tally::default();
        let text = unless_cancelled(self.answer(request, terms, &mut reading, &mut tally), cancel).await?;
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
            model: tally.model.map(|m| self.http.scrub(&m)).or_else(|| request.choice.model.clone()),
            stale: false,
            request_ids: tally.request_ids,
            stop_reason: tally.stop,
        })
    }

    async fn answer(
        &self,
        request: &Request,
        terms: &Terms,
        reading: &mut Reading,
        tally: &mut Tally,
    ) -> Result<String, CallFailure> {
        let Some(model) = &request.choice.model else {
            return Err(CallFailure::new(FailureKind::ModelNotFound, "no model is named"));
        };
        if self.takes().tools {
            match self.converse(request, terms, (model, &request.prompt), reading, tally).await {
                Err(failure) if !self.takes().tools && refuses(&failure, &TOOLS) => {}
                other => return other,
            }
            reading.begin_anew();
        }
        let files = self.inlined(request, reading)?;
        for file in &files {
            reading.put_before(file);
        }
        let prompt = format!("{}\n\n{}", marked(&files), request.prompt);
        self.converse(request, terms, (model, &prompt), reading, tally).await
    }

    /// All files of a request, when they fit.
    fn inlined(&self, request: &Request, reading: &Reading) -> Result<Vec<Loaded>, CallFailure> {
        let too_long = |what: String| CallFailure::new(FailureKind::PromptTooLong, what);
        let mut files = Vec::new();
        for offered in &request.offered {
            files.push(reading.load(&offered.path, FILE_BYTES).ok_or_else(|| {
                let (path, bytes) = (&offered.path, offered.bytes);
                too_long(format!("the server has no tools, and {path} ({bytes} bytes) cannot stand in a request"))
            })?);
        }
        if let Some(context) = self.context_tokens {
            let bytes: usize =
                files.iter().map(|f| f.text.len()).sum::<usize>() + request.role.len() + request.prompt.len();
            let tokens = bytes as u64 / BYTES_PER_TOKEN;
            let answer = request.choice.max_output.map_or(ROOM_TO_ANSWER, |tokens| tokens.get().into());
            if tokens + answer > context {
                return Err(too_long(format!(
                    "the server has no tools, so {} files stand in the request; they are {bytes} bytes, about {tokens} \
                     tokens, with {answer} more for the answer, and the context has {context}",
                    files.len()
                )));
            }
        }
        Ok(files)
    }

    async fn converse(
        &self,
        request: &Request,
        terms: &Terms,
        (model, prompt): (&str, &str),
        reading: &mut Reading,
        tally: &mut Tally,
    ) -> Result<String, CallFailure> {
        let mut messages = Vec::new();
        if !request.role.trim().is_empty() {
            messages.push(json!({"role": "system", "content": request.role}));
        }
        messages.push(json!({"role": "user", "content": prompt}));
        loop {
            let turn = self.turn(request, terms, (model, &messages), tally).await?;
            tally.stopped(turn.finish.as_ref());
            let failed = |kind, what: &str| {
                let message = self.http.scrub(what);
                Err(CallFailure { request_id: turn.request_id.clone(), ..CallFailure::new(kind, message) })
            };
            match turn.finish.as_deref() {
                Some("length") => {
                    return failed(FailureKind::Truncated, "the answer reached the limit of tokens before its end");
                }
                Some("content_filter") => {
                    return failed(FailureKind::Refusal, "a filter of the server stopped the answer");
                }
                Some("stop" | "tool_calls" | "function_call" | "eos") => {}
                other => {
                    let what =
                        format!("the model stopped for a reason that is not known ({})", other.unwrap_or("none"));
                    return failed(FailureKind::Malformed, &excerpt(&what));
                }
            }
            if !turn.calls.is_empty() {
                reading.begin_turn()?;
                messages.push(turn.message());
                messages.extend(turn.calls.iter().map(|call| call.answered(reading)));
            } else if !turn.text.trim().is_empty() {
                return Ok(turn.text);
            } else if turn.refusal.trim().is_empty() {
                return failed(FailureKind::Empty, "the model answered without a word");
            } else {
                let what = format!("the model declines to answer: {}", excerpt(&turn.refusal));
                return failed(FailureKind::Refusal, &what);
            }
        }
    }

    /// One request; where the server refuses a part that can be left out, once more without it.
    async fn turn(
        &self,
        request: &Request,
        terms: &Terms,
        (model, messages): (&str, &[Value]),
        tally: &mut Tally,
    ) -> Result<Turn, CallFailure> {
        loop {
            let takes = self.takes();
            let holds = takes.schema && request.schema.is_some();
            let failure = match self.send(&body(request, model, messages, takes), terms, tally).await {
                Err(failure) if failure.status.is_some() || (holds && breaks_the_schema(&failure)) => failure,
                other => return other,
            };
            let mut less = takes;
            if holds && (refuses(&failure, &SCHEMA) || breaks_the_schema(&failure)) {
                less.schema = false;
                terms.leave_out("the JSON schema of the answer", &failure);
            } else if takes.usage && refuses(&failure, &["stream_options", "include_usage"]) {
                less.usage = false;
                terms.leave_out("the counts of tokens", &failure);
            } else if !takes.completion_limit && refuses(&failure, &["max_completion_tokens"]) {
                less.completion_limit = true;
                terms.leave_out("`max_tokens` (`max_completion_tokens` stands for it)", &failure);
            } else {
                if takes.tools && refuses(&failure, &TOOLS) {
                    // The conversation begins anew, with the files inside.
                    less.tools = false;
                    terms.leave_out("tools (the files stand in the request)", &failure);
                    self.learn(less);
                }
                return Err(failure);
            }
            self.learn(less);
        }
    }

    fn takes(&self) -> Takes {
        *self.takes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, takes: Takes) {
        *self.takes.lock().unwrap_or_else(PoisonError::into_inner) = takes;
    }

    async fn send(&self, body: &Value, terms: &Terms, tally: &mut Tally) -> Result<Turn, CallFailure> {
        let tokens = tally.begin(body, terms)?;
        let posted = self.http.post(self.headers(), body, tally).await;
        let mut events = posted.inspect_err(|failure| tally.end(None, tokens, 0, Some(failure)))?;
        let mut turn = Turn { request_id: events.request_id.clone(), ..Turn::default() };
        let read = read_turn(&mut events, &mut turn).await;
        tally.add(turn.usage, turn.model.as_ref());
        tally.end(turn.usage, tokens, turn.text.len(), read.as_ref().err());
        read?;
        // Only where another turn follows: an answer that is complete is not kept waiting, nor lost to a signal.
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

    fn ask<'a>(&'a self, request: &'a Request, cancel: &'a Cancel) -> Asking<'a> {
        Box::pin(async move { self.serve(request, &Terms::default(), cancel).await })
    }

    fn ask_under<'a>(&'a self, request: &'a Request, terms: &'a Terms, cancel: &'a Cancel) -> Asking<'a> {
        Box::pin(self.serve(request, terms, cancel))
    }
}

/// Words by which servers refuse tools.
const TOOLS: [&str; 2] = ["tool", "function call"];
/// llama.cpp takes a schema beside tools, and breaks an answer off that does not keep to it.
fn breaks_the_schema(failure: &CallFailure) -> bool {
    failure.message.contains("does not match the expected") && failure.message.contains("format")
}

/// Words by which servers refuse a schema.
const SCHEMA: [&str; 5] = ["response_format", "json_schema", "grammar", "schema", "structured output"];

/// Whether the server says of a part of the request that it does not take it.
fn refuses(failure: &CallFailure, words: &[&str]) -> bool {
    let kinds = [FailureKind::BadRequest, FailureKind::ModelNotFound, FailureKind::Server];
    let message = failure.message.to_ascii_lowercase();
    // A server that fails while it works with a tool has not refused it.
    let says_so = failure.status != Some(500) || ["support", "require"].iter().any(|word| message.contains(word));
    says_so
        && matches!(failure.status, Some(400 | 404 | 405 | 415 | 422 | 500 | 501))
        && kinds.contains(&failure.kind)
        && words.iter().any(|word| message.contains(word))
}

/// The schema as a strict server takes it: every field of an object is required. What may be left out elsewhere may be
/// empty or null, and is read alike.
fn strict(schema: &Value) -> Value {
    let mut schema = schema.clone();
    tighten(&mut schema);
    schema
}

fn tighten(schema: &mut Value) {
    if let Some(names) =
        schema.get("properties").and_then(Value::as_object).map(|p| p.keys().cloned().collect::<Vec<_>>())
    {
        schema["required"] = json!(names);
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(tighten),
        Value::Array(items) => items.iter_mut().for_each(tighten),
        _ => {}
    }
}

fn body(request: &Request, model: &str, messages: &[Value], takes: Takes) -> Value {
    let mut body = json!({"model": model, "stream": true, "messages": messages});
    if takes.usage {
        body["stream_options"] = json!({"include_usage": true});
    }
    if takes.tools {
        body["tools"] = json!([{"type": "function", "function": {
            "name": reading::TOOL, "description": reading::DESCRIPTION, "parameters": reading::input_schema(),
        }}]);
    }
    if let Some(schema) = request.schema.as_ref().filter(|_| takes.schema) {
        body["response_format"] =
            json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": strict(schema)}});
    }
    if let Some(limit) = request.choice.max_output {
        body[if takes.completion_limit { "max_completion_tokens" } else { "max_tokens" }] = json!(limit);
    }
    if let Some(temperature) = request.choice.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(effort) = &request.choice.effort {
        body["reasoning_effort"] = json!(effort);
    }
    body
}
