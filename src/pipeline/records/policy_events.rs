//! Data of events about the user's policy: violations, interventions, predictions, and the verdicts at the end.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::Sha;
use crate::monitor::{Intervention, PredictionMethod, Severity};

/// A violated rule (`rule_violated`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    pub rule: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    pub formula: String,
    /// The formula in words.
    pub meaning: String,
    /// The description in the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The number of the event that decided it.
    pub decided_at: u64,
    /// What was true at that event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub policy: Sha,
    /// The labels by a model that the verdict depends on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<Untrusted>,
}

/// Labels by a model that a verdict depends on. Readers of the verdict have to know that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Untrusted {
    pub propositions: Vec<String>,
    /// The models that have labelled answers so far.
    pub models: Vec<String>,
}

impl Untrusted {
    pub fn words(&self) -> String {
        let all: Vec<String> = self.propositions.iter().map(|name| format!("model:{name}")).collect();
        let by = if self.models.is_empty() { "a model".to_owned() } else { self.models.join(", ") };
        format!("depends on labels by {by}: untrusted ({})", all.join(", "))
    }
}

/// An intervention, because an answer would have violated a rule (`intervened`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Intervened {
    /// The rule whose intervention was used.
    pub rule: String,
    pub intervention: Intervention,
    pub purpose: String,
    /// The number of further answers.
    pub calls: u32,
    /// The number of the accepted answer; 0 is the first.
    pub sample: u32,
    /// The rules that the first answer would have violated and the accepted one did not.
    pub prevented_violations: Vec<String>,
    /// The rules that the accepted answer violated.
    pub violated: Vec<String>,
    /// What the rule demanded before the first answer, in words.
    pub residual: String,
    /// US dollars of the further answers, if all their prices are known.
    pub cost_usd: Option<f64>,
    /// Tokens of the further answers.
    pub tokens: u64,
    /// What each answer would have led to, the first one first.
    #[serde(default)]
    pub samples: Vec<Sampled>,
}

/// What an answer would lead to if it were accepted (`samples` of `intervened`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sampled {
    pub sample: u32,
    /// The rules that it would violate.
    pub violated: Vec<String>,
    /// Rules with an intervention that it leaves undecided and that are predicted to be violated after it.
    pub predicted: Vec<String>,
    pub residual: SampleResidual,
}

/// How bad an answer is for the rules. Smaller is better, compared in the order of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SampleResidual {
    /// Violated rules with an intervention.
    pub with_intervention: usize,
    /// Rules that are predicted to be violated.
    pub predicted: usize,
    /// All violated rules about the whole journal.
    pub violated: usize,
    /// See [`ResidualCost`](crate::temporal::ResidualCost).
    pub steps: u32,
    /// See [`ResidualCost`](crate::temporal::ResidualCost).
    pub obligations: u32,
}

impl Sampled {
    /// The index of the answer to accept: the smallest `residual`, the earliest of equals.
    pub fn best(all: &[Sampled]) -> Option<usize> {
        (0..all.len()).min_by_key(|at| all[*at].residual)
    }
}

/// A prediction of violations after an answer (`predicted`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// The purpose of the answer.
    pub purpose: String,
    /// The number of the answer; 0 is the first.
    pub sample: u32,
    pub how: PredictionMethod,
    /// The pattern that counts as a violation.
    pub pattern: String,
    /// The number of predicted steps.
    pub steps: u32,
    /// From this probability on, a rule counts as violated.
    pub threshold: f64,
    /// The probability for each rule.
    pub estimates: BTreeMap<String, f64>,
    /// The number of further answers.
    pub calls: u32,
    /// US dollars of the further answers, if all their prices are known.
    pub cost_usd: Option<f64>,
    /// Tokens of the further answers.
    pub tokens: u64,
}

/// The verdict on a rule at the end of a run (`rules` of `run_finished`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleEnd {
    pub rule: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// `satisfied`, `violated`, `presumably_satisfied` or `presumably_violated`, as in an audit of the journal.
    pub verdict: String,
    /// The rule in words.
    pub meaning: String,
    /// What would still have to happen, if the journal ends before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<String>,
    /// What was false where a causal rule failed first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The approval would have violated this rule, so the run was not approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prevented_approval: bool,
    /// The journal has no event at which this causal rule is evaluated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_evaluated: bool,
    /// The labels by a model that the verdict depends on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<Untrusted>,
}

impl RuleEnd {
    /// Whether the rule is violated or not satisfied at the end.
    pub fn is_broken(&self) -> bool {
        self.verdict.ends_with("violated")
    }

    /// Whether this verdict prevents an approval.
    pub(in crate::pipeline) fn prevents_approval(&self) -> bool {
        self.is_broken() && self.severity == Severity::Error.name()
    }

    pub fn words(&self) -> String {
        let residual = self.residual.as_ref().map_or_else(String::new, |residual| format!("; residual: {residual}"));
        let why = self.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        let untrusted = self.untrusted.as_ref().map_or_else(String::new, |u| format!("; it {}", u.words()));
        format!("rule `{}` is violated: {}{residual}{why}{untrusted}", self.rule, self.meaning)
    }
}

/// The events of the policy so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyLog {
    pub violations: Vec<Violation>,
    /// Each with the lifeline whose answer it was.
    pub interventions: Vec<(String, Intervened)>,
    /// Each with the lifeline whose answer it was.
    pub predictions: Vec<(String, Predicted)>,
}
