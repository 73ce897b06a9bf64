//! A toolchain that logs each call and its result. It changes nothing.

use std::time::Instant;

use async_trait::async_trait;
use tracing::field::Empty;
use tracing::{Instrument as _, info, info_span, trace};

use tlaforge_process::UnfinishedSpan;
use tlaforge_tla::{CheckOutcome, Checker, Verdict};

use super::{
    BoxFuture, CheckReport, CheckRequest, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation,
};

pub struct LoggedToolchain<T> {
    inner: T,
}

impl<T: Toolchain> LoggedToolchain<T> {
    pub fn new(inner: T) -> Self {
        Self { inner }
    }

    fn log_call<'a, R: Send + 'a, L: Into<LoggedResult>>(
        &'a self,
        call: &'static str,
        module: &'a str,
        work: BoxFuture<'a, Result<R, ToolError>>,
        result: impl Fn(&R) -> L + Send + 'a,
    ) -> BoxFuture<'a, Result<R, ToolError>> {
        // The fields without a value here are for telemetry, which gets no events.
        let span = info_span!(
            "tool",
            checker = self.inner.checker().id(),
            call,
            module,
            result = Empty,
            generated = Empty,
            distinct = Empty,
            error = Empty
        );
        let unfinished = UnfinishedSpan::new(span.clone());
        let logged = async move {
            let began = Instant::now();
            info!("tool call started");
            let done = work.await;
            let (took, own) = (began.elapsed(), unfinished.finish());
            match &done {
                Ok(done) => {
                    let LoggedResult { result, generated, distinct } = result(done).into();
                    info!(result, ?took, "tool call ended");
                    own.record("result", result).record("generated", generated).record("distinct", distinct);
                }
                Err(error) => {
                    let kind: &'static str = error.into();
                    info!(error = kind, ?took, "tool call failed");
                    own.record("error", kind);
                    // The message can quote the module, which a model wrote.
                    trace!(error = ?error.to_string(), "tool call failed");
                }
            }
            done
        };
        Box::pin(logged.instrument(span))
    }
}

/// What a call came to, with the numbers of states of a check.
struct LoggedResult {
    result: &'static str,
    generated: Option<u64>,
    distinct: Option<u64>,
}

impl From<&'static str> for LoggedResult {
    fn from(result: &'static str) -> Self {
        Self { result, generated: None, distinct: None }
    }
}

impl From<&CheckReport> for LoggedResult {
    fn from(checked: &CheckReport) -> Self {
        let statistics = &checked.outcome.statistics;
        let result = match checked.outcome.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated { .. } => "violated",
            Verdict::Invalid { .. } => "invalid",
            Verdict::Inconclusive { .. } => "inconclusive",
        };
        Self { result, generated: statistics.generated, distinct: statistics.distinct }
    }
}

#[async_trait]
impl<T: Toolchain> Toolchain for LoggedToolchain<T> {
    fn checker(&self) -> Checker {
        self.inner.checker()
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        self.log_call("translate", &spec.name, self.inner.translate(spec, cx), |translation| match translation {
            Translation::NoAlgorithm => "no algorithm",
            Translation::Translated(_) => "translated",
            Translation::Rejected(_) => "rejected",
        })
        .await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        self.log_call("parse", &spec.name, self.inner.parse(spec, cx), |outcome| match outcome {
            ParseOutcome::Accepted { .. } => "accepted",
            ParseOutcome::Rejected(_) => "rejected",
        })
        .await
    }

    async fn find_refusal(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Option<String>, ToolError> {
        let work = self.inner.find_refusal(request, cx);
        self.log_call(
            "find refusal",
            &request.spec.name,
            work,
            |why| if why.is_some() { "refused" } else { "accepted" },
        )
        .await
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.log_call("check", &request.spec.name, self.inner.check(request, cx), |checked| LoggedResult::from(checked))
            .await
    }

    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.log_call("decide", &request.spec.name, self.inner.decide(request, cx), |checked| {
            LoggedResult::from(checked)
        })
        .await
    }

    async fn decide_each(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<SeparateVerdicts, ToolError> {
        let result = |decided: &SeparateVerdicts| match decided.violated.as_slice() {
            [] => LoggedResult::from(&decided.rest),
            _ => LoggedResult { result: "violated", ..LoggedResult::from(&decided.rest) },
        };
        self.log_call("decide each", &request.spec.name, self.inner.decide_each(request, cx), result).await
    }

    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        let work = self.inner.check_without_details(request, cx);
        self.log_call("check without details", &request.spec.name, work, |checked| LoggedResult::from(checked)).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        self.log_call("probe", &request.spec.name, self.inner.probe(request, outcome, cx), |probed| match probed {
            Some(_) => "probed",
            None => "nothing to probe",
        })
        .await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.inner.info(cx).await
    }

    async fn versions(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        self.inner.versions(cx).await
    }
}
