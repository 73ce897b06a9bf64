//! Why a policy cannot govern a run.

use crate::monitor::{AuditError, PolicyError};
use crate::pipeline::machine::CANDIDATE_LIFELINES;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(
        "a policy for a run cannot have a [log] table, because a run is monitored by its own journal; remove the table"
    )]
    Log,
    /// Predicted answers have no labels.
    #[error(
        "line {line}: rule `{rule}` uses `model:{name}`, but predicted answers have no labels; set \
         `how = \"ask\"` in [prediction], or remove `intervention` from the rule"
    )]
    UnlabelledPrediction {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        name: String,
    },
    /// A rule uses a name that no run has.
    #[error("line {line}: rule `{rule}`: {what} `{name}`{}", similar_names_hint(.near))]
    Unknown {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        /// The kind of name, and that there is none like it.
        what: &'static str,
        name: String,
        /// Similar names, or all names.
        near: Vec<String>,
    },
    /// A rule reads a list as one value.
    #[error("line {line}: rule `{rule}`: the field `{field}` holds a list: write `{spelling}`, or `every(…)`")]
    List {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        field: String,
        /// The correct spelling.
        spelling: String,
    },
    /// A rule reads a field that the lifeline does not have.
    #[error("line {line}: rule `{rule}`: no event of `{lifeline}` has a field `{field}` ({})", owners_hint(.of))]
    NotItsOwn {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        lifeline: String,
        field: String,
        /// The lifelines that have the field.
        of: Vec<&'static str>,
    },
    /// A rule cannot be evaluated while a run goes on.
    #[error(transparent)]
    Unfit(#[from] AuditError),
    /// No run satisfies a rule.
    #[error("line {line}: rule `{rule}`: no run can satisfy it: {words}")]
    Impossible {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        /// The rule in words.
        words: String,
    },
    /// A causal rule is evaluated at every approval, and never holds.
    #[error("line {line}: rule `{rule}` can hold at no event, so no run could ever be approved: {words}")]
    NeverHolds {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        /// The rule in words.
        words: String,
    },
    /// Two rules of severity `error` that no run satisfies together.
    #[error(
        "line {line}: rule `{rule}` contradicts rule `{other}`: no run can satisfy both, so none could ever be approved"
    )]
    Together {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        /// The earlier rule.
        other: String,
    },
    /// A causal rule is evaluated at no event.
    #[error(
        "line {line}: rule `{rule}`: its `when` holds at no event of `{owner}`, so the rule would never be evaluated"
    )]
    NeverEvaluated {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        owner: String,
    },
    /// No approved run satisfies a rule of severity `error`.
    #[error(
        "line {line}: rule `{rule}` contradicts the default policy, so no run could ever be approved: {default_rule} ({words})"
    )]
    Contradicts {
        /// The line of the rule, from 1.
        line: usize,
        rule: String,
        /// The rule of the default policy that it contradicts.
        default_rule: String,
        /// The rule in words.
        words: String,
    },
}

impl AdmissionError {
    /// The id of the rule that is refused.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Policy(_) | Self::Log => None,
            Self::Unfit(AuditError::Rule { rule, .. }) => Some(rule),
            Self::Unfit(_) => None,
            Self::UnlabelledPrediction { rule, .. }
            | Self::Unknown { rule, .. }
            | Self::List { rule, .. }
            | Self::NotItsOwn { rule, .. }
            | Self::Impossible { rule, .. }
            | Self::NeverHolds { rule, .. }
            | Self::Together { rule, .. }
            | Self::NeverEvaluated { rule, .. }
            | Self::Contradicts { rule, .. } => Some(rule),
        }
    }

    /// The name in the rule that is wrong, if the error is about a name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::UnlabelledPrediction { name, .. } | Self::Unknown { name, .. } => Some(name),
            Self::List { field, .. } | Self::NotItsOwn { field, .. } => Some(field),
            _ => None,
        }
    }
}

fn similar_names_hint(similar_names: &[String]) -> String {
    match similar_names {
        [] => String::new(),
        names => format!(" (similar: {})", names.join(", ")),
    }
}

fn owners_hint(of: &[&str]) -> String {
    let (candidates, nodes): (Vec<&str>, Vec<&str>) = of.iter().partition(|name| CANDIDATE_LIFELINES.contains(name));
    let mut names: Vec<&str> = nodes;
    if !candidates.is_empty() {
        names.push("candidates");
    }
    format!("events of {} have it", names.join(", "))
}
