//! The requirements with their status, the properties that state them, and what those properties forbid.

use std::collections::BTreeSet;

use serde::Serialize;

use super::frame::{Section, Tone, render};
use super::listing::{Cited, cited_lines};
use super::run_context::RunContext;
use crate::pipeline::{CoveredRequirement, ForbiddenExample, RequirementStatus, Revision};
use crate::tla::Module;

#[derive(Serialize)]
struct RequirementRow {
    id: String,
    text: String,
    place: String,
    lines: Vec<Cited>,
    status: &'static str,
    tone: Tone,
    words: String,
    properties: Vec<PropertyRow>,
    /// Under each reading of a question: the reading, the colour and the status.
    readings: Vec<(String, Tone, String)>,
    /// The open points whose reading it depends on.
    points: Vec<String>,
}

#[derive(Serialize)]
struct PropertyRow {
    name: String,
    formula: Option<String>,
    /// What a reader who saw only the formula says it forbids.
    reading: Option<String>,
    example: Option<String>,
}

#[derive(Serialize)]
struct Filter {
    status: &'static str,
    words: &'static str,
    count: usize,
}

pub(super) fn requirements(context: &RunContext<'_>) -> Option<Section> {
    let revision = context.decisive?;
    let module = context.module(revision);
    let results = context.view.results_of(revision);
    let readings = if context.view.open_question().is_some() { context.shown_revisions() } else { Vec::new() };
    let rows: Vec<RequirementRow> = results
        .into_iter()
        .map(|result| {
            let names = revision.requirements.iter().find(|known| known.requirement.id == result.requirement.id);
            let names: BTreeSet<&String> = names.into_iter().flat_map(CoveredRequirement::claims).collect();
            let (status, tone, short) = status_parts(&result.status);
            let id = &result.requirement.id;
            let readings = readings.iter().filter_map(|revision| {
                let known = context.view.results_of(revision).into_iter().find(|known| known.requirement.id == *id)?;
                let (_, tone, words) = status_parts(&known.status);
                Some((context.revision_words(revision), tone, words.to_owned()))
            });
            let points = revision.open_points.iter().filter(|point| point.affects.contains(id));
            RequirementRow {
                readings: readings.collect(),
                points: points.map(|point| point.id.clone()).collect(),
                place: result.requirement.place_words(),
                lines: result
                    .requirement
                    .place
                    .as_ref()
                    .map(|place| cited_lines(place, &context.documents))
                    .unwrap_or_default(),
                id: result.requirement.id,
                text: result.requirement.text,
                status,
                tone,
                words: match &result.status {
                    // The properties are listed below it.
                    RequirementStatus::Holds { .. } => short.to_owned(),
                    other => other.words(),
                },
                properties: names
                    .into_iter()
                    .map(|name| property_row(context, revision, module.as_ref(), name))
                    .collect(),
            }
        })
        .collect();
    let filter = |status: &RequirementStatus| {
        let (status, _, words) = status_parts(status);
        let count = rows.iter().filter(|row| row.status == status).count();
        (count > 0).then_some(Filter { status, words, count })
    };
    let filters: Vec<Filter> = every_status().iter().filter_map(filter).collect();
    (!rows.is_empty()).then(|| Section {
        id: "requirements",
        title: "Requirements".to_owned(),
        note: Some(rows.len().to_string()),
        body: render(
            "requirements",
            minijinja::context! { rows, has_filters => filters.len() > 1, filters, all => rows.len() },
        ),
    })
}

fn property_row(context: &RunContext<'_>, revision: &Revision, module: Option<&Module>, name: &str) -> PropertyRow {
    let examples = revision.mutant_sample.iter().flat_map(|sample| &sample.examples);
    let example = |example: &ForbiddenExample| {
        let ForbiddenExample { definition, what, noticed_in, .. } = example;
        format!("if {definition} {what}, then state {} has {}", noticed_in.step, noticed_in.values)
    };
    PropertyRow {
        name: name.to_owned(),
        formula: module.and_then(|module| Some(module.definition(name)?.text.clone())),
        reading: context.view.blind_readings_of(revision).get(name).cloned(),
        example: examples.filter(|example| example.property == name).map(example).next(),
    }
}

/// The class of a status, its colour, and the words of its filter.
fn status_parts(status: &RequirementStatus) -> (&'static str, Tone, &'static str) {
    match status {
        RequirementStatus::Broken { .. } => ("broken", Tone::Bad, "Broken"),
        RequirementStatus::Undecided { .. } => ("undecided", Tone::Open, "Undecided"),
        RequirementStatus::NotChecked { .. } => ("not-checked", Tone::Open, "Not checked"),
        RequirementStatus::Uncovered => ("uncovered", Tone::Open, "Not covered"),
        RequirementStatus::AcceptedUncovered { .. } => ("accepted", Tone::Plain, "Accepted"),
        RequirementStatus::Holds { .. } => ("holds", Tone::Good, "Holds"),
    }
}

fn every_status() -> [RequirementStatus; 6] {
    let (by, why) = (Vec::new, String::new);
    [
        RequirementStatus::Broken { by: by() },
        RequirementStatus::Undecided { by: by(), why: why() },
        RequirementStatus::NotChecked { by: by(), why: why() },
        RequirementStatus::Uncovered,
        RequirementStatus::AcceptedUncovered { reason: why() },
        RequirementStatus::Holds { by: by() },
    ]
}
