//! The embedded toolchain, which needs no Java. Translator and static checks are our own; the checker is `tla-mc`, run
//! in a child of our own program (see `embedded_child`). If the checker refuses something, the outcome is inconclusive
//! with the reason, never "holds". It accepts modules that SANY rejects, so it gets only modules that `parse` accepted.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use tlaforge_process::Status;
use tlaforge_tla::{CheckOutcome, Checker, Verdict};

use super::embedded_process::{EmbeddedChecker, VERSION};
use super::explanation::{self, Answer, Explanation, ExplanationPlan, Log, LogWork, Windows};
use super::run_folders::RunFolders;
use super::state_graph::{GraphLimits, StateGraph, plan_graph, read_graph};
use super::stepper::Stepper;
use super::{
    CheckReport, CheckRequest, Detail, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext, ToolError,
    ToolPaths, Toolchain, ToolchainInfo, Translation, check, probe, static_checks, static_checks_child, step_names,
};

#[derive(Debug, Clone)]
pub struct EmbeddedToolchain {
    /// This program; its child is the checker if the environment says so.
    pub(super) program: PathBuf,
    /// Parent of the temporary folder of the checks.
    pub(super) scratch: PathBuf,
    /// The folders of the checks in progress. Parallel checks share them; after the last one nothing is left.
    folders: Arc<Mutex<Weak<RunFolders>>>,
}

/// Why no child runs on a specification.
enum NotRun {
    /// It is wrong.
    Wrong(String),
    /// The checker does not evaluate it.
    Unsupported(String),
}

/// The child answered another question than it was asked.
const OTHER_ANSWER: &str = "the checker's answer is of another kind; this is a defect";

impl EmbeddedToolchain {
    /// `program` must call [`become_checker`](super::become_checker) if its environment has
    /// [`CHECKER_MARKER`](super::CHECKER_MARKER). This starts no process.
    pub fn new(program: PathBuf, paths: &ToolPaths<'_>) -> Self {
        Self { program, scratch: paths.scratch(), folders: Arc::default() }
    }

    pub(super) fn new_checker(&self) -> Result<EmbeddedChecker<'_>, ToolError> {
        let mut shared = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let folders = match shared.upgrade() {
            Some(folders) => folders,
            None => {
                let created = RunFolders::new(&self.scratch).map_err(|source| {
                    let what = format!("create a folder in {}", self.scratch.display());
                    ToolError::Io { what, source }
                })?;
                Arc::new(created)
            }
        };
        *shared = Arc::downgrade(&folders);
        Ok(EmbeddedChecker { program: &self.program, folders })
    }

    /// The reachable states with their steps, and a path to each witness; the inner error says why they cannot be listed. Whatever the checker refuses
    /// to check is refused here, too.
    pub async fn state_graph(
        &self,
        request: &CheckRequest,
        limits: GraphLimits,
        cx: &ToolContext<'_>,
    ) -> Result<Result<StateGraph, String>, ToolError> {
        // The text may come from a run folder, and no check came before.
        let refused = check::refuse_before_run(&self.new_checker()?, request, cx);
        let refused = match refused {
            Some(report) => Some(report),
            None => self.find_unsupported(request, cx).await?,
        };
        if let Some(report) = refused {
            return Ok(Err(why_refused(report)));
        }
        let mut listed = Err(String::new());
        // The actions are worth having, and not every next-state relation can be split into them.
        for with_actions in [true, false] {
            let plan = plan_graph(request, with_actions);
            let run = self.new_checker()?.list_states(&request.spec, &plan, limits, cx).await?;
            listed = read_graph(run.ended.status, &run.stdout, &run.stderr);
            if listed.is_ok() || plan.label.is_none() {
                break;
            }
        }
        if let Ok(graph) = &mut listed {
            for path in graph.paths.values_mut() {
                *path = step_names::name_steps(&self.new_checker()?, request, std::mem::take(path), cx).await?.result;
            }
        }
        Ok(listed)
    }

    /// Searches for a behaviour of the specification that explains a log; the inner error says why that was not tried. A search that
    /// looks at more than `max_searched` pairs of a state and events is undecided.
    pub async fn explain_log(
        &self,
        request: &CheckRequest,
        log: &Log,
        max_searched: u64,
        cx: &ToolContext<'_>,
    ) -> Result<Result<Explanation, String>, ToolError> {
        let found = self.compare_log(request, log, LogWork::Explain { max_searched }, cx).await?;
        Ok(found.map(|answer| match answer {
            Answer::Explanation(explanation) => explanation,
            Answer::Windows(_) => Explanation::Undecided { why: OTHER_ANSWER.to_owned(), event: None },
        }))
    }

    /// Compares each event of a log on its own: whether one of its steps leads from the state before it to the one after it. The
    /// inner error says why no event could be compared.
    pub async fn check_windows(
        &self,
        request: &CheckRequest,
        log: &Log,
        cx: &ToolContext<'_>,
    ) -> Result<Result<Windows, String>, ToolError> {
        let found = self.compare_log(request, log, LogWork::Windows, cx).await?;
        Ok(found.and_then(|answer| match answer {
            Answer::Windows(windows) => Ok(windows),
            Answer::Explanation(Explanation::Undecided { why, .. }) => Err(why),
            Answer::Explanation(_) => Err(OTHER_ANSWER.to_owned()),
        }))
    }

    async fn compare_log(
        &self,
        request: &CheckRequest,
        log: &Log,
        work: LogWork,
        cx: &ToolContext<'_>,
    ) -> Result<Result<Answer, String>, ToolError> {
        let undecided = |why| Answer::Explanation(Explanation::Undecided { why, event: None });
        let plan = ExplanationPlan::new(request, log);
        match self.admit(request, &plan, cx).await? {
            Ok(()) => {}
            Err(NotRun::Wrong(why)) => return Ok(Err(why)),
            Err(NotRun::Unsupported(why)) => return Ok(Ok(undecided(why))),
        }
        let run = self.new_checker()?.compare_log(&request.spec, &plan, log, work, cx).await?;
        if run.ended.status == Status::DeadlineExceeded {
            return Ok(Ok(undecided(format!("the search did not end within {} s", cx.limits.check.as_secs()))));
        }
        let found = explanation::read(run.ended.status, &run.stdout, &run.stderr);
        let readable = |found| match found {
            Answer::Explanation(Explanation::Undecided { why, event }) => {
                Answer::Explanation(Explanation::Undecided { why: plan.readable(&why), event })
            }
            Answer::Windows(mut windows) => {
                for (_, why) in &mut windows.undecided {
                    *why = plan.readable(why);
                }
                Answer::Windows(windows)
            }
            other @ Answer::Explanation(_) => other,
        };
        Ok(found.map(readable).map_err(|why| plan.readable(&why)))
    }

    /// Starts a child that steps through a specification, which also knows these expressions without parameters, and the constraints
    /// if they are kept. The result names the expressions; the inner error says why no child was started.
    pub async fn step_through(
        &self,
        request: &CheckRequest,
        expressions: &[String],
        keeps_constraints: bool,
        cx: &ToolContext<'_>,
    ) -> Result<Result<(Stepper, Vec<String>), String>, ToolError> {
        let (plan, names) = ExplanationPlan::of_expressions(request, expressions, keeps_constraints);
        if let Err(NotRun::Wrong(why) | NotRun::Unsupported(why)) = self.admit(request, &plan, cx).await? {
            return Ok(Err(why));
        }
        let started = self.new_checker()?.step_through(&request.spec, plan, cx).await;
        Ok(started.map(|stepper| (stepper, names)))
    }

    /// Whether a child may run on the specification with the definitions of a plan.
    async fn admit(
        &self,
        request: &CheckRequest,
        plan: &ExplanationPlan,
        cx: &ToolContext<'_>,
    ) -> Result<Result<(), NotRun>, ToolError> {
        if let Some(report) = check::refuse_before_run(&self.new_checker()?, request, cx) {
            return Ok(Err(NotRun::Wrong(why_refused(report))));
        }
        match self.find_unsupported(request, cx).await?.map(|report| report.outcome.verdict) {
            Some(Verdict::Invalid { reason, .. }) => return Ok(Err(NotRun::Wrong(reason))),
            Some(Verdict::Inconclusive { reason, .. }) => return Ok(Err(NotRun::Unsupported(reason))),
            Some(Verdict::Holds | Verdict::Violated { .. }) | None => {}
        }
        let parsed = self.parse(&plan.spec(request), cx).await?;
        let ParseOutcome::Rejected(diagnostics) = parsed else { return Ok(Ok(())) };
        let first = diagnostics.first();
        let text = first.filter(|first| !first.message.contains("module ")).and_then(|first| plan.text_at(first.line));
        Ok(Err(NotRun::Wrong(match (text, first) {
            (Some(text), Some(first)) => format!("{text}: {}", first.message),
            (None, Some(first)) => first.to_string(),
            (_, None) => "it does not parse".to_owned(),
        })))
    }

    /// The report on a request that the checker must not run on.
    async fn find_unsupported(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<Option<CheckReport>, ToolError> {
        if let Some(why) = refuse_override(request, cx) {
            return Ok(Some(report_without_run(static_checks::undecided(request, &why))));
        }
        match static_checks_child::find_unsupported(&self.program, request, cx).await {
            Ok(outcome) => Ok(outcome.map(report_without_run)),
            Err(error) if error.is_caused_by_input() => {
                Ok(Some(report_without_run(static_checks::undecided(request, &error.to_string()))))
            }
            Err(error) => Err(error),
        }
    }
}

fn why_refused(report: CheckReport) -> String {
    match report.outcome.verdict {
        Verdict::Inconclusive { reason, .. } | Verdict::Invalid { reason, .. } => reason,
        Verdict::Holds | Verdict::Violated { .. } => "it was not checked".to_owned(),
    }
}

/// Why a specification with a Java override is refused: this checker would evaluate the definition in TLA+, which TLC does not.
fn refuse_override(request: &CheckRequest, cx: &ToolContext<'_>) -> Option<String> {
    let (module, jar) =
        cx.limits.libraries.find_override(request.spec.local_modules.iter().map(|(name, _)| name.as_str()))?;
    Some(format!(
        "the embedded checker refuses it: module {module} has Java code in {}, which only TLC runs (--checker tlc)",
        jar.display()
    ))
}

#[async_trait]
impl Toolchain for EmbeddedToolchain {
    fn checker(&self) -> Checker {
        Checker::Embedded
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        static_checks_child::translate(&self.program, spec, cx).await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        static_checks_child::parse(&self.program, spec, cx).await
    }

    async fn find_refusal(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Option<String>, ToolError> {
        if let Some(why) = refuse_override(request, cx) {
            return Ok(Some(why));
        }
        let refused = match static_checks_child::find_unsupported(&self.program, request, cx).await {
            // Too long for the time, for example: the check that follows reports it.
            Err(error) if error.is_caused_by_input() => None,
            found => found?,
        };
        Ok(refused.and_then(|outcome| match outcome.verdict {
            Verdict::Inconclusive { reason, .. } => Some(reason),
            // What TLC would reject, too, is found when names are looked up.
            _ => None,
        }))
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        match self.find_unsupported(request, cx).await? {
            Some(report) => Ok(report),
            None => check::check(&self.new_checker()?, request, Detail::Explained, cx).await,
        }
    }

    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        match self.find_unsupported(request, cx).await? {
            Some(report) => Ok(report),
            None => check::check(&self.new_checker()?, request, Detail::VerdictOnly, cx).await,
        }
    }

    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        match self.find_unsupported(request, cx).await? {
            Some(report) => Ok(report),
            None => check::decide(&self.new_checker()?, request, cx).await,
        }
    }

    async fn decide_each(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<SeparateVerdicts, ToolError> {
        match self.find_unsupported(request, cx).await? {
            Some(rest) => Ok(SeparateVerdicts { violated: Vec::new(), rest }),
            None => check::decide_each(&self.new_checker()?, request, cx).await,
        }
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        probe::probe(&self.new_checker()?, request, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        let version = self.new_checker()?.query_version(cx).await?;
        // The rules for its output are written for exactly this version.
        if version != VERSION {
            let what = format!("it calls itself {version:?}, not {VERSION:?}");
            return Err(ToolError::Broke { tool: "the embedded checker".to_owned(), what });
        }
        let location = "this program".to_owned();
        Ok(ToolchainInfo { runtime: "none needed".to_owned(), location, version })
    }
}

/// The report on a check for which the checker did not run.
fn report_without_run(outcome: CheckOutcome) -> CheckReport {
    let outcome = CheckOutcome { version: VERSION.to_owned(), ..outcome };
    CheckReport { outcome, output: String::new(), second_outcome: None }
}
