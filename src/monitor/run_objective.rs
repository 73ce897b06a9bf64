//! The objective of a run: a goal over the revisions that it closes, each of them one state of a finite trace, with
//! predicates over what was measured of it.
//!
//! Knows nothing of runs but that their revisions have quantities with names.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::objective_config::{ConfigError, Format, RewardSettings};
use super::reachable::{Onward, Possible};
use crate::temporal::{
    Atom, Dfa, Formulas, Letter, Limits, Objective, ObjectiveError, Predicate, PredicateResult, Progression, Record,
    Residual, Robustness, RobustnessError, StepResult, Value,
};

/// More than a goal over a handful of revisions needs, and built in milliseconds.
const LIMITS: Limits = Limits { states: 1_000, nodes: 100_000 };

/// Why an objective is none.
#[derive(Debug, thiserror::Error)]
pub enum GoalError {
    /// The document cannot be read, or a part of it is no formula.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A quantity that no run has.
    #[error("`{text}` asks for `{name}`, which no run has")]
    Metric {
        /// The predicate's formula.
        text: String,
        /// The quantity.
        name: String,
    },
    /// A predicate with the name of a quantity.
    #[error("a predicate is named `{name}`, which is what a run itself tells")]
    Shadows {
        /// The name.
        name: String,
    },
    /// A predicate whose value depends on nothing, such as `cost < 1 / 0`.
    #[error("the predicate `{text}` has no finite threshold: it is the same whatever a revision is like")]
    Constant {
        /// Its formula.
        text: String,
    },
    /// Nothing satisfies the goal, as far as its form, its thresholds and what its quantities mean tell.
    #[error("the goal `{goal}` can never be reached: no revisions satisfy it, whatever they are like")]
    Unreachable {
        /// The goal.
        goal: String,
    },
    /// Everything satisfies the goal.
    #[error("the goal `{goal}` holds whatever the revisions are like, so it ranks none before another")]
    Trivial {
        /// The goal.
        goal: String,
    },
}

impl From<ObjectiveError> for GoalError {
    fn from(error: ObjectiveError) -> Self {
        Self::Config(error.into())
    }
}

/// A quantity that every revision may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Which values it may have. A goal may name a truth value without a predicate.
    pub range: Range,
    /// What else is so of each revision of which this is true.
    pub implies: &'static [(&'static str, bool)],
    /// How its values follow one another.
    pub along: Along,
}

/// How the values of a quantity follow one another along a line of revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// Any after any.
    Freely,
    /// None is less than those before it.
    Grows,
    /// Each is greater than those before it, and none above the limit that a run may have.
    Numbers,
    /// A run ends with the revision of which it is true.
    Last,
}

/// Which values a quantity may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Yes or no.
    Truth,
    /// Whole numbers from 0.
    Count,
    /// Whole numbers from 1.
    Positive,
    /// Numbers from 0 to 1.
    Share,
    /// Numbers from 0.
    Amount,
}

/// What a document says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunObjective {
    /// The goal: a formula of the future over the revisions that a run closes.
    pub goal: String,
    /// What its names mean.
    #[serde(default, with = "predicates")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub predicates: Vec<Predicate>,
    /// What steps are worth.
    #[serde(default)]
    pub rewards: RewardSettings,
    /// Whether the run ends where the goal cannot be reached any more; it does by default.
    #[serde(default = "yes")]
    pub early_end: bool,
    #[serde(skip)]
    automaton: Built,
}

/// The automaton of an objective, shared by all its copies; it follows from the other fields.
#[derive(Debug, Clone, Default)]
struct Built(Arc<OnceLock<Option<(Objective, Possible)>>>);

impl PartialEq for Built {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn yes() -> bool {
    true
}

/// Names and formulas as one table. A name that stands twice is kept twice, and refused with the objective.
mod predicates {
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserializer, Serializer};

    use super::Predicate;

    pub(super) fn serialize<S: Serializer>(predicates: &[Predicate], to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(predicates.iter().map(|p| (&p.name, &p.formula)))
    }

    struct Table;

    impl<'de> Visitor<'de> for Table {
        type Value = Vec<Predicate>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table of predicates, name = \"formula\"")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Predicate>, A::Error> {
            let mut all = Vec::new();
            while let Some((name, formula)) = map.next_entry::<String, String>()? {
                all.push(Predicate { name, formula });
            }
            Ok(all)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Predicate>, D::Error> {
        from.deserialize_map(Table)
    }
}

impl RunObjective {
    /// Reads a document; `known` are the quantities that a revision may have.
    ///
    /// # Errors
    /// No such format, an unknown key; a formula that cannot be read; a quantity that is not known; a reward or threshold
    /// that is not finite; a goal that nothing or everything satisfies.
    pub fn from_text(text: &str, format: Format, known: &[Known]) -> Result<Self, GoalError> {
        let this: Self = match format {
            Format::Toml => toml::from_str(text).map_err(ConfigError::from)?,
            Format::Json => serde_json::from_str(text).map_err(ConfigError::from)?,
        };
        this.rewards.finite()?;
        for Predicate { name, formula } in &this.predicates {
            if known.iter().any(|k| k.name == name) {
                return Err(GoalError::Shadows { name: name.clone() });
            }
            let robustness = Robustness::parse(formula)
                .map_err(|error| ObjectiveError::Predicate { predicate: name.clone(), error })?;
            is_measurable(&robustness, known)?;
        }
        let objective = this.build(known)?;
        for (_, robustness) in objective.predicates() {
            is_measurable(robustness, known)?;
        }
        let possible = Possible::of(&objective, known);
        let anywhere = Onward { behind: None, now: &Nothing, highest: None };
        if possible.least(&objective, known, &anywhere).is_none() {
            return Err(GoalError::Unreachable { goal: this.goal });
        }
        if possible.always(&objective) {
            return Err(GoalError::Trivial { goal: this.goal });
        }
        let _ = this.automaton.0.set(Some((objective, possible)));
        Ok(this)
    }

    /// The quantities that decide how far a run has come.
    pub fn quantities(&self, known: &[Known]) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        if let Some((objective, _)) = self.built(known) {
            for (_, robustness) in objective.predicates() {
                all.extend(robustness.quantities().iter().filter(|q| !all.contains(q)).cloned().collect::<Vec<_>>());
            }
        }
        all
    }

    /// The least number of further revisions after which the goal is met; 0 where it is met, `None` where it cannot be.
    pub fn least(&self, known: &[Known], onward: &Onward<'_>) -> Option<u32> {
        let (objective, possible) = self.built(known)?;
        possible.least(objective, known, onward)
    }

    /// How many revisions it takes at least to reach the goal; see [`GoalStep::distance`].
    pub fn distance_at_start(&self, known: &[Known]) -> Option<u32> {
        self.built(known).and_then(|(objective, _)| distance(objective))
    }

    /// The automaton, which is built once.
    fn built(&self, known: &[Known]) -> Option<&(Objective, Possible)> {
        let build = || {
            let objective = self.build(known).ok()?;
            let possible = Possible::of(&objective, known);
            Some((objective, possible))
        };
        self.automaton.0.get_or_init(build).as_ref()
    }

    fn build(&self, known: &[Known]) -> Result<Objective, ObjectiveError> {
        let mut predicates = self.predicates.clone();
        predicates.extend(known.iter().filter(|k| k.range == Range::Truth).map(|k| Predicate::new(k.name, k.name)));
        Objective::with_limits(&self.goal, &predicates, LIMITS)
    }

    /// The steps of the automaton over a trace. Nothing where this was not read by [`RunObjective::from_text`] and is no
    /// objective.
    pub fn steps<'r, R: Record + 'r>(&self, known: &[Known], trace: impl IntoIterator<Item = &'r R>) -> Vec<GoalStep> {
        let Some((objective, _)) = self.built(known) else { return Vec::new() };
        let mut objective = objective.clone();
        // Where nothing is owed at first, and nothing is reached for good, progress is a round that begins.
        let begins = objective.dfa().accepts(Dfa::INITIAL) && objective.dfa().distance(Dfa::INITIAL).is_none();
        let rewards = self.rewards.into();
        let mut total_reward = 0.0;
        let mut steps = Vec::new();
        for record in trace {
            let mut afresh = objective.clone();
            afresh.reset(None);
            let alone = afresh.step_with_missing(record, &rewards).nearness;
            let alone = Alone { distance: distance(&afresh), nearness: finite(alone).filter(|_| !begins) };
            let StepResult { predicates, reward, nearness } = objective.step_with_missing(record, &rewards);
            let predicates = predicates.into_iter().map(Held::of).collect();
            total_reward = f64::clamp(total_reward + reward, f64::MIN, f64::MAX);
            steps.push(GoalStep {
                predicates,
                state: objective.state(),
                met: objective.is_accepting(),
                goal: objective.is_goaled(),
                trap: objective.is_trapped(),
                distance: distance(&objective),
                nearness: finite(nearness),
                reward,
                total_reward,
                alone,
            });
        }
        steps
    }

    /// What is still owed after these steps, said of steps.
    pub fn owed(&self, steps: &[GoalStep]) -> String {
        let mut formulas = Formulas::new();
        let Ok(goal) = formulas.parse(&self.goal) else { return String::new() };
        let mut progression = Progression::new();
        let Ok(mut owed) = progression.begin(&formulas, goal) else { return String::new() };
        for step in steps {
            let holds = |atom: &Atom| {
                let name = match atom {
                    Atom::Name(name) => name.to_string(),
                    other => formulas.atom_text(other),
                };
                step.predicates.get(&name).is_some_and(|held| held.holds)
            };
            let letter: Letter =
                progression.formulas().atoms().filter(|(_, atom)| holds(atom)).map(|(id, _)| id).collect();
            owed = progression.step(owed, &letter);
        }
        said(&mut progression, owed)
    }

    /// What the names of the goal mean: `` `good` is `holds & states < 100` ``; empty where it has none.
    pub fn meanings(&self) -> String {
        let used = |p: &&Predicate| {
            let mut formulas = Formulas::new();
            let Ok(goal) = formulas.parse(&self.goal) else { return false };
            let is_this = |id| matches!(formulas.atom(id), Atom::Name(name) if **name == *p.name);
            formulas.atoms_of(goal).into_iter().any(is_this)
        };
        let each: Vec<String> =
            self.predicates.iter().filter(used).map(|p| format!("`{}` is `{}`", p.name, p.formula)).collect();
        each.join(", ")
    }

    /// What a name of the goal stands for.
    pub fn formula_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.predicates.iter().find(|p| p.name == name).map_or(name, |p| &p.formula)
    }
}

fn said(progression: &mut Progression, owed: Residual) -> String {
    match progression.prefix_verdict(owed) {
        crate::temporal::PrefixVerdict::Satisfied => "nothing: the goal is reached".to_owned(),
        crate::temporal::PrefixVerdict::Violated => "the goal cannot be reached any more".to_owned(),
        crate::temporal::PrefixVerdict::Undecided => progression.in_words(owed),
    }
}

/// Steps to a goal; of a task whose automaton has none, to where it is met.
fn distance(objective: &Objective) -> Option<u32> {
    let dfa = objective.dfa();
    match dfa.distance(Dfa::INITIAL) {
        Some(_) => dfa.distance(objective.state()),
        None => dfa.distance_to_accepting(objective.state()),
    }
}

/// JSON has no other numbers.
fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

/// A record of nothing.
struct Nothing;

impl Record for Nothing {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        None
    }
}

/// All quantities have one value.
struct All(f64);

impl Record for All {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        Some(Value::Number(self.0))
    }
}

fn is_measurable(robustness: &Robustness, known: &[Known]) -> Result<(), GoalError> {
    let text = || robustness.text().to_owned();
    if let Some(name) = robustness.quantities().iter().find(|q| known.iter().all(|k| k.name != **q)) {
        return Err(GoalError::Metric { text: text(), name: name.clone() });
    }
    let is_finite = |value: &f64| match robustness.evaluate(&All(*value)) {
        Ok(robustness) => robustness.is_finite(),
        Err(RobustnessError::Undefined { .. }) => false,
        Err(_) => true,
    };
    if [0.3, 1.0, 7.0].iter().any(is_finite) { Ok(()) } else { Err(GoalError::Constant { text: text() }) }
}

/// A predicate at one revision.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// Whether it counts as satisfied.
    pub holds: bool,
    /// By how much; `None` where the revision lacks what it asks for.
    pub robustness: Option<f64>,
}

impl Held {
    fn of(PredicateResult { name, holds, robustness }: PredicateResult<'_>) -> (String, Self) {
        (name.to_owned(), Self { holds, robustness: finite(robustness) })
    }
}

/// What one revision came to on its line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalStep {
    /// The predicates that decided the step.
    pub predicates: BTreeMap<String, Held>,
    /// The automaton's state after it.
    pub state: usize,
    /// The revisions so far satisfy the goal.
    pub met: bool,
    /// They do, and can at most break it once for all.
    pub goal: bool,
    /// The goal cannot be reached any more, whatever revisions follow.
    pub trap: bool,
    /// Revisions that it takes at least until the goal is reached; `None` where it cannot be.
    pub distance: Option<u32>,
    /// How near the step came to progress: positive where it was made.
    pub nearness: Option<f64>,
    /// What the step was worth.
    pub reward: f64,
    /// The sum of this and all before it on the line.
    pub total_reward: f64,
    /// What the revision comes to on its own.
    pub alone: Alone,
}

/// The automaton after one revision alone, as if it were the first: what it is worth by itself, whatever came before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alone {
    /// As [`GoalStep::distance`].
    pub distance: Option<u32>,
    /// As [`GoalStep::nearness`]; `None` for goals such as `G (a -> F b)`, of which nothing is owed at first.
    pub nearness: Option<f64>,
}

impl GoalStep {
    /// Which of two revisions is nearer to the goal: first by their lines, where a trap comes last, then by themselves.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let far = |distance: Option<u32>| std::cmp::Reverse(distance.unwrap_or(u32::MAX));
        let near = |nearness: Option<f64>| nearness.unwrap_or(f64::NEG_INFINITY);
        (!self.trap, far(self.distance), far(self.alone.distance))
            .cmp(&(!other.trap, far(other.distance), far(other.alone.distance)))
            .then(near(self.alone.nearness).total_cmp(&near(other.alone.nearness)))
    }
}

#[cfg(test)]
#[path = "run_objective_tests.rs"]
mod tests;
