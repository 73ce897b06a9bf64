//! The judgement of a mutant, and the summary over all mutants of a specification.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tlaforge_tla::{Cfg, Checker, DEADLOCK, Trace, ViolationKind};

use super::Operator;
use super::score::{MutationScore, ratio};

/// The class of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The mutant violates a property, or reaches a deadlock that the original does not have.
    Killed,
    /// No property is violated although the mutant has behaviours that the original does not have: a property is missing.
    Survived,
    /// No property is violated, and the mutant has fewer behaviours. Only a witness or liveness property can notice it.
    Restricting,
    /// The same reachable states and steps, and the same fairness.
    Equivalent,
    /// The same reachable states and steps with different fairness. Only a liveness property can notice it.
    FairnessOnly,
    /// The mutant does not translate, parse or evaluate.
    Invalid,
    /// The check or the test for equivalence was undecided.
    Inconclusive,
    /// A run exceeded its time limit.
    Timeout,
}

impl Outcome {
    /// All classes, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Killed,
        Self::Survived,
        Self::Restricting,
        Self::FairnessOnly,
        Self::Equivalent,
        Self::Invalid,
        Self::Inconclusive,
        Self::Timeout,
    ];

    /// The name of the class in journals and files, which older ones have as well.
    pub fn key(self) -> String {
        match self {
            Self::Inconclusive => "inconclusive".to_owned(),
            other => other.words().replace(' ', "_"),
        }
    }

    /// The class in words, for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "survived",
            Self::Restricting => "restricting",
            Self::Equivalent => "equivalent",
            Self::FairnessOnly => "fairness only",
            Self::Invalid => "invalid",
            Self::Inconclusive => "undecided",
            Self::Timeout => "timed out",
        }
    }
}

/// A judged mutant, one line of `outcomes.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// See [`Mutant::name`](crate::Mutant::name).
    pub name: String,
    /// See [`Mutant::place`](crate::Mutant::place).
    #[serde(default)]
    pub place: String,
    pub operator: Operator,
    /// The label or definition that is mutated.
    pub definition: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Line and column of the first character that is replaced; both from 1.
    pub start: (usize, usize),
    /// Line and column after the last character that is replaced.
    pub end: (usize, usize),
    /// The text that replaces `start` to `end`.
    pub replacement: String,
    /// What the mutation does, as a sentence without its subject.
    pub what: String,
    pub diff: String,
    pub outcome: Outcome,
    /// The properties that notice it, or `Deadlock` or `Assertion`; first the one that the checker found violated first.
    #[serde(default)]
    pub killed_by: Vec<String>,
    /// Whether every other property is known to hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_all_killers: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ViolationKind>,
    /// The counterexample; of a survivor, a behaviour that only it has: the original cannot take its last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Witnesses that a restricting or surviving mutant no longer reaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_witnesses: Vec<String>,
    /// Why the mutant is invalid or undecided, or the argument for its equivalence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The checker that decided, if one ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checker: Option<Checker>,
    /// Wall time of all runs of the mutant.
    pub seconds: f64,
    /// The time limit per run in seconds, if a run exceeded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// Whether a tool failed for a reason outside of the specification, such as a signal: another run may decide more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_transient: bool,
    /// SHA-256 of mutated source, configuration, other modules and tools. Mutants with a known key are not judged again.
    pub key: String,
}

/// Where the time limit of a run on a mutant comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitSource {
    /// The user set it.
    Given,
    /// It follows from the time of the specification itself, which varies between two runs.
    Measured,
}

impl Judgement {
    /// Whether the mutant reaches a deadlock, and no property is known to notice it.
    pub fn is_killed_only_by_deadlock(&self) -> bool {
        let by_deadlock = |name: &String| name == DEADLOCK;
        self.outcome == Outcome::Killed
            && (self.kind == Some(ViolationKind::Deadlock) || !self.killed_by.is_empty())
            && self.killed_by.iter().all(by_deadlock)
    }

    /// Whether a later run can use the judgement as it is. Only a verdict is kept: whatever was not decided is tried again.
    /// A mutant that timed out is tried again if it now gets more time.
    pub fn is_reusable(&self, limit: Duration, source: LimitSource) -> bool {
        match self.outcome {
            _ if self.is_transient => false,
            Outcome::Inconclusive => false,
            Outcome::Timeout => {
                let known = self.deadline.unwrap_or(self.seconds);
                let enough = match source {
                    LimitSource::Given => known,
                    LimitSource::Measured => known * 3.0,
                };
                limit.as_secs_f64() <= enough
            }
            _ => true,
        }
    }
}

/// Counts over judgements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub killed: usize,
    /// Killed mutants that a property or an assertion notices.
    #[serde(default)]
    pub killed_by_property: usize,
    /// Killed mutants that reach a deadlock and are not known to violate a property. They are not in the score.
    #[serde(default)]
    pub killed_only_by_deadlock: usize,
    /// The listed properties that no mutant is known to violate.
    #[serde(default)]
    pub noticed_nothing: Vec<String>,
    /// By property: how many mutants only it notices. Mutants of which not every property was decided do not count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noticed_only_by: BTreeMap<String, usize>,
    /// Killed mutants that reach a deadlock.
    pub killed_by_deadlock: usize,
    pub survived: usize,
    pub restricting: usize,
    /// Restricting mutants that no longer reach a witness.
    pub restricting_detected: usize,
    pub equivalent: usize,
    pub fairness_only: usize,
    pub invalid: usize,
    pub inconclusive: usize,
    pub timeout: usize,
    /// `killed_by_property` / (`killed_by_property` + survived); `None` at 0/0.
    pub score: Option<f64>,
    /// The score if all inconclusive and timed-out mutants had survived; `None` at 0/0.
    #[serde(default)]
    pub score_at_least: Option<f64>,
    /// `restricting_detected` / `restricting`; `None` at 0/0, and if the specification has no witness.
    pub restricting_score: Option<f64>,
}

impl Summary {
    /// Counts the judgements of the mutants of one specification.
    pub fn from_judgements<'a>(judgements: impl IntoIterator<Item = &'a Judgement>, cfg: &Cfg) -> Self {
        let mut all = Self::default();
        let mut idle: Vec<&String> = cfg.invariants.iter().chain(&cfg.properties).collect();
        for judgement in judgements {
            idle.retain(|name| !judgement.killed_by.contains(name));
            let counter = match judgement.outcome {
                Outcome::Killed => &mut all.killed,
                Outcome::Survived => &mut all.survived,
                Outcome::Restricting => &mut all.restricting,
                Outcome::Equivalent => &mut all.equivalent,
                Outcome::FairnessOnly => &mut all.fairness_only,
                Outcome::Invalid => &mut all.invalid,
                Outcome::Inconclusive => &mut all.inconclusive,
                Outcome::Timeout => &mut all.timeout,
            };
            *counter += 1;
            if judgement.outcome == Outcome::Killed {
                let only_deadlock = judgement.is_killed_only_by_deadlock();
                all.killed_only_by_deadlock += usize::from(only_deadlock);
                all.killed_by_property += usize::from(!only_deadlock);
            }
            all.killed_by_deadlock += usize::from(judgement.kind == Some(ViolationKind::Deadlock));
            let is_restricting = judgement.outcome == Outcome::Restricting;
            all.restricting_detected += usize::from(is_restricting && !judgement.lost_witnesses.is_empty());
            if let ([only], true) = (judgement.killed_by.as_slice(), judgement.has_all_killers) {
                *all.noticed_only_by.entry(only.clone()).or_default() += 1;
            }
        }
        all.noticed_nothing = idle.into_iter().cloned().collect();
        all.score = all.mutation_score().score();
        all.score_at_least = all.mutation_score().at_least();
        all.restricting_score = ratio(all.restricting_detected, all.restricting).filter(|_| !cfg.witnesses.is_empty());
        all
    }

    pub fn mutation_score(&self) -> MutationScore {
        let undecided = self.inconclusive + self.timeout;
        MutationScore { noticed: self.killed_by_property, survived: self.survived, undecided }
    }

    pub fn count(&self, outcome: Outcome) -> usize {
        match outcome {
            Outcome::Killed => self.killed,
            Outcome::Survived => self.survived,
            Outcome::Restricting => self.restricting,
            Outcome::Equivalent => self.equivalent,
            Outcome::FairnessOnly => self.fairness_only,
            Outcome::Invalid => self.invalid,
            Outcome::Inconclusive => self.inconclusive,
            Outcome::Timeout => self.timeout,
        }
    }
}
