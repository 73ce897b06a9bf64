//! Classifies failed HTTP calls: from status, headers, error body or a broken connection to a kind of failure.
//!
//! Servers word the same error differently. The rules for all of them are here, so that a provider needs none.

use std::error::Error as _;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::failure::{CallFailure, FailureKind};

/// Advice after a message that already says what to change.
const RESUME: &str = "then resume";
/// Longest part of a server's message that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 600;
/// Longest part of a request id that is kept, in characters.
const MAX_ID_CHARS: usize = 200;

/// Status and headers of a response, as far as failures need them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Envelope {
    pub status: u16,
    pub content_type: String,
    pub request_id: Option<String>,
    pub retry_after: Option<Duration>,
    location: Option<String>,
}

impl Envelope {
    pub(super) fn new(status: u16, headers: &HeaderMap, clock: Option<fn() -> SystemTime>) -> Self {
        let get = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
        let request_id = get("request-id").or_else(|| get("x-request-id")).filter(|id| !id.is_empty());
        Self {
            status,
            content_type: get("content-type").unwrap_or("").to_ascii_lowercase(),
            request_id: request_id.map(|id| id.chars().take(MAX_ID_CHARS).collect()),
            retry_after: parse_retry_after(get("retry-after-ms"), get("retry-after"), get("date"), clock),
            location: get("location").map(str::to_owned),
        }
    }
}

/// How long the server asks to wait. A date is compared with the server's own clock (`Date`), or with ours if it does not
/// send its time: the two clocks can differ.
fn parse_retry_after(
    millis: Option<&str>,
    after: Option<&str>,
    date: Option<&str>,
    clock: Option<fn() -> SystemTime>,
) -> Option<Duration> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| !n.is_nan());
    // OpenAI and Azure send both headers; the milliseconds are more exact.
    if let Some(millis) = millis.and_then(number) {
        return Duration::try_from_secs_f64(millis.max(0.0) / 1000.0).ok();
    }
    let after = after?;
    if let Some(seconds) = number(after) {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let ours = || clock.and_then(|now| Timestamp::try_from(now()).ok());
    let now = date.and_then(parse_http_date).or_else(ours)?;
    let seconds = parse_http_date(after)?.as_second() - now.as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// Parses the three forms of an HTTP date (RFC 9110, section 5.6.7). All of them are in UTC.
fn parse_http_date(text: &str) -> Option<Timestamp> {
    let old = |form: &str| DateTime::strptime(form, text).ok()?.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
    let today = rfc2822::parse(text).ok().map(|at| at.timestamp());
    today.or_else(|| old("%A, %d-%b-%y %H:%M:%S GMT")).or_else(|| old("%a %b %e %H:%M:%S %Y"))
}

/// The content of an error body, independent of the server's format.
#[derive(Debug, Default)]
struct ErrorBody {
    message: String,
    /// Type, code and details in lower case, for the classification.
    codes: String,
    status: Option<u16>,
    request_id: Option<String>,
    /// Tokens of the prompt and of the model's context.
    context: Option<(u64, u64)>,
}

impl ErrorBody {
    fn from_json(body: &Value) -> Self {
        let error = body.get("error").unwrap_or(body);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = text(error)
            .or_else(|| text(&error["message"]))
            .or_else(|| text(&body["message"]))
            // `detail` is what servers based on FastAPI send.
            .or_else(|| text(&body["detail"]))
            .unwrap_or_else(|| if error.is_null() { String::new() } else { error.to_string() });
        // As JSON text, because a code can be a string, a number or an object.
        let mut codes = String::new();
        for part in
            [&error["type"], &error["code"], &error["status"], &error["details"], &error["param"], &body["type"]]
        {
            if !part.is_null() {
                let _ = write!(codes, "{part} ");
            }
        }
        let number = |names: [&str; 2]| names.iter().find_map(|n| error[*n].as_u64());
        Self {
            status: status_of(&error["code"]).or_else(|| status_of(&body["code"])),
            request_id: text(&body["request_id"]).map(|id| id.chars().take(MAX_ID_CHARS).collect()),
            context: number(["n_prompt_tokens", "prompt_tokens"]).zip(number(["n_ctx", "context_length"])),
            codes: codes.to_ascii_lowercase(),
            message,
        }
    }
}

/// An error code that is an HTTP status, as a number or as a string.
fn status_of(code: &Value) -> Option<u16> {
    // llama.cpp sends the status as a number, gateways as a string.
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|n| (100..600).contains(n))
}

/// The failure for an error status. `body` is the text of the response, or the beginning of it.
pub(super) fn from_status(envelope: &Envelope, body: &str, url: &Url) -> CallFailure {
    let status = envelope.status;
    let said = serde_json::from_str(body).map_or_else(
        |_| ErrorBody { message: plain_excerpt(body), ..ErrorBody::default() },
        |value| ErrorBody::from_json(&value),
    );
    let kind = match classify(Some(status), &said) {
        // A server that names a time to retry is not waiting for a payment.
        FailureKind::Billing if status == 429 && envelope.retry_after.is_some() => FailureKind::RateLimit,
        kind => kind,
    };
    let mut message = format!("the server answered {status}");
    let mut remedy = None;
    if let (300..400, Some(location)) = (status, &envelope.location) {
        let host = Url::parse(location).ok().and_then(|u| u.host_str().map(str::to_owned));
        let _ = write!(
            message,
            ": it redirects the request to {}; redirects are not followed, so set the base URL to it",
            host.as_deref().unwrap_or("another path")
        );
        remedy = Some(RESUME);
    }
    if status == 404 && kind == FailureKind::BadRequest {
        let _ = write!(message, ": there is nothing at {}; check the base URL", url.path());
        remedy = Some(RESUME);
    }
    append_details(&mut message, &said);
    CallFailure {
        status: Some(status),
        retry_after: envelope.retry_after.filter(|_| kind.is_transient()),
        request_id: envelope.request_id.clone().or(said.request_id),
        remedy,
        ..CallFailure::new(kind, message)
    }
}

/// The failure for an error event inside a stream.
pub(super) fn from_event(event: &Value) -> CallFailure {
    let said = ErrorBody::from_json(event);
    let kind = classify(said.status, &said);
    let mut message = "the server ended the answer with an error".to_owned();
    append_details(&mut message, &said);
    CallFailure { request_id: said.request_id, ..CallFailure::new(kind, message) }
}

/// The failure for a success status without a stream of events. Some servers report errors in this way.
pub(super) fn from_other_content(envelope: &Envelope, body: &str) -> CallFailure {
    if let Ok(value) = serde_json::from_str::<Value>(body)
        && value.get("error").is_some_and(|e| !e.is_null())
    {
        return CallFailure {
            status: Some(envelope.status),
            retry_after: envelope.retry_after,
            ..with_request_id(from_event(&value), envelope)
        };
    }
    let kind = if envelope.content_type.is_empty() { "content of unknown type" } else { &envelope.content_type };
    let message = format!(
        "the server answered with {}, not with a stream of events; check the base URL: {}",
        excerpt(kind),
        plain_excerpt(body)
    );
    let failure = CallFailure::new(FailureKind::Malformed, message);
    with_request_id(CallFailure { status: Some(envelope.status), remedy: Some(RESUME), ..failure }, envelope)
}

/// The failure for a success status without a list of models.
pub(super) fn from_no_list(envelope: &Envelope, url: &Url) -> CallFailure {
    let kind = if envelope.content_type.is_empty() { "content of unknown type" } else { &envelope.content_type };
    let message = format!("{} answered with {}, not with a list of models in JSON", url.path(), excerpt(kind));
    CallFailure { status: Some(envelope.status), ..CallFailure::new(FailureKind::Malformed, message) }
}

fn with_request_id(failure: CallFailure, envelope: &Envelope) -> CallFailure {
    CallFailure { request_id: failure.request_id.or_else(|| envelope.request_id.clone()), ..failure }
}

fn append_details(message: &mut String, said: &ErrorBody) {
    if !said.message.trim().is_empty() {
        let _ = write!(message, ": {}", excerpt(&said.message));
    }
    if let Some((prompt, context)) = said.context {
        let _ = write!(message, " ({prompt} tokens, the context has {context})");
    }
}

fn classify(status: Option<u16>, said: &ErrorBody) -> FailureKind {
    let message = said.message.to_ascii_lowercase();
    let code = |words: &[&str]| words.iter().any(|w| said.codes.contains(w));
    let says = |words: &[&str]| words.iter().any(|w| message.contains(w));
    // An error inside a stream, or behind a gateway, has no usable status. Its type and code imply one.
    let status = status.filter(|s| !(200..300).contains(s)).unwrap_or_else(|| {
        let types = [
            ("overloaded", 529),
            ("rate_limit", 429),
            ("authentication", 401),
            ("permission", 403),
            ("billing", 402),
            ("not_found", 404),
            ("request_too_large", 413),
            ("invalid_request", 400),
            ("timeout", 504),
        ];
        types.iter().find(|(word, _)| said.codes.contains(word)).map_or(500, |(_, status)| *status)
    });
    // A spending cap comes with status 429 like a rate limit, but waiting does not lift it before the month ends.
    let spend_cap = code(&["enforced_spend_limit_reached"])
        || says(&["spend limit", "spending limit", "reached your specified api usage limits"]);
    // Google reports an exceeded quota for both a rate limit and billing. If it names a time, it is a rate limit.
    let for_now = code(&["resource_exhausted", "rate_limit"]) || says(&["please retry in", "try again in"]);
    let billing = code(&["billing", "insufficient_quota", "insufficient_credits"])
        || says(&["credit balance", "insufficient credits", "exceeded your current quota"]);
    let too_long = code(&["exceed_context_size", "context_length_exceeded", "request_too_large"])
        || says(&[
            "prompt is too long",
            "maximum context length",
            "exceeds the available context",
            "context window",
            "context length",
            "input is too long",
            "too many tokens",
            "exceed context limit",
        ]);
    let no_model = code(&["model_not_found"])
        || (says(&["model"])
            && (code(&["not_found"]) || says(&["not found", "does not exist", "no such model", "not a valid model"])));
    match status {
        401 => FailureKind::Auth,
        402 => FailureKind::Billing,
        // The words decide before the status: servers use 400, 403 and 429 for limits of the account.
        429 | 400 | 403 | 413 | 422 if spend_cap => FailureKind::SpendCap,
        429 if for_now => FailureKind::RateLimit,
        429 | 400 | 403 if billing => FailureKind::Billing,
        429 => FailureKind::RateLimit,
        403 => FailureKind::Permission,
        413 => FailureKind::PromptTooLong,
        // Some servers answer 500 to a prompt that is too long.
        400 | 422 | 500 if too_long => FailureKind::PromptTooLong,
        400 | 404 | 422 if no_model => FailureKind::ModelNotFound,
        // Of a request to the Messages API only the model can be missing. Any other 404 is about the path.
        404 if code(&["not_found_error"]) => FailureKind::ModelNotFound,
        // llama.cpp answers 503 while it loads a model; 529 is the Messages API's own code.
        503 | 529 => FailureKind::Overloaded,
        500.. if code(&["overloaded"]) => FailureKind::Overloaded,
        // The server does not implement this request at all, so a retry cannot help.
        501 => FailureKind::BadRequest,
        408 | 409 | 425 | 500.. => FailureKind::Server,
        _ => FailureKind::BadRequest,
    }
}

/// The failure for a server that sends nothing, or only pings.
pub(super) fn from_silence(url: &Url, idle: Duration) -> CallFailure {
    let host = url.host_str().unwrap_or("the server");
    CallFailure::new(FailureKind::Idle, format!("no content came from {host} for {} s", idle.as_secs_f64()))
}

/// The failure for a broken connection.
pub(super) fn from_transport(error: reqwest::Error, url: &Url, connect: Duration, idle: Duration) -> CallFailure {
    let error = error.without_url();
    let what = with_causes(&error);
    let lower = what.to_ascii_lowercase();
    let host = url.host_str().unwrap_or("the server");
    let seconds = |time: Duration| time.as_secs_f64();
    let has = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    // reqwest has no kinds for TLS and for protocol errors, so the texts of the causes decide.
    let (kind, message) = if error.is_timeout() && error.is_connect() {
        (FailureKind::Connect, format!("{host} did not accept the connection within {} s", seconds(connect)))
    } else if error.is_timeout() {
        (FailureKind::Idle, format!("nothing came from {host} for {} s", seconds(idle)))
    } else if error.is_connect() && has(&["certificate", "tls", "handshake", "corrupt message", "invalidcontenttype"]) {
        (FailureKind::Tls, format!("the encrypted connection to {host} failed: {what}"))
    } else if error.is_connect() {
        (FailureKind::Connect, format!("{host} cannot be reached: {what}"))
    } else if error.is_builder() {
        (FailureKind::BadRequest, format!("the request cannot be made: {what}"))
    } else if has(&["invalid http", "invalid header", "parsed", "message head is too large"]) {
        (FailureKind::Malformed, format!("{host} does not speak HTTP: {what}"))
    } else {
        (FailureKind::CutStream, format!("the connection to {host} broke off: {what}"))
    };
    CallFailure::new(kind, message)
}

/// The message of an error with those of its causes.
pub(super) fn with_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Some errors repeat their cause in their own text.
        if !text.ends_with(&more) {
            let _ = write!(text, ": {more}");
        }
        cause = error.source();
    }
    excerpt(&text)
}

/// The beginning of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A server must not send escape sequences to the terminal.
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The beginning of a body that is not JSON. An HTML page is only named as such.
fn plain_excerpt(body: &str) -> String {
    let body = body.trim();
    if body.starts_with('<') { "(a page of HTML)".to_owned() } else { excerpt(body) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn failure(status: u16, body: &Value) -> CallFailure {
        let url = Url::parse("http://host/v1/messages").unwrap();
        from_status(&Envelope::new(status, &HeaderMap::new(), None), &body.to_string(), &url)
    }

    #[test]
    fn the_messages_of_many_servers_map_to_the_same_kinds() {
        use FailureKind as K;
        let anthropic =
            |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
        for (status, body, kind) in [
            (
                400,
                anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
                K::PromptTooLong,
            ),
            (400, anthropic("invalid_request_error", "Your credit balance is too low to access the API"), K::Billing),
            (400, anthropic("invalid_request_error", "You have reached your specified API usage limits."), K::SpendCap),
            (400, anthropic("invalid_request_error", "temperature: range"), K::BadRequest),
            (404, anthropic("not_found_error", "model: claude-none"), K::ModelNotFound),
            (413, anthropic("request_too_large", "Request exceeds the maximum size"), K::PromptTooLong),
            (402, anthropic("billing_error", "pay"), K::Billing),
            (504, anthropic("timeout_error", "slow"), K::Server),
            (500, anthropic("overloaded_error", "busy"), K::Overloaded),
            (
                400,
                json!({"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error", "n_prompt_tokens": 70000, "n_ctx": 16384}}),
                K::PromptTooLong,
            ),
            (
                400,
                json!({"error": {"message": "This model's maximum context length is 8192 tokens.", "type": "invalid_request_error", "code": "context_length_exceeded"}}),
                K::PromptTooLong,
            ),
            (
                429,
                json!({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}),
                K::Billing,
            ),
            (
                429,
                json!({"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing details.", "status": "RESOURCE_EXHAUSTED"}}),
                K::RateLimit,
            ),
            (
                400,
                anthropic(
                    "invalid_request_error",
                    "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000",
                ),
                K::PromptTooLong,
            ),
            (
                404,
                json!({"error": {"message": "model \"llama9\" not found, try pulling it first", "type": "api_error"}}),
                K::ModelNotFound,
            ),
            (
                404,
                json!({"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404}),
                K::ModelNotFound,
            ),
            (404, json!({"error": "File Not Found"}), K::BadRequest),
            (404, json!({"detail": "Not Found"}), K::BadRequest),
            (
                503,
                json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
                K::Overloaded,
            ),
            (501, json!({"error": {"code": 501, "message": "not implemented"}}), K::BadRequest),
            (301, json!(null), K::BadRequest),
        ] {
            assert_eq!(failure(status, &body).kind, kind, "{status} {body}");
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_is_reported_with_its_numbers() {
        let error = json!({"error": {"code": "400", "message": "too large", "type": "exceed_context_size_error", "n_prompt_tokens": 70000, "n_ctx": 16384}});
        let message = failure(400, &error).message;
        assert!(message.contains("70000 tokens, the context has 16384"), "{message}");
    }

    #[test]
    fn events_are_classified_by_type_or_by_code_in_any_notation() {
        use FailureKind as K;
        for (event, kind) in [
            (json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), K::Overloaded),
            (json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}), K::RateLimit),
            (json!({"type": "error", "error": {"type": "api_error", "message": "Internal"}}), K::Server),
            (json!({"type": "error", "error": {"type": "authentication_error", "message": "no"}}), K::Auth),
            (json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}), K::BadRequest),
            (json!({"error": {"code": 429, "message": "later"}}), K::RateLimit),
            (json!({"error": {"code": "502", "message": "gateway"}}), K::Server),
            (json!({"error": {"code": "rate_limit_exceeded", "message": "later"}}), K::RateLimit),
            (json!({"error": "what"}), K::Server),
        ] {
            assert_eq!(from_event(&event).kind, kind, "{event}");
        }
    }

    #[test]
    fn retry_after_is_given_in_seconds_milliseconds_or_as_a_date() {
        let now = Some("Fri, 20 Nov 2026 18:00:00 GMT");
        let wait = |millis, after, date| super::parse_retry_after(millis, after, date, None);
        let at = |seconds: f64| Some(Duration::from_secs_f64(seconds));
        assert_eq!(wait(None, Some("20"), None), at(20.0));
        assert_eq!(wait(None, Some("1.5"), None), at(1.5));
        assert_eq!(wait(Some("250"), Some("9"), None), at(0.25));
        assert_eq!(wait(None, Some("Fri, 20 Nov 2026 18:01:30 GMT"), now), at(90.0));
        assert_eq!(wait(None, Some("Fri, 20 Nov 2026 17:00:00 GMT"), now), at(0.0));
        assert_eq!(wait(None, Some("-3"), None), at(0.0));
        for bad in ["soon", "", "inf", "NaN", "1e300"] {
            assert_eq!(wait(None, Some(bad), now), None, "{bad}");
        }
        assert_eq!(wait(None, Some("Friday, 20-Nov-26 18:01:30 GMT"), now), at(90.0));
        assert_eq!(wait(None, Some("Fri Nov 20 18:01:30 2026"), now), at(90.0));
        assert_eq!(wait(None, Some("Fri, 20 Nov 2026 18:01:30 GMT"), None), None);
        let clock: fn() -> SystemTime = || SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_197_600);
        let ours = |date| super::parse_retry_after(None, Some("Fri, 20 Nov 2026 18:01:30 GMT"), date, Some(clock));
        assert_eq!((ours(None), ours(Some("no date"))), (at(90.0), at(90.0)));
    }

    proptest::proptest! {
        #[test]
        fn no_date_makes_parsing_retry_after_panic(
            day in "[A-Z][a-z]{2,8}",
            numbers in proptest::array::uniform5(-1_i32..100),
            month in "Jan|Feb|Dec|xxx",
            year in "-?[0-9]{1,7}|0000|9999|10000|-9999|-0001",
            zone in "GMT|Z|[+-][0-9]{4}|",
            seconds in proptest::num::f64::ANY,
        ) {
            let [date, hour, minute, second, short] = numbers;
            let now = Some("Fri, 20 Nov 2026 18:00:00 GMT");
            for text in [
                format!("{day}, {date:02} {month} {year} {hour:02}:{minute:02}:{second:02} {zone}"),
                format!("{day}, {date:02}-{month}-{short:02} {hour:02}:{minute:02}:{second:02} GMT"),
                format!("{day} {month} {date:2} {hour:02}:{minute:02}:{second:02} {year}"),
                format!("{year}-01-01T00:00:00Z"),
                seconds.to_string(),
            ] {
                let waits = [
                    parse_retry_after(None, Some(&text), now, None),
                    parse_retry_after(None, now, Some(&text), None),
                    parse_retry_after(Some(&text), None, now, None),
                    parse_retry_after(None, Some(&text), None, Some(|| SystemTime::UNIX_EPOCH - Duration::from_secs(1 << 40))),
                ];
                let _ = waits.map(|wait| wait.map(|wait| format!("{} s", wait.as_secs_f64().ceil())));
            }
        }
    }

    #[test]
    fn a_message_stays_on_one_line_and_short() {
        let long = format!("a\n\t{}\u{1b}[31m", "x".repeat(5000));
        let message = failure(400, &json!({"error": {"message": long}})).message;
        assert!(message.chars().count() < MAX_MESSAGE_CHARS + 50 && !message.contains(['\n', '\u{1b}']), "{message}");
        let url = Url::parse("http://host/v1/messages").unwrap();
        let page = from_status(&Envelope::new(502, &HeaderMap::new(), None), "<html>bad gateway</html>", &url);
        assert_eq!(
            (page.kind, page.message.as_str()),
            (FailureKind::Server, "the server answered 502: (a page of HTML)")
        );
    }
}
