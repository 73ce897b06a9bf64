//! The output of the commands of `tlaforge explore`, as text and as JSON.

use serde::Serialize;

use super::commands::{COMMANDS, Command};
use super::exploration::{CHOOSE_FIRST, Exploration, action_words, without_blanks};
use crate::cli::trace_out::TraceFile;
use crate::tla::Trace;
use crate::tla::changes::{Change, Difference};
use crate::toolchain::{FalseConjunct, PossibleSteps, PreventedStep, SteppedState};

/// The result of a command.
pub(super) enum CommandOutput {
    Initial(Vec<SteppedState>),
    Steps { at: usize, state: SteppedState, possible: PossibleSteps },
    Why(Vec<PreventedStep>),
    State(SteppedState),
    Path(Vec<(String, Vec<(String, String)>)>),
    Value { expression: String, value: String },
    Text(String),
}

/// The initial states, or the present one with its steps.
pub(super) fn overview(exploration: &Exploration<'_>) -> CommandOutput {
    match exploration.state() {
        None => CommandOutput::Initial(exploration.initial().to_vec()),
        Some(state) => {
            let possible = exploration.possible().clone();
            CommandOutput::Steps { at: exploration.len(), state: state.clone(), possible }
        }
    }
}

/// Carries out a command.
pub(super) async fn run_command(exploration: &mut Exploration<'_>, command: &Command) -> Result<CommandOutput, String> {
    match command {
        Command::Steps => Ok(overview(exploration)),
        Command::Take(number) => {
            exploration.take(*number).await?;
            Ok(overview(exploration))
        }
        Command::TakeAction(action) => {
            exploration.take_action(action).await?;
            Ok(overview(exploration))
        }
        Command::Why(action) => why(exploration, action.as_deref()),
        Command::Undo(steps) => {
            exploration.undo(*steps).await?;
            Ok(overview(exploration))
        }
        Command::State => {
            let state = exploration.state().cloned();
            state.map(CommandOutput::State).ok_or_else(|| CHOOSE_FIRST.to_owned())
        }
        Command::Path => {
            let trace = exploration.trace();
            let mut before: Option<&crate::tla::Step> = None;
            let mut path = Vec::new();
            for step in &trace.steps {
                let arguments: Vec<String> = step.arguments.iter().cloned().collect();
                let name = match before {
                    None => "initial state".to_owned(),
                    Some(_) => action_words(step.action.as_deref().unwrap_or_default(), &arguments),
                };
                let is_new =
                    |name: &String, value: &String| before.is_none_or(|before| before.state.get(name) != Some(value));
                let changes = step.state.iter().filter(|(name, value)| is_new(name, value));
                path.push((name, changes.map(|(name, value)| (name.clone(), value.clone())).collect()));
                before = Some(step);
            }
            Ok(CommandOutput::Path(path))
        }
        Command::Eval(expression) => {
            let value = exploration.eval(expression).await?;
            Ok(CommandOutput::Value { expression: expression.clone(), value })
        }
        Command::Goto(expression) => {
            exploration.goto(expression).await?;
            Ok(overview(exploration))
        }
        Command::Save(file) => {
            if exploration.state().is_none() {
                return Err(CHOOSE_FIRST.to_owned());
            }
            if std::path::Path::new(file).extension().is_some_and(|extension| extension == "tla") {
                return Err("a path is saved as .itf.json, .json, .md, .mmd or .puml".to_owned());
            }
            if std::path::Path::new(file).exists() {
                return Err(format!("{file} exists; give another name"));
            }
            let module = exploration.module().ok_or("the module cannot be parsed")?;
            let written = TraceFile::parse(file)?.write_path(&exploration.trace(), &module, exploration.cfg_text());
            let written = written.map_err(|failure| failure.one_line())?;
            let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
            Ok(CommandOutput::Text(format!("wrote {}", names.join(", "))))
        }
        Command::Help => Ok(CommandOutput::Text(help())),
        Command::Quit => Ok(CommandOutput::Text(String::new())),
    }
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|(name, argument, what)| {
        let usage = format!("{name} {argument}");
        format!("  {:<16}{what}", usage.trim())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn why(exploration: &Exploration<'_>, action: Option<&str>) -> Result<CommandOutput, String> {
    if exploration.state().is_none() {
        return Err(CHOOSE_FIRST.to_owned());
    }
    let possible = exploration.possible();
    let is_meant = |name: &str, arguments: &[String]| {
        action.is_none_or(|action| {
            name == action || without_blanks(&action_words(name, arguments)) == without_blanks(action)
        })
    };
    let prevented = possible.prevented.iter().filter(|step| is_meant(&step.action, &step.arguments));
    let prevented: Vec<PreventedStep> = prevented.cloned().collect();
    if !prevented.is_empty() {
        return Ok(CommandOutput::Why(prevented));
    }
    let failed = possible
        .failed
        .iter()
        .filter(|(name, _)| action.is_none_or(|action| without_blanks(name) == without_blanks(action)));
    let failed: Vec<String> = failed.map(|(name, why)| format!("{name} cannot be evaluated here: {why}")).collect();
    if !failed.is_empty() {
        return Ok(CommandOutput::Text(failed.join("\n")));
    }
    match action {
        Some(action) if possible.steps.iter().any(|step| is_meant(&step.action, &step.arguments)) => {
            Err(format!("{action} is possible here"))
        }
        Some(action) => Err(format!(
            "{action} is no action in this state; its actions are {}",
            exploration.action_names().join(", ")
        )),
        None => Ok(CommandOutput::Text("no action is prevented here".to_owned())),
    }
}

impl CommandOutput {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Initial(states) => {
                let mut lines = vec![format!("{} initial states; choose one by its number:", states.len())];
                for (number, state) in (1..).zip(states) {
                    lines.push(format!("  {number}  {}", assignments(&state.values, ", ")));
                }
                lines.join("\n")
            }
            Self::Steps { at, state, possible } => steps_text(*at, state, possible),
            Self::Why(prevented) => prevented.iter().map(prevented_line).collect::<Vec<_>>().join("\n"),
            Self::State(state) => assignments(&state.values, "\n"),
            Self::Path(path) => {
                let lines = (1..).zip(path).map(|(number, (name, changes)): (usize, _)| {
                    format!("{number}  {name}: {}", assignments(changes, ", "))
                });
                lines.collect::<Vec<_>>().join("\n")
            }
            Self::Value { value, .. } => value.clone(),
            Self::Text(text) => text.clone(),
        }
    }
}

fn assignments(values: &[(String, String)], between: &str) -> String {
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(between)
}

/// What differs after a step.
fn changes(before: &SteppedState, after: &SteppedState) -> Vec<(String, String)> {
    let pairs = before.values.iter().zip(&after.values);
    pairs.filter(|(before, after)| before != after).map(|(_, after)| after.clone()).collect()
}

/// What differs after a step, by the entries of functions, records and sequences and the elements of sets.
fn changed_entries(before: &SteppedState, after: &SteppedState) -> Vec<String> {
    let mut trace = Trace::default();
    for (number, state) in (1..).zip([before, after]) {
        trace.push(number, None, state.values.iter().cloned().collect());
    }
    let changes = trace.steps.windows(2).flat_map(|pair| crate::tla::changes::changes(&pair[0], &pair[1]));
    let words = |Change { path, difference }| match difference {
        Difference::Replaced { after, .. } => format!("{path} = {after}"),
        Difference::Added { value } => format!("{path} gets {value}"),
        Difference::Removed { value } => format!("{path} loses {value}"),
    };
    changes.map(words).collect()
}

fn steps_text(at: usize, state: &SteppedState, possible: &PossibleSteps) -> String {
    let mut lines = vec![format!("state {at}: {}", assignments(&state.values, ", "))];
    if !state.violated.is_empty() {
        lines.push(format!("violated here: {}", state.violated.join(", ")));
    }
    for (name, why) in &state.not_evaluated {
        lines.push(format!("{name} cannot be evaluated here: {why}"));
    }
    for (number, step) in (1..).zip(&possible.steps) {
        let changed = changed_entries(state, &step.to);
        let what = if changed.is_empty() { "nothing changes".to_owned() } else { changed.join(", ") };
        let violated = if step.to.violated.is_empty() {
            String::new()
        } else {
            format!("  (violates {})", step.to.violated.join(", "))
        };
        lines.push(format!("  {number}  {}: {what}{violated}", action_words(&step.action, &step.arguments)));
    }
    if possible.steps.is_empty() {
        lines.push("  no step is possible; `why` says what prevents each action".to_owned());
    }
    lines.extend(possible.failed.iter().map(|(action, why)| format!("  {action} cannot be evaluated: {why}")));
    lines.join("\n")
}

fn prevented_line(step: &PreventedStep) -> String {
    let action = action_words(&step.action, &step.arguments);
    let Some(FalseConjunct { text, position, sides }) = &step.conjunct else {
        return format!("{action} is not possible");
    };
    let text = text.as_ref().map(|text| format!(" `{text}`")).unwrap_or_default();
    let place = position.as_ref().map(|position| format!(" at {position}")).unwrap_or_default();
    let values = sides.as_ref().map(|(left, right)| format!(" ({left} and {right})")).unwrap_or_default();
    format!("{action} is not possible: the condition{text}{place} is false{values}")
}

#[derive(Serialize)]
struct StepJson<'a> {
    action: &'a str,
    arguments: &'a [String],
    changes: std::collections::BTreeMap<String, String>,
    violates: &'a [String],
}

impl Serialize for CommandOutput {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde_json::{Map, Value, json};
        let object = |values: &[(String, String)]| {
            Value::Object(
                values.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect::<Map<_, _>>(),
            )
        };
        let failures = |all: &[(String, String)]| -> Vec<Value> {
            all.iter().map(|(what, why)| json!({ "what": what, "why": why })).collect()
        };
        let value = match self {
            Self::Initial(states) => {
                json!({ "initial": states.iter().map(|state| object(&state.values)).collect::<Vec<_>>() })
            }
            Self::Steps { at, state, possible } => {
                let steps: Vec<StepJson<'_>> = possible
                    .steps
                    .iter()
                    .map(|step| StepJson {
                        action: &step.action,
                        arguments: &step.arguments,
                        changes: changes(state, &step.to).into_iter().collect(),
                        violates: &step.to.violated,
                    })
                    .collect();
                json!({
                    "state_number": at, "state": object(&state.values), "violated": state.violated, "steps": steps,
                    "not_evaluated": failures(&[possible.failed.as_slice(), &state.not_evaluated].concat()),
                })
            }
            Self::Why(prevented) => {
                let all: Vec<Value> = prevented
                    .iter()
                    .map(|step| {
                        json!({ "action": step.action, "arguments": step.arguments, "why": prevented_line(step) })
                    })
                    .collect();
                json!({ "prevented": all })
            }
            Self::State(state) => json!({
                "state": object(&state.values), "violated": state.violated, "not_evaluated": failures(&state.not_evaluated),
            }),
            Self::Path(path) => {
                let all: Vec<Value> =
                    path.iter().map(|(name, changes)| json!({ "step": name, "changes": object(changes) })).collect();
                json!({ "path": all })
            }
            Self::Value { expression, value } => json!({ "expression": expression, "value": value }),
            Self::Text(text) => json!({ "text": text }),
        };
        value.serialize(serializer)
    }
}
