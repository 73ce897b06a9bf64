//! Renders a mutation run as text, as JSON, and in the Stryker schema for report viewers. Judges nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::mutation::{Judgement, Outcome, Subject, Summary, requirement_sort_key, requirements_touched};
use crate::tla::{Cfg, CheckOutcome, Checker, Confirmation, WITHOUT_JAVA, bounds_sentence};

use super::count::counted;
use super::findings::{FileLine, Finding, Findings, Level};
use super::lines::writeln;

/// The killer of a mutant that reaches a deadlock.
pub(super) const DEADLOCK: &str = "Deadlock";

pub(super) fn outcome_meaning(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Killed => "a property notices it, or it reaches a deadlock",
        Outcome::Survived => "has new behaviours, and no property notices",
        Outcome::Restricting => "has fewer behaviours, which no safety property can notice",
        Outcome::Equivalent => "same reachable states and steps, same fairness",
        Outcome::FairnessOnly => "same steps, other fairness, which only a liveness property can notice",
        Outcome::Invalid => "does not translate, parse or evaluate",
        Outcome::Inconclusive => "the checker could not say; counted neither as killed nor as survived",
        Outcome::Timeout => "reached the time limit",
    }
}

/// The report: counts, killers, and each survivor. `judgements` are in source order; `made` is the number of mutants
/// before selection, and `waited` the wall time of the whole command.
pub fn mutation_text(
    subject: &Subject,
    baseline: &CheckOutcome,
    judgements: &[Judgement],
    made: usize,
    waited: Duration,
) -> String {
    let summary = Summary::from_judgements(judgements, &subject.cfg);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let unselected = made.saturating_sub(judgements.len());
    let of_all = if unselected == 0 { String::new() } else { format!(" of {made}") };
    let _ = writeln!(out, "# Mutants of {}: {}{of_all}\n", subject.file, judgements.len());
    for outcome in Outcome::ALL {
        let count = summary.count(outcome);
        if count > 0 {
            let _ = writeln!(out, "{count:>6}  {:<14} {}", outcome.words(), outcome_meaning(outcome));
        }
    }
    let _ = writeln!(out, "\n{}", score_sentence(&summary, unselected));
    out.push_str(&idle_properties(&summary, judgements));
    for warning in &baseline.warnings {
        let _ = writeln!(out, "Warning: {warning}");
    }
    if summary.restricting > 0 {
        let _ = writeln!(
            out,
            "Witnesses: {}",
            match summary.restricting_score {
                None => "none: the configuration names no witness, so no restricting mutant can be noticed".to_owned(),
                Some(score) => format!(
                    "{} ({} of {} restricting mutants keep a witness from being reached)",
                    percent(score),
                    summary.restricting_detected,
                    summary.restricting
                ),
            }
        );
    }
    let (all, own) = (waited.as_secs_f64(), baseline.statistics.reported_seconds());
    let _ = writeln!(out, "Time: {all:.1} s, of which {own:.1} s for the specification itself");
    let _ = writeln!(out, "Bounds: {}", bounds_sentence(&baseline.bounds));
    let _ = writeln!(out, "Judged by: {}", judges(baseline, judgements));
    out.push_str(&killers(&summary, judgements));
    out.push_str(&survivors(subject, judgements));
    out.push_str(&others(judgements));
    out
}

fn percent(score: f64) -> String {
    format!("{:.0} %", score * 100.0)
}

/// The score, and the mutants that it does not count.
pub(super) fn score_sentence(summary: &Summary, unselected: usize) -> String {
    let (noticed, decided) = (summary.killed_by_property, summary.killed_by_property + summary.survived);
    let score = match summary.score {
        _ if notices_nothing(summary) => NOTHING_NOTICED.to_owned(),
        Some(score) => format!("{} ({noticed} killed of {decided} killed or survived)", percent(score)),
        None => "none, no mutant was killed or survived".to_owned(),
    };
    let undecided = summary.inconclusive + summary.timeout;
    let at_least = match summary.score_at_least {
        Some(least) if undecided > 0 && !notices_nothing(summary) => {
            format!("; {} if the {undecided} undecided survived", percent(least))
        }
        _ => String::new(),
    };
    // The undecided ones are named with what they would change.
    let counted = |outcome: &Outcome| match outcome {
        Outcome::Killed | Outcome::Survived => false,
        Outcome::Inconclusive => summary.score_at_least.is_none(),
        _ => true,
    };
    let left_out = Outcome::ALL.into_iter().filter(counted).map(|outcome| (outcome.words(), summary.count(outcome)));
    let left_out = [("noticed only by a deadlock", summary.killed_only_by_deadlock)].into_iter().chain(left_out);
    let left_out: Vec<String> =
        left_out.filter(|(_, count)| *count > 0).map(|(words, count)| format!("{count} {words}")).collect();
    let not_counted =
        if left_out.is_empty() { String::new() } else { format!("; not counted: {}", left_out.join(", ")) };
    let not_selected = if unselected == 0 { String::new() } else { format!("; not selected: {unselected}") };
    format!("Score: {score}{at_least}{not_counted}{not_selected}")
}

/// The headline of a specification whose properties show nothing.
pub(super) const NOTHING_NOTICED: &str = "no property notices any mutant";

/// Whether mutants do something new or deadlock, and no property notices one of them.
pub(super) fn notices_nothing(summary: &Summary) -> bool {
    summary.killed_by_property == 0 && summary.killed + summary.survived > 0
}

/// Number of mutants that each checker judged; mutants that no checker ran on are not counted.
pub fn judged_by(judgements: &[Judgement]) -> BTreeMap<Checker, usize> {
    let mut by = BTreeMap::new();
    for checker in judgements.iter().filter_map(|judgement| judgement.checker) {
        *by.entry(checker).or_default() += 1;
    }
    by
}

pub(super) fn judges(baseline: &CheckOutcome, judgements: &[Judgement]) -> String {
    let by = judged_by(judgements);
    let judged_with = |checker| by.get(&checker).copied().unwrap_or_default();
    let judges = match (judged_with(Checker::Tlc), judged_with(Checker::Embedded)) {
        // Mutants that do not parse never reach a checker.
        (0, 0) => "no checker".to_owned(),
        (0, _) => Checker::Embedded.name().to_owned(),
        (_, 0) => Checker::Tlc.name().to_owned(),
        (tlc, embedded) => {
            format!("the embedded checker ({}), TLC ({})", counted(embedded, "mutant"), counted(tlc, "mutant"))
        }
    };
    match baseline.checker {
        Checker::Embedded if matches!(baseline.confirmation, Some(Confirmation::By(_))) => {
            format!("{judges}; SANY and TLC confirmed the specification itself")
        }
        // No Java tool has seen the specification or a mutant.
        Checker::Embedded if judged_with(Checker::Tlc) == 0 && judged_with(Checker::Embedded) > 0 => {
            format!("{judges} ({WITHOUT_JAVA})")
        }
        checker if by.len() == 1 && by.contains_key(&checker) => judges,
        checker => format!("{judges}; the specification itself was checked by {}", checker.name()),
    }
}

/// The properties that noticed no mutant, by name.
fn idle_properties(summary: &Summary, judgements: &[Judgement]) -> String {
    if summary.noticed_nothing.is_empty() || judgements.is_empty() {
        return String::new();
    }
    let open = count_incomplete(judgements);
    let open = match open {
        0 => String::new(),
        _ => format!(" (of {} not every property was decided)", counted(open, "killed mutant")),
    };
    format!("Noticed nothing: {}{open}\n", summary.noticed_nothing.join(", "))
}

/// The killed mutants of which not every property is known to hold or to be violated.
fn count_incomplete(judgements: &[Judgement]) -> usize {
    judgements.iter().filter(|j| j.outcome == Outcome::Killed && !j.has_all_killers).count()
}

fn killers(summary: &Summary, judgements: &[Judgement]) -> String {
    let mut by: BTreeMap<&str, usize> = BTreeMap::new();
    for name in judgements.iter().flat_map(|j| &j.killed_by) {
        *by.entry(name).or_default() += 1;
    }
    if by.is_empty() {
        return String::new();
    }
    let mut all: Vec<(&str, usize)> = by.into_iter().collect();
    all.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let incomplete = count_incomplete(judgements);
    let mut out = String::from("\n## Killed by\n\n");
    for (name, count) in all {
        let only = summary.noticed_only_by.get(name);
        let only = only.map_or_else(String::new, |only| format!(" (only by it: {only})"));
        let _ = writeln!(out, "{count:>6}  {name}{only}");
    }
    if incomplete > 0 {
        let _ = writeln!(
            out,
            "\nOther properties may notice {}, too: the checker did not decide every property there.",
            counted(incomplete, "mutant")
        );
    }
    if summary.killed_by_deadlock > 0 {
        let _ = writeln!(out, "\n{}", deadlock_note(summary.killed_by_deadlock));
    }
    out
}

/// Why these kills show no property at work.
pub(super) fn deadlock_note(mutants: usize) -> String {
    let were =
        if mutants == 1 { "was noticed only because it deadlocks" } else { "were noticed only because they deadlock" };
    format!("{} {were}; no property covers {}.", counted(mutants, "mutant"), if mutants == 1 { "it" } else { "them" })
}

/// Whether no property of the specification names a requirement.
pub(super) fn has_no_requirement(subject: &Subject) -> bool {
    subject.module.requirements_by_property(&subject.cfg).values().all(Vec::is_empty)
}

fn survivors(subject: &Subject, judgements: &[Judgement]) -> String {
    let mut by: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
    for judgement in judgements.iter().filter(|j| j.outcome == Outcome::Survived) {
        by.entry(&judgement.definition).or_default().push(judgement);
    }
    let mut groups: Vec<(&str, Vec<&Judgement>)> = by.into_iter().collect();
    // In the order of the source, like the list of mutants.
    groups.sort_by_key(|(_, all)| all.first().map_or(0, |j| j.line));
    let mut out = String::new();
    for (definition, all) in groups {
        if out.is_empty() {
            out.push_str("\n## Survivors\n");
        }
        let touched = requirements_touched(&subject.module, &subject.cfg, definition);
        let touched = match touched.is_empty() {
            false => format!(" ({})", list_requirements(touched)),
            // In a specification without requirements this would be noise.
            true if has_no_requirement(subject) => String::new(),
            true => " (no covered requirement mentions its variables)".to_owned(),
        };
        let _ = writeln!(out, "\n{definition}{touched}");
        for judgement in all {
            let _ = writeln!(out, "- {}", shown_name(judgement));
            let _ = writeln!(out, "  no property notices when `{definition}` {}", judgement.what);
            if !judgement.lost_witnesses.is_empty() {
                let _ = writeln!(out, "  it no longer reaches {}", judgement.lost_witnesses.join(", "));
            }
            for line in judgement.diff.lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
    }
    out
}

pub(super) fn list_requirements(mut requirements: Vec<String>) -> String {
    const SHOWN: usize = 4;
    let more = requirements.len().saturating_sub(SHOWN);
    requirements.truncate(SHOWN);
    requirements.sort_by_key(|requirement| requirement_sort_key(requirement));
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    format!("touches {}{more}", requirements.join(", "))
}

/// The mutants that are neither killed nor survived, one a line, with reasons.
fn others(judgements: &[Judgement]) -> String {
    let mut out = String::new();
    // Equivalent and invalid mutants are only counted: nothing can be done about them.
    for outcome in [Outcome::Restricting, Outcome::FairnessOnly, Outcome::Inconclusive, Outcome::Timeout] {
        let all: Vec<&Judgement> = judgements.iter().filter(|j| j.outcome == outcome).collect();
        if all.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n## {}{}\n", outcome.words()[..1].to_uppercase(), &outcome.words()[1..]);
        for judgement in all {
            let _ = write!(out, "- {}: `{}` {}", shown_name(judgement), judgement.definition, judgement.what);
            if !judgement.lost_witnesses.is_empty() {
                let _ = write!(out, " (no longer reached: {})", judgement.lost_witnesses.join(", "));
            }
            if let Some(reason) = judgement.reason.as_deref().filter(|_| outcome != Outcome::Restricting) {
                let _ = write!(out, " ({})", reason.lines().next().unwrap_or(""));
            }
            out.push('\n');
        }
    }
    out
}

/// The place and the name of the mutant, with its operator as `--operator` takes it.
pub(super) fn shown_name(judgement: &Judgement) -> String {
    format!("{} {}", judgement.place, judgement.operator.name_with_id(&judgement.name))
}

/// One mutant as a line of progress.
pub fn mutant_line(judgement: &Judgement) -> String {
    let by = match judgement.killed_by.first() {
        Some(name) => {
            let steps = judgement.trace.as_ref().map_or(0, |trace| trace.steps.len());
            let steps = if steps == 0 { String::new() } else { format!(", {}", counted(steps, "state")) };
            format!(" by {name}{steps}")
        }
        None => String::new(),
    };
    format!("{:<14}{}{by}", judgement.outcome.words(), shown_name(judgement))
}

/// The object of `mutate --json`, without its `run` part.
pub fn mutation_json(baseline: &Value, judgements: &[Judgement], cfg: &Cfg) -> Value {
    json!({
        "schema": 2,
        "baseline": baseline,
        "summary": Summary::from_judgements(judgements, cfg),
        "mutants": judgements,
    })
}

/// The report in the schema of mutation testing elements, version 2. Outcomes without a status there are explained in the
/// reason: restricting and equivalent mutants are `Ignored`, undecided and timed-out mutants are `Pending`.
pub fn stryker(subject: &Subject, judgements: &[Judgement]) -> Value {
    let at = |(line, column): (usize, usize)| json!({"line": line, "column": column});
    let mutants = judgements.iter().map(|judgement| {
        let (status, reason) = stryker_status(judgement);
        json!({
            "id": judgement.name,
            "mutatorName": judgement.operator,
            "description": format!("`{}` {}", judgement.definition, judgement.what),
            "replacement": judgement.replacement,
            "location": {"start": at(judgement.start), "end": at(judgement.end)},
            "status": status,
            "statusReason": reason,
            "killedBy": judgement.killed_by,
        })
    });
    let tests: BTreeSet<&String> = judgements.iter().flat_map(|j| &j.killed_by).collect();
    // `killedBy` refers to tests by their ids, so `Deadlock` and `Assertion` need a test, too.
    let all: BTreeSet<&String> = subject.cfg.invariants.iter().chain(&subject.cfg.properties).chain(tests).collect();
    let tests: Vec<Value> = all.into_iter().map(|name| json!({"id": name, "name": name})).collect();
    let mut files = serde_json::Map::new();
    files.insert(
        subject.file.clone(),
        json!({"language": "tla", "source": subject.source, "mutants": mutants.collect::<Vec<_>>()}),
    );
    let mut test_files = serde_json::Map::new();
    test_files.insert(format!("{} (properties)", subject.file), json!({"tests": tests}));
    json!({
        "schemaVersion": "2",
        // Required by the schema; these are the defaults of Stryker.
        "thresholds": {"high": 80, "low": 60},
        "files": files,
        "testFiles": test_files,
    })
}

fn stryker_status(judgement: &Judgement) -> (&'static str, String) {
    let reason = || judgement.reason.clone().unwrap_or_default();
    match judgement.outcome {
        // Not `Killed`, because viewers would count it in the score of the properties.
        Outcome::Killed if judgement.is_killed_only_by_deadlock() => ("RuntimeError", "deadlock".to_owned()),
        Outcome::Killed => ("Killed", reason()),
        Outcome::Survived => ("Survived", reason()),
        Outcome::Restricting => {
            ("Ignored", "it only has fewer behaviours, which no safety property can notice".to_owned())
        }
        Outcome::Equivalent => ("Ignored", format!("equivalent: {}", reason())),
        Outcome::FairnessOnly => ("Ignored", "only its fairness differs".to_owned()),
        Outcome::Invalid => ("CompileError", reason()),
        Outcome::Inconclusive => ("Pending", format!("not decided: {}", reason())),
        // Not `Timeout`, because viewers count that as detected.
        Outcome::Timeout => ("Pending", "timed out".to_owned()),
    }
}

/// Each mutant that no property notices, at its line.
pub fn mutation_findings(spec: &str, subject: &Subject, baseline: &CheckOutcome, judgements: &[Judgement]) -> Findings {
    let finding = |judgement: &Judgement| {
        let (rule, level) = match judgement.outcome {
            Outcome::Survived => ("survived", Level::Warning),
            Outcome::Inconclusive | Outcome::Timeout => ("undecided", Level::Note),
            _ => return None,
        };
        Some(Finding::new(rule, level, mutant_line(judgement)).at(FileLine::new(spec, judgement.line)))
    };
    let summary = Summary::from_judgements(judgements, &subject.cfg);
    let score = match summary.score {
        _ if notices_nothing(&summary) => NOTHING_NOTICED.to_owned(),
        Some(score) => format!("score {score:.4}"),
        None => "no score".to_owned(),
    };
    let deadlocks = match summary.killed_only_by_deadlock {
        0 => String::new(),
        only => format!(", {only} noticed only by a deadlock"),
    };
    let noticed = counted(summary.killed_by_property, "mutant");
    let sentence = format!("{score}: {noticed} killed, {} survived{deadlocks}", summary.survived);
    let remarks = baseline.warnings.iter().map(|warning| Finding::new("warning", Level::Warning, warning.clone()));
    let list = remarks.chain(judgements.iter().filter_map(finding)).collect();
    Findings { command: "tlaforge mutate".to_owned(), summary: sentence, list }
}
