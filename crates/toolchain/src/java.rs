//! The Java tools as a [`Toolchain`]: the PlusCal translator, SANY and TLC. `sany_output` and `pcal_output` parse their
//! output, and `check` makes the runs of a check.

use async_trait::async_trait;
use tlaforge_process::{Command, Status};
use tlaforge_tla::{CheckOutcome, Checker, has_pluscal_algorithm};

use super::discover::Tools;
use super::installation::{JavaToolchain, module_files};
use super::lint::lint_spec;
use super::run::{self, Jvm, Tool, ToolJob, ToolRun};
use super::tlc::Tlc;
use super::{
    CheckReport, CheckRequest, Detail, ParseOutcome, ProbeReport, SpecText, ToolContext, ToolError, Toolchain,
    ToolchainInfo, Translation, check, pcal_output, probe, sany_output,
};

impl JavaToolchain {
    async fn run_translator(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        let refused = lint_spec(spec, &cx.limits.allowed_modules);
        if !refused.is_empty() {
            return Ok(Translation::Rejected(refused));
        }
        // pcal.trans fails on a module without an algorithm, so it is not started for one.
        if !has_pluscal_algorithm(&spec.text) {
            return Ok(Translation::NoAlgorithm);
        }
        let file = format!("{}.tla", spec.name);
        let job = ToolJob {
            tool: Tool::Pcal,
            jvm: Jvm::FastStart,
            // Otherwise it writes a configuration of its own next to the module.
            args: vec!["-nocfg".to_owned(), file.clone()],
            files: vec![(file.clone(), spec.text.as_str())],
            deadline: cx.limits.parse,
            read_back: Some(file),
            rmi: None,
        };
        let done = run::run(&self.tools, &self.scratch, &job, cx, &mut |_| {}).await?;
        let stdout = done.stdout();
        if let (Status::Exited(0), Some(text)) = (done.ended.status, &done.read_back_text)
            && stdout.contains("Translation completed")
        {
            return Ok(Translation::Translated(text.clone()));
        }
        if let Some(trouble) = done.environment_error(Tool::Pcal) {
            return Err(trouble);
        }
        match done.ended.status {
            Status::Exited(_) => {
                let diagnostics = pcal_output::parse(&(stdout + "\n" + &done.stderr()));
                if diagnostics.is_empty() {
                    Err(done.crash_error(Tool::Pcal))
                } else {
                    Ok(Translation::Rejected(diagnostics))
                }
            }
            _ => Err(unfinished_error(&done, Tool::Pcal, cx)),
        }
    }

    async fn run_parser(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        let refused = lint_spec(spec, &cx.limits.allowed_modules);
        if !refused.is_empty() {
            return Ok(ParseOutcome::Rejected(refused));
        }
        let job = ToolJob {
            tool: Tool::Sany,
            jvm: Jvm::FastStart,
            args: vec![format!("{}.tla", spec.name)],
            files: module_files(spec),
            deadline: cx.limits.parse,
            read_back: None,
            rmi: None,
        };
        let done = run::run(&self.tools, &self.scratch, &job, cx, &mut |_| {}).await?;
        let found = sany_output::parse(&(done.stdout() + "\n" + &done.stderr()), &spec.name);
        // The status alone says nothing: SANY exits with 0 on semantic errors.
        if done.ended.status == Status::Exited(0) && found.errors.is_empty() && found.processed {
            return Ok(ParseOutcome::Accepted { warnings: found.warnings });
        }
        // Before its errors: on a full disk SANY reports a module that it cannot find.
        if let Some(trouble) = done.environment_error(Tool::Sany) {
            return Err(trouble);
        }
        match done.ended.status {
            Status::Exited(_) if !found.errors.is_empty() => Ok(ParseOutcome::Rejected(found.errors)),
            _ => Err(unfinished_error(&done, Tool::Sany, cx)),
        }
    }
}

fn unfinished_error(done: &ToolRun, tool: Tool, cx: &ToolContext<'_>) -> ToolError {
    match done.ended.status {
        Status::DeadlineExceeded => {
            ToolError::Deadline { tool: tool.name().to_owned(), seconds: cx.limits.parse.as_secs() }
        }
        _ => done.crash_error(tool),
    }
}

#[async_trait]
impl Toolchain for JavaToolchain {
    fn checker(&self) -> Checker {
        Checker::Tlc
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        match self.run_translator(spec, cx).await {
            Err(error) => Err(self.attribute_failure(error, Tool::Pcal, cx).await),
            done => done,
        }
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        match self.run_parser(spec, cx).await {
            Err(error) => Err(self.attribute_failure(error, Tool::Sany, cx).await),
            done => done,
        }
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        check::check(&Tlc::new(self, cx).await?, request, Detail::Explained, cx).await
    }

    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        check::decide(&Tlc::new(self, cx).await?, request, cx).await
    }

    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        check::check(&Tlc::new(self, cx).await?, request, Detail::VerdictOnly, cx).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        probe::probe(&Tlc::new(self, cx).await?, request, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        let version = match self.features.get() {
            Some(features) => features.version.clone(),
            // Started even if the version is known: this shows `doctor` that the tools start.
            None => self.query_features(cx).await?.version,
        };
        let (runtime, location) = match &self.tools {
            Tools::Jar { java, jar } => {
                let command = Command::new(java).arg("-version").deadline(cx.limits.parse);
                let ended = command
                    .run(cx.cancel, &mut |_| {})
                    .await
                    .map_err(|error| ToolError::Broke { tool: java.display().to_string(), what: error.to_string() })?;
                // `java -version` writes to standard error.
                let version_text = String::from_utf8_lossy(&ended.stderr).into_owned();
                let first = version_text.lines().next().unwrap_or("java").to_owned();
                (format!("{first} ({})", java.display()), jar.display().to_string())
            }
            Tools::Wrappers { pcal, sany, tlc, .. } => {
                ("wrapper programs".to_owned(), format!("{}, {}, {}", pcal.display(), sany.display(), tlc.display()))
            }
        };
        Ok(ToolchainInfo { runtime, location, version })
    }
}
