//! The child's side of a list of states: breadth first, with the interpreter of the embedded checker.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::process::ExitCode;

use tla_mc::check::Checker;
use tla_mc::eval::{Bufs, Engine, Program};
use tla_mc::store;
use tla_mc::value::Value;
use tlaforge_tla::Trace;

use super::child_task::read_task;
use super::state_graph::{GraphEdge, GraphState, MAX_PATH, StateGraph, Task};
use super::steps::{State, is_inside, next_states};

/// Reads a task from standard input, and prints the graph as one line of JSON.
pub(super) fn serve_task() -> ExitCode {
    let Some(task) = read_task().ok().and_then(|task| serde_json::from_slice::<Task>(&task).ok()) else {
        return ExitCode::FAILURE;
    };
    let listed = list_states(&task).and_then(|graph| serde_json::to_string(&graph).map_err(|e| e.to_string()));
    let written = match &listed {
        Ok(graph) => writeln!(std::io::stdout(), "\n{graph}"),
        Err(why) => writeln!(std::io::stderr(), "{why}"),
    };
    if listed.is_ok() && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct FoundState {
    state: State,
    depth: usize,
    /// The state before it on a shortest path.
    parent: Option<usize>,
}

fn list_states(task: &Task) -> Result<StateGraph, String> {
    let compiled = task.source.compile()?;
    if compiled.strict_engine(&task.source).is_some() {
        return Err("values of different kinds may be compared".to_owned());
    }
    let program = &compiled.program;
    // It orders the variables of the program, which evaluation relies on.
    let checker = Checker::new(program, program, 1)?;
    let label = task.label.as_ref().and_then(|(name, _)| program.vars.iter().position(|variable| variable == name));
    let mut search = Search {
        task,
        program,
        label,
        known: HashMap::new(),
        found: Vec::new(),
        unreached: task.witnesses.clone(),
        graph: StateGraph::default(),
        buffers: Bufs::default(),
    };
    search.graph.variables = search.without_label(&program.vars).cloned().collect();
    for state in checker.init_states(&mut Bufs::default())? {
        search.add(state, None)?;
    }
    let mut at = 0;
    let is_over = |search: &Search<'_>| task.limits.ends_with_witnesses && search.unreached.is_empty();
    while at < search.found.len() && search.found.len() <= task.limits.explored && !is_over(&search) {
        search.expand(at)?;
        at += 1;
    }
    let mut graph = search.graph;
    graph.is_complete = at == search.found.len();
    if search.found.len() > task.limits.shown {
        graph.states = Vec::new();
        graph.edges = Vec::new();
    }
    Ok(graph)
}

struct Search<'a> {
    task: &'a Task,
    program: &'a Program,
    /// The variable that holds the number of the last action.
    label: Option<usize>,
    /// The number of each known state, by the hashes of its values.
    known: HashMap<Vec<u64>, Option<usize>>,
    found: Vec<FoundState>,
    /// The witnesses that were true in no state so far.
    unreached: Vec<String>,
    graph: StateGraph,
    buffers: Bufs,
}

impl Search<'_> {
    fn without_label<'v, T>(&self, values: &'v [T]) -> impl Iterator<Item = &'v T> + use<'v, T> {
        let label = self.label;
        values.iter().enumerate().filter(move |(at, _)| Some(*at) != label).map(|(_, value)| value)
    }

    /// The number of a state; `None` if a constraint cuts it off.
    fn add(&mut self, state: State, parent: Option<usize>) -> Result<Option<usize>, String> {
        let key: Vec<u64> = self.without_label(&state).map(store::hash_shared).collect();
        if let Some(number) = self.known.get(&key) {
            return Ok(*number);
        }
        // Before the constraints, because a check evaluates invariants also in the states that they cut off.
        self.reach_witnesses(&state, parent);
        let depth = parent.map_or(0, |parent| self.found[parent].depth + 1);
        if !is_inside(self.program, &state, &mut self.buffers)? {
            self.known.insert(key, None);
            return Ok(None);
        }
        let number = self.found.len();
        if number < self.task.limits.shown {
            let shown = self.show(&state, depth)?;
            self.graph.states.push(shown);
        }
        if self.graph.depths.len() <= depth {
            self.graph.depths.resize(depth + 1, 0);
        }
        self.graph.depths[depth] += 1;
        self.known.insert(key, Some(number));
        self.found.push(FoundState { state, depth, parent });
        Ok(Some(number))
    }

    /// Keeps the path to a state for the witnesses that are true in it and were in none before.
    fn reach_witnesses(&mut self, state: &[Value], parent: Option<usize>) {
        for name in std::mem::take(&mut self.unreached) {
            match self.is_true(&name, state) {
                Ok(true) => {
                    let path = self.path(state, parent);
                    if path.steps.len() <= MAX_PATH {
                        self.graph.paths.insert(name, path);
                    }
                }
                Ok(false) => self.unreached.push(name),
                // What cannot be evaluated has no path; the check says why it is not decided.
                Err(_) => {}
            }
        }
    }

    fn is_true(&mut self, name: &str, state: &[Value]) -> Result<bool, String> {
        let program = self.program;
        // An invariant with several conjuncts is several parts of one name.
        for (index, part) in program.invariants.iter().enumerate().filter(|(_, part)| part.name == name) {
            let mut cx = self.buffers.cx(state, program.vars.len(), part.frame);
            if !program.invariant(index, &mut cx)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The path to a state with this parent. Its steps have no names yet.
    fn path(&self, state: &[Value], parent: Option<usize>) -> Trace {
        let before = std::iter::successors(parent, |at| self.found[*at].parent);
        let mut states: Vec<&[Value]> = before.map(|at| &*self.found[at].state).collect();
        states.reverse();
        states.push(state);
        let mut trace = Trace::default();
        for (at, state) in states.into_iter().enumerate() {
            let values = self.without_label(state).map(ToString::to_string);
            let values: BTreeMap<String, String> = self.graph.variables.iter().cloned().zip(values).collect();
            trace.push(at + 1, None, values);
        }
        trace
    }

    fn show(&mut self, state: &[Value], depth: usize) -> Result<GraphState, String> {
        let program = self.program;
        // An invariant with several conjuncts is several parts of one name.
        let mut truth: Vec<(&str, bool)> = Vec::new();
        for (index, part) in program.invariants.iter().enumerate() {
            let mut cx = self.buffers.cx(state, program.vars.len(), part.frame);
            let holds = program.invariant(index, &mut cx)?;
            match truth.iter_mut().find(|(name, _)| *name == part.name) {
                Some((_, all)) => *all &= holds,
                None => truth.push((&part.name, holds)),
            }
        }
        let is_witness = |name: &str| self.task.witnesses.iter().any(|witness| witness == name);
        let names = |witness: bool, value: bool| {
            let chosen = truth.iter().filter(|(name, holds)| is_witness(name) == witness && *holds == value);
            chosen.map(|(name, _)| (*name).to_owned()).collect()
        };
        let values = self.without_label(state).map(ToString::to_string).collect();
        Ok(GraphState { values, depth, violated: names(false, false), witnesses: names(true, true) })
    }

    fn expand(&mut self, from: usize) -> Result<(), String> {
        let state = self.found[from].state.clone();
        for successor in next_states(self.program, &state)? {
            let action = self.action_of(&successor);
            let Some(to) = self.add(successor, Some(from))? else { continue };
            if to != from {
                self.add_edge(GraphEdge { from, to, action });
            }
        }
        Ok(())
    }

    fn action_of(&self, state: &[Value]) -> Option<String> {
        let (_, names) = self.task.label.as_ref()?;
        let number: usize = state.get(self.label?)?.to_string().parse().ok()?;
        names.get(number.checked_sub(1)?).cloned()
    }

    fn add_edge(&mut self, edge: GraphEdge) {
        let GraphEdge { from, to, action } = edge;
        if let Some(action) = &action {
            *self.graph.actions.entry(action.clone()).or_default() += 1;
        }
        if self.found.len() > self.task.limits.shown {
            return;
        }
        let known = self.graph.edges.iter_mut().rev().take_while(|edge| edge.from == from).find(|edge| edge.to == to);
        match (known, action) {
            (Some(GraphEdge { action: Some(all), .. }), Some(action)) => {
                if !all.split(", ").any(|name| name == action) {
                    all.push_str(", ");
                    all.push_str(&action);
                }
            }
            (Some(_), _) => {}
            (None, action) => self.graph.edges.push(GraphEdge { from, to, action }),
        }
    }
}
