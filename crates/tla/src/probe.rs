//! Results of further checker runs on one violation, as data: does it also occur under weak fairness of every action,
//! and with larger constants? The toolchain makes the runs; this file knows no tool and no outcome.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Further runs on one violation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probes {
    /// If the counterexample is infinite: the same property under weak fairness of every action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak_fairness: Option<FairnessProbe>,
    /// The same property with one numeric constant of the configuration increased by one, for each such constant in the
    /// order of their names.
    #[serde(default)]
    pub larger_constants: Vec<ConstantProbe>,
    /// Bounds for which no larger value was tried: sets, and definitions of the module that are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprobed_bounds: Vec<String>,
}

/// The violated property, checked under weak fairness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FairnessProbe {
    /// The actions that this run assumed to be weakly fair.
    pub actions: Vec<String>,
    /// Those of `actions` that combine several actions which could not be separated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsplit_actions: Vec<String>,
    pub result: ProbeResult,
}

/// The violated property, checked with one constant increased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConstantProbe {
    pub constant: String,
    /// The value of the constant in this run.
    pub value: String,
    pub result: ProbeResult,
}

/// Whether a further run found the violation again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeResult {
    /// The run violates the same property in the same way.
    StillViolated {
        /// Number of states of the trace, if the checker gave one.
        states: Option<usize>,
    },
    /// The run was complete and did not find the violation.
    Holds,
    /// The run did not decide it, and why.
    Inconclusive(String),
}

impl FairnessProbe {
    /// Interprets a run under this fairness. If some actions could not be separated, the run assumed less than fairness
    /// of every action: a property that holds under it holds under the stronger assumption too, but a violation may
    /// disappear, so it becomes inconclusive.
    pub fn new(actions: Vec<String>, unsplit_actions: Vec<String>, result: ProbeResult) -> Self {
        let result = match result {
            ProbeResult::StillViolated { .. } if !unsplit_actions.is_empty() => ProbeResult::Inconclusive(format!(
                "not every action could be told apart: {}",
                unsplit_actions.join(", ")
            )),
            other => other,
        };
        Self { actions, unsplit_actions, result }
    }

    /// The result as a sentence.
    pub fn sentence(&self) -> String {
        let result = match &self.result {
            ProbeResult::StillViolated { .. } => "still violated".to_owned(),
            ProbeResult::Holds => "HOLDS, so such fairness excludes the behaviour of the trace".to_owned(),
            ProbeResult::Inconclusive(why) => format!("not decided ({why})"),
        };
        match self.actions.as_slice() {
            actions if !self.unsplit_actions.is_empty() => {
                format!("under weak fairness of {}: {result}", actions.join(", "))
            }
            [] => format!("under weak fairness of every action: {result}"),
            actions => format!("under weak fairness of every action ({}): {result}", actions.join(", ")),
        }
    }
}

impl ConstantProbe {
    /// The result as a sentence, for a violation whose original trace has `states` states.
    pub fn sentence(&self, states: usize) -> String {
        let result = match &self.result {
            ProbeResult::StillViolated { states: Some(now) } if *now > states => {
                format!("still violated, but only after {now} states instead of {states}")
            }
            ProbeResult::StillViolated { .. } => "still violated".to_owned(),
            ProbeResult::Holds => format!("VANISHES, so {} alone causes it", self.constant),
            ProbeResult::Inconclusive(why) => format!("not decided ({why})"),
        };
        format!("with {} = {}: {result}", self.constant, self.value)
    }

    /// Whether the violation needs a trace of more than `states` states now, so that the bound may be what causes it.
    pub fn needs_longer_trace(&self, states: usize) -> bool {
        matches!(self.result, ProbeResult::StillViolated { states: Some(now) } if now > states)
    }
}
