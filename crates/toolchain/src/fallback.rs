//! A toolchain that passes to a second one what the first cannot decide: the embedded checker is faster and supports
//! less, TLC supports everything.

use async_trait::async_trait;
use tlaforge_tla::{CheckOutcome, Checker, Verdict, ViolationKind};

use super::{
    BoxFuture, CheckReport, CheckRequest, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation,
};

/// A check that ran out of time is not repeated with the second toolchain. What the first one's parser rejects is rejected only if
/// the second one's does, too.
pub struct FallbackToolchain {
    first: Box<dyn Toolchain>,
    second: Box<dyn Toolchain>,
}

impl FallbackToolchain {
    pub fn new(first: Box<dyn Toolchain>, second: Box<dyn Toolchain>) -> Self {
        Self { first, second }
    }

    pub(super) fn second(&self) -> &dyn Toolchain {
        &*self.second
    }

    async fn try_both<'a>(
        &'a self,
        needs_second: impl Fn(&Verdict) -> bool,
        call: impl Fn(&'a dyn Toolchain) -> BoxFuture<'a, Result<CheckReport, ToolError>>,
    ) -> Result<CheckReport, ToolError> {
        let first = match call(&*self.first).await {
            Ok(first) if !needs_second(&first.outcome.verdict) => return Ok(first),
            Ok(first) => Some(first),
            // Cancelled, or this machine is broken: the second toolchain would end in the same way.
            Err(error) if error.is_fatal() => return Err(error),
            Err(_) => None,
        };
        let second = call(&*self.second).await?;
        // If both reject it, the messages of the first one say more.
        let is_rejected_twice = matches!(second.outcome.verdict, Verdict::Invalid { .. });
        Ok(first.filter(|first| is_rejected_twice && is_rejected(&first.outcome.verdict)).unwrap_or(second))
    }
}

fn needs_second(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Inconclusive { .. }) && !verdict.is_timed_out()
}

/// Whether the first toolchain does not accept the module. It may be the one that is wrong.
fn is_rejected(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Invalid { violated, .. } if violated.kind == ViolationKind::Parse)
}

#[async_trait]
impl Toolchain for FallbackToolchain {
    fn checker(&self) -> Checker {
        self.first.checker()
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        self.first.translate(spec, cx).await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        match self.first.parse(spec, cx).await {
            Err(ToolError::NotAnalysed { .. }) => self.second.parse(spec, cx).await,
            Ok(rejected @ ParseOutcome::Rejected(_)) => match self.second.parse(spec, cx).await {
                Ok(accepted @ ParseOutcome::Accepted { .. }) => Ok(accepted),
                Err(error) if error.is_fatal() => Err(error),
                // The first one's messages say more.
                _ => Ok(rejected),
            },
            parsed => parsed,
        }
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        let needs_second = |verdict: &Verdict| needs_second(verdict) || is_rejected(verdict);
        self.try_both(needs_second, move |tools| tools.check(request, cx)).await
    }

    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.try_both(needs_second, move |tools| tools.decide(request, cx)).await
    }

    /// What the first toolchain found violated is kept even if it could not decide the rest.
    async fn decide_each(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<SeparateVerdicts, ToolError> {
        match self.first.decide_each(request, cx).await {
            Ok(first) if !first.violated.is_empty() || !needs_second(&first.rest.outcome.verdict) => {
                return Ok(first);
            }
            Err(error) if error.is_fatal() => return Err(error),
            Ok(_) | Err(_) => {}
        }
        self.second.decide_each(request, cx).await
    }

    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        self.try_both(needs_second, move |tools| tools.check_without_details(request, cx)).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        // By the checker that found the violation: the other one may not be able to check it.
        let made = if outcome.checker == self.first.checker() { &self.first } else { &self.second };
        made.probe(request, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.first.info(cx).await
    }

    async fn versions(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        Ok(format!("{}, then {}", self.first.versions(cx).await?, self.second.versions(cx).await?))
    }
}
