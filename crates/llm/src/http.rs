//! The HTTP client of the API providers: base URL and key, a request whose answer is a stream of server-sent events, and
//! limits on everything that is received.
//!
//! The key is sent only to the configured server: no message, log or `Debug` output shows it, redirects are not followed,
//! and it is redacted from everything that the server returns.

use std::future::Future;
use std::io::Cursor;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use futures_util::{Stream, StreamExt, stream};
use reqwest::header::HeaderMap;
use reqwest::{Client, Response, Url};
use serde_json::Value;
use sse_stream::{Sse, SseByteStream};

use super::budget::{BYTES_PER_TOKEN, EXPECTED_OUTPUT};
use super::call_state::CallState;
use super::control_characters::without_nul;
use super::failure::{CallFailure, FailureKind};
use super::http_failure::{self, Envelope};
use super::provider::{LlmError, MAX_ANSWER_BYTES};
use super::read_tool::ReadTool;
use super::secret::Secret;
use super::usage::Usage;
use tlaforge_process::Cancel;

/// Longest part of an error body that is read, in bytes.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Longest stream that is read, in bytes.
const MAX_STREAM_BYTES: usize = 64 << 20;
/// Longest line of a stream, in bytes.
const MAX_LINE_BYTES: usize = 4 << 20;
/// Time that the server has after the last event to end the stream, so that the connection can be reused.
const STREAM_END_TIMEOUT: Duration = Duration::from_millis(250);

/// A provider that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The base URL has no scheme.
    #[error(
        "the base URL {url:?} has no scheme; write http://{url} for a server of your own, https://{url} for others"
    )]
    NoScheme { url: String },
    /// The base URL cannot be used.
    #[error("the base URL {url:?} cannot be used: {what}; it looks like https://host/path")]
    BaseUrl {
        /// The URL without its password.
        url: String,
        /// The problem, in words.
        what: String,
    },
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made: {what}")]
    Client { what: String },
}

/// The address and key of a server, and limits of connecting to it.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Base URL, with or without `/v1`.
    pub base_url: String,
    /// The key, if the server needs one.
    pub key: Option<Secret>,
    /// Time limit for connecting; listing the models gets the same.
    pub connect_timeout: Duration,
    /// Longest time without content. The call as a whole has no limit here, because a long answer is not a failure.
    pub idle_timeout: Duration,
    /// The clock, for a `Retry-After` with a date from a server that does not send its own time.
    pub now: Option<fn() -> SystemTime>,
}

impl HttpSettings {
    /// Settings with the default limits: 15 s to connect, 120 s without content.
    pub fn new(base_url: impl Into<String>, key: Option<Secret>) -> Self {
        let (connect_timeout, idle_timeout) = (Duration::from_secs(15), Duration::from_secs(120));
        Self { base_url: base_url.into(), key, connect_timeout, idle_timeout, now: None }
    }
}

/// A client of one server.
#[derive(Debug)]
pub(super) struct HttpClient {
    client: Client,
    url: Url,
    models: Url,
    key: Option<Secret>,
    idle: Duration,
    connect: Duration,
    now: Option<fn() -> SystemTime>,
}

impl HttpClient {
    /// `endpoint` is the path after `/v1/`.
    pub(super) fn new(settings: HttpSettings, endpoint: &str) -> Result<Self, SetupError> {
        let url = endpoint_url(&settings.base_url, endpoint)?;
        let models = endpoint_url(&settings.base_url, "models")?;
        use_ring();
        let mut builder = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.connect_timeout)
            .read_timeout(settings.idle_timeout)
            .user_agent(concat!("tlaforge/", env!("CARGO_PKG_VERSION")));
        // A proxy from the environment cannot reach this machine's loopback interface.
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let client =
            builder.build().map_err(|e| SetupError::Client { what: http_failure::with_causes(&e.without_url()) })?;
        let HttpSettings { key, idle_timeout, connect_timeout, now, .. } = settings;
        Ok(Self { client, url, models, key, idle: idle_timeout, connect: connect_timeout, now })
    }

    pub(super) fn key(&self) -> Option<&Secret> {
        self.key.as_ref()
    }

    /// Redacts the key in a text from the server.
    pub(super) fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact_pieces(text))
    }

    /// Checks the length of an answer and redacts the key in it, only as a whole, so that the text is not damaged.
    pub(super) fn check_answer(&self, text: String) -> Result<String, CallFailure> {
        if text.len() as u64 > MAX_ANSWER_BYTES {
            let what = format!("the answer is {} bytes long; the limit is {MAX_ANSWER_BYTES}", text.len());
            return Err(CallFailure::new(FailureKind::Malformed, what));
        }
        Ok(match &self.key {
            Some(key) => key.redact_whole(&text),
            None => text,
        })
    }

    fn redact_failure(&self, mut failure: CallFailure) -> CallFailure {
        failure.message = self.redact(&failure.message);
        failure.request_id = failure.request_id.map(|id| self.redact(&id));
        failure
    }

    /// Sends a request and returns the events of its answer. Any other answer than a stream of events is a failure.
    pub(super) async fn post(
        &self,
        headers: HeaderMap,
        body: &Value,
        tally: &mut CallTally,
    ) -> Result<Events<'_>, CallFailure> {
        let body = without_nul(body);
        let sent = self.client.post(self.url.clone()).headers(headers).json(&*body).send().await;
        let response = sent.map_err(|e| self.transport_failure(e))?;
        let status = response.status();
        let mut envelope = Envelope::new(status.as_u16(), response.headers(), self.now);
        envelope.request_id = envelope.request_id.map(|id| self.redact(&id));
        tally.add_request_id(envelope.request_id.as_ref());
        if !status.is_success() {
            let body = self.error_body(response).await;
            let failure = self.redact_failure(http_failure::from_status(&envelope, &self.redact(&body), &self.url));
            tally.add_request_id(failure.request_id.as_ref());
            return Err(failure);
        }
        // A proxy or a wrong base URL answers 200 with a page of its own.
        if !envelope.content_type.starts_with("text/event-stream") {
            let body = self.error_body(response).await;
            return Err(self.redact_failure(http_failure::from_other_content(&envelope, &self.redact(&body))));
        }
        let request_id = envelope.request_id;
        // The parser keeps a line in memory until its end, so the sizes are limited before it.
        Ok(Events {
            http: self,
            content_at: Instant::now(),
            inner: Box::pin(SseByteStream::new(Box::pin(limit_size(response)))),
            request_id,
        })
    }

    /// Requests the list of models, to check that the server is there and accepts the key. Costs no tokens.
    pub(super) async fn check_access(&self, headers: HeaderMap) -> Result<(), CallFailure> {
        let sent = self.client.get(self.models.clone()).headers(headers).timeout(self.connect).send().await;
        // Listing models takes no longer than connecting, so the connect timeout limits all of it.
        let failure = |e| self.redact_failure(http_failure::from_transport(e, &self.url, self.connect, self.connect));
        let response = sent.map_err(failure)?;
        let status = response.status();
        let envelope = Envelope::new(status.as_u16(), response.headers(), self.now);
        let body = self.error_body(response).await;
        if status.is_success() {
            // A list that is longer than what was read is not complete JSON; its beginning is enough.
            let cut = body.len() >= MAX_ERROR_BYTES - 4 && body.trim_start().starts_with(['{', '[']);
            let is_list = cut || serde_json::from_str::<Value>(&body).is_ok_and(|v| v.is_object() || v.is_array());
            return if is_list {
                Ok(())
            } else {
                Err(self.redact_failure(http_failure::from_no_list(&envelope, &self.models)))
            };
        }
        Err(self.redact_failure(http_failure::from_status(&envelope, &self.redact(&body), &self.models)))
    }

    /// Reads the beginning of an error body, as far as it arrives.
    async fn error_body(&self, mut response: Response) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < MAX_ERROR_BYTES {
            // An error body has no value that would justify the idle timeout of an answer.
            match tokio::time::timeout(self.connect.min(self.idle), response.chunk()).await {
                Ok(Ok(Some(chunk))) => bytes.extend_from_slice(&chunk),
                _ => break,
            }
        }
        bytes.truncate(MAX_ERROR_BYTES);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn transport_failure(&self, error: reqwest::Error) -> CallFailure {
        self.redact_failure(http_failure::from_transport(error, &self.url, self.connect, self.idle))
    }
}

/// A server-sent event.
pub(super) struct Event {
    /// Whether the server gives it the type `error`.
    pub is_error: bool,
    pub data: String,
}

impl Event {
    /// `None` for an event without data, which only keeps the connection alive or sets an id (HTML standard, section
    /// 9.2.6: such an event is not dispatched).
    fn dispatched(event: Sse) -> Option<Event> {
        let is_error = event.event.as_deref() == Some("error");
        let data = event.data.filter(|data| !data.is_empty())?;
        Some(Event { is_error, data })
    }
}

/// The stream of events of one answer.
pub(super) struct Events<'a> {
    http: &'a HttpClient,
    /// Time of the last content. Pings that only keep the connection alive do not count.
    content_at: Instant,
    inner: Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>,
    /// The server's id of the request.
    pub request_id: Option<String>,
}

impl Events<'_> {
    /// The next event; `None` if the stream ends properly.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, CallFailure> {
        loop {
            let left = self.http.idle.saturating_sub(self.content_at.elapsed());
            let Ok(next) = tokio::time::timeout(left, self.inner.next()).await else {
                return Err(self.with_request_id(http_failure::from_silence(&self.http.url, self.http.idle)));
            };
            match next {
                None => return Ok(None),
                Some(Ok(event)) => {
                    let Some(event) = Event::dispatched(event) else { continue };
                    if has_content(&event.data) {
                        self.content_at = Instant::now();
                    }
                    return Ok(Some(event));
                }
                Some(Err(error)) => return Err(self.with_request_id(self.stream_failure(error))),
            }
        }
    }

    fn stream_failure(&self, error: sse_stream::Error) -> CallFailure {
        let sse_stream::Error::Body(error) = error else {
            return CallFailure::new(FailureKind::Malformed, "the answer of the server is not UTF-8 text");
        };
        match error.downcast::<StreamError>().map(|error| *error) {
            Ok(StreamError::Transport(error)) => self.http.transport_failure(error),
            Ok(error @ StreamError::TooLarge(_)) => CallFailure::new(FailureKind::Malformed, error.to_string()),
            Err(error) => CallFailure::new(FailureKind::Malformed, self.http.redact(&error.to_string())),
        }
    }

    /// The next event after a complete answer: usage counts or an end marker, which some servers leave out. `None` if none
    /// arrives soon, or on an error.
    pub(super) async fn next_after_answer(&mut self) -> Option<Event> {
        let next = async {
            loop {
                if let Some(event) = Event::dispatched(self.inner.next().await?.ok()?) {
                    return Some(event);
                }
            }
        };
        tokio::time::timeout(STREAM_END_TIMEOUT, next).await.ok()?
    }

    /// Reads the stream to its end, so that the connection can be reused.
    pub(super) async fn finish(mut self) {
        let rest = async { while matches!(self.inner.next().await, Some(Ok(_))) {} };
        // If the server sends more, the next request needs a new connection, nothing else.
        let _ = tokio::time::timeout(STREAM_END_TIMEOUT, rest).await;
    }

    /// The failure for an error event.
    pub(super) fn error_event(&self, event: &Value) -> CallFailure {
        self.with_request_id(self.http.redact_failure(http_failure::from_event(event)))
    }

    /// Adds the server's request id to a failure.
    pub(super) fn with_request_id(&self, failure: CallFailure) -> CallFailure {
        CallFailure { request_id: failure.request_id.or_else(|| self.request_id.clone()), ..failure }
    }

    /// The failure for an answer that violates the protocol.
    pub(super) fn malformed(&self, what: &str) -> CallFailure {
        self.with_request_id(CallFailure::new(FailureKind::Malformed, self.http.redact(what)))
    }

    /// The failure for a stream that ends before the answer is complete.
    pub(super) fn cut_stream(&self) -> CallFailure {
        self.with_request_id(CallFailure::new(
            FailureKind::CutStream,
            "the connection closed before the answer was complete",
        ))
    }
}

/// The result of a call, unless it is cancelled first. An answer that is complete when the signal arrives, or complete up
/// to the end of the stream, is kept: it is paid for.
pub(super) async fn unless_cancelled<T>(call: impl Future<Output = T>, cancel: &Cancel) -> Result<T, LlmError> {
    tokio::pin!(call);
    tokio::select! {
        // Biased: if answer and signal come together, the answer counts.
        biased;
        done = &mut call => return Ok(done),
        () = cancel.cancelled() => {}
    }
    tokio::time::timeout(STREAM_END_TIMEOUT, call).await.map_err(|_| LlmError::Cancelled)
}

/// Whether an event carries content. Servers also send pings, chunks with an empty delta, and empty objects to keep the
/// connection alive.
fn has_content(data: &str) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let is_empty_delta = |delta: &Value| {
        let fields = delta.as_object().into_iter().flatten();
        fields.filter(|(name, _)| !["role", "type"].contains(&name.as_str())).all(|(_, value)| is_empty(value))
    };
    // `[DONE]` and the like. What cannot be parsed is reported by the reader of the stream.
    let Ok(event) = serde_json::from_str::<Value>(data) else { return !data.trim().is_empty() };
    if !is_empty(&event["error"]) {
        return true;
    }
    match event["type"].as_str() {
        Some("content_block_delta") => return !is_empty_delta(&event["delta"]),
        Some("message_start" | "content_block_start" | "content_block_stop" | "message_delta" | "message_stop") => {
            return true;
        }
        _ => {}
    }
    let choice_has_content = |choice: &Value| {
        !is_empty(&choice["finish_reason"]) || !is_empty_delta(&choice["delta"]) || !is_empty_delta(&choice["message"])
    };
    match event["choices"].as_array() {
        // The usage arrives once, in a last chunk without choices.
        Some(choices) if choices.is_empty() => !is_empty(&event["usage"]),
        Some(choices) => choices.iter().any(choice_has_content),
        None => false,
    }
}

/// Why a stream broke off.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error(transparent)]
    Transport(reqwest::Error),
    #[error("the answer of the server has {0}")]
    TooLarge(&'static str),
}

/// The bytes of an answer, with an error if the whole or one line exceeds its limit.
fn limit_size(response: Response) -> impl Stream<Item = Result<Cursor<impl AsRef<[u8]>>, StreamError>> + Send {
    let (mut all, mut line) = (0, 0);
    let chunks = stream::unfold(response, |mut response| async {
        let chunk = response.chunk().await.transpose()?;
        Some((chunk, response))
    });
    chunks.map(move |chunk| {
        let chunk = chunk.map_err(StreamError::Transport)?;
        all += chunk.len();
        line = match chunk.iter().rposition(|b| *b == b'\n') {
            Some(end) => chunk.len() - end - 1,
            None => line + chunk.len(),
        };
        if all > MAX_STREAM_BYTES {
            return Err(StreamError::TooLarge("more than 64 MiB"));
        }
        if line > MAX_LINE_BYTES {
            return Err(StreamError::TooLarge("a line of more than 4 MiB"));
        }
        Ok(Cursor::new(chunk))
    })
}

/// The URL of an endpoint. Adds `/v1` if the base URL names no version.
fn endpoint_url(base: &str, endpoint: &str) -> Result<Url, SetupError> {
    let base = base.trim();
    // `Url::parse` alone takes the `localhost` of `localhost:11434` for a scheme.
    let has_scheme = base.split_once("://").is_some_and(|(s, _)| s.bytes().all(|b| b.is_ascii_alphanumeric()));
    if !has_scheme {
        // An error message must not repeat the password of `user:password@host`.
        let shown = base.rsplit('@').next().unwrap_or("");
        return Err(SetupError::NoScheme { url: shown.to_owned() });
    }
    let bad = |what: &str| {
        let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
        let shown = format!("{scheme}://{}", rest.rsplit('@').next().unwrap_or(""));
        SetupError::BaseUrl { url: shown.split(['?', '#']).next().unwrap_or("").to_owned(), what: what.to_owned() }
    };
    // Converting international host names needs Unicode tables and five more packages (Cargo.lock has idna_adapter 1.0.0,
    // which leaves them out).
    let mut url = Url::parse(base).map_err(|e| {
        let what = e.to_string();
        bad(if base.is_ascii() {
            &what
        } else {
            "it is not ASCII; write an international host name in Punycode (`xn--…`)"
        })
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("its scheme is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it contains a user name or password; set the key in the environment instead"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("it contains `?` or `#`"));
    }
    let path = url.path().trim_end_matches('/');
    // People also paste the address of the endpoint itself.
    let path = path.strip_suffix(endpoint).unwrap_or(path).trim_end_matches('/');
    // `v1`, and also the `v1beta` of Google.
    let is_version =
        |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let version = if path.split('/').any(is_version) { "" } else { "/v1" };
    let path = format!("{path}{version}/{endpoint}");
    url.set_path(&path);
    Ok(url)
}

/// The host of a base URL, unless it is this machine.
pub fn remote_host(base_url: &str) -> Option<String> {
    let url = Url::parse(base_url.trim()).ok().filter(|url| !is_loopback(url))?;
    url.host_str().map(str::to_owned)
}

/// reqwest takes the TLS provider of the process. It is set once; a second call has no effect.
pub(super) fn use_ring() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

pub(super) fn is_loopback(url: &Url) -> bool {
    // `host_str` keeps the brackets of an IPv6 address.
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The use and the results of all requests of one call.
#[derive(Debug, Default)]
pub(super) struct CallTally {
    pub usage: Option<Usage>,
    pub request_ids: Vec<String>,
    pub model: Option<String>,
    /// Why the model stopped in the last turn.
    pub stop_reason: Option<String>,
    /// Estimate of the tokens that the server did not count.
    estimate: Usage,
    /// Counted tokens of the last request. The next request contains all of them again.
    last_total: u64,
}

impl CallTally {
    /// Checks that the budget allows a request with this body. Returns its estimated size in tokens.
    pub(super) async fn begin_request(&self, body: &Value, state: &CallState) -> Result<u64, CallFailure> {
        if !state.is_limited() {
            return Ok(0);
        }
        let tokens = body.to_string().len() as u64 / BYTES_PER_TOKEN;
        // The server's own count of the last turn is exact, and this request repeats all of that turn.
        let next = Usage { input: tokens.max(self.last_total), output: EXPECTED_OUTPUT, ..Usage::default() };
        state.begin_request(self.usage.unwrap_or_default().plus(self.estimate), next).await?;
        Ok(tokens)
    }

    /// Ends a request with an estimated input of `tokens` and an output of `written` bytes. Estimates what the server did not
    /// count.
    pub(super) fn end_request(
        &mut self,
        counted: Option<Usage>,
        tokens: u64,
        written: usize,
        failure: Option<&CallFailure>,
    ) {
        if let Some(counted) = counted {
            self.last_total = counted.total();
        } else if failure.is_none_or(CallFailure::may_be_billed) {
            // `begin_request` returns 0 if there is no budget; then nothing is estimated.
            let output = if tokens > 0 { written as u64 / BYTES_PER_TOKEN } else { 0 };
            self.estimate = self.estimate.plus(Usage { input: tokens, output, ..Usage::default() });
        }
    }

    /// Adds the tokens of an answer, also of one that broke off (they are paid for), and sets the model.
    pub(super) fn add_usage(&mut self, more: Option<Usage>, model: Option<&String>) {
        if let Some(model) = model {
            self.model = Some(model.clone());
        }
        if let Some(more) = more {
            let sum = self.usage.get_or_insert_with(Usage::default);
            *sum = sum.plus(more);
        }
    }

    /// Sets the stop reason. That of the last turn is the answer's.
    pub(super) fn set_stop_reason(&mut self, stop: Option<&String>) {
        self.stop_reason = stop.cloned();
    }

    /// Adds the server's id of a request.
    pub(super) fn add_request_id(&mut self, request_id: Option<&String>) {
        if let Some(id) = request_id.filter(|id| !self.request_ids.contains(id)) {
            self.request_ids.push(id.clone());
        }
    }

    /// Estimate of the tokens that the server did not count; `None` if it counted all.
    pub(super) fn estimated(&self) -> Option<Usage> {
        Some(self.estimate).filter(|estimate| estimate.total() > 0)
    }

    /// Adds to a failure all tokens that the call used, and the paths outside the workspace that the model tried to read.
    pub(super) fn add_to_failure(&self, failure: CallFailure, read_tool: ReadTool) -> CallFailure {
        let request_id = failure.request_id.clone().or_else(|| self.request_ids.last().cloned());
        let estimated = self.estimated().map(Box::new);
        CallFailure { usage: self.usage, estimated, request_id, refused_reads: read_tool.finish().1, ..failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_taken_with_or_without_version_and_slash() {
        for (base, wanted) in [
            ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
            (" http://localhost:11434/ ", "http://localhost:11434/v1/chat/completions"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("https://host/api/v1/", "https://host/api/v1/chat/completions"),
            ("https://host/v1beta/openai", "https://host/v1beta/openai/chat/completions"),
            ("https://host/proxy", "https://host/proxy/v1/chat/completions"),
            ("https://host/v1/chat/completions", "https://host/v1/chat/completions"),
            ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        ] {
            assert_eq!(endpoint_url(base, "chat/completions").unwrap().as_str(), wanted, "{base}");
        }
    }

    #[test]
    fn the_error_for_a_bad_base_url_names_the_problem_and_shows_no_secret() {
        for (base, word) in [
            ("localhost:11434", "http://localhost:11434"),
            ("api.example.com/v1", "https://api.example.com/v1"),
            ("", "no scheme"),
            ("ftp://host", "neither http nor https"),
            ("http://", "cannot be used"),
            ("http://host:port", "cannot be used"),
            ("https://me:planted@host/v1", "user name or password"),
            ("me:planted@host/v1", "no scheme"),
            ("https://host/v1?key=planted", "`?`"),
            ("https://host:x/v1?key=planted", "cannot be used"),
        ] {
            let error = endpoint_url(base, "messages").unwrap_err().to_string();
            assert!(error.contains(word) && !error.contains("planted"), "{base}: {error}");
        }
    }

    #[test]
    fn pings_and_empty_chunks_are_not_content() {
        for event in [
            "{}",
            "[]",
            "1",
            "null",
            "{\"type\":\"ping\"}",
            "{\"type\":\"anything\"}",
            "{\"id\":\"x\",\"object\":\"chat.completion.chunk\"}",
            "{\"choices\":[]}",
            "{\"choices\":[{}],\"usage\":{\"prompt_tokens\":1}}",
            "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}",
            "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\"}}",
        ] {
            assert!(!has_content(event), "{event}");
        }
        for event in [
            "[DONE]",
            "{\"error\":{\"message\":\"x\"}}",
            "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}",
            "{\"choices\":[{\"message\":{\"content\":\"a\"}}]}",
            "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}",
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}",
            "{\"type\":\"message_start\",\"message\":{}}",
            "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\"}}",
            "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}",
            "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}",
        ] {
            assert!(has_content(event), "{event}");
        }
    }
}
