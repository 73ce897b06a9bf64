//! Renders an audit as `JUnit` XML, with a test for each rule. A violated rule fails only with severity `error`, like the
//! exit status of the command. When a journal was verified, each objection is a failure, and unverified parts are skipped.

use std::fmt::Write as _;

use super::audit::verdict_words;
use super::count::counted;
use super::findings::{FileLine, Finding, Findings, Level};
use super::junit::escaped;
use super::labelling::untrusted_text;
use crate::monitor::{AuditReport, RuleFinding, Severity};
use crate::pipeline::{Objection, Verification};

pub fn audit_junit(log: &str, audited: &AuditReport, verification: &Verification) -> String {
    let fails = |finding: &&RuleFinding| finding.is_broken() && finding.rule.severity == Severity::Error;
    // It holds, perhaps only because no record has what it asks for, or has no verdict for that reason.
    let is_unseen = |finding: &&RuleFinding| !finding.is_broken() && !finding.warnings.is_empty();
    let case = escaped(log);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tlaforge audit\">\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "  <testsuite name=\"{case}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
        audited.findings.len() + verification.objections.len() + verification.unverified.len() + audited.warnings.len(),
        audited.findings.iter().filter(fails).count() + verification.objections.len(),
        verification.unverified.len() + audited.warnings.len() + audited.findings.iter().filter(is_unseen).count(),
    );
    for warning in &audited.warnings {
        let warning = escaped(warning);
        let _ = writeln!(
            out,
            "    <testcase classname=\"{case}\" name=\"log\"><skipped message=\"{warning}\"/></testcase>"
        );
    }
    for Objection { about, event, text } in &verification.objections {
        let text = escaped(text);
        let _ = writeln!(
            out,
            "    <testcase classname=\"{case}\" name=\"{about}: event {event}\"><failure message=\"{text}\"/></testcase>"
        );
    }
    for what in &verification.unverified {
        let what = escaped(what);
        let _ = writeln!(
            out,
            "    <testcase classname=\"{case}\" name=\"verification\"><skipped message=\"{what}\"/></testcase>"
        );
    }
    for finding in &audited.findings {
        let _ = write!(out, "    <testcase classname=\"{case}\" name=\"{}\">", escaped(&finding.rule.id));
        let untrusted =
            (!finding.untrusted.is_empty()).then(|| untrusted_text(&finding.untrusted, audited.labelling.as_ref()));
        if let Some(untrusted) = &untrusted {
            let untrusted = escaped(untrusted);
            let _ = write!(out, "<properties><property name=\"untrusted\" value=\"{untrusted}\"/></properties>");
        }
        if !finding.warnings.is_empty() {
            let _ = write!(out, "<system-err>{}</system-err>", escaped(&finding.warnings.join("\n")));
        }
        if is_unseen(&finding) {
            let _ = write!(out, "<skipped message=\"{}\"/>", escaped(&finding.warnings.join("; ")));
        }
        if finding.is_broken() {
            let why =
                [vec![finding.formula.clone()], finding.explanation.clone(), untrusted.into_iter().collect()].concat();
            let (why, verdict) = (escaped(&why.join("\n")), finding.verdict.name());
            let _ = match finding.rule.severity {
                Severity::Error => write!(out, "<failure message=\"{verdict}: {why}\"/>"),
                Severity::Warning | Severity::Info => write!(out, "<system-out>{verdict}: {why}</system-out>"),
            };
        }
        out.push_str("</testcase>\n");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Each violated rule at the record that decided it, and each objection at its event.
pub fn audit_findings(log: &str, audited: &AuditReport, verification: &Verification) -> Findings {
    let objections = verification.objections.iter().map(|Objection { about, event, text }| {
        let line = usize::try_from(*event).unwrap_or_default();
        Finding::new("objection", Level::Error, format!("{about}: {text}")).at(FileLine::new(log, line))
    });
    let broken = audited.findings.iter().filter(|finding| finding.is_broken()).map(|finding| {
        let level = match finding.rule.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Info => Level::Note,
        };
        let state = finding.decided_at.or(finding.failing.first().copied());
        let line = state.and_then(|state| audited.log.places.line(state)).and_then(|line| usize::try_from(line).ok());
        let why = finding.explanation.join(" ");
        let message = format!("{}: {} {why}", finding.rule.id, verdict_words(finding.verdict));
        Finding::new("rule", level, message).at(FileLine::new(log, line.unwrap_or_default()))
    });
    let of_rules = audited
        .findings
        .iter()
        .flat_map(|finding| finding.warnings.iter().map(move |warning| format!("{}: {warning}", finding.rule.id)));
    let warnings = audited.warnings.iter().cloned().chain(of_rules);
    let warnings = warnings.map(|text| Finding::new("warning", Level::Warning, text).at(FileLine::new(log, 0)));
    let list: Vec<Finding> = objections.chain(broken).chain(warnings).collect();
    let rules = counted(audited.findings.len() as u64, "rule");
    let summary = format!("{rules}, {}", counted(list.len(), "finding"));
    Findings { command: "tlaforge audit".to_owned(), summary, list }
}
