//! The child's side of a search. It may continue after violations: the checker stops at the first violated property, so
//! the engine of such a run reports a violated property as satisfied to the checker, prints its name, and does not evaluate it again.
//!
//! The result is that of a sequence of runs in which each leaves out the properties that the earlier ones found violated:
//! the order of exploration with one thread does not depend on properties, and a property without evaluations cannot
//! fail. Liveness properties still end the run, because the checker looks for their violations itself.
//!
//! The checker explores level by level, so the level of the first state that violates an invariant is the length of a
//! shortest path to such a state. The engine derives the level from what the checker asks of it: see [`Levels`].

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use tla_mc::check::{Checker, Disk, Failure};
use tla_mc::compile;
use tla_mc::eval::{Bufs, Cx, Engine, Expr, K, Program, Rooted, TProp};
use tla_mc::liveness::{self, Inst};
use tla_mc::value::Value;

use super::child_task::read_task;
use super::core_interpreter::Interpreter;
use super::core_program::{Source, asked_in_each_state};
use super::core_temporal::TemporalFormulas;
use super::past_violations::{Continues, NOTHING_CUT_OFF, TOO_MANY_STATES, Task, UNDECIDED_PREFIX, VIOLATED_PREFIX};
use super::temporal_child;

/// The exit statuses of the checker's own command line.
const VIOLATED: u8 = 12;
const ASSUMPTION: u8 = 10;
const FAILED: u8 = 2;

/// The largest number of states with which a counterexample to a temporal property is searched again. The verdict waits for it.
const MAX_SHOWN: usize = 100_000;

/// The error that ends a run early.
const ALL_VIOLATED: &str = "each of the invariants is violated";

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
    let mut compiled = task.source.compile()?;
    if task.continues.is_some() {
        compiled.program.invariants.push(new_state_marker());
    }
    let (program, temporal) = (&compiled.program, &compiled.temporal);
    let strict = compiled.strict_engine(&task.source);
    let make = || compiled.interpreter(&task.source);
    let locating = LocatingEngine::new(program, &make)?;
    let inner: &dyn Engine = match &strict {
        Some(strict) => strict,
        None => &locating,
    };
    let continuing =
        task.continues.as_ref().map(|continues| ContinuingEngine::new(program, inner, continues)).transpose()?;
    let engine: &dyn Engine = match &continuing {
        Some(engine) => engine,
        None => inner,
    };
    let mut checker = Checker::new(program, engine, task.workers)?;
    checker.disk = Disk {
        metadir: task.meta,
        checkpoint_secs: 0,
        queue_mem: task.queue_mib << 20,
        fp_mem: task.fingerprints_mib << 20,
        recover: false,
        source_hash: 0,
    };
    let outcome = checker.run();
    let is_held = outcome.failure.is_none();
    if is_held && !program.constraints.is_empty() && !locating.has_cut_off.load(Ordering::Relaxed) {
        // Without a reader nothing is left to report.
        let _ = writeln!(std::io::stderr(), "{NOTHING_CUT_OFF}");
    }
    // The checker's own counterexample, which is printed already, may stutter where fairness forbids it.
    if let Some(Failure::Liveness(name)) = &outcome.failure {
        let found = match outcome.distinct {
            0..=MAX_SHOWN => temporal_child::find_violation(program, temporal, &temporal.shown).ok().flatten(),
            _ => None,
        };
        match found {
            Some(violation) => print_text(&show_violation(program, temporal, &task.source, &violation))?,
            None => {
                // Without a reader nothing is left to report.
                let _ = writeln!(
                    std::io::stderr(),
                    "tla-mc: the steps that repeat in the counterexample of {name} were not checked against the fairness"
                );
            }
        }
    }
    let (mut status, mut result) = match outcome.failure {
        Some(Failure::Eval(what, _)) if what == ALL_VIOLATED => (0, None),
        Some(Failure::Eval(what, _)) if what == TOO_MANY_STATES => (0, Some(what)),
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
    if is_held && !temporal.properties.is_empty() {
        // The sign for a run that checks more than states and steps.
        let _ = writeln!(std::io::stderr(), "liveness: checking {} further properties", temporal.properties.len());
        match temporal_child::find_violation(program, temporal, &temporal.properties) {
            Ok(None) => {}
            Ok(Some(violation)) => {
                print_text(&show_violation(program, temporal, &task.source, &violation))?;
                (status, result) = (VIOLATED, None);
            }
            Err(what) => (status, result) = (FAILED, Some(format!("Error: {what}"))),
        }
    }
    let depth = if outcome.distinct == 0 { 0 } else { outcome.depth };
    let result = result.map(|line| line + "\n").unwrap_or_default();
    print_text(&format!(
        "{result}{} states generated, {} distinct states found. Depth {depth}. Checked in 0s (0 distinct/s).\n",
        outcome.generated, outcome.distinct
    ))?;
    Ok(status)
}

/// The counterexample as the checker would print it.
fn show_violation(
    program: &Program,
    temporal: &TemporalFormulas,
    source: &Source,
    violation: &temporal_child::Violation,
) -> String {
    let mut lines = vec![format!("Error: Temporal property {} is violated.", violation.name)];
    for (at, state) in violation.states.iter().enumerate() {
        lines.push(format!("State {}:", at + 1));
        lines.extend(program.vars.iter().zip(state).map(|(name, value)| format!("/\\ {name} = {value}")));
        lines.push(String::new());
    }
    let last = violation.states.len();
    lines.push(if violation.back_to + 1 == last {
        format!("State {}: Stuttering", last + 1)
    } else {
        format!("Back to state {}.", violation.back_to + 1)
    });
    if let Some(position) = violation.part.and_then(|part| source.position(&temporal.files, part)) {
        // Without a reader nothing is left to report.
        let _ = writeln!(std::io::stderr(), "tla-mc: the violated conjunct of {} is at {position}", violation.name);
    }
    lines.join("\n") + "\n"
}

fn print_text(text: &str) -> Result<(), String> {
    let mut stdout = std::io::stdout().lock();
    // The parent may stop this process at any time, so nothing stays in a buffer.
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|e| format!("cannot write: {e}"))
}

/// The invariant by which the engine counts the new states. It never evaluates it.
fn new_state_marker() -> Rooted<Expr> {
    asked_in_each_state("a new state")
}

/// The program, whose failures get the place that the interpreter knows.
struct LocatingEngine<'c> {
    program: &'c Program,
    make: &'c (dyn Fn() -> Interpreter<'c> + Sync),
    /// It is needed only if an evaluation fails.
    interpreter: OnceLock<Interpreter<'c>>,
    /// If the specification has a constraint, the properties of which states a part is about.
    state_properties: Vec<Inst<'c>>,
    /// Whether the checker has left the initial states.
    has_expanded: AtomicBool,
    /// Whether a constraint was false in a state.
    has_cut_off: AtomicBool,
    buffers: Mutex<Bufs>,
}

impl<'c> LocatingEngine<'c> {
    fn new(program: &'c Program, make: &'c (dyn Fn() -> Interpreter<'c> + Sync)) -> Result<Self, String> {
        let state_properties = if program.constraints.is_empty() {
            Vec::new()
        } else {
            let (instances, _) = liveness::instances(program)?;
            instances.into_iter().filter(|one| matches!(one.leaf, TProp::Always(_) | TProp::Init(_))).collect()
        };
        Ok(Self {
            program,
            make,
            interpreter: OnceLock::new(),
            state_properties,
            has_expanded: AtomicBool::new(false),
            has_cut_off: AtomicBool::new(false),
            buffers: Mutex::default(),
        })
    }

    fn interpreter(&self) -> &Interpreter<'c> {
        self.interpreter.get_or_init(self.make)
    }

    /// Whether a state that a constraint cuts off violates `[]P`, or an initial state the initial part of a property. TLC
    /// evaluates both before it drops the state.
    fn violates_property(&self, state: &[Value]) -> Result<bool, String> {
        if self.state_properties.is_empty() {
            return Ok(false);
        }
        let mut buffers = self.buffers.lock().map_err(|e| e.to_string())?;
        for property in &self.state_properties {
            let predicate = match property.leaf {
                TProp::Always(predicate) => predicate,
                TProp::Init(predicate)
                    if !self.has_expanded.load(Ordering::Relaxed)
                        && property.guard_holds(self.program, state, &mut buffers)? =>
                {
                    predicate
                }
                _ => continue,
            };
            let holds =
                liveness::eval_env(self.program, predicate, property.frame, &property.env, state, None, &mut buffers)
                    .and_then(|value| value.as_bool())
                    .map_err(|what| format!("evaluating {}: {what}", property.name))?;
            if !holds {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Engine for LocatingEngine<'_> {
    fn init<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        self.program.init(cx, k).map_err(|what| self.interpreter().located(what, None))
    }

    fn next<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        self.has_expanded.store(true, Ordering::Relaxed);
        let state = cx.state;
        self.program.next(cx, k).map_err(|what| self.interpreter().located(what, Some(state)))
    }

    fn invariant(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        let state = cx.state;
        let name = &self.program.invariants[index].name;
        self.program.invariant(index, cx).map_err(|what| self.interpreter().located_in(what, name, state))
    }

    fn constraint(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        let state = cx.state;
        let name = &self.program.constraints[index].name;
        let is_inside =
            self.program.constraint(index, cx).map_err(|what| self.interpreter().located_in(what, name, state))?;
        if !is_inside {
            self.has_cut_off.store(true, Ordering::Relaxed);
        }
        // The checker keeps a state with a violation, and ends with it.
        Ok(is_inside || self.violates_property(state)?)
    }

    fn view(&self, cx: &mut Cx) -> Result<Value, String> {
        self.program.view(cx)
    }
}

/// Counts states to know the level of the state that the checker evaluates. Initial states have level 1.
#[derive(Default)]
struct Levels {
    /// The level of the states whose successors the checker computes; 0 among the initial states.
    expanded_level: usize,
    /// States of that level that have not been expanded.
    unexpanded: u64,
    /// New states of the next level so far.
    next_level: u64,
    /// All states so far.
    found: u64,
}

impl Levels {
    fn begin_expansion(&mut self) {
        if self.unexpanded == 0 {
            self.expanded_level += 1;
            self.unexpanded = std::mem::take(&mut self.next_level);
        }
        self.unexpanded = self.unexpanded.saturating_sub(1);
    }
}

/// The interpreter, for which a property that was once violated holds, if the run continues after its violation.
struct ContinuingEngine<'p> {
    program: &'p Program,
    inner: &'p dyn Engine,
    continues: &'p Continues,
    /// Index in `names`, for each part of an invariant: the checker evaluates conjuncts one by one.
    invariants: Vec<usize>,
    /// The temporal properties as the checker counts them, and the index of each in `names`.
    properties: Vec<(Inst<'p>, usize)>,
    names: Vec<String>,
    /// Whether a property is no longer evaluated, by index in `names`.
    is_dropped: Vec<AtomicBool>,
    violated: AtomicUsize,
    levels: Mutex<Levels>,
    buffers: Mutex<Bufs>,
}

impl<'p> ContinuingEngine<'p> {
    fn new(program: &'p Program, inner: &'p dyn Engine, continues: &'p Continues) -> Result<Self, String> {
        let mut indexes: BTreeMap<String, usize> = BTreeMap::new();
        let mut names = Vec::new();
        let mut index_of = |name: &str| {
            *indexes.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        // The last one is the marker of new states.
        let parts = &program.invariants[..program.invariants.len().saturating_sub(1)];
        let invariants = parts.iter().map(|part| index_of(&part.name)).collect();
        let (instances, _) = liveness::instances(program)?;
        let properties = instances
            .into_iter()
            .map(|instance| {
                let index = index_of(&instance.name);
                (instance, index)
            })
            .collect();
        let is_dropped = names.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self {
            program,
            inner,
            continues,
            invariants,
            properties,
            names,
            is_dropped,
            violated: AtomicUsize::new(0),
            levels: Mutex::default(),
            buffers: Mutex::default(),
        })
    }

    fn is_dropped(&self, name: usize) -> bool {
        self.is_dropped[name].load(Ordering::Relaxed)
    }

    fn continues_after_invariant(&self, name: usize) -> bool {
        match self.continues {
            Continues::AfterAny { .. } => true,
            Continues::AfterInvariants { names, .. } => names.contains(&self.names[name]),
        }
    }

    fn drop_violated(&self, name: usize) -> Result<(), String> {
        if self.is_dropped[name].swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.violated.fetch_add(1, Ordering::Relaxed);
        let depth = self.lock_levels()?.expanded_level + 1;
        print_text(&format!("{VIOLATED_PREFIX}{depth} {}\n", self.names[name]))
    }

    fn drop_undecided(&self, name: usize) -> Result<(), String> {
        if self.is_dropped[name].swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        print_text(&format!("{UNDECIDED_PREFIX}{}\n", self.names[name]))
    }

    fn is_finished(&self) -> bool {
        match self.continues {
            Continues::AfterInvariants { names, ends_after_all: true } => {
                self.violated.load(Ordering::Relaxed) == names.len()
            }
            Continues::AfterAny { ends_after_all: true, .. } => {
                self.violated.load(Ordering::Relaxed) == self.names.len()
            }
            _ => false,
        }
    }

    /// Evaluates the invariants after whose violation the run continues in a state that a constraint cuts off, as TLC
    /// does with all invariants before it drops the state.
    fn check_cut_off_state(&self, state: &[Value]) -> Result<(), String> {
        let mut buffers = self.lock_buffers()?;
        let frame = self.program.invariants.iter().map(|part| part.frame).max().unwrap_or(0);
        let mut cx = buffers.cx(state, self.program.vars.len(), frame);
        for (index, name) in self.invariants.iter().enumerate() {
            if self.continues_after_invariant(*name) {
                cx.base = 0;
                cx.frame = self.program.invariants[index].frame as usize;
                self.invariant(index, &mut cx)?;
            }
        }
        Ok(())
    }

    fn lock_levels(&self) -> Result<MutexGuard<'_, Levels>, String> {
        self.levels.lock().map_err(|e| e.to_string())
    }

    fn lock_buffers(&self) -> Result<MutexGuard<'_, Bufs>, String> {
        self.buffers.lock().map_err(|e| e.to_string())
    }
}

impl Engine for ContinuingEngine<'_> {
    fn init<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        self.inner.init(cx, k)
    }

    fn next<'a>(&self, cx: &mut Cx<'a>, k: K<'_, 'a>) -> Result<(), String> {
        if self.is_finished() {
            return Err(ALL_VIOLATED.to_owned());
        }
        let mut levels = self.lock_levels()?;
        levels.begin_expansion();
        if let Continues::AfterAny { max_states, max_depth, .. } = self.continues {
            // The steps from here on lead to states of this many steps.
            let depth = u64::try_from(levels.expanded_level).unwrap_or(u64::MAX);
            if max_states.is_some_and(|max| levels.found >= max) || max_depth.is_some_and(|max| depth > max) {
                return Err(TOO_MANY_STATES.to_owned());
            }
        }
        drop(levels);
        self.inner.next(cx, k)
    }

    fn invariant(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        let Some(name) = self.invariants.get(index).copied() else {
            let mut levels = self.lock_levels()?;
            levels.next_level += 1;
            levels.found += 1;
            return Ok(true);
        };
        if self.is_dropped(name) {
            return Ok(true);
        }
        let holds = self.inner.invariant(index, cx);
        if !self.continues_after_invariant(name) {
            return holds;
        }
        match (holds, self.continues) {
            (Ok(true), _) => {}
            (Ok(false), _) => self.drop_violated(name)?,
            (Err(_), Continues::AfterInvariants { .. }) => self.drop_undecided(name)?,
            (Err(what), Continues::AfterAny { .. }) => return Err(what),
        }
        Ok(true)
    }

    fn constraint(&self, index: usize, cx: &mut Cx) -> Result<bool, String> {
        let is_inside = self.inner.constraint(index, cx)?;
        if !is_inside {
            self.check_cut_off_state(cx.state)?;
        }
        Ok(is_inside)
    }

    fn view(&self, cx: &mut Cx) -> Result<Value, String> {
        self.inner.view(cx)
    }

    fn step_prop(&self, index: usize, from: &[Value], to: &[Value]) -> Option<Result<bool, String>> {
        let (instance, name) = self.properties.get(index)?;
        if !matches!(instance.leaf, TProp::ActionBox(..)) || !matches!(self.continues, Continues::AfterAny { .. }) {
            return None;
        }
        if self.is_dropped(*name) {
            return Some(Ok(true));
        }
        let holds = self
            .lock_buffers()
            .and_then(|mut buffers| liveness::step_ok(self.program, instance, from, to, &mut buffers));
        Some(holds.and_then(|holds| if holds { Ok(()) } else { self.drop_violated(*name) }).map(|()| true))
    }
}
