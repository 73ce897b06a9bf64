//! Runs of the embedded checker. Each is a child of our own program, in a folder that has only the modules and the
//! configuration, with an environment that has only what makes the child the checker. It does not parse the output.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tlaforge_process::{Cancel, Command, Ended, ProcessError, Status};
use tlaforge_tla::Cfg;

use super::child_task::with_length;
use super::core_program::Source;
use super::embedded_output;
use super::explanation::{self, ExplanationPlan, Log, LogWork};
use super::past_violations::{self, Continues};
use super::plan::{RunPlan, free_name};
use super::run::killed_message;
use super::run_folders::{RunFolder, RunFolders};
use super::state_graph::{self, GraphLimits, GraphPlan};
use super::stepper::{self, Stepper};
use super::witness_negations::Negations;
use super::{Limits, Progress, SpecText, ToolContext, ToolError};

/// The environment variable that makes the program the checker. Its value is the memory limit in bytes.
pub const CHECKER_MARKER: &str = "TLAFORGE_EMBEDDED_CHECKER";

/// The checker's name and version in its own words; the dependency is pinned to this version.
pub const VERSION: &str = "tla-mc 0.2.2";

/// Replaces the name of the generated constraint of [`with_boundary_constraint`] in messages.
const BOUNDARY_DESCRIPTION: &str = "a constraint, or an invariant in a state that it cuts off";

/// The checker's name in messages.
pub(super) const CHECKER_NAME: &str = "the embedded checker";

/// Memory limit in bytes if the memory of this machine is unknown.
const DEFAULT_MEMORY: u64 = 2 << 30;
/// With less memory the checker's threads do not start.
const MIN_MEMORY: u64 = 256 << 20;
/// What mimalloc reserves from the system at a time. Its default of 1 GiB is reserved before the memory limit applies,
/// and would leave nothing of a smaller limit.
const ARENA_KIB: u64 = 64 << 10;
/// Stack of each thread in bytes; evaluation recurses.
const THREAD_STACK: u64 = 16 << 20;

/// Time that a run gets with one thread. Most runs end by then, and threads cost more than they save: a check of 12
/// states takes 35 ms of CPU with one thread, 127 ms with two. A longer run starts again with all threads.
pub(super) const SINGLE_THREAD_TIME: Duration = Duration::from_secs(3);

/// The embedded checker with folders for its runs.
pub(super) struct EmbeddedChecker<'a> {
    pub(super) program: &'a Path,
    pub(super) folders: Arc<RunFolders>,
}

impl EmbeddedChecker<'_> {
    /// Asks the checker for its version.
    pub(super) async fn query_version(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        let folder = self.take_folder()?;
        let command = self.command(&folder, memory_limit(cx.limits)).arg("-version").deadline(cx.limits.parse);
        let ended = command.run(cx.cancel, &mut |_| {}).await.map_err(process_error)?;
        folder.put_back();
        match ended.status {
            Status::Exited(0) => Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned()),
            Status::Cancelled => Err(ToolError::Cancelled),
            _ => Err(crash_error(&ended)),
        }
    }

    fn take_folder(&self) -> Result<RunFolder<'_>, ToolError> {
        self.folders.take().map_err(|source| {
            let what = "create a folder for a run of the checker".to_owned();
            ToolError::Io { what, source }
        })
    }

    fn command(&self, folder: &RunFolder<'_>, memory: u64) -> Command {
        Command::new(self.program)
            .ends_with_parent()
            .env(CHECKER_MARKER, memory.to_string())
            .env("RUST_MIN_STACK", THREAD_STACK.to_string())
            .env("MIMALLOC_ARENA_RESERVE", ARENA_KIB.to_string())
            .cwd(folder.work())
    }

    /// Runs a plan to its end, or until the caller signals `enough`. With `witnesses` it has one thread, and also reports
    /// which of them it reaches.
    pub(super) async fn explore(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        witnesses: Option<&Negations>,
        cx: &ToolContext<'_>,
        enough: &Cancel,
        on_line: &mut (dyn FnMut(&str) + Send),
    ) -> Result<CheckerRun, ToolError> {
        let bounded = with_boundary_constraint(spec, plan);
        let (plan, constraint) = match &bounded {
            Some((plan, constraint)) => (plan, Some(constraint)),
            None => (plan, None),
        };
        let mut checker_run = match witnesses {
            None => self.execute(spec, plan, None, cx, enough, on_line).await?,
            // Added after the constraint: a state outside that a witness describes is not explored.
            Some(witnesses) => {
                let plan = witnesses.add_to(spec, plan);
                self.execute(spec, &plan, Some(witnesses.continues(false)), cx, enough, on_line).await?
            }
        };
        if let Some(constraint) = constraint {
            let generated = format!("Error: evaluating {constraint}: ");
            let described = format!("Error: evaluating {BOUNDARY_DESCRIPTION}: ");
            for text in [&mut checker_run.stdout, &mut checker_run.output] {
                *text = text.replace(&generated, &described);
            }
        }
        Ok(checker_run)
    }

    /// Runs a plan with one thread: the checker names each violated invariant and action property after whose violation
    /// it continues.
    pub(super) async fn explore_past_violations(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        continues: Continues,
        cx: &ToolContext<'_>,
    ) -> Result<CheckerRun, ToolError> {
        self.execute(spec, plan, Some(continues), cx, &Cancel::new(), &mut |_| {}).await
    }

    async fn execute(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        continues: Option<Continues>,
        cx: &ToolContext<'_>,
        enough: &Cancel,
        on_line: &mut (dyn FnMut(&str) + Send),
    ) -> Result<CheckerRun, ToolError> {
        let work = Work::Search(continues.clone(), None);
        let first = self.execute_work(spec, plan, work, cx, enough, on_line).await?;
        let Some(limit) = embedded_output::limit_of_evaluation(&first.stdout, first.ended.status) else {
            return Ok(first);
        };
        let work = Work::Search(continues, Some(limit));
        let again = self.execute_work(spec, plan, work, cx, enough, on_line).await?;
        let output = format!("{}{}", first.output, again.output);
        // It may refuse what the checker began.
        let chosen = if embedded_output::has_counts(&again.stdout) { again } else { first };
        Ok(CheckerRun { output, ..chosen })
    }

    /// Lists the states that a plan reaches.
    pub(super) async fn list_states(
        &self,
        spec: &SpecText,
        graph: &GraphPlan,
        limits: GraphLimits,
        cx: &ToolContext<'_>,
    ) -> Result<CheckerRun, ToolError> {
        let work = Work::StateGraph(graph, limits);
        self.execute_work(spec, &graph.plan, work, cx, &Cancel::new(), &mut |_| {}).await
    }

    /// Compares a log with the specification.
    pub(super) async fn compare_log(
        &self,
        spec: &SpecText,
        plan: &ExplanationPlan,
        log: &Log,
        work: LogWork,
        cx: &ToolContext<'_>,
    ) -> Result<CheckerRun, ToolError> {
        let work = Work::Log(plan, log, work);
        self.execute_work(spec, &plan.plan, work, cx, &Cancel::new(), &mut |_| {}).await
    }

    /// Starts a child that answers questions until the result is dropped.
    pub(super) async fn step_through(
        &self,
        spec: &SpecText,
        plan: ExplanationPlan,
        cx: &ToolContext<'_>,
    ) -> Result<Stepper, String> {
        let mut source = source(spec, &plan.plan);
        source.operators.clone_from(&plan.operators);
        let mut command = tokio::process::Command::new(self.program);
        command
            .env_clear()
            .env(CHECKER_MARKER, format!("{}{}", stepper::PREFIX, memory_limit(cx.limits)))
            .env("RUST_MIN_STACK", THREAD_STACK.to_string())
            .env("MIMALLOC_ARENA_RESERVE", ARENA_KIB.to_string())
            .current_dir("/");
        Stepper::start(command, source, cx, plan).await
    }

    async fn execute_work(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        work: Work<'_>,
        cx: &ToolContext<'_>,
        enough: &Cancel,
        on_line: &mut (dyn FnMut(&str) + Send),
    ) -> Result<CheckerRun, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let mut source = source(spec, plan);
        let folder = self.take_folder()?;
        let memory = memory_limit(cx.limits);
        let (marker, task, shown) = match work {
            Work::StateGraph(graph, limits) => {
                let (label, witnesses) = (graph.label.clone(), graph.witnesses.clone());
                let task = state_graph::Task { source, limits, label, witnesses };
                (state_graph::PREFIX, task.to_json(), "state graph".to_owned())
            }
            Work::Log(explanation, log, work) => {
                source.operators.clone_from(&explanation.operators);
                source.texts = log.strings();
                let (log, prefix) = (log.clone(), explanation.prefix.clone());
                let task = explanation::Task { source, log, prefix, work };
                (explanation::PREFIX, task.to_json(), "explanation".to_owned())
            }
            Work::Search(continues, limit) => {
                source.limit = limit;
                let workers = if continues.is_some() { 1 } else { plan.order.workers(cx.limits) };
                let shown = match continues {
                    Some(_) => "past violations".to_owned(),
                    None => format!("-workers {workers}"),
                };
                let task = past_violations::Task {
                    source,
                    workers,
                    meta: RunFolder::META.into(),
                    // Beyond these sizes the checker continues on disk, which is slower but no failure.
                    queue_mib: ((memory / 8) >> 20).max(1),
                    fingerprints_mib: ((memory / 4) >> 20).max(1),
                    continues,
                };
                (past_violations::PREFIX, task.to_json(), shown)
            }
        };
        let command =
            self.command(&folder, memory).env(CHECKER_MARKER, format!("{marker}{memory}")).stdin(with_length(&task));
        // It reports its progress on standard error.
        let command = command.deadline(cx.limits.check).output_cap(cx.limits.output).reports_error_lines();
        let mut on_any_line = |line: &str| match embedded_output::parse_progress(line) {
            Some((generated, distinct, _, queue)) => {
                (cx.progress)(Progress { run: plan.label.clone(), generated, distinct, queue });
            }
            None => on_line(line),
        };
        let ended = tokio::select! {
            ended = command.run(enough, &mut on_any_line) => ended.map_err(process_error)?,
            // Dropping the future kills the child.
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        folder.put_back();
        let stdout = String::from_utf8_lossy(&ended.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        let main = plan.wrapper.as_ref().map_or(&spec.name, |(name, _)| name);
        let output = format!("==== {}: {VERSION} {shown} {main}.tla\n{stdout}{stderr}", plan.label);
        Ok(CheckerRun { ended, stdout, stderr, output })
    }
}

/// What a child does with a plan.
enum Work<'a> {
    /// It searches for violations, and perhaps continues after them; after a limit of the checker, with the other engine.
    Search(Option<Continues>, Option<String>),
    StateGraph(&'a GraphPlan, GraphLimits),
    /// It searches for a behaviour that explains a log, and ends undecided after this many pairs of a state and a cut.
    Log(&'a ExplanationPlan, &'a Log, LogWork),
}

pub(super) struct CheckerRun {
    pub(super) ended: Ended,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// The output under a heading.
    pub(super) output: String,
}

/// Returns the plan with a constraint that also lets violations through, and the constraint's name. TLC evaluates
/// invariants also in the states that a CONSTRAINT cuts off, before it drops them; tla-mc does not. The new constraint
/// therefore accepts a state outside if it violates an invariant: the search ends there with the violation, and
/// otherwise drops the state as before.
fn with_boundary_constraint(spec: &SpecText, plan: &RunPlan) -> Option<(RunPlan, String)> {
    let mut cfg = Cfg::parse(&plan.cfg).ok()?;
    if cfg.constraints.is_empty() || cfg.invariants.is_empty() {
        return None;
    }
    let own = free_name(spec, "TlaforgeWithin".to_owned());
    let constraint = format!("{own}_Constraint");
    let (module, text) = plan
        .wrapper
        .clone()
        .unwrap_or_else(|| (own.clone(), format!("---- MODULE {own} ----\nEXTENDS {}\n====\n", spec.name)));
    let mut text = format!(
        "{}{own} == {}\n{constraint} == {own} \\/ ~({})\n",
        text.strip_suffix("====\n")?,
        cfg.constraints.join(" /\\ "),
        cfg.invariants.join(" /\\ ")
    );
    // A VIEW may give a state outside the fingerprint of a state inside that was seen before.
    if let Some(view) = &mut cfg.view {
        text.push_str(&[own.as_str(), "_View == <<", view.as_str(), ", ", own.as_str(), ">>\n"].concat());
        *view = format!("{own}_View");
    }
    cfg.constraints = vec![constraint.clone()];
    let plan = RunPlan { wrapper: Some((module, text + "====\n")), cfg: cfg.render(), ..plan.clone() };
    Some((plan, constraint))
}

/// The modules of a run, and its configuration. A wrapper, if there is one, is the root of the specification.
fn source(spec: &SpecText, plan: &RunPlan) -> Source {
    let spec_modules =
        std::iter::once((spec.name.clone(), spec.text.clone())).chain(spec.local_modules.iter().cloned());
    let modules = plan.wrapper.iter().cloned().chain(spec_modules).collect();
    Source {
        modules,
        cfg: plan.cfg.clone(),
        deadlock: plan.deadlock,
        limit: None,
        operators: Vec::new(),
        texts: Vec::new(),
    }
}

/// Memory limit of one run in bytes: the user's limit, else a quarter of the machine's memory, as for a JVM.
pub(super) fn memory_limit(limits: &Limits) -> u64 {
    let given = limits.heap_mib.map(|mib| mib << 20);
    given.unwrap_or_else(|| machine_memory().map_or(DEFAULT_MEMORY, |all| all / 4)).max(MIN_MEMORY)
}

/// Memory limit in MiB for each of several parallel runs: together they get the limit of a single run.
pub fn memory_per_run_mib(limits: &Limits, parallel_runs: usize) -> u64 {
    let runs = u64::try_from(parallel_runs.max(1)).unwrap_or(u64::MAX);
    (memory_limit(limits) / runs).max(MIN_MEMORY) >> 20
}

fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.split_whitespace().next()?;
    kib.parse::<u64>().ok().map(|kib| kib << 10)
}

pub(super) fn process_error(error: ProcessError) -> ToolError {
    let what = error.to_string();
    let (ProcessError::Start { source, .. } | ProcessError::Log { source, .. } | ProcessError::Follow { source, .. }) =
        error;
    ToolError::Io { what, source }
}

pub(super) fn crash_error(ended: &Ended) -> ToolError {
    if let Some(what) = killed_message(ended.status) {
        return ToolError::Broke { tool: CHECKER_NAME.to_owned(), what };
    }
    let text = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(12)..].join("\n");
    ToolError::Broke { tool: CHECKER_NAME.to_owned(), what: format!("it ended with {:?}: {tail}", ended.status) }
}
