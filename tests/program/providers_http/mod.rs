//! The two HTTP providers with a scripted server: every kind of failure, and the caller's reaction.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tlaforge::llm::{
    Anthropic, Budget, CallEvent, CallFailure, CallTimer, Caller, FailureKind as Kind, HttpSettings, LlmError,
    ModelChoice, Models, OpenAi, OpenAiSettings, Prices, Provider, Request, RequestKey, RetryPolicy, Secret, Usage,
    Used,
};
use tlaforge::process::Cancel;

use crate::support::model_server::{Block, ModelServer, Reply, Tokens};
use crate::support::waiting::{end_of, wait_until_async};

const KEY: &str = "sk-planted-0123456789-abcdefghijklmnop";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Api {
    Messages,
    Chat,
}

const BOTH: [Api; 2] = [Api::Messages, Api::Chat];

impl Api {
    fn provider(self, settings: HttpSettings) -> Box<dyn Provider> {
        match self {
            Api::Messages => Box::new(Anthropic::new(settings).unwrap()),
            Api::Chat => Box::new(OpenAi::new(settings, OpenAiSettings::default()).unwrap()),
        }
    }

    /// The words of each API.
    fn say<T>(self, messages: T, chat: T) -> T {
        if self == Api::Messages { messages } else { chat }
    }
}

fn settings(url: &str) -> HttpSettings {
    let key = Secret::new("A_KEY", KEY).unwrap();
    HttpSettings { idle_timeout: Duration::from_secs(30), ..HttpSettings::new(url, Some(key)) }
}

/// Settings without a limit of time that a test could reach.
fn patient(url: &str) -> HttpSettings {
    HttpSettings { idle_timeout: Duration::from_secs(3600), ..settings(url) }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A workspace with a file, and a request that names a model.
fn request(dir: &tempfile::TempDir) -> Request {
    std::fs::write(dir.path().join("a.md"), "alpha\n").unwrap();
    Request {
        key: RequestKey { node: "review".into(), branch_index: 0, attempt: 1, purpose: "draft".into(), sample: 0 },
        seq: 1,
        role: "You review.".into(),
        prompt: "Read `a.md`.".into(),
        workspace: dir.path().to_owned(),
        offered: Vec::new(),
        choice: ModelChoice { model: Some("claude-sonnet-4-5".into()), ..ModelChoice::default() },
        schema: None,
    }
}

fn ask(provider: &dyn Provider, request: &Request) -> Result<tlaforge::llm::Answer, LlmError> {
    runtime().block_on(provider.ask(request, &Cancel::new()))
}

#[track_caller]
fn failure(result: Result<tlaforge::llm::Answer, LlmError>) -> CallFailure {
    match result {
        Err(LlmError::Failed(failure)) => failure,
        other => panic!("no failure: {other:?}"),
    }
}

/// A way to fail, and what is expected of it.
struct Scenario {
    name: &'static str,
    replies: Vec<Reply>,
    kind: Kind,
    status: Option<u16>,
    wait: Option<f64>,
    id: Option<&'static str>,
    usage: Option<u64>,
    says: &'static str,
    idle: Duration,
}

impl Scenario {
    fn new(name: &'static str, kind: Kind, reply: Reply) -> Self {
        Self {
            name,
            replies: vec![reply],
            kind,
            status: None,
            wait: None,
            id: Some("req_scripted"),
            usage: None,
            says: "",
            idle: Duration::from_secs(30),
        }
    }

    fn status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    fn wait(self, seconds: f64) -> Self {
        Self { wait: Some(seconds), ..self }
    }

    fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    /// Tokens of all kinds that the failure still counts.
    fn usage(self, total: u64) -> Self {
        Self { usage: Some(total), ..self }
    }

    fn unnamed(self) -> Self {
        Self { id: None, ..self }
    }

    fn idle(self, millis: u64) -> Self {
        Self { idle: Duration::from_millis(millis), ..self }
    }
}

/// An error body that echoes the key.
fn error(status: u16, kind: &str, message: &str) -> Reply {
    Reply::error(status, kind, &format!("{message} (you sent {KEY}, or {}…)", &KEY[..20]))
}

fn stream(text: impl Into<String>) -> Reply {
    Reply::status(200, text).content_type("text/event-stream")
}

fn refusals(api: Api) -> Vec<Scenario> {
    let bad = api.say("invalid_request_error", "invalid_request_error");
    let new = Scenario::new;
    vec![
        new(
            "rate limit with a time",
            Kind::RateLimit,
            error(429, "rate_limit_error", "slow").header("retry-after", "7"),
        )
        .status(429)
        .wait(7.0),
        new("rate limit without a time", Kind::RateLimit, error(429, "rate_limit_error", "slow")).status(429),
        new(
            "rate limit until a time of day",
            Kind::RateLimit,
            error(429, "rate_limit_error", "slow")
                .header("date", "Fri, 20 Nov 2026 18:00:00 GMT")
                .header("retry-after", "Fri, 20 Nov 2026 18:01:30 GMT"),
        )
        .status(429)
        .wait(90.0),
        new(
            "spend cap",
            Kind::SpendCap,
            error(429, "rate_limit_error", "cap").error_fields(api.say(
                json!({"details": {"error_code": "enforced_spend_limit_reached"}}),
                json!({"code": "enforced_spend_limit_reached"}),
            )),
        )
        .status(429),
        new("no credit", Kind::Billing, error(400, bad, "Your credit balance is too low")).status(400),
        new("payment", Kind::Billing, error(402, "billing_error", "pay first")).status(402),
        new("quota", Kind::Billing, error(429, "insufficient_quota", "You exceeded your current quota")).status(429),
        new("overloaded", Kind::Overloaded, error(529, "overloaded_error", "Overloaded")).status(529),
        new(
            "unavailable for a while",
            Kind::Overloaded,
            error(503, "unavailable_error", "Loading model").header("retry-after", "3"),
        )
        .status(503)
        .wait(3.0),
        new("server error", Kind::Server, error(500, "api_error", "Internal server error")).status(500),
        new("gateway timeout", Kind::Server, error(504, "timeout_error", "slow")).status(504),
        new("a gateway's page", Kind::Server, Reply::status(502, format!("<html>{KEY}</html>")))
            .status(502)
            .says("a page of HTML"),
        new("a body of 50 MB", Kind::Server, Reply::huge(500, 50 << 20)).status(500),
        new("unauthenticated", Kind::Auth, error(401, "authentication_error", "invalid x-api-key")).status(401),
        new("forbidden", Kind::Permission, error(403, "permission_error", "not with this key")).status(403),
        new("unknown model", Kind::ModelNotFound, error(404, "not_found_error", "model: claude-none not found"))
            .status(404)
            .says("claude-none"),
        new("unknown path", Kind::BadRequest, Reply::status(404, "404 page not found"))
            .status(404)
            .says("check the base URL"),
        new("bad request", Kind::BadRequest, error(400, bad, "temperature: must be at most 1")).status(400),
        new("prompt too long", Kind::PromptTooLong, error(400, bad, "prompt is too long: 210000 tokens > 200000"))
            .status(400)
            .says("210000 tokens > 200000"),
        new(
            "context exceeded",
            Kind::PromptTooLong,
            error(400, "exceed_context_size_error", "too large")
                .error_fields(json!({"n_prompt_tokens": 70_000, "n_ctx": 16_384})),
        )
        .status(400)
        .says("70000 tokens, the context has 16384"),
        new("request too large", Kind::PromptTooLong, error(413, "request_too_large", "32 MB")).status(413),
        new("another name of the request", Kind::Server, error(500, "api_error", "x").header("request-id", KEY))
            .status(500),
    ]
}

fn broken_answers(api: Api) -> Vec<Scenario> {
    let new = Scenario::new;
    // A stream that broke off has told its input in its first event, where the API does that.
    let some = |s: Scenario| if api == Api::Messages { s.usage(101) } else { s };
    let broken_event = |kind: &str| json!({"type": kind, "message": format!("no: {KEY}")});
    let reads = || Reply::reads(&["a.md"]);
    let alive = |text| {
        some(new("only keep-alives after some events", Kind::Idle, Reply::text("half").alive_after(3, text)).idle(400))
            .says("no content came from")
    };
    vec![
        some(new("cut stream", Kind::CutStream, Reply::text("half an answer").cut_after(3))),
        some(new("stream that ends too early", Kind::CutStream, Reply::text("half an answer").short_after(3))),
        some(new(
            "overloaded inside a stream",
            Kind::Overloaded,
            Reply::text("x").error_event_after(3, broken_event("overloaded_error")),
        )),
        some(new(
            "server error inside a stream",
            Kind::Server,
            Reply::text("x").error_event_after(3, broken_event("api_error")),
        )),
        new(
            "rate limit as a whole answer",
            Kind::RateLimit,
            Reply::status(200, json!({"error": {"type": "rate_limit_error", "message": KEY}}).to_string()),
        )
        .status(200),
        new("empty answer", Kind::Empty, Reply::turn(vec![])).usage(110),
        new("blank answer", Kind::Empty, Reply::text(" \n\t")).usage(110),
        new("only thinking", Kind::Empty, Reply::turn(vec![Block::Thinking("hm".into())])).usage(110),
        new("refusal", Kind::Refusal, Reply::text("I").stop(api.say("refusal", "content_filter"))).usage(110),
        new("limit of tokens", Kind::Truncated, Reply::text("half").stop(api.say("max_tokens", "length"))).usage(110),
        new("an answer beyond measure", Kind::Malformed, Reply::turn(vec![Block::Text("x".repeat(3 << 20)); 3]))
            .usage(110)
            .says("the limit is"),
        new("unknown stop reason", Kind::Malformed, Reply::text("x").stop("tired")).usage(110).says("tired"),
        new("endless reading", Kind::ToolLoop, reads()).usage(41 * 110),
        new("event that is no JSON", Kind::Malformed, stream(format!("data: {{\"{KEY}\": \n\n"))),
        new(
            "bytes that are no text",
            Kind::Malformed,
            Reply::raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: \xff\xfe\n\n".to_vec()),
        )
        .unnamed()
        .says("UTF-8"),
        new("a line without end", Kind::Malformed, stream(format!("data: {}", "x".repeat(5 << 20)))).says("4 MiB"),
        new(
            "a page instead of a stream",
            Kind::Malformed,
            Reply::status(200, "<html></html>").content_type("text/html"),
        )
        .status(200)
        .says("check the base URL"),
        new("JSON instead of a stream", Kind::Malformed, Reply::status(200, format!("{{\"key\":\"{KEY}\"}}")))
            .status(200),
        new("garbage instead of HTTP", Kind::Malformed, Reply::raw("220 mail.example ESMTP\r\n\r\n")).unnamed(),
        new("closed at once", Kind::CutStream, Reply::close()).unnamed(),
        new("no answer at all", Kind::Idle, Reply::nothing()).unnamed().idle(400),
        some(new("nothing more after some events", Kind::Idle, Reply::text("half").stall_after(3)).idle(400)),
        alive(": still here\n\n"),
        alive("event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        alive(
            "data: {\"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\", \"content\": \"\"}, \"finish_reason\": null}]}\n\n",
        ),
        alive(
            "event: content_block_delta\ndata: {\"type\": \"content_block_delta\", \"index\": 0, \"delta\": {\"type\": \"text_delta\", \"text\": \"\"}}\n\n",
        ),
    ]
}

#[test]
fn every_failure_has_its_kind_and_shows_no_key() {
    for api in BOTH {
        let scenarios: Vec<Scenario> = refusals(api).into_iter().chain(broken_answers(api)).collect();
        assert!(scenarios.len() >= 40);
        for s in scenarios {
            let server = ModelServer::replies(s.replies);
            let provider = api.provider(HttpSettings { idle_timeout: s.idle, ..settings(&server.url()) });
            let dir = tempfile::tempdir().unwrap();
            let got = failure(ask(&*provider, &request(&dir)));
            let name = format!("{api:?}, {}: {got:?}", s.name);
            assert_eq!(got.kind, s.kind, "{name}");
            assert_eq!(got.status, s.status, "{name}");
            assert_eq!(got.retry_after.map(|w| w.as_secs_f64()), s.wait, "{name}");
            assert_eq!(got.usage.map(|u| u.total()), s.usage, "{name}");
            assert!(got.message.contains(s.says), "{name}");
            assert!(!name.contains("planted") && !name.contains(&KEY[20..]), "{name}");
            if s.name != "another name of the request" {
                assert_eq!(got.request_id.as_deref(), s.id, "{name}");
            }
            let tries = if s.kind == Kind::ToolLoop { 41 } else { 1 };
            assert_eq!(server.posts().len(), tries, "{name}: a provider makes one try");
        }
    }
}

#[test]
fn an_unreachable_server_and_one_without_encryption_are_distinguished() {
    let server = ModelServer::replies(vec![Reply::text("x")]);
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        let gone = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            format!("http://{}", listener.local_addr().unwrap())
        };
        let refused = failure(ask(&*api.provider(settings(&gone)), &request(&dir)));
        assert_eq!(refused.kind, Kind::Connect, "{refused:?}");
        assert!(refused.kind.is_transient() && refused.message.contains("127.0.0.1"), "{refused}");
        let plain = server.url().replace("http:", "https:");
        let tls = failure(ask(&*api.provider(settings(&plain)), &request(&dir)));
        assert_eq!(tls.kind, Kind::Tls, "{tls:?}");
        assert!(!tls.kind.is_transient());
    }
    assert!(server.posts().is_empty());
}

#[test]
fn only_the_beginning_of_a_huge_error_body_is_read() {
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        let server = ModelServer::replies(vec![Reply::huge(500, 200 << 20)]);
        assert_eq!(failure(ask(&*api.provider(settings(&server.url())), &request(&dir))).kind, Kind::Server);
        // What the system holds for a connection is some MiB.
        assert!(server.body_bytes() < 50 << 20, "{} bytes were taken", server.body_bytes());
    }
}

#[test]
fn a_redirect_is_not_followed_and_gets_no_key() {
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        let other = ModelServer::replies(vec![Reply::text("x")]);
        let place = format!("{}/v1/messages?k={KEY}", other.url().replace("127.0.0.1", "localhost"));
        let server = ModelServer::replies(vec![Reply::status(307, "").header("location", &place)]);
        let got = failure(ask(&*api.provider(settings(&server.url())), &request(&dir)));
        assert_eq!((got.kind, got.status), (Kind::BadRequest, Some(307)), "{got:?}");
        assert!(got.message.contains("localhost") && !got.message.contains("planted"), "{got}");
        assert!(other.requests().is_empty());
    }
}

#[test]
fn a_key_that_a_model_repeats_is_redacted() {
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        let mut first = true;
        let server = ModelServer::start(move |_| {
            if std::mem::take(&mut first) {
                return Reply::reads(&[&format!("../{KEY}")]).header("request-id", KEY);
            }
            Reply::text(format!("your key is {KEY}."))
        });
        let answer = ask(&*api.provider(settings(&server.url())), &request(&dir)).unwrap();
        assert_eq!(answer.text, "your key is [key].");
        assert_eq!(answer.refused_reads, ["../[key]"]);
        assert!(!format!("{answer:?}").contains("planted"), "{answer:?}");
    }
}

#[test]
fn a_signal_ends_a_call() {
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        for reply in
            [Reply::nothing(), Reply::text("x").stall_after(2), Reply::text("x").drip(Duration::from_secs(600))]
        {
            let server = ModelServer::replies(vec![reply]);
            // Without the signal, nothing would end the call in time.
            let provider = api.provider(patient(&server.url()));
            let cancel = Cancel::new();
            runtime().block_on(async {
                let request = request(&dir);
                let later = async {
                    server.wait_until_read().await;
                    cancel.cancel();
                };
                let asked = async { tokio::join!(provider.ask(&request, &cancel), later).0 };
                let result = end_of("the call ends", asked).await;
                assert!(matches!(result, Err(LlmError::Cancelled)));
            });
        }
    }
}

#[test]
fn a_complete_answer_survives_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        // All events have come, only the connection stays.
        let server = ModelServer::replies(vec![Reply::text("paid for").stall_after(usize::MAX)]);
        let provider = api.provider(settings(&server.url()));
        let cancel = Cancel::new();
        runtime().block_on(async {
            let request = request(&dir);
            let later = async {
                server.wait_until_read().await;
                cancel.cancel();
            };
            let (result, ()) = tokio::join!(provider.ask(&request, &cancel), later);
            assert_eq!(result.unwrap().text, "paid for", "{api:?}");
        });
    }
}

#[test]
fn reads_are_returned_recorded_and_confined() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("ws")).unwrap();
    std::fs::write(dir.path().join("secret.txt"), "beyond the fence").unwrap();
    std::fs::write(dir.path().join("ws/a.md"), "alpha\n").unwrap();
    let long = (0..3000).fold(String::new(), |text, n| text + &format!("{n}\n"));
    std::fs::write(dir.path().join("ws/long.md"), &long).unwrap();
    for api in BOTH {
        let server = ModelServer::start(|seen| match seen.tool_results().len() {
            0 => Reply::turn(vec![
                Block::Thinking("where to begin".into()),
                Block::Text("I look.".into()),
                Block::Tool("Read".into(), json!({"file_path": "a.md"})),
                Block::Tool("Read".into(), json!({"file_path": "../secret.txt"})),
                Block::Tool("Read".into(), json!({"file_path": "long.md"})),
                Block::Tool("Bash".into(), json!({"command": "cat ../secret.txt"})),
                Block::Tool("Read".into(), json!("{\"file_path\": ")),
            ])
            .header("request-id", "req_1"),
            5 => Reply::tool("Read", json!({"file_path": "long.md", "offset": 2001})).header("request-id", "req_2"),
            _ => Reply::text("done").header("request-id", "req_3"),
        });
        let mut request = request(&dir);
        request.workspace = dir.path().join("ws");
        let answer = ask(&*api.provider(settings(&server.url())), &request).unwrap();
        assert_eq!(answer.text, "done");
        assert_eq!(answer.refused_reads, ["../secret.txt"]);
        let reads: Vec<(&str, bool)> = answer.reads.iter().map(|r| (r.path.as_str(), r.whole)).collect();
        assert_eq!(reads, [("a.md", true), ("long.md", true)]);
        assert_eq!(answer.reads[1].sha, tlaforge::journal::Sha::digest(&long));
        assert_eq!(answer.usage, Some(Usage { input: 300, output: 30, ..Usage::default() }));
        assert_eq!(answer.request_ids, ["req_1", "req_2", "req_3"]);
        assert_eq!(answer.cost_usd, None, "the caller knows the prices");
        let posts = server.posts();
        assert_eq!(posts.len(), 3);
        let results = posts[1].tool_results();
        let mark = format!("untrusted file \"a.md\" {} =====", tlaforge::journal::Sha::digest("     1→alpha\n"));
        assert_eq!(results[0].text, format!("===== BEGIN {mark}\n     1→alpha\n===== END {mark}\n"));
        assert!(results[1].text.ends_with("outside the workspace"));
        assert!(results[3].text.contains("no tool Bash") && results[4].text.contains("no JSON object"));
        assert!(posts.iter().all(|p| !String::from_utf8_lossy(&p.raw).contains("beyond the fence")));
        let messages = posts[1].body["messages"].as_array().unwrap();
        match api {
            Api::Messages => {
                assert!(results[1].is_error && !results[0].is_error);
                let kinds: Vec<&str> =
                    messages[1]["content"].as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect();
                assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use", "tool_use", "tool_use", "tool_use"]);
                assert_eq!(messages[1]["content"][0]["signature"], "c2lnbmVk");
                assert_eq!(messages.len(), 3, "all results stand in one message");
                assert_eq!(posts[0].header("x-api-key"), Some(KEY));
                assert_eq!(posts[0].header("anthropic-version"), Some("2023-06-01"));
            }
            Api::Chat => {
                assert_eq!(messages[2]["tool_calls"].as_array().unwrap().len(), 5);
                assert_eq!(messages.iter().filter(|m| m["role"] == "tool").count(), 5);
                assert_eq!(posts[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
            }
        }
    }
}

#[test]
fn the_model_choice_reaches_the_server_and_no_key_is_sent_without_one() {
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        let server = ModelServer::replies(vec![Reply::text("x")]);
        let provider = api.provider(HttpSettings::new(format!("{}/v1/", server.url()), None));
        ask(&*provider, &request(&dir)).unwrap();
        let mut request = request(&dir);
        request.choice = ModelChoice {
            model: Some("m".into()),
            effort: Some("low".into()),
            temperature: Some(0.25),
            max_output: std::num::NonZeroU32::new(77),
        };
        ask(&*provider, &request).unwrap();
        let posts = server.posts();
        assert_eq!(posts[0].path, api.say("/v1/messages", "/v1/chat/completions"));
        assert!(posts[0].header("x-api-key").is_none() && posts[0].header("authorization").is_none());
        assert_eq!(posts[0].body["max_tokens"], api.say(json!(32_000), Value::Null));
        assert_eq!(posts[0].body.get("temperature"), None);
        let body = &posts[1].body;
        assert_eq!(
            (&body["model"], &body["temperature"], &body["max_tokens"]),
            (&json!("m"), &json!(0.25), &json!(77))
        );
        assert_eq!(api.say(&body["output_config"]["effort"], &body["reasoning_effort"]), "low");
        assert!(posts.iter().all(|p| p.streams() && p.tools() == ["Read"] && p.system() == "You review."));
    }
}

#[test]
fn a_schema_is_sent_and_left_out_if_the_server_rejects_it() {
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        let of = move |body: &Value| api.say(body["output_config"]["format"].clone(), body["response_format"].clone());
        let server = ModelServer::start(move |seen| match of(&seen.body) {
            Value::Null => Reply::text("{}"),
            _ => error(
                400,
                "invalid_request_error",
                api.say("output_config.format: not supported", "response_format is not supported"),
            ),
        });
        let provider = api.provider(settings(&server.url()));
        let mut request = request(&dir);
        request.schema =
            Some(json!({"type": "object", "required": [], "properties": {}, "additionalProperties": false}));
        assert_eq!(ask(&*provider, &request).unwrap().text, "{}");
        ask(&*provider, &request).unwrap();
        let posts = server.posts();
        assert_eq!(posts.len(), 3, "what was refused once is not tried again");
        let format = of(&posts[0].body);
        assert_eq!(format["type"], "json_schema");
        assert_eq!(api.say(&format["schema"], &format["json_schema"]["schema"]), request.schema.as_ref().unwrap());
    }
}

mod caller;

mod messages;

mod chat;

mod server;

mod shared_limits;

mod forge;

mod llama;
