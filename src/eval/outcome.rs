//! What an evaluation came to, and its score. The fields are those of `eval_report.json`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::tla::Checker;

/// Distinct states that a specification may have for the whole of the second tier.
pub const TARGET_STATES: f64 = 100_000.0;
/// How much each tier weighs.
pub const WEIGHTS: [f64; 3] = [0.4, 0.2, 0.4];

/// Whether a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is.
    Passed,
    /// It is not.
    Failed,
    /// It does not apply.
    NotApplicable,
    /// It is not known.
    Undecided,
}

/// One criterion of the first tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// Whether it is met.
    pub status: Status,
    /// Why it is not.
    pub reason: Option<String>,
}

impl Criterion {
    /// Met.
    pub fn passed() -> Self {
        Self { status: Status::Passed, reason: None }
    }

    /// Met in another way than usual, or not applicable.
    pub fn because(status: Status, reason: impl Into<String>) -> Self {
        Self { status, reason: Some(reason.into()) }
    }

    fn is_met(&self) -> bool {
        matches!(self.status, Status::Passed | Status::NotApplicable)
    }
}

/// Binary: all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tier1 {
    /// The module parses.
    pub parse: Criterion,
    /// Its algorithm is translated.
    pub pluscal: Criterion,
    /// The check ran to its end: no deadlock, no failed assertion, nothing left to explore.
    pub check: Criterion,
    /// `TypeOK` holds.
    pub type_ok: Criterion,
    /// All declared invariants and properties hold.
    pub invariants: Criterion,
    /// Why the specification says nothing, whatever holds.
    pub vacuous: Vec<String>,
}

impl Tier1 {
    /// The criteria in the order of a report. Names of tools: [`Evaluation::criteria`].
    fn all(&self) -> [&Criterion; 5] {
        [&self.parse, &self.pluscal, &self.check, &self.type_ok, &self.invariants]
    }

    /// Whether all of them are met, by a specification that says something.
    pub fn passed(&self) -> bool {
        self.vacuous.is_empty() && self.all().iter().all(|criterion| criterion.is_met())
    }

    /// Whether nothing speaks against it, and something is not known.
    pub fn undecided(&self) -> bool {
        let is = |status| self.all().iter().any(|criterion| criterion.status == status);
        self.vacuous.is_empty() && !is(Status::Failed) && is(Status::Undecided)
    }
}

/// Measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tier2 {
    /// Whether the exploration was complete; where a violation ended it, the counts are those at its end.
    pub complete: bool,
    /// Distinct states.
    pub distinct: Option<u64>,
    /// States generated.
    pub generated: Option<u64>,
    /// Depth of the state graph.
    pub depth: Option<u64>,
    /// Wall time in seconds that was waited for the check: translation, parsing, all runs of the checker.
    pub seconds: f64,
    /// Invariants that the configuration lists.
    pub invariants: usize,
    /// Temporal properties that it lists.
    pub properties: usize,
    /// Revisions of the run, where there was one.
    pub revisions: Option<usize>,
    /// Required properties of the checklist that are listed under their very names.
    pub required_by_name: Vec<String>,
    /// From 0 to 1: the target of states over the distinct ones.
    pub efficiency: f64,
}

impl Tier2 {
    /// The score of so many states.
    pub fn efficiency_of(distinct: Option<u64>) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a ratio for people; counts are far below 2^52")]
        distinct.map_or(0.0, |distinct| (TARGET_STATES / (distinct.max(1) as f64)).min(1.0))
    }
}

/// What became of a known bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// A generated property is violated in it.
    Killed,
    /// All that could be carried over hold in it.
    Survived,
    /// None is violated, and of some it is not known.
    Inconclusive,
    /// No property could be carried over.
    NotApplicable,
}

impl Fate {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "survived",
            Self::Inconclusive => "inconclusive",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// A property that is not known to hold or to be violated in a mutant, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// The property.
    pub property: String,
    /// Why.
    pub reason: String,
}

/// A run on a known bug that did not end within its limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Endless {
    /// The limit of the run in seconds.
    pub limit: f64,
    /// The properties that were tried in it.
    pub properties: Vec<String>,
}

/// One known bug.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mutant {
    /// Its file in the case.
    pub file: String,
    /// What is wrong with it.
    pub description: String,
    /// The property of the checklist that it breaks.
    pub should_violate: String,
    /// What became of it.
    pub outcome: Fate,
    /// The generated properties that are violated in it.
    pub killed_by: Vec<String>,
    /// They only say what types variables have.
    pub by_types_alone: bool,
    /// Whether the property that it breaks is among them; absent where no generated one has that name.
    pub by_named: Option<bool>,
    /// What is not known.
    pub inconclusive: Vec<Unknown>,
    /// The checkers that decided something about it.
    pub checkers: BTreeSet<Checker>,
    /// Set if a run on it did not end within its limit.
    pub endless: Option<Endless>,
    /// What else a person should know of it.
    pub remark: Option<String>,
}

impl Mutant {
    /// What the author of the case should know if the bug's state space has no end.
    pub(super) fn without_end(&self) -> Option<String> {
        let Endless { limit, properties } = self.endless.as_ref()?;
        Some(format!(
            "{}: the state space of the bug may have no end: a run did not end within {limit:.0} s (properties tried: \
             {}). Bound it, for example by a counter that stops, so that properties that it satisfies can be decided",
            self.file,
            properties.join(", ")
        ))
    }
}

/// A generated property that does not hold of a correct specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// The property.
    pub property: String,
    /// The reference that violates it.
    pub reference: String,
}

/// A generated property that could not be carried over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    /// The property.
    pub property: String,
    /// Where to.
    pub files: Vec<String>,
    /// What is missing there.
    pub missing: Vec<String>,
}

/// The north star: known bugs under the generated properties alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tier3 {
    /// Known bugs that a property found.
    pub detected: usize,
    /// Those of them that only the type invariant found.
    pub by_types_alone: usize,
    /// Known bugs.
    pub total: usize,
    /// Whether there are known bugs, and no property could be carried over to any of them.
    pub inapplicable: bool,
    /// The detection rate; absent without known bugs, and if no property could be carried over to any.
    pub rate: Option<f64>,
    /// How many known bugs each checker judged.
    pub judged_by: BTreeMap<Checker, usize>,
    /// Each known bug.
    pub mutants: Vec<Mutant>,
    /// Properties that a reference violates.
    pub wrong: Vec<Wrong>,
    /// Properties that no reference could say anything of, where there is one.
    pub untried: Vec<Unknown>,
    /// Properties that could not be carried over.
    pub not_applicable: Vec<NotApplicable>,
}

/// The tools that were asked about the specification itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tools {
    /// What translates its algorithm.
    pub translator: &'static str,
    /// What parses it.
    pub parser: &'static str,
    /// What explores its states.
    pub checker: &'static str,
    /// The version of the checker in its own words; empty if the specification was rejected before it ran.
    pub version: String,
    /// The checker that ran beside it, with `--checker both`.
    pub second: Option<Checker>,
}

impl Tools {
    /// The tools that belong to a checker.
    pub fn of(checker: Checker, version: String, second: Option<Checker>) -> Self {
        let (translator, parser) = (checker.translator(), checker.parser());
        Self { translator, parser, checker: checker.name(), version, second }
    }
}

/// An evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The version of this object.
    pub schema: u32,
    /// The case.
    pub case: String,
    /// From 0 to 1; absent without a detection rate, unless the specification says nothing.
    pub score: Option<f64>,
    /// The first tier.
    pub tier1: Tier1,
    /// The second.
    pub tier2: Tier2,
    /// The third.
    pub tier3: Tier3,
    /// How the run ended, where there was one.
    pub outcome: Option<crate::pipeline::Outcome>,
    /// Answers of its recording that were given to another wording of the prompt.
    pub stale_answers: Option<u32>,
    /// What decided the first tier.
    pub checker: Checker,
    /// All tools of the first tier.
    pub tools: Tools,
    /// Wall time in seconds of the whole evaluation.
    pub seconds: f64,
    /// What a person should know of the case.
    pub remarks: Vec<String>,
}

impl Evaluation {
    /// Whether there is no score because no known bug says anything about this specification.
    pub fn inapplicable(&self) -> bool {
        self.score.is_none() && self.tier3.inapplicable
    }

    /// The criteria of the first tier, each with a name that says which tool decides it.
    pub fn criteria(&self) -> [(String, &Criterion); 5] {
        let [parse, pluscal, check, type_ok, invariants] = self.tier1.all();
        let bare = |name: &'static str| name.trim_start_matches("the ");
        [
            (format!("{} accepts", bare(self.checker.parser())), parse),
            ("PlusCal translates".to_owned(), pluscal),
            (format!("{} completes", bare(self.checker.name())), check),
            ("TypeOK holds".to_owned(), type_ok),
            ("invariants hold".to_owned(), invariants),
        ]
    }

    /// The weighted score: 0 if the specification says nothing, none without a detection rate.
    pub fn score_of(tier1: &Tier1, tier2: &Tier2, rate: Option<f64>) -> Option<f64> {
        if !tier1.vacuous.is_empty() {
            return Some(0.0);
        }
        let passed = f64::from(u8::from(tier1.passed()));
        let [first, second, third] = WEIGHTS;
        rate.map(|rate| first * passed + second * passed * tier2.efficiency + third * rate)
    }
}
