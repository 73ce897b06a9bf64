//! The metrics of a closed revision, and what it came to under the run's objective.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::monitor::GoalStep;
use crate::temporal::{Record, Value};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Quantity {
    Truth(bool),
    Count(u64),
    Number(f64),
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Quantity::Truth(true) => f.write_str("yes"),
            Quantity::Truth(false) => f.write_str("no"),
            Quantity::Count(n) => n.fmt(f),
            Quantity::Number(n) => write!(f, "{}", (n * 1_000.0).round() / 1_000.0),
        }
    }
}

/// The metrics of a closed revision by name; those that are undefined are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Metrics(pub BTreeMap<String, Quantity>);

impl Metrics {
    /// The value of a metric for people.
    pub fn words(&self, name: &str) -> String {
        self.0.get(name).map_or_else(|| "undefined".to_owned(), ToString::to_string)
    }
}

impl Record for Metrics {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.0.get(name).map(|value| match value {
            Quantity::Truth(value) => Value::Bool(*value),
            #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
            Quantity::Count(n) => Value::Number(*n as f64),
            Quantity::Number(n) => Value::Number(*n),
        })
    }
}

/// The step of the objective at a closed revision (`objective` in `revision_closed`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveStep {
    #[serde(default)]
    pub metrics: Metrics,
    /// The step of the automaton.
    #[serde(flatten)]
    pub step: GoalStep,
}
