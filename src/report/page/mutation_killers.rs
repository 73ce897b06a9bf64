//! Which property notices how many mutants. Properties that notice none are listed, too: nothing shows that they forbid
//! anything.

use std::collections::BTreeMap;

use serde::Serialize;

use super::frame::{Section, render};
use crate::mutation::{Judgement, Outcome, Subject, Summary, requirement_sort_key};
use crate::report::counted;
use crate::report::mutation::DEADLOCK;

/// Width of the longest bar in pixels.
const BAR: usize = 160;

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    requirements: String,
    killed: usize,
    only: usize,
    width: usize,
}

pub(super) fn killers(subject: &Subject, summary: &Summary, judgements: &[Judgement]) -> Option<Section> {
    let properties = subject.cfg.invariants.iter().chain(&subject.cfg.properties);
    let mut by: BTreeMap<&str, usize> = properties.map(|name| (name.as_str(), 0)).collect();
    for name in judgements.iter().flat_map(|judgement| &judgement.killed_by) {
        *by.entry(name).or_default() += 1;
    }
    let most = by.values().copied().max()?.max(1);
    let requirements = subject.module.requirements_by_property(&subject.cfg);
    let mut rows: Vec<Row<'_>> = by
        .into_iter()
        .map(|(name, killed)| {
            let mut covered = requirements.get(name).cloned().unwrap_or_default();
            covered.sort_by_key(|requirement| requirement_sort_key(requirement));
            Row {
                name,
                requirements: covered.join(", "),
                killed,
                only: summary.noticed_only_by.get(name).copied().unwrap_or(0),
                width: if killed == 0 { 0 } else { (killed * BAR / most).max(2) },
            }
        })
        .collect();
    // A deadlock is no property.
    rows.sort_by_key(|row| (row.name == DEADLOCK, std::cmp::Reverse(row.killed), row.name));
    let has_deadlock = rows.last().is_some_and(|row| row.name == DEADLOCK);
    let deadlock = if has_deadlock { rows.pop() } else { None };
    let is_incomplete = |judgement: &&Judgement| judgement.outcome == Outcome::Killed && !judgement.has_all_killers;
    let incomplete = judgements.iter().filter(is_incomplete).count();
    let note = (incomplete > 0).then(|| {
        let mutants = counted(incomplete as u64, "killed mutant");
        format!("Of {mutants} the checker did not decide every property, so a property may notice more than is counted here, and what only it notices is counted without them.")
    });
    let only_deadlock = summary.killed_only_by_deadlock;
    let idle = rows.iter().filter(|row| row.killed == 0).count();
    Some(Section {
        id: "killers",
        title: "What each property notices".to_owned(),
        note: Some(rows.len().to_string()),
        body: render(
            "killers",
            minijinja::context! { count => rows.len(), rows, note, deadlock, only_deadlock, idle, has_requirements => true, is_folded => false },
        ),
    })
}
