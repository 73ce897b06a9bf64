//! The result of an audit, and the reasons to doubt its verdicts.

use super::finding::RuleFinding;
use super::labelling::Labelling;
use super::log::LogSummary;
use super::timeline::Timeline;

/// The result of an audit.
#[derive(Debug, Clone)]
pub struct AuditReport {
    /// One for each rule, in the order of the policy; empty if the log has no state.
    pub findings: Vec<RuleFinding>,
    pub log: LogSummary,
    /// Warnings about the log.
    pub warnings: Vec<String>,
    /// For each rule how it stood after each state; empty unless [`Auditor::with_timelines`](crate::Auditor::with_timelines) asked for it.
    pub timelines: Vec<Timeline>,
    /// How the labels of a model came about, if rules use any. Filled in by the caller.
    pub labelling: Option<Labelling>,
}

impl AuditReport {
    /// The warnings about the log and about the rules, each once.
    pub fn all_warnings(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.warnings.iter().map(String::as_str).collect();
        for warning in self.findings.iter().flat_map(|finding| &finding.warnings) {
            if !all.contains(&warning.as_str()) {
                all.push(warning);
            }
        }
        all
    }

    /// The reasons to doubt the verdict although no rule is violated: records that were not read, and rules about data that no
    /// record has.
    pub fn doubts(&self) -> Vec<String> {
        let mut all = Vec::new();
        let skipped = self.log.invalid_count + u64::from(self.log.torn.is_some());
        if skipped > 0 {
            let lines: Vec<String> = self
                .log
                .invalid
                .iter()
                .map(|(line, _)| *line)
                .chain(self.log.torn)
                .map(|line| line.to_string())
                .collect();
            let more = if skipped > lines.len() as u64 { ", …" } else { "" };
            let (records, line) =
                if skipped == 1 { ("1 record was", "line") } else { (&*format!("{skipped} records were"), "lines") };
            all.push(format!("{records} left out ({line} {}{more})", lines.join(", ")));
        }
        if self.log.conflicting_calls.is_some() {
            all.push("different calls have the same identifier".to_owned());
        }
        if self.log.cut_off_calls > 0 {
            all.push("the log ends within a call".to_owned());
        }
        let unseen = self.findings.iter().filter(|finding| finding.verdict.holds() && !finding.warnings.is_empty());
        all.extend(unseen.map(|finding| format!("rule {}: {}", finding.rule.id, finding.warnings.join(", "))));
        all
    }
}
