//! Renders the result of an audit as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::monitor::{AuditReport, RuleFinding, Verdict};
use crate::pipeline::{Objection, Verification};

use super::count::counted;
use super::labelling::{labelling_json, labelling_text, names, untrusted_text};
use super::lines::{in_one_line, writeln};

pub(super) fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Satisfied => "satisfied",
        Verdict::Violated => "VIOLATED",
        Verdict::PresumablySatisfied => "satisfied so far",
        Verdict::PresumablyViolated => "NOT SATISFIED at the end of the log",
    }
}

/// The verdict on each rule with its reasons, and a summary.
pub fn audit_text(log: &str, audited: &AuditReport) -> String {
    let states = audited.log.places.states();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{log}: {}, {}\n", counted(states, "state"), counted(audited.findings.len() as u64, "rule"));
    for finding in &audited.findings {
        rule_text(&mut out, finding, audited);
    }
    if let Some(labelling) = &audited.labelling {
        out.push_str(&labelling_text(labelling));
        out.push('\n');
    }
    let broken = audited.findings.iter().filter(|f| f.is_broken()).count();
    let undecided = audited.findings.iter().filter(|f| f.no_verdict).count();
    let unseen = audited.findings.iter().filter(|f| !f.warnings.is_empty()).count();
    let never = audited.findings.iter().filter(|f| f.never_applied()).count();
    let _ = match broken {
        0 if undecided > 0 => {
            writeln!(out, "No verdict on {undecided} of {}.", counted(audited.findings.len() as u64, "rule"))
        }
        // What was never evaluated is not kept.
        0 if never > 0 => writeln!(
            out,
            "No rule is broken: {} of {} were evaluated, {never} never.",
            audited.findings.len() - never,
            counted(audited.findings.len() as u64, "rule")
        ),
        // A rule about data that no record has may hold for that reason only.
        0 if unseen > 0 => writeln!(
            out,
            "Every rule holds, but {unseen} of {} {} data that no record has.{}",
            counted(audited.findings.len() as u64, "rule"),
            if unseen == 1 && audited.findings.len() == 1 { "uses" } else { "use" },
            left_out(audited),
        ),
        0 if !left_out(audited).is_empty() => {
            writeln!(out, "Every rule holds for the records that were read.{}", left_out(audited))
        }
        0 => writeln!(out, "Every rule holds."),
        _ => writeln!(out, "{broken} of {} violated.", counted(audited.findings.len() as u64, "rule")),
    };
    out
}

/// A sentence about the records that were not read; empty if there are none.
fn left_out(audited: &AuditReport) -> String {
    let count = audited.log.invalid_count + u64::from(audited.log.torn.is_some());
    let lines = audited.log.invalid.iter().map(|(line, _)| *line).chain(audited.log.torn);
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    let more = if count > lines.len() as u64 { ", …" } else { "" };
    match count {
        0 => String::new(),
        1 => format!(" 1 record was left out: line {}.", lines.join(", ")),
        count => format!(" {count} records were left out: lines {}{more}.", lines.join(", ")),
    }
}

/// The audit by the default policy: the violated rules, and a summary.
pub fn default_audit_text(log: &str, audited: &AuditReport) -> String {
    let mut out = String::new();
    let broken: Vec<&RuleFinding> = audited.findings.iter().filter(|f| f.is_broken()).collect();
    for finding in &broken {
        rule_text(&mut out, finding, audited);
    }
    let evaluated = audited.findings.iter().filter(|f| f.evaluated.is_some_and(|times| times > 0)).count();
    let decisions: u64 = audited.findings.iter().filter_map(|f| f.evaluated).sum();
    let rules = audited.findings.len();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{log}: {} of {} evaluated ({}), {} of them violated; the others are about decisions that this run did not make.",
        evaluated,
        counted(rules as u64, "rule"),
        counted(decisions, "time"),
        if broken.is_empty() { "none".to_owned() } else { broken.len().to_string() },
    );
    out
}

/// Statements of a journal that its own events contradict.
pub fn objections_text(verification: &Verification) -> String {
    let text = |o: &Objection| format!("{}: VIOLATED\n    event {}: {}\n\n", o.about, o.event, in_one_line(&o.text));
    verification.objections.iter().map(text).collect()
}

fn rule_text(out: &mut String, finding: &RuleFinding, audited: &AuditReport) {
    let places = &audited.log.places;
    let place = |state: u64| match places.number(state) {
        Some(number) if places.is_list() => format!("{state} (message {number})"),
        Some(line) => format!("{state} (line {line})"),
        None => state.to_string(),
    };
    let severity = match finding.rule.severity {
        crate::monitor::Severity::Error => String::new(),
        severity => format!("  [{}]", severity.name()),
    };
    let verdict = if finding.no_verdict { "no verdict" } else { verdict_words(finding.verdict) };
    let _ = writeln!(out, "{}: {verdict}{severity}", finding.rule.id);
    if let Some(description) = &finding.rule.description {
        let _ = writeln!(out, "    {description}");
    }
    let _ = writeln!(out, "    {}", finding.formula);
    if !finding.untrusted.is_empty() {
        let _ = writeln!(out, "    {}", untrusted_text(&finding.untrusted, audited.labelling.as_ref()));
    }
    if let Some(decided_at) = finding.decided_at.filter(|_| !finding.no_verdict) {
        let decided = match finding.verdict {
            Verdict::PresumablyViolated => "decided at the end of the log, after state",
            _ => "decided at state",
        };
        let _ = writeln!(out, "    {decided} {}", place(decided_at));
    }
    for line in finding.explanation.iter().filter(|_| !finding.no_verdict) {
        let _ = writeln!(out, "    because {line}");
    }
    if let Some(note) = &finding.note {
        let _ = writeln!(out, "    note: {note}");
    }
    for warning in &finding.warnings {
        let _ = writeln!(out, "    warning: {warning}");
    }
    if finding.violations > 1 {
        let _ = writeln!(out, "    violated {} times", finding.violations);
    }
    if finding.is_broken() && finding.failing_count > 0 {
        // Only the first ones, because a rule can fail from very many positions.
        let shown: Vec<String> = finding.failing.iter().take(8).map(u64::to_string).collect();
        let more = if finding.failing_count > shown.len() as u64 { ", …" } else { "" };
        let _ =
            writeln!(out, "    fails from {}: {}{more}", counted(finding.failing_count, "position"), shown.join(", "));
    }
    if let Some(residual) = finding.residual.as_ref().filter(|_| !finding.no_verdict) {
        let _ = writeln!(out, "    residual: {residual}");
    }
    out.push('\n');
}

pub fn audit_json(log: &str, shape: &str, audited: &AuditReport) -> Value {
    let rules: Vec<Value> = audited
        .findings
        .iter()
        .map(|finding| {
            json!({
                "id": finding.rule.id,
                "formula": finding.formula,
                "severity": finding.rule.severity.name(),
                "verdict": if finding.no_verdict { "no_verdict" } else { finding.verdict.name() },
                "decided_at": finding.decided_at,
                "decided_at_line": finding.decided_at.and_then(|state| audited.log.places.line(state)),
                "failing_positions": finding.failing,
                "failing_position_count": finding.failing_count,
                "evaluations": finding.evaluated,
                "violations": finding.violations,
                "explanation": finding.explanation,
                "note": finding.note,
                "warnings": finding.warnings,
                "residual": finding.residual,
                "untrusted": names(&finding.untrusted),
            })
        })
        .collect();
    json!({
        "schema": 2,
        "log": log,
        "shape": shape,
        "states": audited.log.places.states(),
        "rules": rules,
        "left_out": audited.log.invalid_count + u64::from(audited.log.torn.is_some()),
        "repeated_calls": audited.log.repeated_calls,
        "warnings": audited.all_warnings(),
        "labels": audited.labelling.as_ref().map(labelling_json),
    })
}
