//! The requirements with their status, the properties that state them, and what those properties forbid.

use std::collections::BTreeSet;

use serde::Serialize;

use super::frame::{Section, Tone, render};
use super::listing::{Cited, cited_lines};
use super::run_context::RunContext;
use crate::mutation::Outcome;
use crate::pipeline::{CoveredRequirement, ForbiddenExample, Judged, RequirementStatus, Revision};
use crate::report::counted;
use crate::report::explain::false_words;
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
    /// The id of the finding that shows how it is violated.
    finding: Option<&'static str>,
    /// The number of mutants that it was the first to notice, and the first ones.
    noticed_count: usize,
    noticed: Vec<String>,
}

/// Number of noticed mutants that are shown.
const MOST_NOTICED: usize = 3;

#[derive(Serialize)]
struct Filter {
    status: &'static str,
    words: &'static str,
    count: usize,
}

/// The judged mutants of a run that strengthens its properties, if they were judged with the properties of this revision.
fn judged_mutants<'a>(context: &RunContext<'a>, revision: &Revision) -> Option<&'a Judged> {
    let kept = revision.strengthened.as_ref()?;
    // Properties on trial that were dropped were judged, too.
    let is_kept = |judged: &&Judged| {
        judged.tally() == kept.after && judged.with_outcome(Outcome::Survived).eq(kept.surviving.iter())
    };
    let events = context.source.entries.iter().rev().filter(|entry| entry.rev == revision.revision);
    events.filter_map(|entry| Some(&entry.event.try_as_mutants_judged_ref()?.judged)).find(is_kept)
}

pub(super) fn requirements(context: &RunContext<'_>) -> Option<Section> {
    let revision = context.decisive?;
    let module = context.module(revision);
    let evidence = Evidence { context, revision, module: module.as_ref(), judged: judged_mutants(context, revision) };
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
                    RequirementStatus::Holds { unaccepted_readings, .. } if unaccepted_readings.is_empty() => {
                        short.to_owned()
                    }
                    other => other.words(),
                },
                properties: names.into_iter().map(|name| evidence.property_row(name)).collect(),
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
            minijinja::context! { rows, has_filters => filters.len() > 1, filters, all => rows.len(), most_noticed => MOST_NOTICED },
        ),
    })
}

/// What is known of the properties of a revision.
struct Evidence<'a> {
    context: &'a RunContext<'a>,
    revision: &'a Revision,
    module: Option<&'a Module>,
    judged: Option<&'a Judged>,
}

impl Evidence<'_> {
    fn property_row(&self, name: &str) -> PropertyRow {
        let Self { context, revision, .. } = self;
        let is_violated =
            revision.check.as_ref().is_some_and(|check| check.violated_names().any(|known| known == name));
        let noticed = self.judged.iter().flat_map(|judged| judged.with_outcome(Outcome::Killed));
        let noticed = noticed.filter(|mutant| mutant.killed_by.first().is_some_and(|first| first == name));
        let noticed: Vec<String> = noticed.map(|mutant| format!("`{}` {}", mutant.definition, mutant.what)).collect();
        PropertyRow {
            name: name.to_owned(),
            formula: formula(self.module, name),
            reading: context.view.blind_readings_of(revision).get(name).cloned(),
            example: self.example(name),
            finding: is_violated.then_some("findings"),
            noticed_count: noticed.len(),
            noticed: noticed.into_iter().take(MOST_NOTICED).collect(),
        }
    }

    /// A mutant that it notices, or an earlier revision that violated the same formula.
    fn example(&self, name: &str) -> Option<String> {
        let sampled = self.revision.mutant_sample.iter().flat_map(|sample| sample.examples.clone());
        let judged = self.judged.iter().flat_map(|judged| judged.examples());
        let words = |ForbiddenExample { definition, what, noticed_in, .. }: ForbiddenExample| {
            format!("if `{definition}` {what}, then state {} has {}", noticed_in.step, noticed_in.values)
        };
        let noticed = sampled.chain(judged).find(|example| example.property == name).map(words);
        noticed.or_else(|| {
            self.context.view.revisions.iter().rev().find_map(|earlier| self.earlier_example(earlier, name))
        })
    }

    fn earlier_example(&self, earlier: &Revision, name: &str) -> Option<String> {
        let trace =
            earlier.check.as_ref()?.counterexample_to(name).filter(|_| earlier.revision < self.revision.revision)?;
        let earlier_formula = formula(self.context.module(earlier).as_ref(), name)?;
        let is_same = formula(self.module, name) == Some(earlier_formula);
        let words = false_words(trace).map_or_else(String::new, |words| format!(": {words}"));
        let states = counted(trace.steps.len(), "state");
        is_same.then(|| format!("the specification of rev_{} violated it after {states}{words}", earlier.revision))
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
        RequirementStatus::Holds { by: by(), unaccepted_readings: Vec::new() },
    ]
}

fn formula(module: Option<&Module>, name: &str) -> Option<String> {
    Some(module?.definition(name)?.text.clone())
}
