//! Environments, and the wrapper that rewards an agent by an objective instead.
//!
//! Knows nothing of any environment but that it can be reset and stepped.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::atom::{Record, Value};
use super::objective::{Objective, ObjectiveError, Quantities, RewardConfig};

/// What an environment tells beside its observation, by name.
pub type Info = BTreeMap<String, Value<'static>>;

/// What one step of an environment gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<O> {
    /// What the agent sees.
    pub observation: O,
    /// What the step was worth.
    pub reward: f64,
    /// Whether the episode has ended in itself.
    pub terminated: bool,
    /// Whether it was cut off from outside, as by a limit of steps.
    pub truncated: bool,
    /// What else is told.
    pub info: Info,
}

/// A world that an agent acts in, step by step.
pub trait Environment {
    /// What the agent sees.
    type Observation;
    /// What the agent does.
    type Action;

    /// Begins an episode. With a seed, the same one each time.
    fn reset(&mut self, seed: Option<u64>) -> (Self::Observation, Info);

    /// Does one action.
    fn step(&mut self, action: Self::Action) -> Step<Self::Observation>;

    /// The world as text, for a person; `None` where it has none.
    fn render(&self) -> Option<String> {
        None
    }

    /// Gives back what the environment holds.
    fn close(&mut self) {}
}

/// Reads the quantities of predicates off an environment.
pub trait VariableValues<E: Environment> {
    /// The quantities by name. What a predicate uses and is missing here is an error of the step.
    fn values(&self, environment: &E, observation: &E::Observation, info: &Info) -> Quantities;
}

impl<E: Environment, F: Fn(&E, &E::Observation, &Info) -> Quantities> VariableValues<E> for F {
    fn values(&self, environment: &E, observation: &E::Observation, info: &Info) -> Quantities {
        self(environment, observation, info)
    }
}

/// An observation with the automaton's state.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed<O> {
    /// The environment's own.
    pub observation: O,
    /// The name of the state, `aut_state` unless configured.
    pub key: Arc<str>,
    /// The state's number.
    pub aut_state: usize,
}

impl<O: Record> Record for Observed<O> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        if name == &*self.key { Some(number(self.aut_state)) } else { self.observation.field(name) }
    }
}

fn number(state: usize) -> Value<'static> {
    Value::Number(f64::from(u32::try_from(state).unwrap_or(u32::MAX)))
}

/// When the wrapper ends an episode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EarlyTermination {
    /// In a goal or a trap, as well as where the environment does.
    #[default]
    AtGoalOrTrap,
    /// Only where the environment does. For `G safe`, which is in a goal from the start and can only lose it.
    Never,
}

/// Whether the automaton reads the observation that an episode begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnReset {
    /// It does, as its first letter: exactly one step.
    #[default]
    Forward,
    /// Its first letter is the observation after the first action.
    Stay,
}

/// An environment whose agent is rewarded by an objective.
///
/// Observations gain the automaton's state; rewards are replaced, and the environment's own is told in the info as
/// `original_reward`; the info also gains `is_success` (a goal), `is_failure` (a trap) and `is_aut_terminated`.
#[derive(Debug, Clone)]
pub struct ObjectiveReward<E, V> {
    environment: E,
    objective: Objective,
    variables: V,
    reward: RewardConfig,
    early_termination: EarlyTermination,
    key: Arc<str>,
}

impl<E: Environment, V: VariableValues<E>> ObjectiveReward<E, V> {
    /// The key of the state in observations, unless another is set.
    pub const KEY: &str = "aut_state";

    /// Wraps an environment, with the default rewards, early termination and key.
    pub fn new(environment: E, objective: Objective, variables: V) -> Self {
        Self {
            environment,
            objective,
            variables,
            reward: RewardConfig::default(),
            early_termination: EarlyTermination::default(),
            key: Self::KEY.into(),
        }
    }

    /// With other rewards.
    #[must_use]
    pub fn with_reward(mut self, reward: RewardConfig) -> Self {
        self.reward = reward;
        self
    }

    /// With another rule for the end of an episode.
    #[must_use]
    pub fn with_early_termination(mut self, early_termination: EarlyTermination) -> Self {
        self.early_termination = early_termination;
        self
    }

    /// With another key for the state in observations.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        self.key = key.into();
        self
    }

    /// Begins an episode; the automaton reads its first observation.
    ///
    /// # Errors
    /// A predicate that the first observation gives no value; the automaton is then in its initial state.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(Observed<E::Observation>, Info), ObjectiveError> {
        self.reset_with(seed, OnReset::default())
    }

    /// Begins an episode.
    ///
    /// # Errors
    /// As [`ObjectiveReward::reset`].
    pub fn reset_with(
        &mut self,
        seed: Option<u64>,
        on_reset: OnReset,
    ) -> Result<(Observed<E::Observation>, Info), ObjectiveError> {
        let (observation, mut info) = self.environment.reset(seed);
        self.objective.reset(seed);
        if on_reset == OnReset::Forward {
            self.forward_aut(&observation, &info)?;
        }
        self.tell(&mut info);
        Ok((self.observation(observation), info))
    }

    /// Does one action: the environment's step, with the objective's reward.
    ///
    /// # Errors
    /// A predicate that the new observation gives no value; the environment has then gone on, the automaton has not.
    pub fn step(&mut self, action: E::Action) -> Result<Step<Observed<E::Observation>>, ObjectiveError> {
        let Step { observation, reward: original, terminated, truncated, mut info } = self.environment.step(action);
        let reward = self.forward_aut(&observation, &info)?;
        info.insert("original_reward".to_owned(), Value::Number(original));
        self.tell(&mut info);
        let ends = self.early_termination == EarlyTermination::AtGoalOrTrap && self.is_aut_terminated();
        Ok(Step { observation: self.observation(observation), reward, terminated: terminated || ends, truncated, info })
    }

    /// Lets the automaton read one observation without an action; gives the reward of its step.
    ///
    /// # Errors
    /// A predicate that the observation gives no value; the automaton stays.
    pub fn forward_aut(&mut self, observation: &E::Observation, info: &Info) -> Result<f64, ObjectiveError> {
        let values = self.variables.values(&self.environment, observation, info);
        Ok(self.objective.step(&values, &self.reward)?.0)
    }

    /// An observation with the automaton's current state.
    pub fn observation(&self, observation: E::Observation) -> Observed<E::Observation> {
        Observed { observation, key: Arc::clone(&self.key), aut_state: self.objective.state() }
    }

    fn tell(&self, info: &mut Info) {
        for (name, value) in [
            ("is_success", self.objective.is_goaled()),
            ("is_failure", self.objective.is_trapped()),
            ("is_aut_terminated", self.is_aut_terminated()),
        ] {
            info.insert(name.to_owned(), Value::Bool(value));
        }
    }

    /// Whether the automaton is in a goal or a trap.
    pub fn is_aut_terminated(&self) -> bool {
        self.objective.is_terminated()
    }

    /// The objective in its current state.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The environment below.
    pub fn environment(&self) -> &E {
        &self.environment
    }

    /// The environment below, to change it.
    pub fn environment_mut(&mut self) -> &mut E {
        &mut self.environment
    }

    /// The environment alone again.
    pub fn into_environment(self) -> E {
        self.environment
    }

    /// The environment's own picture, with the automaton's state below it.
    pub fn render(&self) -> Option<String> {
        Some(format!("{}\n{}: {}", self.environment.render()?, self.key, self.objective.state()))
    }

    /// Closes the environment.
    pub fn close(&mut self) {
        self.environment.close();
    }
}
