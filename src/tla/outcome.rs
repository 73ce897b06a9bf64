//! The outcome of a check as a plain value, so that pure code can hold a verdict without knowing any tool.
//!
//! A verdict is never made from an error: what a checker could not decide is [`Verdict::Inconclusive`],
//! and what prevented it from running at all is an error of the toolchain, not a value here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnostic::Diagnostic;
use super::probe::{ASSERTION, DEADLOCK, Probes};

/// What explored the states.
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

    /// Its name in a table, and in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Tlc => "tlc",
            Self::Embedded => "embedded",
        }
    }

    /// The parser that belongs to it.
    pub fn parser(self) -> &'static str {
        match self {
            Self::Tlc => "SANY",
            Self::Embedded => "the embedded parser",
        }
    }

    /// The translator that belongs to it.
    pub fn translator(self) -> &'static str {
        match self {
            Self::Tlc => "the PlusCal translator",
            Self::Embedded => "the embedded translator",
        }
    }
}

/// What a check showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// Every declared property holds within the bounds, and the exploration was complete.
    Holds,
    /// A property is violated; the trace of the outcome shows how.
    Violated {
        /// What is violated.
        violated: Violation,
    },
    /// The specification does not parse or cannot be evaluated.
    Invalid {
        /// Where it failed: `parse` or `evaluation`.
        violated: Violation,
        /// In the tool's words.
        reason: String,
        /// Located findings, where the tool gave any.
        diagnostics: Vec<Diagnostic>,
    },
    /// The checker did not come to a verdict.
    Inconclusive {
        /// Why: a deadline, a bound, memory, a refusal.
        reason: String,
        /// Its time was up.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        out_of_time: bool,
    },
}

/// What a violated or invalid verdict names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// Its kind.
    pub kind: ViolationKind,
    /// The name of the property, or `None` where there is none (deadlock) or the tool does not tell.
    pub name: Option<String>,
}

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
    /// No behaviour satisfies what the specification assumes, so every property holds of it.
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

/// What the checker counted. `None` where it did not say.
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
    /// Wall time in seconds that the user waited for the whole check: every start of a tool, translation and parsing,
    /// witnesses, traces and probes. Absent if only the main run was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_seconds: Option<f64>,
}

impl Statistics {
    /// The time to show, in seconds.
    pub fn shown_seconds(&self) -> f64 {
        self.waited_seconds.unwrap_or(self.seconds)
    }
}

/// The bounds that every positive verdict names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Constant assignments of the configuration, name to TLA+ text.
    pub constants: BTreeMap<String, String>,
    /// State and action constraints by name.
    pub constraints: Vec<String>,
    /// The VIEW, if any.
    pub view: Option<String>,
    /// The SYMMETRY sets, if any.
    pub symmetry: Vec<String>,
    /// Properties that were checked in the initial states only: they have no temporal operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initial_only: Vec<String>,
    /// Parts of properties that were checked in the initial states only, as a review accepts them:
    /// `PROPERTY Live (initial states only: x = 0)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initial_parts: Vec<String>,
    /// What the specification assumes beside its actions and their fairness, as a review accepts it:
    /// `Spec assumes []<>(x = 0)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Whether a state without successor counts as an error.
    pub deadlock_checked: bool,
    /// Whether the configuration gives no behaviour, so that only assumptions are checked and no state is explored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumptions_only: bool,
    /// Steps that are, or may be, possible in every reachable state, so that no deadlock can occur. The checker is asked for
    /// them only if the absence of deadlocks covers a requirement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always_enabled: Vec<String>,
    /// Premises of properties that cover a requirement, if no reachable state is known to satisfy them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vacuous_premises: Vec<String>,
    /// TLC's estimate of the probability that a fingerprint collision hid states (the larger of its two figures).
    pub collision_probability: Option<f64>,
}

/// The action that the PlusCal translator adds so that a terminated algorithm does not deadlock. That it is never taken
/// says that the algorithm never ends, which is no defect.
pub const TERMINATING: &str = "Terminating";

/// How often an action was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionCoverage {
    /// The action's name; for PlusCal the label. A part of a definition that has no name of its own is named after the
    /// definition and its place, `Next (line 12)`.
    pub action: String,
    /// Number of times it was taken (TLC's second number: states generated by it).
    pub taken: u64,
    /// Distinct states it found first (TLC's first number).
    pub distinct: u64,
    /// Where such a part begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The checker tells only that it was taken, not how often: `taken` is what is certain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

impl ActionCoverage {
    /// The name of the definition alone.
    pub fn name(&self) -> &str {
        self.action.split_once(" (").map_or(&self.action, |(name, _)| name)
    }
}

/// A place in the module that was checked; both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// What a part of a definition is called; with its column where it is not alone in its line.
pub(crate) fn part_of(name: &str, place: Place, alone: bool) -> String {
    let Place { line, column } = place;
    if alone { format!("{name} (line {line})") } else { format!("{name} (line {line}, column {column})") }
}

/// A counterexample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// The states in order; the first is initial.
    pub steps: Vec<Step>,
    /// How a behaviour goes on for ever, where the violated property is temporal.
    pub lasso: Option<Lasso>,
}

impl Trace {
    /// Adds a state; what changed is told by the one before it.
    pub(crate) fn push(&mut self, step: usize, action: Option<String>, state: BTreeMap<String, String>) {
        let before = self.steps.last().map(|s| &s.state);
        let changed = state
            .iter()
            .filter(|(name, value)| before.is_none_or(|before| before.get(*name) != Some(value)))
            .map(|(name, _)| name.clone())
            .collect();
        self.steps.push(Step { step, action, state, changed });
    }
}

/// One state of a trace, and the action that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its number, from 1.
    pub step: usize,
    /// The action that led here: the PlusCal label or the TLA+ definition; `None` for the initial state or unknown.
    pub action: Option<String>,
    /// Values by variable, as TLA+ text.
    pub state: BTreeMap<String, String>,
    /// The variables whose value differs from the previous state (all of them in the first).
    pub changed: Vec<String>,
}

/// The infinite part of a counterexample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lasso {
    /// After the last state the behaviour goes on with this step.
    BackTo(usize),
    /// After the last state nothing ever happens.
    Stuttering(bool),
}

/// A witness: a state that must be reachable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessOutcome {
    /// The operator's name.
    pub name: String,
    /// Whether it was reached, or why this is not known.
    pub reached: Reached,
    /// Its run did not end in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_time: bool,
}

impl WitnessOutcome {
    /// Not decided, for a reason other than time.
    pub fn undecided(name: &str, why: impl Into<String>) -> Self {
        Self { name: name.to_owned(), reached: Reached::Unknown(why.into()), out_of_time: false }
    }
}

/// Whether a witness was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reached {
    /// A run that checked its negation failed on it, after this many steps.
    Yes {
        /// Length of the path.
        depth: usize,
    },
    /// A complete run never reached it.
    No,
    /// Not decided, and why.
    Unknown(String),
}

/// All that one check showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckOutcome {
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Counts of the main run.
    pub statistics: Statistics,
    /// Bounds that the verdict holds within.
    pub bounds: Bounds,
    /// Coverage by action; `None` where the checker gave none.
    pub coverage: Option<Vec<ActionCoverage>>,
    /// The counterexample of a violated verdict.
    pub trace: Option<Trace>,
    /// Invariants that were really checked, in the order of the configuration.
    pub invariants: Vec<String>,
    /// Temporal properties that were really checked.
    pub properties: Vec<String>,
    /// What further runs say of the violation; `None` where none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
    /// One entry for each `\* WITNESS` line of the configuration.
    pub witnesses: Vec<WitnessOutcome>,
    /// The tool's warnings, and ours.
    pub warnings: Vec<String>,
    /// What explored the states.
    pub checker: Checker,
    /// The checker's name and version, in its own words.
    pub version: String,
}

impl CheckOutcome {
    /// The outcome of what never reached the checker.
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
            trace: None,
            invariants: Vec::new(),
            properties: Vec::new(),
            probes: None,
            witnesses: Vec::new(),
            warnings: Vec::new(),
            checker,
            version: String::new(),
        }
    }

    /// Whether the main exploration ran to its end: nothing left on the queue.
    pub fn complete(&self) -> bool {
        self.statistics.left_on_queue == Some(0)
    }

    /// Whether this check decided within its bounds if the property of that name holds; `Deadlock` is its absence,
    /// `Assertion` all assertions together. A run that finds a violation ends there, and decides nothing else.
    pub fn decided(&self, name: &str) -> bool {
        let is_listed = |names: &[String]| names.iter().any(|n| n == name);
        let violated = match &self.verdict {
            Verdict::Violated { violated } => Some(violated),
            _ => None,
        };
        let is_violated = violated.is_some_and(|v| v.property() == Some(name));
        // Temporal properties have a run of their own, made only where the one for invariants found no violation.
        let invariants_hold = match (&self.verdict, violated.map(|v| v.kind)) {
            (Verdict::Holds, _) | (_, Some(ViolationKind::Property | ViolationKind::ActionProperty)) => true,
            (_, Some(_)) => false,
            (_, None) => !self.invariants.is_empty(),
        };
        is_violated
            || (invariants_hold
                && (is_listed(&self.invariants)
                    || name == ASSERTION
                    || (name == DEADLOCK && self.bounds.deadlock_checked && self.bounds.always_enabled.is_empty())))
            || (violated.is_none() && is_listed(&self.properties) && !self.is_initial_only(name))
    }

    /// Whether the property of that name was checked in the initial states only.
    pub fn is_initial_only(&self, name: &str) -> bool {
        self.bounds.initial_only.iter().any(|known| known == name) && !self.invariants.iter().any(|known| known == name)
    }

    /// Properties and invariants that were checked in more than the initial states.
    pub fn checked_names(&self) -> impl Iterator<Item = &String> {
        self.invariants.iter().chain(&self.properties).filter(|name| !self.is_initial_only(name))
    }

    /// Whether an action of this name was taken. Without coverage it is not known, and none was.
    pub fn took(&self, action: &str) -> bool {
        self.coverage.iter().flatten().any(|a| a.action == action && a.taken > 0)
    }

    /// Whether more than the initial states were explored.
    pub fn moved(&self) -> bool {
        match (self.statistics.distinct, self.statistics.initial) {
            (Some(distinct), Some(initial)) => distinct > initial,
            (Some(distinct), None) => distinct > 1 && self.statistics.depth.is_none_or(|d| d > 1),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: Verdict, invariants: &[&str], properties: &[&str]) -> CheckOutcome {
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        CheckOutcome {
            verdict,
            statistics: Statistics::default(),
            bounds: Bounds { deadlock_checked: true, ..Bounds::default() },
            coverage: None,
            trace: None,
            invariants: names(invariants),
            properties: names(properties),
            probes: None,
            witnesses: Vec::new(),
            warnings: Vec::new(),
            checker: Checker::Tlc,
            version: String::new(),
        }
    }

    fn violated(kind: ViolationKind, name: Option<&str>) -> Verdict {
        Verdict::Violated { violated: Violation { kind, name: name.map(str::to_owned) } }
    }

    #[test]
    fn a_check_decides_what_it_came_to_and_nothing_else() {
        use ViolationKind::{Assertion, Deadlock, Invariant, Property};
        let inconclusive = || Verdict::undecided("a constraint");
        let (i, p): (&[&str], &[&str]) = (&["A", "B"], &["P", "Q"]);
        for (verdict, invariants, properties, decided) in [
            (Verdict::Holds, i, p, "A B P Q Deadlock Assertion"),
            (violated(Invariant, Some("A")), i, &[], "A"),
            (violated(Deadlock, None), i, &[], "Deadlock"),
            (violated(Assertion, None), i, &[], "Assertion"),
            (violated(Property, Some("P")), i, p, "A B P Deadlock Assertion"),
            // The run for temporal properties was bounded, or the other one was.
            (inconclusive(), i, &[], "A B Deadlock Assertion"),
            (inconclusive(), &[], p, "P Q"),
            (inconclusive(), &[], &[], ""),
        ] {
            let outcome = outcome(verdict, invariants, properties);
            let all = ["A", "B", "P", "Q", "Deadlock", "Assertion", "Unknown"];
            let found: Vec<&str> = all.into_iter().filter(|name| outcome.decided(name)).collect();
            assert_eq!(found.join(" "), decided, "{:?}", outcome.verdict);
        }
        let mut unchecked = outcome(Verdict::Holds, i, p);
        unchecked.bounds.deadlock_checked = false;
        assert!(!unchecked.decided("Deadlock"));
    }
}
