//! A closed revision, and the end of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ambiguity::Decision;
use super::artifacts::file;
use super::metrics::ObjectiveStep;
use super::mutants::{MutantSample, Strengthened};
use super::policy_events::RuleEnd;
use super::product::Feedback;
use super::rank::RevisionRank;
use super::spending::Spent;
use crate::journal::Sha;
use crate::pipeline::machine::{NodeName, Outcome, StopReason};
use crate::prompt::{Assumption, NormativeSentence, OpenPoint, Requirement};
use crate::tla::CheckOutcome;
use crate::tla::StepContract;

/// A closed revision. Its `meta.json` and the report show the requirements with their status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// The number, unique in the run.
    pub revision: u32,
    /// The revision that it was made from.
    pub parent: Option<u32>,
    /// How many revisions precede it on its branch.
    pub branch_index: u32,
    /// An outcome of the run, or `revised`.
    #[schemars(extend("enum" = outcome_names()))]
    pub outcome: String,
    /// The node that the run went to.
    pub routed_to: Option<NodeName>,
    pub why: String,
    pub requirements: Vec<CoveredRequirement>,
    /// Questions that the documents leave open, with the readings that its model takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_points: Vec<OpenPoint>,
    /// What its model takes for granted or leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
    /// The sentences of the documents that demand something, with their accounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normative_sentences: Vec<NormativeSentence>,
    /// The name of its module, if it is not `Spec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Readings that a person decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// The contracts of its steps; `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contracts: Option<Vec<StepContract>>,
    /// The check of its files; `None` without one.
    pub check: Option<CheckOutcome>,
    pub rank: RevisionRank,
    /// Attempts by node.
    pub attempts: BTreeMap<String, u32>,
    /// Models that answered.
    pub models: Vec<String>,
    pub spent: Spent,
    #[serde(default)]
    pub spent_by_node: BTreeMap<String, Spent>,
    /// What the review left open.
    pub open_feedback: Vec<Feedback>,
    /// Files that a person edited before the branch began.
    pub edited: Vec<String>,
    /// Its artifacts by name: the files in `history/rev_N/`, and internal ones.
    pub hashes: BTreeMap<String, Sha>,
    /// The protocol was changed after a flaw.
    pub repaired: bool,
    /// It takes the other reading of an open point, because a requirement broke under the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_reading: bool,
    /// The mutants that were judged before its review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strengthened: Option<Strengthened>,
    /// What a sample of its mutants shows, if it was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant_sample: Option<MutantSample>,
    /// Its step of the objective, if the run has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveStep>,
}

impl Revision {
    /// The name of its module, after which its files are named.
    pub fn module_name(&self) -> &str {
        self.module.as_deref().unwrap_or(file::DEFAULT_MODULE)
    }

    /// Whether a requirement broke under one reading, in this revision or before it, and the reading was not decided.
    pub fn has_open_question(&self) -> bool {
        let is_asked = self.outcome == Outcome::AmbiguityFound.name();
        is_asked || self.other_reading || self.open_feedback.iter().any(Feedback::is_other_reading)
    }
}

/// All values of [`Revision::outcome`].
fn outcome_names() -> Vec<&'static str> {
    Outcome::ALL.iter().map(|outcome| outcome.name()).chain(["revised"]).collect()
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

/// A requirement with the properties that say they cover it; what readers see is its
/// [`RequirementStatus`](super::RequirementStatus).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredRequirement {
    #[serde(flatten)]
    pub requirement: Requirement,
    /// Properties that say they cover it and that the last check of exactly these files decided.
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
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    pub outcome: Outcome,
    /// Why the run was stopped.
    #[serde(default)]
    pub reason: Option<StopReason>,
    pub why: String,
    /// The revision whose files are at the top of the run folder.
    #[serde(default)]
    pub best: Option<u32>,
    /// The verdicts on the rules of the user's policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleEnd>,
}
