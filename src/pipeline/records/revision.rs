//! A closed revision, and the end of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::metrics::ObjectiveStep;
use super::mutants::Strengthened;
use super::policy_events::RuleEnd;
use super::product::Feedback;
use super::rank::RevisionRank;
use super::spending::Spent;
use crate::journal::Sha;
use crate::pipeline::machine::{NodeName, Outcome, StopReason};
use crate::prompt::Requirement;
use crate::tla::CheckOutcome;

/// A closed revision, as in its `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// Its number, unique in the run.
    pub revision: u32,
    /// The revision it was made from.
    pub parent: Option<u32>,
    /// Its place on its branch, from 0.
    pub branch_index: u32,
    /// `approved`, `flaw_found`, …, or `revised`.
    pub outcome: String,
    /// The node that the review sent the run to.
    pub routed_to: Option<NodeName>,
    /// Why, in words.
    pub why: String,
    /// Requirements, with the properties that cover them or claim to.
    pub requirements: Vec<CoveredRequirement>,
    /// The last check, `None` where none was made.
    pub check: Option<CheckOutcome>,
    /// How it compares.
    pub rank: RevisionRank,
    /// Attempts by node.
    pub attempts: BTreeMap<String, u32>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Tokens and money of this revision.
    pub spent: Spent,
    /// The same by node.
    #[serde(default)]
    pub spent_by_node: BTreeMap<String, Spent>,
    /// What the review left open.
    pub open_feedback: Vec<Feedback>,
    /// Files that a person edited before the branch began.
    pub edited: Vec<String>,
    /// The files in `history/rev_N/`, and the internal ones, by name.
    pub hashes: BTreeMap<String, Sha>,
    /// The protocol was changed after a flaw.
    pub repaired: bool,
    /// What became of its mutants, where the run strengthens its properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strengthened: Option<Strengthened>,
    /// What it came to under the objective, where the run has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveStep>,
}

/// The closed revisions that led to this one, the oldest first and itself last.
pub(in crate::pipeline) fn lineage_of(revisions: &[Revision], revision: u32) -> Vec<&Revision> {
    let mut line = Vec::new();
    let mut next = Some(revision);
    while let Some(number) = next {
        let Some(found) = revisions.iter().find(|r| r.revision == number) else { break };
        line.push(found);
        // A parent has a smaller number. Without this filter, a forged journal could make the loop endless.
        next = found.parent.filter(|parent| *parent < number);
    }
    line.reverse();
    line
}

/// A requirement and what covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredRequirement {
    /// The requirement.
    #[serde(flatten)]
    pub requirement: Requirement,
    /// Properties that say they cover it and that the last check, of exactly this module and configuration, decided.
    pub covered_by: Vec<String>,
    /// Properties that say they cover it and that no such check decided.
    #[serde(default)]
    pub claimed_by: Vec<String>,
}

impl CoveredRequirement {
    /// All properties that say they cover it, decided or not.
    pub fn claims(&self) -> impl Iterator<Item = &String> {
        self.covered_by.iter().chain(&self.claimed_by)
    }

    /// What covers it, in words.
    pub fn words(&self) -> String {
        let claimed = format!("claimed by {}, not decided by a check of what stands now", self.claimed_by.join(", "));
        match (self.covered_by.is_empty(), self.claimed_by.is_empty()) {
            (true, true) => "NOT COVERED".to_owned(),
            (true, false) => claimed,
            (false, true) => format!("covered by {}", self.covered_by.join(", ")),
            (false, false) => format!("covered by {}; {claimed}", self.covered_by.join(", ")),
        }
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    /// How.
    pub outcome: Outcome,
    /// Why it was stopped.
    #[serde(default)]
    pub reason: Option<StopReason>,
    /// In words.
    pub why: String,
    /// The revision whose files stand at the top.
    #[serde(default)]
    pub best: Option<u32>,
    /// How the rules of the user's policy stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleEnd>,
}
