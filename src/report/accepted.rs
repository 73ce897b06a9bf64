//! What an outcome rests on that no tool confirmed: what reviews accepted by name, and what was edited by hand.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::lines::writeln;
use crate::pipeline::{AcceptedItem, Review, Revision, RunView};

/// What the reviews of these revisions accepted by name: a line for each kind, and one for each item that has a reason. What
/// was accepted again is listed with the later revision, or with the later reason.
pub(super) fn accepted_lines(view: &RunView, revisions: &[&Revision]) -> Vec<String> {
    let reviews = || {
        let of = |r: &&Revision| view.reviews.by_revision.get(&r.revision).into_iter().flatten().rev();
        revisions.iter().rev().flat_map(move |r| of(r).map(|(review, _)| (r.revision, review)))
    };
    let with_reasons = reviews().flat_map(|(_, review)| kinds(review));
    let reasoned: BTreeSet<(&str, &str)> = with_reasons
        .flat_map(|(one, _, entries)| {
            entries.iter().map(AcceptedItem::parts).filter_map(move |(name, reason)| reason.map(|_| (one, name)))
        })
        .collect();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (revision, review) in reviews() {
        let mut own = Vec::new();
        for (one, several, entries) in kinds(review) {
            let mut plain = Vec::new();
            for entry in entries {
                let (name, reason) = entry.parts();
                if (reason.is_none() && reasoned.contains(&(one, name))) || !seen.insert((one, name)) {
                    continue;
                }
                match reason {
                    Some(_) => own.push(format!("rev_{revision}: {one} {entry}")),
                    None => plain.push(name),
                }
            }
            let what = if plain.len() == 1 { one } else { several };
            own.extend((!plain.is_empty()).then(|| format!("rev_{revision}: {what} {}", plain.join(", "))));
        }
        lines.push(own);
    }
    lines.into_iter().rev().flatten().collect()
}

/// What a review accepts, by kind: the words for one and for several items, and the entries.
fn kinds(review: &Review) -> [(&'static str, &'static str, &Vec<AcceptedItem>); 11] {
    [
        ("the change of", "the changes of", &review.accepted_changes),
        ("that no property covers", "that no property covers", &review.accepted_uncovered),
        ("the reading of open point", "the readings of open points", &review.accepted_open_points),
        ("assumption", "assumptions", &review.accepted_assumptions),
        ("normative sentence", "normative sentences", &review.accepted_sentences),
        ("the blind reading of", "the blind readings of", &review.accepted_readings),
        (
            "that no contract was checked for the step",
            "that no contract was checked for the steps",
            &review.accepted_without_contract,
        ),
        ("that nothing notices the mutant", "that nothing notices the mutants", &review.accepted_survivors),
        ("the larger bound", "the larger bounds", &review.accepted_bounds),
        ("that the check is bounded by", "that the check is bounded by", &review.accepted_cfg),
        ("that an action is never taken:", "that actions are never taken:", &review.intended_dead),
    ]
}

/// What reviews accepted by name and what was edited by hand before a revision, because no tool confirmed it.
pub(super) fn accepted_without_tools(text: &mut String, view: &RunView, revision: &Revision) {
    // With the revisions before it, because an acceptance also counts for those that follow.
    let line = view.lineage(revision.revision);
    let accepted = accepted_lines(view, &line);
    if accepted.is_empty() {
        text.push_str("\nThe reviewer agreed by name to: nothing\n");
    } else {
        text.push_str("\nThe reviewer agreed by name, and no tool confirms:\n");
        for entry in accepted {
            let _ = writeln!(text, "  {entry}");
        }
    }
    let by_hand: Vec<String> = line
        .iter()
        .filter(|r| !r.edited.is_empty())
        .map(|r| format!("{} (before rev_{})", r.edited.join(", "), r.revision))
        .collect();
    let by_hand = if by_hand.is_empty() { "nothing".to_owned() } else { by_hand.join("; ") };
    let _ = writeln!(text, "  edited by hand: {by_hand}");
    if !view.settings.blind_reading {
        text.push_str("  no blind reading of the properties\n");
    }
}
