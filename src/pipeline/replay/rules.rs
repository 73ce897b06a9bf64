//! The user's policy asked again of a journal: at each event what it was asked while the run went on.

use std::collections::BTreeSet;

use super::verification::Verification;
use crate::journal::ArtifactStore;
use crate::pipeline::policy::Watch;
use crate::pipeline::records::{Draft, Entry, Record, RuleEnd, RunEvent, Stored, Violation, to_value};

/// The policy of each time on its way through a journal.
pub(super) struct Rules {
    store: Option<ArtifactStore>,
    /// There is a policy, and it can be asked.
    watch: Option<Watch>,
    /// There is a policy.
    is_set: bool,
}

impl Rules {
    /// Before the first event. The store keeps the policy's text and those of answers.
    pub(super) fn new(store: Option<ArtifactStore>) -> Self {
        Self { store, watch: None, is_set: false }
    }

    /// Whether there is a policy that cannot be asked.
    pub(super) fn unknown(&self) -> bool {
        self.is_set && self.watch.is_none()
    }

    /// Begins a group: another policy that it names is in force from its first event on, and what stands before is held
    /// against it, too.
    pub(super) fn begin(&mut self, before: &[Entry], group: &[Entry], again: &mut Verification) {
        let policy = |entry: &Entry| match &entry.event {
            RunEvent::RunStarted(settings) => settings.policy.clone(),
            RunEvent::RunResumed(changed) => changed.policy.clone(),
            RunEvent::BranchStarted(branch) => branch.changed.policy.clone(),
            _ => None,
        };
        let Some(stored): Option<Stored> = group.iter().find_map(policy) else { return };
        self.is_set = true;
        let watched = || {
            let store = self.store.as_ref().ok_or("its text is kept in artifacts/, which is not beside the journal")?;
            let mut watch = Watch::of(&stored, store).map_err(|e| e.to_string())?;
            watch.catch_up(before).map_err(|e| e.to_string())?;
            Ok::<_, String>(watch)
        };
        match watched() {
            Ok(watch) => self.watch = Some(watch),
            Err(why) => self.lose(&why, again),
        }
    }

    fn lose(&mut self, why: &str, again: &mut Verification) {
        self.watch = None;
        again.unverified.push(format!("the rules of the run's policy: {why}"));
    }

    /// Takes the next event. A violation that it tells has to be one.
    pub(super) fn follow(&mut self, entry: &Entry, again: &mut Verification) {
        if let RunEvent::RuleViolated(violation) = &entry.event {
            self.violation(entry, violation, again);
        }
        if let Some(watch) = &mut self.watch
            && let Err(why) = watch.follow(entry)
        {
            let why = format!("event {}: {why}", entry.seq);
            self.lose(&why, again);
        }
    }

    fn violation(&self, event: &Entry, told: &Violation, again: &mut Verification) {
        let rule = &told.rule;
        let Some(watch) = &self.watch else {
            if !self.is_set {
                again.object("policy", event.seq, format!("`{rule}` is told as violated, and the run has no policy"));
            }
            return;
        };
        if told.policy != *watch.policy() {
            let text = format!("`{rule}` is told as violated by a policy that was not in force");
            again.object("policy", event.seq, text);
            return;
        }
        match watch.open().iter().find(|open| open.rule == *rule) {
            None => {
                let text =
                    format!("`{rule}` is told as violated; by the events before it, it is not, or was told already");
                again.object("policy", event.seq, text);
            }
            Some(open) => again.compare("policy", event, &VIOLATION, &to_value(open)),
        }
    }

    /// Ends a group: what it violates has been told in it.
    pub(super) fn end(&mut self, last: &Entry, again: &mut Verification) {
        for open in self.watch.iter_mut().flat_map(Watch::take_open) {
            let text = format!(
                "`{}` [{}] is violated by event {}, and no rule_violated tells it",
                open.rule, open.severity, open.culprit
            );
            again.object("policy", last.seq, text);
        }
    }

    /// How the rules would stand if the journal ended behind these records.
    pub(super) fn ends(&self, before: &[Entry], records: &[Record]) -> Result<Vec<RuleEnd>, String> {
        let Some(watch) = &self.watch else { return Ok(Vec::new()) };
        let draft = Draft::after(before).ok_or("a clock cannot be read")?;
        watch.ends(draft, records).map_err(|(seq, why)| format!("event {seq}: {why}"))
    }
}

/// What of a violation follows: all but the words.
const VIOLATION: [&str; 6] = ["rule", "severity", "formula", "culprit", "policy", "untrusted"];

/// Holds `rules` of `run_finished` against how the rules stand.
pub(super) fn compare_ends(again: &mut Verification, seq: u64, told: &[RuleEnd], follows: &[RuleEnd]) {
    let names: BTreeSet<&str> = told.iter().chain(follows).map(|end| end.rule.as_str()).collect();
    for name in names {
        let of = |all: &'_ [RuleEnd]| all.iter().find(|end| end.rule == name).cloned();
        let words = |end: &Option<RuleEnd>| match end {
            None => "no rule of the policy".to_owned(),
            Some(end) => {
                let never = if end.never_evaluated { ", never asked" } else { "" };
                let forbade = if end.forbade_approval { ", and forbade the approval" } else { "" };
                let owed = end.owed.as_ref().map_or_else(String::new, |owed| format!(", still owed: {owed}"));
                format!("{} [{}]{never}{forbade}{owed}", end.verdict, end.severity)
            }
        };
        let (told, follows) = (of(told), of(follows));
        if words(&told) != words(&follows) {
            let text = format!("`rules` says of `{name}`: {}; it follows: {}", words(&told), words(&follows));
            again.object("policy", seq, text);
        }
    }
}
