//! The toolchain that this program carries: it needs no Java. Translator and static checks are our own; the checker is
//! `tla-mc`, run in a child of our own program (see `embedded_child`). What the checker refuses is inconclusive with its
//! reason, never "holds": it accepts modules that SANY rejects, so nothing reaches it that `parse` did not accept.

use std::path::PathBuf;

use crate::pluscal;
use crate::tla::semantic::analyze;
use crate::tla::{CheckOutcome, Checker, Module, check_cfg_names};

use super::embedded_child::VERSION;
use super::embedded_run::TlaMc;
use super::lint::lint_spec;
use super::{
    BoxFuture, CheckRequest, Checked, ParseOutcome, Probed, SpecText, ToolContext, ToolError, ToolPaths, Toolchain,
    ToolchainInfo, Translation, bounds, check, probe,
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

    /// Translates the PlusCal algorithm.
    fn translate_now(spec: &SpecText, cx: &ToolContext<'_>) -> Translation {
        let refused = lint_spec(spec, &cx.limits.allowed_modules);
        if !refused.is_empty() {
            return Translation::Rejected(refused);
        }
        match pluscal::translate(&spec.text, &pluscal::Options::default()) {
            Ok(Some(translated)) => Translation::Translated(translated.text),
            Ok(None) => Translation::NoAlgorithm,
            Err(diagnostics) => Translation::Rejected(diagnostics),
        }
    }

    /// Whether a module is TLA+, by our own checks.
    fn parse_now(spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        let refused = lint_spec(spec, &cx.limits.allowed_modules);
        if !refused.is_empty() {
            return Ok(ParseOutcome::Rejected(refused));
        }
        let found = analyze(&spec.name, &spec.text, &spec.beside);
        match found.not_analysed.first() {
            _ if found.rejected() => Ok(ParseOutcome::Rejected(found.errors)),
            Some(what) => Err(ToolError::NotAnalysed { what: what.to_string() }),
            None => Ok(ParseOutcome::Accepted { warnings: found.warnings }),
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
        Box::pin(async move { Ok(Self::translate_now(spec, cx)) })
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(async move { Self::parse_now(spec, cx) })
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(async move {
            match unfit(request) {
                Some(rejected) => Ok(rejected),
                None => check::check(&TlaMc::new(self)?, request, cx).await,
            }
        })
    }

    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(async move {
            match unfit(request) {
                Some(rejected) => Ok(rejected),
                None => check::decide(&TlaMc::new(self)?, request, cx).await,
            }
        })
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<Probed>, ToolError>> {
        Box::pin(async move { probe::probe(&TlaMc::new(self)?, request, outcome, cx).await })
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        Box::pin(async move {
            let said = TlaMc::new(self)?.said_version(cx).await?;
            if said != VERSION {
                let what = format!("it calls itself {said:?}, not {VERSION:?}");
                return Err(ToolError::Broke { tool: "the embedded checker".to_owned(), what });
            }
            let location = "this program".to_owned();
            Ok(ToolchainInfo { runtime: "none needed".to_owned(), location, version: said })
        })
    }
}

/// The checker takes what TLC rejects: names that are not there, two kinds of initial predicates.
fn unfit(request: &CheckRequest) -> Option<Checked> {
    let spec = Module::parse(&request.spec.text).ok()?;
    let unfit = check_cfg_names(&spec, &request.cfg);
    (!unfit.is_empty()).then(|| Checked {
        outcome: CheckOutcome::rejected(Checker::Embedded, bounds(&request.cfg), unfit),
        output: String::new(),
        second: None,
    })
}
