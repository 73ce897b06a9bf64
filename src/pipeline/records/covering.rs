//! Which requirements the properties of a run cover, and what has changed since they were first checked or violated.

use super::check::CheckRecord;
use super::review_history::ConfirmedFlaw;
use super::revision::CoveredRequirement;
use super::view::RunView;
use crate::prompt::Requirement;
use crate::tla::{ASSERTION, Change};

impl RunView {
    /// Each requirement with the properties of the last accepted merge that say they cover it. Properties that the last
    /// check of the current files decided are listed apart from the others.
    pub fn covered_requirements(&self) -> Vec<CoveredRequirement> {
        let specification = &self.specification;
        let check = self.fresh_check();
        let asserts = self.check().is_some_and(CheckRecord::asserts);
        let decided = |name: &String| {
            (asserts || name != ASSERTION)
                && check.is_some_and(|check| {
                    // A violation shows that the property can be false.
                    let is_vacuous =
                        check.why_vacuous(name).is_some() && !check.violated_names().any(|broken| broken == name);
                    check.decided(name) && !is_vacuous
                })
        };
        let covered = |requirement: &Requirement| {
            let covers = specification.covers.iter().filter(|(_, ids)| ids.contains(&requirement.id));
            let (covered_by, claimed_by) = covers.map(|(name, _)| name.clone()).partition(decided);
            CoveredRequirement { requirement: requirement.clone(), covered_by, claimed_by }
        };
        specification.requirements.iter().map(covered).collect()
    }

    /// The confirmed flaw that the revision in work descends from, the nearest one first.
    pub fn inherited_flaw(&self) -> Option<&ConfirmedFlaw> {
        let mut ancestor = self.parent;
        while let Some(revision) = ancestor {
            if let Some(flaw) = self.reviews.confirmed_flaw(revision) {
                return Some(flaw);
            }
            ancestor = self.revisions.iter().find(|r| r.revision == revision).and_then(|r| r.parent);
        }
        None
    }

    /// The names that differ between a violated property as it is now and as it was when its violation was first known.
    pub fn changed_since_violated(&self, name: &str) -> Vec<String> {
        self.checks.changed_since_violated(self.rev, name, &self.specification)
    }

    /// What differs from what tools first accepted: in the texts that were merged or checked last, and in the current
    /// requirements.
    pub fn changes_since_baseline(&self) -> Vec<Change> {
        self.checks.changes(&self.specification)
    }
}
