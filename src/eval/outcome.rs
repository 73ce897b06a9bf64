//! The result of an evaluation and its score. Serialized as `eval_report.json`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::score::Score;
use super::specs::ModelAnswers;
use crate::tla::Checker;

/// Maximum number of distinct states for the full score of the second tier.
pub const TARGET_STATES: f64 = 100_000.0;
/// Weights of the three tiers.
pub const WEIGHTS: [f64; 3] = [0.4, 0.2, 0.4];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Passed,
    Failed,
    NotApplicable,
    Undecided,
}

/// One criterion of the first tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Criterion {
    pub status: Status,
    /// Why the criterion is not met.
    pub reason: Option<String>,
}

impl Criterion {
    pub fn passed() -> Self {
        Self { status: Status::Passed, reason: None }
    }

    /// With a reason: not met, not applicable, undecided, or met for an unusual reason.
    pub fn because(status: Status, reason: impl Into<String>) -> Self {
        Self { status, reason: Some(reason.into()) }
    }

    fn is_met(&self) -> bool {
        matches!(self.status, Status::Passed | Status::NotApplicable)
    }
}

/// The first tier is binary: all criteria are met, or it fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tier1 {
    pub parse: Criterion,
    /// Its algorithm is translated.
    pub pluscal: Criterion,
    /// The check completed: no deadlock, no failed assertion, no unexplored states.
    pub check: Criterion,
    /// `TypeOK` holds.
    pub type_ok: Criterion,
    /// All declared invariants and properties hold.
    pub invariants: Criterion,
    /// Why the specification is vacuous; empty if it is not.
    pub vacuous: Vec<String>,
}

impl Tier1 {
    /// The criteria in the order of a report. [`Evaluation::criteria`] adds their names.
    fn all(&self) -> [&Criterion; 5] {
        [&self.parse, &self.pluscal, &self.check, &self.type_ok, &self.invariants]
    }

    /// Whether all criteria are met and the specification is not vacuous.
    pub fn passed(&self) -> bool {
        self.vacuous.is_empty() && self.all().iter().all(|criterion| criterion.is_met())
    }

    /// Whether no criterion failed and some are undecided.
    pub fn undecided(&self) -> bool {
        let is = |status| self.all().iter().any(|criterion| criterion.status == status);
        self.vacuous.is_empty() && !is(Status::Failed) && is(Status::Undecided)
    }
}

/// The second tier: measurements.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tier2 {
    /// Whether the exploration was complete; otherwise the counts are those at the violation.
    pub complete: bool,
    pub distinct_states: Option<u64>,
    pub generated_states: Option<u64>,
    /// Depth of the state graph.
    pub depth: Option<u64>,
    /// Wall time of the whole check in seconds: translation, parsing, all runs of the checker.
    pub seconds: f64,
    /// Invariants that the configuration lists.
    pub invariants: usize,
    /// Temporal properties that the configuration lists.
    pub properties: usize,
    /// Revisions of the run, if there was a run.
    pub revisions: Option<usize>,
    /// Required properties of the checklist that are listed under their names.
    pub required_by_name: Vec<String>,
    /// Score of the tier, from 0 to 1: [`TARGET_STATES`] divided by the number of distinct states, at most 1.
    pub efficiency: f64,
}

impl Tier2 {
    /// The score for a number of distinct states.
    pub fn efficiency_of(distinct: Option<u64>) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a ratio for people; counts are far below 2^52")]
        distinct.map_or(0.0, |distinct| (TARGET_STATES / (distinct.max(1) as f64)).min(1.0))
    }
}

/// The outcome of a known bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BugOutcome {
    /// A generated property is violated.
    Killed,
    /// Every property that could be carried over holds.
    Survived,
    /// No property is violated, and some are undecided.
    Inconclusive,
    /// No property could be carried over.
    NotApplicable,
}

impl BugOutcome {
    pub fn words(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "survived",
            Self::Inconclusive => "inconclusive",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// A property without a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undecided {
    pub property: String,
    pub reason: String,
}

/// A run on a known bug that reached its time limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimedOut {
    pub limit_seconds: f64,
    /// The properties that the run checked.
    pub properties: Vec<String>,
}

/// The result of one known bug.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnownBugResult {
    /// File of the bug, relative to the case.
    pub file: String,
    pub description: String,
    /// The property of the checklist that the bug violates.
    pub should_violate: String,
    pub outcome: BugOutcome,
    /// The violated generated properties.
    pub killed_by: Vec<String>,
    /// Whether only type invariants are violated.
    pub killed_by_types_only: bool,
    /// Whether `should_violate` is among the violated properties; absent if no generated property has that name.
    pub killed_by_expected: Option<bool>,
    /// Properties without a verdict.
    pub inconclusive: Vec<Undecided>,
    /// The checkers that ran on the bug.
    pub checkers: BTreeSet<Checker>,
    /// Set if a run on the bug reached its time limit.
    pub timed_out: Option<TimedOut>,
    /// A note for the reader.
    pub remark: Option<String>,
}

impl KnownBugResult {
    /// A note for the author of the case: the state space of the bug may be infinite.
    pub(super) fn unbounded_remark(&self) -> Option<String> {
        let TimedOut { limit_seconds: limit, properties } = self.timed_out.as_ref()?;
        Some(format!(
            "{}: the state space of the bug may be infinite: a run reached its time limit of {limit:.0} s (properties: \
             {}). Bound it, for example with a counter that stops, so that the properties can be decided",
            self.file,
            properties.join(", ")
        ))
    }
}

/// A generated property that a correct reference violates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrongProperty {
    pub property: String,
    pub reference: String,
}

/// A generated property that could not be carried over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    pub property: String,
    /// The targets that it could not be carried over to.
    pub files: Vec<String>,
    /// What those targets lack.
    pub missing: Vec<String>,
}

/// The third tier, and the most important one: how many known bugs the generated properties detect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tier3 {
    /// Number of killed known bugs.
    pub detected: usize,
    /// Number of those that only type invariants killed.
    pub detected_by_types_only: usize,
    /// Number of known bugs.
    pub total: usize,
    /// Whether there are known bugs, but no property could be carried over to any of them.
    pub inapplicable: bool,
    /// Number of known bugs that are not decided.
    pub undecided: usize,
    /// The detection rate, `detected / total`; absent without known bugs or if `inapplicable`.
    pub rate: Option<f64>,
    /// The rate if all undecided bugs were detected.
    pub rate_at_most: Option<f64>,
    /// Number of known bugs that each checker judged.
    pub judged_by: BTreeMap<Checker, usize>,
    pub known_bugs: Vec<KnownBugResult>,
    /// Properties that a reference violates.
    pub wrong_properties: Vec<WrongProperty>,
    /// Properties that no reference decided, if there are references.
    pub untested: Vec<Undecided>,
    /// Properties that could not be carried over.
    pub not_applicable: Vec<NotApplicable>,
}

/// The tools that checked the specification itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tools {
    pub translator: &'static str,
    pub parser: &'static str,
    pub checker: &'static str,
    /// Version line of the checker; empty if the specification was rejected before the check.
    pub version: String,
    /// The checker that ran beside the first one (`--checker both`), or that confirmed its verdict.
    pub second_checker: Option<Checker>,
}

impl Tools {
    /// The tools that belong to a checker.
    pub fn new(checker: Checker, version: String, second: Option<Checker>) -> Self {
        let (translator, parser) = (checker.translator(), checker.parser());
        Self { translator, parser, checker: checker.name(), version, second_checker: second }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Version of this format.
    pub schema: u32,
    pub case: String,
    /// From 0 to 1; absent without a detection rate, unless the specification is vacuous. What was not decided counts as
    /// missed.
    pub score: Option<f64>,
    /// The score if everything that was not decided were found; the same as `score` if all was decided.
    pub score_at_most: Option<f64>,
    pub tier1: Tier1,
    pub tier2: Tier2,
    pub tier3: Tier3,
    /// How the run ended, if there was a run.
    pub outcome: Option<crate::pipeline::Outcome>,
    /// Number of answers of the run that were recorded for another wording of the prompt.
    pub stale_answers: Option<u32>,
    /// The models that answered in the run.
    pub models: BTreeMap<String, ModelAnswers>,
    /// The verdict on the specification, with its bounds.
    pub verdict: String,
    /// The checker of the first two tiers.
    pub checker: Checker,
    pub tools: Tools,
    /// Wall time of the whole evaluation in seconds.
    pub seconds: f64,
    /// Notes about the case.
    pub remarks: Vec<String>,
}

impl Evaluation {
    /// The score as a range.
    pub fn range(&self) -> Option<Score> {
        self.score.map(|least| Score::new(least, self.score_at_most))
    }

    /// Whether there is no score because no property could be carried over to any known bug.
    pub fn inapplicable(&self) -> bool {
        self.score.is_none() && self.tier3.inapplicable
    }

    /// Why the case is not judged; `None` if it is. A score of such a case would only be a lower bound.
    pub fn unjudged(&self) -> Option<String> {
        let undecided = |(name, criterion): (String, &Criterion)| {
            let is_undecided = criterion.status == Status::Undecided;
            is_undecided.then(|| format!("{name}: {}", criterion.reason.as_deref().unwrap_or("undecided")))
        };
        let bugs = &self.tier3.known_bugs;
        match () {
            () if self.inapplicable() => Some("no property could be carried over to any known bug".to_owned()),
            () if self.tier1.undecided() => {
                Some(self.criteria().into_iter().filter_map(undecided).collect::<Vec<_>>().join("; "))
            }
            () if !bugs.is_empty() && bugs.iter().all(|bug| bug.outcome == BugOutcome::Inconclusive) => {
                Some("no known bug could be judged".to_owned())
            }
            () if self.range().is_some_and(|range| !range.is_decided()) => {
                let open =
                    bugs.iter().filter(|bug| bug.outcome == BugOutcome::Inconclusive).map(|bug| bug.file.as_str());
                Some(format!("not decided: {}", open.collect::<Vec<_>>().join(", ")))
            }
            () => None,
        }
    }

    /// The criteria of the first tier, each with a name that includes the deciding tool.
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

    /// The weighted score: 0 if the specification is vacuous, `None` without a detection rate.
    pub(super) fn score_of(tier1: &Tier1, tier2: &Tier2, tier3: &Tier3) -> Option<Score> {
        if !tier1.vacuous.is_empty() {
            return Some(Score::new(0.0, None));
        }
        let [first, second, third] = WEIGHTS;
        // The second tier counts only if the first one passed: a wrong specification can be small.
        let weigh = |passed: bool, efficiency: f64, rate: f64| {
            third * rate + if passed { first + second * efficiency } else { 0.0 }
        };
        // The number of states of an unfinished check is not known, so it counts with the best one.
        let best = if tier1.undecided() { 1.0 } else { tier2.efficiency };
        let passes_at_most = tier1.passed() || tier1.undecided();
        let rate_at_most = tier3.rate_at_most.or(tier3.rate)?;
        let least = weigh(tier1.passed(), tier2.efficiency, tier3.rate?);
        Some(Score::new(least, Some(weigh(passes_at_most, best, rate_at_most))))
    }
}
