//! The Java tools as a [`Toolchain`]: the PlusCal translator, SANY and TLC. It runs them and puts their readings
//! together; what their text means is in `sany_output` and `pcal_output`, and a check is in `check`.

use std::path::PathBuf;

use tokio::sync::OnceCell;

use crate::process::{Command, Status};

use super::discover::{ToolPaths, Tools};
use super::lint::lint_spec;
use super::run::{self, Done, Job, Jvm, Tool};
use super::{
    BoxFuture, CheckRequest, Checked, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain, ToolchainInfo,
    Translation, check, pcal_output, sany_output, scan,
};

/// Translator, parser and checker of the TLA+ project, in Java.
#[derive(Debug)]
pub struct JavaToolchain {
    pub(crate) tools: Tools,
    pub(crate) scratch: PathBuf,
    pub(crate) features: OnceCell<Features>,
}

/// What the TLC at hand can do.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    pub(crate) version: String,
    /// It knows `ALIAS` and `POSTCONDITION`.
    pub(crate) newer: bool,
    /// It knows `-noGenerateSpecTE`, without which it writes a module for each counterexample.
    pub(crate) no_trace_module: bool,
}

impl JavaToolchain {
    /// Finds the tools. Nothing is started yet.
    pub fn discover(paths: &ToolPaths<'_>) -> Result<Self, ToolError> {
        Ok(Self { tools: paths.find()?, scratch: paths.scratch(), features: OnceCell::new() })
    }

    pub(crate) async fn features(&self, cx: &ToolContext<'_>) -> Result<&Features, ToolError> {
        self.features
            .get_or_try_init(|| async {
                // 2.15 knows no `-h`; it says its version and its usage all the same.
                let done = self.quick(Tool::Tlc, vec!["-h".to_owned()], cx).await?;
                let text = done.stdout() + &done.stderr();
                let version = text
                    .lines()
                    .find_map(|line| line.find("TLC2 Version").map(|at| line[at..].trim().to_owned()))
                    .ok_or_else(|| done.broke(Tool::Tlc))?;
                let newer = version_number(&version).is_some_and(|v| v > (2, 15));
                Ok(Features { newer, no_trace_module: text.contains("-noGenerateSpecTE"), version })
            })
            .await
    }

    async fn quick(&self, tool: Tool, args: Vec<String>, cx: &ToolContext<'_>) -> Result<Done, ToolError> {
        let job =
            Job { tool, jvm: Jvm::FastStart, args, files: Vec::new(), deadline: cx.limits.parse, read_back: None };
        run::run(&self.tools, &self.scratch, &job, cx, &mut |_| {}).await
    }

    async fn translate_now(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        let refused = lint_spec(spec, &cx.limits.allowed_modules);
        if !refused.is_empty() {
            return Ok(Translation::Rejected(refused));
        }
        if !scan::holds_algorithm(&spec.text) {
            return Ok(Translation::NoAlgorithm);
        }
        let file = format!("{}.tla", spec.name);
        let job = Job {
            tool: Tool::Pcal,
            jvm: Jvm::FastStart,
            args: vec!["-nocfg".to_owned(), file.clone()],
            files: vec![(file.clone(), spec.text.as_str())],
            deadline: cx.limits.parse,
            read_back: Some(file),
        };
        let done = run::run(&self.tools, &self.scratch, &job, cx, &mut |_| {}).await?;
        let stdout = done.stdout();
        match (done.ended.status, &done.file) {
            (Status::Exited(0), Some(text)) if stdout.contains("Translation completed") => {
                Ok(Translation::Translated(text.clone()))
            }
            (Status::Exited(_), _) => {
                let diagnostics = pcal_output::read(&(stdout + "\n" + &done.stderr()));
                if diagnostics.is_empty() {
                    Err(done.broke(Tool::Pcal))
                } else {
                    Ok(Translation::Rejected(diagnostics))
                }
            }
            _ => Err(unfinished(&done, Tool::Pcal, cx)),
        }
    }

    async fn parse_now(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        let refused = lint_spec(spec, &cx.limits.allowed_modules);
        if !refused.is_empty() {
            return Ok(ParseOutcome::Rejected(refused));
        }
        let job = Job {
            tool: Tool::Sany,
            jvm: Jvm::FastStart,
            args: vec![format!("{}.tla", spec.name)],
            files: modules(spec),
            deadline: cx.limits.parse,
            read_back: None,
        };
        let done = run::run(&self.tools, &self.scratch, &job, cx, &mut |_| {}).await?;
        let Status::Exited(status) = done.ended.status else { return Err(unfinished(&done, Tool::Sany, cx)) };
        let found = sany_output::read(&(done.stdout() + "\n" + &done.stderr()), &spec.name);
        if !found.errors.is_empty() {
            Ok(ParseOutcome::Rejected(found.errors))
        } else if status == 0 && found.processed {
            Ok(ParseOutcome::Accepted { warnings: found.warnings })
        } else {
            Err(done.broke(Tool::Sany))
        }
    }
}

fn version_number(version: &str) -> Option<(u32, u32)> {
    let number = version.strip_prefix("TLC2 Version ")?.split(' ').next()?;
    let mut parts = number.split('.').map(str::parse::<u32>);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// The files of a specification.
pub(crate) fn modules(spec: &SpecText) -> Vec<(String, &str)> {
    std::iter::once((&spec.name, &spec.text))
        .chain(spec.beside.iter().map(|(name, text)| (name, text)))
        .map(|(name, text)| (format!("{name}.tla"), text.as_str()))
        .collect()
}

fn unfinished(done: &Done, tool: Tool, cx: &ToolContext<'_>) -> ToolError {
    match done.ended.status {
        Status::DeadlineExceeded => {
            ToolError::Deadline { tool: tool.name().to_owned(), seconds: cx.limits.parse.as_secs() }
        }
        _ => done.broke(tool),
    }
}

impl Toolchain for JavaToolchain {
    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        Box::pin(self.translate_now(spec, cx))
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(self.parse_now(spec, cx))
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Checked, ToolError>> {
        Box::pin(check::check(self, request, cx))
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        Box::pin(async move {
            let version = self.features(cx).await?.version.clone();
            let (runtime, location) = match &self.tools {
                Tools::Jar { java, jar } => {
                    let command = Command::new(java).arg("-version").deadline(cx.limits.parse);
                    let ended = command.run(cx.cancel, &mut |_| {}).await.map_err(|error| ToolError::Broke {
                        tool: java.display().to_string(),
                        what: error.to_string(),
                    })?;
                    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
                    let first = said.lines().next().unwrap_or("java").to_owned();
                    (format!("{first} ({})", java.display()), jar.display().to_string())
                }
                Tools::Wrappers { pcal, sany, tlc, .. } => (
                    "wrapper programs".to_owned(),
                    format!("{}, {}, {}", pcal.display(), sany.display(), tlc.display()),
                ),
            };
            Ok(ToolchainInfo { runtime, location, version })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version_number("TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)"), Some((2, 15)));
        assert!(version_number("TLC2 Version 2.9 of x") < version_number("TLC2 Version 2.20 of y"));
        assert_eq!(version_number("TLC2 Version 2026.01.02"), Some((2026, 1)));
    }
}
