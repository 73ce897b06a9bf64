//! The child's side of a run that continues after violations. The checker stops at the first violated property. So
//! this engine reports a violated property as satisfied to the checker, prints its name, and does not evaluate it again.
//!
//! The result is that of a sequence of runs in which each leaves out the properties that the earlier ones found violated:
//! the order of exploration with one thread does not depend on properties, and a property without evaluations cannot
//! fail. Liveness properties still end the run, because the checker looks for their violations itself.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tla_mc::check::{Checker, Disk, Failure};
use tla_mc::eval::{Bufs, Cx, Engine, K, Program, TProp};
use tla_mc::liveness::{self, Inst};
use tla_mc::value::Value;
use tla_mc::{cli, compile};

use super::child_task::read_task;
use super::past_violations::{LINE_PREFIX, Task};

/// The exit statuses of the checker's own command line.
const VIOLATED: u8 = 12;
const ASSUMPTION: u8 = 10;
const FAILED: u8 = 2;

/// Reads a task from standard input, and prints what the checker's command line would print.
pub(super) fn serve_task() -> ExitCode {
    let Some(task) = read_task().ok().and_then(|task| serde_json::from_slice::<Task>(&task).ok()) else {
        return ExitCode::FAILURE;
    };
    match explore(task) {
        Ok(status) => ExitCode::from(status),
        Err(what) if what == compile::ASSUME_FALSE => ExitCode::from(ASSUMPTION),
        Err(what) => {
            // Without a reader nothing is left to report.
            let _ = writeln!(std::io::stderr(), "tla-mc: {what}");
            ExitCode::from(FAILED)
        }
    }
}

fn explore(task: Task) -> Result<u8, String> {
    let loaded = cli::load_spec(&task.spec, &task.cfg)?;
    let engine = ContinuingEngine::new(&loaded.prog)?;
    let mut checker = Checker::new(&loaded.prog, &engine, 1)?;
    checker.disk = Disk {
        metadir: task.meta,
        checkpoint_secs: 0,
        queue_mem: task.queue_mib << 20,
        fp_mem: task.fingerprints_mib << 20,
        recover: false,
        source_hash: loaded.source_hash,
    };
    let outcome = checker.run();
    let (status, result) = match outcome.failure {
        None => (0, Some("Model checking completed. No error has been found.".to_owned())),
        // The checker has printed the counterexample and the name.
        Some(Failure::Liveness(_)) => (VIOLATED, None),
        Some(Failure::Invariant(name, _)) => (VIOLATED, Some(format!("Error: Invariant {name} is violated."))),
        Some(Failure::Step(name, ..)) => {
            (VIOLATED, Some(format!("Error: Action property {name} is violated by the last step above.")))
        }
        Some(Failure::InitProperty(name, _)) => {
            (VIOLATED, Some(format!("Error: Property {name} is violated by the initial state above.")))
        }
        Some(Failure::Deadlock(_)) => (VIOLATED, Some("Error: Deadlock reached.".to_owned())),
        Some(Failure::Eval(what, _)) => (FAILED, Some(format!("Error: {what}"))),
    };
    let depth = if outcome.distinct == 0 { 0 } else { outcome.depth };
    let result = result.map(|line| line + "\n").unwrap_or_default();
    print_text(&format!(
        "{result}{} states generated, {} distinct states found. Depth {depth}. Checked in 0s (0 distinct/s).\n",
        outcome.generated, outcome.distinct
    ))?;
    Ok(status)
}

fn print_text(text: &str) -> Result<(), String> {
    let mut stdout = std::io::stdout().lock();
    // The parent may stop this process at any time, so nothing stays in a buffer.
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|e| format!("cannot write: {e}"))
}

/// The interpreter, for which every property that was once violated holds.
struct ContinuingEngine<'p> {
    program: &'p Program,
    /// Index in `names`, for each part of an invariant: the checker evaluates conjuncts one by one.
    invariants: Vec<usize>,
    /// The temporal properties as the checker counts them, and the index of each in `names`.
    properties: Vec<(Inst<'p>, usize)>,
    names: Vec<String>,
    /// Whether a property was violated, by index in `names`.
    is_violated: Vec<AtomicBool>,
    buffers: Mutex<Bufs>,
}

impl<'p> ContinuingEngine<'p> {
    fn new(program: &'p Program) -> Result<Self, String> {
        let mut indexes: BTreeMap<String, usize> = BTreeMap::new();
        let mut names = Vec::new();
        let mut index_of = |name: &str| {
            *indexes.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let invariants = program.invariants.iter().map(|part| index_of(&part.name)).collect();
        let (instances, _) = liveness::instances(program)?;
        let properties = instances
            .into_iter()
            .map(|instance| {
                let index = index_of(&instance.name);
                (instance, index)
            })
            .collect();
        let is_violated = names.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self { program, invariants, properties, names, is_violated, buffers: Mutex::default() })
    }

    fn is_dropped(&self, name: usize) -> bool {
        self.is_violated[name].load(Ordering::Relaxed)
    }

    fn drop_property(&self, name: usize) -> Result<(), String> {
        if self.is_violated[name].swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        print_text(&format!("{LINE_PREFIX}{}\n", self.names[name]))
    }

    /// Evaluates all invariants in a state that a constraint cuts off, as TLC does before it drops the state.
    fn check_cut_off_state(&self, state: &[Value]) -> Result<(), String> {
        let mut buffers = self.lock_buffers()?;
        let frame = self.program.invariants.iter().map(|part| part.frame).max().unwrap_or(0);
        let mut cx = buffers.cx(state, self.program.vars.len(), frame);
        for (index, part) in self.program.invariants.iter().enumerate() {
            cx.base = 0;
            cx.frame = part.frame as usize;
            self.invariant(index, &mut cx)?;
        }
        Ok(())
    }

    fn lock_buffers(&self) -> Result<std::sync::MutexGuard<'_, Bufs>, String> {
        self.buffers.lock().map_err(|e| e.to_string())
    }
}

impl Engine for ContinuingEngine<'_> {
    fn init<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        self.program.init(cx, k)
    }

    fn next<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        self.program.next(cx, k)
    }

    fn invariant(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        let name = self.invariants[index];
        if !self.is_dropped(name) && !self.program.invariant(index, cx)? {
            self.drop_property(name)?;
        }
        Ok(true)
    }

    fn constraint(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        let is_inside = self.program.constraint(index, cx)?;
        if !is_inside {
            self.check_cut_off_state(cx.state)?;
        }
        Ok(is_inside)
    }

    fn view(&self, cx: &mut Cx) -> Result<Value, String> {
        self.program.view(cx)
    }

    fn step_prop(&self, index: usize, from: &[Value], to: &[Value]) -> Option<Result<bool, String>> {
        let (instance, name) = self.properties.get(index)?;
        if !matches!(instance.leaf, TProp::ActionBox(..)) {
            return None;
        }
        if self.is_dropped(*name) {
            return Some(Ok(true));
        }
        let holds = self
            .lock_buffers()
            .and_then(|mut buffers| liveness::step_ok(self.program, instance, from, to, &mut buffers));
        Some(holds.and_then(|holds| if holds { Ok(()) } else { self.drop_property(*name) }).map(|()| true))
    }
}
