//! Where an exploration is: the path to the present state, and what can happen there.

use crate::cli::failure::Failure;
use crate::cli::tools::tool_failure;
use crate::tla::{Module, Trace, check_expression};
use crate::toolchain::{
    CheckRequest, EmbeddedToolchain, FoundPath, PossibleStep, PossibleSteps, SteppedState, Stepper, ToolContext,
};

/// The largest number of states that `goto` looks at.
const MAX_FOUND: usize = 1_000_000;

/// The answer to a command that needs a state.
pub(super) const CHOOSE_FIRST: &str = "choose an initial state first, by its number";

/// A path through a specification, and the child that knows its states.
pub(super) struct Exploration<'a> {
    tools: &'a EmbeddedToolchain,
    cx: &'a ToolContext<'a>,
    request: CheckRequest,
    stepper: Stepper,
    initial: Vec<SteppedState>,
    /// The states so far, each with the step that leads to it; the first one has none. Empty until an initial state is chosen.
    path: Vec<(Option<PossibleStep>, SteppedState)>,
    /// What can happen in the last state.
    possible: PossibleSteps,
}

impl<'a> Exploration<'a> {
    /// Starts at the initial state, if there is one alone.
    pub(super) async fn start(
        tools: &'a EmbeddedToolchain,
        request: CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> Result<Self, Failure> {
        let started = tools.step_through(&request, &[], false, cx).await.map_err(|error| tool_failure(&error))?;
        let (mut stepper, _) = started.map_err(Failure::usage)?;
        let initial = stepper.initial_states().await.map_err(Failure::usage)?;
        if initial.is_empty() {
            return Err(Failure::usage("the specification has no initial state"));
        }
        let mut exploration =
            Self { tools, cx, request, stepper, initial, path: Vec::new(), possible: PossibleSteps::default() };
        if exploration.initial.len() == 1 {
            exploration.take(1).await.map_err(Failure::usage)?;
        }
        Ok(exploration)
    }

    pub(super) fn module(&self) -> Option<Module> {
        Module::parse(&self.request.spec.text).ok()
    }

    pub(super) fn cfg_text(&self) -> &str {
        &self.request.cfg_text
    }

    pub(super) fn state(&self) -> Option<&SteppedState> {
        self.path.last().map(|(_, state)| state)
    }

    /// The names of the actions that have steps, or that are prevented.
    pub(super) fn action_names(&self) -> Vec<String> {
        let possible = self.possible.steps.iter().map(|step| action_words(&step.action, &step.arguments));
        let prevented = self.possible.prevented.iter().map(|step| action_words(&step.action, &step.arguments));
        let all: std::collections::BTreeSet<String> = possible.chain(prevented).collect();
        all.into_iter().collect()
    }

    /// The initial states, of which one is chosen if there are several.
    pub(super) fn initial(&self) -> &[SteppedState] {
        &self.initial
    }

    /// The number of states so far.
    pub(super) fn len(&self) -> usize {
        self.path.len()
    }

    /// The path as a trace.
    pub(super) fn trace(&self) -> Trace {
        let mut trace = Trace::default();
        for (at, (step, state)) in self.path.iter().enumerate() {
            let action = step.as_ref().map(|step| step.action.clone()).filter(|action| !action.is_empty());
            trace.push(at + 1, action, state.values.iter().cloned().collect());
            if let (Some(last), Some(step)) = (trace.steps.last_mut(), step) {
                last.arguments = (!step.arguments.is_empty()).then(|| step.arguments.join(", "));
            }
        }
        trace
    }

    async fn go(&mut self, step: Option<PossibleStep>, state: SteppedState) -> Result<(), String> {
        self.possible = self.steps_of(state.number).await?;
        self.path.push((step, state));
        Ok(())
    }

    /// Takes a step of the list, or chooses an initial state, by its number from 1.
    pub(super) async fn take(&mut self, number: usize) -> Result<(), String> {
        if self.path.is_empty() {
            let state = number.checked_sub(1).and_then(|at| self.initial.get(at)).cloned();
            let state = state.ok_or_else(|| {
                format!("there is no initial state {number}: give a number from 1 to {}", self.initial.len())
            })?;
            return self.go(None, state).await;
        }
        let step = number.checked_sub(1).and_then(|at| self.possible.steps.get(at)).cloned();
        let step = step.ok_or_else(|| match self.possible.steps.len() {
            0 => "no step is possible here; `why` says what prevents each action".to_owned(),
            count => format!("there is no step {number}: give a number from 1 to {count}; `steps` lists them"),
        })?;
        let state = step.to.clone();
        self.go(Some(step), state).await
    }

    /// Takes the only step of an action, with or without its arguments.
    pub(super) async fn take_action(&mut self, action: &str) -> Result<(), String> {
        if self.path.is_empty() {
            return Err(CHOOSE_FIRST.to_owned());
        }
        let is_meant = |name: &str, arguments: &[String]| {
            name == action || without_blanks(&action_words(name, arguments)) == without_blanks(action)
        };
        let numbers: Vec<usize> = (1..)
            .zip(&self.possible.steps)
            .filter(|(_, step)| is_meant(&step.action, &step.arguments))
            .map(|(number, _)| number)
            .collect();
        match numbers[..] {
            [number] => self.take(number).await,
            [] if self.possible.prevented.iter().any(|step| is_meant(&step.action, &step.arguments)) => {
                Err(format!("{action} is not possible here; `why {action}` says what prevents it"))
            }
            [] => Err(format!("`{action}` is no command and no action here; `help` lists the commands")),
            _ => {
                let all: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                Err(format!("{action} has several steps: {}; give a number", all.join(", ")))
            }
        }
    }

    pub(super) async fn undo(&mut self, steps: usize) -> Result<(), String> {
        let left = self.path.len().checked_sub(steps).filter(|left| *left > 0 || self.initial.len() > 1);
        let Some(left) = left else {
            return Err(format!("cannot go back {steps} steps: the path has {}", self.path.len().saturating_sub(1)));
        };
        let number = left.checked_sub(1).map(|at| self.path[at].1.number);
        self.possible = match number {
            Some(number) => self.steps_of(number).await?,
            None => PossibleSteps::default(),
        };
        self.path.truncate(left);
        Ok(())
    }

    /// A child that knows an expression, at the present state: its number there.
    async fn with_expression(&self, expression: &str) -> Result<(Stepper, String, usize), String> {
        if self.path.is_empty() {
            return Err(CHOOSE_FIRST.to_owned());
        }
        check_expression(expression).map_err(|why| format!("`{expression}` {why}"))?;
        let texts = [expression.to_owned()];
        let started =
            self.tools.step_through(&self.request, &texts, false, self.cx).await.map_err(|e| e.to_string())?;
        let (mut stepper, names) = started?;
        let name = names.into_iter().next().unwrap_or_default();
        let lost = || "the path could not be taken again; this is a defect".to_owned();
        let mut at: Option<SteppedState> = None;
        for (_, state) in &self.path {
            let next = match &at {
                None => stepper.initial_states().await?,
                Some(before) => stepper.steps(before.number).await?.steps.into_iter().map(|step| step.to).collect(),
            };
            at = Some(next.into_iter().find(|next| next.values == state.values).ok_or_else(lost)?);
        }
        let number = at.ok_or_else(lost)?.number;
        Ok((stepper, name, number))
    }

    /// The value of an expression in the present state.
    pub(super) async fn eval(&self, expression: &str) -> Result<String, String> {
        let (mut stepper, name, number) = self.with_expression(expression).await?;
        let values = stepper.values(number, vec![name]).await?;
        values.into_iter().next().unwrap_or_else(|| Err("there is no value".to_owned()))
    }

    /// Takes a shortest path to a state in which an expression is TRUE; how many steps it took.
    pub(super) async fn goto(&mut self, expression: &str) -> Result<usize, String> {
        let (mut stepper, name, number) = self.with_expression(expression).await?;
        match stepper.find(number, &name, MAX_FOUND).await? {
            FoundPath::Path(steps) => {
                let count = steps.len();
                // The states have the numbers of this child.
                self.stepper = stepper;
                for step in steps {
                    let state = step.to.clone();
                    self.path.push((Some(step), state));
                }
                self.renumber().await?;
                Ok(count)
            }
            FoundPath::Nowhere { states } => {
                Err(format!("`{expression}` is FALSE in each of the {states} states that can be reached from here"))
            }
            FoundPath::Undecided { why } => Err(format!("no state was found: {why}")),
        }
    }

    /// Asks the child for the states of the path again, which may have other numbers there.
    async fn renumber(&mut self) -> Result<(), String> {
        let lost = || "the path could not be taken again; this is a defect".to_owned();
        let mut at: Option<usize> = None;
        for (_, state) in &mut self.path {
            let next = match at {
                None => self.stepper.initial_states().await?,
                Some(before) => self.stepper.steps(before).await?.steps.into_iter().map(|step| step.to).collect(),
            };
            let same = next.into_iter().find(|next| next.values == state.values).ok_or_else(lost)?;
            at = Some(same.number);
            *state = same;
        }
        self.initial = self.stepper.initial_states().await?;
        if let Some(number) = at {
            self.possible = self.steps_of(number).await?;
        }
        Ok(())
    }

    /// What can happen in a state, without places in the translation, which the user's file may not have.
    async fn steps_of(&mut self, state: usize) -> Result<PossibleSteps, String> {
        let mut possible = self.stepper.steps(state).await?;
        let module = self.module();
        for conjunct in possible.prevented.iter_mut().filter_map(|step| step.conjunct.as_mut()) {
            let is_translated =
                |position: &String| module.as_ref().is_some_and(|module| module.has_in_translation(position));
            conjunct.position = conjunct.position.take().filter(|position| !is_translated(position));
        }
        Ok(possible)
    }

    pub(super) fn possible(&self) -> &PossibleSteps {
        &self.possible
    }
}

/// `Enter(1)`.
pub(super) fn action_words(action: &str, arguments: &[String]) -> String {
    match arguments {
        [] if action.is_empty() => "a step".to_owned(),
        [] => action.to_owned(),
        all => format!("{action}({})", all.join(", ")),
    }
}

pub(super) fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
