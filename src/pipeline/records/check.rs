//! The record of one model check.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::Sha;
use crate::tla::{ASSERTION, CheckOutcome, Verdict};

/// What a check saw and said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRecord {
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The merged module that was checked.
    pub module: Sha,
    /// The configuration that was checked.
    pub cfg: Sha,
    /// What the checker printed.
    pub output: Sha,
    /// All that the verdict rests on, by name.
    pub checked: BTreeMap<String, String>,
    /// Definitions under which an assertion stands that can fail: labels, actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asserting_definitions: Vec<String>,
}

impl CheckRecord {
    /// Whether an assertion that can fail stood where this check came: a taken action, or the violation itself.
    pub fn asserts(&self) -> bool {
        let violated =
            matches!(&self.outcome.verdict, Verdict::Violated { violated } if violated.property() == Some(ASSERTION));
        violated || self.asserting_definitions.iter().any(|action| self.outcome.was_taken(action))
    }
}
