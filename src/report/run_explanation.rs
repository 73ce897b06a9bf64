//! The counterexamples of a run in plain sentences, each ending with the sentence of the documents that it breaks. The report
//! and its page show the same.

use std::fmt::Write as _;

use super::explain::explain;
use super::lines::{in_one_line, writeln};
use super::text::decisive_revision;
use crate::pipeline::{RequirementStatus, Revision, RunView};
use crate::prompt::Requirement;
use crate::tla::{CheckOutcome, bounds_sentence};

/// The counterexamples of the revisions that decide the outcome, or that there is none.
pub fn explain_run(view: &RunView) -> String {
    let mut text = String::new();
    for revision in shown_revisions(view) {
        for violation in view.judged_violations(revision) {
            let Some(sentences) = explain_violation(view, revision, &violation.property) else { continue };
            // Writing to a string cannot fail.
            let _ = std::writeln!(
                text,
                "{} is violated in rev_{}: {}\n{}\n\n{sentences}",
                violation.property,
                revision.revision,
                in_one_line(&violation.judgement.words()),
                revision.check.as_ref().map(checked_by).unwrap_or_default()
            );
        }
    }
    let last_check = view.revisions.iter().rev().find_map(|revision| revision.check.as_ref());
    match last_check {
        _ if !text.is_empty() => text,
        Some(check) => format!("There is no counterexample. {}\n", checked_by(check)),
        None => "Nothing was checked yet.\n".to_owned(),
    }
}

/// The bounds and the checker of a verdict.
fn checked_by(check: &CheckOutcome) -> String {
    format!("Bounds: {}; checked by {}", bounds_sentence(&check.bounds), check.checker.name())
}

/// The counterexample to a property; `None` if there is none.
pub(super) fn explain_violation(view: &RunView, revision: &Revision, property: &str) -> Option<String> {
    let mut text = explain(&revision.check.as_ref()?.focused_on(property)?)?;
    for requirement in broken_requirements(view, revision, property) {
        let (id, place) = (&requirement.id, requirement.place_words());
        let _ = match cited_sentence(view, revision, &requirement) {
            Some(sentence) => writeln!(text, "That breaks {id}, by the documents [{place}]: \"{sentence}\""),
            None => writeln!(text, "That breaks {id} [{place}]: {}", requirement.text),
        };
    }
    Some(text)
}

/// The requirements that the violation of a property breaks.
pub(super) fn broken_requirements(view: &RunView, revision: &Revision, property: &str) -> Vec<Requirement> {
    let is_broken = |status: &RequirementStatus| matches!(status, RequirementStatus::Broken { by } if by.iter().any(|name| name == property));
    let results = view.results_of(revision).into_iter();
    results.filter(|result| is_broken(&result.status)).map(|result| result.requirement).collect()
}

/// The sentence of the documents that a requirement cites, if a review quoted it, without the marks of Markdown.
pub(super) fn cited_sentence(view: &RunView, revision: &Revision, requirement: &Requirement) -> Option<String> {
    let (_, quotes) = view.reviews.by_revision.get(&revision.revision)?.last()?;
    Some(quotes.0.get(requirement.place.as_ref()?)?.replace("**", ""))
}

/// The revisions whose counterexamples are shown: the decisive one, and the one that raised its question.
pub(super) fn shown_revisions(view: &RunView) -> Vec<&Revision> {
    let asked = view.open_question().map(|question| question.readings.map(|reading| reading.revision));
    let of_question =
        asked.into_iter().flatten().flatten().filter_map(|n| view.revisions.iter().find(|r| r.revision == n));
    let mut shown: Vec<&Revision> = of_question.collect();
    let is_new = |decisive: &&Revision| !shown.iter().any(|known| known.revision == decisive.revision);
    shown.extend(decisive_revision(view).filter(is_new).into_iter().collect::<Vec<_>>());
    shown
}
