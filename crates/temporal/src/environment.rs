//! The interface of a reinforcement-learning environment, and a wrapper that rewards the agent by an [`Objective`].
//!
//! Knows nothing about a particular environment except that it can be reset and stepped. Names follow Gymnasium and
//! gym-tl-tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::atom::{Record, Value};
use super::objective::{Objective, ObjectiveError, Quantities, RewardConfig};

/// Further data that an environment returns with an observation, by name.
pub type Info = BTreeMap<String, Value<'static>>;

/// The result of one step of an [`Environment`], in the sense of reinforcement learning; a step of a trace is a [`Record`].
#[derive(Debug, Clone, PartialEq)]
pub struct Step<O> {
    /// The observation after the action.
    pub observation: O,
    /// The reward of the action, a number without a unit.
    pub reward: f64,
    /// Whether the episode ended, for example at a goal.
    pub terminated: bool,
    /// Whether the episode was cut off, for example by a step limit.
    pub truncated: bool,
    /// Further data about the step, by name.
    pub info: Info,
}

/// An environment in which an agent acts step by step.
pub trait Environment {
    /// What the agent observes after each action.
    type Observation;
    /// What the agent can do in one step.
    type Action;

    /// Starts an episode and returns its first observation. Equal seeds give equal episodes.
    fn reset(&mut self, seed: Option<u64>) -> (Self::Observation, Info);

    /// Performs one action. After an episode has ended, call [`Environment::reset`] first.
    fn step(&mut self, action: Self::Action) -> Step<Self::Observation>;

    /// The state as text for people; `None` if the environment has no such text.
    fn render(&self) -> Option<String> {
        None
    }

    /// Releases the resources of the environment.
    fn close(&mut self) {}
}

/// Computes the quantities that the predicates of an objective read. Implemented for closures.
pub trait VariableValues<E: Environment> {
    /// The quantities by name. A step is an error if a predicate reads one that is missing here.
    fn values(&self, environment: &E, observation: &E::Observation, info: &Info) -> Quantities;
}

impl<E: Environment, F: Fn(&E, &E::Observation, &Info) -> Quantities> VariableValues<E> for F {
    fn values(&self, environment: &E, observation: &E::Observation, info: &Info) -> Quantities {
        self(environment, observation, info)
    }
}

/// An observation of the environment together with the state of the automaton.
#[derive(Debug, Clone, PartialEq)]
pub struct AugmentedObservation<O> {
    /// The observation of the environment.
    pub observation: O,
    /// The field name of the state, [`ObjectiveReward::KEY`] by default.
    pub key: Arc<str>,
    /// The number of the state, from 0.
    pub aut_state: usize,
}

impl<O: Record> Record for AugmentedObservation<O> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        if name == &*self.key { Some(number(self.aut_state)) } else { self.observation.field(name) }
    }
}

fn number(state: usize) -> Value<'static> {
    Value::Number(f64::from(u32::try_from(state).unwrap_or(u32::MAX)))
}

/// When the wrapper reports an episode as terminated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EarlyTermination {
    /// In a goal or a trap, and when the environment does.
    #[default]
    AtGoalOrTrap,
    /// Only when the environment does. For tasks such as `G safe`, whose automaton is in a goal from the start.
    Never,
}

/// Whether the automaton reads the observation that an episode begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnReset {
    /// Yes: the first observation is the first letter.
    #[default]
    Forward,
    /// No: the observation after the first action is the first letter.
    Stay,
}

/// An environment whose agent is rewarded by an objective.
///
/// The wrapper adds the state of the automaton to each observation and replaces the reward. It adds to the info
/// `original_reward` (the reward of the environment), `is_success` (in a goal), `is_failure` (in a trap) and
/// `is_aut_terminated` (either).
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Environment, Info, Objective, ObjectiveReward, Quantities, Step};
///
/// /// A walk on the line of integers.
/// struct Walk(f64);
///
/// impl Environment for Walk {
///     type Observation = f64;
///     type Action = f64;
///
///     fn reset(&mut self, _: Option<u64>) -> (f64, Info) {
///         self.0 = 0.0;
///         (self.0, Info::new())
///     }
///
///     fn step(&mut self, action: f64) -> Step<f64> {
///         self.0 += action;
///         Step { observation: self.0, reward: 0.0, terminated: false, truncated: false, info: Info::new() }
///     }
/// }
///
/// let objective = Objective::new("F (x >= 2) & G (x >= 0)", &[])?;
/// let values = |_: &Walk, x: &f64, _: &Info| Quantities::from_iter([("x", *x)]);
/// let mut walk = ObjectiveReward::new(Walk(0.0), objective, values).with_key("goal_state");
///
/// let (first, _) = walk.reset(None)?;
/// assert_eq!((first.observation, first.aut_state), (0.0, 0));
/// assert_eq!(walk.step(1.0)?.reward, 0.0);
/// let last = walk.step(1.5)?;
/// assert!(last.reward > 0.0 && last.terminated, "the goal is reached");
/// assert!(walk.is_aut_terminated() && walk.objective().is_goaled());
/// assert_eq!(walk.into_environment().0, 2.5);
/// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
/// ```
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
    /// Default field name of the automaton's state in observations.
    pub const KEY: &str = "aut_state";

    /// Wraps an environment with the default rewards, early termination and key.
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

    /// Sets the rewards; the default is [`RewardConfig::default`].
    #[must_use]
    pub fn with_reward(mut self, reward: RewardConfig) -> Self {
        self.reward = reward;
        self
    }

    /// Sets when an episode terminates.
    #[must_use]
    pub fn with_early_termination(mut self, early_termination: EarlyTermination) -> Self {
        self.early_termination = early_termination;
        self
    }

    /// Sets the field name of the automaton's state in observations.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        self.key = key.into();
        self
    }

    /// Starts an episode; the automaton reads its first observation.
    ///
    /// # Errors
    /// A predicate has no value at the first observation. The automaton is then in its initial state.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(AugmentedObservation<E::Observation>, Info), ObjectiveError> {
        self.reset_with(seed, OnReset::default())
    }

    /// Starts an episode, with a choice whether the automaton reads its first observation.
    ///
    /// # Errors
    /// As [`ObjectiveReward::reset`].
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{
    ///     EarlyTermination, Environment, Info, Objective, ObjectiveReward, OnReset, Quantities, RewardConfig, Step, Value,
    /// };
    ///
    /// # struct Walk(f64);
    /// # impl Environment for Walk {
    /// #     type Observation = f64;
    /// #     type Action = f64;
    /// #     fn reset(&mut self, _: Option<u64>) -> (f64, Info) {
    /// #         self.0 = 0.0;
    /// #         (self.0, Info::new())
    /// #     }
    /// #     fn step(&mut self, action: f64) -> Step<f64> {
    /// #         self.0 += action;
    /// #         Step { observation: self.0, reward: 0.0, terminated: false, truncated: false, info: Info::new() }
    /// #     }
    /// # }
    /// // The automaton of `G` is in a goal from the start, so its state must not end the episode.
    /// let objective = Objective::new("G (x >= 0)", &[])?;
    /// let values = |_: &Walk, x: &f64, _: &Info| Quantities::from_iter([("x", *x)]);
    /// let mut walk = ObjectiveReward::new(Walk(0.0), objective, values)
    ///     .with_early_termination(EarlyTermination::Never)
    ///     .with_reward(RewardConfig { terminal_state_reward: 1.0, ..RewardConfig::default() });
    /// let (_, info) = walk.reset_with(None, OnReset::Stay)?;
    /// assert_eq!(info["is_success"], Value::Bool(true));
    /// let step = walk.step(3.0)?;
    /// assert_eq!((step.reward, step.terminated), (1.0, false));
    ///
    /// // A change from outside, which the automaton reads without an action.
    /// walk.environment_mut().0 = 7.0;
    /// assert_eq!(walk.forward_aut(&7.0, &Info::new())?, 1.0);
    /// assert_eq!((walk.environment().0, walk.render()), (7.0, None));
    /// walk.close();
    /// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
    /// ```
    pub fn reset_with(
        &mut self,
        seed: Option<u64>,
        on_reset: OnReset,
    ) -> Result<(AugmentedObservation<E::Observation>, Info), ObjectiveError> {
        let (observation, mut info) = self.environment.reset(seed);
        // Before the automaton reads, so that after an error it is in its initial state.
        self.objective.reset(seed);
        if on_reset == OnReset::Forward {
            self.forward_aut(&observation, &info)?;
        }
        self.add_status(&mut info);
        Ok((self.observation(observation), info))
    }

    /// Performs one action: a step of the environment, with the reward of the objective.
    ///
    /// # Errors
    /// A predicate has no value at the new observation. The environment has then made the step, the automaton has not.
    pub fn step(&mut self, action: E::Action) -> Result<Step<AugmentedObservation<E::Observation>>, ObjectiveError> {
        let Step { observation, reward: original, terminated, truncated, mut info } = self.environment.step(action);
        // Before the fields below are added: the closure of the caller sees the info of the environment only.
        let reward = self.forward_aut(&observation, &info)?;
        info.insert("original_reward".to_owned(), Value::Number(original));
        self.add_status(&mut info);
        let ends = self.early_termination == EarlyTermination::AtGoalOrTrap && self.is_aut_terminated();
        Ok(Step { observation: self.observation(observation), reward, terminated: terminated || ends, truncated, info })
    }

    /// Makes the automaton read one observation without an action, and returns the reward of its step.
    ///
    /// # Errors
    /// A predicate has no value at the observation. The automaton keeps its state.
    pub fn forward_aut(&mut self, observation: &E::Observation, info: &Info) -> Result<f64, ObjectiveError> {
        let values = self.variables.values(&self.environment, observation, info);
        Ok(self.objective.step(&values, &self.reward)?.0)
    }

    /// Adds the current state of the automaton to an observation, which then has it as a field.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Environment, Info, Objective, ObjectiveReward, Quantities, Record, Step, Value};
    ///
    /// # struct Walk(f64);
    /// # impl Environment for Walk {
    /// #     type Observation = Quantities;
    /// #     type Action = f64;
    /// #     fn reset(&mut self, _: Option<u64>) -> (Quantities, Info) {
    /// #         (Quantities::from_iter([("x", self.0)]), Info::new())
    /// #     }
    /// #     fn step(&mut self, action: f64) -> Step<Quantities> {
    /// #         self.0 += action;
    /// #         let (observation, info) = self.reset(None);
    /// #         Step { observation, reward: 0.0, terminated: false, truncated: false, info }
    /// #     }
    /// # }
    /// let objective = Objective::new("F (x >= 2)", &[])?;
    /// let walk = ObjectiveReward::new(Walk(0.0), objective, |_: &Walk, x: &Quantities, _: &Info| x.clone());
    /// let seen = walk.observation(Quantities::from_iter([("x", 1.0)]));
    /// assert_eq!((seen.field("x"), seen.field("aut_state")), (Some(Value::Number(1.0)), Some(Value::Number(0.0))));
    /// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
    /// ```
    pub fn observation(&self, observation: E::Observation) -> AugmentedObservation<E::Observation> {
        AugmentedObservation { observation, key: Arc::clone(&self.key), aut_state: self.objective.state() }
    }

    fn add_status(&self, info: &mut Info) {
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

    /// The wrapped environment, for example to read its state.
    pub fn environment(&self) -> &E {
        &self.environment
    }

    /// The wrapped environment, mutable. Its steps are not seen by the automaton; see [`ObjectiveReward::forward_aut`].
    pub fn environment_mut(&mut self) -> &mut E {
        &mut self.environment
    }

    /// Returns the environment and drops the objective.
    pub fn into_environment(self) -> E {
        self.environment
    }

    /// The text of the environment with the state of the automaton below it; `None` if the environment has no text.
    pub fn render(&self) -> Option<String> {
        Some(format!("{}\n{}: {}", self.environment.render()?, self.key, self.objective.state()))
    }

    /// Closes the wrapped environment. Does nothing to the objective.
    pub fn close(&mut self) {
        self.environment.close();
    }
}
