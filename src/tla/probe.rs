//! What further runs of the checker say of a violation: whether it is there without fairness only, or within these
//! bounds only.

use serde::{Deserialize, Serialize};

use super::outcome::{CheckOutcome, Verdict, Violation, ViolationKind};

/// Further runs on one violation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probes {
    /// Of a violation that is an infinite behaviour: the same property under weak fairness of every action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak_fairness: Option<UnderFairness>,
    /// The same property with each numeric constant of the configuration plus one, in the order of their names.
    #[serde(default)]
    pub larger: Vec<Larger>,
}

/// The violated property under weak fairness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderFairness {
    /// The actions that were taken to be weakly fair.
    pub actions: Vec<String>,
    /// What became of the violation.
    pub again: Again,
}

/// The violated property with one constant larger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Larger {
    /// The constant.
    pub constant: String,
    /// Its value in this run.
    pub value: String,
    /// What became of the violation.
    pub again: Again,
}

/// What became of a violation in another run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Again {
    /// It is still there, of the same kind and property.
    Still {
        /// States of the trace, where there is one.
        states: Option<usize>,
    },
    /// The complete run did not find it: the property holds there.
    Gone,
    /// The run did not decide it, and why.
    Undecided(String),
}

impl UnderFairness {
    /// What it says, in words.
    pub fn sentence(&self) -> String {
        let said = match &self.again {
            Again::Still { .. } => "still violated".to_owned(),
            Again::Gone => "HOLDS, so such fairness excludes the behaviour of the trace".to_owned(),
            Again::Undecided(why) => format!("not decided ({why})"),
        };
        match self.actions.as_slice() {
            [] => format!("under weak fairness of every action: {said}"),
            actions => format!("under weak fairness of every action ({}): {said}", actions.join(", ")),
        }
    }
}

impl Larger {
    /// What it says, in words, of a violation that was shown by a trace of `states` states.
    pub fn sentence(&self, states: usize) -> String {
        let said = match &self.again {
            Again::Still { states: Some(now) } if *now > states => {
                format!("still violated, but only after {now} states instead of {states}")
            }
            Again::Still { .. } => "still violated".to_owned(),
            Again::Gone => format!("VANISHES, so {} alone causes it", self.constant),
            Again::Undecided(why) => format!("not decided ({why})"),
        };
        format!("with {} = {}: {said}", self.constant, self.value)
    }

    /// Whether the shortest trace to the violation is longer than one of `states` states: the violation gives way to
    /// the bound.
    pub fn recedes(&self, states: usize) -> bool {
        matches!(self.again, Again::Still { states: Some(now) } if now > states)
    }
}

impl Violation {
    /// The name by which a review and a comment (`\* Deadlock covers R4`) speak of what is violated: the property's, or
    /// `Deadlock`, or `Assertion`.
    pub fn property(&self) -> Option<&str> {
        match self.kind {
            ViolationKind::Deadlock => Some(DEADLOCK),
            ViolationKind::Assertion => Some(ASSERTION),
            _ => self.name.as_deref(),
        }
    }
}

/// The name of the absence of deadlock as a property.
pub const DEADLOCK: &str = "Deadlock";
/// The name of all assertions of a module together as a property.
pub const ASSERTION: &str = "Assertion";

/// The further runs on the violation of an outcome, a line each; none where there is no violation.
pub fn probe_lines(outcome: &CheckOutcome) -> Vec<String> {
    let (Verdict::Violated { .. }, Some(probes)) = (&outcome.verdict, &outcome.probes) else { return Vec::new() };
    let states = outcome.trace.as_ref().map_or(0, |trace| trace.steps.len());
    let fair = probes.weak_fairness.iter().map(UnderFairness::sentence);
    fair.chain(probes.larger.iter().map(|larger| larger.sentence(states))).collect()
}
