//! A counterexample in plain sentences, made from names and values alone.

use std::fmt::Write as _;

use super::cut::{cut, on_one_line};
use crate::tla::changes::{Change, Difference, changes};
use crate::tla::{CheckOutcome, Lasso, Step, Trace, ValueParts, Verdict, ViolationKind, acting_process};

/// The counterexample of an outcome in sentences; `None` if it has none.
pub fn explain(outcome: &CheckOutcome) -> Option<String> {
    let (Verdict::Violated { violated }, Some(trace)) = (&outcome.verdict, &outcome.trace) else { return None };
    let mut text = String::new();
    let mut previous: Option<&Step> = None;
    for step in &trace.steps {
        let sentence = previous.map_or_else(|| beginning(step), |previous| step_sentence(previous, step));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}. {sentence}", step.step);
        previous = Some(step);
    }
    let name = violated.name.as_deref().unwrap_or("the property");
    let _ = writeln!(text, "\n{}", ending(trace, violated.kind, name));
    Some(text)
}

fn beginning(step: &Step) -> String {
    let values: Vec<String> = step.state.iter().map(|(name, value)| format!("{name} is {}", short(value))).collect();
    format!("At the start {}.", list(&values))
}

fn step_sentence(previous: &Step, step: &Step) -> String {
    let process = acting_process(previous, step);
    // With a known process, its name is the argument.
    let action = if process.is_some() { step.action.clone() } else { step.call() };
    let action = action.map_or_else(|| "takes a step without a name".to_owned(), |action| format!("does {action}"));
    let branch = step.branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
    let action = match process {
        Some(process) => format!("{process} {action}{branch}"),
        None => format!("The system {action}{branch}"),
    };
    let words = |change: &Change| change_words(previous, step, change);
    let changes: Vec<String> = changes(previous, step).iter().map(words).collect();
    if changes.is_empty() { format!("{action}; nothing changes.") } else { format!("{action}: {}.", list(&changes)) }
}

fn change_words(previous: &Step, step: &Step, Change { path, difference }: &Change) -> String {
    match difference {
        Difference::Replaced { before, after } => format!("{path} changes from {} to {}", short(before), short(after)),
        Difference::Added { value } if is_entry(step, path, value) => {
            format!("{path} is new, with the value {}", short(value))
        }
        Difference::Added { value } => format!("{path} gains {}", short(value)),
        Difference::Removed { value } if is_entry(previous, path, value) => {
            format!("{path}, which was {}, is gone", short(value))
        }
        Difference::Removed { value } => format!("{path} loses {}", short(value)),
    }
}

/// Whether the state has this value at the path; otherwise the value is an element of the set at the path.
fn is_entry(step: &Step, path: &str, value: &str) -> bool {
    let mut variables = step.state.iter().filter_map(|(name, whole)| Some((path.strip_prefix(name.as_str())?, whole)));
    variables.any(|(rest, whole)| has_entry(whole, rest, value))
}

fn has_entry(whole: &str, rest: &str, value: &str) -> bool {
    if rest.is_empty() {
        let same = |text: &str| text.split_whitespace().collect::<String>();
        return same(whole) == same(value);
    }
    let entries = ValueParts::read(whole).and_then(|parts| parts.entries()).unwrap_or_default();
    let mut below = entries.iter().filter_map(|(suffix, entry)| Some((rest.strip_prefix(suffix.as_str())?, *entry)));
    below.any(|(rest, entry)| has_entry(entry, rest, value))
}

fn ending(trace: &Trace, kind: ViolationKind, name: &str) -> String {
    let last = trace.steps.last().map_or(0, |step| step.step);
    match (trace.lasso, kind) {
        (Some(Lasso::BackTo(step)), _) if step == last => {
            format!("Step {step} then repeats for ever, so {name} is false.")
        }
        (Some(Lasso::BackTo(step)), _) => {
            format!("Steps {step} to {last} then repeat for ever, so {name} is false.")
        }
        (Some(Lasso::Stuttering(true)), _) => format!("Nothing happens after step {last}, so {name} is false."),
        (_, ViolationKind::Deadlock) => format!("After step {last} no process can take a step: a deadlock."),
        (_, ViolationKind::Assertion) => format!("In step {last} an assertion fails."),
        (_, ViolationKind::Property) => format!("So the behaviour violates {name}."),
        (_, ViolationKind::ActionProperty) => format!("Step {last} is one that {name} forbids."),
        _ => {
            let words = false_words(trace).map_or_else(String::new, |words| format!(": {words}"));
            format!("So {name} is false in state {last}{words}.")
        }
    }
}

/// The false conjuncts of the last state: `x < 3` does not hold, with x = 3. `None` if they are not known.
pub(super) fn false_words(trace: &Trace) -> Option<String> {
    let step = trace.steps.last().filter(|step| !step.false_conjuncts.is_empty())?;
    let words = step.false_conjuncts.iter().map(|conjunct| {
        let value = |name: &String| Some(format!("{name} = {}", short(step.state.get(name)?)));
        let values: Vec<String> = conjunct.variables.iter().filter_map(value).collect();
        let elements = &conjunct.elements;
        let elements = if elements.is_empty() { String::new() } else { format!(" for {}", elements.join("; ")) };
        let with = if values.is_empty() { String::new() } else { format!(", with {}", list(&values)) };
        format!("`{}` does not hold{elements}{with}", conjunct.formula)
    });
    Some(words.collect::<Vec<_>>().join("; "))
}

/// Longest value in a sentence, in characters.
const MAX_VALUE: usize = 120;

fn short(value: &str) -> String {
    match on_one_line(value).as_str() {
        "{}" => "empty".to_owned(),
        "<<>>" => "the empty sequence".to_owned(),
        value => cut(value, MAX_VALUE),
    }
}

/// `a, b and c`
fn list(parts: &[String]) -> String {
    match parts {
        [] => "there are no variables".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
