//! A review for a person: `review.md`.

use std::fmt::Write as _;

use crate::pipeline::{Issue, Quotes, Review, ReviewVerdict};
use crate::prompt::{Document, line_of};
use crate::tla::{CheckOutcome, with_checker};

/// Characters of a quoted line.
const QUOTED: usize = 160;

/// The lines of the documents that a review cites.
pub(super) fn quotes(review: &Review, documents: &[Document]) -> Quotes {
    let mut quotes = Quotes::default();
    let Some(flaw) = &review.flaw else { return quotes };
    let steps = flaw.steps.iter().map(|s| (&s.file, s.line));
    let cited = flaw.unfair.iter().chain(&flaw.bound).map(|c| (&c.file, c.line));
    for (file, line) in steps.chain(cited) {
        let Some(text) = line_of(documents, file, line) else { continue };
        let text = text.trim();
        let short: String = text.chars().take(QUOTED).collect();
        let mark = if short.len() < text.len() { "\u{2026}" } else { "" };
        quotes.0.insert(Quotes::place(file, line), short + mark);
    }
    quotes
}

/// Where an issue comes from, with its severity and category.
pub(super) fn source(issue: &Issue) -> String {
    format!("review ({}, {})", name(&issue.severity), name(&issue.category))
}

/// The name of a severity or category as it stands in a review.
fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Why the guard on approval and that on flaws refuse, in words.
pub(super) type Refused = (Option<String>, Option<String>);

/// What became of the verdict: a reviewer can only ask for an approval or claim a flaw.
fn heading(review: &Review, (approval, flaw): Refused) -> String {
    match review.verdict {
        ReviewVerdict::Approved => match approval {
            Some(why) => format!("approved by the reviewer, refused by the guard: {why}"),
            None if review.earliest().is_some() => "approved by the reviewer, but with issues above minor".to_owned(),
            None => "approved".to_owned(),
        },
        ReviewVerdict::Revise => "revise".to_owned(),
        ReviewVerdict::Flaw => match flaw {
            Some(why) => format!("flaw in the protocol claimed by the reviewer, refused by the guard: {why}"),
            None => "flaw in the protocol claimed; it counts where a second reader agrees".to_owned(),
        },
    }
}

/// The review, with what the guards say of it and with what stands in the lines that it cites.
pub(super) fn review_text(review: &Review, refused: Refused, quotes: &Quotes, check: Option<&CheckOutcome>) -> String {
    let heading = with_checker(heading(review, refused), check);
    let mut text = format!("# Review: {heading}\n\n{}\n", review.summary.trim());
    if !review.issues.is_empty() {
        text.push_str("\n## Issues\n\n");
        for issue in &review.issues {
            let _ = writeln!(text, "- {} (for {}): {}", source(issue), issue.node(), issue.description.trim());
            if !issue.suggestion.trim().is_empty() {
                let _ = writeln!(text, "  Suggestion: {}", issue.suggestion.trim());
            }
        }
    }
    for (what, names) in [
        ("Actions intended never to be taken", &review.intended_dead),
        ("Changes accepted", &review.accepted_changes),
        ("Requirements accepted without a property", &review.accepted_uncovered),
        ("Bounds accepted", &review.accepted_cfg),
    ] {
        if !names.is_empty() {
            let _ = write!(text, "\n## {what}\n\n");
            for name in names {
                let _ = writeln!(text, "- {name}");
            }
        }
    }
    if let Some(flaw) = &review.flaw {
        let _ = write!(text, "\n## Flaw: {} breaks, shown by {}\n\n", flaw.requirement, flaw.property);
        for step in &flaw.steps {
            let cited = quotes.cite(&step.file, step.line);
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
