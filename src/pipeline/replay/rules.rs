//! The user's policy, evaluated again on a journal.

use std::collections::BTreeSet;

use super::verification::Verification;
use crate::journal::ArtifactStore;
use crate::pipeline::policy::RuleMonitor;
use crate::pipeline::records::{Draft, Entry, Record, RuleEnd, RunEvent, StoredFile, Violation, to_value};

/// The policy in force after the events so far.
pub(super) struct Rules {
    store: Option<ArtifactStore>,
    /// `None` if there is no policy, or if it cannot be evaluated.
    watch: Option<RuleMonitor>,
    /// Whether there is a policy.
    is_set: bool,
}

impl Rules {
    /// Before the first event. The store holds the text of the policy and those of answers.
    pub(super) fn new(store: Option<ArtifactStore>) -> Self {
        Self { store, watch: None, is_set: false }
    }

    /// Whether there is a policy that cannot be evaluated.
    pub(super) fn unknown(&self) -> bool {
        self.is_set && self.watch.is_none()
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
        let watched = || {
            let store = self.store.as_ref().ok_or("its text is kept in artifacts/, which is not beside the journal")?;
            let mut watch = RuleMonitor::of(&stored, store).map_err(|e| e.to_string())?;
            watch.catch_up(before).map_err(|e| e.to_string())?;
            Ok::<_, String>(watch)
        };
        match watched() {
            Ok(watch) => self.watch = Some(watch),
            Err(why) => self.lose(&why, verification),
        }
    }

    fn lose(&mut self, why: &str, verification: &mut Verification) {
        self.watch = None;
        verification.unverified.push(format!("the rules of the run's policy: {why}"));
    }

    /// Evaluates the rules on the next event, and checks a violation that it reports.
    pub(super) fn follow(&mut self, entry: &Entry, verification: &mut Verification) {
        if let RunEvent::RuleViolated(violation) = &entry.event {
            self.violation(entry, violation, verification);
        }
        if let Some(watch) = &mut self.watch
            && let Err(why) = watch.follow(entry)
        {
            let why = format!("event {}: {why}", entry.seq);
            self.lose(&why, verification);
        }
    }

    fn violation(&self, event: &Entry, told: &Violation, verification: &mut Verification) {
        let rule = &told.rule;
        let Some(watch) = &self.watch else {
            if !self.is_set {
                verification.object(
                    "policy",
                    event.seq,
                    format!("`{rule}` is reported as violated, and the run has no policy"),
                );
            }
            return;
        };
        if told.policy != *watch.policy() {
            let text = format!("`{rule}` is reported as violated by a policy that was not in force");
            verification.object("policy", event.seq, text);
            return;
        }
        match watch.open().iter().find(|open| open.rule == *rule) {
            None => {
                let text = format!(
                    "`{rule}` is reported as violated; by the events before it, it is not, or was reported already"
                );
                verification.object("policy", event.seq, text);
            }
            Some(open) => verification.compare("policy", event, &VIOLATION, &to_value(open)),
        }
    }

    /// Ends a group: every violation in it has to be journaled in it.
    pub(super) fn end(&mut self, last: &Entry, verification: &mut Verification) {
        for open in self.watch.iter_mut().flat_map(RuleMonitor::take_open) {
            let text = format!(
                "`{}` [{}] is violated by event {}, and no rule_violated reports it",
                open.rule, open.severity, open.culprit
            );
            verification.object("policy", last.seq, text);
        }
    }

    /// The verdicts on the rules if the journal ended after these records.
    pub(super) fn ends(&self, before: &[Entry], records: &[Record]) -> Result<Vec<RuleEnd>, String> {
        let Some(watch) = &self.watch else { return Ok(Vec::new()) };
        let draft = Draft::after(before).ok_or("a clock cannot be read")?;
        watch.ends(draft, records).map_err(|(seq, why)| format!("event {seq}: {why}"))
    }
}

/// The fields of a violation that follow: all but the words.
const VIOLATION: [&str; 6] = ["rule", "severity", "formula", "culprit", "policy", "untrusted"];

/// Compares `rules` of `run_finished` with the recomputed verdicts.
pub(super) fn compare_ends(verification: &mut Verification, seq: u64, told: &[RuleEnd], follows: &[RuleEnd]) {
    let names: BTreeSet<&str> = told.iter().chain(follows).map(|end| end.rule.as_str()).collect();
    for name in names {
        let of = |all: &'_ [RuleEnd]| all.iter().find(|end| end.rule == name).cloned();
        let words = |end: &Option<RuleEnd>| match end {
            None => "no rule of the policy".to_owned(),
            Some(end) => {
                let never = if end.never_evaluated { ", never evaluated" } else { "" };
                let forbade = if end.forbade_approval { ", and forbade the approval" } else { "" };
                let owed = end.owed.as_ref().map_or_else(String::new, |owed| format!(", residual: {owed}"));
                format!("{} [{}]{never}{forbade}{owed}", end.verdict, end.severity)
            }
        };
        let (told, follows) = (of(told), of(follows));
        if words(&told) != words(&follows) {
            let text = format!("`rules` says of `{name}`: {}; it follows: {}", words(&told), words(&follows));
            verification.object("policy", seq, text);
        }
    }
}
