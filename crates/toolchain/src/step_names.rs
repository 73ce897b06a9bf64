//! Names the steps of a trace by a run of their own, for a checker that shows only states. Nothing is guessed: a step
//! gets a name only if exactly one action explains it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tlaforge_tla::{Cfg, Module, Place, StepSource, Trace, acting_process, set_elements, tuple_elements};

use super::actions::{Actions, unfinished_reason};
use super::branches::Branches;
use super::explorer::{Explorer, FurtherRuns};
use super::plan::{RunPlan, SearchOrder};
use super::run::Jvm;
use super::{CheckRequest, ToolContext, ToolError};

/// Maximum number of runs with a single action each, if all actions together cannot be evaluated.
const MAX_SINGLE_RUNS: usize = 40;
/// Longest trace, in states, that is written into a module.
const MAX_TRACE: usize = 2_000;

/// Names the steps that have no name yet, and their branches. A run follows the trace and evaluates every action, and
/// every action restricted to a branch, on every step; a step gets a name if exactly one explains it.
pub(super) async fn name_steps(
    checker: &dyn Explorer,
    request: &CheckRequest,
    mut trace: Trace,
    cx: &ToolContext<'_>,
) -> Result<FurtherRuns<Trace>, ToolError> {
    let steps = trace.steps.len();
    let has_names = trace.steps.iter().skip(1).all(|step| step.action.is_some());
    let branches = Branches::read(request).ok().filter(Branches::can_name_steps);
    let listed = Actions::list(request);
    let is_complete = || branches.is_none() && !listed.as_ref().is_ok_and(|actions| actions.lacks_arguments(&trace));
    if steps < 2 || (has_names && (steps > MAX_TRACE || is_complete())) {
        locate_steps(request, &mut trace, &[]);
        return Ok(FurtherRuns { result: trace, warnings: Vec::new(), output: String::new() });
    }
    let mut output = String::new();
    let names = match listed {
        Ok(_) if steps > MAX_TRACE => Err(format!("the trace has more than {MAX_TRACE} states")),
        Ok(actions) => {
            let actions = Actions { branches, ..actions };
            actions.explain(checker, request, &trace, cx, &mut output).await?
        }
        Err(why) => Err(why),
    };
    let mut warnings = Vec::new();
    let mut branch_places = Vec::new();
    match names {
        Ok(names) => {
            for (step, StepName { action, branch, arguments }) in trace.steps.iter_mut().skip(1).zip(names) {
                // A checker that names actions itself knows them also if several explain a step.
                let agrees = step.action.is_none() || step.action == action;
                let (name, place) = branch.filter(|_| agrees).unzip();
                step.branch = name;
                branch_places.push(place);
                step.arguments = step.arguments.take().or(arguments.filter(|_| agrees));
                step.action = step.action.take().or(action);
            }
            let unknown = trace.steps.iter().skip(1).filter(|step| step.action.is_none()).count();
            if unknown > 0 {
                let all = steps - 1;
                let of = if all == 1 { "the step".to_owned() } else { format!("{unknown} of the {all} steps") };
                warnings.push(format!("no single action explains {of}"));
            }
        }
        Err(why) if !has_names => warnings.push(format!("the actions of the steps are unknown: {why}")),
        Err(_) => {}
    }
    locate_steps(request, &mut trace, &branch_places);
    Ok(FurtherRuns { result: trace, warnings, output })
}

/// Adds the process of an action without arguments, and where the action or the branch of each step is: for `PlusCal` the
/// label. The algorithm is above its translation, so
/// its lines are those of the user's file.
fn locate_steps(request: &CheckRequest, trace: &mut Trace, branches: &[Option<Place>]) {
    let Ok(module) = Module::parse(&request.spec.text) else { return };
    let label = |name: &str| {
        let label = module.algorithm.as_ref()?.step_label(name, &module.source)?;
        Some(Place { line: label.line, column: 1 })
    };
    let definition = |name: &str| {
        let definition = module.definition(name).filter(|definition| !module.in_translation(definition.code.start))?;
        Some(module.place(definition.code.start))
    };
    for (at, step) in trace.steps.iter_mut().skip(1).enumerate() {
        let Some(action) = &step.action else { continue };
        let branch = branches.get(at).copied().flatten();
        if step.arguments.is_none() {
            let process =
                module.algorithm.as_ref().and_then(|algorithm| algorithm.single_process(action, &module.source));
            step.process = process.map(str::to_owned);
        }
        let place = branch.or_else(|| label(action)).or_else(|| definition(action));
        step.source = place.map(|place| StepSource { file: format!("{}.tla", request.spec.name), place });
    }
}

/// What explains a step.
#[derive(Default)]
struct StepName {
    action: Option<String>,
    branch: Option<(String, Place)>,
    arguments: Option<String>,
}

impl Actions {
    /// Whether a run would show the arguments of a step that the trace does not show.
    fn lacks_arguments(&self, trace: &Trace) -> bool {
        let has_arguments = |name: &String| {
            self.disjuncts.actions.iter().any(|action| action.name == *name && action.arguments.is_some())
        };
        trace.steps.windows(2).any(|pair| {
            let [previous, step] = pair else { return false };
            let is_unknown = step.arguments.is_none() && acting_process(previous, step).is_none();
            is_unknown && step.action.as_ref().is_some_and(has_arguments)
        })
    }

    /// The name of the action of each step, and of its branch.
    async fn explain(
        &self,
        checker: &dyn Explorer,
        request: &CheckRequest,
        trace: &Trace,
        cx: &ToolContext<'_>,
        output: &mut String,
    ) -> Result<Result<Vec<StepName>, String>, ToolError> {
        let steps = trace.steps.len() - 1;
        let count = self.disjuncts.actions.len();
        let all: Vec<usize> = (0..count).collect();
        let formulas = self.branches.iter().flat_map(Branches::formulas).map(|(number, _)| count + number);
        let with_branches: Vec<usize> = all.iter().copied().chain(formulas).collect();
        let first_arguments = self.first_arguments();
        let arguments = all.iter().filter(|index| self.disjuncts.actions[**index].arguments.is_some());
        let everything: Vec<usize> =
            with_branches.iter().copied().chain(arguments.map(|index| first_arguments + index)).collect();
        let mut table = vec![vec![None; first_arguments + count]; steps];
        let mut why = self.evaluate(checker, request, trace, &everything, &mut table, cx, output).await?;
        let has_names = trace.steps.iter().skip(1).all(|step| step.action.is_some());
        if why.is_some() && everything.len() > with_branches.len() && !has_names {
            why = self.evaluate(checker, request, trace, &with_branches, &mut table, cx, output).await?;
        }
        if why.is_some() && with_branches.len() > count && !has_names {
            why = self.evaluate(checker, request, trace, &all, &mut table, cx, output).await?;
        }
        if why.is_some() && all.len() <= MAX_SINGLE_RUNS && !has_names {
            // One action may fail to evaluate on one step; that must not hide the others.
            for index in &all {
                let failed = self.evaluate(checker, request, trace, &[*index], &mut table, cx, output).await?;
                why = why.or(failed);
            }
        }
        let explained = table.iter().any(|row| row[..count].iter().all(Option::is_some));
        if let Some(why) = why.filter(|_| !explained) {
            return Ok(Err(why));
        }
        Ok(Ok(table.iter().map(|row| self.name_step(row)).collect()))
    }

    /// The number of the arguments of the first action, after the formulas of all actions and branches.
    fn first_arguments(&self) -> usize {
        let last = self.branches.iter().flat_map(Branches::formulas).map(|(number, _)| number + 1).last();
        self.disjuncts.actions.len() + last.unwrap_or(0)
    }

    fn name_step(&self, row: &[Option<String>]) -> StepName {
        let count = self.disjuncts.actions.len();
        let arguments = &row[self.first_arguments()..];
        let row: Vec<Option<bool>> = row.iter().map(|value| Some(value.as_deref()? == "TRUE")).collect();
        let Some(action) = self.single_explaining_action(&row[..count]) else { return StepName::default() };
        let name = |index: usize| {
            let branches = self.branches.as_ref()?;
            branches.name_step(index, |number| row.get(count + number).copied().flatten())
        };
        let explaining = || (0..count).filter(|index| row[*index] == Some(true));
        let arguments = single_arguments(explaining().map(|index| arguments[index].as_deref()));
        let names: Vec<Option<(String, Place)>> = explaining().map(name).collect();
        let is_single = names.iter().all(|name| name.as_ref().map(|n| &n.0) == names[0].as_ref().map(|n| &n.0));
        let branch = names.into_iter().next().flatten().filter(|_| is_single);
        StepName { action: Some(action), branch, arguments }
    }

    /// The one action that explains a step, if all were evaluated. Occurrences of one action in several places count
    /// once.
    fn single_explaining_action(&self, row: &[Option<bool>]) -> Option<String> {
        let known: Vec<bool> = row.iter().copied().collect::<Option<_>>()?;
        let names: BTreeSet<&str> = self
            .disjuncts
            .actions
            .iter()
            .zip(known)
            .filter(|(_, holds)| *holds)
            .map(|(a, _)| a.name.as_str())
            .collect();
        match names.len() {
            1 => names.first().map(|name| (*name).to_owned()),
            _ => None,
        }
    }

    /// Evaluates these actions on every step. Returns why, if the run did not finish.
    #[expect(clippy::too_many_arguments, reason = "one run with all that it reads and writes")]
    async fn evaluate(
        &self,
        checker: &dyn Explorer,
        request: &CheckRequest,
        trace: &Trace,
        actions: &[usize],
        table: &mut [Vec<Option<String>>],
        cx: &ToolContext<'_>,
        output: &mut String,
    ) -> Result<Option<String>, ToolError> {
        let formulas: Vec<&str> = actions.iter().map(|number| self.step_formula(*number)).collect();
        let plan = self.replay_plan(request, trace, &formulas);
        let (run, printed) = match checker.run(&request.spec, &plan, cx).await {
            // The check has its verdict already; names of steps must not cost it.
            Err(ToolError::Broke { what, .. }) => return Ok(Some(what)),
            ended => ended?,
        };
        output.push_str(&printed);
        for line in join_broken_tuples(&printed) {
            let Some((step, values)) = self.parse_printed_values(&line) else { continue };
            if let Some(row) = step.checked_sub(1).and_then(|at| table.get_mut(at))
                && values.len() == actions.len()
            {
                for (action, value) in actions.iter().zip(values) {
                    row[*action] = Some(value.to_owned());
                }
            }
        }
        Ok((!run.parsed.no_error).then(|| unfinished_reason(&run.parsed)))
    }

    fn step_formula(&self, number: usize) -> &str {
        let count = self.disjuncts.actions.len();
        let arguments = number.checked_sub(self.first_arguments());
        let arguments = arguments.and_then(|index| self.disjuncts.actions[index].arguments.as_deref());
        match (arguments, number.checked_sub(count)) {
            (Some(arguments), _) => arguments,
            (None, None) => self.formula(number),
            (None, Some(branch)) => self.branches.as_ref().map_or("FALSE", |branches| branches.formula(branch)),
        }
    }

    /// The plan of a run that follows the trace, and prints the values of the formulas on each step.
    pub(super) fn replay_plan(&self, request: &CheckRequest, trace: &Trace, formulas: &[&str]) -> RunPlan {
        let Self { prefix, variables, .. } = self;
        let mut body = String::new();
        // Writing to a string cannot fail.
        if !self.model_values.is_empty() {
            let _ = writeln!(body, "CONSTANTS {}", self.model_values.join(", "));
        }
        let _ = writeln!(body, "VARIABLE {prefix}Step\n{prefix}States == <<");
        for (index, step) in trace.steps.iter().enumerate() {
            let values: Vec<&str> = variables.iter().map(|v| step.state.get(v).map_or("0", String::as_str)).collect();
            let comma = if index + 1 < trace.steps.len() { "," } else { "" };
            let _ = writeln!(body, "  << {} >>{comma}", values.join(", "));
        }
        let each = |head: &str, equal: &dyn Fn(&str, usize) -> String| {
            let parts: Vec<String> = variables.iter().enumerate().map(|(at, v)| equal(v, at + 1)).collect();
            format!("{head} /\\ {}\n", parts.join(" /\\ "))
        };
        let _ = writeln!(body, ">>");
        body += &each(&format!("{prefix}Init == {prefix}Step = 1"), &|v, at| format!("{v} = {prefix}States[1][{at}]"));
        body += &each(
            &format!("{prefix}Next == {prefix}Step < {} /\\ {prefix}Step' = {prefix}Step + 1", trace.steps.len()),
            &|v, at| format!("{v}' = {prefix}States[{prefix}Step + 1][{at}]"),
        );
        for (number, formula) in formulas.iter().enumerate() {
            let _ = writeln!(body, "{prefix}Is{number} == {formula}");
        }
        let all: Vec<String> = (0..formulas.len()).map(|number| format!("{prefix}Is{number}")).collect();
        let tuple = format!("<<\"{prefix}\", {prefix}Step, {}>>", all.join(", "));
        // An action property is evaluated once on every step, so this prints one line a step. An invariant could not see the
        // next state.
        let _ = writeln!(body, "{prefix}Told == [][PrintT({tuple})]_{prefix}Step");
        let cfg = Cfg {
            specification: None,
            init: Some(format!("{prefix}Init")),
            next: Some(format!("{prefix}Next")),
            constants: self.constants(&request.cfg),
            properties: vec![format!("{prefix}Told")],
            ..Cfg::default()
        };
        RunPlan {
            label: "actions of the steps".to_owned(),
            wrapper: Some(self.module(&request.spec, &body)),
            cfg: cfg.render(),
            // The trace ends, which is a deadlock of this specification.
            deadlock: false,
            coverage: false,
            order: SearchOrder::SingleThread,
            jvm: Jvm::FastStart,
        }
    }

    fn constants(&self, cfg: &Cfg) -> std::collections::BTreeMap<String, String> {
        let own = self.model_values.iter().map(|value| (value.clone(), value.clone()));
        cfg.constants.clone().into_iter().chain(own).collect()
    }
}

/// The arguments that explain a step, if it is one tuple.
fn single_arguments<'a>(sets: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let mut found = BTreeSet::new();
    for set in sets {
        found.extend(set_elements(set?)?);
    }
    let only = found.first().filter(|_| found.len() == 1)?;
    Some(tuple_elements(only)?.join(", "))
}

/// The printed lines. TLC breaks a tuple that is longer than a line, and then puts a blank after its bracket.
pub(super) fn join_broken_tuples(printed: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in printed.lines() {
        match lines.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            None => lines.push(line.replacen("<< \"", "<<\"", 1)),
        }
        // A part of a value that is a tuple may end a line.
        let is_whole = |line: &str| line.trim_end().ends_with(">>") && tuple_elements(line).is_some();
        open = lines.last().is_some_and(|last| last.starts_with("<<\"") && !is_whole(last));
        if let Some(last) = lines.last_mut().filter(|last| last.ends_with(" >>")) {
            last.truncate(last.len() - 3);
            last.push_str(">>");
        }
    }
    lines
}
