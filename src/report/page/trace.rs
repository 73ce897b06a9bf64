//! A trace with its stepper: lanes, the state with what changed, the line of the model and the cited lines of the documents.
//! Without the script, all steps are a list.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::frame::{Html, render};
use super::lanes::lanes;
use super::listing::{Cited, action_lines};
use super::messages::{actors, changes_by_step};
use crate::report::counted;
use crate::tla::changes::{Change, Difference};
use crate::tla::{Lasso, Module, Trace, lasso_line};

/// What the documents say about a step.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct StepCitation {
    pub why: String,
    /// The cited sentences, each with its place.
    pub quotes: Vec<String>,
    /// The same as lines of documents.
    pub lines: Vec<Cited>,
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

#[derive(Serialize)]
struct StepRow<'a> {
    step: usize,
    action: String,
    actor: Option<&'a str>,
    changes: Vec<ChangeRow<'a>>,
    /// Of the first state.
    first_values: Vec<(&'a str, &'a str)>,
    citations: &'a [StepCitation],
    line: Option<usize>,
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
    let actors = actors(trace, &changes, *module);
    let lines = |action: &Option<String>| action_lines((*module)?, action.as_deref()?);
    let rows = trace.steps.iter().enumerate().map(|(at, step)| StepRow {
        step: step.step,
        action: match (&step.action, &step.branch) {
            (Some(action), Some(branch)) if branch.starts_with(action.as_str()) => branch.clone(),
            (Some(action), Some(branch)) => format!("{action}: {branch}"),
            (Some(action), None) => action.clone(),
            (None, _) if at == 0 => "initial state".to_owned(),
            (None, _) => "unknown action".to_owned(),
        },
        actor: actors[at].as_deref(),
        changes: changes[at].iter().map(change_row).collect(),
        first_values: if at == 0 {
            step.state.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect()
        } else {
            Vec::new()
        },
        citations: citations.get(&step.step).map_or(&[], Vec::as_slice),
        line: lines(&step.action).map(|(first, _)| first),
    });
    let rows: Vec<StepRow<'_>> = rows.collect();
    let mut names: Vec<&str> = actors.iter().flatten().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let by = if names.is_empty() { String::new() } else { format!(", by {}", names.join(", ")) };
    let words = format!("Swim lanes of {what}: {}{by}. The same steps are a list below.", counted(rows.len(), "state"));
    let chart = lanes(id, trace, &actors, &changes, &words);
    let lasso = lasso_line(trace);
    let html = render(
        "trace",
        minijinja::context! { id, what, rows, chart, lasso, listing, count => rows.len(), states => counted(rows.len(), "state") },
    );
    let steps = trace.steps.iter().enumerate().map(|(at, step)| {
        let state = if at == 0 { &step.state } else { &changed_values(trace, at) };
        let is_at = |(_, row): &(usize, &StepRow<'_>)| row.step == step.step;
        let row = rows.iter().enumerate().find(is_at).map(|(_, row)| row);
        json!({
            "step": step.step,
            "title": row.map(|row| row.action.clone()),
            "actor": actors[at],
            "state": state,
            "changes": row.map(|row| &row.changes),
            "lines": lines(&step.action),
            "citations": citations.get(&step.step),
        })
    });
    let back_to = match trace.lasso {
        Some(Lasso::BackTo(step)) => trace.steps.iter().position(|known| known.step == step),
        _ => None,
    };
    (html, json!({ "steps": steps.collect::<Vec<_>>(), "back_to": back_to, "lasso": lasso, "listing": listing }))
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
