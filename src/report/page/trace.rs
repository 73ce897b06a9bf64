//! A trace with its stepper: lanes, the state with what changed, the line of the model and the cited lines of the documents.
//! Without the script, all steps are a list.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::frame::{Html, render};
use super::lanes::lanes;
use super::listing::{Cited, action_lines, block_end};
use super::messages::{actors, changes_by_step};
use crate::report::counted;
use crate::report::explain::false_words;
use crate::tla::changes::{Change, Difference};
use crate::tla::{Lasso, Module, Step, Trace, lasso_line, step_title};

/// What the documents say about a step.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct StepCitation {
    pub why: String,
    /// The cited sentences, each with its place.
    pub quotes: Vec<StepQuote>,
    /// The same as lines of documents.
    pub lines: Vec<Cited>,
}

/// A cited sentence with its place, and where that is in the page.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct StepQuote {
    pub text: String,
    pub listing: Option<String>,
    pub from: usize,
}

/// What a trace is shown with.
pub(super) struct TraceSource<'a> {
    /// Unique in the page.
    pub id: String,
    /// `the counterexample to Safe`.
    pub what: String,
    pub trace: &'a Trace,
    pub module: Option<&'a Module>,
    /// The id of the listing of the module.
    pub listing: String,
    pub citations: BTreeMap<usize, Vec<StepCitation>>,
}

/// Of a trace with more states, the script draws only the visible part and lists the steps when a reader opens the list,
/// because a browser needs seconds for tens of thousands of elements.
const MANY_STATES: usize = 200;

#[derive(Serialize)]
struct StepRow<'a> {
    step: usize,
    action: String,
    actor: Option<&'a str>,
    changes: Vec<ChangeRow<'a>>,
    /// Of the first state.
    first_values: Vec<(&'a str, &'a str)>,
    citations: &'a [StepCitation],
    lines: Option<(usize, usize)>,
}

#[derive(Serialize)]
struct ChangeRow<'a> {
    path: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

/// The trace, and its data for the script.
pub(super) fn trace_view(source: &TraceSource<'_>) -> (Html, Value) {
    let TraceSource { id, what, trace, module, listing, citations } = source;
    let changes = changes_by_step(trace);
    let actors = actors(trace, *module);
    let rows = trace.steps.iter().enumerate().map(|(at, step)| StepRow {
        step: step.step,
        action: step_title(at.checked_sub(1).map(|before| &trace.steps[before]), step),
        actor: actors[at].as_deref(),
        changes: changes[at].iter().map(change_row).collect(),
        first_values: if at == 0 {
            step.state.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect()
        } else {
            Vec::new()
        },
        citations: citations.get(&step.step).map_or(&[], Vec::as_slice),
        lines: step_lines(*module, step),
    });
    let rows: Vec<StepRow<'_>> = rows.collect();
    let mut names: Vec<&str> = actors.iter().flatten().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let by = if names.is_empty() { String::new() } else { format!(", by {}", names.join(", ")) };
    let is_long = rows.len() > MANY_STATES;
    let words = format!("Swim lanes of {what}: {}{by}. The same steps are a list below.", counted(rows.len(), "state"));
    let (chart, lanes) = lanes(id, trace, &actors, &changes, &words, is_long);
    let lasso = lasso_line(trace);
    let html = render(
        "trace",
        minijinja::context! {
            id, what, chart, lasso, listing, is_long, false_words => false_words(trace),
            rows => if is_long { &[] } else { rows.as_slice() },
            count => rows.len(),
            states => counted(rows.len(), "state"),
        },
    );
    let steps = trace.steps.iter().enumerate().map(|(at, step)| {
        let state = if at == 0 { &step.state } else { &changed_values(trace, at) };
        json!({
            "step": step.step,
            "title": rows[at].action,
            "actor": actors[at],
            "state": state,
            "changes": rows[at].changes,
            "lines": rows[at].lines,
            "citations": citations.get(&step.step),
        })
    });
    let back_to = match trace.lasso {
        Some(Lasso::BackTo(step)) => trace.steps.iter().position(|known| known.step == step),
        _ => None,
    };
    let steps: Vec<Value> = steps.collect();
    let mut data = json!({ "steps": steps, "back_to": back_to, "lasso": lasso, "listing": listing });
    if let Some(lanes) = lanes {
        data["lanes"] = lanes;
    }
    (html, data)
}

/// The lines of the module that take a step: those of its branch, or of its action.
fn step_lines(module: Option<&Module>, step: &Step) -> Option<(usize, usize)> {
    let action = || action_lines(module?, step.action.as_deref()?);
    let Some(source) = &step.source else { return action() };
    let from = source.place.line;
    let own = action().filter(|(first, last)| (*first..=*last).contains(&from));
    match (module, own) {
        (Some(module), Some((_, last))) if step.branch.is_some() => Some((from, block_end(&module.source, from, last))),
        (_, own) => Some(own.unwrap_or((from, from))),
    }
}

/// The new values of the variables that a step changes; the script knows the others from the steps before.
fn changed_values(trace: &Trace, at: usize) -> BTreeMap<String, String> {
    let (before, step) = (&trace.steps[at - 1], &trace.steps[at]);
    let is_new = |(name, value): &(&String, &String)| before.state.get(*name) != Some(*value);
    step.state.iter().filter(is_new).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn change_row(change: &Change) -> ChangeRow<'_> {
    let (before, after) = match &change.difference {
        Difference::Replaced { before, after } => (Some(before.as_str()), Some(after.as_str())),
        Difference::Added { value } => (None, Some(value.as_str())),
        Difference::Removed { value } => (Some(value.as_str()), None),
    };
    ChangeRow { path: &change.path, before, after }
}
