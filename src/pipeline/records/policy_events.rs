//! What events tell of the user's policy: violations, interventions, predictions, and each rule's verdict at the end.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::Sha;
use crate::monitor::{PredictionMethod, Intervention, Severity};

/// A rule that was violated (`rule_violated`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The rule.
    pub rule: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// Its formula.
    pub formula: String,
    /// What it asks for, in words.
    pub meaning: String,
    /// What it is for, in the words of whoever wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The number of the event that decided it.
    pub culprit: u64,
    /// What was true there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The policy that the rule is of.
    pub policy: Sha,
    /// What it rests on that a model has judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<Untrusted>,
}

/// Labels that a verdict rests on and a model gave: whoever reads the verdict has to know that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Untrusted {
    /// The propositions.
    pub propositions: Vec<String>,
    /// Who labelled the answers so far.
    pub models: Vec<String>,
}

impl Untrusted {
    /// In words.
    pub fn words(&self) -> String {
        let all: Vec<String> = self.propositions.iter().map(|name| format!("model:{name}")).collect();
        let by = if self.models.is_empty() { "a model".to_owned() } else { self.models.join(", ") };
        format!("rests on labels by {by}: untrusted ({})", all.join(", "))
    }
}

/// An answer that would have violated a rule was met (`intervened`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Intervened {
    /// The rule that asked for it.
    pub rule: String,
    /// How.
    pub intervention: Intervention,
    /// What was asked for.
    pub purpose: String,
    /// Further answers.
    pub calls: u32,
    /// The one that was taken; 0 is the first.
    pub candidate: u32,
    /// The rules that the first answer would have violated and the taken one did not.
    pub prevented: Vec<String>,
    /// The rules that the taken one violated.
    pub violated: Vec<String>,
    /// What the rule owed before the first answer, in words.
    pub owed: String,
    /// US dollars of the further answers, where all their prices are known.
    pub cost_usd: Option<f64>,
    /// Their tokens.
    pub tokens: u64,
    /// What each answer that came would have come to, the first one first.
    #[serde(default)]
    pub samples: Vec<Sampled>,
}

/// What an answer would come to, were it taken (`samples` of `intervened`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sampled {
    /// Its number.
    pub candidate: u32,
    /// The rules that it would violate.
    pub violated: Vec<String>,
    /// Those with an intervention that it leaves open, and that are predicted to be violated after it.
    pub predicted: Vec<String>,
    /// What the rules would owe.
    pub owes: Owes,
}

/// What rules would owe; less is better, the first number before all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Owes {
    /// Rules with an intervention that are violated by the answer.
    pub with_intervention: usize,
    /// Those that are predicted to be violated.
    pub predicted: usize,
    /// Rules about the whole journal that are violated in all.
    pub violated: usize,
    /// As of [`Debt`].
    pub steps: u32,
    /// As of [`Debt`].
    pub obligations: u32,
}

impl Sampled {
    /// Which of several is taken: the one that owes least, the earlier of equals.
    pub fn best(all: &[Sampled]) -> Option<usize> {
        (0..all.len()).min_by_key(|at| all[*at].owes)
    }
}

/// What was asked to foresee where an answer leads (`predicted`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// What the answer had been asked for.
    pub purpose: String,
    /// Which answer to that; 0 is the first.
    pub candidate: u32,
    /// How it was predicted.
    pub how: PredictionMethod,
    /// What counts as a violation.
    pub pattern: String,
    /// Steps that are looked ahead.
    pub steps: u32,
    /// The probability from which on a rule counts as violated.
    pub threshold: f64,
    /// How probable it is of each rule.
    pub estimates: BTreeMap<String, f64>,
    /// Further answers that it took.
    pub calls: u32,
    /// US dollars of these, where all their prices are known.
    pub cost_usd: Option<f64>,
    /// Their tokens.
    pub tokens: u64,
}

/// How a rule stands where a run has ended (`rules` of `run_finished`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleEnd {
    /// The rule.
    pub rule: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// `satisfied`, `violated`, `presumably_satisfied` or `presumably_violated`, as an audit of the journal says it.
    pub verdict: String,
    /// What it asks for, in words.
    pub meaning: String,
    /// What would still have to come, in words, where the journal ends before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<String>,
    /// Of a causal rule, what was false where it failed first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// It would have been broken by the approval, which it has forbidden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forbade_approval: bool,
    /// Of a causal rule: the journal has no event to ask it at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_evaluated: bool,
    /// What it rests on that a model has judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<Untrusted>,
}

impl RuleEnd {
    /// Whether the journal breaks the rule as it ends.
    pub fn is_broken(&self) -> bool {
        self.verdict.ends_with("violated")
    }

    /// Whether that forbids an approval.
    pub(in crate::pipeline) fn forbids(&self) -> bool {
        self.is_broken() && self.severity == Severity::Error.name()
    }

    /// Why, in words.
    pub fn words(&self) -> String {
        let owed = self.owed.as_ref().map_or_else(String::new, |owed| format!("; still owed: {owed}"));
        let why = self.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        let untrusted = self.untrusted.as_ref().map_or_else(String::new, |u| format!("; it {}", u.words()));
        format!("rule `{}` is broken: {}{owed}{why}{untrusted}", self.rule, self.meaning)
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
