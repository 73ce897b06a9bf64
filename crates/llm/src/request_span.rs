//! The span of one request to a model, for telemetry: the model, tokens and cost, and never a text.

use std::future::Future;

use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use tlaforge_process::UnfinishedSpan;

use super::failure::CallFailure;
use super::provider::{Answer, LlmError};
use super::usage::Usage;

pub(super) struct RequestSpan(UnfinishedSpan);

impl RequestSpan {
    pub(super) fn start(provider: &'static str, model: Option<&str>, attempt: u32) -> Self {
        // Claude Code calls the models of Anthropic.
        let provider = if provider == "claude" { "anthropic" } else { provider };
        Self(UnfinishedSpan::new(info_span!(
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
        )))
    }

    pub(super) async fn follow<T>(&self, request: impl Future<Output = T>) -> T {
        request.instrument(self.0.span().clone()).await
    }

    pub(super) fn answered(self, answer: &Answer) {
        record_use(&self.0.finish(), answer.usage, answer.cost_usd);
    }

    pub(super) fn failed(self, failure: &CallFailure, cost_usd: Option<f64>) {
        let span = self.0.finish();
        span.record("error", kind_of_failure(failure));
        record_use(&span, failure.usage, cost_usd);
    }

    /// It ended without an answer and without a failure of the server.
    pub(super) fn ended(self, error: &LlmError) {
        self.0.finish().record("error", kind_of_error(error));
    }
}

/// Why a call has no answer, as `error.type`.
pub(super) fn kind_of_error(error: &LlmError) -> String {
    let kind = match error {
        LlmError::Cancelled => "cancelled",
        LlmError::Deadline => "deadline",
        LlmError::Budget { .. } => "budget",
        LlmError::ReplayMiss { .. } | LlmError::ReplayStale { .. } | LlmError::ReplayOtherDocuments { .. } => {
            "not_recorded"
        }
        LlmError::Failed(failure) => return kind_of_failure(failure),
        // The value that the semantic conventions of OpenTelemetry have for all other errors.
        _ => "_OTHER",
    };
    kind.to_owned()
}

/// As in the journal.
fn kind_of_failure(failure: &CallFailure) -> String {
    serde_json::to_string(&failure.kind).unwrap_or_default().trim_matches('"').to_owned()
}

fn record_use(span: &Span, usage: Option<Usage>, cost_usd: Option<f64>) {
    if let Some(usage) = usage {
        span.record("input", usage.total() - usage.output);
        span.record("output", usage.output);
        // 0 is also the count of a server that counts none.
        if usage.cache_read > 0 {
            span.record("cache_read", usage.cache_read);
        }
    }
    span.record("cost_usd", cost_usd);
}
