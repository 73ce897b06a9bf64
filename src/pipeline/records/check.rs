//! The record of one model check.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::Sha;
use crate::tla::{ASSERTION, CheckOutcome, Verdict};

/// A check with what it was made of (`check_finished`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRecord {
    pub outcome: CheckOutcome,
    /// The merged module.
    pub module: Sha,
    pub cfg: Sha,
    /// The output of the checker.
    pub output: Sha,
    /// Every text that the verdict depends on, by name.
    pub checked: BTreeMap<String, String>,
    /// Labels or actions with an assertion that can fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asserting_definitions: Vec<String>,
    /// The searches for counterexamples without the steps of open points; `None` if nothing is violated, and in journals of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_point_searches: Option<Vec<OpenPointSearch>>,
}

/// A search for a counterexample that takes no step which rests on open points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenPointSearch {
    /// The violated property.
    pub property: String,
    /// The numbers of the open points.
    pub points: Vec<String>,
    /// Whether there is one. It is then the counterexample of the check.
    pub found: bool,
    /// Whether the search decided nothing, for lack of time or another reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

impl OpenPointSearch {
    /// A name of the search that no other one of the same check has.
    pub fn name(&self) -> String {
        format!("{} without {}", self.property, self.points.join(", "))
    }
}

impl CheckRecord {
    /// Whether the check reached an assertion that can fail: its action was taken, or it is the violation.
    pub fn asserts(&self) -> bool {
        let violated =
            matches!(&self.outcome.verdict, Verdict::Violated { violated } if violated.property() == Some(ASSERTION));
        violated || self.asserting_definitions.iter().any(|action| self.outcome.was_taken(action))
    }
}
