//! The page of a check: the verdict with its counterexample, what was reached, the graph of the reachable states, and the
//! module.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::frame::{Page, Section, Tone, render};
use super::listing::module_listing;
use super::mutation_page::{Fact, counts_sentence};
use super::state_graph::graph_section;
use super::trace::{TraceSource, trace_view};
use super::witnesses::{WitnessSource, witness_section};
use crate::report::counted;
use crate::tla::{
    CheckOutcome, Diagnostic, FurtherProperty, FurtherVerdict, Module, Reached, Verdict, ViolationKind,
    bounds_sentence, has_no_behaviour, verdict_sentence,
};
use crate::toolchain::StateGraph;

/// The input of a check page.
pub struct CheckSource<'a> {
    /// The module file as the user named it, and its text.
    pub spec: &'a str,
    pub text: &'a str,
    pub outcome: &'a CheckOutcome,
    /// The verdict of the second checker in words, if two were asked, and whether it contradicts the first.
    pub second: Option<String>,
    pub is_contradicted: bool,
    /// The next command to type.
    pub next: Option<&'a str>,
    /// The reachable states, or why they are not listed.
    pub graph: Option<&'a Result<StateGraph, String>>,
}

/// The page of a check.
pub fn check_page(source: &CheckSource<'_>) -> Page {
    let CheckSource { spec, outcome, .. } = source;
    let (tone, heading) = if source.is_contradicted {
        (Tone::Bad, "The two checkers contradict each other".to_owned())
    } else {
        heading(outcome)
    };
    let mut facts = vec![
        Fact::new("Verdict", verdict_sentence(outcome)),
        Fact::new("Checked", counts_sentence(&outcome.statistics)),
        Fact::new("Within", bounds_sentence(&outcome.bounds)),
    ];
    let is_violated = |further: &&FurtherProperty| matches!(further.verdict, FurtherVerdict::Violated { .. });
    let further: Vec<&str> = outcome.further.iter().filter(is_violated).map(|further| further.name.as_str()).collect();
    if !further.is_empty() {
        facts.push(Fact::new("Also violated", further.join(", ")));
    }
    facts.extend(outcome.warnings.iter().map(|warning| Fact::new("Warning", warning.as_str())));
    facts.extend(source.second.iter().map(|second| Fact::new("Second checker", second.trim())));
    let command = source.next.map(str::to_owned);
    facts.push(Fact { term: "Next", words: next_step(outcome).to_owned(), command });
    let module = Module::parse(source.text).ok();
    let mut traces = Map::new();
    let mut sections = Vec::new();
    sections.extend(diagnostics(outcome));
    sections.extend(counterexample(outcome, module.as_ref(), &mut traces));
    let witnesses = WitnessSource {
        title: "How the specification works",
        outcome,
        module: module.as_ref(),
        listing: "module".to_owned(),
        graph: source.graph,
    };
    sections.extend(witness_section(&witnesses, &mut traces));
    let mut data = serde_json::json!({});
    if let Some(graph) = source.graph {
        let (section, graph_data) =
            graph_section(graph, outcome.trace.as_ref(), !outcome.bounds.constraints.is_empty());
        sections.push(section);
        data["graph"] = graph_data;
    }
    data["traces"] = Value::Object(traces);
    sections.push(specification(spec, source.text));
    Page {
        kind: format!("Check of {spec}"),
        title: format!("Check \u{2013} {spec}"),
        heading,
        tone,
        lead: render("facts", minijinja::context! { found => None::<String>, facts }),
        sections,
        data,
    }
}

fn heading(outcome: &CheckOutcome) -> (Tone, String) {
    let unreached = outcome.witnesses.iter().filter(|witness| matches!(witness.reached, Reached::No)).count();
    let undecided = outcome.witnesses.iter().filter(|witness| matches!(witness.reached, Reached::Unknown(_))).count();
    match &outcome.verdict {
        Verdict::Holds if has_no_behaviour(outcome) => {
            (Tone::Bad, "There is no behaviour, so every property holds trivially".to_owned())
        }
        Verdict::Holds if !outcome.is_complete() => {
            (Tone::Open, "No violation was found, and the search is not complete".to_owned())
        }
        Verdict::Holds if unreached > 0 => {
            let witnesses = if unreached == 1 { "1 witness".to_owned() } else { format!("{unreached} witnesses") };
            (Tone::Bad, format!("Every property holds, but {witnesses} cannot be reached"))
        }
        Verdict::Holds if undecided > 0 => {
            (Tone::Open, "Every property holds; some witnesses are not decided".to_owned())
        }
        Verdict::Holds if outcome.invariants.is_empty() && outcome.properties.is_empty() => {
            (Tone::Open, "No error was found, and no property was checked".to_owned())
        }
        Verdict::Holds => (Tone::Good, "Every property holds within the bounds below".to_owned()),
        Verdict::Violated { violated } => {
            let states = outcome.trace.as_ref().map_or(0, |trace| trace.steps.len());
            let shown = if states == 0 {
                String::new()
            } else {
                format!(", shown by a behaviour of {}", counted(states as u64, "state"))
            };
            let what = match (violated.kind, &violated.name) {
                (ViolationKind::Deadlock, _) => "A deadlock is reached".to_owned(),
                (ViolationKind::Assertion, _) => "An assertion is false".to_owned(),
                (_, Some(name)) => format!("{name} is violated"),
                (_, None) => "A property is violated".to_owned(),
            };
            (Tone::Bad, what + &shown)
        }
        Verdict::Invalid { .. } => (Tone::Bad, "The specification cannot be checked as it is".to_owned()),
        Verdict::Inconclusive { .. } => (Tone::Open, "Not decided".to_owned()),
    }
}

fn next_step(outcome: &CheckOutcome) -> &'static str {
    match outcome.verdict {
        Verdict::Holds if has_no_behaviour(outcome) => {
            "Correct the initial predicate or the constants, and check again:"
        }
        Verdict::Holds if !outcome.is_complete() => "Give the check more time, or use smaller constants:",
        Verdict::Holds => "Find out what the properties would not notice:",
        Verdict::Violated { .. } => {
            "Step through the counterexample; correct the specification or the property, and check again:"
        }
        Verdict::Invalid { .. } => "Correct what is listed below, and check again:",
        Verdict::Inconclusive { .. } => "Give the check more time, or use smaller constants:",
    }
}

fn diagnostics(outcome: &CheckOutcome) -> Option<Section> {
    let Verdict::Invalid { diagnostics, .. } = &outcome.verdict else { return None };
    let lines: Vec<String> = diagnostics.iter().map(Diagnostic::to_string).collect();
    (!lines.is_empty()).then(|| Section {
        id: "errors",
        title: "What is wrong".to_owned(),
        note: Some(lines.len().to_string()),
        body: render("lines", minijinja::context! { lines }),
    })
}

fn counterexample(outcome: &CheckOutcome, module: Option<&Module>, traces: &mut Map<String, Value>) -> Option<Section> {
    let trace = outcome.trace.as_ref()?;
    let (body, data) = trace_view(&TraceSource {
        id: "counterexample".to_owned(),
        what: "the counterexample".to_owned(),
        trace,
        module,
        listing: "module".to_owned(),
        citations: BTreeMap::new(),
    });
    traces.insert("counterexample".to_owned(), data);
    let note = Some(trace.steps.len().to_string());
    Some(Section { id: "trace", title: "Counterexample".to_owned(), note, body })
}

pub(super) fn specification(spec: &str, text: &str) -> Section {
    let file = std::path::Path::new(spec)
        .file_name()
        .map_or_else(|| spec.to_owned(), |name| name.to_string_lossy().into_owned());
    let listings = [module_listing("module".to_owned(), file, text)];
    let body = render("listings", minijinja::context! { listings, after => None::<String> });
    Section { id: "model", title: "Specification".to_owned(), note: None, body }
}
