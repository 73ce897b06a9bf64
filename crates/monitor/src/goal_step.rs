//! The step that an objective's automaton takes for one closed revision.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tlaforge_temporal::PredicateResult;

/// The value of a predicate at one revision.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredicateValue {
    pub holds: bool,
    /// `None` if the revision lacks a metric of the predicate.
    pub robustness: Option<f64>,
}

impl PredicateValue {
    pub(super) fn named(PredicateResult { name, holds, robustness }: PredicateResult<'_>) -> (String, Self) {
        (name.to_owned(), Self { holds, robustness: finite(robustness) })
    }
}

/// JSON has no infinite numbers and no NaN.
pub(super) fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

/// The step for one revision, after the revisions before it on its line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalStep {
    /// The predicates that decided the step.
    pub predicates: BTreeMap<String, PredicateValue>,
    /// The state of the automaton after the step.
    pub state: usize,
    /// Whether the revisions so far satisfy the goal.
    pub met: bool,
    /// Whether they satisfy it and the automaton is in a goal state: a later revision can at most lose the goal for good.
    pub goal: bool,
    /// Whether no further revisions can satisfy the goal.
    pub trap: bool,
    /// The least number of revisions until the goal is reached; `None` if it cannot be.
    pub distance: Option<u32>,
    /// How near the step came to progress: positive if it made progress.
    pub nearness: Option<f64>,
    pub reward: f64,
    /// The sum of the rewards up to here on this line.
    pub total_reward: f64,
    /// The step that the revision would take as the first of a line.
    pub alone: FirstStep,
}

/// The step of a revision as if it were the first: its value by itself, whatever came before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstStep {
    /// As [`GoalStep::distance`].
    pub distance: Option<u32>,
    /// As [`GoalStep::nearness`]; `None` for goals such as `G (a -> F b)`, which require nothing at first.
    pub nearness: Option<f64>,
}

impl GoalStep {
    /// Orders revisions by how near they are to the goal, the nearest greatest: first by their lines, traps last, then by
    /// the revisions alone.
    pub fn compare(&self, other: &Self) -> Ordering {
        let near = |distance: Option<u32>| Reverse(distance.unwrap_or(u32::MAX));
        let nearness = |step: &Self| step.alone.nearness.unwrap_or(f64::NEG_INFINITY);
        (!self.trap, near(self.distance), near(self.alone.distance))
            .cmp(&(!other.trap, near(other.distance), near(other.alone.distance)))
            .then(nearness(self).total_cmp(&nearness(other)))
    }
}
