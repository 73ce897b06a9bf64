//! The toolchain that this program carries: it needs no Java. Translator and static checks are our own; the checker is
//! `tla-mc`, run in a child of our own program (see `embedded_child`). What the checker refuses is inconclusive with its
//! reason, never "holds": it accepts modules that SANY rejects, so nothing reaches it that `parse` did not accept.

use std::path::PathBuf;

use crate::pluscal;
use crate::tla::semantic::{analyze, comparable, for_checker};
use crate::tla::{CheckOutcome, Checker, Diagnostic, Module, Stage, Verdict, check_cfg_names_for_check};

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
}

/// Translates the PlusCal algorithm.
pub(super) fn translate_now(spec: &SpecText, allowed_modules: &[String]) -> Translation {
    let refused = lint_spec(spec, allowed_modules);
    if !refused.is_empty() {
        return Translation::Rejected(refused);
    }
    match pluscal::translate(&spec.text, &pluscal::Options::default()) {
        Ok(Some(translated)) => Translation::Translated(translated.text),
        Ok(None) => Translation::NoAlgorithm,
        Err(diagnostics) => Translation::Rejected(diagnostics),
    }
}

/// Whether a module is TLA+, by our own checks; the error is what they cannot decide.
pub(super) fn parse_now(spec: &SpecText, allowed_modules: &[String]) -> Result<ParseOutcome, String> {
    let refused = lint_spec(spec, allowed_modules);
    if !refused.is_empty() {
        return Ok(ParseOutcome::Rejected(refused));
    }
    let found = analyze(&spec.name, &spec.text, &spec.beside);
    match found.not_analysed.first() {
        _ if found.rejected() => Ok(ParseOutcome::Rejected(found.errors)),
        Some(what) => Err(what.to_string()),
        None => Ok(ParseOutcome::Accepted { warnings: found.warnings }),
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
        Box::pin(self.translated(spec, cx))
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(self.parsed(spec, cx))
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(async move {
            match self.unfit(request, cx).await {
                Ok(Some(outcome)) => Ok(without_a_run(outcome)),
                Err(error) if error.is_caused_by_input() => Ok(without_a_run(undecided(request, &error.to_string()))),
                Err(error) => Err(error),
                Ok(None) => check::check(&TlaMc::new(self)?, request, cx).await,
            }
        })
    }

    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(async move {
            match self.unfit(request, cx).await {
                Ok(Some(outcome)) => Ok(without_a_run(outcome)),
                Err(error) if error.is_caused_by_input() => Ok(without_a_run(undecided(request, &error.to_string()))),
                Err(error) => Err(error),
                Ok(None) => check::decide(&TlaMc::new(self)?, request, cx).await,
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

/// The outcome of a check for which the checker did not run.
fn without_a_run(outcome: CheckOutcome) -> Checked {
    let outcome = CheckOutcome { version: VERSION.to_owned(), ..outcome };
    Checked { outcome, output: String::new(), second: None }
}

fn undecided(request: &CheckRequest, why: &str) -> CheckOutcome {
    let rejected = CheckOutcome::rejected(Checker::Embedded, bounds(&request.cfg), Vec::new());
    CheckOutcome { verdict: Verdict::inconclusive(why), ..rejected }
}

fn refused(request: &CheckRequest, why: &str) -> CheckOutcome {
    undecided(request, &format!("the embedded checker refuses it: {why}"))
}

/// The checker takes what TLC rejects: names that are not there, two kinds of initial predicates. And what cannot be
/// written so that it reads it as TLA+ does is refused here.
pub(super) fn unfit(request: &CheckRequest) -> Option<CheckOutcome> {
    let spec = &request.spec;
    if let Ok(module) = Module::parse(&spec.text) {
        let cfg = &request.cfg;
        // A model value that only names itself does no harm.
        let mut named = cfg.clone();
        named.constants.retain(|name, value| name != value || module.constants.iter().any(|known| known.name == *name));
        if cfg.gives_no_behaviour() && module.variable_names().is_empty() && extends_a_variable(spec, &module) {
            return Some(refused(request, "no behaviour is given, and an extended module may have variables"));
        }
        let unfit = check_cfg_names_for_check(&module, &named);
        let unfit = if unfit.is_empty() { no_state_predicates(request, &module) } else { unfit };
        if !unfit.is_empty() {
            return Some(CheckOutcome::rejected(Checker::Embedded, bounds(&request.cfg), unfit));
        }
    }
    let beside = spec.beside.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let modules: Vec<(&str, &str)> = std::iter::once((spec.name.as_str(), spec.text.as_str())).chain(beside).collect();
    let written = comparable(&modules, &request.cfg_text).and_then(|()| for_checker(&modules, &request.cfg_text));
    let unwritten = written.err()?;
    Some(refused(request, &unwritten.message))
}

/// Whether a module that this one extends, directly or not, declares variables; or cannot be read.
fn extends_a_variable(spec: &SpecText, module: &Module) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    let mut names: Vec<String> = module.extends.clone();
    while let Some(name) = names.pop() {
        let Some((name, text)) = spec.beside.iter().find(|(known, _)| *known == name) else { continue };
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name);
        match Module::parse(text) {
            Ok(extended) if extended.variables.is_empty() => names.extend(extended.extends),
            _ => return true,
        }
    }
    false
}

/// Invariants that speak of more than a state, by our own levels: what may be primed is at most of state level.
fn no_state_predicates(request: &CheckRequest, module: &Module) -> Vec<Diagnostic> {
    let spec = &request.spec;
    let named = request.cfg.invariants.iter().filter(|name| module.definition(name).is_some());
    let named: Vec<&String> = named.filter(|name| !request.cfg.constants.contains_key(*name)).collect();
    let rejected = |names: &[&String]| {
        let mut own = "TlaforgeLevels".to_owned();
        while spec.text.contains(&own) {
            own.push('_');
        }
        let primed = names.iter().enumerate().map(|(at, name)| format!("{own}{at} == ({name})'\n"));
        let text = format!("---- MODULE {own} ----\nEXTENDS {}\n{}====\n", spec.name, primed.collect::<String>());
        let mut beside = spec.beside.clone();
        beside.push((spec.name.clone(), spec.text.clone()));
        analyze(&own, &text, &beside).errors.iter().any(|error| error.message.contains("level"))
    };
    if named.is_empty() || !rejected(&named) {
        return Vec::new();
    }
    let found = named.into_iter().filter(|name| rejected(&[name]));
    let told = |name: &String| Diagnostic {
        stage: Stage::Config,
        line: 0,
        column: 0,
        message: format!("the invariant {name} is not a state predicate: it speaks of a next state or of a behaviour"),
    };
    found.map(told).collect()
}
