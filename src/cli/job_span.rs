//! The span of a job of a worker, for telemetry: a child of that of the client, wherever it runs.

use serde::Deserialize;
use tracing::field::Empty;
use tracing::{Instrument as _, info_span};

use super::telemetry::set_parent;
use tlaforge_restate::NoAnswer;

/// Does a job in its span.
pub(super) async fn in_span(
    kind: &'static str,
    request: &[u8],
    job: impl Future<Output = Result<String, NoAnswer>>,
) -> Result<String, NoAnswer> {
    #[derive(Deserialize)]
    struct Context {
        traceparent: Option<String>,
    }
    let span = info_span!(target: "telemetry", "job", kind, result = Empty);
    // Anything else that is wrong with the request, the job itself reports.
    if let Ok(Context { traceparent: Some(traceparent) }) = serde_json::from_slice(request) {
        set_parent(&span, &traceparent);
    }
    let ended = job.instrument(span.clone()).await;
    let result = match &ended {
        Ok(_) => "done",
        Err(NoAnswer::Failed(_)) => "failed",
        Err(NoAnswer::GivenBack) => "given_back",
    };
    span.record("result", result);
    ended
}
