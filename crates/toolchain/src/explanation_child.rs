//! The child's side of a search for a behaviour that explains a log: depth first over pairs of a state and a cut, which says how many events
//! of each process have happened. No pair is visited twice. It evaluates with the interpreter of the core, which knows the place of each expression.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::rc::Rc;

use tla_mc::eval::{Bufs, Engine as _};
use tla_mc::store;
use tla_mc::value::Value;

use super::child_task::read_task;
use super::core_interpreter::{FOUND, Interpreter};
use super::explanation::{
    Answer, Behaviour, Difference, ExplainedStep, Explanation, FieldValue, Log, LogWork, MAX_PATH_STATES, Names,
    Observation, Path, Task, ViolatingState,
};
use super::steps::State;
use super::strict_values::{NotCompared, equal};

/// Reads a task from standard input, and prints the result as one line of JSON.
pub(super) fn serve_task() -> ExitCode {
    let Some(task) = read_task().ok().and_then(|task| serde_json::from_slice::<Task>(&task).ok()) else {
        return ExitCode::FAILURE;
    };
    let explained = compare(&task).and_then(|found| serde_json::to_string(&found).map_err(|e| e.to_string()));
    let written = match &explained {
        Ok(found) => writeln!(std::io::stdout(), "\n{found}"),
        Err(why) => writeln!(std::io::stderr(), "{}", why.replace('\n', " ")),
    };
    if explained.is_ok() && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compare(task: &Task) -> Result<Answer, String> {
    let compiled = task.source.compile()?;
    let mut interpreter = compiled.interpreter(&task.source);
    // The values of a step are compared with those of every other one.
    interpreter.mixed_choices_differ = true;
    let files = compiled.files();
    if let Some(position) = interpreter.violated_assumption()? {
        return Err(format!("the assumption at {position} is false"));
    }
    let mut search = Search::new(task, &interpreter, files)?;
    match task.work {
        LogWork::Explain { max_searched } => {
            search.max_searched = max_searched;
            search.explain().map(Answer::Explanation)
        }
        LogWork::Windows => search.windows().map(Answer::Windows),
    }
}

/// A state at the end of a sequence of actions, with those between.
pub(super) struct Reached {
    between: Vec<Rc<State>>,
    pub(super) state: Rc<State>,
}

/// A state with a cut.
pub(super) struct SearchState {
    pub(super) cut: Rc<[u32]>,
    pub(super) state: Rc<State>,
    hidden: u32,
    parent: Option<usize>,
    step: Option<ExplainedStep>,
    /// The states between this one and its parent, if the step is a sequence of actions.
    between: Vec<Rc<State>>,
}

pub(super) struct Search<'t, 'c> {
    pub(super) task: &'t Task,
    pub(super) log: &'t Log,
    max_searched: u64,
    pub(super) names: Names<'t>,
    /// The names of the modules, by the number in a place.
    pub(super) files: &'t [String],
    pub(super) interpreter: &'t Interpreter<'c>,
    /// The different values of fields, and the names of the fields.
    values: Vec<Value>,
    field_names: Vec<Value>,
    invariants: &'t [String],
    pub(super) nodes: Vec<SearchState>,
    /// The smallest number of hidden steps with which a pair was reached.
    visited: HashMap<(Rc<[u32]>, Vec<u64>), u32>,
    /// The nodes after the largest number of events.
    pub(super) furthest: Vec<usize>,
    /// The first failed evaluation, with its event.
    first_error: Option<(String, Option<u32>)>,
}

impl<'t, 'c> Search<'t, 'c> {
    fn new(task: &'t Task, interpreter: &'t Interpreter<'c>, files: &'t [String]) -> Result<Self, String> {
        let mut search = Self {
            task,
            log: &task.log,
            max_searched: 0,
            names: Names(&task.prefix),
            files,
            interpreter,
            values: Vec::new(),
            field_names: Vec::new(),
            invariants: interpreter.invariant_names(),
            nodes: Vec::new(),
            visited: HashMap::new(),
            furthest: Vec::new(),
            first_error: None,
        };
        for (number, value) in task.log.values.iter().enumerate() {
            let value = search.value(number, value)?;
            search.values.push(value);
        }
        for (number, kind) in task.log.kinds.iter().enumerate() {
            let names = (0..kind.before.len()).map(|at| (search.names.before(number, at), &kind.before[at]));
            let names = names.chain((0..kind.after.len()).map(|at| (search.names.after(number, at), &kind.after[at])));
            for (name, observation) in names {
                if interpreter.action_definitions.contains(name.as_str()) {
                    let text = &observation.expression;
                    return Err(format!(
                        "`{text}` of the event {} has a prime: write what holds in one state",
                        kind.name
                    ));
                }
            }
        }
        search.field_names = task.log.fields.iter().map(|name| search.text(name)).collect::<Result<_, _>>()?;
        Ok(search)
    }

    /// The record of an event.
    pub(super) fn record(&self, event: u32) -> Result<Value, String> {
        let fields = self.field_names.iter().zip(&self.log.events[event as usize].fields);
        let known = fields.filter_map(|(name, value)| Some((name.clone(), self.values.get(*value as usize)?.clone())));
        let known: Vec<(Value, Value)> = known.collect();
        if known.is_empty() { Ok(Value::Seq(Vec::new().into())) } else { Value::func(known) }
    }

    /// The value of a field of an event.
    pub(super) fn field(&self, event: u32, name: &str) -> Option<&Value> {
        let at = self.log.fields.iter().position(|field| field == name)?;
        self.values.get(self.log.events[event as usize].fields[at] as usize)
    }

    fn text(&self, text: &str) -> Result<Value, String> {
        self.interpreter.text_value(text).ok_or_else(|| format!("the text {text:?} is not known to the checker"))
    }

    fn value(&self, number: usize, value: &FieldValue) -> Result<Value, String> {
        match value {
            FieldValue::Tla { .. } => {
                self.interpreter.value_of(&self.names.value(number), Vec::new(), &[])?.normalized()
            }
            FieldValue::Json(json) => self.json_value(json),
        }
    }

    fn json_value(&self, json: &serde_json::Value) -> Result<Value, String> {
        use serde_json::Value as Json;
        Ok(match json {
            Json::Bool(value) => Value::Bool(*value),
            Json::String(text) => self.text(text)?,
            Json::Number(number) => match number.as_i64() {
                Some(number) => Value::Int(number),
                None => return Err(format!("{number} is not a whole number of 64 bits")),
            },
            Json::Array(all) => {
                Value::Seq(all.iter().map(|one| self.json_value(one)).collect::<Result<Vec<_>, _>>()?.into())
            }
            Json::Object(all) if all.is_empty() => Value::Seq(Vec::new().into()),
            Json::Object(all) => {
                let mut parts = Vec::new();
                for (name, one) in all {
                    parts.push((self.text(name)?, self.json_value(one)?));
                }
                Value::func(parts)?
            }
            Json::Null => return Err("TLA+ has no null".to_owned()),
        })
    }

    fn explain(&mut self) -> Result<Explanation, String> {
        // First only through states that satisfy the invariants: if that explains the log, no requirement is broken.
        match self.run(true)? {
            Explanation::NotFound(_) if !self.invariants.is_empty() => match self.run(false)? {
                Explanation::Found(Behaviour { violation: None, .. }) => {
                    Err("a behaviour was found that the first search missed; this is a defect".to_owned())
                }
                found => Ok(found),
            },
            other => Ok(other),
        }
    }

    fn run(&mut self, keeps_invariants: bool) -> Result<Explanation, String> {
        self.nodes.clear();
        self.visited.clear();
        self.furthest.clear();
        self.first_error = None;
        let start: Rc<[u32]> = vec![0; self.log.processes.len()].into();
        let mut stack = Vec::new();
        let initial = match self.initial_states() {
            Ok(initial) => initial,
            Err(what) => {
                let why = format!("the initial predicate could not be evaluated: {what}");
                return Ok(Explanation::Undecided { why, event: None });
            }
        };
        for state in initial {
            let reached = Reached { between: Vec::new(), state: Rc::new(state) };
            stack.extend(self.add(start.clone(), reached, 0, None, None, keeps_invariants));
        }
        stack.reverse();
        while let Some(at) = stack.pop() {
            if self.is_complete(&self.nodes[at].cut) {
                return Ok(Explanation::Found(self.behaviour(at)));
            }
            if self.nodes.len() as u64 > self.max_searched {
                let why = format!(
                    "{} pairs of a state and the events before it were visited, and none explains the whole log",
                    self.max_searched
                );
                return Ok(Explanation::Undecided { why, event: None });
            }
            let found = self.expand(at, keeps_invariants)?;
            stack.extend(found.into_iter().rev());
        }
        match &self.first_error {
            Some((what, event)) => {
                Ok(Explanation::Undecided { why: format!("a step could not be evaluated: {what}"), event: *event })
            }
            None => Ok(Explanation::NotFound(Box::new(self.unexplained()))),
        }
    }

    fn initial_states(&self) -> Result<Vec<State>, String> {
        let mut found = Vec::new();
        let mut buffers = Bufs::default();
        let mut cx = buffers.cx(&[], self.interpreter.core.variables.len(), 0);
        self.interpreter.init(&mut cx, &mut |cx| {
            let values: Option<State> = cx.next.iter().cloned().collect();
            found.push(values.ok_or("the initial predicate leaves a variable without a value")?);
            Ok(())
        })?;
        Ok(found)
    }

    fn is_complete(&self, cut: &[u32]) -> bool {
        cut.iter().zip(&self.log.processes).all(|(done, all)| *done as usize == all.len())
    }

    /// Keeps a pair that is new, or that is reached with fewer hidden steps; its number.
    fn add(
        &mut self,
        cut: Rc<[u32]>,
        reached: Reached,
        hidden: u32,
        parent: Option<usize>,
        step: Option<ExplainedStep>,
        keeps_invariants: bool,
    ) -> Option<usize> {
        let Reached { between, state } = reached;
        // Another way between the same states may violate nothing, so this comes before the pair counts as visited.
        if keeps_invariants && !between.iter().all(|state| self.satisfies_invariants(state, step.as_ref())) {
            return None;
        }
        let key = (cut.clone(), state.iter().map(store::hash_shared).collect::<Vec<u64>>());
        if self.visited.get(&key).is_some_and(|known| *known <= hidden) {
            return None;
        }
        self.visited.insert(key, hidden);
        if keeps_invariants && !self.satisfies_invariants(&state, step.as_ref()) {
            return None;
        }
        let number = self.nodes.len();
        let explained = |node: &SearchState| node.cut.iter().sum::<u32>();
        self.nodes.push(SearchState { cut, state, hidden, parent, step, between });
        let (own, best) = (explained(&self.nodes[number]), self.furthest.first().map(|at| explained(&self.nodes[*at])));
        if best.is_none_or(|best| own > best) {
            self.furthest.clear();
        }
        if best.is_none_or(|best| own >= best) {
            self.furthest.push(number);
        }
        Some(number)
    }

    /// Whether a state after this step satisfies the invariants; not if they cannot be evaluated, which is remembered.
    fn satisfies_invariants(&mut self, state: &[Value], step: Option<&ExplainedStep>) -> bool {
        match self.violated(state) {
            Ok(violated) => violated.is_empty(),
            Err(what) => {
                let event = match step {
                    Some(ExplainedStep::Event { event, .. }) => Some(*event),
                    _ => None,
                };
                self.first_error.get_or_insert((what, event));
                false
            }
        }
    }

    fn violated(&self, state: &[Value]) -> Result<Vec<String>, String> {
        let mut violated = Vec::new();
        for name in self.invariants {
            if !self.interpreter.named(name, state)? {
                violated.push(name.clone());
            }
        }
        Ok(violated)
    }

    /// The events that can be next after these, the first one first.
    pub(super) fn next_events(&self, cut: &[u32]) -> Vec<(usize, u32)> {
        let mut found: Vec<(usize, u32)> = Vec::new();
        for (process, all) in self.log.processes.iter().enumerate() {
            let Some(event) = all.get(cut[process] as usize) else { continue };
            if self.log.events[*event as usize].needs.iter().zip(cut).all(|(needed, done)| needed <= done) {
                found.push((process, *event));
            }
        }
        found.sort_by_key(|(_, event)| *event);
        found
    }

    fn expand(&mut self, at: usize, keeps_invariants: bool) -> Result<Vec<usize>, String> {
        let SearchState { cut, state, hidden, .. } = &self.nodes[at];
        let (cut, state, hidden) = (cut.clone(), state.clone(), *hidden);
        let mut added = Vec::new();
        for (process, event) in self.next_events(&cut) {
            let kind = self.log.events[event as usize].kind;
            let record = self.record(event)?;
            match self.differences(kind, event, &self.log.kinds[kind].before, true, &[&**state]) {
                Ok(differences) if differences.is_empty() => {}
                Ok(_) => continue,
                Err(what) => {
                    self.first_error.get_or_insert((what, Some(event)));
                    continue;
                }
            }
            let mut after: Vec<u32> = cut.to_vec();
            after[process] += 1;
            let after: Rc<[u32]> = after.into();
            for step in 0..self.log.kinds[kind].steps.len() {
                let (found, failed) = self.after_sequence(kind, step, &record, &state);
                if let Some(what) = failed {
                    self.first_error.get_or_insert((what, Some(event)));
                }
                for next in found {
                    match self.differences(kind, event, &self.log.kinds[kind].after, false, &[&next.state]) {
                        Ok(differences) if differences.is_empty() => {
                            let step = Some(ExplainedStep::Event { event, step });
                            added.extend(self.add(after.clone(), next, 0, Some(at), step, keeps_invariants));
                        }
                        Ok(_) => {}
                        Err(what) => drop(self.first_error.get_or_insert((what, Some(event)))),
                    }
                }
            }
        }
        if hidden < self.log.max_hidden {
            for number in 0..self.log.hidden.len() {
                match self.interpreter.successors(&self.names.hidden(number), Vec::new(), &state) {
                    Ok(successors) => {
                        for next in successors {
                            match self.is_step(&state, &next) {
                                Ok(true) => {}
                                Ok(false) => continue,
                                Err(what) => {
                                    self.first_error.get_or_insert((what, None));
                                    continue;
                                }
                            }
                            let step = Some(ExplainedStep::Hidden(number));
                            let next = Reached { between: Vec::new(), state: Rc::new(next) };
                            added.extend(self.add(cut.clone(), next, hidden + 1, Some(at), step, keeps_invariants));
                        }
                    }
                    Err(what) => drop(self.first_error.get_or_insert((what, None))),
                }
            }
        }
        Ok(added)
    }

    /// The states after a sequence of actions, each of which is a step of the specification, and the first evaluation that failed.
    pub(super) fn after_sequence(
        &self,
        kind: usize,
        step: usize,
        record: &Value,
        state: &Rc<State>,
    ) -> (Vec<Reached>, Option<String>) {
        let mut failed = None;
        let mut found = vec![Reached { between: Vec::new(), state: state.clone() }];
        for part in 0..self.log.kinds[kind].steps[step].len() {
            let name = self.names.step(kind, step, part);
            let mut longer = Vec::new();
            for Reached { between, state } in found {
                let successors = self.interpreter.successors(&name, vec![record.clone()], &state);
                let successors = successors.unwrap_or_else(|what| {
                    failed.get_or_insert(what);
                    Vec::new()
                });
                let mut between = between;
                if part > 0 {
                    between.push(state.clone());
                }
                for next in successors {
                    match self.is_step(&state, &next) {
                        Ok(true) => longer.push(Reached { between: between.clone(), state: Rc::new(next) }),
                        Ok(false) => {}
                        Err(what) => drop(failed.get_or_insert(what)),
                    }
                }
            }
            found = longer;
        }
        (found, failed)
    }

    /// Whether the specification allows a step: by its next-state relation, or because nothing changes.
    pub(super) fn is_step(&self, from: &[Value], to: &[Value]) -> Result<bool, String> {
        if from == to {
            return Ok(true);
        }
        let mut buffers = Bufs::default();
        let mut cx = buffers.cx(from, from.len(), 0);
        for (chosen, value) in cx.next.iter_mut().zip(to) {
            *chosen = Some(value.clone());
        }
        match self.interpreter.next(&mut cx, &mut |_| Err(FOUND.to_owned())) {
            Ok(()) => Ok(false),
            Err(what) if what == FOUND => Ok(true),
            Err(what) => Err(what),
        }
    }

    /// The observations of an event that none of the states has.
    pub(super) fn differences(
        &self,
        kind: usize,
        event: u32,
        observations: &[Observation],
        is_before: bool,
        states: &[&[Value]],
    ) -> Result<Vec<Difference>, String> {
        let mut differences = Vec::new();
        for (at, Observation { expression, field }) in observations.iter().enumerate() {
            let Some(logged) = self.field(event, field) else { continue };
            let name = if is_before { self.names.before(kind, at) } else { self.names.after(kind, at) };
            let mut specified = Vec::new();
            for state in states {
                let value = self.interpreter.value_of(&name, vec![self.record(event)?], state)?;
                let is_equal = match equal(&value, logged) {
                    Ok(is_equal) => is_equal,
                    // Values of different kinds differ.
                    Err(NotCompared::Mixed(_)) => false,
                    Err(NotCompared::Failed(what)) => return Err(format!("{expression} cannot be compared: {what}")),
                };
                if is_equal {
                    specified.clear();
                    break;
                }
                let text = value.to_string();
                if !specified.contains(&text) {
                    specified.push(text);
                }
            }
            if !specified.is_empty() {
                differences.push(Difference { expression: expression.clone(), specified, logged: logged.to_string() });
            }
        }
        Ok(differences)
    }

    pub(super) fn steps_to(&self, at: usize) -> Vec<ExplainedStep> {
        let path = std::iter::successors(Some(at), |at| self.nodes[*at].parent);
        let mut steps: Vec<ExplainedStep> = path.filter_map(|at| self.nodes[at].step.clone()).collect();
        steps.reverse();
        steps
    }

    /// The states on the way to a node, without those within a sequence of actions.
    pub(super) fn path_to(&self, at: usize) -> Path {
        let nodes: Vec<usize> = std::iter::successors(Some(at), |at| self.nodes[*at].parent).collect();
        let left_out = nodes.len().saturating_sub(MAX_PATH_STATES);
        let shown = nodes.iter().take(MAX_PATH_STATES).rev().map(|at| &self.nodes[*at]);
        Path { left_out, states: shown.map(|node| (node.step.clone(), self.shown(&node.state))).collect() }
    }

    fn behaviour(&self, at: usize) -> Behaviour {
        let mut path: Vec<usize> = std::iter::successors(Some(at), |at| self.nodes[*at].parent).collect();
        path.reverse();
        let mut after = None;
        let mut violation = None;
        for at in path {
            if let Some(ExplainedStep::Event { event, .. }) = self.nodes[at].step {
                after = Some(event);
            }
            let node = &self.nodes[at];
            let states = node.between.iter().map(|state| (state, true)).chain([(&node.state, false)]);
            let first = states.into_iter().find_map(|(state, is_within)| {
                let invariants = self.violated(state).ok().filter(|invariants| !invariants.is_empty())?;
                Some(ViolatingState { invariants, after, is_within, state: self.shown(state) })
            });
            if first.is_some() {
                violation = first;
                break;
            }
        }
        let path = self.path_to(at);
        Behaviour { steps: self.steps_to(at), searched: self.nodes.len() as u64, path, violation }
    }

    pub(super) fn shown(&self, state: &[Value]) -> Vec<(String, String)> {
        let names = self.interpreter.core.variables.iter();
        names.zip(state).map(|(name, value)| (name.clone(), value.to_string())).collect()
    }
}
