//! Runs of the embedded checker. Each is a child of our own program, in a fresh folder that has only the modules and
//! the configuration, with an environment that has only what makes the child the checker. It does not parse the output.

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

/// The environment variable that makes the program the checker. Its value is the memory limit in bytes.
pub const CHECKER_MARKER: &str = "TLAFORGE_EMBEDDED_CHECKER";

/// The checker's name and version in its own words; the dependency is pinned to this version.
pub(super) const VERSION: &str = "tla-mc 0.2.2";

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

    /// Asks the checker for its version.
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

    /// Runs a plan to its end, or until the caller signals `enough`.
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
            // By default the checker writes a checkpoint every half hour.
            ("-checkpoint", "0".to_owned()),
            // Beyond these sizes the checker continues on disk, which is slower but no failure.
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
            // Dropping the future kills the child.
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        // Free the disk space for the next run; dropping the scratch folder removes everything.
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

/// Writes the modules, rewritten for the checker, and the configuration. Returns the rewritten modules by file name.
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
    // The wrapper, if there is one, is the root of the specification.
    let modules: Vec<(&str, &str)> =
        own.into_iter().chain(std::iter::once((spec.name.as_str(), spec.text.as_str()))).chain(local_modules).collect();
    // Modules that cannot be rewritten were refused before. For a wrapper that cannot be, nothing is written, and the
    // checker refuses it.
    let texts = rewrite_for_checker(&modules, &plan.cfg).unwrap_or_default();
    let written: Vec<_> = modules.iter().map(|(name, _)| format!("{name}.tla")).zip(texts).collect();
    for (name, copy) in &written {
        fs::write(inside.join(name), &copy.text).map_err(failed)?;
    }
    // The checker has no flag for this, but knows the keyword.
    let deadlock = if plan.deadlock { "TRUE" } else { "FALSE" };
    let cfg = format!("{}CHECK_DEADLOCK {deadlock}\n", plan.cfg);
    fs::write(inside.join(format!("{main}.cfg")), cfg).map_err(failed)?;
    Ok(written)
}

/// Replaces line numbers of the rewritten modules by those of the originals: `Spec.tla: line 7 col 3: …`.
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
    if ended.status == KILLED {
        return ToolError::Broke { tool: CHECKER_NAME.to_owned(), what: KILLED_MESSAGE.to_owned() };
    }
    let text = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(12)..].join("\n");
    ToolError::Broke { tool: CHECKER_NAME.to_owned(), what: format!("it ended with {:?}: {tail}", ended.status) }
}
