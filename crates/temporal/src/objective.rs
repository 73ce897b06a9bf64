//! Objectives: an automaton whose atoms are predicates over quantities, with a reward for each step.

use std::collections::{BTreeMap, HashMap};

use super::atom::{Atom, Record, Value};
use super::automaton::{AutomatonError, Dfa, Limits};
use super::formula::{AtomId, Formulas};
use super::parse_error::ParseError;
use super::print::is_reserved;
use super::robustness::{Robustness, RobustnessError};
use super::transition::{Transition, Transitions, transitions};

/// Why an objective cannot be built or stepped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// The specification cannot be parsed.
    #[error("specification: {0}")]
    Specification(ParseError),
    /// The specification has no automaton within the limits.
    #[error("specification: {0}")]
    Automaton(#[from] AutomatonError),
    /// A predicate that cannot be parsed, or a quantity of it that is missing or not a number.
    #[error("predicate `{predicate}`: {error}")]
    Predicate {
        /// The name of the predicate, or the text of the comparison.
        predicate: String,
        /// What is wrong with the predicate, or with a quantity that it reads.
        error: RobustnessError,
    },
    /// A predicate has the name of an operator or constant, or an empty name.
    #[error("`{name}` is an operator or constant and cannot name a predicate")]
    Reserved {
        /// The name of the predicate, as the caller gave it.
        name: String,
    },
    /// Two predicates have the same name.
    #[error("two predicates are named `{name}`")]
    DuplicatePredicate {
        /// The name that both have.
        name: String,
    },
    /// The specification uses a name that no predicate has, or the caller gave no robustness for a predicate.
    #[error("no predicate is named `{name}`")]
    Unknown {
        /// The name in the specification, or the missing one.
        name: String,
    },
    /// A robustness given by the caller is NaN.
    #[error("the robustness of `{name}` is not a number")]
    NotANumber {
        /// The predicate with that robustness.
        name: String,
    },
    /// The automaton has no such state.
    #[error("there is no state {state}: the states are 0 to {last}")]
    State {
        /// The requested state, from the caller.
        state: usize,
        /// The largest state that exists.
        last: usize,
    },
}

/// A named predicate over quantities, which gives an atom of the specification its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predicate {
    /// The name in the specification: `psi_goal`.
    pub name: String,
    /// The formula over quantities: `d_robot_goal < 5`.
    pub formula: String,
}

impl Predicate {
    /// A predicate, which is not checked before it is used.
    pub fn new(name: impl Into<String>, formula: impl Into<String>) -> Self {
        Self { name: name.into(), formula: formula.into() }
    }
}

/// Quantities by name, readable as a [`Record`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quantities(pub BTreeMap<String, f64>);

impl Record for Quantities {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.0.get(name).map(|value| Value::Number(*value))
    }
}

impl<N: Into<String>> FromIterator<(N, f64)> for Quantities {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(values: I) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

/// The rewards of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RewardConfig {
    /// Reward of a step from a goal to a state that is not a trap; its negative for a step from a trap. Default 5.
    pub terminal_state_reward: f64,
    /// Factor for the robustness of the transition: reward of progress, and penalty (negative) of a step into a trap.
    /// Default 100.
    pub state_trans_reward_scale: f64,
    /// Whether a step without progress is rewarded by its nearness to progress. Default false.
    pub dense_reward: bool,
    /// Factor for that nearness: the best robustness of the transitions that would have been progress. Default 0.01.
    pub dense_reward_scale: f64,
}

impl Default for RewardConfig {
    fn default() -> Self {
        Self {
            terminal_state_reward: 5.0,
            state_trans_reward_scale: 100.0,
            dense_reward: false,
            dense_reward_scale: 0.01,
        }
    }
}

/// Which transition is taken if the robustness of a predicate is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The predicate counts as satisfied (except `=` and `!=`, which are exact: [`Robustness::evaluate_with_truth`]), so
    /// that runs are reproducible.
    #[default]
    Satisfied,
    /// A transition of robustness 0 into a trap, else a random one of robustness 0, from the seed of
    /// [`Objective::reset`].
    Random,
}

/// An atom of the automaton with the predicate that gives its robustness.
#[derive(Debug, Clone)]
struct MeasuredAtom {
    atom: AtomId,
    name: String,
    robustness: Robustness,
}

/// The value of a predicate at one record.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateResult<'a> {
    /// The name of the predicate, or the text of the comparison.
    pub name: &'a str,
    /// Whether the predicate counts as satisfied.
    pub holds: bool,
    /// The robustness; `None` if the record lacks a quantity of it, which makes the predicate false.
    pub robustness: Option<f64>,
}

/// The result of [`Objective::step_with_missing`]; the new state is [`Objective::state`].
#[derive(Debug, Clone, PartialEq)]
pub struct StepResult<'a> {
    /// The predicates that decided the step.
    pub predicates: Vec<PredicateResult<'a>>,
    /// The reward of the step, as [`Objective::step`] computes it.
    pub reward: f64,
    /// How near the step came to progress, or to staying in a goal: the best robustness of the transitions that make
    /// progress or stay. Positive if such a transition was taken; `None` if there is none.
    pub nearness: Option<f64>,
}

/// An automaton whose atoms are predicates over quantities, with a current state and a reward for each step.
///
/// Follows the automaton interface of gym-tl-tools with three differences: the automaton reads finite traces and is
/// deterministic, a goal that can be lost keeps the edge by which it is lost, and only progress is rewarded.
///
/// The robustness of a predicate is that of [`Robustness`]; the robustness of a transition is explained at [`Transition`].
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Objective, Predicate, Quantities, RewardConfig};
///
/// let predicates = [Predicate::new("goal", "d_goal < 1"), Predicate::new("crash", "d_wall < 0.5")];
/// let mut objective = Objective::new("F goal & G !crash", &predicates)?;
/// let config = RewardConfig::default();
/// assert_eq!(objective.distance(), Some(1));
///
/// // Far from the goal: nothing happens, so there is no reward.
/// let far = Quantities::from_iter([("d_goal", 3.0), ("d_wall", 2.0)]);
/// assert_eq!(objective.step(&far, &config)?, (0.0, objective.state()));
///
/// // At the goal, by 0.5: the robustness of the transition, times 100.
/// let near = Quantities::from_iter([("d_goal", 0.5), ("d_wall", 2.0)]);
/// assert_eq!(objective.robustness(&near)?, [("goal", 0.5), ("crash", -1.5)]);
/// assert_eq!(objective.step(&near, &config)?.0, 50.0);
/// assert!(objective.is_goaled() && objective.is_accepting() && objective.is_terminated());
///
/// objective.reset(None);
/// let wall = Quantities::from_iter([("d_goal", 3.0), ("d_wall", 0.25)]);
/// assert_eq!(objective.step(&wall, &config)?.0, -25.0);
/// assert!(objective.is_trapped());
/// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Objective {
    formulas: Formulas,
    dfa: Dfa,
    measured: Vec<MeasuredAtom>,
    state: usize,
    tie_break: TieBreak,
    random_state: u64,
}

impl Objective {
    /// An objective in its initial state. An atom of `tl_spec` is the name of a predicate, or a comparison over
    /// quantities.
    ///
    /// # Errors
    /// An error in the specification or a predicate; an automaton beyond the default [`Limits`].
    pub fn new(tl_spec: &str, atomic_predicates: &[Predicate]) -> Result<Self, ObjectiveError> {
        Self::with_limits(tl_spec, atomic_predicates, Limits::default())
    }

    /// [`Objective::new`] with other limits.
    ///
    /// # Errors
    /// As [`Objective::new`].
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Limits, Objective, ObjectiveError};
    ///
    /// let limits = Limits { states: 1, ..Limits::default() };
    /// let refused = Objective::with_limits("F (x < 1)", &[], limits);
    /// assert!(matches!(refused, Err(ObjectiveError::Automaton(_))));
    /// ```
    pub fn with_limits(tl_spec: &str, atomic_predicates: &[Predicate], limits: Limits) -> Result<Self, ObjectiveError> {
        let mut predicates = HashMap::new();
        for Predicate { name, formula } in atomic_predicates {
            if name.is_empty() || is_reserved(name) {
                return Err(ObjectiveError::Reserved { name: name.clone() });
            }
            let robustness = Robustness::parse(formula)
                .map_err(|error| ObjectiveError::Predicate { predicate: name.clone(), error })?;
            if predicates.insert(name.as_str(), robustness).is_some() {
                return Err(ObjectiveError::DuplicatePredicate { name: name.clone() });
            }
        }
        let mut formulas = Formulas::new();
        let formula = formulas.parse(tl_spec).map_err(ObjectiveError::Specification)?;
        let mut measured = Vec::new();
        for atom in formulas.atoms_of(formula) {
            let read = formulas.atom(atom).clone();
            let name = match &read {
                Atom::Name(name) => name.to_string(),
                other => formulas.atom_text(other),
            };
            let robustness = match &read {
                Atom::Compare(..) => {
                    let comparison = formulas.atomic(read);
                    Robustness::compile(&formulas, comparison)
                        .map_err(|error| ObjectiveError::Predicate { predicate: name.clone(), error })?
                }
                // Each name is one atom, so the predicate can be moved out.
                _ => predicates.remove(name.as_str()).ok_or(ObjectiveError::Unknown { name: name.clone() })?,
            };
            measured.push(MeasuredAtom { atom, name, robustness });
        }
        let dfa = Dfa::build(&formulas, formula, limits)?;
        // Atoms that the minimal automaton does not read need no value.
        measured.retain(|m| dfa.atoms().contains(&m.atom));
        Ok(Self { formulas, dfa, measured, state: Dfa::INITIAL, tie_break: TieBreak::default(), random_state: 0 })
    }

    /// Sets the rule for a robustness of 0.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Objective, Quantities, RewardConfig, TieBreak};
    ///
    /// let mut objective = Objective::new("F x < 1", &[])?.with_tie_break(TieBreak::Random);
    /// objective.reset(Some(7));
    /// let tie = Quantities::from_iter([("x", 1.0)]);
    /// let (_, first) = objective.step(&tie, &RewardConfig::default())?;
    /// objective.reset(Some(7));
    /// assert_eq!(objective.step(&tie, &RewardConfig::default())?.1, first, "a seed reproduces the choice");
    /// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
    /// ```
    #[must_use]
    pub fn with_tie_break(mut self, tie_break: TieBreak) -> Self {
        self.tie_break = tie_break;
        self
    }

    /// Returns to the initial state. The seed affects [`TieBreak::Random`] only; without one, its random sequence
    /// continues.
    pub fn reset(&mut self, seed: Option<u64>) {
        self.state = Dfa::INITIAL;
        if let Some(seed) = seed {
            self.random_state = seed;
        }
    }

    /// The automaton of the specification; its atoms are in [`Objective::formulas`].
    pub fn dfa(&self) -> &Dfa {
        &self.dfa
    }

    /// The arena of the atoms of the automaton.
    pub fn formulas(&self) -> &Formulas {
        &self.formulas
    }

    /// The current state, a number below [`Dfa::states`].
    pub fn state(&self) -> usize {
        self.state
    }

    /// The atoms of [`Objective::predicates`], in the same order.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Atom, Objective};
    ///
    /// let objective = Objective::new("F x < 1", &[])?;
    /// let atom = objective.atoms().next().expect("one comparison");
    /// assert!(matches!(objective.formulas().atom(atom), Atom::Compare(..)));
    /// assert_eq!(objective.dfa().states(), 2);
    /// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
    /// ```
    pub fn atoms(&self) -> impl Iterator<Item = AtomId> + '_ {
        self.measured.iter().map(|m| m.atom)
    }

    /// The predicates and comparisons that decide steps, with the names that [`Objective::tl_reward`] expects.
    pub fn predicates(&self) -> impl Iterator<Item = (&str, &Robustness)> {
        self.measured.iter().map(|m| (m.name.as_str(), &m.robustness))
    }

    /// Whether the current state is a goal: the specification is satisfied, and the only way to leave is into a trap.
    pub fn is_goaled(&self) -> bool {
        self.dfa.is_goal(self.state)
    }

    /// Whether the current state is a trap: the specification can no longer be satisfied.
    pub fn is_trapped(&self) -> bool {
        self.dfa.is_trap(self.state)
    }

    /// Whether the current state is a goal or a trap.
    pub fn is_terminated(&self) -> bool {
        self.is_goaled() || self.is_trapped()
    }

    /// Whether a trace that ends in the current state satisfies the specification.
    pub fn is_accepting(&self) -> bool {
        self.dfa.accepts(self.state)
    }

    /// The least number of steps to a goal; `None` if no goal is reachable.
    pub fn distance(&self) -> Option<u32> {
        self.dfa.distance(self.state)
    }

    /// The robustness of each predicate at a record, by name.
    ///
    /// # Errors
    /// [`ObjectiveError::Predicate`].
    pub fn robustness(&self, values: &(impl Record + ?Sized)) -> Result<Vec<(&str, f64)>, ObjectiveError> {
        let signed_robustness = self.signed_robustness(values)?;
        Ok(self.measured.iter().zip(signed_robustness).map(|(m, value)| (m.name.as_str(), value + 0.0)).collect())
    }

    /// The robustness of each predicate. For robustness 0 the sign encodes whether the predicate counts as satisfied:
    /// 0 if it does, -0 if not.
    fn signed_robustness(&self, values: &(impl Record + ?Sized)) -> Result<Vec<f64>, ObjectiveError> {
        self.measured
            .iter()
            .map(|m| match m.robustness.evaluate_with_truth(values) {
                // `0.0` also matches -0, so the sign that arithmetic left is replaced.
                Ok((0.0, holds)) => Ok(if holds { 0.0 } else { -0.0 }),
                Ok((value, _)) => Ok(value),
                Err(error) => Err(ObjectiveError::Predicate { predicate: m.name.clone(), error }),
            })
            .collect()
    }

    /// Makes one step; returns the reward and the new state.
    ///
    /// # Errors
    /// [`ObjectiveError::Predicate`]: a quantity is missing from `values` or is not a number. The state is unchanged.
    pub fn step(
        &mut self,
        values: &(impl Record + ?Sized),
        config: &RewardConfig,
    ) -> Result<(f64, usize), ObjectiveError> {
        let robustness = self.signed_robustness(values)?;
        let (reward, next) = self.reward_and_next_state(&robustness, self.state, config);
        self.state = next;
        Ok((reward, next))
    }

    /// Makes one step on a record that may lack quantities: a predicate that reads a missing quantity is false, with
    /// robustness minus infinity. Strict comparisons are exact: `<` is false for equal numbers
    /// ([`Robustness::evaluate_exactly`]).
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Objective, Quantities, RewardConfig};
    ///
    /// let mut objective = Objective::new("F (coverage >= 0.9 & open_issues = 0)", &[])?;
    /// let names: Vec<&str> = objective.predicates().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["coverage >= 0.9", "open_issues = 0"]);
    ///
    /// let result = objective.step_with_missing(&Quantities::from_iter([("open_issues", 0.0)]), &RewardConfig::default());
    /// assert_eq!(result.predicates[0].robustness, None, "no coverage was measured");
    /// assert!(!result.predicates[0].holds && result.predicates[1].holds);
    /// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
    /// ```
    pub fn step_with_missing(&mut self, values: &(impl Record + ?Sized), config: &RewardConfig) -> StepResult<'_> {
        let robustness: Vec<Option<f64>> = self
            .measured
            .iter()
            .map(|m| match m.robustness.evaluate_exactly(values) {
                Ok((0.0, holds)) => Some(if holds { 0.0 } else { -0.0 }),
                other => other.ok().map(|(value, _)| value),
            })
            .collect();
        // Minus infinity: no change of other quantities makes the predicate true.
        let known: Vec<f64> = robustness.iter().map(|value| value.unwrap_or(f64::NEG_INFINITY)).collect();
        let before = self.state;
        let wanted = |t: &Transition| {
            !self.dfa.is_trap(t.next)
                && (self.is_progress(before, t.next) || self.dfa.is_goal(before) && self.dfa.is_goal(t.next))
        };
        let transitions = self.transitions(&known, before);
        let nearness = transitions.iter().filter(|t| wanted(t)).map(|t| t.robustness).reduce(f64::max);
        let (reward, next) = self.reward_and_next_state(&known, before, config);
        self.state = next;
        let predicates = self
            .measured
            .iter()
            .zip(robustness)
            .map(|(m, robustness)| PredicateResult {
                name: &m.name,
                holds: robustness.is_some_and(f64::is_sign_positive),
                robustness: robustness.map(|value| value + 0.0),
            })
            .collect();
        StepResult { predicates, reward, nearness: nearness.map(|value| value + 0.0) }
    }

    /// The reward of a step from `state` and the next state, given the robustness of each predicate by name. The current
    /// state does not change.
    ///
    /// # Errors
    /// A predicate without robustness or with NaN; an unknown state.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Objective, Predicate, RewardConfig};
    ///
    /// let mut objective = Objective::new("F goal", &[Predicate::new("goal", "5 - d")])?;
    /// let (reward, next) = objective.tl_reward([("goal", 2.0)], 0, &RewardConfig::default())?;
    /// assert_eq!((reward, next), (200.0, 1));
    /// assert!(objective.is_progress(0, next));
    /// assert_eq!(objective.state(), 0, "unchanged");
    ///
    /// let groups = objective.transition_robustness([("goal", 2.0)], 0)?;
    /// assert_eq!(groups.positive_non_trap.len(), 1);
    /// assert_eq!(groups.non_trap.len(), 2, "with the one that was not taken");
    /// # Ok::<(), tlaforge_temporal::ObjectiveError>(())
    /// ```
    pub fn tl_reward<'r>(
        &mut self,
        robustness: impl IntoIterator<Item = (&'r str, f64)>,
        state: usize,
        config: &RewardConfig,
    ) -> Result<(f64, usize), ObjectiveError> {
        let robustness = self.order_robustness(robustness, state)?;
        Ok(self.reward_and_next_state(&robustness, state, config))
    }

    /// The robustness of all transitions from a state, in the five groups of [`Transitions`].
    ///
    /// # Errors
    /// As [`Objective::tl_reward`].
    pub fn transition_robustness<'r>(
        &self,
        robustness: impl IntoIterator<Item = (&'r str, f64)>,
        state: usize,
    ) -> Result<Transitions, ObjectiveError> {
        let robustness = self.order_robustness(robustness, state)?;
        Ok(Transitions::group(&self.dfa, self.transitions(&robustness, state)))
    }

    fn order_robustness<'r>(
        &self,
        robustness: impl IntoIterator<Item = (&'r str, f64)>,
        state: usize,
    ) -> Result<Vec<f64>, ObjectiveError> {
        if state >= self.dfa.states() {
            return Err(ObjectiveError::State { state, last: self.dfa.states() - 1 });
        }
        let given: HashMap<&str, f64> = robustness.into_iter().collect();
        self.measured
            .iter()
            .map(|m| match given.get(m.name.as_str()) {
                None => Err(ObjectiveError::Unknown { name: m.name.clone() }),
                Some(value) if value.is_nan() => Err(ObjectiveError::NotANumber { name: m.name.clone() }),
                // Adding 0 turns -0 into 0: a robustness of 0 from the caller counts as satisfied.
                Some(value) => Ok(value + 0.0),
            })
            .collect()
    }

    fn transitions(&self, robustness: &[f64], state: usize) -> Vec<Transition> {
        transitions(&self.dfa, state, |atom| {
            // Sorted: `atoms_of` ascends, and `retain` keeps the order.
            let index = self.measured.binary_search_by_key(&atom, |m| m.atom).expect("each atom is measured");
            robustness[index]
        })
    }

    fn reward_and_next_state(&mut self, robustness: &[f64], state: usize, config: &RewardConfig) -> (f64, usize) {
        let transitions = self.transitions(robustness, state);
        let transition = self.select_transition(&transitions);
        let next = transition.next;
        // The order matters: to leave a goal for the trap is penalized, not rewarded as a step from a goal.
        let reward = if self.dfa.is_trap(state) {
            -config.terminal_state_reward
        } else if self.dfa.is_trap(next) {
            -scale_robustness(config.state_trans_reward_scale, transition.robustness)
        } else if self.dfa.is_goal(state) {
            config.terminal_state_reward
        } else if self.is_progress(state, next) {
            scale_robustness(config.state_trans_reward_scale, transition.robustness)
        } else if config.dense_reward {
            let nearest = transitions
                .iter()
                .filter(|t| !self.dfa.is_trap(t.next) && self.is_progress(state, t.next))
                .map(|t| t.robustness)
                .reduce(f64::max);
            nearest.map_or(0.0, |nearest| scale_robustness(config.dense_reward_scale, nearest))
        } else {
            0.0
        };
        // Adding 0 turns -0 into 0.
        (reward + 0.0, next)
    }

    /// The transition to take: that of the letter, or a random one if ties are broken randomly.
    fn select_transition(&mut self, transitions: &[Transition]) -> Transition {
        let letter = transitions[0];
        // Only a robustness of 0 is a tie.
        if self.tie_break == TieBreak::Satisfied || letter.robustness != 0.0 {
            return letter;
        }
        // A tie counts as the worst case if one of its sides is the trap.
        let border: Vec<Transition> = transitions.iter().filter(|t| t.robustness == 0.0).copied().collect();
        if let Some(trap) = border.iter().find(|t| self.dfa.is_trap(t.next)) {
            return *trap;
        }
        // SplitMix64 (Steele, Lea and Flood 2014): one word of state, so that a seed reproduces the sequence.
        self.random_state = self.random_state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random_state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let count = u64::try_from(border.len()).expect("few transitions");
        border[usize::try_from(z % count).expect("less than a length")]
    }

    /// Whether a transition to a state that is not a trap is progress.
    ///
    /// * If a goal is reachable: fewer steps to it, or equally many with fewer atoms on a shortest path. So the first
    ///   half of `F(a & F b)` counts, although both halves could become true at once.
    /// * Without a reachable goal, from a state that does not accept: the same, towards an accepting state.
    /// * Without a reachable goal, from an accepting state: a new round starts (in `G(a -> F b)`, `a` just occurred). A
    ///   transition that only loses acceptance and requires nothing new, as in `G F a`, is not progress.
    ///
    /// All other transitions are not progress: steps back are never rewarded.
    pub fn is_progress(&self, from: usize, to: usize) -> bool {
        let dfa = &self.dfa;
        if let Some(far) = dfa.goal_distance(from) {
            return dfa.goal_distance(to).is_some_and(|near| near < far);
        }
        if dfa.accepts(from) {
            return from != to && !dfa.is_trap(to) && (dfa.accepts(to) || !dfa.same_successors(from, to));
        }
        match (dfa.accepting_distance(from), dfa.accepting_distance(to)) {
            (Some(far), Some(near)) => near < far,
            _ => false,
        }
    }
}

/// The product, kept finite. An infinite robustness (of `true`, or of an infinite quantity) counts as 1 or -1.
fn scale_robustness(scale: f64, robustness: f64) -> f64 {
    let robustness = if robustness.is_finite() { robustness } else { robustness.signum() };
    (scale * robustness).clamp(f64::MIN, f64::MAX)
}
