//! How a failed call of Claude Code looks, as measured with 2.1.329: `subtype` says `success` for most of them, and the
//! same error has different tags, so the order of these questions matters.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::failure::{CallFailure, FailureKind};

/// What lines before the result told of a failure.
#[derive(Debug, Default)]
pub(super) struct Failed {
    /// The tag of the last error.
    tag: Option<String>,
    /// The answer was cut because the context is full, not because the answer is long.
    context_full: bool,
    /// When the last error was, by the program's own clock.
    at: Option<Timestamp>,
    /// When the account's limit ends, in seconds since 1970.
    resets_at: Option<i64>,
}

impl Failed {
    /// Takes in a message that the program wrote in the model's place.
    pub(super) fn message(&mut self, line: &Value) {
        self.tag = line["error"].as_str().map(str::to_owned);
        self.context_full = line["api_error_params"]["cut"] == "context_window";
        self.at = line["timestamp"].as_str().and_then(|at| at.parse().ok());
    }

    /// Takes in how the account stands.
    pub(super) fn limit(&mut self, info: &Value) {
        self.resets_at = if info["status"] == "rejected" { info["resetsAt"].as_i64() } else { None };
    }

    /// How long the account's limit lasts, where the server says.
    fn wait(&self) -> Option<Duration> {
        let seconds = self.resets_at?.checked_sub(self.at?.as_second())?;
        u64::try_from(seconds).ok().filter(|s| *s > 0).map(Duration::from_secs)
    }
}

/// The failure that a result stands for; `None` where it is an answer.
pub(super) fn of(result: &Value, failed: &Failed) -> Option<CallFailure> {
    let text = |name: &str| result[name].as_str().unwrap_or_default();
    let stop = text("stop_reason");
    // Whatever it says of itself, a result without `is_error: false` is not an answer.
    if result["is_error"] == false && text("subtype") == "success" && stop != "refusal" && stop != "max_tokens" {
        return None;
    }
    let errors = result["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let said = match text("result") {
        "" => errors.collect::<Vec<_>>().join("; "),
        said => said.to_owned(),
    };
    let status = result["api_error_status"].as_u64().and_then(|s| u16::try_from(s).ok());
    let tag = failed.tag.as_deref().or(result["api_error"].as_str()).unwrap_or_default();
    let kind = match (text("subtype"), text("terminal_reason"), stop) {
        ("error_max_turns", _, _) => FailureKind::ToolLoop,
        ("error_max_structured_output_retries", _, _) => FailureKind::Malformed,
        ("error_max_budget_usd", _, _) => FailureKind::SpendCap,
        (_, "prompt_too_long", _) => FailureKind::PromptTooLong,
        (_, _, "refusal") => FailureKind::Refusal,
        (_, _, "max_tokens") => FailureKind::Truncated,
        _ => by_tag(tag, failed.context_full, status)
            .or_else(|| status.map(by_status))
            .unwrap_or_else(|| by_words(&said)),
    };
    let kind = if kind == FailureKind::RateLimit && speaks_of_spending(&said) { FailureKind::SpendCap } else { kind };
    let said = if said.is_empty() { format!("it failed ({})", text("subtype")) } else { said };
    let mut failure = CallFailure::new(kind, format!("Claude Code: {said}"));
    failure.status = status;
    failure.wait = failed.wait().filter(|_| kind == FailureKind::RateLimit);
    Some(failure)
}

fn by_tag(tag: &str, context_full: bool, status: Option<u16>) -> Option<FailureKind> {
    Some(match tag {
        "max_output_tokens" if context_full => FailureKind::PromptTooLong,
        "max_output_tokens" => FailureKind::Truncated,
        "billing_error" => FailureKind::Billing,
        "rate_limit" => FailureKind::RateLimit,
        "overloaded" => FailureKind::Overloaded,
        "model_not_found" => FailureKind::ModelNotFound,
        "authentication_failed" if status == Some(403) => FailureKind::Permission,
        "authentication_failed" | "cloud_credential_error" => FailureKind::Auth,
        "oauth_org_not_allowed" | "account_on_hold" | "verification_required" => FailureKind::Permission,
        // `server_error` stands for overload, timeouts and lost connections as well.
        _ => return None,
    })
}

fn by_status(status: u16) -> FailureKind {
    match status {
        401 => FailureKind::Auth,
        402 => FailureKind::Billing,
        403 => FailureKind::Permission,
        404 => FailureKind::ModelNotFound,
        408 => FailureKind::Idle,
        413 => FailureKind::PromptTooLong,
        429 => FailureKind::RateLimit,
        529 => FailureKind::Overloaded,
        400..=499 => FailureKind::BadRequest,
        _ => FailureKind::Server,
    }
}

/// Without tag and status only the program's own words are left.
fn by_words(said: &str) -> FailureKind {
    let said = said.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if any(&["malformed response"]) {
        FailureKind::Malformed
    } else if any(&["certificate", "eproto", "ssl", "tls"]) {
        FailureKind::Tls
    } else if any(&["timed out", "timeout"]) {
        FailureKind::Idle
    } else if any(&["mid-response", "stream ended", "terminated", "closed unexpectedly", "incomplete"]) {
        FailureKind::CutStream
    } else if any(&["connect", "econn", "enotfound", "network"]) {
        FailureKind::Connect
    } else {
        FailureKind::Server
    }
}

fn speaks_of_spending(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("spend limit") || said.contains("spending limit") || said.contains("spend cap")
}
