//! The user's policy, evaluated again on a journal.

use std::collections::BTreeSet;

use super::verification::Verification;
use crate::journal::ArtifactStore;
use crate::pipeline::policy::RuleMonitor;
use crate::pipeline::records::{Draft, Entry, Record, RuleEnd, RunEvent, StoredFile, Violation};

/// The policy in force after the events so far.
pub(super) struct Rules {
    store: Option<ArtifactStore>,
    /// `None` if there is no policy, or if it cannot be evaluated.
    monitor: Option<RuleMonitor>,
    /// Whether there is a policy.
    is_set: bool,
}

impl Rules {
    /// Before the first event. The store holds the text of the policy and those of answers.
    pub(super) fn new(store: Option<ArtifactStore>) -> Self {
        Self { store, monitor: None, is_set: false }
    }

    /// Whether there is a policy that cannot be evaluated.
    pub(super) fn unknown(&self) -> bool {
        self.is_set && self.monitor.is_none()
    }

    /// Begins a group: a policy that it names is in force from its first event on, and also sees the events before.
    pub(super) fn begin(&mut self, before: &[Entry], group: &[Entry], verification: &mut Verification) {
        let policy = |entry: &Entry| match &entry.event {
            RunEvent::RunStarted(settings) => settings.policy.clone(),
            RunEvent::RunResumed(changed) => changed.policy.clone(),
            RunEvent::BranchStarted(branch) => branch.changed.policy.clone(),
            _ => None,
        };
        let Some(stored): Option<StoredFile> = group.iter().find_map(policy) else { return };
        self.is_set = true;
        let loaded = || {
            let store = self.store.as_ref().ok_or("its text is kept in artifacts/, which is not beside the journal")?;
            let mut monitor = RuleMonitor::load(&stored, store).map_err(|e| e.to_string())?;
            monitor.catch_up(before).map_err(|e| e.to_string())?;
            Ok::<_, String>(monitor)
        };
        match loaded() {
            Ok(monitor) => self.monitor = Some(monitor),
            Err(why) => self.lose(&why, verification),
        }
    }

    fn lose(&mut self, why: &str, verification: &mut Verification) {
        self.monitor = None;
        verification.unverified.push(format!("the rules of the run's policy: {why}"));
    }

    /// Evaluates the rules on the next event, and checks a violation that it reports.
    pub(super) fn add_event(&mut self, entry: &Entry, verification: &mut Verification) {
        if let RunEvent::RuleViolated(violation) = &entry.event {
            self.violation(entry, violation, verification);
        }
        if let Some(monitor) = &mut self.monitor
            && let Err(why) = monitor.add_event(entry)
        {
            let why = format!("event {}: {why}", entry.seq);
            self.lose(&why, verification);
        }
    }

    fn violation(&self, event: &Entry, journaled: &Violation, verification: &mut Verification) {
        let rule = &journaled.rule;
        let Some(monitor) = &self.monitor else {
            if !self.is_set {
                verification.object(
                    "policy",
                    event.seq,
                    format!("`{rule}` is reported as violated, and the run has no policy"),
                );
            }
            return;
        };
        if journaled.policy != *monitor.policy() {
            let text = format!("`{rule}` is reported as violated by a policy that was not in force");
            verification.object("policy", event.seq, text);
            return;
        }
        match monitor.open().iter().find(|open| open.rule == *rule) {
            None => {
                let text = format!(
                    "`{rule}` is reported as violated; by the events before it, it is not, or was reported already"
                );
                verification.object("policy", event.seq, text);
            }
            Some(open) => {
                // Words can differ between releases that decide the same.
                let (meaning, why) = (journaled.meaning.clone(), journaled.why.clone());
                let recomputed = Violation { meaning, why, ..open.clone() };
                verification.compare("policy", event, &RunEvent::RuleViolated(recomputed));
            }
        }
    }

    /// Ends a group: every violation in it has to be journaled in it.
    pub(super) fn end(&mut self, last: &Entry, verification: &mut Verification) {
        for open in self.monitor.iter_mut().flat_map(RuleMonitor::take_open) {
            let text = format!(
                "`{}` [{}] is violated by event {}, and no rule_violated reports it",
                open.rule, open.severity, open.decided_at
            );
            verification.object("policy", last.seq, text);
        }
    }

    /// The verdicts on the rules if the journal ended after these records.
    pub(super) fn ends(&self, before: &[Entry], records: &[Record]) -> Result<Vec<RuleEnd>, String> {
        let Some(monitor) = &self.monitor else { return Ok(Vec::new()) };
        let draft = Draft::begin_after(before).ok_or("a clock cannot be read")?;
        monitor.ends(draft, records).map_err(|(seq, why)| format!("event {seq}: {why}"))
    }
}

/// Compares `rules` of `run_finished` with the recomputed verdicts.
pub(super) fn compare_ends(verification: &mut Verification, seq: u64, journaled: &[RuleEnd], recomputed: &[RuleEnd]) {
    let names: BTreeSet<&str> = journaled.iter().chain(recomputed).map(|end| end.rule.as_str()).collect();
    for name in names {
        // Words can differ between releases that decide the same.
        let without_words = |end: &RuleEnd| RuleEnd { meaning: String::new(), why: None, ..end.clone() };
        let select = |all: &[RuleEnd]| -> Vec<RuleEnd> {
            all.iter().filter(|end| end.rule == name).map(without_words).collect()
        };
        let (journaled, recomputed) = (select(journaled), select(recomputed));
        if journaled != recomputed {
            let text =
                format!("`rules` says of `{name}`: {}; recomputed: {}", describe(&journaled), describe(&recomputed));
            verification.object("policy", seq, text);
        }
    }
}

/// The verdicts on one rule in words.
fn describe(ends: &[RuleEnd]) -> String {
    let describe = |end: &RuleEnd| {
        let never = if end.never_evaluated { ", never evaluated" } else { "" };
        let prevented = if end.prevented_approval { ", and prevented the approval" } else { "" };
        let residual = end.residual.as_ref().map_or_else(String::new, |residual| format!(", residual: {residual}"));
        let untrusted = end.untrusted.as_ref().map_or_else(String::new, |untrusted| format!(", {}", untrusted.words()));
        format!("{} [{}]{never}{prevented}{residual}{untrusted}", end.verdict, end.severity)
    };
    if ends.is_empty() {
        "no rule of the policy".to_owned()
    } else {
        ends.iter().map(describe).collect::<Vec<_>>().join("; ")
    }
}
