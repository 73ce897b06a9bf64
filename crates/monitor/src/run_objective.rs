//! The objective of a run: a goal over its closed revisions, each of them one state of a finite trace, with predicates
//! over the metrics of revisions.
//!
//! Knows nothing about runs except that revisions have named metrics.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::goal_reachability::{Continuation, Reachability};
use super::goal_step::{FirstStep, GoalStep, PredicateValue, finite};
use super::metric_domain::{MetricDomain, Range};
use super::objective_config::{ConfigError, Format, RewardSettings};
use tlaforge_temporal::{
    Atom, Dfa, Formulas, Letter, Limits, Objective, ObjectiveError, Predicate, Progression, Record, Residual,
    Robustness, RobustnessError, StepResult, Value,
};

/// Limits of the automaton: more than a goal over a handful of revisions needs, and built in milliseconds.
const LIMITS: Limits = Limits { states: 1_000, nodes: 100_000 };

/// Why an objective is refused.
#[derive(Debug, thiserror::Error)]
pub enum GoalError {
    /// The document cannot be read, or a formula in it cannot be parsed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A predicate reads an unknown metric.
    #[error("`{text}` reads `{name}`, which is not a metric of a run")]
    Metric {
        /// The formula of the predicate.
        text: String,
        /// The metric.
        name: String,
    },
    /// A predicate has the name of a metric.
    #[error("a predicate is named `{name}`, which is the name of a metric; choose another name")]
    Shadows { name: String },
    /// A predicate whose value is the same for all revisions, such as `cost < 1 / 0`.
    #[error("the predicate `{text}` has no finite threshold: its value is the same for every revision")]
    Constant {
        /// The formula of the predicate.
        text: String,
    },
    /// No revisions satisfy the goal, judged by its form, its thresholds and the meaning of its metrics.
    #[error("the goal `{goal}` can never be reached: no revisions can satisfy it")]
    Unreachable { goal: String },
    /// All revisions satisfy the goal.
    #[error("the goal `{goal}` holds for all possible revisions, so it cannot rank them")]
    Trivial { goal: String },
}

impl From<ObjectiveError> for GoalError {
    fn from(error: ObjectiveError) -> Self {
        Self::Config(error.into())
    }
}

/// An objective file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunObjective {
    /// The goal: a future-time formula over the closed revisions of a run.
    pub goal: String,
    /// The meaning of the names in the goal.
    #[serde(default, with = "predicates")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub predicates: Vec<Predicate>,
    /// The rewards of steps.
    #[serde(default)]
    pub rewards: RewardSettings,
    /// Whether the run ends when the goal can no longer be reached. True by default.
    #[serde(default = "yes")]
    pub early_end: bool,
    #[serde(skip)]
    automaton: AutomatonCell,
}

/// The automaton of an objective, built once and shared by all copies. It is determined by the other fields, so it does
/// not take part in comparisons.
#[derive(Debug, Clone, Default)]
struct AutomatonCell(Arc<OnceLock<Option<(Objective, Reachability)>>>);

impl PartialEq for AutomatonCell {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn yes() -> bool {
    true
}

/// Serde for predicates as one table of names and formulas. A name that occurs twice is kept twice; the objective then
/// refuses it with a better message than serde would give.
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
    /// Reads an objective file; `metrics` are the metrics of revisions.
    ///
    /// # Errors
    /// A syntax error, an unknown key, a formula that cannot be parsed, an unknown metric, a reward or threshold that is
    /// not finite, and a goal that no revisions or all revisions satisfy.
    pub fn from_text(text: &str, format: Format, metrics: &[MetricDomain]) -> Result<Self, GoalError> {
        let objective: Self = match format {
            Format::Toml => toml::from_str(text).map_err(ConfigError::from)?,
            Format::Json => serde_json::from_str(text).map_err(ConfigError::from)?,
        };
        objective.rewards.check_finite()?;
        for Predicate { name, formula } in &objective.predicates {
            if metrics.iter().any(|metric| metric.name == name) {
                return Err(GoalError::Shadows { name: name.clone() });
            }
            let robustness = Robustness::parse(formula)
                .map_err(|error| ObjectiveError::Predicate { predicate: name.clone(), error })?;
            check_measurable(&robustness, metrics)?;
        }
        let automaton = objective.build(metrics)?;
        for (_, robustness) in automaton.predicates() {
            check_measurable(robustness, metrics)?;
        }
        let reachability = Reachability::new(&automaton, metrics);
        let from_start = Continuation { last_step: None, current_values: &NoMetrics, max_revision: None };
        if reachability.min_revisions(&automaton, metrics, &from_start).is_none() {
            return Err(GoalError::Unreachable { goal: objective.goal });
        }
        if reachability.is_always_met(&automaton) {
            return Err(GoalError::Trivial { goal: objective.goal });
        }
        let _ = objective.automaton.0.set(Some((automaton, reachability)));
        Ok(objective)
    }

    /// The metrics that the predicates read.
    pub fn metrics_read(&self, metrics: &[MetricDomain]) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        if let Some((objective, _)) = self.built(metrics) {
            for (_, robustness) in objective.predicates() {
                all.extend(robustness.quantities().iter().filter(|q| !all.contains(q)).cloned().collect::<Vec<_>>());
            }
        }
        all
    }

    /// The least number of further revisions after which the goal can be met; 0 if it is met, `None` if it cannot be.
    pub fn min_revisions(&self, metrics: &[MetricDomain], continuation: &Continuation<'_>) -> Option<u32> {
        let (objective, reachability) = self.built(metrics)?;
        reachability.min_revisions(objective, metrics, continuation)
    }

    /// The least number of revisions until the goal is reached, by the automaton alone; see [`GoalStep::distance`].
    pub fn distance_at_start(&self, metrics: &[MetricDomain]) -> Option<u32> {
        self.built(metrics).and_then(|(objective, _)| distance(objective))
    }

    /// The automaton, built on first use; `None` if this is no valid objective.
    fn built(&self, metrics: &[MetricDomain]) -> Option<&(Objective, Reachability)> {
        let build = || {
            let objective = self.build(metrics).ok()?;
            let reachability = Reachability::new(&objective, metrics);
            Some((objective, reachability))
        };
        self.automaton.0.get_or_init(build).as_ref()
    }

    fn build(&self, metrics: &[MetricDomain]) -> Result<Objective, ObjectiveError> {
        let mut predicates = self.predicates.clone();
        let truths = metrics.iter().filter(|metric| metric.range == Range::Truth);
        predicates.extend(truths.map(|metric| Predicate::new(metric.name, metric.name)));
        Objective::with_limits(&self.goal, &predicates, LIMITS)
    }

    /// The steps of the automaton over a trace; empty if this is no valid objective, which [`RunObjective::from_text`]
    /// excludes.
    pub fn steps<'r, R: Record + 'r>(
        &self,
        metrics: &[MetricDomain],
        trace: impl IntoIterator<Item = &'r R>,
    ) -> Vec<GoalStep> {
        let Some((objective, _)) = self.built(metrics) else { return Vec::new() };
        let mut objective = objective.clone();
        // A goal such as `G (a -> F b)` requires nothing at first and is never reached for good. Then the first step
        // makes progress when it opens an obligation, so that its nearness says nothing about the revision.
        let requires_nothing =
            objective.dfa().accepts(Dfa::INITIAL) && objective.dfa().distance(Dfa::INITIAL).is_none();
        let rewards = self.rewards.into();
        let mut total_reward = 0.0;
        let mut steps = Vec::new();
        for record in trace {
            let mut first = objective.clone();
            first.reset(None);
            let nearness = first.step_with_missing(record, &rewards).nearness;
            let alone =
                FirstStep { distance: distance(&first), nearness: finite(nearness).filter(|_| !requires_nothing) };
            let StepResult { predicates, reward, nearness } = objective.step_with_missing(record, &rewards);
            let predicates = predicates.into_iter().map(PredicateValue::named).collect();
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

    /// The residual after these steps, in words.
    pub fn residual(&self, steps: &[GoalStep]) -> String {
        let mut formulas = Formulas::new();
        let Ok(goal) = formulas.parse(&self.goal) else { return String::new() };
        let mut progression = Progression::new();
        let Ok(mut residual) = progression.begin(&formulas, goal) else { return String::new() };
        for step in steps {
            let holds = |atom: &Atom| {
                let name = match atom {
                    Atom::Name(name) => name.to_string(),
                    other => formulas.atom_text(other),
                };
                step.predicates.get(&name).is_some_and(|value| value.holds)
            };
            let letter: Letter =
                progression.formulas().atoms().filter(|(_, atom)| holds(atom)).map(|(id, _)| id).collect();
            residual = progression.step(residual, &letter);
        }
        residual_in_words(&mut progression, residual)
    }

    /// The meanings of the names in the goal, as in `` `good` is `holds & states < 100` ``; empty if it has none.
    pub fn meanings(&self) -> String {
        let used = |p: &&Predicate| {
            let mut formulas = Formulas::new();
            let Ok(goal) = formulas.parse(&self.goal) else { return false };
            let is_this = |id| matches!(formulas.atom(id), Atom::Name(name) if **name == *p.name);
            formulas.atoms_of(goal).into_iter().any(is_this)
        };
        let meanings = self.predicates.iter().filter(used).map(|p| format!("`{}` is `{}`", p.name, p.formula));
        meanings.collect::<Vec<_>>().join(", ")
    }

    /// The formula that a name in the goal stands for; the name itself for a metric.
    pub fn formula_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.predicates.iter().find(|p| p.name == name).map_or(name, |p| &p.formula)
    }
}

fn residual_in_words(progression: &mut Progression, residual: Residual) -> String {
    match progression.prefix_verdict(residual) {
        tlaforge_temporal::PrefixVerdict::Satisfied => "nothing: the goal is reached".to_owned(),
        tlaforge_temporal::PrefixVerdict::Violated => "the goal cannot be reached any more".to_owned(),
        tlaforge_temporal::PrefixVerdict::Undecided => progression.in_words(residual),
    }
}

/// The distance to a goal state; for a goal whose automaton has no goal state, to an accepting state.
fn distance(objective: &Objective) -> Option<u32> {
    let dfa = objective.dfa();
    match dfa.distance(Dfa::INITIAL) {
        Some(_) => dfa.distance(objective.state()),
        None => dfa.distance_to_accepting(objective.state()),
    }
}

/// A record without metrics.
struct NoMetrics;

impl Record for NoMetrics {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        None
    }
}

/// A record in which all metrics have one value.
struct AllEqual(f64);

impl Record for AllEqual {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        Some(Value::Number(self.0))
    }
}

/// Checks that a predicate reads only known metrics and can change its value.
fn check_measurable(robustness: &Robustness, metrics: &[MetricDomain]) -> Result<(), GoalError> {
    let text = || robustness.text().to_owned();
    if let Some(name) = robustness.quantities().iter().find(|q| metrics.iter().all(|metric| metric.name != **q)) {
        return Err(GoalError::Metric { text: text(), name: name.clone() });
    }
    let is_finite = |value: &f64| match robustness.evaluate(&AllEqual(*value)) {
        Ok(robustness) => robustness.is_finite(),
        Err(RobustnessError::Undefined { .. }) => false,
        Err(_) => true,
    };
    // One value alone could be a pole of the formula, as 1 is of `1 / (cost - 1) > 0`.
    if [0.3, 1.0, 7.0].iter().any(is_finite) { Ok(()) } else { Err(GoalError::Constant { text: text() }) }
}

#[cfg(test)]
#[path = "run_objective_tests.rs"]
mod tests;
