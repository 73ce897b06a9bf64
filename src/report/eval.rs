//! Renders evaluations as text: one in full, a suite as a table. Computes no score.

use std::fmt::Write as _;

use super::lines::writeln;
use crate::eval::{
    BugOutcome, Comparison, Criterion, Evaluation, KnownBugResult, Row, Score, Status, Tier3, Tools, WEIGHTS, mean,
};
use crate::tla::{Checker, WITHOUT_JAVA};

/// The outcome of one case of a suite.
#[derive(Debug, Clone)]
pub enum Outcome {
    Evaluated(Box<Evaluation>),
    /// Nothing to evaluate, with the reason.
    Skipped(String),
    Failed {
        what: String,
        remedies: Vec<String>,
    },
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub case: String,
    pub outcome: Outcome,
}

/// The cases that were evaluated.
pub fn evaluations(entries: &[Entry]) -> impl Iterator<Item = &Evaluation> {
    entries.iter().filter_map(|entry| match &entry.outcome {
        Outcome::Evaluated(evaluation) => Some(&**evaluation),
        _ => None,
    })
}

pub(super) fn number(n: Option<Score>) -> String {
    n.map_or_else(|| "-".to_owned(), |n| n.words(2))
}

pub(super) fn status(criterion: &Criterion) -> &'static str {
    match criterion.status {
        Status::Passed => "passed",
        Status::Failed => "FAILED",
        Status::NotApplicable => "not applicable",
        Status::Undecided => "UNDECIDED",
    }
}

/// The tools that checked the specification itself.
pub(super) fn tools(evaluation: &Evaluation) -> String {
    let Tools { translator, parser, checker, version, second_checker: second } = &evaluation.tools;
    let version = if version.is_empty() { String::new() } else { format!(" ({version})") };
    let beside = second.map_or_else(String::new, |second| {
        format!("; in addition {}, {}, {}", second.translator(), second.parser(), second.name())
    });
    let without = if is_without_reference(evaluation) { format!(" ({WITHOUT_JAVA})") } else { String::new() };
    format!("{translator}, {parser}, {checker}{version}{beside}{without}")
}

fn is_without_reference(evaluation: &Evaluation) -> bool {
    evaluation.checker == Checker::Embedded && evaluation.tools.second_checker != Some(Checker::Tlc)
}

/// The checkers that judged known bugs, each with the number of bugs.
pub(super) fn judges(tier3: &Tier3) -> String {
    let each = tier3.judged_by.iter().map(|(checker, bugs)| format!("{} ({bugs})", checker.name()));
    let each: Vec<String> = each.collect();
    if each.is_empty() { "no checker ran on a known bug".to_owned() } else { each.join(", ") }
}

pub fn evaluation(evaluation: &Evaluation) -> String {
    let Evaluation { case, tier1, tier2, tier3, .. } = evaluation;
    let mut out = String::new();
    let vacuous = if tier1.vacuous.is_empty() { "" } else { ": the specification is vacuous" };
    let _ = match evaluation.range() {
        Some(score) => writeln!(out, "Case {case}: score {}{vacuous}", score.words(2)),
        None if tier3.inapplicable => {
            writeln!(out, "Case {case}: no overall score (no known bug was applicable)")
        }
        None => writeln!(out, "Case {case}: no overall score (there are no known bugs)"),
    };
    let _ = writeln!(out, "Tools: {}", tools(evaluation));
    let (all, own) = (evaluation.seconds, tier2.seconds);
    let _ = writeln!(out, "Time: {all:.1} s, of which {own:.1} s for the specification itself");
    if let Some(outcome) = evaluation.outcome {
        let stale = match evaluation.stale_answers {
            Some(0) | None => String::new(),
            Some(n) => format!("; {n} of its answers were recorded for a different prompt"),
        };
        let _ = writeln!(out, "The run ended: {}{stale}", outcome.name().replace('_', " "));
    }
    let [first, second, third] = WEIGHTS.map(|weight| format!("{:.0} %", weight * 100.0));
    let whole = match () {
        () if tier1.passed() => "passed",
        () if tier1.undecided() => "undecided",
        () => "failed",
    };
    let _ = writeln!(out, "\nTier 1 ({first}): {whole}");
    for (name, criterion) in evaluation.criteria() {
        let why = criterion.reason.as_ref().map(|reason| format!("  {reason}")).unwrap_or_default();
        let _ = writeln!(out, "  {name:<27}{}{why}", status(criterion));
    }
    for reason in &tier1.vacuous {
        let _ = writeln!(out, "  {:<27}{reason}", "vacuous");
    }
    let count = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let _ = writeln!(out, "\nTier 2 ({second}): {:.2}", tier2.efficiency);
    let _ = writeln!(
        out,
        "  {} distinct states, depth {}, {:.1} s; {} invariants, {} properties{}",
        count(tier2.distinct_states),
        count(tier2.depth),
        tier2.seconds,
        tier2.invariants,
        tier2.properties,
        tier2.revisions.map(|n| format!("; {n} revision(s)")).unwrap_or_default()
    );
    let rate = match tier3.rate {
        Some(rate) => Score::new(rate, tier3.rate_at_most).words(2),
        None if tier3.inapplicable => "no known bug was applicable".to_owned(),
        None => "no known bugs".to_owned(),
    };
    let undecided = undecided_bugs(tier3);
    let _ = writeln!(
        out,
        "\nTier 3 ({third}): {rate}, {} of {} known bugs detected{undecided}",
        tier3.detected, tier3.total
    );
    let _ = writeln!(out, "  Judged by: {}", judges(tier3));
    known_bugs(&mut out, tier3);
    for wrong in &tier3.wrong_properties {
        let _ = writeln!(out, "  WRONG: {} is violated by {}; its kills do not count", wrong.property, wrong.reference);
    }
    for (reason, properties) in untested_by_reason(tier3) {
        let _ = writeln!(out, "  not decided on any reference: {}: {reason}", properties.join(", "));
    }
    for lacks in &tier3.not_applicable {
        let where_to = if lacks.files.len() == 1 {
            lacks.files[0].clone()
        } else {
            format!("{} modules ({}, \u{2026})", lacks.files.len(), lacks.files[0])
        };
        let _ = writeln!(
            out,
            "  {} could not be tested against {where_to}, which has no {}",
            lacks.property,
            lacks.missing.join(" and no ")
        );
    }
    for remark in &evaluation.remarks {
        let _ = writeln!(out, "\nnote: {remark}");
    }
    out
}

/// `, 1 undecided`, if there are such bugs.
fn undecided_bugs(tier3: &Tier3) -> String {
    if tier3.undecided == 0 { String::new() } else { format!(", {} undecided", tier3.undecided) }
}

fn known_bugs(out: &mut String, tier3: &Tier3) {
    let width = tier3.known_bugs.iter().map(|mutant| mutant.file.len()).max().unwrap_or(0);
    for mutant in &tier3.known_bugs {
        let _ = writeln!(out, "  {:<width$}  {:<14}  {}", mutant.file, mutant.outcome.words(), kill_words(mutant));
        // A common reason is printed once, as the remark.
        let same = |reason: &String| mutant.remark.as_ref() == Some(reason);
        for unknown in mutant.inconclusive.iter().filter(|unknown| !same(&unknown.reason)) {
            let _ = writeln!(out, "  {:<width$}  {}: not decided: {}", "", unknown.property, unknown.reason);
        }
        if let Some(remark) = &mutant.remark {
            let _ = writeln!(out, "  {:<width$}  {remark}", "");
        }
    }
}

/// Properties that no reference decided, grouped by reason.
fn untested_by_reason(tier3: &Tier3) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for unknown in &tier3.untested {
        match found.iter_mut().find(|(reason, _)| *reason == unknown.reason) {
            Some((_, properties)) => properties.push(&unknown.property),
            None => found.push((&unknown.reason, vec![&unknown.property])),
        }
    }
    found
}

pub(super) fn kill_words(mutant: &KnownBugResult) -> String {
    if mutant.outcome != BugOutcome::Killed {
        return format!("should violate {}", mutant.should_violate);
    }
    let by = mutant.killed_by.join(", ");
    // A type invariant alone shows that a value is odd, not that a requirement is broken.
    let alone = if mutant.killed_by_types_only { " (type invariants only)" } else { "" };
    let named = match mutant.killed_by_expected {
        Some(false) => format!(", not by {}", mutant.should_violate),
        _ => String::new(),
    };
    format!("by {by}{alone}{named}")
}

/// `tlc`, `embedded`, or `tlc+embedded` if both ran side by side.
fn checkers(evaluation: &Evaluation) -> String {
    let second = evaluation.tools.second_checker.map_or_else(String::new, |second| format!("+{}", second.id()));
    format!("{}{second}", evaluation.checker.id())
}

/// How a case has ended, for someone who waits for the whole suite.
pub fn case_end(entry: &Entry) -> String {
    let case = &entry.case;
    match &entry.outcome {
        Outcome::Evaluated(evaluation) => {
            let score =
                evaluation.range().map_or_else(|| "no score".to_owned(), |score| format!("score {}", score.words(2)));
            let known_bugs = match &evaluation.tier3 {
                Tier3 { inapplicable: true, .. } => ", known bugs not applicable".to_owned(),
                Tier3 { total: 0, .. } => String::new(),
                tier3 @ Tier3 { detected, total, .. } => {
                    format!(", {detected} of {total} known bugs detected{}", undecided_bugs(tier3))
                }
            };
            format!("{case} is done: {score}{known_bugs}")
        }
        Outcome::Skipped(why) => format!("{case} is skipped: {why}"),
        Outcome::Failed { what, .. } => format!("{case} could not be evaluated: {what}"),
    }
}

fn detected(tier3: &Tier3) -> String {
    match tier3 {
        Tier3 { inapplicable: true, .. } => "n/a".to_owned(),
        Tier3 { undecided: 0, detected, total, .. } => format!("{detected}/{total}"),
        Tier3 { undecided, detected, total, .. } => format!("{detected} to {}/{total}", detected + undecided),
    }
}

/// A suite as a table, with a comparison to earlier results.
pub fn suite(entries: &[Entry], comparison: Option<&Comparison>) -> String {
    let mut lines =
        vec![["case", "run", "checker", "score", "tier 1", "tier 2", "detected", "states", "stale"].map(str::to_owned)];
    let mut rows = Vec::new();
    for entry in entries {
        let Outcome::Evaluated(evaluation) = &entry.outcome else { continue };
        let Evaluation { tier1, tier2, tier3, .. } = &**evaluation;
        let first = match () {
            () if !tier1.vacuous.is_empty() => "vacuous",
            () if tier1.passed() => "passed",
            () if tier1.undecided() => "undecided",
            () => "failed",
        };
        lines.push([
            entry.case.clone(),
            evaluation.outcome.map_or_else(|| "-".to_owned(), |outcome| outcome.name().to_owned()),
            checkers(evaluation),
            number(evaluation.range()),
            first.to_owned(),
            number(Some(Score::new(tier2.efficiency, None))),
            detected(tier3),
            tier2.distinct_states.map_or_else(|| "-".to_owned(), |n| n.to_string()),
            evaluation.stale_answers.map_or_else(|| "-".to_owned(), |n| n.to_string()),
        ]);
        rows.push(Row::summarize(evaluation));
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut out = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    let _ = writeln!(out, "\nScore of the suite: {} (the mean of the scored cases)", number(mean(&rows)));
    let mut all = entries.iter().filter_map(|entry| match &entry.outcome {
        Outcome::Evaluated(evaluation) => Some(evaluation),
        _ => None,
    });
    if all.any(|evaluation| is_without_reference(evaluation)) {
        let _ = writeln!(out, "({WITHOUT_JAVA})");
    }
    for entry in entries {
        match &entry.outcome {
            Outcome::Evaluated(evaluation) => {
                for bug in evaluation.tier3.known_bugs.iter().filter(|mutant| mutant.outcome != BugOutcome::Killed) {
                    let what = if bug.outcome == BugOutcome::Inconclusive { "undecided" } else { "missed" };
                    let _ = writeln!(out, "{what}: {}: {} ({})", entry.case, bug.file, bug.outcome.words());
                }
                for wrong in &evaluation.tier3.wrong_properties {
                    let _ =
                        writeln!(out, "wrong: {}: {} is violated by {}", entry.case, wrong.property, wrong.reference);
                }
                for (reason, properties) in untested_by_reason(&evaluation.tier3) {
                    let case = &entry.case;
                    let _ = writeln!(
                        out,
                        "note: {case}: not decided on any reference: {}: {reason}",
                        properties.join(", ")
                    );
                }
                for remark in &evaluation.remarks {
                    let _ = writeln!(out, "note: {}: {remark}", entry.case);
                }
            }
            Outcome::Skipped(why) => {
                let _ = writeln!(out, "skipped: {}: {why}", entry.case);
            }
            Outcome::Failed { what, remedies } => {
                let _ = writeln!(out, "FAILED: {}: {what}", entry.case);
                for remedy in remedies {
                    let _ = writeln!(out, "        {remedy}");
                }
            }
        }
    }
    for line in comparison.iter().flat_map(|comparison| &comparison.changes) {
        let _ = writeln!(out, "changed: {line}");
    }
    for line in comparison.iter().flat_map(|comparison| &comparison.undecided) {
        let _ = writeln!(out, "NOT DECIDED: {line}");
    }
    // Last, so that they are at the end of a long output.
    for line in comparison.iter().flat_map(|comparison| &comparison.regressions) {
        let _ = writeln!(out, "REGRESSION: {line}");
    }
    out
}
