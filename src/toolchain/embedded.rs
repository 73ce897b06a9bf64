//! The toolchain that this program carries: it needs no Java. Translator and static checks are our own; the checker is
//! `tla-mc`, run in a child of our own program (see `embedded_child`). What the checker refuses is inconclusive with its
//! reason, never "holds": it accepts modules that SANY rejects, so nothing reaches it that `parse` did not accept.

use std::path::PathBuf;

use crate::tla::{CheckOutcome, Checker};

use super::embedded_process::{EmbeddedChecker, VERSION};
use super::{
    BoxFuture, CheckReport, CheckRequest, ParseOutcome, ProbeReport, SpecText, ToolContext, ToolError, ToolPaths,
    Toolchain, ToolchainInfo, Translation, check, probe, static_checks, static_checks_child,
};

/// Translator, static checks and checker without Java.
#[derive(Debug, Clone)]
pub struct EmbeddedToolchain {
    /// This program, which is the checker when its environment says so.
    pub(super) program: PathBuf,
    /// Where folders for single checks are made.
    pub(super) scratch: PathBuf,
}

impl EmbeddedToolchain {
    /// The toolchain of `program`, which calls [`become_checker`](super::become_checker) where its environment holds
    /// [`CHECKER_MARKER`](super::CHECKER_MARKER). Nothing is started yet.
    pub fn new(program: PathBuf, paths: &ToolPaths<'_>) -> Self {
        Self { program, scratch: paths.scratch() }
    }

    fn checker_process(&self) -> Result<EmbeddedChecker<'_>, ToolError> {
        EmbeddedChecker::new(&self.program, &self.scratch)
    }

    /// The report on a request that the checker must not run on.
    async fn find_unsupported(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<Option<CheckReport>, ToolError> {
        match static_checks_child::find_unsupported(&self.program, request, cx).await {
            Ok(outcome) => Ok(outcome.map(without_a_run)),
            Err(error) if error.is_caused_by_input() => {
                Ok(Some(without_a_run(static_checks::undecided(request, &error.to_string()))))
            }
            Err(error) => Err(error),
        }
    }
}

impl Toolchain for EmbeddedToolchain {
    fn checker(&self) -> Checker {
        Checker::Embedded
    }

    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        Box::pin(static_checks_child::translate(&self.program, spec, cx))
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(static_checks_child::parse(&self.program, spec, cx))
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(async move {
            match self.find_unsupported(request, cx).await? {
                Some(report) => Ok(report),
                None => check::check(&self.checker_process()?, request, cx).await,
            }
        })
    }

    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(async move {
            match self.find_unsupported(request, cx).await? {
                Some(report) => Ok(report),
                None => check::decide(&self.checker_process()?, request, cx).await,
            }
        })
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<ProbeReport>, ToolError>> {
        Box::pin(async move { probe::probe(&self.checker_process()?, request, outcome, cx).await })
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        Box::pin(async move {
            let said = self.checker_process()?.query_version(cx).await?;
            if said != VERSION {
                let what = format!("it calls itself {said:?}, not {VERSION:?}");
                return Err(ToolError::Broke { tool: "the embedded checker".to_owned(), what });
            }
            let location = "this program".to_owned();
            Ok(ToolchainInfo { runtime: "none needed".to_owned(), location, version: said })
        })
    }
}

/// The outcome of a check for which the checker did not run.
fn without_a_run(outcome: CheckOutcome) -> CheckReport {
    let outcome = CheckOutcome { version: VERSION.to_owned(), ..outcome };
    CheckReport { outcome, output: String::new(), second_outcome: None }
}
