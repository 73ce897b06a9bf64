//! What the providers over HTTP share: where the server is, the key, one request whose answer is a stream of events, and
//! limits on all that comes back.
//!
//! A key is sent to the server and to nobody else: no message, no log and no `Debug` shows it, redirects are not
//! followed, and what a server echoes is scrubbed.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt};
use reqwest::header::HeaderMap;
use reqwest::{Client, Response, Url};
use serde_json::Value;

use super::contract::{LONGEST_ANSWER, LlmError, Usage};
use super::failure::{CallFailure, FailureKind};
use super::http_failure::{self, Envelope};
use super::reading::Reading;
use super::secret::Secret;
use super::terms::{BYTES_PER_TOKEN, EXPECTED_OUTPUT, Terms};
use crate::process::Cancel;

/// Bytes of an error body that are read.
const ERROR_BYTES: usize = 64 << 10;
/// Bytes of a stream that are read.
const STREAM_BYTES: usize = 64 << 20;
/// Bytes of one line of a stream.
const LINE_BYTES: usize = 4 << 20;
/// After the last event the server has so long to end the stream, so that the connection can be used again.
const LAST_WORD: Duration = Duration::from_millis(250);

/// Why a provider cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The base URL has no scheme.
    #[error(
        "the base URL {url:?} has no scheme; write http://{url} for a server of your own, https://{url} for others"
    )]
    NoScheme {
        /// What was given.
        url: String,
    },
    /// The base URL cannot be used.
    #[error("the base URL {url:?} cannot be used: {what}; it looks like https://host/path")]
    BaseUrl {
        /// What was given, without a password.
        url: String,
        /// What is wrong with it.
        what: String,
    },
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made: {what}")]
    Client {
        /// Why not.
        what: String,
    },
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Its URL, with or without `/v1`.
    pub base_url: String,
    /// The key, where it wants one.
    pub key: Option<Secret>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long no content may come. A call as a whole has no limit here.
    pub idle_timeout: Duration,
    /// Reads the clock, for a `Retry-After` with a date from a server that does not send its own time.
    pub now: Option<fn() -> SystemTime>,
}

impl HttpSettings {
    /// A server with the usual limits: 15 s to connect, 120 s without content.
    pub fn new(base_url: impl Into<String>, key: Option<Secret>) -> Self {
        let (connect_timeout, idle_timeout) = (Duration::from_secs(15), Duration::from_secs(120));
        Self { base_url: base_url.into(), key, connect_timeout, idle_timeout, now: None }
    }
}

/// A server, ready to be asked.
#[derive(Debug)]
pub(super) struct Http {
    client: Client,
    url: Url,
    models: Url,
    key: Option<Secret>,
    idle: Duration,
    connect: Duration,
    now: Option<fn() -> SystemTime>,
}

impl Http {
    /// `endpoint` is what stands behind `/v1/`.
    pub(super) fn new(settings: HttpSettings, endpoint: &str) -> Result<Self, SetupError> {
        let url = join(&settings.base_url, endpoint)?;
        let models = join(&settings.base_url, "models")?;
        let mut builder = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.connect_timeout)
            .read_timeout(settings.idle_timeout)
            .user_agent(concat!("tlaforge/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|e| SetupError::Client { what: http_failure::chain(&e.without_url()) })?;
        let HttpSettings { key, idle_timeout, connect_timeout, now, .. } = settings;
        Ok(Self { client, url, models, key, idle: idle_timeout, connect: connect_timeout, now })
    }

    pub(super) fn key(&self) -> Option<&Secret> {
        self.key.as_ref()
    }

    /// A text that came from the server, without the key.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text))
    }

    /// An answer of a model, without the key. Only the key as a whole is looked for: an answer is not bent for a piece.
    pub(super) fn answer(&self, text: String) -> Result<String, CallFailure> {
        if text.len() as u64 > LONGEST_ANSWER {
            let what = format!("the answer is {} bytes long; at most {LONGEST_ANSWER} are read", text.len());
            return Err(CallFailure::new(FailureKind::Malformed, what));
        }
        Ok(match &self.key {
            Some(key) => key.hide(&text),
            None => text,
        })
    }

    fn clean(&self, mut failure: CallFailure) -> CallFailure {
        failure.message = self.scrub(&failure.message);
        failure.request_id = failure.request_id.map(|id| self.scrub(&id));
        failure
    }

    /// Sends a request and gives the events of its answer. Everything but a stream of events is a failure.
    pub(super) async fn post(
        &self,
        headers: HeaderMap,
        body: &Value,
        tally: &mut Tally,
    ) -> Result<Events<'_>, CallFailure> {
        let sent = self.client.post(self.url.clone()).headers(headers).json(body).send().await;
        let response = sent.map_err(|e| self.trouble(e))?;
        let status = response.status();
        let mut envelope = Envelope::of(status.as_u16(), response.headers(), self.now);
        envelope.request_id = envelope.request_id.map(|id| self.scrub(&id));
        tally.name(envelope.request_id.as_ref());
        if !status.is_success() {
            let body = self.error_body(response).await;
            let failure = self.clean(http_failure::of_status(&envelope, &self.scrub(&body), &self.url));
            tally.name(failure.request_id.as_ref());
            return Err(failure);
        }
        if !envelope.content_type.starts_with("text/event-stream") {
            let body = self.error_body(response).await;
            return Err(self.clean(http_failure::of_other_content(&envelope, &self.scrub(&body))));
        }
        let request_id = envelope.request_id;
        Ok(Events {
            http: self,
            content_at: Instant::now(),
            inner: Box::pin(bounded(response).eventsource()),
            request_id,
        })
    }

    /// Asks for the list of models: whether the server is there and takes the key. No model is asked.
    pub(super) async fn reach(&self, headers: HeaderMap) -> Result<(), CallFailure> {
        let sent = self.client.get(self.models.clone()).headers(headers).timeout(self.connect).send().await;
        // Here nothing is waited for longer than for a connection.
        let trouble = |e| self.clean(http_failure::of_transport(e, &self.url, self.connect, self.connect));
        let response = sent.map_err(trouble)?;
        let status = response.status();
        let envelope = Envelope::of(status.as_u16(), response.headers(), self.now);
        let body = self.error_body(response).await;
        if status.is_success() {
            // Of a long list the beginning is enough.
            let cut = body.len() >= ERROR_BYTES - 4 && body.trim_start().starts_with(['{', '[']);
            let is_list = cut || serde_json::from_str::<Value>(&body).is_ok_and(|v| v.is_object() || v.is_array());
            return if is_list { Ok(()) } else { Err(self.clean(http_failure::of_no_list(&envelope, &self.models))) };
        }
        Err(self.clean(http_failure::of_status(&envelope, &self.scrub(&body), &self.models)))
    }

    /// The beginning of an error body; what cannot be read of it is left out.
    async fn error_body(&self, response: Response) -> String {
        let mut stream = response.bytes_stream();
        let mut bytes = Vec::new();
        while bytes.len() < ERROR_BYTES {
            // A server that drips an error body is not waited for as one that drips an answer.
            match tokio::time::timeout(self.connect.min(self.idle), stream.next()).await {
                Ok(Some(Ok(chunk))) => bytes.extend_from_slice(&chunk),
                _ => break,
            }
        }
        bytes.truncate(ERROR_BYTES);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn trouble(&self, error: reqwest::Error) -> CallFailure {
        self.clean(http_failure::of_transport(error, &self.url, self.connect, self.idle))
    }
}

/// A stream of events that is read to its last.
pub(super) struct Events<'a> {
    http: &'a Http,
    /// When the server last sent content. What only keeps the connection alive does not count.
    content_at: Instant,
    inner: Pin<Box<dyn Stream<Item = Result<Event, EventStreamError<Broken>>> + Send>>,
    /// The server's name of the request.
    pub request_id: Option<String>,
}

impl Events<'_> {
    /// The next event; `None` where the stream ends in good order.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, CallFailure> {
        let left = self.http.idle.saturating_sub(self.content_at.elapsed());
        let Ok(next) = tokio::time::timeout(left, self.inner.next()).await else {
            return Err(self.named(http_failure::of_silence(&self.http.url, self.http.idle)));
        };
        let failure = match next {
            None => return Ok(None),
            Some(Ok(event)) => {
                if has_content(&event.data) {
                    self.content_at = Instant::now();
                }
                return Ok(Some(event));
            }
            Some(Err(EventStreamError::Transport(Broken::Transport(error)))) => self.http.trouble(error),
            Some(Err(EventStreamError::Transport(Broken::TooMuch(what)))) => {
                CallFailure::new(FailureKind::Malformed, format!("the answer of the server has {what}"))
            }
            Some(Err(_)) => CallFailure::new(FailureKind::Malformed, "the answer of the server is not UTF-8 text"),
        };
        Err(self.named(failure))
    }

    /// What follows when the answer is complete: counts and a last mark, which some servers leave out. `None` where nothing
    /// comes soon, or only trouble.
    pub(super) async fn last_words(&mut self) -> Option<Event> {
        tokio::time::timeout(LAST_WORD, self.inner.next()).await.ok()??.ok()
    }

    /// The last event has come: the stream may end in good order.
    pub(super) async fn finish(mut self) {
        let rest = async { while matches!(self.inner.next().await, Some(Ok(_))) {} };
        // A server that goes on costs a new connection for the next request, nothing else.
        let _ = tokio::time::timeout(LAST_WORD, rest).await;
    }

    /// An event that the server sends instead of an answer.
    pub(super) fn error(&self, event: &Value) -> CallFailure {
        self.named(self.http.clean(http_failure::of_event(event)))
    }

    /// A failure with the server's name of the request.
    pub(super) fn named(&self, failure: CallFailure) -> CallFailure {
        CallFailure { request_id: failure.request_id.or_else(|| self.request_id.clone()), ..failure }
    }

    /// What came is not what the protocol says.
    pub(super) fn malformed(&self, what: &str) -> CallFailure {
        self.named(CallFailure::new(FailureKind::Malformed, self.http.scrub(what)))
    }

    /// The stream ended before its end.
    pub(super) fn cut(&self) -> CallFailure {
        self.named(CallFailure::new(FailureKind::CutStream, "the answer ended before its end"))
    }
}

/// The result of a call, unless it is cancelled first. An answer that is there when the signal comes, or that only lacks
/// the server's last word, is not thrown away.
pub(super) async fn unless_cancelled<T>(call: impl Future<Output = T>, cancel: &Cancel) -> Result<T, LlmError> {
    tokio::pin!(call);
    tokio::select! {
        biased;
        done = &mut call => return Ok(done),
        () = cancel.cancelled() => {}
    }
    tokio::time::timeout(LAST_WORD, call).await.map_err(|_| LlmError::Cancelled)
}

/// Whether an event is more than a sign of life. Servers send pings, chunks whose delta is empty, and empty objects.
fn has_content(data: &str) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let says_nothing = |delta: &Value| {
        let fields = delta.as_object().into_iter().flatten();
        fields.filter(|(name, _)| !["role", "type"].contains(&name.as_str())).all(|(_, value)| is_empty(value))
    };
    let Ok(event) = serde_json::from_str::<Value>(data) else { return !data.trim().is_empty() };
    if !is_empty(&event["error"]) {
        return true;
    }
    match event["type"].as_str() {
        Some("content_block_delta") => return !says_nothing(&event["delta"]),
        Some("message_start" | "content_block_start" | "content_block_stop" | "message_delta" | "message_stop") => {
            return true;
        }
        _ => {}
    }
    let says_something = |choice: &Value| {
        !is_empty(&choice["finish_reason"]) || !says_nothing(&choice["delta"]) || !says_nothing(&choice["message"])
    };
    match event["choices"].as_array() {
        // The counts come once, after the last choice.
        Some(choices) if choices.is_empty() => !is_empty(&event["usage"]),
        Some(choices) => choices.iter().any(says_something),
        None => false,
    }
}

/// Why a stream ends.
#[derive(Debug)]
enum Broken {
    Transport(reqwest::Error),
    TooMuch(&'static str),
}

/// The bytes of an answer, as long as they and their lines stay within bounds.
fn bounded(response: Response) -> impl Stream<Item = Result<impl AsRef<[u8]>, Broken>> + Send {
    let (mut all, mut line) = (0, 0);
    response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(Broken::Transport)?;
        all += chunk.len();
        line = match chunk.iter().rposition(|b| *b == b'\n') {
            Some(end) => chunk.len() - end - 1,
            None => line + chunk.len(),
        };
        if all > STREAM_BYTES {
            return Err(Broken::TooMuch("more than 64 MiB"));
        }
        if line > LINE_BYTES {
            return Err(Broken::TooMuch("a line of more than 4 MiB"));
        }
        Ok(chunk)
    })
}

/// The URL of an endpoint. The version is added where the base names none.
fn join(base: &str, endpoint: &str) -> Result<Url, SetupError> {
    let base = base.trim();
    let has_scheme = base.split_once("://").is_some_and(|(s, _)| s.bytes().all(|b| b.is_ascii_alphanumeric()));
    if !has_scheme {
        // `user:password@host` is not repeated either.
        let shown = base.rsplit('@').next().unwrap_or("");
        return Err(SetupError::NoScheme { url: shown.to_owned() });
    }
    let bad = |what: &str| {
        let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
        let shown = format!("{scheme}://{}", rest.rsplit('@').next().unwrap_or(""));
        SetupError::BaseUrl { url: shown.split(['?', '#']).next().unwrap_or("").to_owned(), what: what.to_owned() }
    };
    let mut url = Url::parse(base).map_err(|e| bad(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("its scheme is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it holds a user or password; give the key as a key"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("it holds `?` or `#`"));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(endpoint).unwrap_or(path).trim_end_matches('/');
    let is_version =
        |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let version = if path.split('/').any(is_version) { "" } else { "/v1" };
    let path = format!("{path}{version}/{endpoint}");
    url.set_path(&path);
    Ok(url)
}

/// The host of a base URL, where it is not this machine.
pub fn host_elsewhere(base_url: &str) -> Option<String> {
    let url = Url::parse(base_url.trim()).ok().filter(|url| !is_loopback(url))?;
    url.host_str().map(str::to_owned)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// What the requests of one attempt came to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub usage: Option<Usage>,
    pub request_ids: Vec<String>,
    pub model: Option<String>,
    /// Why the last turn ended.
    pub stop: Option<String>,
    /// What nobody counted, by an estimate.
    guessed: Usage,
    /// What the last request took, where it was counted: the next one holds all of it again.
    last: u64,
}

impl Tally {
    /// Looks whether the budget allows a request with this body; its size in tokens, about.
    pub(super) fn begin(&self, body: &Value, terms: &Terms) -> Result<u64, CallFailure> {
        if !terms.is_limited() {
            return Ok(0);
        }
        let tokens = body.to_string().len() as u64 / BYTES_PER_TOKEN;
        let next = Usage { input: tokens.max(self.last), output: EXPECTED_OUTPUT, ..Usage::default() };
        terms.go_on(self.usage.unwrap_or_default().plus(self.guessed), next)?;
        Ok(tokens)
    }

    /// A request of about so many tokens ended, with so much written: what its server did not count is estimated.
    pub(super) fn end(&mut self, counted: Option<Usage>, tokens: u64, written: usize, failure: Option<&CallFailure>) {
        if let Some(counted) = counted {
            self.last = counted.total();
        } else if failure.is_none_or(CallFailure::may_be_paid) {
            let output = if tokens > 0 { written as u64 / BYTES_PER_TOKEN } else { 0 };
            self.guessed = self.guessed.plus(Usage { input: tokens, output, ..Usage::default() });
        }
    }

    /// Adds what an answer took, also one that broke off (its tokens are paid for), and who gave it.
    pub(super) fn add(&mut self, more: Option<Usage>, model: Option<&String>) {
        if let Some(model) = model {
            self.model = Some(model.clone());
        }
        if let Some(more) = more {
            let sum = self.usage.get_or_insert_with(Usage::default);
            *sum = sum.plus(more);
        }
    }

    /// Takes in why a turn ended; that of the last one is the answer's.
    pub(super) fn stopped(&mut self, stop: Option<&String>) {
        self.stop = stop.cloned();
    }

    /// Adds the server's name of a request.
    pub(super) fn name(&mut self, request_id: Option<&String>) {
        if let Some(id) = request_id.filter(|id| !self.request_ids.contains(id)) {
            self.request_ids.push(id.clone());
        }
    }

    /// An estimate of what the server did not count.
    pub(super) fn estimated(&self) -> Option<Usage> {
        Some(self.guessed).filter(|guessed| guessed.total() > 0)
    }

    /// A failure with all tokens that the attempt took, and what the model tried to read outside the workspace.
    pub(super) fn charge(&self, failure: CallFailure, reading: Reading) -> CallFailure {
        let request_id = failure.request_id.clone().or_else(|| self.request_ids.last().cloned());
        let estimated = self.estimated().map(Box::new);
        CallFailure { usage: self.usage, estimated, request_id, refused_reads: reading.finish().1, ..failure }
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
            assert_eq!(join(base, "chat/completions").unwrap().as_str(), wanted, "{base}");
        }
    }

    #[test]
    fn a_base_url_that_cannot_be_used_is_refused_with_what_to_do() {
        for (base, word) in [
            ("localhost:11434", "http://localhost:11434"),
            ("api.example.com/v1", "https://api.example.com/v1"),
            ("", "no scheme"),
            ("ftp://host", "neither http nor https"),
            ("http://", "cannot be used"),
            ("http://host:port", "cannot be used"),
            ("https://me:planted@host/v1", "user or password"),
            ("me:planted@host/v1", "no scheme"),
            ("https://host/v1?key=planted", "`?`"),
            ("https://host:x/v1?key=planted", "cannot be used"),
        ] {
            let error = join(base, "messages").unwrap_err().to_string();
            assert!(error.contains(word) && !error.contains("planted"), "{base}: {error}");
        }
    }

    #[test]
    fn only_events_with_content_hold_a_call() {
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
