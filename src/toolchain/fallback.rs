//! One toolchain, and another for what the first one refuses: the embedded one is quick and knows less, TLC knows all.

use crate::tla::{CheckOutcome, Checker, Verdict};

use super::{
    BoxFuture, CheckRequest, Checked, ParseOutcome, Probed, SpecText, ToolContext, ToolError, Toolchain, ToolchainInfo,
    Translation,
};

/// Asks the second toolchain where the first one cannot decide. What did not end in time is not asked again.
pub struct FallbackToolchain {
    first: Box<dyn Toolchain>,
    second: Box<dyn Toolchain>,
}

impl FallbackToolchain {
    /// The two, in the order in which they are asked.
    pub fn new(first: Box<dyn Toolchain>, second: Box<dyn Toolchain>) -> Self {
        Self { first, second }
    }

    async fn or_second<'a>(
        &'a self,
        ask: impl Fn(&'a dyn Toolchain) -> BoxFuture<'a, Result<Checked, ToolError>>,
    ) -> Result<Checked, ToolError> {
        match ask(&*self.first).await {
            Ok(first) => {
                let verdict = &first.outcome.verdict;
                if verdict.is_timed_out() || !matches!(verdict, Verdict::Inconclusive { .. }) {
                    return Ok(first);
                }
            }
            Err(error) if error.is_fatal() => return Err(error),
            Err(_) => {}
        }
        ask(&*self.second).await
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
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(self.or_second(move |tools| tools.check(request, cx)))
    }

    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(self.or_second(move |tools| tools.decide(request, cx)))
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<Probed>, ToolError>> {
        let made = if outcome.checker == self.first.checker() { &self.first } else { &self.second };
        made.probe(request, outcome, cx)
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        self.first.info(cx)
    }
}
