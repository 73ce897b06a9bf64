//! The robustness of an automaton's transitions.
//!
//! A guard's robustness is that of the Boolean function it is, whatever formula it is written as: positive where it
//! holds, and as large as predicates may err without changing that; negative where it does not hold, and as small as
//! some predicates must change for it to hold. That is the greatest over all its implicants of the least of their
//! literals, found on the diagram as the way whose hardest change is easiest.

use std::collections::{BTreeMap, BTreeSet};

use super::automaton::{Dfa, Target};
use super::formula::AtomId;

/// One transition and its robustness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// Where it leads.
    pub next: usize,
    /// Of its guard; infinite where any letter takes it.
    pub robustness: f64,
}

/// The transitions from one state in groups, each in the order of the states they lead to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transitions {
    /// Of positive robustness, into a trap.
    pub positive_trap: Vec<Transition>,
    /// Of positive robustness, elsewhere.
    pub positive_non_trap: Vec<Transition>,
    /// Of robustness 0, into a trap.
    pub zero_trap: Vec<Transition>,
    /// Of robustness 0, elsewhere.
    pub zero_non_trap: Vec<Transition>,
    /// All that lead to no trap, whatever their robustness.
    pub non_trap: Vec<Transition>,
}

impl Transitions {
    pub(super) fn grouped(dfa: &Dfa, mut transitions: Vec<Transition>) -> Self {
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
                (r, true) if r >= 0.0 => groups.zero_trap.push(transition),
                (r, false) if r >= 0.0 => groups.zero_non_trap.push(transition),
                _ => {}
            }
        }
        groups
    }
}

/// All transitions from a state; first the one that is taken where what has a positive sign is true (0, but not -0).
pub(super) fn transitions(dfa: &Dfa, state: usize, robustness: impl Fn(AtomId) -> f64) -> Vec<Transition> {
    // A target's cost is the hardest change on the easiest way to it. Parents have larger numbers than their children,
    // so each is done before what is below it.
    let mut cost: BTreeMap<usize, f64> = BTreeMap::new();
    let mut states: BTreeMap<usize, f64> = BTreeMap::new();
    let mut waiting: BTreeSet<usize> = BTreeSet::new();
    let mut reach = |target: Target, by: f64, waiting: &mut BTreeSet<usize>, cost: &mut BTreeMap<usize, f64>| {
        let known = match (target.as_state(), target.as_node()) {
            (Some(state), _) => states.entry(state).or_insert(f64::INFINITY),
            (_, Some(node)) => {
                waiting.insert(node);
                cost.entry(node).or_insert(f64::INFINITY)
            }
            _ => return,
        };
        *known = known.min(by);
    };
    reach(dfa.root(state), 0.0, &mut waiting, &mut cost);
    while let Some(node) = waiting.pop_last() {
        let decision = dfa.decision(Target::node(node)).expect("a node");
        let value = robustness(decision.atom);
        let (taken, other) =
            if value.is_sign_positive() { (decision.high, decision.low) } else { (decision.low, decision.high) };
        let so_far = cost[&node];
        reach(taken, so_far, &mut waiting, &mut cost);
        reach(other, so_far.max(value.abs()), &mut waiting, &mut cost);
    }
    let letter = dfa.next(state, |atom| robustness(atom).is_sign_positive());
    let others = states.iter().filter(|(next, _)| **next != letter);
    let mut found =
        vec![Transition { next: letter, robustness: others.clone().map(|(_, c)| *c).fold(f64::INFINITY, f64::min) }];
    found.extend(others.map(|(next, cost)| Transition { next: *next, robustness: -cost }));
    found
}
