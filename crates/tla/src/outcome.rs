//! The outcome of a check as plain data, so that the pipeline, reports and prompts can use a verdict without knowing
//! any tool.
//!
//! An error never becomes a verdict: what a checker could not decide is [`Verdict::Inconclusive`], and whatever kept it
//! from running at all is an error of the toolchain, not a value here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::branch_coverage::BranchCoverage;
use super::diagnostic::Diagnostic;
use super::place::Place;
use super::probe::Probes;

/// The checker that explored the states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Checker {
    /// TLC, the Java reference.
    Tlc,
    /// The checker inside our own binary.
    Embedded,
}

impl Checker {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tlc => "TLC",
            Self::Embedded => "the embedded checker",
        }
    }

    /// Its name in tables and JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Tlc => "tlc",
            Self::Embedded => "embedded",
        }
    }

    /// The parser that runs before it.
    pub fn parser(self) -> &'static str {
        match self {
            Self::Tlc => "SANY",
            Self::Embedded => "the embedded parser",
        }
    }

    /// The PlusCal translator that runs before it.
    pub fn translator(self) -> &'static str {
        match self {
            Self::Tlc => "the PlusCal translator",
            Self::Embedded => "the embedded translator",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// Every declared property holds within the bounds, and the exploration was complete.
    Holds,
    /// A property is violated; the trace of the outcome shows how.
    Violated { violated: Violation },
    /// The specification does not parse or cannot be evaluated.
    Invalid {
        /// Where it failed: `parse` or `evaluation`.
        violated: Violation,
        /// In the tool's words.
        reason: String,
        /// Findings with their positions, if the tool gave any.
        diagnostics: Vec<Diagnostic>,
    },
    /// The checker did not come to a verdict.
    Inconclusive {
        /// Why: a deadline, a bound, memory, a refusal.
        reason: String,
        /// The check reached its time limit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        timed_out: bool,
    },
}

/// What is violated, or the stage at which an invalid specification failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    pub kind: ViolationKind,
    /// The name of the property; `None` for a deadlock, or if the tool does not name it.
    pub name: Option<String>,
}

impl Violation {
    /// The name by which reviews and comments (`\* Deadlock covers R4`) refer to what is violated: the property's, or
    /// [`DEADLOCK`], or [`ASSERTION`].
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
/// The name of all assertions of a module together as one property.
pub const ASSERTION: &str = "Assertion";

/// Kinds of violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// A state predicate is false in a reachable state.
    Invariant,
    /// A temporal property is false on a behaviour.
    Property,
    /// A property of the form `[][A]_v`, or the initial predicate of a property, is false on a step.
    ActionProperty,
    /// A reachable state has no successor.
    Deadlock,
    /// No behaviour satisfies the specification's assumptions, so every property holds of it.
    NoBehaviour,
    /// An ASSUME is false.
    Assumption,
    /// An `Assert` or a PlusCal `assert` failed.
    Assertion,
    /// An expression could not be evaluated (verdict `invalid`).
    Evaluation,
    /// The module or the configuration does not parse (verdict `invalid`).
    Parse,
}

/// The counts of the checker; `None` for those that it did not print.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// States generated.
    pub generated: Option<u64>,
    /// Distinct states found.
    pub distinct: Option<u64>,
    /// Depth of the complete state graph search.
    pub depth: Option<u64>,
    /// States left on the queue: 0 means that the exploration was complete.
    pub left_on_queue: Option<u64>,
    /// Distinct initial states.
    pub initial: Option<u64>,
    /// Wall time of the main run in seconds.
    pub seconds: f64,
    /// Wall time of the whole check in seconds: every start of a tool, translation and parsing, witnesses, traces and
    /// probes. Absent if only the main run was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_seconds: Option<f64>,
}

impl Statistics {
    /// The time that reports show, in seconds: of the whole check if it was measured, otherwise of the main run.
    pub fn reported_seconds(&self) -> f64 {
        self.total_seconds.unwrap_or(self.seconds)
    }
}

/// The action that the PlusCal translator adds so that a terminated algorithm does not deadlock. If it is never taken,
/// the algorithm never ends, which is no defect.
pub const TERMINATING: &str = "Terminating";

/// How often an action was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionCoverage {
    /// The action's name; for PlusCal the label. An unnamed part of a definition has the name of the definition and its
    /// position: `Next (line 12)`.
    pub action: String,
    /// Number of times it was taken (TLC's second number: states generated by it).
    pub taken: u64,
    /// Number of distinct states that it found first (TLC's first number).
    pub distinct: u64,
    /// Where an unnamed part begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// `taken` is a lower bound: the checker reports only that the action was taken, not how often.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lower_bound: bool,
    /// It is named like the translator's step for the end of the algorithm, and the translator has not made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own_terminating: bool,
}

impl ActionCoverage {
    /// Whether it is the translator's step for the end of the algorithm, which need not be taken.
    pub fn is_translators_end(&self) -> bool {
        self.action == TERMINATING && !self.is_own_terminating
    }

    /// The name of the definition, without the position of an unnamed part.
    pub fn name(&self) -> &str {
        self.action.split_once(" (").map_or(&self.action, |(name, _)| name)
    }
}

/// The label of an unnamed part of a definition. It contains the column only if another part begins on the same line.
pub fn action_part_label(definition: &str, place: Place, is_alone_on_line: bool) -> String {
    let Place { line, column } = place;
    if is_alone_on_line {
        format!("{definition} (line {line})")
    } else {
        format!("{definition} (line {line}, column {column})")
    }
}

/// A counterexample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// The states in order; the first is initial.
    pub steps: Vec<Step>,
    /// How the behaviour continues for ever, if the violated property is temporal.
    pub lasso: Option<Lasso>,
}

impl Trace {
    /// Adds a state and computes which variables changed since the one before.
    pub fn push(&mut self, step: usize, action: Option<String>, state: BTreeMap<String, String>) {
        let before = self.steps.last().map(|s| &s.state);
        let changed = state
            .iter()
            .filter(|(name, value)| before.is_none_or(|before| before.get(*name) != Some(value)))
            .map(|(name, _)| name.clone())
            .collect();
        self.steps.push(Step {
            step,
            action,
            branch: None,
            arguments: None,
            process: None,
            source: None,
            state,
            changed,
            false_conjuncts: Vec::new(),
        });
    }
}

/// One state of a trace, and the action that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its number, from 1.
    pub step: usize,
    /// The action that led here: the PlusCal label or the TLA+ definition; `None` for the initial state or if unknown.
    pub action: Option<String>,
    /// The branch of the action, if it has several and exactly one explains the step: see [`Branch::name`].
    ///
    /// [`Branch::name`]: super::branch_coverage::Branch::name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The arguments of the action, as TLA+ text: for `PlusCal` the process. `None` if it has none, or if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The process that takes the step, if the action has no argument for it: `server` of `process S = "server"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Where the action or its branch is in the user's file: for `PlusCal` in the algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<StepSource>,
    /// Values by variable, as TLA+ text.
    pub state: BTreeMap<String, String>,
    /// The variables whose value differs from the previous state (in the first state, all of them).
    pub changed: Vec<String>,
    /// The conjuncts of the violated invariant that are false in this state, if it is the last one of a counterexample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub false_conjuncts: Vec<FalseConjunct>,
}

/// A conjunct of an invariant that is false in a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FalseConjunct {
    /// As the module writes it, on one line.
    pub formula: String,
    /// For a bounded `\A`, for which elements: `p = r1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
    /// The variables that it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
}

impl Step {
    /// The action with its arguments: `Loop(3)`.
    pub fn call(&self) -> Option<String> {
        let action = self.action.as_ref()?;
        Some(self.arguments.as_ref().map_or_else(|| action.clone(), |arguments| format!("{action}({arguments})")))
    }
}

/// A position in the user's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepSource {
    /// The name of the file, without a folder.
    pub file: String,
    #[serde(flatten)]
    pub place: Place,
}

impl std::fmt::Display for StepSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.place.line)
    }
}

/// The infinite part of a counterexample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lasso {
    /// After the last state the behaviour continues with this step.
    BackTo(usize),
    /// After the last state nothing ever happens.
    Stuttering(bool),
}

/// The result for a witness, a state predicate that the specification must be able to reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessOutcome {
    pub name: String,
    pub reached: Reached,
    /// The run for this witness reached its time limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

impl WitnessOutcome {
    /// Not decided, for a reason other than time.
    pub fn undecided(name: &str, why: impl Into<String>) -> Self {
        Self { name: name.to_owned(), reached: Reached::Unknown(why.into()), timed_out: false }
    }
}

/// Whether a witness was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reached {
    /// A run that checked the witness's negation as an invariant found a violation.
    Yes {
        /// Number of states of the path to it.
        depth: usize,
    },
    /// A complete run never reached it.
    No,
    /// Not decided, and why.
    Unknown(String),
}

impl Reached {
    /// The number of states of the path to it, if it was reached.
    pub fn depth(&self) -> Option<usize> {
        match self {
            Self::Yes { depth } => Some(*depth),
            Self::No | Self::Unknown(_) => None,
        }
    }
}

/// What a check found of a property after another one was violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherProperty {
    /// As [`Violation::property`](Violation::property) names it.
    pub name: String,
    #[serde(flatten)]
    pub verdict: FurtherVerdict,
}

impl FurtherProperty {
    /// Whether it has no verdict for lack of time.
    pub fn is_timed_out(&self) -> bool {
        matches!(self.verdict, FurtherVerdict::Undecided { timed_out: true, .. })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum FurtherVerdict {
    Holds,
    Violated {
        kind: ViolationKind,
        /// Its counterexample, if one was derived in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<Trace>,
        /// Results of further runs on the violation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        probes: Option<Probes>,
    },
    Undecided {
        reason: String,
        /// Whether its run did not end in time, or was not started for lack of time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        timed_out: bool,
    },
}

/// The properties of a check that holds, checked with one constant enlarged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LargerBound {
    pub constant: String,
    /// The enlarged value.
    pub value: String,
    pub result: LargerBoundResult,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LargerBoundResult {
    /// All properties hold.
    Holds {
        /// The number of distinct states, if the checker gave it.
        states: Option<u64>,
    },
    Violated {
        violated: Violation,
        trace: Option<Trace>,
    },
    /// An ASSUME is false with this value.
    Excluded,
    /// The check did not end in its share of the time.
    TooLarge,
    /// The check met more distinct states than `limit`.
    TooManyStates {
        limit: u64,
    },
    /// No time was left for it.
    NotTried,
    /// The check came to no verdict for another reason.
    Undecided {
        why: String,
    },
}

/// Everything that one check showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckOutcome {
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Counts of the main run.
    pub statistics: Statistics,
    /// Bounds within which the verdict holds.
    pub bounds: Bounds,
    /// Coverage by action; `None` if the checker gave none.
    pub coverage: Option<Vec<ActionCoverage>>,
    /// Coverage by branch of the actions; `None` if nothing holds, if no action has branches, or with a warning that
    /// says why it was not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<BranchCoverage>,
    /// The counterexample of a violated verdict.
    pub trace: Option<Trace>,
    /// Invariants that were actually checked, in the order of the configuration.
    pub invariants: Vec<String>,
    /// Temporal properties that were actually checked, unless an invariant or a deadlock was violated before them: then
    /// they are in `further`.
    pub properties: Vec<String>,
    /// Every other property of a check that found a violation, with its own verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherProperty>,
    /// Results of further runs on the violation; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
    /// The same properties with larger constants, if all hold and a run tried some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub larger_bounds: Vec<LargerBound>,
    /// One entry for each `\* WITNESS` line of the configuration.
    pub witnesses: Vec<WitnessOutcome>,
    /// Warnings of the tool and of tlaforge.
    pub warnings: Vec<String>,
    pub checker: Checker,
    /// The checker's name and version, as it prints them.
    pub version: String,
    /// What the reference tools say of the verdict of another checker; `None` if they did not run, or decided it themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
}

/// What a second set of tools says of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// They came to the same verdict. The text is the checker's name and version, as it prints them.
    By(String),
    /// They could not decide it, for this reason.
    Missing(String),
}

impl CheckOutcome {
    /// Whether the reference tools neither came to this verdict nor confirmed it.
    pub fn is_without_reference(&self) -> bool {
        self.checker == Checker::Embedded && !matches!(self.confirmation, Some(Confirmation::By(_)))
    }

    /// The outcome for a specification that was rejected before the checker ran.
    pub fn rejected(checker: Checker, bounds: Bounds, diagnostics: Vec<Diagnostic>) -> Self {
        let reason = diagnostics.first().map_or_else(|| "it was rejected".to_owned(), |d| d.message.clone());
        Self {
            verdict: Verdict::Invalid {
                violated: Violation { kind: ViolationKind::Parse, name: None },
                reason,
                diagnostics,
            },
            statistics: Statistics::default(),
            bounds,
            coverage: None,
            branches: None,
            trace: None,
            invariants: Vec::new(),
            properties: Vec::new(),
            further: Vec::new(),
            probes: None,
            larger_bounds: Vec::new(),
            witnesses: Vec::new(),
            warnings: Vec::new(),
            checker,
            version: String::new(),
            confirmation: None,
        }
    }

    /// Whether the main exploration was complete, with nothing left on the queue.
    pub fn is_complete(&self) -> bool {
        self.statistics.left_on_queue == Some(0)
    }

    /// Whether the named property was checked in the initial states only.
    pub fn is_initial_only(&self, name: &str) -> bool {
        self.bounds.initial_state_properties.iter().any(|known| known == name)
            && !self.invariants.iter().any(|known| known == name)
    }

    /// Why this property is vacuous: it shows nothing of the requirement that it covers, whatever its verdict is.
    pub fn why_vacuous(&self, name: &str) -> Option<&str> {
        self.bounds.vacuous_properties.get(name).map(String::as_str)
    }

    /// Properties and invariants that were checked in more than the initial states.
    pub fn checked_names(&self) -> impl Iterator<Item = &String> {
        self.invariants.iter().chain(&self.properties).filter(|name| !self.is_initial_only(name))
    }

    /// Whether an action of this name was taken. Without coverage data the answer is no.
    pub fn was_taken(&self, action: &str) -> bool {
        self.coverage.iter().flatten().any(|a| a.action == action && a.taken > 0)
    }

    /// Whether the check explored more than the initial states.
    pub fn has_steps(&self) -> bool {
        match (self.statistics.distinct, self.statistics.initial) {
            (Some(distinct), Some(initial)) => distinct > initial,
            (Some(distinct), None) => distinct > 1 && self.statistics.depth.is_none_or(|d| d > 1),
            _ => false,
        }
    }
}
