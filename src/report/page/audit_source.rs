//! What the page of an audit is made from.

use std::collections::BTreeMap;

use crate::monitor::{AuditReport, RuleFinding, Verdict};
use crate::pipeline::Verification;

/// Number of records shown for one rule.
const RECORDS: usize = 3;

/// The input of an audit page.
pub struct AuditSource<'a> {
    /// The log as the user named it, and its shape.
    pub log: &'a str,
    pub shape: &'a str,
    /// How the run of a journal ended, in words.
    pub outcome: Option<String>,
    pub audited: &'a AuditReport,
    pub verification: &'a Verification,
    /// The text of lines of the log, by number from 1; lines that could not be read again are missing.
    pub records: BTreeMap<u64, String>,
}

/// The states whose records a page shows: where rules were decided and the first ones that violate them.
pub fn cited_states(audited: &AuditReport) -> Vec<u64> {
    audited.findings.iter().flat_map(states_of).collect()
}

pub(super) fn states_of(finding: &RuleFinding) -> Vec<u64> {
    if finding.verdict.holds() {
        return Vec::new();
    }
    let decided = finding.decided_at.filter(|_| finding.verdict == Verdict::Violated);
    // A rule about the whole trace fails from every position before its violation, which says nothing.
    let failing = if finding.explained_at.is_empty() { finding.failing.as_slice() } else { &[] };
    let mut states: Vec<u64> = finding.explained_at.iter().chain(failing).copied().chain(decided).collect();
    states.sort_unstable();
    states.dedup();
    states.truncate(RECORDS);
    states
}

/// A state in words, with its line.
pub(super) fn place(audited: &AuditReport, state: u64) -> String {
    let places = &audited.log.places;
    match places.number(state) {
        Some(number) if places.is_list() => format!("state {state} (message {number})"),
        Some(line) => format!("state {state} (line {line})"),
        None => format!("state {state}"),
    }
}
