//! The metrics of the closed revisions, and the steps of the run's objective over them.

use std::collections::BTreeMap;

use super::metric_definitions::known_metrics;
use super::metrics::{Metrics, ObjectiveStep};
use super::revision::Revision;
use crate::monitor::{GoalStep, RunObjective};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObjectiveProgress {
    pub metrics: BTreeMap<u32, Metrics>,
    /// The step at each closed revision, on its own line of revisions.
    steps: BTreeMap<u32, GoalStep>,
}

impl ObjectiveProgress {
    pub fn metrics_of(&self, revision: u32) -> Option<&Metrics> {
        self.metrics.get(&revision)
    }

    pub(super) fn step(&self, revision: u32) -> Option<&GoalStep> {
        self.steps.get(&revision)
    }

    pub(super) fn step_with_metrics(&self, revision: u32) -> Option<ObjectiveStep> {
        let step = self.step(revision)?.clone();
        Some(ObjectiveStep { metrics: self.metrics_of(revision)?.clone(), step })
    }

    /// The step at a revision with these metrics that follows a line of closed revisions.
    pub(super) fn step_after(
        &self,
        objective: &RunObjective,
        line: &[&Revision],
        metrics: &Metrics,
    ) -> Option<GoalStep> {
        let trace = line.iter().filter_map(|r| self.metrics_of(r.revision)).chain([metrics]);
        objective.steps(&known_metrics(), trace).pop()
    }

    /// Adds a closed revision. `line` is that of its parent.
    pub(super) fn close_revision(
        &mut self,
        objective: Option<&RunObjective>,
        line: &[&Revision],
        revision: u32,
        metrics: Metrics,
    ) {
        if let Some(step) = objective.and_then(|objective| self.step_after(objective, line, &metrics)) {
            self.steps.insert(revision, step);
        }
        self.metrics.insert(revision, metrics);
    }

    pub(super) fn forget_steps(&mut self) {
        self.steps.clear();
    }
}
