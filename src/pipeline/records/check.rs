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
}

impl CheckRecord {
    /// Whether the check reached an assertion that can fail: its action was taken, or it is the violation.
    pub fn asserts(&self) -> bool {
        let violated =
            matches!(&self.outcome.verdict, Verdict::Violated { violated } if violated.property() == Some(ASSERTION));
        violated || self.asserting_definitions.iter().any(|action| self.outcome.was_taken(action))
    }
}
