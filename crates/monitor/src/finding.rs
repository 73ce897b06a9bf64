//! The result of an audit for one rule.

use std::sync::Arc;

use super::policy::PolicyRule;

/// The verdict on a rule at the end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The rule holds for every continuation of the log.
    Satisfied,
    /// The rule is violated for every continuation of the log.
    Violated,
    /// The rule holds if the log ends here, and a continuation could violate it.
    PresumablySatisfied,
    /// The rule is violated if the log ends here, and a continuation could satisfy it.
    PresumablyViolated,
}

impl Verdict {
    /// Whether the rule holds if the log ends here.
    pub fn holds(self) -> bool {
        matches!(self, Self::Satisfied | Self::PresumablySatisfied)
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Satisfied => "satisfied",
            Self::Violated => "violated",
            Self::PresumablySatisfied => "presumably_satisfied",
            Self::PresumablyViolated => "presumably_violated",
        }
    }
}

/// The result of an audit for one rule. Positions count states from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFinding {
    pub rule: PolicyRule,
    /// The formula as text.
    pub formula: String,
    pub verdict: Verdict,
    /// The state that decided a violation; the last one if the end of the log decided.
    pub decided_at: Option<u64>,
    /// Positions whose suffix of the log violates the formula or, for a causal rule, events at which it is false. At most
    /// [`FAILING_SHOWN`] of them.
    pub failing: Vec<u64>,
    pub failing_count: u64,
    /// The number of events at which a causal rule was evaluated; `None` for other rules.
    pub evaluated: Option<u64>,
    /// The first [`EVALUATED_SHOWN`] of these events.
    pub evaluated_at: Vec<u64>,
    /// The formula that selects these events, as text.
    pub when: Option<String>,
    /// At most 1, unless rules are reset after each verdict.
    pub violations: u64,
    /// Why, in sentences.
    pub explanation: Vec<String>,
    /// The positions that the explanation names.
    pub explained_at: Vec<u64>,
    /// A limit of what the other fields say.
    pub note: Option<String>,
    /// What the rule reads and no state of the log has.
    pub warnings: Vec<String>,
    /// The fields among them that no state has at all; each has its warning, too.
    pub missing_fields: Vec<String>,
    /// If the end of the log decided a violation: what the log would still have to satisfy, in words.
    pub residual: Option<String>,
    /// Whether the verdict does not count, because it rests on calls that were not read; the reason is among the warnings.
    pub no_verdict: bool,
    /// The propositions that the verdict rests on and a model labelled. If there are any, the verdict is untrusted.
    pub untrusted: Vec<Arc<str>>,
}

/// Maximum number of events that a finding lists as those of its evaluations.
pub const EVALUATED_SHOWN: usize = 1_000;

/// Maximum number of failing positions that a finding lists.
pub const FAILING_SHOWN: usize = 100;

impl RuleFinding {
    /// Whether the log breaks the rule.
    pub fn is_broken(&self) -> bool {
        !self.no_verdict && !self.verdict.holds()
    }

    /// Takes back the verdict.
    pub fn withdraw_verdict(&mut self, why: &str) {
        self.no_verdict = true;
        self.warnings.insert(0, why.to_owned());
    }

    /// Whether a causal rule applied to no event, so that the log says nothing about it.
    pub fn never_applied(&self) -> bool {
        self.evaluated == Some(0)
    }
}
