//! The mutants that no property notices: a list, and for each its change and a behaviour that only it has.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::frame::{Html, Section, render};
use super::trace::{TraceSource, trace_view};
use crate::mutation::{Judgement, Outcome, Subject, requirements_touched};
use crate::report::mutation::{list_requirements, shown_name};
use crate::tla::changes::{Change, Difference, changes};
use crate::tla::{Step, Trace};

/// Number of changes that name a step without an action.
const NAMING: usize = 2;
/// Longest value in such a name, in characters.
const VALUE: usize = 40;

#[derive(Serialize)]
struct Survivor<'a> {
    id: String,
    line: usize,
    /// Whether the card is open at first.
    is_open: bool,
    name: String,
    definition: &'a str,
    what: &'a str,
    effect: String,
    touched: String,
    diff: Vec<DiffLine>,
    lost: String,
    trace_title: &'static str,
    /// Of a single new state.
    state: Vec<(&'a str, &'a str)>,
    trace: Option<Html>,
}

#[derive(Serialize)]
struct DiffLine {
    kind: &'static str,
    text: String,
}

/// The id of the card of a survivor, by its place among all mutants.
pub(super) fn survivor_id(at: usize) -> String {
    format!("survivor-{at}")
}

pub(super) fn survivors(
    subject: &Subject,
    judgements: &[Judgement],
    traces: &mut Map<String, Value>,
) -> Option<Section> {
    let mut survived: Vec<usize> =
        (0..judgements.len()).filter(|at| judgements[*at].outcome == Outcome::Survived).collect();
    survived.sort_by_key(|at| (judgements[*at].line, *at));
    let mut survivors = Vec::new();
    for at in survived {
        survivors.push(survivor(subject, at, &judgements[at], survivors.is_empty(), traces));
    }
    let mut lines: BTreeMap<usize, Vec<&Survivor<'_>>> = BTreeMap::new();
    for survivor in &survivors {
        lines.entry(survivor.line).or_default().push(survivor);
    }
    let groups: Vec<_> = lines
        .iter()
        .map(|(line, survivors)| {
            let text = subject.source.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
            minijinja::context! { line, text, survivors }
        })
        .collect();
    (!survivors.is_empty()).then(|| Section {
        id: "survivors",
        title: "What no property notices".to_owned(),
        note: Some(survivors.len().to_string()),
        body: render("survivors", minijinja::context! { groups }),
    })
}

fn survivor<'a>(
    subject: &Subject,
    at: usize,
    judgement: &'a Judgement,
    is_open: bool,
    traces: &mut Map<String, Value>,
) -> Survivor<'a> {
    let trace = judgement.trace.as_ref();
    let steps = trace.map_or(&[][..], |trace| trace.steps.as_slice());
    let only = if let [only] = steps { Some(only) } else { None };
    Survivor {
        id: survivor_id(at),
        line: judgement.line,
        is_open,
        name: shown_name(judgement),
        definition: &judgement.definition,
        what: &judgement.what,
        effect: effect(steps, judgement),
        touched: touched(subject, &judgement.definition),
        diff: diff_with_context(&subject.source, judgement),
        lost: judgement.lost_witnesses.join(", "),
        trace_title: if only.is_some() {
            "A new initial state"
        } else {
            "A shortest behaviour that only the mutant has: its last step is new"
        },
        state: only.iter().flat_map(|step| &step.state).map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        trace: trace
            .filter(|_| steps.len() > 1)
            .map(|trace| new_behaviour(subject, judgement.line, format!("trace-{at}"), trace, traces)),
    }
}

/// The change with the line before and the line after it.
fn diff_with_context(source: &str, judgement: &Judgement) -> Vec<DiffLine> {
    let number = |line: &str| line.get(2..)?.split(':').next()?.parse::<usize>().ok();
    let first = judgement.diff.lines().next().and_then(number).unwrap_or(judgement.line);
    let last = judgement.diff.lines().filter(|line| line.starts_with('-')).filter_map(number).next_back();
    let unchanged = |number: usize| {
        let text = source.lines().nth(number.checked_sub(1)?)?;
        Some(DiffLine { kind: "same", text: format!("  {number}: {text}") })
    };
    let changed = judgement.diff.lines().map(|line| {
        let kind = if line.starts_with('-') { "old" } else { "new" };
        DiffLine { kind, text: line.to_owned() }
    });
    let after = unchanged(last.map_or(first, |last| last + 1));
    unchanged(first.saturating_sub(1)).into_iter().chain(changed).chain(after).collect()
}

fn touched(subject: &Subject, definition: &str) -> String {
    let touched = requirements_touched(&subject.module, &subject.cfg, definition);
    let covered = subject.module.requirements_by_property(&subject.cfg);
    let covered: BTreeSet<&String> = covered.values().flatten().collect();
    match touched.len() {
        0 => "No covered requirement mentions its variables, nor those of what uses it".to_owned(),
        all if all > 1 && all == covered.len() => format!("It touches all {all} requirements"),
        _ => list_requirements(touched).replacen("touches", "It touches", 1),
    }
}

/// What is new in the last step of the new behaviour. Of a new initial state, the variables that the change mentions come first.
/// Says where the whole is, if anything is cut.
fn effect(steps: &[Step], judgement: &Judgement) -> String {
    let words = effect_words(steps, judgement);
    let place = if let [_] = steps { "state" } else { "behaviour" };
    if words.contains('\u{2026}') { format!("{words} (in full in the {place} below)") } else { words }
}

fn effect_words(steps: &[Step], judgement: &Judgement) -> String {
    match steps {
        [.., previous, step] => change_words(&changes(previous, step), usize::MAX)
            .map_or_else(|| "New step: no variable changes".to_owned(), |words| format!("New step: {words}")),
        [only] => {
            let mut state: Vec<(&String, &String)> = only.state.iter().collect();
            state.sort_by_key(|(name, _)| !judgement.diff.contains(name.as_str()));
            let values: Vec<String> =
                state.iter().take(NAMING).map(|(name, value)| format!("{name} = {}", shorten(value))).collect();
            let more = if state.len() > NAMING { ", \u{2026}" } else { "" };
            format!("New initial state: {}{more}", values.join(", "))
        }
        [] if judgement.lost_witnesses.is_empty() => "New behaviours".to_owned(),
        [] => format!("No longer reaches {}", judgement.lost_witnesses.join(", ")),
    }
}

/// `losses: 0 -> 1`.
fn change_words(changes: &[Change], most: usize) -> Option<String> {
    // The place of a process is of least interest.
    let is_control = |change: &&Change| change.path == "pc" || change.path.starts_with("pc[");
    let (control, values): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(is_control);
    let shown = if values.is_empty() { control } else { values };
    let words: Vec<String> = shown
        .iter()
        .take(most)
        .map(|Change { path, difference }| match difference {
            Difference::Replaced { before, after } => format!("{path}: {} -> {}", shorten(before), shorten(after)),
            Difference::Added { value } => format!("{path} gains {}", shorten(value)),
            Difference::Removed { value } => format!("{path} loses {}", shorten(value)),
        })
        .collect();
    let more = if shown.len() > most { ", \u{2026}" } else { "" };
    (!words.is_empty()).then(|| format!("{}{more}", words.join(", ")))
}

fn shorten(value: &str) -> String {
    match value.char_indices().nth(VALUE) {
        Some((end, _)) => format!("{}\u{2026}", &value[..end]),
        None => value.to_owned(),
    }
}

/// The behaviour that only a survivor has, with its data for the script: it opens at its last step, with the changed line.
fn new_behaviour(subject: &Subject, line: usize, id: String, trace: &Trace, traces: &mut Map<String, Value>) -> Html {
    let trace = name_steps(subject, trace);
    let (html, mut data) = trace_view(&TraceSource {
        id: id.clone(),
        what: format!("the new behaviour {id}"),
        trace: &trace,
        module: Some(&subject.module),
        listing: "source-text".to_owned(),
        citations: BTreeMap::new(),
    });
    if let Some(last) = data["steps"].as_array().map(Vec::len).and_then(|count| count.checked_sub(1)) {
        data["start"] = json!(last);
        data["steps"][last]["lines"] = json!([line, line]);
    }
    traces.insert(id, data);
    html
}

/// The trace with a name for each step. No checker was asked for the actions of a mutant: a step of an algorithm has its
/// label in `pc`, and other steps are named by their changes.
fn name_steps(subject: &Subject, trace: &Trace) -> Trace {
    let mut named = trace.clone();
    for at in 1..named.steps.len() {
        if named.steps[at].action.is_none() {
            let (before, step) = (&trace.steps[at - 1], &trace.steps[at]);
            let all = changes(before, step);
            let action = label(subject, before, &all).or_else(|| change_words(&all, NAMING));
            named.steps[at].action = Some(action.unwrap_or_else(|| "no change".to_owned()));
        }
    }
    named
}

/// The label of a step: where `pc` was before, of the process whose `pc` changes.
fn label(subject: &Subject, before: &Step, changes: &[Change]) -> Option<String> {
    let labels = &subject.module.algorithm.as_ref()?.labels;
    let moved = changes.iter().filter(|change| change.path == "pc" || change.path.starts_with("pc["));
    let mut moved = moved.filter_map(|change| match &change.difference {
        Difference::Replaced { before, .. } => Some(before.as_str()),
        _ => None,
    });
    let place = match (moved.next(), moved.next()) {
        (Some(place), None) => place,
        // A loop of one step of a single process.
        (None, _) => before.state.get("pc")?.as_str(),
        _ => return None,
    };
    let name = place.trim_matches('"');
    labels.iter().any(|label| label.name == name).then(|| name.to_owned())
}
