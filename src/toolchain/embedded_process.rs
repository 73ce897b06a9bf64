//! Runs of the embedded checker: each in a child of our own program, in a fresh folder that holds only the modules and the
//! configuration, with an environment that holds only what makes the child the checker. It reads no output.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::{Cancel, Command, Ended, ProcessError, Scratch, Status};
use crate::tla::Cfg;
use crate::tla::semantic::{CheckerText, rewrite_for_checker};

use super::plan::{RunPlan, free_name};
use super::run::{KILLED, KILLED_MESSAGE};
use super::{Limits, SpecText, ToolContext, ToolError};

/// The environment variable that makes the program the checker. Its value is the memory that it may take, in bytes.
pub const CHECKER_MARKER: &str = "TLAFORGE_EMBEDDED_CHECKER";

/// The checker's name and version in its own words; the dependency is pinned to this version.
pub(super) const VERSION: &str = "tla-mc 0.2.2";

/// What could not be evaluated if it is the constraint of [`with_boundary_constraint`].
const BOUNDARY_DESCRIPTION: &str = "a constraint, or an invariant in a state that it cuts off";

/// What it is called in messages.
pub(super) const CHECKER_NAME: &str = "the embedded checker";

/// Memory for a checker where nothing says how much this machine has.
const DEFAULT_MEMORY: u64 = 2 << 30;
/// Below this its threads do not begin.
const MIN_MEMORY: u64 = 256 << 20;
/// What its allocator takes from the system at a time. It begins before the bound is set, and with 1 GiB: a smaller
/// bound would leave nothing.
const ARENA_KIB: u64 = 64 << 10;
/// Stack of each of its threads; evaluation recurses.
const THREAD_STACK: u64 = 16 << 20;

/// So long a run goes on with one thread. Most end by then, and threads cost more than they save: 35 ms of CPU for a
/// check of 12 states with one, 127 ms with two. What takes longer begins anew with all of them.
pub(super) const SINGLE_THREAD_TIME: Duration = Duration::from_secs(3);

/// The embedded checker with a folder for its runs.
pub(super) struct EmbeddedChecker<'a> {
    program: &'a Path,
    folder: Scratch,
    runs: AtomicUsize,
}

impl<'a> EmbeddedChecker<'a> {
    pub(super) fn new(program: &'a Path, scratch: &Path) -> Result<Self, ToolError> {
        let folder = Scratch::new(scratch, "tlaforge-")
            .map_err(|source| ToolError::Io { what: format!("create a folder in {}", scratch.display()), source })?;
        Ok(Self { program, folder, runs: AtomicUsize::new(0) })
    }

    /// What it says of its version.
    pub(super) async fn query_version(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        let command = self.command(cx.limits).arg("-version").deadline(cx.limits.parse);
        let ended = command.run(cx.cancel, &mut |_| {}).await.map_err(process_error)?;
        match ended.status {
            Status::Exited(0) => Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned()),
            Status::Cancelled => Err(ToolError::Cancelled),
            _ => Err(crash_error(&ended)),
        }
    }

    fn command(&self, limits: &Limits) -> Command {
        Command::new(self.program)
            .env(CHECKER_MARKER, memory_limit(limits).to_string())
            .env("RUST_MIN_STACK", THREAD_STACK.to_string())
            .env("MIMALLOC_ARENA_RESERVE", ARENA_KIB.to_string())
            .cwd(self.folder.path())
    }

    /// Runs a plan to its end, or until `enough` is given, which is the caller's own way to end it.
    pub(super) async fn explore(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        cx: &ToolContext<'_>,
        enough: &Cancel,
        on_line: &mut (dyn FnMut(&str) + Send),
    ) -> Result<CheckerRun, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let bounded = with_boundary_constraint(spec, plan);
        let (plan, constraint) = match &bounded {
            Some((plan, constraint)) => (plan, Some(constraint)),
            None => (plan, None),
        };
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        let main = plan.wrapper.as_ref().map_or(&spec.name, |(name, _)| name);
        let written = write_spec_folder(&folder, spec, plan, main)?;
        let memory = memory_limit(cx.limits);
        let args = [
            ("-workers", plan.order.workers(cx.limits).to_string()),
            // It would write a checkpoint every half hour.
            ("-checkpoint", "0".to_owned()),
            // Beyond these it goes on on disk, which is slower and no failure.
            ("-queue-mem", ((memory / 8) >> 20).max(1).to_string()),
            ("-fpmem", ((memory / 4) >> 20).max(1).to_string()),
            ("-config", format!("{main}.cfg")),
        ];
        let shown: Vec<String> = args.iter().map(|(flag, value)| format!("{flag} {value}")).collect();
        let mut command = self.command(cx.limits).cwd(folder.join("spec"));
        for (flag, value) in args {
            command = command.arg(flag).arg(value);
        }
        let command = command
            .arg("-metadir")
            .arg(folder.join("meta"))
            .arg(format!("{main}.tla"))
            .deadline(cx.limits.check)
            .output_cap(cx.limits.output);
        let ended = tokio::select! {
            ended = command.run(enough, on_line) => ended.map_err(process_error)?,
            // What is dropped is killed.
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        // Each run leaves its folder to the next one's space; all go with the whole.
        let _ = fs::remove_dir_all(&folder);
        let mut stdout = String::from_utf8_lossy(&ended.stdout).into_owned();
        if let Some(constraint) = constraint {
            stdout = stdout.replace(
                &format!("Error: evaluating {constraint}: "),
                &format!("Error: evaluating {BOUNDARY_DESCRIPTION}: "),
            );
        }
        let stderr = restore_lines(&String::from_utf8_lossy(&ended.stderr), &written);
        let output = format!("==== {}: {VERSION} {} {main}.tla\n{stdout}{stderr}", plan.label, shown.join(" "));
        Ok(CheckerRun { ended, stdout, stderr, output })
    }
}

/// A run that ended.
pub(super) struct CheckerRun {
    pub(super) ended: Ended,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// What it printed, under a heading.
    pub(super) output: String,
}

/// TLC evaluates invariants also in the states that a CONSTRAINT cuts off, before it leaves them; tla-mc does not. Its
/// constraint therefore lets a state outside through if it violates an invariant: the search ends there with the
/// violation, and otherwise never sees the state. Returns the plan with that constraint, and the name of the constraint.
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
    // A VIEW may give a state outside the fingerprint of one within, which has been seen.
    if let Some(view) = &mut cfg.view {
        text.push_str(&[own.as_str(), "_View == <<", view.as_str(), ", ", own.as_str(), ">>\n"].concat());
        *view = format!("{own}_View");
    }
    cfg.constraints = vec![constraint.clone()];
    let plan = RunPlan { wrapper: Some((module, text + "====\n")), cfg: cfg.render(), ..plan.clone() };
    Some((plan, constraint))
}

/// Writes the modules as the checker has to read them, and the configuration; returns the former by file.
fn write_spec_folder(
    folder: &Path,
    spec: &SpecText,
    plan: &RunPlan,
    main: &str,
) -> Result<Vec<(String, CheckerText)>, ToolError> {
    let inside: PathBuf = folder.join("spec");
    let failed = |source: io::Error| ToolError::Io { what: format!("write to {}", inside.display()), source };
    fs::create_dir_all(&inside).map_err(failed)?;
    let own = plan.wrapper.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let local_modules = spec.local_modules.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    // The wrapper is the root of the specification where there is one.
    let modules: Vec<(&str, &str)> =
        own.into_iter().chain(std::iter::once((spec.name.as_str(), spec.text.as_str()))).chain(local_modules).collect();
    // What cannot be written for it was refused before; of a wrapper that cannot, it finds nothing and refuses it.
    let texts = rewrite_for_checker(&modules, &plan.cfg).unwrap_or_default();
    let written: Vec<_> = modules.iter().map(|(name, _)| format!("{name}.tla")).zip(texts).collect();
    for (name, copy) in &written {
        fs::write(inside.join(name), &copy.text).map_err(failed)?;
    }
    // It has no flag for this, but knows the keyword.
    let deadlock = if plan.deadlock { "TRUE" } else { "FALSE" };
    let cfg = format!("{}CHECK_DEADLOCK {deadlock}\n", plan.cfg);
    fs::write(inside.join(format!("{main}.cfg")), cfg).map_err(failed)?;
    Ok(written)
}

/// Messages with the lines of the modules as they were given: `Spec.tla: line 7 col 3: …`.
fn restore_lines(stderr: &str, written: &[(String, CheckerText)]) -> String {
    let place = |line: &str| {
        let (name, copy) = written.iter().find(|(name, _)| line.contains(&format!("{name}: line ")))?;
        let (before, rest) = line.split_once(&format!("{name}: line "))?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let original = copy.lines.get(rest[..digits].parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!("{before}{name}: line {original}{}", &rest[digits..]))
    };
    let lines = stderr.lines().map(|line| place(line).unwrap_or_else(|| line.to_owned()) + "\n");
    lines.collect()
}

/// The memory that one run may take: what the user gives to a checker, else a quarter of what the machine has, as a JVM
/// does it.
pub(super) fn memory_limit(limits: &Limits) -> u64 {
    let given = limits.heap_mib.map(|mib| mib << 20);
    given.unwrap_or_else(|| machine_memory().map_or(DEFAULT_MEMORY, |all| all / 4)).max(MIN_MEMORY)
}

/// The memory in MiB for each of several runs at a time: together they may take what a single run may.
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
    if ended.status == KILLED {
        return ToolError::Broke { tool: CHECKER_NAME.to_owned(), what: KILLED_MESSAGE.to_owned() };
    }
    let text = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(12)..].join("\n");
    ToolError::Broke { tool: CHECKER_NAME.to_owned(), what: format!("it ended with {:?}: {tail}", ended.status) }
}
