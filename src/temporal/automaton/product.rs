//! Two automata as one, and many automata side by side.

use std::collections::HashMap;

use super::super::atom::Record;
use super::super::formula::{AtomId, Connective, Formula, Formulas, Node};
use super::dfa::{Dfa, Diagram, Target};
use super::limits::{AutomatonError, Limits, MAX_LEVELS, check_limit};

/// The minimal automaton of both (or either). The automata must come from the same [`Formulas`].
pub(super) fn product(a: &Dfa, b: &Dfa, connective: Connective, limits: Limits) -> Result<Dfa, AutomatonError> {
    let mut atoms = [a.atoms(), b.atoms()].concat();
    atoms.sort_unstable();
    atoms.dedup();
    check_limit("atoms", atoms.len(), MAX_LEVELS)?;
    let mut pairs = Pairs {
        sides: [a, b],
        connective,
        raw: Diagram::new(atoms),
        states: Vec::new(),
        numbers: HashMap::new(),
        made: HashMap::new(),
        most: limits.nodes,
    };
    pairs.number([Dfa::INITIAL, Dfa::INITIAL]);
    let mut at = 0;
    while at < pairs.states.len() {
        let [s, t] = pairs.states[at];
        let root = pairs.target([a.root(s), b.root(t)])?;
        pairs.raw.roots.push(root);
        pairs.raw.accepting.push(connective.apply(a.accepts(s), b.accepts(t)));
        check_limit("states", pairs.states.len(), limits.states)?;
        at += 1;
    }
    pairs.raw.minimized(limits)
}

struct Pairs<'a> {
    sides: [&'a Dfa; 2],
    connective: Connective,
    raw: Diagram,
    states: Vec<[usize; 2]>,
    numbers: HashMap<[usize; 2], usize>,
    made: HashMap<[Target; 2], Target>,
    most: usize,
}

impl Pairs<'_> {
    fn number(&mut self, pair: [usize; 2]) -> usize {
        let states = &mut self.states;
        *self.numbers.entry(pair).or_insert_with(|| {
            states.push(pair);
            states.len() - 1
        })
    }

    /// Whether one side alone decides what all continuations are: a trap of a conjunction, or a sure goal of a
    /// disjunction.
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
                // Any partner will do; one that is always there makes all such pairs one.
                let mut whole = [Dfa::INITIAL; 2];
                whole[side] = state;
                Target::state(self.number(whole))
            }
            (None, [None, None]) => {
                Target::state(self.number(states.map(|s| s.expect("a target that decides nothing is a state"))))
            }
            (None, [first, second]) => {
                let atom = [first, second].into_iter().flatten().map(|d| d.atom).min().expect("one of them decides");
                let sides = |high: bool| {
                    let one = |decision: Option<super::dfa::Decision>, whole: Target| match decision {
                        Some(d) if d.atom == atom => {
                            if high {
                                d.high
                            } else {
                                d.low
                            }
                        }
                        _ => whole,
                    };
                    [one(first, pair[0]), one(second, pair[1])]
                };
                let low = self.target(sides(false))?;
                let high = self.target(sides(true))?;
                self.raw.decide(atom, low, high)
            }
        };
        self.made.insert(pair, target);
        check_limit("nodes of decision diagrams", self.made.len(), self.most)?;
        Ok(target)
    }
}

/// The automata of the parts of a conjunction, stepped side by side: as many states as the parts have together.
///
/// Acceptance is exact. [`Conjunction::is_goal`] and [`Conjunction::is_trap`] are never wrong when they say yes, but
/// may be late: two parts that can no longer both be met are not a trap before one of them is. The distance is a lower
/// bound. [`Conjunction::product`] is exact in all.
#[derive(Debug, Clone)]
pub struct Conjunction {
    parts: Vec<(Formula, Dfa)>,
}

impl Conjunction {
    /// One automaton for each part of a conjunction (of any other formula, one).
    ///
    /// # Errors
    /// As [`Dfa::build`], the limits applying to each part.
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

    /// The parts with their automata, in the order of the conjunction.
    pub fn parts(&self) -> &[(Formula, Dfa)] {
        &self.parts
    }

    /// The states of all parts together.
    pub fn states(&self) -> usize {
        self.parts.iter().map(|(_, dfa)| dfa.states()).sum()
    }

    /// The initial states, one a part.
    pub fn initial(&self) -> Vec<usize> {
        vec![Dfa::INITIAL; self.parts.len()]
    }

    /// Goes one letter on.
    pub fn step(&self, states: &mut [usize], mut letter: impl FnMut(AtomId) -> bool) {
        for ((_, dfa), state) in self.parts.iter().zip(states) {
            *state = dfa.next(*state, &mut letter);
        }
    }

    /// Goes one record on.
    pub fn read(&self, formulas: &Formulas, states: &mut [usize], record: &(impl Record + ?Sized)) {
        self.step(states, |atom| formulas.atom(atom).holds(record));
    }

    /// Whether the trace that ends here is accepted.
    pub fn accepts(&self, states: &[usize]) -> bool {
        self.each(states).all(|(dfa, state)| dfa.accepts(state))
    }

    /// Whether every part is in a goal, which makes the whole be in one.
    pub fn is_goal(&self, states: &[usize]) -> bool {
        self.each(states).all(|(dfa, state)| dfa.is_goal(state))
    }

    /// Whether some part is in a trap, which makes the whole be in one.
    pub fn is_trap(&self, states: &[usize]) -> bool {
        self.each(states).any(|(dfa, state)| dfa.is_trap(state))
    }

    /// No way to an accepting state is shorter than this; `None`: some part is in a trap.
    pub fn distance_to_accepting(&self, states: &[usize]) -> Option<u32> {
        self.each(states).try_fold(0, |most, (dfa, state)| Some(most.max(dfa.distance_to_accepting(state)?)))
    }

    /// The product, minimised after every pair.
    ///
    /// # Errors
    /// Where it grows beyond the limits.
    pub fn product(&self, limits: Limits) -> Result<Dfa, AutomatonError> {
        let dfas: Vec<&Dfa> = self.parts.iter().map(|(_, dfa)| dfa).collect();
        combined(&dfas, Connective::And, limits)
    }

    fn each<'a>(&'a self, states: &'a [usize]) -> impl Iterator<Item = (&'a Dfa, usize)> {
        self.parts.iter().map(|(_, dfa)| dfa).zip(states.iter().copied())
    }
}

/// The automaton of at least one part. Neighbours come first: they share atoms more often.
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
