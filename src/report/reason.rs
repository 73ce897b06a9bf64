//! The reason of an outcome as a sentence, for readers who know neither the clauses of the guards nor the fields of a review.

use crate::pipeline::{ApprovalClause, FlawClause};

/// How advice to a reviewer begins: the name of a field follows, or a form to write. It has no parentheses inside.
const ADVICE: [&str; 4] = [" (name their ids in `", " (name them in `", " (a review accepts ", " (each is accepted "];

/// The reason without advice to the reviewer, and without the clause at its end, with the values of its fields.
pub fn plain_reason(why: &str) -> String {
    let clauses =
        ApprovalClause::ALL.map(ApprovalClause::name).into_iter().chain(FlawClause::ALL.map(FlawClause::name));
    let ends = clauses.filter_map(|clause| {
        let at = [")", ": "].iter().filter_map(|after| why.rfind(&format!(" ({clause}{after}"))).max()?;
        why.ends_with(')').then_some(at)
    });
    let end = ends.max().unwrap_or(why.len());
    let mut plain = why[..end].to_owned();
    for begin in ADVICE {
        if let Some(at) = plain.find(begin)
            && let Some(length) = plain[at..].find(')')
        {
            plain.replace_range(at..=at + length, "");
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{ApprovalFacts, FlawFacts};

    #[test]
    fn a_reason_is_left_without_clauses_and_fields() {
        for (why, plain) in [
            (
                "the limit of 3 revisions is reached; still open: open points whose reading the review does not accept \
                 (name their ids in `accepted_open_points`): O1, O2 (open_points_accepted: claims.open_points is 2)",
                "the limit of 3 revisions is reached; still open: open points whose reading the review does not accept: O1, O2",
            ),
            (
                "the last check found a violation (nothing_violated: @model_check.claims.verdict is \"violated (x)\")",
                "the last check found a violation",
            ),
            (
                "the reviewer has not read, as they stand now: a.md (reviewer_read)",
                "the reviewer has not read, as they stand now: a.md",
            ),
            ("nothing was reviewed (as it seems)", "nothing was reviewed (as it seems)"),
        ] {
            assert_eq!(plain_reason(why), plain);
        }
    }

    #[test]
    fn no_clause_of_a_guard_leaves_its_name_or_a_field_in_a_reason() {
        let approval = ApprovalClause::ALL.map(|clause| (clause.name(), clause.words(&ApprovalFacts::default())));
        let flaw = FlawClause::ALL.map(|clause| (clause.name(), clause.words(&FlawFacts::default())));
        for (name, words) in approval.into_iter().chain(flaw) {
            let plain = plain_reason(&format!("{words} ({name}: claims.x is 1)"));
            assert!(
                !plain.contains(&format!("({name}")) && !plain.contains("accepted_") && !plain.contains("claims."),
                "{plain}"
            );
        }
    }
}
