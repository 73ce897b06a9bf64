//! The automaton itself: states, what accepts, goals, traps, distances, steps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::atom::Record;
use super::super::formula::{AtomId, Formulas};

/// Where a decision leads: to another decision, or to a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in super::super) struct Target(u32);

const STATE: u32 = 1 << 31;

impl Target {
    pub(super) fn state(number: usize) -> Self {
        Self(STATE | u32::try_from(number).expect("limits keep states few"))
    }

    pub(in super::super) fn node(number: usize) -> Self {
        Self(u32::try_from(number).expect("limits keep nodes few"))
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(in super::super) fn as_state(self) -> Option<usize> {
        (self.0 & STATE != 0).then_some((self.0 & !STATE) as usize)
    }

    pub(in super::super) fn as_node(self) -> Option<usize> {
        (self.0 & STATE == 0).then_some(self.0 as usize)
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.as_state() {
            Some(state) => write!(f, "state {state}"),
            None => write!(f, "node {}", self.0),
        }
    }
}

/// One decision: where to go where the atom is false, and where it is true.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Decision {
    pub(in super::super) atom: AtomId,
    pub(in super::super) low: Target,
    pub(in super::super) high: Target,
}

/// States with their decision diagrams; children have smaller numbers than their parents. State 0 is the initial one.
#[derive(Debug, Clone)]
pub(super) struct Diagram {
    /// Ascending, which is also the order from the root down.
    pub(super) atoms: Vec<AtomId>,
    pub(super) nodes: Vec<Decision>,
    pub(super) roots: Vec<Target>,
    pub(super) accepting: Vec<bool>,
}

impl Diagram {
    pub(super) fn new(atoms: Vec<AtomId>) -> Self {
        Self { atoms, nodes: Vec::new(), roots: Vec::new(), accepting: Vec::new() }
    }

    pub(super) fn decide(&mut self, atom: AtomId, low: Target, high: Target) -> Target {
        if low == high {
            return low;
        }
        self.nodes.push(Decision { atom, low, high });
        Target::node(self.nodes.len() - 1)
    }

    pub(super) fn place_of(&self, atom: AtomId) -> usize {
        self.atoms.binary_search(&atom).expect("an atom of the diagram")
    }

    /// The finished automaton; the diagram is minimal and canonically numbered.
    pub(super) fn into_dfa(mut self) -> Dfa {
        let mut read: Vec<AtomId> = self.nodes.iter().map(|n| n.atom).collect();
        read.sort_unstable();
        read.dedup();
        self.atoms = read;
        let trap = (0..self.roots.len()).find(|s| !self.accepting[*s] && self.roots[*s] == Target::state(*s));
        let goal = self.goals(trap);
        let to_goal = self.distances(&goal);
        let to_accepting = self.distances(&self.accepting);
        Dfa { diagram: self, trap, goal, to_goal, to_accepting }
    }

    /// Which states accept and are left, if at all, only to the trap.
    fn goals(&self, trap: Option<usize>) -> Vec<bool> {
        #[derive(Clone, Copy, PartialEq)]
        enum Besides {
            Nothing,
            One(usize),
            More,
        }
        let mut of_node: Vec<Besides> = Vec::with_capacity(self.nodes.len());
        let besides = |target: Target, of_node: &[Besides]| match (target.as_state(), target.as_node()) {
            (Some(state), _) if Some(state) == trap => Besides::Nothing,
            (Some(state), _) => Besides::One(state),
            (_, node) => of_node[node.expect("a target is a state or a node")],
        };
        for node in &self.nodes {
            let both = match (besides(node.low, &of_node), besides(node.high, &of_node)) {
                (Besides::Nothing, one) | (one, Besides::Nothing) => one,
                (a, b) if a == b => a,
                _ => Besides::More,
            };
            of_node.push(both);
        }
        self.roots
            .iter()
            .enumerate()
            .map(|(state, root)| {
                let left = besides(*root, &of_node);
                self.accepting[state] && (left == Besides::Nothing || left == Besides::One(state))
            })
            .collect()
    }

    /// By state, the least number of steps to a wanted state, and of such ways the fewest atoms that are looked at.
    fn distances(&self, wanted: &[bool]) -> Vec<Option<Distance>> {
        let mut above_node = vec![Vec::new(); self.nodes.len()];
        let mut above_state = vec![Vec::new(); self.roots.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            for side in [node.low, node.high] {
                match side.as_state() {
                    Some(state) => above_state[state].push(Target::node(i)),
                    None => above_node[side.0 as usize].push(Target::node(i)),
                }
            }
        }
        let mut roots_at_node = vec![Vec::new(); self.nodes.len()];
        for (state, root) in self.roots.iter().enumerate() {
            match root.as_state() {
                Some(next) => above_state[next].push(Target::state(state)),
                None => roots_at_node[root.0 as usize].push(state),
            }
        }
        let mut of_state = vec![None; self.roots.len()];
        let mut of_node = vec![None; self.nodes.len()];
        let mut waiting: BinaryHeap<_> = (0..self.roots.len())
            .filter(|s| wanted[*s])
            .map(|s| Reverse((Distance { steps: 0, atoms: 0 }, Target::state(s))))
            .collect();
        while let Some(Reverse((distance, target))) = waiting.pop() {
            let step = Distance { steps: distance.steps + 1, ..distance };
            if let Some(state) = target.as_state() {
                if of_state[state].is_some() {
                    continue;
                }
                of_state[state] = Some(distance);
                for above in &above_state[state] {
                    // An atom is counted where it is decided, so the first of a step starts from the state's own count.
                    let next = if above.as_state().is_some() { step } else { distance.further() };
                    waiting.push(Reverse((next, *above)));
                }
            } else {
                let node = target.0 as usize;
                if of_node[node].is_some() {
                    continue;
                }
                of_node[node] = Some(distance);
                waiting.extend(above_node[node].iter().map(|above| Reverse((distance.further(), *above))));
                waiting.extend(roots_at_node[node].iter().map(|state| Reverse((step, Target::state(*state)))));
            }
        }
        of_state
    }
}

/// How far a state is from a goal: steps first, then the atoms that a shortest way looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Distance {
    pub(in super::super) steps: u32,
    pub(in super::super) atoms: u32,
}

impl Distance {
    fn further(self) -> Self {
        Self { atoms: self.atoms + 1, ..self }
    }
}

/// A complete minimal deterministic automaton that reads a finite trace letter by letter.
///
/// It accepts after a prefix exactly when the formula holds of that prefix as a whole trace. States are numbered from
/// 0, the initial one, in the order in which they are reached, a letter with the lowest atom false before one with it
/// true: two formulas (over atoms in one order) with the same traces have the same automaton.
#[derive(Debug, Clone)]
pub struct Dfa {
    pub(super) diagram: Diagram,
    trap: Option<usize>,
    goal: Vec<bool>,
    to_goal: Vec<Option<Distance>>,
    to_accepting: Vec<Option<Distance>>,
}

impl Dfa {
    /// The initial state.
    pub const INITIAL: usize = 0;

    /// How many states there are, a trap included.
    pub fn states(&self) -> usize {
        self.diagram.roots.len()
    }

    /// How many nodes the diagrams of all states have together.
    pub fn nodes(&self) -> usize {
        self.diagram.nodes.len()
    }

    /// The atoms that some state looks at, ascending; the formula may have had more.
    pub fn atoms(&self) -> &[AtomId] {
        &self.diagram.atoms
    }

    /// Whether the trace is accepted where it ends in this state.
    ///
    /// # Panics
    /// Here and below: where there is no such state.
    pub fn accepts(&self, state: usize) -> bool {
        self.diagram.accepting[state]
    }

    /// Whether the state accepts and is never left, or is left only to a trap.
    pub fn is_goal(&self, state: usize) -> bool {
        self.goal[state]
    }

    /// Whether no accepting state can be reached any more.
    pub fn is_trap(&self, state: usize) -> bool {
        self.trap == Some(state)
    }

    /// The one state that is a trap, where there is one.
    pub fn trap(&self) -> Option<usize> {
        self.trap
    }

    /// The least number of steps to a goal, 0 in a goal; `None` where no goal can be reached.
    pub fn distance(&self, state: usize) -> Option<u32> {
        self.to_goal[state].map(|d| d.steps)
    }

    /// The least number of steps to an accepting state, 0 in one; `None` exactly in the trap.
    pub fn distance_to_accepting(&self, state: usize) -> Option<u32> {
        self.to_accepting[state].map(|d| d.steps)
    }

    /// The state after one letter: `letter` tells which atoms are true.
    pub fn next(&self, state: usize, mut letter: impl FnMut(AtomId) -> bool) -> usize {
        let mut at = self.diagram.roots[state];
        while let Some(node) = at.as_node() {
            let decision = self.diagram.nodes[node];
            at = if letter(decision.atom) { decision.high } else { decision.low };
        }
        at.as_state().expect("a target is a state or a node")
    }

    /// The state after one record.
    pub fn read(&self, formulas: &Formulas, state: usize, record: &(impl Record + ?Sized)) -> usize {
        self.next(state, |atom| formulas.atom(atom).holds(record))
    }

    /// The states that some letter leads to, in the order of their numbers.
    pub fn successors(&self, state: usize) -> Vec<usize> {
        let mut seen = std::collections::HashSet::new();
        let mut waiting = vec![self.diagram.roots[state]];
        let mut found = Vec::new();
        while let Some(target) = waiting.pop() {
            if !seen.insert(target) {
                continue;
            }
            match target.as_state() {
                Some(next) => found.push(next),
                None => {
                    let decision = self.decision(target).expect("no state");
                    waiting.extend([decision.low, decision.high]);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// How many edges there are in all: for each state, one to each state that some letter leads to. `None` if there are
    /// more than `most`: a conjunction of 16 responses has 4,294,967,296.
    pub fn edge_count(&self, most: usize) -> Option<usize> {
        let mut count = 0;
        for state in 0..self.states() {
            count += self.successors(state).len();
            if count > most {
                return None;
            }
        }
        Some(count)
    }

    /// Whether two states do the same with every letter, so that only their acceptance tells them apart.
    pub fn same_successors(&self, a: usize, b: usize) -> bool {
        self.diagram.roots[a] == self.diagram.roots[b]
    }

    pub(in super::super) fn root(&self, state: usize) -> Target {
        self.diagram.roots[state]
    }

    pub(in super::super) fn decision(&self, target: Target) -> Option<Decision> {
        target.as_node().map(|node| self.diagram.nodes[node])
    }

    pub(in super::super) fn way_to_goal(&self, state: usize) -> Option<Distance> {
        self.to_goal[state]
    }

    pub(in super::super) fn way_to_accepting(&self, state: usize) -> Option<Distance> {
        self.to_accepting[state]
    }
}
