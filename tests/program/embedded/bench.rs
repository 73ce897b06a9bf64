//! The embedded checker, TLC, and both, with a temporary folder that must be empty after each check.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tlaforge::process::Cancel;
use tlaforge::tla::{Cfg, CheckOutcome, Verdict, ViolationKind};
use tlaforge::toolchain::{
    BothToolchains, CheckReport, CheckRequest, Contradiction, EmbeddedToolchain, JavaToolchain, Limits, SpecText,
    ToolContext, ToolError, ToolPaths, Toolchain,
};

pub(super) struct Bench {
    pub(super) scratch: tempfile::TempDir,
    pub(super) limits: Limits,
    pub(super) cancel: Cancel,
}

impl Bench {
    pub(super) fn new() -> Self {
        let limits = Limits { check: Duration::from_secs(600), heap_mib: Some(1024), ..Limits::default() };
        Self { scratch: tempfile::tempdir().unwrap(), limits, cancel: Cancel::new() }
    }

    pub(super) fn embedded(&self) -> EmbeddedToolchain {
        let env = self.env();
        let paths = ToolPaths { jar: None, java: None, env: &env };
        EmbeddedToolchain::new(PathBuf::from(env!("CARGO_BIN_EXE_tlaforge")), &paths)
    }

    pub(super) fn java(&self) -> JavaToolchain {
        let env = self.env();
        JavaToolchain::discover(&ToolPaths { jar: None, java: None, env: &env })
            .unwrap_or_else(|missing| panic!("this test runs the Java tools: {missing}"))
            .with_embedded_checker(self.embedded())
    }

    pub(super) fn env(&self) -> impl Fn(&str) -> Option<std::ffi::OsString> + use<> {
        let folder = self.scratch.path().as_os_str().to_owned();
        move |name| match name {
            "TMPDIR" => Some(folder.clone()),
            "JAVA_HOME" => Some(crate::support::java_home().into()),
            _ => std::env::var_os(name),
        }
    }

    pub(super) async fn check_with(
        &self,
        tools: &dyn Toolchain,
        request: &CheckRequest,
    ) -> Result<CheckReport, ToolError> {
        let cx = ToolContext { limits: &self.limits, cancel: &self.cancel, progress: &|_| {} };
        let checked = tools.check(request, &cx).await;
        let left: Vec<_> = std::fs::read_dir(self.scratch.path()).unwrap().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        checked
    }

    pub(super) async fn check(&self, request: &CheckRequest) -> CheckOutcome {
        self.check_with(&self.embedded(), request).await.expect("a verdict").outcome
    }

    /// The outcome if only the verdict is wanted, as for a mutant.
    pub(super) async fn decide(&self, request: &CheckRequest) -> CheckOutcome {
        let cx = ToolContext { limits: &self.limits, cancel: &self.cancel, progress: &|_| {} };
        self.embedded().decide(request, &cx).await.expect("a verdict").outcome
    }

    /// The outcomes of TLC and of the embedded checker, and their contradictions.
    pub(super) async fn both(&self, request: &CheckRequest) -> (CheckOutcome, CheckOutcome, Vec<String>) {
        let found: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = found.clone();
        let report = Box::new(move |c: &Contradiction| sink.lock().unwrap().extend(c.lines.iter().cloned()));
        let both = BothToolchains::new(Box::new(self.java()), Box::new(self.embedded()), report);
        let checked = self.check_with(&both, request).await.expect("a verdict");
        let second = *checked.second_outcome.expect("a second outcome");
        let found = std::mem::take(&mut *found.lock().unwrap());
        (checked.outcome, second, found)
    }
}

pub(super) fn request(body: &str, cfg_text: &str) -> CheckRequest {
    let spec =
        SpecText { name: "S".into(), text: format!("---- MODULE S ----\n{body}\n====\n"), local_modules: Vec::new() };
    CheckRequest { spec, cfg_text: cfg_text.into(), cfg: Cfg::parse(cfg_text).expect("a configuration") }
}

pub(super) fn verdict(outcome: &CheckOutcome) -> String {
    match &outcome.verdict {
        Verdict::Holds => "holds".into(),
        Verdict::Violated { violated } if violated.kind == ViolationKind::Assertion => "violated assertion".into(),
        // TLC reports the position of the assumption.
        Verdict::Violated { violated } if violated.kind == ViolationKind::Assumption => "violated assumption".into(),
        Verdict::Violated { violated } => format!("violated {}", violated.description()),
        Verdict::Invalid { violated, .. } => format!("invalid {:?}", violated.kind).to_lowercase(),
        Verdict::Inconclusive { .. } => "inconclusive".into(),
    }
}

pub(super) fn actions(outcome: &CheckOutcome) -> Vec<Option<String>> {
    outcome.trace.iter().flat_map(|trace| &trace.steps).map(|step| step.action.clone()).collect()
}

pub(super) fn taken(outcome: &CheckOutcome) -> Vec<(String, bool)> {
    let mut taken: Vec<(String, bool)> =
        outcome.coverage.iter().flatten().map(|a| (a.action.clone(), a.taken > 0)).collect();
    taken.sort();
    taken
}
