//! The reasons of routing decisions, in words for people and for the next prompt.

use crate::pipeline::machine::{ApprovalClause, ApprovalFacts, FlawClause, FlawFacts, Row, Transition};
use crate::pipeline::policy::Judgement;
use crate::pipeline::records::{Facts, Product, RunView};

/// The reason of a routing decision, in words.
pub(super) fn reason(t: &Transition, product: &Product, after: &RunView, judgement: Option<&Judgement>) -> String {
    let refusal = |clause: ApprovalClause, facts: &ApprovalFacts| match judgement {
        Some(judgement) => judgement.refusal(clause, facts).named(),
        None => clause.words(facts),
    };
    let flaw_refusal = |clause: FlawClause, facts: &FlawFacts| match judgement {
        Some(judgement) => judgement.flaw_refusal(clause, facts).named(),
        None => clause.words(facts),
    };
    let approval_words = |facts: &ApprovalFacts| product.event.refused_by().map(|clause| refusal(clause, facts));
    let flaw_words = |facts: &FlawFacts| product.event.flaw_refused_by().map(|c| flaw_refusal(c, facts));
    if let Some(why) = after.strengthening_reason(t, product) {
        return why;
    }
    match (&t.row, &product.facts) {
        (Row::Approved, _) => "the reviewer agreed and all automatic conditions are met".into(),
        (Row::NothingNamed, Facts::ReviewUnreadable { approval, .. }) => unreadable_words(approval_words(approval)),
        (Row::ApprovalRefused | Row::NothingNamed, Facts::Reviewed { approval, .. }) => {
            approval_words(approval).unwrap_or_else(|| "the review asks for a revision and names no issue".into())
        }
        (Row::FlawClaimed, _) => "a flaw is claimed and its guard holds: a second reader is asked".into(),
        (Row::FlawFound | Row::FlawRepaired, Facts::SecondRead { why, .. }) => {
            format!("the second reader agrees: {why}")
        }
        (Row::OtherReading | Row::AmbiguityFound, Facts::SecondRead { why, open_point, .. }) => {
            let point = open_point.as_ref().map_or("an open point", |point| &point.id);
            format!("the requirement breaks under the reading that {point} takes: {why}")
        }
        (Row::OtherReadingApproved, _) => {
            "under the other reading every clause of the guard for an approval holds".into()
        }
        (Row::FlawRefused, Facts::SecondRead { why, .. }) => format!("the second reader disagrees: {why}"),
        (Row::FlawRefused, Facts::Reviewed { flaw: Some(facts), .. }) => {
            flaw_words(facts).unwrap_or_else(|| "the claim of a flaw is refused".into())
        }
        (Row::RevisionLimit, facts) => {
            let last = match facts {
                Facts::Reviewed { flaw: Some(facts), .. } if product.event.flaw_refused_by().is_some() => {
                    flaw_words(facts)
                }
                Facts::Reviewed { review, approval, .. } => review
                    .issues
                    .iter()
                    .find(|i| i.routes())
                    .map(|i| i.description.clone())
                    .or_else(|| approval_words(approval)),
                Facts::ReviewUnreadable { approval, .. } => Some(unreadable_words(approval_words(approval))),
                Facts::SecondRead { why, .. } => Some(why.clone()),
                _ => None,
            };
            format!(
                "the limit of {} revision{} is reached; still open: {}",
                after.settings.routing.max_revisions,
                if after.settings.routing.max_revisions == 1 { "" } else { "s" },
                last.unwrap_or_else(|| "the review asks for a revision".into())
            )
        }
        (Row::Issues, Facts::Reviewed { review, .. }) => {
            review.issues.iter().filter(|i| i.routes()).map(|i| i.description.as_str()).collect::<Vec<_>>().join("; ")
        }
        (_, Facts::Rejected { diagnostics }) => {
            diagnostics.first().map_or_else(|| "rejected".into(), ToString::to_string)
        }
        _ => product.feedback.first().map_or_else(String::new, |f| f.text.clone()),
    }
}

fn unreadable_words(clause: Option<String>) -> String {
    let clause = clause.map_or_else(String::new, |clause| format!("; {clause}"));
    format!("two answers in a row were no review that could be read, so nothing was reviewed{clause}")
}
