//! Products of automata, and automata that step in parallel instead of being multiplied.

use std::collections::HashMap;

use super::super::atom::Record;
use super::super::formula::{AtomId, Connective, Formula, Formulas, Node};
use super::dfa::{Dfa, Diagram, Target};
use super::limits::{AutomatonError, Limits, MAX_LEVELS, check_limit};

/// The minimal product automaton of two automata over the same [`Formulas`].
pub(super) fn product(a: &Dfa, b: &Dfa, connective: Connective, limits: Limits) -> Result<Dfa, AutomatonError> {
    let mut atoms = [a.atoms(), b.atoms()].concat();
    atoms.sort_unstable();
    atoms.dedup();
    check_limit("atoms", atoms.len(), MAX_LEVELS)?;
    let mut builder = ProductBuilder {
        sides: [a, b],
        connective,
        raw: Diagram::new(atoms),
        states: Vec::new(),
        numbers: HashMap::new(),
        made: HashMap::new(),
        max_nodes: limits.nodes,
    };
    // First, so that the pair of initial states is state 0.
    builder.number([Dfa::INITIAL, Dfa::INITIAL]);
    let mut index = 0;
    while index < builder.states.len() {
        let [s, t] = builder.states[index];
        let root = builder.target([a.root(s), b.root(t)])?;
        builder.raw.roots.push(root);
        builder.raw.accepting.push(connective.apply(a.accepts(s), b.accepts(t)));
        check_limit("states", builder.states.len(), limits.states)?;
        index += 1;
    }
    builder.raw.minimized(limits)
}

struct ProductBuilder<'a> {
    sides: [&'a Dfa; 2],
    connective: Connective,
    raw: Diagram,
    states: Vec<[usize; 2]>,
    numbers: HashMap<[usize; 2], usize>,
    made: HashMap<[Target; 2], Target>,
    max_nodes: usize,
}

impl ProductBuilder<'_> {
    fn number(&mut self, pair: [usize; 2]) -> usize {
        let states = &mut self.states;
        *self.numbers.entry(pair).or_insert_with(|| {
            states.push(pair);
            states.len() - 1
        })
    }

    /// Whether one side decides the result of all continuations: a trap of a conjunction, or a state of a disjunction that
    /// accepts forever.
    fn decides(&self, side: usize, state: usize) -> bool {
        let dfa = self.sides[side];
        match self.connective {
            Connective::And => dfa.is_trap(state),
            Connective::Or => dfa.accepts(state) && dfa.root(state) == Target::state(state),
        }
    }

    fn target(&mut self, pair: [Target; 2]) -> Result<Target, AutomatonError> {
        if let Some(known) = self.made.get(&pair) {
            return Ok(*known);
        }
        let decisions = [self.sides[0].decision(pair[0]), self.sides[1].decision(pair[1])];
        let states = pair.map(Target::as_state);
        let decided = (0..2).find_map(|side| states[side].filter(|s| self.decides(side, *s)).map(|s| (side, s)));
        let target = match (decided, decisions) {
            (Some((side, state)), _) => {
                // The partner is irrelevant. A fixed one makes all such pairs the same product state.
                let mut pair_with_partner = [Dfa::INITIAL; 2];
                pair_with_partner[side] = state;
                Target::state(self.number(pair_with_partner))
            }
            (None, [None, None]) => {
                Target::state(self.number(states.map(|s| s.expect("a target that decides nothing is a state"))))
            }
            (None, [first, second]) => {
                // Both diagrams read their atoms in ascending order, so the smaller one is decided first.
                let atom = [first, second].into_iter().flatten().map(|d| d.atom).min().expect("one of them decides");
                let sides = |high: bool| {
                    let child = |decision: Option<super::dfa::Decision>, target: Target| match decision {
                        Some(d) if d.atom == atom => {
                            if high {
                                d.high
                            } else {
                                d.low
                            }
                        }
                        _ => target,
                    };
                    [child(first, pair[0]), child(second, pair[1])]
                };
                let low = self.target(sides(false))?;
                let high = self.target(sides(true))?;
                self.raw.decide(atom, low, high)
            }
        };
        self.made.insert(pair, target);
        check_limit("nodes of decision diagrams", self.made.len(), self.max_nodes)?;
        Ok(target)
    }
}

/// The automata of the operands of a conjunction, stepped in parallel: the sum of their states instead of the product.
///
/// Acceptance is exact. [`Conjunction::is_goal`] and [`Conjunction::is_trap`] are right if true, but may become true late:
/// two operands that contradict each other are no trap until one of them is. The distance is a lower bound.
/// [`Conjunction::product`] is exact in all respects.
///
/// # Panics
/// Methods that take states panic if an automaton does not have its state; a missing state counts as an automaton that is
/// left out.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Conjunction, Formulas, Limits, Quantities};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("F x > 0 & F y > 0 & G x < 9")?;
/// let all = Conjunction::build(&formulas, rule, Limits::default())?;
/// assert_eq!((all.parts().len(), all.states()), (3, 6));
/// assert_eq!(all.product(Limits::default())?.states(), 5);
///
/// let mut states = all.initial();
/// assert_eq!(all.distance_to_accepting(&states), Some(1));
/// all.read(&formulas, &mut states, &Quantities::from_iter([("x", 1.0), ("y", 1.0)]));
/// assert!(all.accepts(&states) && all.is_goal(&states));
/// all.read(&formulas, &mut states, &Quantities::from_iter([("x", 9.0)]));
/// assert!(all.is_trap(&states));
/// // By truth values instead of a record.
/// all.step(&mut states, |_| false);
/// assert!(!all.accepts(&states));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Conjunction {
    parts: Vec<(Formula, Dfa)>,
}

impl Conjunction {
    /// Builds one automaton for each operand of a conjunction, or one for any other formula.
    ///
    /// # Errors
    /// Those of [`Dfa::build`]; the limits apply to each operand.
    pub fn build(formulas: &Formulas, formula: Formula, limits: Limits) -> Result<Self, AutomatonError> {
        let parts = match formulas.node(formula) {
            Node::And(parts) => parts.to_vec(),
            _ => vec![formula],
        };
        let parts = parts
            .into_iter()
            .map(|part| Ok((part, Dfa::build(formulas, part, limits)?)))
            .collect::<Result<Vec<_>, AutomatonError>>()?;
        Ok(Self { parts })
    }

    /// The operands with their automata, in the order of the conjunction.
    pub fn parts(&self) -> &[(Formula, Dfa)] {
        &self.parts
    }

    /// The total number of states of all automata.
    pub fn states(&self) -> usize {
        self.parts.iter().map(|(_, dfa)| dfa.states()).sum()
    }

    /// The initial states, one per automaton.
    pub fn initial(&self) -> Vec<usize> {
        vec![Dfa::INITIAL; self.parts.len()]
    }

    /// Advances all states by one letter.
    pub fn step(&self, states: &mut [usize], mut letter: impl FnMut(AtomId) -> bool) {
        for ((_, dfa), state) in self.parts.iter().zip(states) {
            *state = dfa.next(*state, &mut letter);
        }
    }

    /// Advances all states by one record. `formulas` is the arena of the atoms.
    pub fn read(&self, formulas: &Formulas, states: &mut [usize], record: &(impl Record + ?Sized)) {
        self.step(states, |atom| formulas.atom(atom).holds(record));
    }

    /// Whether a trace that ends in these states is accepted.
    pub fn accepts(&self, states: &[usize]) -> bool {
        self.parts_with_states(states).all(|(dfa, state)| dfa.accepts(state))
    }

    /// Whether every automaton is in a goal, which implies that the conjunction is.
    pub fn is_goal(&self, states: &[usize]) -> bool {
        self.parts_with_states(states).all(|(dfa, state)| dfa.is_goal(state))
    }

    /// Whether some automaton is in a trap, which implies that the conjunction is.
    pub fn is_trap(&self, states: &[usize]) -> bool {
        self.parts_with_states(states).any(|(dfa, state)| dfa.is_trap(state))
    }

    /// A lower bound on the number of steps to acceptance; `None` if some automaton is in a trap.
    pub fn distance_to_accepting(&self, states: &[usize]) -> Option<u32> {
        self.parts_with_states(states)
            .try_fold(0, |maximum, (dfa, state)| Some(maximum.max(dfa.distance_to_accepting(state)?)))
    }

    /// The product automaton, minimized after each pair.
    ///
    /// # Errors
    /// The product exceeds the limits.
    pub fn product(&self, limits: Limits) -> Result<Dfa, AutomatonError> {
        let dfas: Vec<&Dfa> = self.parts.iter().map(|(_, dfa)| dfa).collect();
        combined(&dfas, Connective::And, limits)
    }

    fn parts_with_states<'a>(&'a self, states: &'a [usize]) -> impl Iterator<Item = (&'a Dfa, usize)> {
        self.parts.iter().map(|(_, dfa)| dfa).zip(states.iter().copied())
    }
}

/// The product of one or more automata, built as a balanced tree: neighbours first, because they share atoms more often.
pub(super) fn combined(parts: &[&Dfa], connective: Connective, limits: Limits) -> Result<Dfa, AutomatonError> {
    match parts {
        [one] => Ok((*one).clone()),
        _ => {
            let (left, right) = parts.split_at(parts.len().div_ceil(2));
            let left = combined(left, connective, limits)?;
            let right = combined(right, connective, limits)?;
            product(&left, &right, connective, limits)
        }
    }
}
