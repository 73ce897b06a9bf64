//! Classifies failed calls of Claude Code, as measured with version 2.1.329. `subtype` is `success` for most failures, and
//! the same error comes with different tags, so the order of the checks matters.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::failure::{CallFailure, FailureKind};

/// Facts about a failure from lines before the result.
#[derive(Debug, Default)]
pub(super) struct FailureTags {
    /// The tag of the last error.
    tag: Option<String>,
    /// Whether the answer was cut because the context is full, not because of the output limit.
    context_full: bool,
    /// Time of the last error, by the program's clock.
    at: Option<Timestamp>,
    /// End of the account's rate limit, in seconds since 1970.
    resets_at: Option<i64>,
}

impl FailureTags {
    /// Reads an error message that the program wrote in place of the model.
    pub(super) fn read_message(&mut self, line: &Value) {
        self.tag = line["error"].as_str().map(str::to_owned);
        self.context_full = line["api_error_params"]["cut"] == "context_window";
        self.at = line["timestamp"].as_str().and_then(|at| at.parse().ok());
    }

    /// Reads the rate limit of the account.
    pub(super) fn read_limit(&mut self, info: &Value) {
        // The program also reports a limit that is only near (`allowed_warning`), on calls that succeed.
        self.resets_at = if info["status"] == "rejected" { info["resetsAt"].as_i64() } else { None };
    }

    /// The remaining time of the account's rate limit. It is the only wait that the program reports: it does not pass on a
    /// `retry-after` (measured).
    fn retry_after(&self) -> Option<Duration> {
        let seconds = self.resets_at?.checked_sub(self.at?.as_second())?;
        u64::try_from(seconds).ok().filter(|s| *s > 0).map(Duration::from_secs)
    }
}

/// The failure in a result line; `None` if it is an answer.
pub(super) fn classify_result(result: &Value, failed: &FailureTags) -> Option<CallFailure> {
    let text = |name: &str| result[name].as_str().unwrap_or_default();
    let stop = text("stop_reason");
    // `subtype: success` is not enough: failed calls have it as well.
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
    // From the most to the least specific: the program's own reasons, then the tag (low credit has status 400 and the
    // tag `billing_error`), then the status, then the words.
    let kind = match (text("subtype"), text("terminal_reason"), stop) {
        ("error_max_turns", _, _) => FailureKind::ToolLoop,
        ("error_max_structured_output_retries", _, _) => FailureKind::Malformed,
        ("error_max_budget_usd", _, _) => FailureKind::SpendCap,
        (_, "prompt_too_long", _) => FailureKind::PromptTooLong,
        (_, _, "refusal") => FailureKind::Refusal,
        (_, _, "max_tokens") => FailureKind::Truncated,
        _ => by_tag(tag, failed.context_full, status)
            .or_else(|| status.map(by_status))
            .unwrap_or_else(|| by_message(&said)),
    };
    // A monthly cap has the tag of a rate limit, but waiting does not lift it.
    let kind = if kind == FailureKind::RateLimit && mentions_spending(&said) { FailureKind::SpendCap } else { kind };
    let said = if said.is_empty() { format!("it failed ({})", text("subtype")) } else { said };
    let mut failure = CallFailure::new(kind, format!("Claude Code: {said}"));
    failure.status = status;
    failure.retry_after = failed.retry_after().filter(|_| kind == FailureKind::RateLimit);
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
        // Status 403 has the same tag as 401 (measured).
        "authentication_failed" if status == Some(403) => FailureKind::Permission,
        "authentication_failed" | "cloud_credential_error" => FailureKind::Auth,
        "oauth_org_not_allowed" | "account_on_hold" | "verification_required" => FailureKind::Permission,
        // `server_error` also covers overload, timeouts and lost connections, so it decides nothing.
        _ => return None,
    })
}

fn by_status(status: u16) -> FailureKind {
    match status {
        401 => FailureKind::Auth,
        402 => FailureKind::Billing,
        403 => FailureKind::Permission,
        // The program requests one path only, so what is missing is the model.
        404 => FailureKind::ModelNotFound,
        408 => FailureKind::Idle,
        413 => FailureKind::PromptTooLong,
        429 => FailureKind::RateLimit,
        529 => FailureKind::Overloaded,
        400..=499 => FailureKind::BadRequest,
        _ => FailureKind::Server,
    }
}

/// Without tag and status, only the text of the message is left.
fn by_message(said: &str) -> FailureKind {
    let said = said.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
    // Messages about certificates and time limits also speak of connections, so `connect` comes late.
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

fn mentions_spending(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("spend limit") || said.contains("spending limit") || said.contains("spend cap")
}
