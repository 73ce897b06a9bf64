//! The span of one request to a model, for telemetry: the model, tokens and cost, and never a text.

use std::future::Future;

use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use super::failure::CallFailure;
use super::provider::{Answer, LlmError};
use super::usage::Usage;

/// Ends when it is dropped.
pub(super) struct RequestSpan(Span);

impl RequestSpan {
    pub(super) fn start(provider: &'static str, model: Option<&str>, attempt: u32) -> Self {
        // Claude Code calls the models of Anthropic.
        let provider = if provider == "claude" { "anthropic" } else { provider };
        Self(info_span!(
            target: "telemetry",
            "model_request",
            operation = "chat",
            provider,
            model,
            attempt,
            input = Empty,
            output = Empty,
            cache_read = Empty,
            cost_usd = Empty,
            error = Empty,
        ))
    }

    pub(super) async fn follow<T>(&self, request: impl Future<Output = T>) -> T {
        request.instrument(self.0.clone()).await
    }

    pub(super) fn answered(self, answer: &Answer) {
        self.record_use(answer.usage, answer.cost_usd);
    }

    pub(super) fn failed(self, failure: &CallFailure, cost_usd: Option<f64>) {
        let kind = serde_json::to_string(&failure.kind).unwrap_or_default();
        self.0.record("error", kind.trim_matches('"'));
        self.record_use(failure.usage, cost_usd);
    }

    /// It ended without an answer and without a failure of the server.
    pub(super) fn ended(self, error: &LlmError) {
        self.0.record(
            "error",
            match error {
                LlmError::Cancelled => "cancelled",
                LlmError::Deadline => "deadline",
                LlmError::ReplayMiss { .. } | LlmError::ReplayStale { .. } => "not_recorded",
                _ => "_OTHER",
            },
        );
    }

    fn record_use(&self, usage: Option<Usage>, cost_usd: Option<f64>) {
        if let Some(usage) = usage {
            self.0.record("input", usage.total() - usage.output);
            self.0.record("output", usage.output);
            // 0 is also the count of a server that counts none.
            if usage.cache_read > 0 {
                self.0.record("cache_read", usage.cache_read);
            }
        }
        self.0.record("cost_usd", cost_usd);
    }
}
