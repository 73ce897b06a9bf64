//! The child's side of stepping through a specification: keeps the states, and answers questions about them until its parent ends.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Write as _;
use std::process::ExitCode;

use tla_mc::eval::{Bufs, Engine as _};
use tla_mc::store;
use tla_mc::value::Value;

use super::child_task::read_task;
use super::core_interpreter::Interpreter;
use super::core_program::Source;
use super::core_steps::{ActionName, NamedSteps};
use super::explanation::FalseConjunct;
use super::stepper::{
    ANSWER_PREFIX, FoundPath, PossibleStep, PossibleSteps, PreventedStep, Question, SteppedState, Task,
};
use super::steps::State;

/// Reads a task and questions from standard input, and prints a line for each answer.
pub(super) fn serve_task() -> ExitCode {
    let Some(task) = read_task().ok().and_then(|task| serde_json::from_slice::<Task>(&task).ok()) else {
        return ExitCode::FAILURE;
    };
    match serve(&task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Without a reader nothing is left to report.
            let _ = writeln!(std::io::stderr(), "{}", why.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn serve(task: &Task) -> Result<(), String> {
    let compiled = task.source.compile()?;
    let interpreter = compiled.interpreter(&task.source);
    if let Some(position) = interpreter.violated_assumption()? {
        return Err(format!("the assumption at {position} is false"));
    }
    let mut states = States {
        interpreter: &interpreter,
        source: &task.source,
        files: compiled.files(),
        known: Vec::new(),
        numbers: HashMap::new(),
    };
    while let Ok(bytes) = read_task() {
        let question = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
        let answer = match question {
            Question::Initial => answer(&states.initial()),
            Question::Steps { state } => answer(&states.steps(state)),
            Question::Values { state, names } => answer(&states.values(state, &names)),
            Question::Find { state, name, max_states } => answer(&states.find(state, &name, max_states)),
            Question::Walk(request) => answer(&states.walk(request)),
        }?;
        writeln!(std::io::stdout(), "\n{ANSWER_PREFIX}{answer}").map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn answer<A: serde::Serialize>(found: &Result<A, String>) -> Result<String, String> {
    serde_json::to_string(found).map_err(|e| e.to_string())
}

pub(super) struct States<'t, 'c> {
    pub(super) interpreter: &'t Interpreter<'c>,
    source: &'t Source,
    /// The names of the modules, by the number in a place.
    files: &'t [String],
    known: Vec<State>,
    /// The number of each known state, by the hashes of its values.
    numbers: HashMap<Vec<u64>, usize>,
}

impl States<'_, '_> {
    fn number_of(&mut self, state: State) -> usize {
        let key: Vec<u64> = state.iter().map(store::hash_shared).collect();
        *self.numbers.entry(key).or_insert_with(|| {
            self.known.push(state);
            self.known.len() - 1
        })
    }

    fn state(&self, number: usize) -> Result<State, String> {
        self.known.get(number).cloned().ok_or_else(|| format!("there is no state {number}"))
    }

    /// The invariants that are false in a state, and those that cannot be evaluated there, with the reason.
    pub(super) fn invariants(&self, state: &[Value]) -> (Vec<String>, Vec<(String, String)>) {
        let (mut violated, mut failed) = (Vec::new(), Vec::new());
        for name in self.interpreter.invariant_names() {
            match self.interpreter.named(name, state) {
                Ok(true) => {}
                Ok(false) => violated.push(name.clone()),
                Err(why) => failed.push((name.clone(), why)),
            }
        }
        (violated, failed)
    }

    pub(super) fn shown(&mut self, state: State) -> SteppedState {
        let names = self.interpreter.core.variables.iter();
        let values = names.zip(&state).map(|(name, value)| (name.clone(), value.to_string())).collect();
        let (violated, not_evaluated) = self.invariants(&state);
        SteppedState { number: self.number_of(state), values, violated, not_evaluated }
    }

    pub(super) fn initial_states(&self) -> Result<Vec<State>, String> {
        let mut found: Vec<State> = Vec::new();
        let mut buffers = Bufs::default();
        let mut cx = buffers.cx(&[], self.interpreter.core.variables.len(), 0);
        self.interpreter.init(&mut cx, &mut |cx| {
            let values: Option<State> = cx.next.iter().cloned().collect();
            let state = values.ok_or("the initial predicate leaves a variable without a value")?;
            if !found.contains(&state) {
                found.push(state);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn initial(&mut self) -> Result<Vec<SteppedState>, String> {
        let found = self.initial_states()?;
        Ok(found.into_iter().map(|state| self.shown(state)).collect())
    }

    fn steps(&mut self, number: usize) -> Result<PossibleSteps, String> {
        let state = self.state(number)?;
        let NamedSteps { steps, prevented, failed } = self.interpreter.named_steps(&state);
        let prevented = prevented.into_iter().map(|one| PreventedStep {
            action: one.action.name,
            arguments: one.action.arguments,
            conjunct: one.conjunct.map(|(place, sides)| FalseConjunct {
                position: self.interpreter.position_of(place),
                text: self.source.line_from(self.files, place),
                sides,
            }),
        });
        let prevented = prevented.collect();
        let steps = steps.into_iter().map(|step| self.possible(step.action, step.state)).collect();
        let failed = failed.into_iter().map(|(action, why)| (action.words(), why)).collect();
        Ok(PossibleSteps { steps, prevented, failed })
    }

    pub(super) fn possible(&mut self, action: ActionName, to: State) -> PossibleStep {
        PossibleStep { action: action.name, arguments: action.arguments, to: self.shown(to) }
    }

    fn values(&self, number: usize, names: &[String]) -> Result<Vec<Result<String, String>>, String> {
        let state = self.state(number)?;
        let value = |name: &String| self.interpreter.value_of(name, Vec::new(), &state).map(|value| value.to_string());
        Ok(names.iter().map(value).collect())
    }

    /// Breadth first, so that the path is a shortest one.
    fn find(&mut self, number: usize, name: &str, max_states: usize) -> Result<FoundPath, String> {
        let start = self.state(number)?;
        let is_found = |states: &Self, state: &[Value]| states.interpreter.value_of(name, Vec::new(), state)?.as_bool();
        let mut open = VecDeque::from([number]);
        // The step that leads to each state, and the state before it.
        let mut steps: BTreeMap<usize, (usize, ActionName)> = BTreeMap::new();
        if is_found(self, &start)? {
            return Ok(FoundPath::Path(Vec::new()));
        }
        let mut seen = 1;
        while let Some(at) = open.pop_front() {
            let state = self.state(at)?;
            let found = self.interpreter.named_steps(&state);
            if let Some((action, why)) = found.failed.into_iter().next() {
                return Ok(FoundPath::Undecided { why: format!("{} could not be evaluated: {why}", action.words()) });
            }
            for step in found.steps {
                let is_goal = is_found(self, &step.state)?;
                let to = self.number_of(step.state);
                if to == number || steps.contains_key(&to) {
                    continue;
                }
                steps.insert(to, (at, step.action));
                seen += 1;
                if is_goal {
                    return Ok(FoundPath::Path(self.path(&steps, number, to)?));
                }
                if seen > max_states {
                    return Ok(FoundPath::Undecided { why: format!("the search ended after {max_states} states") });
                }
                open.push_back(to);
            }
        }
        Ok(FoundPath::Nowhere { states: seen })
    }

    fn path(
        &mut self,
        steps: &BTreeMap<usize, (usize, ActionName)>,
        from: usize,
        to: usize,
    ) -> Result<Vec<PossibleStep>, String> {
        let (mut path, mut at) = (Vec::new(), to);
        while at != from {
            let Some((before, action)) = steps.get(&at) else { break };
            let state = self.state(at)?;
            path.push(self.possible(action.clone(), state));
            at = *before;
        }
        path.reverse();
        Ok(path)
    }
}

impl ActionName {
    /// `Enter(1)`.
    pub(super) fn words(&self) -> String {
        match self.arguments.as_slice() {
            [] if self.name.is_empty() => "a step".to_owned(),
            [] => self.name.clone(),
            all => format!("{}({})", self.name, all.join(", ")),
        }
    }
}
