//! What requirements a run's properties cover, and what of either has changed since it was first checked or violated.

use std::collections::BTreeMap;

use super::node_name::Review;
use super::records::{CheckRecord, ConfirmedFlaw, CoveredRequirement, FirstViolated};
use super::view::RunView;
use crate::prompt::Requirement;
use crate::tla::{ASSERTION, Change, covers_key};

/// White space says nothing.
fn wording(requirement: &Requirement) -> String {
    requirement.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl RunView {
    /// Requirements with the properties of the last accepted merge that say they cover them; those that the last check of
    /// what stands now decided are told apart from the others.
    pub fn covered_requirements(&self) -> Vec<CoveredRequirement> {
        let check = self.fresh_check();
        let asserts = self.check().is_some_and(CheckRecord::asserts);
        let decided = |name: &String| (asserts || name != ASSERTION) && check.is_some_and(|check| check.decided(name));
        let covered = |requirement: &Requirement| {
            let claims =
                self.covers.iter().filter(|(_, ids)| ids.contains(&requirement.id)).map(|(name, _)| name.clone());
            let (covered_by, claimed_by) = claims.partition(decided);
            CoveredRequirement { requirement: requirement.clone(), covered_by, claimed_by }
        };
        self.requirements.iter().map(covered).collect()
    }

    /// The confirmed flaw that the revision in work descends from: its own, its parent's, or that of one before.
    pub fn confirmed_before(&self) -> Option<&ConfirmedFlaw> {
        let mut at = self.parent;
        while let Some(rev) = at {
            if let Some(flaw) = self.confirmed.get(&rev) {
                return Some(flaw);
            }
            at = self.revisions.iter().find(|r| r.revision == rev).and_then(|r| r.parent);
        }
        None
    }

    /// What of a violated property, as it stands now, is not as it stood when its violation was first known.
    pub fn changed_since_violated(&self, name: &str) -> Vec<String> {
        let (Some(first), Some(now)) = (self.first_violated.get(name), self.as_violated(name)) else {
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

    /// A property of the last check, with what it covers and how that is worded now.
    pub(super) fn as_violated(&self, name: &str) -> Option<FirstViolated> {
        let ids = self.covers.get(name).map(Vec::as_slice).unwrap_or_default();
        let covered = self.requirements.iter().filter(|r| ids.contains(&r.id));
        Some(FirstViolated {
            text: self.check()?.checked.get(name).cloned(),
            covered: covered.map(|r| (r.id.clone(), wording(r))).collect(),
        })
    }

    /// What a review accepts by name stands as it is now, for the claims of later ones.
    pub(super) fn accept_violated(&mut self, review: &Review) {
        for name in self.first_violated.keys().cloned().collect::<Vec<_>>() {
            let (Some(now), Some(first)) = (self.as_violated(&name), self.first_violated.get_mut(&name)) else {
                continue;
            };
            if review.accepts_change(&name) {
                first.text = now.text;
            }
            if review.accepts_change(&covers_key(&name)) {
                first.covered.retain(|id, _| now.covered.contains_key(id));
                for (id, text) in &now.covered {
                    first.covered.entry(id.clone()).or_insert_with(|| text.clone());
                }
            }
            for (id, text) in now.covered {
                if review.accepts_change(&id) && first.covered.contains_key(&id) {
                    first.covered.insert(id, text);
                }
            }
        }
    }

    /// What differs from what was first checked: in the last check, and in the requirements as they stand now.
    pub fn changes(&self) -> Vec<Change> {
        let check = self.check();
        check.map(|check| self.baseline.changes(&self.with_requirements(&check.checked))).unwrap_or_default()
    }

    /// What a verdict rests on, and the wording of what it is to show. A name that both have stands for both.
    pub(super) fn with_requirements(&self, checked: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = checked.clone();
        for requirement in &self.requirements {
            let text = wording(requirement);
            let both = all.remove(&requirement.id).map(|known| format!("{known}\n{text}"));
            all.insert(requirement.id.clone(), both.unwrap_or(text));
        }
        all
    }
}
