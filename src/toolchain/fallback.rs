//! A toolchain that passes to a second one what the first cannot decide: the embedded checker is faster and supports
//! less, TLC supports everything.

use crate::tla::{CheckOutcome, Checker, Verdict};

use super::{
    BoxFuture, CheckReport, CheckRequest, ParseOutcome, ProbeReport, SpecText, ToolContext, ToolError, Toolchain,
    ToolchainInfo, Translation,
};

/// A check that ran out of time is not repeated with the second toolchain.
pub struct FallbackToolchain {
    first: Box<dyn Toolchain>,
    second: Box<dyn Toolchain>,
}

impl FallbackToolchain {
    pub fn new(first: Box<dyn Toolchain>, second: Box<dyn Toolchain>) -> Self {
        Self { first, second }
    }

    async fn try_both<'a>(
        &'a self,
        call: impl Fn(&'a dyn Toolchain) -> BoxFuture<'a, Result<CheckReport, ToolError>>,
    ) -> Result<CheckReport, ToolError> {
        match call(&*self.first).await {
            Ok(first) => {
                let verdict = &first.outcome.verdict;
                if verdict.is_timed_out() || !matches!(verdict, Verdict::Inconclusive { .. }) {
                    return Ok(first);
                }
            }
            Err(error) if error.is_fatal() => return Err(error),
            Err(_) => {}
        }
        call(&*self.second).await
    }
}

impl Toolchain for FallbackToolchain {
    fn checker(&self) -> Checker {
        self.first.checker()
    }

    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        self.first.translate(spec, cx)
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(async move {
            match self.first.parse(spec, cx).await {
                Err(ToolError::NotAnalysed { .. }) => self.second.parse(spec, cx).await,
                parsed => parsed,
            }
        })
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(self.try_both(move |tools| tools.check(request, cx)))
    }

    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(self.try_both(move |tools| tools.decide(request, cx)))
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<ProbeReport>, ToolError>> {
        let made = if outcome.checker == self.first.checker() { &self.first } else { &self.second };
        made.probe(request, outcome, cx)
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        self.first.info(cx)
    }
}
