//! The bounds of a check: everything that limits what its verdict says.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bounds that every positive verdict names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Constant assignments of the configuration, name to TLA+ text.
    pub constants: BTreeMap<String, String>,
    /// State and action constraints by name.
    pub constraints: Vec<String>,
    /// The VIEW, if any.
    pub view: Option<String>,
    /// The SYMMETRY sets, if any.
    pub symmetry: Vec<String>,
    /// Properties that were checked in the initial states only, because they have no temporal operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initial_state_properties: Vec<String>,
    /// Parts of properties that were checked in the initial states only, in the form in which a review accepts them:
    /// `PROPERTY Live (initial states only: x = 0)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initial_state_parts: Vec<String>,
    /// What the specification assumes besides its actions and their fairness, in the form in which a review accepts it:
    /// `Spec assumes []<>(x = 0)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Whether a state without successor counts as an error.
    pub deadlock_checked: bool,
    /// The configuration gives no behaviour, so only assumptions were checked and no state was explored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumptions_only: bool,
    /// Steps that are, or may be, possible in every reachable state, so that no deadlock can occur. The toolchain asks
    /// for them only if the absence of deadlocks covers a requirement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always_enabled: Vec<String>,
    /// Premises of properties that cover a requirement, if no reachable state is known to satisfy them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vacuous_premises: Vec<String>,
    /// Vacuous properties that cover a requirement, by name, with the reason: the requirement counts as not checked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vacuous_properties: BTreeMap<String, String>,
    /// Properties that cover a requirement and for which no violating state is known, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_falsified: Vec<String>,
    /// TLC's estimate of the probability that a fingerprint collision hid states (the larger of its two figures).
    pub collision_probability: Option<f64>,
    /// The cases of step contracts that no reachable step is known to take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untaken_cases: Vec<UntakenCase>,
}

/// A case of what the documents say a step does, which no reachable step is known to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntakenCase {
    /// The label of the step.
    pub step: String,
    /// The text of the case in the contract.
    pub case: String,
    /// Its line in the module that was checked, from 1.
    pub line: usize,
    /// Why it is not known whether a step takes it; absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

impl UntakenCase {
    /// The case with its line: `` `C_Refused(self)` (line 88) ``.
    pub fn words(&self) -> String {
        let Self { case, line, undecided, .. } = self;
        let quoted = if case.contains('`') { case.clone() } else { format!("`{case}`") };
        match undecided {
            None => format!("{quoted} (line {line})"),
            Some(why) => format!("{quoted} (line {line}; not decided: {why})"),
        }
    }
}
