//! The checks of a run, and the texts that later checks are compared with: the baseline, and each property as it was when
//! a check first found it violated.

use std::collections::BTreeMap;

use super::artifacts::file;
use super::check::CheckRecord;
use super::product::Facts;
use super::specification::Specification;
use crate::pipeline::machine::Review;
use crate::tla::{Baseline, Change, CheckOutcome, covers_key};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckHistory {
    /// The last check of each revision.
    by_revision: BTreeMap<u32, CheckRecord>,
    texts: ComparedTexts,
    /// The texts at the close of each revision: a branch continues from those of its parent.
    texts_at_close: BTreeMap<u32, ComparedTexts>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct ComparedTexts {
    /// The first text under each name that tools accepted, checked or not.
    baseline: Baseline,
    /// The texts that were merged or checked last.
    latest: Option<BTreeMap<String, String>>,
    first_violated: BTreeMap<String, FirstViolated>,
}

/// A property as it was when a check first found it violated. A claim of a flaw must not be fitted to the violation
/// afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FirstViolated {
    /// `None` for a violation without a text of its own (`Deadlock`).
    text: Option<String>,
    /// The requirements that it covered, by number with their wording.
    covered: BTreeMap<String, String>,
}

/// The checks of a revision before properties on trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SavedChecks {
    check: Option<CheckRecord>,
    texts: ComparedTexts,
}

impl CheckHistory {
    pub(super) fn last(&self, revision: u32) -> Option<&CheckRecord> {
        self.by_revision.get(&revision)
    }

    /// The outcome of the last check of a revision, if it was of exactly the current module and configuration.
    pub(super) fn fresh(&self, revision: u32, specification: &Specification) -> Option<&CheckOutcome> {
        let check = self.last(revision)?;
        let is_of = |name, sha| specification.artifact(name) == Some(sha);
        (is_of(file::MODULE, &check.module) && is_of(file::CFG, &check.cfg)).then_some(&check.outcome)
    }

    pub(super) fn set(&mut self, revision: u32, check: CheckRecord) {
        self.by_revision.insert(revision, check);
    }

    /// Learns the texts of what a node made. What is trimmed before the first check ends is weakened, too, so the
    /// baseline does not wait for it.
    pub(super) fn absorb(&mut self, facts: &Facts, specification: &Specification) {
        match facts {
            Facts::Informal { .. } => self.texts.baseline.add_draft(&specification.with_requirements(&BTreeMap::new())),
            Facts::Validated { texts } => self.texts.baseline.add_draft(texts),
            Facts::Merged { texts, .. } | Facts::Contracted { texts, .. } if !texts.is_empty() => {
                self.add_texts(texts, specification);
            }
            _ => {}
        }
    }

    fn add_texts(&mut self, texts: &BTreeMap<String, String>, specification: &Specification) {
        self.texts.baseline.absorb(&specification.with_requirements(texts));
        self.texts.latest = Some(texts.clone());
    }

    pub(super) fn add(&mut self, revision: u32, check: &CheckRecord, specification: &Specification) {
        self.add_texts(&check.checked, specification);
        self.set(revision, check.clone());
        for name in check.outcome.violated_names() {
            if let Some(now) = self.as_violated(revision, name, specification) {
                self.texts.first_violated.entry(name.to_owned()).or_insert(now);
            }
        }
    }

    /// The last check stays the last one of another revision until that has its own. It belongs to the files that it
    /// saw: the guards compare hashes, so a changed module makes it stale.
    pub(super) fn carry_over(&mut self, from: u32, to: u32) {
        if let Some(check) = self.last(from).cloned() {
            self.set(to, check);
        }
    }

    pub(super) fn begin_branch(&mut self, parent: u32, revision: u32) {
        if let Some(texts) = self.texts_at_close.get(&parent).cloned() {
            self.texts = texts;
        }
        self.carry_over(parent, revision);
    }

    pub(super) fn close_revision(&mut self, revision: u32) {
        self.texts_at_close.insert(revision, self.texts.clone());
    }

    /// The changes since the baseline: in the texts that were merged or checked last, and in the current requirements.
    pub(super) fn changes(&self, specification: &Specification) -> Vec<Change> {
        let latest = self.texts.latest.as_ref();
        let now = latest.map(|texts| specification.with_looked_up_requirements(texts));
        now.map(|now| self.texts.baseline.changes(&now)).unwrap_or_default()
    }

    /// The names that differ between a violated property as it is now and as it was when its violation was first known:
    /// its own if its text changed, that of its coverage, and the requirements that were reworded.
    pub(super) fn changed_since_violated(
        &self,
        revision: u32,
        name: &str,
        specification: &Specification,
    ) -> Vec<String> {
        let now = self.as_violated(revision, name, specification);
        let (Some(first), Some(now)) = (self.texts.first_violated.get(name), now) else {
            return vec![name.to_owned()];
        };
        let mut changed = Vec::new();
        if first.text != now.text {
            changed.push(name.to_owned());
        }
        if !first.covered.keys().eq(now.covered.keys()) {
            changed.push(covers_key(name));
        }
        let reworded = now.covered.iter().filter(|(id, text)| first.covered.get(*id).is_some_and(|was| was != *text));
        changed.extend(reworded.map(|(id, _)| id.clone()));
        changed
    }

    /// A property of the last check, with the requirements that it covers and their current wording.
    fn as_violated(&self, revision: u32, name: &str, specification: &Specification) -> Option<FirstViolated> {
        let text = self.last(revision)?.checked.get(name).cloned();
        Some(FirstViolated { text, covered: specification.covered_by(name) })
    }

    /// What a review accepts by name is, from now on, what later checks and claims of a flaw are compared with.
    pub(super) fn accept(&mut self, revision: u32, review: &Review, specification: &Specification) {
        if let Some(latest) = &self.texts.latest {
            let now = specification.with_looked_up_requirements(latest);
            let changed = self.texts.baseline.changes(&now).into_iter().map(|change| change.name);
            let accepted: Vec<String> = changed.filter(|name| review.accepts_change(name)).collect();
            self.texts.baseline.accept(accepted, &now);
        }
        for name in self.texts.first_violated.keys().cloned().collect::<Vec<_>>() {
            if let Some(now) = self.as_violated(revision, &name, specification)
                && let Some(first) = self.texts.first_violated.get_mut(&name)
            {
                first.accept(&name, now, review);
            }
        }
    }

    pub(super) fn save(&self, revision: u32) -> SavedChecks {
        SavedChecks { check: self.last(revision).cloned(), texts: self.texts.clone() }
    }

    pub(super) fn restore(&mut self, revision: u32, saved: SavedChecks) {
        let SavedChecks { check, mut texts } = saved;
        let was_checked = |name: &String| check.as_ref().is_some_and(|record| record.checked.contains_key(name));
        // A property that is new with the trial stays known as violated, so that no flaw is fitted to it later.
        for (name, first) in std::mem::take(&mut self.texts.first_violated) {
            if !was_checked(&name) {
                texts.first_violated.entry(name).or_insert(first);
            }
        }
        self.texts = texts;
        match check {
            Some(check) => self.by_revision.insert(revision, check),
            None => self.by_revision.remove(&revision),
        };
    }
}

impl FirstViolated {
    fn accept(&mut self, name: &str, now: FirstViolated, review: &Review) {
        if review.accepts_change(name) {
            self.text = now.text;
        }
        if review.accepts_change(&covers_key(name)) {
            self.covered.retain(|id, _| now.covered.contains_key(id));
            for (id, text) in &now.covered {
                self.covered.entry(id.clone()).or_insert_with(|| text.clone());
            }
        }
        for (id, text) in now.covered {
            if review.accepts_change(&id) && self.covered.contains_key(&id) {
                self.covered.insert(id, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn merged(entries: &[(&str, &str)]) -> Facts {
        Facts::Merged { covers: BTreeMap::new(), texts: texts(entries) }
    }

    #[test]
    fn what_is_trimmed_before_the_first_check_is_a_change() {
        let specification = Specification::default();
        let mut history = CheckHistory::default();
        let mut changed = |facts: &Facts| -> Vec<String> {
            history.absorb(facts, &specification);
            history.changes(&specification).into_iter().map(|change| change.name).collect()
        };
        let fair = ("FAIRNESS", "PlusCal: fair process");
        assert_eq!(changed(&Facts::Validated { texts: texts(&[fair]) }), [""; 0]);
        let whole = [fair, ("N", "3"), ("Safe", "Safe == x = 1"), ("CONSTRAINT", "Small == x < 9")];
        // What restricts the first configuration is part of the first specification.
        assert_eq!(changed(&merged(&whole)), [""; 0]);
        assert_eq!(changed(&merged(&[fair, ("N", "2"), whole[3]])), ["N", "Safe"]);
        assert_eq!(changed(&merged(&whole[1..])), ["FAIRNESS"]);
        assert_eq!(changed(&merged(&[&whole[..], &[("VIEW", "V == x")][..]].concat())), ["VIEW"]);
        // A version that tools refuse is no version.
        assert_eq!(changed(&Facts::Rejected { diagnostics: Vec::new() }), ["VIEW"]);
        assert_eq!(changed(&merged(&whole)), [""; 0]);
    }
}
