//! Writes `review.md`, the review for a person. It decides nothing: verdict and refusals are given.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::pipeline::{Issue, Quotes, RequirementResult, Review, ReviewVerdict};
use crate::prompt::{Document, quote};
use crate::tla::{CheckOutcome, with_checker};

/// The sentences of the documents that a review cites, and those of the requirements that the check found broken.
pub(super) fn quotes(review: &Review, results: &[RequirementResult], documents: &[Document]) -> Quotes {
    let broken = results.iter().filter(|result| result.status.is_broken()).map(|result| &result.requirement);
    let places = broken.filter_map(|r| Some((r.place.clone()?, r.place.clone()?, r.text.as_str())));
    let flaws = || review.flaw.iter().chain(&review.further_flaws);
    let steps = flaws().flat_map(|flaw| &flaw.steps);
    let also = steps.clone().flat_map(|step| step.also.iter().map(|place| (place.clone(), place.clone(), &*step.why)));
    let citations = flaws().flat_map(|flaw| flaw.unfair.iter().chain(&flaw.bound));
    let lines = steps
        .filter(|step| !step.file.is_empty())
        .map(|step| (&step.file, step.line, &step.why))
        .chain(citations.map(|cited| (&cited.file, cited.line, &cited.why)))
        .map(|(file, line, why)| (Quotes::place(file, line), format!("{file}:{line}"), why.as_str()));
    // A line that is cited twice is quoted for both reasons.
    let mut cited: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (key, place, why) in places.chain(also).chain(lines) {
        let (_, reasons) = cited.entry(key).or_insert((place, String::new()));
        *reasons = format!("{reasons} {why}");
    }
    let quoted = |(key, (place, why)): (String, (String, String))| Some((key, quote(documents, &place, &why)?));
    Quotes(cited.into_iter().filter_map(quoted).collect())
}

/// The origin of an issue, with its severity and category.
pub(super) fn issue_origin(issue: &Issue) -> String {
    format!("review ({}, {})", serialised_name(&issue.severity), serialised_name(&issue.category))
}

/// The serialised name of a severity or category.
fn serialised_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Why the approval guard and the flaw guard refuse, in words.
pub(super) type RefusalReasons = (Option<String>, Option<String>);

/// The verdict and what the guards made of it: a reviewer can only propose an approval or a flaw.
fn heading(review: &Review, (approval, flaw): RefusalReasons) -> String {
    match review.verdict {
        ReviewVerdict::Approved => match approval {
            Some(why) => format!("approved by the reviewer, refused by the guard: {why}"),
            // A review can approve and still name an issue above minor, which counts.
            None if review.earliest().is_some() => "approved by the reviewer, but with issues above minor".to_owned(),
            None => "approved".to_owned(),
        },
        ReviewVerdict::Revise => "revise".to_owned(),
        ReviewVerdict::Flaw => match flaw {
            Some(why) => format!("flaw in the protocol claimed by the reviewer, refused by the guard: {why}"),
            None => "flaw in the protocol claimed; it counts only if a second reader agrees".to_owned(),
        },
    }
}

/// The text of the review, with the guards' decisions and quotations of the lines that it cites.
pub(super) fn review_text(
    review: &Review,
    refused: RefusalReasons,
    quotes: &Quotes,
    check: Option<&CheckOutcome>,
) -> String {
    let heading = with_checker(heading(review, refused), check.filter(|check| check.is_without_reference()));
    let mut text = format!("# Review: {heading}\n\n{}\n", review.summary.trim());
    if !review.issues.is_empty() {
        text.push_str("\n## Issues\n\n");
        for issue in &review.issues {
            let _ = writeln!(text, "- {} (for {}): {}", issue_origin(issue), issue.node(), issue.description.trim());
            if !issue.suggestion.trim().is_empty() {
                let _ = writeln!(text, "  Suggestion: {}", issue.suggestion.trim());
            }
        }
    }
    for (what, names) in [
        ("Actions intended never to be taken", &review.intended_dead),
        ("Changes accepted", &review.accepted_changes),
        ("Requirements accepted without a property", &review.accepted_uncovered),
        ("Readings of open points accepted", &review.accepted_open_points),
        ("Assumptions accepted", &review.accepted_assumptions),
        ("Normative sentences accepted", &review.accepted_sentences),
        ("Blind readings accepted", &review.accepted_readings),
        ("Steps without a contract accepted", &review.accepted_without_contract),
        ("Surviving mutants accepted", &review.accepted_survivors),
        ("Larger bounds accepted", &review.accepted_bounds),
        ("Bounds accepted", &review.accepted_cfg),
    ] {
        if !names.is_empty() {
            let _ = write!(text, "\n## {what}\n\n");
            for name in names {
                let _ = writeln!(text, "- {name}");
            }
        }
    }
    for flaw in review.flaw.iter().chain(&review.further_flaws) {
        let _ = write!(text, "\n## Flaw: {} breaks, shown by {}\n\n", flaw.requirement, flaw.property);
        for step in &flaw.steps {
            let cited = quotes.cite_step(step).join("\n   ");
            let _ = writeln!(text, "{}. {cited}\n   {}", step.step, step.why.trim());
        }
        for (what, cited) in [("On fairness", &flaw.unfair), ("On the bound", &flaw.bound)] {
            if let Some(cited) = cited {
                let _ = writeln!(text, "\n{what}: {}\n{}", quotes.cite(&cited.file, cited.line), cited.why.trim());
            }
        }
    }
    text
}
