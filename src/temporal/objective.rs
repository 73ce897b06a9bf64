//! Objectives: an automaton whose atoms are predicates over quantities, and a reward for each step.
//!
//! As the interface of an automaton in gym-tl-tools, with three differences: the automaton reads finite traces and is
//! deterministic, a goal that can be lost keeps the edge by which it is lost, and only progress is rewarded.

use std::collections::{BTreeMap, HashMap};

use super::atom::{Atom, Record, Value};
use super::automaton::{AutomatonError, Dfa, Limits};
use super::formula::{AtomId, Formulas};
use super::parse_error::ParseError;
use super::print::is_reserved;
use super::robustness::{Robustness, RobustnessError};
use super::transition::{Transition, Transitions, transitions};

/// Why there is no objective, or no step of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// The specification is no formula.
    #[error("specification: {0}")]
    Specification(ParseError),
    /// It has no automaton.
    #[error("specification: {0}")]
    Automaton(#[from] AutomatonError),
    /// A predicate that is no formula, or whose quantities are not known or not numbers.
    #[error("predicate `{predicate}`: {error}")]
    Predicate {
        /// Its name, or the comparison itself.
        predicate: String,
        /// What is wrong.
        error: RobustnessError,
    },
    /// An operator's word as the name of a predicate.
    #[error("`{name}` is an operator or constant and names no predicate")]
    Reserved {
        /// The name.
        name: String,
    },
    /// Two predicates of one name.
    #[error("two predicates are named `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
    /// The specification uses a name that no predicate has, or robustness was given for others only.
    #[error("no predicate is named `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// NaN as robustness.
    #[error("the robustness of `{name}` is not a number")]
    NotANumber {
        /// Of which predicate.
        name: String,
    },
    /// A state that the automaton does not have.
    #[error("there is no state {state}: they are 0 to {last}")]
    State {
        /// Its number.
        state: usize,
        /// The largest number.
        last: usize,
    },
}

/// A named predicate: what an atom of the specification means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predicate {
    /// As the specification calls it: `psi_goal`.
    pub name: String,
    /// Over quantities: `d_robot_goal < 5`.
    pub formula: String,
}

impl Predicate {
    /// A predicate; what is wrong with it is told where it is used.
    pub fn new(name: impl Into<String>, formula: impl Into<String>) -> Self {
        Self { name: name.into(), formula: formula.into() }
    }
}

/// Quantities by name, as a record.
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

/// What a step is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RewardConfig {
    /// For each step that begins in a goal and stays; its negative for each that begins in a trap.
    pub terminal_state_reward: f64,
    /// Times the robustness of the transition: for progress; negative into a trap.
    pub state_trans_reward_scale: f64,
    /// Whether a step without progress earns how near progress was.
    pub dense_reward: bool,
    /// Times the best robustness of the transitions that would have been progress.
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

/// What happens where a predicate's robustness is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// It counts as satisfied (but for `=` and `!=`, which are what they are: [`Robustness::evaluate_with_truth`]), so that every run
    /// can be repeated.
    #[default]
    Satisfied,
    /// A trap first, else one of the transitions of robustness 0 is drawn, from the seed of [`Objective::reset`].
    Drawn,
}

/// How an atom gets its robustness.
#[derive(Debug, Clone)]
struct Measured {
    atom: AtomId,
    name: String,
    robustness: Robustness,
}

/// A predicate at one record.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateResult<'a> {
    /// Its name, or the comparison itself.
    pub name: &'a str,
    /// Whether it counts as satisfied.
    pub holds: bool,
    /// By how much; `None` where the record lacks what it asks for, which makes it false.
    pub robustness: Option<f64>,
}

/// What a step over a record came to that may lack quantities.
#[derive(Debug, Clone, PartialEq)]
pub struct StepResult<'a> {
    /// The predicates that decided it.
    pub predicates: Vec<PredicateResult<'a>>,
    /// What it was worth.
    pub reward: f64,
    /// How near the step came to progress, or to staying in a goal: of the transitions that are that, the robustness of
    /// the easiest. Positive where it was made. `None` where there is no such transition.
    pub nearness: Option<f64>,
}

/// An automaton over predicates, in some state.
#[derive(Debug, Clone)]
pub struct Objective {
    formulas: Formulas,
    dfa: Dfa,
    measured: Vec<Measured>,
    state: usize,
    ties: TieBreak,
    draws: u64,
}

impl Objective {
    /// The objective of a specification, in its initial state.
    ///
    /// An atom is a predicate's name, or a comparison over quantities written out.
    ///
    /// # Errors
    /// What is wrong with the specification or a predicate; an automaton beyond the default [`Limits`].
    pub fn new(tl_spec: &str, atomic_predicates: &[Predicate]) -> Result<Self, ObjectiveError> {
        Self::with_limits(tl_spec, atomic_predicates, Limits::default())
    }

    /// As [`Objective::new`], with limits of one's own.
    ///
    /// # Errors
    /// As [`Objective::new`].
    pub fn with_limits(tl_spec: &str, atomic_predicates: &[Predicate], limits: Limits) -> Result<Self, ObjectiveError> {
        let mut predicates = HashMap::new();
        for Predicate { name, formula } in atomic_predicates {
            if name.is_empty() || is_reserved(name) {
                return Err(ObjectiveError::Reserved { name: name.clone() });
            }
            let robustness = Robustness::parse(formula)
                .map_err(|error| ObjectiveError::Predicate { predicate: name.clone(), error })?;
            if predicates.insert(name.as_str(), robustness).is_some() {
                return Err(ObjectiveError::Twice { name: name.clone() });
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
                _ => predicates.remove(name.as_str()).ok_or(ObjectiveError::Unknown { name: name.clone() })?,
            };
            measured.push(Measured { atom, name, robustness });
        }
        let dfa = Dfa::build(&formulas, formula, limits)?;
        // What the automaton does not look at needs no value.
        measured.retain(|m| dfa.atoms().contains(&m.atom));
        Ok(Self { formulas, dfa, measured, state: Dfa::INITIAL, ties: TieBreak::default(), draws: 0 })
    }

    /// With another rule for a robustness of 0.
    #[must_use]
    pub fn with_tie_break(mut self, ties: TieBreak) -> Self {
        self.ties = ties;
        self
    }

    /// Back to the initial state. The seed fixes what [`TieBreak::Drawn`] draws, and nothing else; without one it goes on
    /// drawing where it was.
    pub fn reset(&mut self, seed: Option<u64>) {
        self.state = Dfa::INITIAL;
        if let Some(seed) = seed {
            self.draws = seed;
        }
    }

    /// The automaton.
    pub fn dfa(&self) -> &Dfa {
        &self.dfa
    }

    /// The formulas that the automaton's atoms belong to.
    pub fn formulas(&self) -> &Formulas {
        &self.formulas
    }

    /// The current state.
    pub fn state(&self) -> usize {
        self.state
    }

    /// The atoms of the predicates, in the same order.
    pub fn atoms(&self) -> impl Iterator<Item = AtomId> + '_ {
        self.measured.iter().map(|m| m.atom)
    }

    /// The predicates and comparisons that decide steps: names as [`Objective::tl_reward`] wants them.
    pub fn predicates(&self) -> impl Iterator<Item = (&str, &Robustness)> {
        self.measured.iter().map(|m| (m.name.as_str(), &m.robustness))
    }

    /// Whether the current state is a goal: the specification is met, and can at most be broken once for all.
    pub fn is_goaled(&self) -> bool {
        self.dfa.is_goal(self.state)
    }

    /// Whether the current state is a trap: the specification can no longer be met.
    pub fn is_trapped(&self) -> bool {
        self.dfa.is_trap(self.state)
    }

    /// Whether the current state is a goal or a trap.
    pub fn is_terminated(&self) -> bool {
        self.is_goaled() || self.is_trapped()
    }

    /// Whether the trace that ends here meets the specification.
    pub fn is_accepting(&self) -> bool {
        self.dfa.accepts(self.state)
    }

    /// The least number of steps to a goal; `None` where none can be reached.
    pub fn distance(&self) -> Option<u32> {
        self.dfa.distance(self.state)
    }

    /// The robustness of each predicate at a record, by name.
    ///
    /// # Errors
    /// [`ObjectiveError::Predicate`].
    pub fn robustness(&self, values: &(impl Record + ?Sized)) -> Result<Vec<(&str, f64)>, ObjectiveError> {
        let signed = self.signed(values)?;
        Ok(self.measured.iter().zip(signed).map(|(m, value)| (m.name.as_str(), value + 0.0)).collect())
    }

    /// The robustness of each predicate; on the border its sign tells whether it counts as satisfied.
    fn signed(&self, values: &(impl Record + ?Sized)) -> Result<Vec<f64>, ObjectiveError> {
        self.measured
            .iter()
            .map(|m| match m.robustness.evaluate_with_truth(values) {
                Ok((0.0, holds)) => Ok(if holds { 0.0 } else { -0.0 }),
                Ok((value, _)) => Ok(value),
                Err(error) => Err(ObjectiveError::Predicate { predicate: m.name.clone(), error }),
            })
            .collect()
    }

    /// One step on: the reward, and the new state. After an error the state is what it was.
    ///
    /// # Errors
    /// [`ObjectiveError::Predicate`]: a quantity that `values` does not have, or that is no number.
    pub fn step(
        &mut self,
        values: &(impl Record + ?Sized),
        config: &RewardConfig,
    ) -> Result<(f64, usize), ObjectiveError> {
        let robustness = self.signed(values)?;
        let (reward, next) = self.rewarded(&robustness, self.state, config);
        self.state = next;
        Ok((reward, next))
    }

    /// One step on over a record that may lack quantities: a predicate that asks for one is false, and as far from true
    /// as can be. Comparisons are what they are: of equal numbers, `<` does not hold ([`Robustness::evaluate_exactly`]).
    pub fn step_with_missing(&mut self, values: &(impl Record + ?Sized), config: &RewardConfig) -> StepResult<'_> {
        let robustness: Vec<Option<f64>> = self
            .measured
            .iter()
            .map(|m| match m.robustness.evaluate_exactly(values) {
                Ok((0.0, holds)) => Some(if holds { 0.0 } else { -0.0 }),
                other => other.ok().map(|(value, _)| value),
            })
            .collect();
        let known: Vec<f64> = robustness.iter().map(|value| value.unwrap_or(f64::NEG_INFINITY)).collect();
        let before = self.state;
        let wanted = |t: &Transition| {
            !self.dfa.is_trap(t.next)
                && (self.is_progress(before, t.next) || self.dfa.is_goal(before) && self.dfa.is_goal(t.next))
        };
        let transitions = self.transitions(&known, before);
        let nearness = transitions.iter().filter(|t| wanted(t)).map(|t| t.robustness).reduce(f64::max);
        let (reward, next) = self.rewarded(&known, before, config);
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

    /// The reward of a step from any state, and where it leads; the current state stays.
    ///
    /// # Errors
    /// A predicate without robustness, or NaN; no such state.
    pub fn tl_reward<'r>(
        &mut self,
        robustness: impl IntoIterator<Item = (&'r str, f64)>,
        state: usize,
        config: &RewardConfig,
    ) -> Result<(f64, usize), ObjectiveError> {
        let robustness = self.in_order(robustness, state)?;
        Ok(self.rewarded(&robustness, state, config))
    }

    /// The robustness of all transitions from a state, in five groups.
    ///
    /// # Errors
    /// As [`Objective::tl_reward`].
    pub fn transition_robustness<'r>(
        &self,
        robustness: impl IntoIterator<Item = (&'r str, f64)>,
        state: usize,
    ) -> Result<Transitions, ObjectiveError> {
        let robustness = self.in_order(robustness, state)?;
        Ok(Transitions::grouped(&self.dfa, self.transitions(&robustness, state)))
    }

    fn in_order<'r>(
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
                // Of -0 too it is not known more than that it is 0, which counts as satisfied.
                Some(value) => Ok(value + 0.0),
            })
            .collect()
    }

    fn transitions(&self, robustness: &[f64], state: usize) -> Vec<Transition> {
        transitions(&self.dfa, state, |atom| {
            let at = self.measured.binary_search_by_key(&atom, |m| m.atom).expect("each atom is measured");
            robustness[at]
        })
    }

    fn rewarded(&mut self, robustness: &[f64], state: usize, config: &RewardConfig) -> (f64, usize) {
        let transitions = self.transitions(robustness, state);
        let taken = self.taken(&transitions);
        let next = taken.next;
        let reward = if self.dfa.is_trap(state) {
            -config.terminal_state_reward
        } else if self.dfa.is_trap(next) {
            -scaled(config.state_trans_reward_scale, taken.robustness)
        } else if self.dfa.is_goal(state) {
            config.terminal_state_reward
        } else if self.is_progress(state, next) {
            scaled(config.state_trans_reward_scale, taken.robustness)
        } else if config.dense_reward {
            let nearest = transitions
                .iter()
                .filter(|t| !self.dfa.is_trap(t.next) && self.is_progress(state, t.next))
                .map(|t| t.robustness)
                .reduce(f64::max);
            nearest.map_or(0.0, |nearest| scaled(config.dense_reward_scale, nearest))
        } else {
            0.0
        };
        // Adding 0 makes -0 one with 0.
        (reward + 0.0, next)
    }

    /// The transition that is taken: the one of the letter, unless ties are drawn.
    fn taken(&mut self, transitions: &[Transition]) -> Transition {
        let letter = transitions[0];
        if self.ties == TieBreak::Satisfied || letter.robustness != 0.0 {
            return letter;
        }
        let border: Vec<Transition> = transitions.iter().filter(|t| t.robustness == 0.0).copied().collect();
        if let Some(trap) = border.iter().find(|t| self.dfa.is_trap(t.next)) {
            return *trap;
        }
        // SplitMix64 (Steele et al. 2014).
        self.draws = self.draws.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.draws;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let count = u64::try_from(border.len()).expect("few transitions");
        border[usize::try_from(z % count).expect("less than a length")]
    }

    /// Whether a move to a state that is no trap is progress.
    ///
    /// * Where a goal can be reached: fewer steps to it, or as many with fewer atoms to look at on a shortest way, so
    ///   that the first half of `F(a & F b)` counts although both halves could come at once.
    /// * In a task without a goal, from a state that does not accept: the same, towards an accepting state.
    /// * In a task without a goal, from a state that accepts: a round begins (`G(a -> F b)` was asked for `b`). It does
    ///   not where only acceptance is lost and nothing is newly owed, as in `G F a`.
    ///
    /// Otherwise a move is no progress, however it is called: what goes back is never rewarded.
    pub fn is_progress(&self, from: usize, to: usize) -> bool {
        let dfa = &self.dfa;
        if let Some(far) = dfa.way_to_goal(from) {
            return dfa.way_to_goal(to).is_some_and(|near| near < far);
        }
        if dfa.accepts(from) {
            return from != to && !dfa.is_trap(to) && (dfa.accepts(to) || !dfa.same_successors(from, to));
        }
        match (dfa.way_to_accepting(from), dfa.way_to_accepting(to)) {
            (Some(far), Some(near)) => near < far,
            _ => false,
        }
    }
}

/// A finite product. A robustness without bound (of `true`, or of an infinite quantity) counts as 1.
fn scaled(scale: f64, robustness: f64) -> f64 {
    let robustness = if robustness.is_finite() { robustness } else { robustness.signum() };
    (scale * robustness).clamp(f64::MIN, f64::MAX)
}
