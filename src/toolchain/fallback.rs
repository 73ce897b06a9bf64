//! One toolchain, and another for whatever the first does not decide: a checker that starts in no time goes first, and
//! the reference is asked where that one refuses.

use crate::tla::{Checker, Verdict};

use super::{
    BoxFuture, CheckRequest, Checked, ParseOutcome, Probed, SpecText, ToolContext, ToolError, Toolchain, ToolchainInfo,
    Translation,
};

/// The first toolchain, and the reference behind it.
pub struct FallbackToolchain {
    first: Box<dyn Toolchain>,
    then: Box<dyn Toolchain>,
}

impl FallbackToolchain {
    /// `then` is asked where `first` comes to nothing.
    pub fn new(first: Box<dyn Toolchain>, then: Box<dyn Toolchain>) -> Self {
        Self { first, then }
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
        Box::pin(async move {
            match self.first.translate(spec, cx).await {
                Ok(Translation::Rejected(_)) | Err(ToolError::NotAnalysed { .. }) => {
                    self.then.translate(spec, cx).await
                }
                done => done,
            }
        })
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(async move {
            match self.first.parse(spec, cx).await {
                Ok(ParseOutcome::Rejected(_)) | Err(ToolError::NotAnalysed { .. }) => self.then.parse(spec, cx).await,
                done => done,
            }
        })
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(async move {
            match self.first.check(request, cx).await {
                Err(ToolError::Cancelled) => Err(ToolError::Cancelled),
                Ok(checked) if matches!(checked.outcome.verdict, Verdict::Holds | Verdict::Violated { .. }) => {
                    Ok(checked)
                }
                _ => self.then.check(request, cx).await,
            }
        })
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a crate::tla::CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<Probed>, ToolError>> {
        Box::pin(async move {
            let by = if outcome.checker == self.first.checker() { &self.first } else { &self.then };
            by.probe(request, outcome, cx).await
        })
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        self.then.info(cx)
    }
}
