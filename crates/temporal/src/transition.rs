//! The robustness of the transitions of an automaton. On the decision diagram it is a minimax path: the path to the target
//! whose largest change is smallest.

use std::collections::{BTreeMap, BTreeSet};

use super::automaton::{Dfa, Target};
use super::formula::AtomId;

/// One transition and its robustness.
///
/// The robustness of a guard belongs to its Boolean function, independent of the formula it is written as. If the guard
/// holds, it is positive: the largest error of all predicates that does not change this. If not, it is negative: the
/// smallest change of predicates after which the guard holds. That is the maximum over all implicants of the minimum of
/// their literals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// The number of the target state.
    pub next: usize,
    /// The robustness of the guard; infinite if every letter takes the transition.
    pub robustness: f64,
}

/// The transitions from one state, grouped by robustness and target; each group is sorted by target state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transitions {
    /// Positive robustness, into a trap.
    pub positive_trap: Vec<Transition>,
    /// Positive robustness, into another state.
    pub positive_non_trap: Vec<Transition>,
    /// Robustness 0, into a trap.
    pub zero_trap: Vec<Transition>,
    /// Robustness 0, into another state.
    pub zero_non_trap: Vec<Transition>,
    /// All transitions into a state that is not a trap, of any robustness.
    pub non_trap: Vec<Transition>,
}

impl Transitions {
    pub(super) fn group(dfa: &Dfa, mut transitions: Vec<Transition>) -> Self {
        transitions.sort_by_key(|t| t.next);
        let mut groups = Self::default();
        for transition in transitions {
            let trap = dfa.is_trap(transition.next);
            if !trap {
                groups.non_trap.push(transition);
            }
            match (transition.robustness, trap) {
                (r, true) if r > 0.0 => groups.positive_trap.push(transition),
                (r, false) if r > 0.0 => groups.positive_non_trap.push(transition),
                // -0 passes too: a transition that a tie makes as near as the one taken.
                (r, true) if r >= 0.0 => groups.zero_trap.push(transition),
                (r, false) if r >= 0.0 => groups.zero_non_trap.push(transition),
                _ => {}
            }
        }
        groups
    }
}

/// All transitions from a state. The first is the one taken by the letter in which an atom is true if its robustness has a
/// positive sign (0 has one, -0 does not).
pub(super) fn transitions(dfa: &Dfa, state: usize, robustness: impl Fn(AtomId) -> f64) -> Vec<Transition> {
    // The cost of a target is the largest change on the cheapest path to it. Parents have larger numbers than children, so
    // taking the largest node first finalizes each node before its children.
    let mut node_cost: BTreeMap<usize, f64> = BTreeMap::new();
    let mut state_cost: BTreeMap<usize, f64> = BTreeMap::new();
    let mut waiting: BTreeSet<usize> = BTreeSet::new();
    let mut lower_cost =
        |target: Target, by: f64, waiting: &mut BTreeSet<usize>, node_cost: &mut BTreeMap<usize, f64>| {
            // `min`, because several paths lead to one target, and the cheapest counts.
            let known = match (target.as_state(), target.as_node()) {
                (Some(state), _) => state_cost.entry(state).or_insert(f64::INFINITY),
                (_, Some(node)) => {
                    waiting.insert(node);
                    node_cost.entry(node).or_insert(f64::INFINITY)
                }
                _ => return,
            };
            *known = known.min(by);
        };
    lower_cost(dfa.root(state), 0.0, &mut waiting, &mut node_cost);
    while let Some(node) = waiting.pop_last() {
        let decision = dfa.decision(Target::node(node)).expect("a node");
        let value = robustness(decision.atom);
        // To follow the letter costs nothing; to leave it costs a change of this predicate.
        let (taken, other) =
            if value.is_sign_positive() { (decision.high, decision.low) } else { (decision.low, decision.high) };
        let so_far = node_cost[&node];
        lower_cost(taken, so_far, &mut waiting, &mut node_cost);
        lower_cost(other, so_far.max(value.abs()), &mut waiting, &mut node_cost);
    }
    // The letter keeps its transition until the cheapest change that leads to another state.
    let letter = dfa.next(state, |atom| robustness(atom).is_sign_positive());
    let others = state_cost.iter().filter(|(next, _)| **next != letter);
    let mut transitions =
        vec![Transition { next: letter, robustness: others.clone().map(|(_, c)| *c).fold(f64::INFINITY, f64::min) }];
    transitions.extend(others.map(|(next, change)| Transition { next: *next, robustness: -change }));
    transitions
}
