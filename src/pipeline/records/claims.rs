//! What a lifeline publishes about its result: the field `claims` of `attempt_finished` and `claims_restored`. The guards
//! read it as `@model_check.claims.module`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::Sha;

/// The claims of a node. The variants differ in their fields, so JSON needs no tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Claims {
    InformalSpec(InformalClaims),
    Formalize(FormalizeClaims),
    Validate(ValidateClaims),
    GenerateInvariants(MergeClaims),
    StepContracts(ContractClaims),
    ModelCheck(CheckClaims),
    Review(ReviewClaims),
    SecondReading(SecondReadingClaims),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InformalClaims {
    /// The informal specification could be read.
    pub readable: bool,
    /// The number of the informal specification in the run.
    pub answer: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormalizeClaims {
    /// The number of the informal specification that the module was made from.
    pub made_from: u32,
    /// The module without properties and translation.
    pub source: Option<Sha>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateClaims {
    /// Translator and parser accept the module.
    pub accepted: bool,
    /// The module without properties and translation.
    pub source: Option<Sha>,
}

/// Claims of `generate_invariants`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeClaims {
    /// Module, properties and configuration parse together.
    pub accepted: bool,
    /// The module with its properties.
    pub module: Option<Sha>,
    /// The configuration.
    pub cfg: Option<Sha>,
}

/// Claims of `step_contracts`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContractClaims {
    /// The specification with its contracts parses.
    pub accepted: bool,
    /// The module with properties and contracts.
    pub module: Option<Sha>,
    /// The configuration with the contracts.
    pub cfg: Option<Sha>,
    /// The module with its properties that the contracts were added to.
    pub made_from: Option<Sha>,
    /// The configuration that the contracts were added to.
    pub made_from_cfg: Option<Sha>,
}

/// Claims of `model_check`; all `None` if there is no check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckClaims {
    /// The module that was checked.
    pub module: Option<Sha>,
    /// The configuration that was checked.
    pub cfg: Option<Sha>,
    /// `holds`, `violated`, `invalid` or `inconclusive`.
    pub verdict: Option<String>,
    /// All states were explored.
    pub complete: Option<bool>,
    /// More than the initial states was explored.
    pub moved: Option<bool>,
    /// `TypeOK` was checked.
    pub type_ok: Option<bool>,
    /// The number of witnesses, without those that hold in the initial states.
    pub witnesses: Option<usize>,
    /// The number of witnesses that were not reached.
    pub unreached: Option<usize>,
    /// There is a counterexample.
    pub trace: Option<bool>,
    /// The property that is violated.
    pub violated: Option<String>,
}

/// Claims of `review`: the files that it was given, and how much it leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewClaims {
    /// The module without properties and translation.
    pub source: Option<Sha>,
    /// The module with its properties.
    pub module: Option<Sha>,
    /// The configuration.
    pub cfg: Option<Sha>,
    /// Steps that the informal specification changes without a flaw to repair.
    pub changed_steps: usize,
    /// Checked properties that cover a requirement.
    pub covering: usize,
    /// Checked properties that are true by definition.
    pub constantly_true: usize,
    /// Actions never taken that the review does not accept; `None` without coverage.
    pub dead_actions: Option<usize>,
    /// Lines of the configuration that the review does not accept.
    pub unaccepted_cfg: usize,
    /// Requirements that nothing covers and that the review does not accept.
    pub uncovered: usize,
    /// Open points whose reading the review does not accept.
    #[serde(default)]
    pub unaccepted_open_points: usize,
    /// Assumptions that the review does not accept.
    #[serde(default)]
    pub unaccepted_assumptions: usize,
    /// Normative sentences without an account that the review does not accept.
    #[serde(default)]
    pub unaccounted_sentences: usize,
    /// Properties that no blind reader has read, or whose blind reading the review does not accept.
    #[serde(default)]
    pub unaccepted_readings: usize,
    /// Steps without a contract that was checked, unless the review accepts that.
    #[serde(default)]
    pub steps_without_contract: usize,
    /// Mutants that the checked properties do not notice and that the review does not accept.
    #[serde(default)]
    pub unaccepted_survivors: usize,
    /// Larger bounds with which a property is violated, or that were not decided or not tried, and that the review does not accept.
    #[serde(default)]
    pub unaccepted_bounds: usize,
    /// Changes since the baseline that the review does not accept.
    pub unnamed_changes: usize,
    /// Files that the reviewer had to read and did not.
    pub unread: usize,
    /// The claim of a flaw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<FlawClaims>,
}

/// What a review claims of a flaw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlawClaims {
    /// Requirement, property and steps are named.
    pub described: bool,
    /// The property.
    pub property: String,
    /// It is violated and has a counterexample, but another one was found violated first.
    #[serde(default)]
    pub further: bool,
    /// It covers the requirement.
    pub covers_requirement: bool,
    /// It has not changed since it was first found violated.
    pub property_unchanged: bool,
    /// Bounds of the model that may cause the trace.
    pub only_bounds: usize,
    /// Fairness may exclude the trace.
    pub unfair: bool,
    /// Steps without a line of the documents.
    pub unmapped_steps: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondReadingClaims {
    /// It agrees that the requirement breaks.
    pub agrees: bool,
    /// It breaks only under the reading of an open point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateClaims {
    /// See [`Candidate::points`](super::candidates::Candidate::points).
    pub points: u64,
    /// The module without properties and translation.
    pub source: Option<Sha>,
    /// The module as the tools accepted it.
    pub module: Option<Sha>,
    /// The configuration.
    pub cfg: Option<Sha>,
    /// The tools accepted it.
    pub accepted: bool,
    /// The verdict of its check.
    pub verdict: Option<String>,
}
