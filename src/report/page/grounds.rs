//! What the outcome rests on: open points, decisions, assumptions, bounds, what reviews accepted, and what mutants show.

use super::bounds::clauses;
use super::frame::{Section, render};
use super::listing::cited_lines;
use super::run_context::RunContext;
use crate::prompt::Account;
use crate::report::accepted::accepted_lines;
use crate::report::drift_text::accepted_drift_lines;
use crate::report::made_from::made_from_lines;
use crate::report::strengthen::{sample_line, strengthened_line};
use crate::report::text::{normative_counts, open_point_parts, undecided_open_points};
use crate::tla::{CheckOutcome, larger_bounds_lines, never_taken_actions, never_taken_branches, undecided_branches};

/// An open point with the reading that was taken, or an assumption. Numbers of requirements that an open point affects are
/// links.
#[derive(serde::Serialize)]
struct Premise {
    id: String,
    link: Option<String>,
    place: String,
    text: String,
    parts: Vec<(&'static str, String)>,
}

/// The bounds of a check, and what they leave open.
fn bounds_lines(check: &CheckOutcome) -> Vec<String> {
    let larger = check.larger_bounds.iter().filter_map(|bound| bound.violated_words(&check.bounds));
    let never = Some(never_taken_actions(check)).filter(|names| !names.is_empty());
    let mut lines: Vec<String> = clauses(&check.bounds).into_iter().map(|clause| clause.words).collect();
    lines.extend(
        larger_bounds_lines(&check.larger_bounds)
            .into_iter()
            .chain(larger)
            .map(|line| format!("larger bounds: {line}")),
    );
    lines.extend(never.map(|names| format!("actions that are never taken: {}", names.join(", "))));
    lines.extend(never_taken_branches(check).into_iter().map(|branch| format!("branch that is never taken: {branch}")));
    lines.extend(
        undecided_branches(check)
            .into_iter()
            .map(|branch| format!("branch for which it is not known whether a step takes it: {branch}")),
    );
    lines.extend(check.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines
}

pub(super) fn grounds(context: &RunContext<'_>) -> Option<Section> {
    let revision = context.decisive?;
    let link = |place: Option<&String>| {
        let cited = cited_lines(place?, &context.documents);
        cited.first().map(|cited| format!("{}-L{}", cited.listing, cited.from))
    };
    let granted = context.granted_by_open_points();
    let dependence = |id: &str| {
        let words = match granted.as_ref()?.get(id) {
            None => "does not depend on it".to_owned(),
            Some(steps) => {
                let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
                format!("depends on it, in step {}", steps.join(", "))
            }
        };
        Some(("the finding", words))
    };
    let points: Vec<Premise> = undecided_open_points(revision)
        .into_iter()
        .map(|point| Premise {
            id: point.id.clone(),
            link: link(point.place.as_ref()),
            place: point.place_words(),
            text: point.question.clone(),
            parts: open_point_parts(point).into_iter().chain(dependence(&point.id)).collect(),
        })
        .collect();
    let assumptions: Vec<Premise> = revision
        .assumptions
        .iter()
        .map(|assumption| Premise {
            id: assumption.id.clone(),
            link: link(assumption.place.as_ref()),
            place: assumption.place.clone().unwrap_or_else(|| "no line of the documents".to_owned()),
            text: assumption.text.clone(),
            parts: assumption.kind.map(|kind| ("kind", <&str>::from(kind).to_owned())).into_iter().collect(),
        })
        .collect();
    let decisions: Vec<String> = revision.decisions.iter().map(crate::pipeline::Decision::words).collect();
    let check = revision.check.as_ref();
    let bounds = check.map(bounds_lines);
    let lineage = context.view.lineage(revision.revision);
    let edited: Vec<String> = lineage
        .iter()
        .filter(|r| !r.edited.is_empty())
        .map(|r| format!("{} (before rev_{})", r.edited.join(", "), r.revision))
        .collect();
    let mutants: Vec<String> = revision
        .strengthened
        .as_ref()
        .map(strengthened_line)
        .into_iter()
        .chain(revision.mutant_sample.as_ref().map(sample_line))
        .collect();
    let survivors = revision
        .strengthened
        .iter()
        .flat_map(|s| &s.surviving)
        .chain(revision.mutant_sample.iter().flat_map(|s| &s.surviving));
    let survivors: Vec<(String, String)> =
        survivors.map(|m| (format!("{}: {} {}", m.name, m.definition, m.what), m.diff.clone())).collect();
    let is_question = context.view.open_question().is_some();
    let out_of_scope: Vec<String> = revision
        .normative_sentences
        .iter()
        .filter_map(|sentence| match &sentence.account {
            Some(Account::OutOfScope(why)) => Some(format!("{}: {why}", sentence.words())),
            _ => None,
        })
        .collect();
    Some(Section {
        id: "grounds",
        title: "What it rests on".to_owned(),
        note: None,
        body: render(
            "grounds",
            minijinja::context! {
                of => is_question.then(|| context.revision_words(revision)),
                out_of_scope, points, assumptions, decisions, bounds,
                accepted => accepted_lines(context.view, &lineage),
                edited, mutants, survivors,
                made_from => made_from_lines(context.view, context.decisive),
                accepted_drift => accepted_drift_lines(context.source.accepted),
                normative => normative_counts(revision),
                blind => context.view.settings.blind_reading,
            },
        ),
    })
}
