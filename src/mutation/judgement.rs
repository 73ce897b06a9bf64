//! What becomes of a mutant, and what all of them add up to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tla::{Cfg, Checker, Trace, ViolationKind};

use super::Operator;

/// The class of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A property of the specification, or its freedom from deadlock, is violated.
    Killed,
    /// Everything holds, and the mutant does something that the specification does not: a property is missing.
    Survived,
    /// Everything holds, and the mutant does less: no safety property can see it; a witness or a liveness property can.
    Restricting,
    /// The same reachable states and steps, and the same fairness.
    Equivalent,
    /// The same reachable states and steps, and another fairness: only a liveness property can see it.
    FairnessOnly,
    /// It does not translate, parse or evaluate.
    Invalid,
    /// The checker came to no verdict, or whether the mutant is equivalent could not be decided.
    Inconclusive,
    /// It did not end within the deadline.
    Timeout,
}

impl Outcome {
    /// Every class, in the order of a report.
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

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "survived",
            Self::Restricting => "restricting",
            Self::Equivalent => "equivalent",
            Self::FairnessOnly => "fairness only",
            Self::Invalid => "invalid",
            Self::Inconclusive => "inconclusive",
            Self::Timeout => "timed out",
        }
    }
}

/// One mutant, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The mutant's name.
    pub name: String,
    /// Its operator.
    pub operator: Operator,
    /// Where it sits: a label, a definition.
    pub definition: String,
    /// The line in the source, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// Line and column of the first character that is replaced; both from 1.
    pub start: (usize, usize),
    /// Line and column behind the last character that is replaced.
    pub end: (usize, usize),
    /// What stands from there to here instead.
    pub replacement: String,
    /// What it does.
    pub what: String,
    /// The changed lines.
    pub diff: String,
    /// The class.
    pub outcome: Outcome,
    /// What killed it: the property that the checker found violated first, `Deadlock`, `Assertion`.
    #[serde(default)]
    pub killed_by: Vec<String>,
    /// What kind of violation that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ViolationKind>,
    /// The behaviour that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Witnesses that the mutant does not reach any more; only where it restricts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noticed_by: Vec<String>,
    /// Why it is invalid or undecided, or by what it is equivalent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which checker decided, where one ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checker: Option<Checker>,
    /// Wall time of all its runs, in seconds.
    pub seconds: f64,
    /// How many seconds each of its runs was given, where it did not end in that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// SHA-256 of everything that was judged: mutated source, configuration, modules beside, tools. A judgement with the
    /// same key is not made again.
    pub key: String,
}

impl Judgement {
    /// Whether it did not end in time, and so much time for each run would be more than it had.
    pub fn would_get_more(&self, deadline: std::time::Duration) -> bool {
        self.outcome == Outcome::Timeout && deadline.as_secs_f64() > self.deadline.unwrap_or(self.seconds)
    }
}

/// Counts over judgements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// See [`Outcome`].
    pub killed: usize,
    /// Of the killed ones, those by deadlock.
    pub killed_by_deadlock: usize,
    /// See [`Outcome`].
    pub survived: usize,
    /// See [`Outcome`].
    pub restricting: usize,
    /// Of the restricting ones, those that a witness notices.
    pub restricting_noticed: usize,
    /// See [`Outcome`].
    pub equivalent: usize,
    /// See [`Outcome`].
    pub fairness_only: usize,
    /// See [`Outcome`].
    pub invalid: usize,
    /// See [`Outcome`].
    pub inconclusive: usize,
    /// See [`Outcome`].
    pub timeout: usize,
    /// killed / (killed + survived); `None` at 0/0.
    pub score: Option<f64>,
    /// What the score would be if all inconclusive and timed-out mutants survived; `None` at 0/0.
    #[serde(default)]
    pub score_at_least: Option<f64>,
    /// Noticed by a witness / restricting; `None` at 0/0, and if the specification has no witness.
    pub restricting_score: Option<f64>,
}

impl Summary {
    /// Counts the judgements of a specification with this configuration.
    pub fn of<'a>(judgements: impl IntoIterator<Item = &'a Judgement>, cfg: &Cfg) -> Self {
        let mut all = Self::default();
        for judgement in judgements {
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
            all.killed_by_deadlock += usize::from(judgement.kind == Some(ViolationKind::Deadlock));
            all.restricting_noticed += usize::from(!judgement.noticed_by.is_empty());
        }
        all.score = ratio(all.killed, all.killed + all.survived);
        let undecided = all.inconclusive + all.timeout;
        all.score_at_least = ratio(all.killed, all.killed + all.survived + undecided);
        all.restricting_score = ratio(all.restricting_noticed, all.restricting).filter(|_| !cfg.witnesses.is_empty());
        all
    }

    /// Mutants in this class.
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

#[expect(clippy::cast_precision_loss, reason = "counts of mutants")]
fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
