//! The embedded checker as an [`Explorer`]: one run in a child of our own program, in a fresh folder that holds only the
//! modules and the configuration, with an environment that holds only what makes it the checker.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::{Cancel, Command, Ended, ProcessError, Scratch, Status};
use crate::tla::semantic::{CheckerText, for_checker, has_only_step_properties};
use crate::tla::{ActionCoverage, Cfg, Checker, Trace, Verdict};

use super::embedded::EmbeddedToolchain;
use super::embedded_child::{CHECKER_MARKER, VERSION};
use super::explorer::{AtOnce, Explorer, Learned, Run, judge};
use super::plan::{RunPlan, free_name};
use super::run::{KILLED, KILLED_IN_WORDS};
use super::{
    BoxFuture, CheckRequest, Limits, SpecText, ToolContext, ToolError, embedded_actions, embedded_output, trouble,
};

/// What could not be evaluated if it is the constraint of [`with_boundary`].
const BOUNDARY: &str = "a constraint, or an invariant in a state that it cuts off";

/// What it is called in messages.
pub(super) const NAME: &str = "the embedded checker";

/// Memory for a checker where nothing says how much this machine has.
const MEMORY: u64 = 2 << 30;
/// Below this its threads do not begin.
const LEAST_MEMORY: u64 = 256 << 20;
/// What its allocator takes from the system at a time. It begins before the bound is set, and with 1 GiB: a smaller
/// bound would leave nothing.
const ARENA_KIB: u64 = 64 << 10;
/// Stack of each of its threads; evaluation recurses.
const THREAD_STACK: u64 = 16 << 20;

/// So long a run goes on with one thread. Most end by then, and threads cost more than they save: 35 ms of CPU for a
/// check of 12 states with one, 127 ms with two. What takes longer begins anew with all of them.
pub(super) const ALONE: Duration = Duration::from_secs(3);

/// The embedded checker with a folder for its runs.
pub(super) struct TlaMc<'a> {
    toolchain: &'a EmbeddedToolchain,
    folder: Scratch,
    runs: AtomicUsize,
}

impl<'a> TlaMc<'a> {
    pub(super) fn new(toolchain: &'a EmbeddedToolchain) -> Result<Self, ToolError> {
        let folder = Scratch::new(&toolchain.scratch, "tlaforge-").map_err(|source| ToolError::Io {
            what: format!("create a folder in {}", toolchain.scratch.display()),
            source,
        })?;
        Ok(Self { toolchain, folder, runs: AtomicUsize::new(0) })
    }

    /// What it says of its version.
    pub(super) async fn said_version(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        let command = self.command(cx.limits).arg("-version").deadline(cx.limits.parse);
        let ended = command.run(cx.cancel, &mut |_| {}).await.map_err(failed)?;
        match ended.status {
            Status::Exited(0) => Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned()),
            Status::Cancelled => Err(ToolError::Cancelled),
            _ => Err(broke(&ended)),
        }
    }

    fn command(&self, limits: &Limits) -> Command {
        Command::new(&self.toolchain.program)
            .env(CHECKER_MARKER, memory(limits).to_string())
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
    ) -> Result<Explored, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let bounded = with_boundary(spec, plan);
        let (plan, constraint) = match &bounded {
            Some((plan, constraint)) => (plan, Some(constraint)),
            None => (plan, None),
        };
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        let main = plan.wrapper.as_ref().map_or(&spec.name, |(name, _)| name);
        let written = lay_out(&folder, spec, plan, main)?;
        let memory = memory(cx.limits);
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
            ended = command.run(enough, on_line) => ended.map_err(failed)?,
            // What is dropped is killed.
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        // Each run leaves its folder to the next one's space; all go with the whole.
        let _ = fs::remove_dir_all(&folder);
        let mut stdout = String::from_utf8_lossy(&ended.stdout).into_owned();
        if let Some(constraint) = constraint {
            stdout = stdout
                .replace(&format!("Error: evaluating {constraint}: "), &format!("Error: evaluating {BOUNDARY}: "));
        }
        let stderr = placed(&String::from_utf8_lossy(&ended.stderr), &written);
        let output = format!("==== {}: {VERSION} {} {main}.tla\n{stdout}{stderr}", plan.label, shown.join(" "));
        Ok(Explored { ended, stdout, stderr, output })
    }

    async fn run_plan(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        cx: &ToolContext<'_>,
    ) -> Result<(Run, String), ToolError> {
        let workers = plan.order.workers(cx.limits);
        let first = if workers > 1 { ALONE.min(cx.limits.check) } else { cx.limits.check };
        let alone = Limits { check: first, workers: Some(1), ..cx.limits.clone() };
        let first = ToolContext { limits: &alone, ..*cx };
        let mut before = Duration::ZERO;
        let (explored, workers) = match self.explore(spec, plan, &first, &Cancel::new(), &mut |_| {}).await? {
            slow if slow.ended.status == Status::DeadlineExceeded && cx.limits.check > alone.check => {
                before = slow.ended.wall;
                let limits = Limits { check: cx.limits.check.saturating_sub(ALONE), ..cx.limits.clone() };
                let rest = ToolContext { limits: &limits, ..*cx };
                (self.explore(spec, plan, &rest, &Cancel::new(), &mut |_| {}).await?, workers)
            }
            done => (done, 1),
        };
        let read = embedded_output::read(&explored.stdout, &explored.stderr, explored.ended.status);
        let judged = judge(NAME, &explored.ended, &read, cx, |_| broke(&explored.ended));
        if !matches!(judged, Ok(Verdict::Holds | Verdict::Violated { .. }))
            && let Some(what) = trouble::in_output(&explored.stderr)
        {
            return Err(ToolError::Environment { tool: NAME.to_owned(), what });
        }
        let verdict = within_constraint(judged?, spec, plan);
        let seconds = (before + explored.ended.wall).as_secs_f64();
        Ok((Run { verdict, read, seconds, workers }, explored.output))
    }
}

/// TLC evaluates invariants also in the states that a CONSTRAINT cuts off, before it leaves them; tla-mc does not. Its
/// constraint therefore lets a state outside through if it violates an invariant: the search ends there with the
/// violation, and otherwise never sees the state. Returns the plan with that constraint, and the name of the constraint.
fn with_boundary(spec: &SpecText, plan: &RunPlan) -> Option<(RunPlan, String)> {
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

/// TLC judges `[]P` and the initial part of a property also in the states that a CONSTRAINT cuts off; tla-mc does not. So
/// "holds" is a verdict only on properties that speak of steps alone.
fn within_constraint(verdict: Verdict, spec: &SpecText, plan: &RunPlan) -> Verdict {
    match (verdict, Cfg::parse(&plan.cfg)) {
        (Verdict::Holds, Ok(cfg))
            if !cfg.constraints.is_empty() && !has_only_step_properties(&spec.name, &spec.text, &spec.beside, &cfg) =>
        {
            let reason = format!(
                "no violation of a property was found, but the embedded checker does not evaluate `[]P` and initial parts of \
                 properties in the states that the constraint cuts off ({}); TLC does (--checker tlc)",
                cfg.constraints.join(", ")
            );
            Verdict::inconclusive(reason)
        }
        (verdict, _) => verdict,
    }
}

/// A run that ended.
pub(super) struct Explored {
    pub(super) ended: Ended,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// What it printed, under a heading.
    pub(super) output: String,
}

impl Explorer for TlaMc<'_> {
    fn checker(&self) -> Checker {
        Checker::Embedded
    }

    fn version(&self) -> String {
        VERSION.to_owned()
    }

    fn run<'a>(
        &'a self,
        spec: &'a SpecText,
        plan: &'a RunPlan,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<(Run, String), ToolError>> {
        Box::pin(self.run_plan(spec, plan, cx))
    }

    fn at_once<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<AtOnce>, ToolError>> {
        Box::pin(embedded_actions::at_once(self, request, cx))
    }

    fn coverage<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Learned<Option<Vec<ActionCoverage>>>, ToolError>> {
        Box::pin(embedded_actions::coverage(self, request, cx))
    }

    fn name_steps<'a>(
        &'a self,
        request: &'a CheckRequest,
        trace: Trace,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Learned<Trace>, ToolError>> {
        Box::pin(embedded_actions::name_steps(self, request, trace, cx))
    }
}

/// Writes the modules as the checker has to read them, and the configuration; returns the former by file.
fn lay_out(
    folder: &std::path::Path,
    spec: &SpecText,
    plan: &RunPlan,
    main: &str,
) -> Result<Vec<(String, CheckerText)>, ToolError> {
    let inside: PathBuf = folder.join("spec");
    let failed = |source: io::Error| ToolError::Io { what: format!("write to {}", inside.display()), source };
    fs::create_dir_all(&inside).map_err(failed)?;
    let own = plan.wrapper.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let beside = spec.beside.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    // The wrapper is the root of the specification where there is one.
    let modules: Vec<(&str, &str)> =
        own.into_iter().chain(std::iter::once((spec.name.as_str(), spec.text.as_str()))).chain(beside).collect();
    // What cannot be written for it was refused before; of a wrapper that cannot, it finds nothing and refuses it.
    let texts = for_checker(&modules, &plan.cfg).unwrap_or_default();
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
fn placed(stderr: &str, written: &[(String, CheckerText)]) -> String {
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
pub(super) fn memory(limits: &Limits) -> u64 {
    let given = limits.heap_mib.map(|mib| mib << 20);
    given.unwrap_or_else(|| machine_memory().map_or(MEMORY, |all| all / 4)).max(LEAST_MEMORY)
}

/// The memory in MiB for each of several runs at a time: together they may take what a single run may.
pub fn memory_mib(limits: &Limits, at_a_time: usize) -> u64 {
    let runs = u64::try_from(at_a_time.max(1)).unwrap_or(u64::MAX);
    (memory(limits) / runs).max(LEAST_MEMORY) >> 20
}

fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.split_whitespace().next()?;
    kib.parse::<u64>().ok().map(|kib| kib << 10)
}

pub(super) fn failed(error: ProcessError) -> ToolError {
    let what = error.to_string();
    let (ProcessError::Start { source, .. } | ProcessError::Log { source, .. } | ProcessError::Follow { source, .. }) =
        error;
    ToolError::Io { what, source }
}

fn broke(ended: &Ended) -> ToolError {
    if ended.status == KILLED {
        return ToolError::Broke { tool: NAME.to_owned(), what: KILLED_IN_WORDS.to_owned() };
    }
    let text = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(12)..].join("\n");
    ToolError::Broke { tool: NAME.to_owned(), what: format!("it ended with {:?}: {tail}", ended.status) }
}
