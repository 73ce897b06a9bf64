//! What further runs of the checker say of a violation: whether it is there without fairness only, or within these
//! bounds only.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cfg::Cfg;
use super::module::Module;
use super::outcome::{CheckOutcome, Verdict, Violation, ViolationKind};

/// Further runs on one violation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probes {
    /// Of a violation that is an infinite behaviour: the same property under weak fairness of every action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak_fairness: Option<UnderFairness>,
    /// The same property with each numeric constant of the configuration plus one, in the order of their names.
    #[serde(default)]
    pub larger: Vec<Larger>,
    /// Bounds for which no larger one was tried: sets, and what the module defines as a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprobed: Vec<String>,
}

/// The violated property under weak fairness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnderFairness {
    /// The actions that were taken to be weakly fair.
    pub actions: Vec<String>,
    /// Those of them that hold several actions which were not told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<String>,
    /// What became of the violation.
    pub again: Again,
}

/// The violated property with one constant larger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Larger {
    /// The constant.
    pub constant: String,
    /// Its value in this run.
    pub value: String,
    /// What became of the violation.
    pub again: Again,
}

/// What became of a violation in another run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// What a run under that fairness says of fairness of every action. Where not every action was told apart it is a
    /// weaker one: what holds under it holds under the stronger, and what is violated may hold there.
    pub fn of(actions: Vec<String>, whole: Vec<String>, again: Again) -> Self {
        let again = match again {
            Again::Still { .. } if !whole.is_empty() => {
                Again::Undecided(format!("not every action could be told apart: {}", whole.join(", ")))
            }
            other => other,
        };
        Self { actions, whole, again }
    }

    /// What it says, in words.
    pub fn sentence(&self) -> String {
        let said = match &self.again {
            Again::Still { .. } => "still violated".to_owned(),
            Again::Gone => "HOLDS, so such fairness excludes the behaviour of the trace".to_owned(),
            Again::Undecided(why) => format!("not decided ({why})"),
        };
        match self.actions.as_slice() {
            actions if !self.whole.is_empty() => format!("under weak fairness of {}: {said}", actions.join(", ")),
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
    let larger = probes.larger.iter().map(|larger| larger.sentence(states));
    let unprobed =
        (!probes.unprobed.is_empty()).then(|| format!("not checked with more: {}", probes.unprobed.join("; ")));
    fair.chain(larger).chain(unprobed).collect()
}

/// Bounds that no further run enlarges: constants that are sets or stand for a definition, and definitions of the module
/// that are a number, or a set of numbers, written down.
pub fn unprobed(module: Option<&Module>, cfg: &Cfg) -> Vec<String> {
    // A number is made larger; a word (a model value, a truth value) and a string bound nothing.
    let bounds = |value: &str| value.starts_with(['{', '<']) || value.contains("..");
    let constants = cfg.constants.iter().filter(|(_, value)| bounds(value));
    let constants = constants.map(|(name, value)| match value.strip_prefix("<- ") {
        Some(by) => format!("{name} <- {by}"),
        None => format!("{name} = {value}"),
    });
    let roots =
        cfg.specification.iter().chain(&cfg.init).chain(&cfg.next).chain(&cfg.invariants).chain(&cfg.properties);
    let roots = roots.chain(&cfg.constraints).chain(&cfg.action_constraints);
    let used: BTreeSet<String> = module.iter().flat_map(|m| roots.clone().flat_map(|root| m.closure(root))).collect();
    let is_written = |text: &str| {
        let known = |c: char| c.is_ascii_digit() || c.is_whitespace() || "{},.-()".contains(c);
        text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(known)
    };
    let defined =
        module.into_iter().flat_map(|m| &m.definitions).filter(|d| used.contains(&d.name) && d.params.is_empty());
    let defined = defined.filter_map(|d| {
        let source = module.map(|m| m.source.as_str())?;
        let text = d.normalised(source);
        let (_, body) = text.split_once("==")?;
        let known = !cfg.constants.contains_key(&d.name) && is_written(body);
        known.then(|| format!("{} == {}", d.name, body.trim()))
    });
    constants.chain(defined).collect()
}
