//! The situations that the model must be able to reach, each with a behaviour that leads to it. A journal has only the length
//! of the path to each, so the states come from an exploration by the embedded checker when the page is written.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use super::frame::{Html, Section, Tone, render};
use super::run_context::{RunContext, module_id};
use super::trace::{TraceSource, trace_view};
use crate::journal::Sha;
use crate::pipeline::{RunView, file};
use crate::report::counted;
use crate::report::text::decisive_revision;
use crate::tla::{Cfg, CheckOutcome, Module, Reached, Trace, WitnessOutcome};
use crate::toolchain::{CheckRequest, MAX_PATH, SpecText, StateGraph};

/// What the section is made from.
pub(super) struct WitnessSource<'a> {
    pub title: &'a str,
    pub outcome: &'a CheckOutcome,
    pub module: Option<&'a Module>,
    /// The id of the listing of the module.
    pub listing: String,
    /// `None` if no states were explored.
    pub graph: Option<&'a Result<StateGraph, String>>,
}

#[derive(Serialize)]
struct WitnessRow {
    name: String,
    tone: Tone,
    words: String,
    formula: Option<String>,
    /// `W6`, if the comment above the definition begins with it.
    number: Option<String>,
    /// The comment above the definition.
    sentence: String,
    path: Option<Html>,
    /// What the path is not, or why there is none.
    remark: Option<String>,
    is_open: bool,
}

/// Number of witnesses that are shown before the fold.
const MOST_SHOWN: usize = 8;

/// A comment without its marks, and the number that it begins with.
fn comment_parts(comment: &str) -> (Option<String>, String) {
    let lines = comment.lines().map(|line| line.trim().trim_start_matches("\\*").trim_matches(['(', ')', '*', ' ']));
    let text = lines.collect::<Vec<_>>().join(" ").trim().to_owned();
    let first = text.split([' ', ':', '.', ',']).next().unwrap_or_default().to_owned();
    let is_number =
        first.strip_prefix('W').is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_number {
        return (None, text);
    }
    let sentence = text[first.len()..].trim_start_matches([':', '.', ',', ' ']).to_owned();
    (Some(first), sentence)
}

/// The request of a run to look for the paths to its witnesses; `None` if it has none.
pub fn witness_request(view: &RunView, read: &dyn Fn(&Sha) -> Option<String>) -> Option<CheckRequest> {
    let revision = decisive_revision(view)?;
    let text = |name: &str| read(revision.hashes.get(name)?);
    let (text, cfg_text) = (text(file::MODULE)?, text(file::CFG)?);
    let mut cfg = Cfg::parse(&cfg_text).ok()?;
    let check = revision.check.as_ref()?;
    let is_possible = |witness: &&WitnessOutcome| witness.reached != Reached::No;
    cfg.witnesses = check.witnesses.iter().filter(is_possible).map(|witness| witness.name.clone()).collect();
    let name = Module::parse(&text).ok()?.name;
    (!cfg.witnesses.is_empty()).then(|| CheckRequest {
        spec: SpecText { name, text, local_modules: Vec::new() },
        cfg_text,
        cfg,
    })
}

pub(super) fn witnesses(context: &RunContext<'_>, traces: &mut Map<String, Value>) -> Option<Section> {
    let revision = context.decisive?;
    let module = context.module(revision);
    let source = WitnessSource {
        title: "How the protocol works",
        outcome: revision.check.as_ref()?,
        module: module.as_ref(),
        listing: module_id(revision),
        graph: context.source.graph,
    };
    witness_section(&source, traces)
}

pub(super) fn witness_section(source: &WitnessSource<'_>, traces: &mut Map<String, Value>) -> Option<Section> {
    let mut rows: Vec<WitnessRow> =
        source.outcome.witnesses.iter().map(|witness| witness_row(source, witness, traces)).collect();
    let mut numbers = BTreeSet::new();
    for row in &mut rows {
        // An id must be unique in the page.
        row.number = row.number.take().filter(|number| numbers.insert(number.clone()));
    }
    if let Some(first) = rows.iter_mut().find(|row| row.path.is_some()) {
        first.is_open = true;
    }
    let has_paths = rows.iter().any(|row| row.path.is_some());
    let why = source.graph.and_then(|graph| graph.as_ref().err());
    (!rows.is_empty()).then(|| Section {
        id: "witnesses",
        title: source.title.to_owned(),
        note: Some(rows.len().to_string()),
        body: render(
            "witnesses",
            minijinja::context! { count => rows.len(), most => MOST_SHOWN, has_paths, why, rows },
        ),
    })
}

fn witness_row(source: &WitnessSource<'_>, witness: &WitnessOutcome, traces: &mut Map<String, Value>) -> WitnessRow {
    let name = &witness.name;
    let (tone, words) = match &witness.reached {
        Reached::Yes { depth } => (Tone::Plain, format!("reached after {}", counted(*depth, "state"))),
        Reached::No => (Tone::Bad, "never reached".to_owned()),
        Reached::Unknown(why) => (Tone::Open, format!("not decided: {why}")),
    };
    let definition = source.module.and_then(|module| module.definition(name));
    let formula =
        definition.zip(source.module).map(|(definition, module)| module.source[definition.code.clone()].to_owned());
    let (number, sentence) = comment_parts(definition.map_or("", |definition| &definition.comment));
    let graph = source.graph.and_then(|graph| graph.as_ref().ok());
    let trace = graph.and_then(|graph| graph.paths.get(name)).filter(|_| witness.reached != Reached::No);
    let path = trace.map(|trace| {
        let id = format!("witness-{}", traces.len());
        let (html, data) = trace_view(&TraceSource {
            id: id.clone(),
            what: format!("the behaviour that reaches {name}"),
            trace,
            module: source.module,
            listing: source.listing.clone(),
            citations: BTreeMap::new(),
        });
        traces.insert(id, data);
        html
    });
    let remark = graph.and_then(|graph| path_remark(&witness.reached, trace, graph));
    WitnessRow { name: name.clone(), tone, words, formula, number, sentence, path, remark, is_open: false }
}

/// How the path differs from what the check says, or why there is none.
fn path_remark(reached: &Reached, trace: Option<&Trace>, graph: &StateGraph) -> Option<String> {
    match (reached, trace.map(|trace| trace.steps.len())) {
        (Reached::No, _) | (Reached::Unknown(_), None) => None,
        (Reached::Yes { depth }, Some(states)) if states == *depth => None,
        (Reached::Yes { depth }, Some(states)) => {
            Some(format!("The path of the check has {}, this one has {states}.", counted(*depth, "state")))
        }
        (Reached::Unknown(_), Some(states)) => {
            Some(format!("The check did not decide it; this path of {} reaches it.", counted(states, "state")))
        }
        (Reached::Yes { depth }, None) if *depth > MAX_PATH => {
            Some(format!("Its path is not shown, because it has more than {MAX_PATH} states."))
        }
        (Reached::Yes { .. }, None) => Some(format!(
            "Its path is not shown: no such state is among the {} that were explored for this page.",
            counted(graph.depths.iter().sum::<usize>(), "state")
        )),
    }
}
