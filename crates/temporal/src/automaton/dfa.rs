//! The automaton: states, acceptance, goals, traps, distances, steps. Knows nothing of how it was built.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::atom::Record;
use super::super::formula::{AtomId, Formulas};

/// The target of an edge of a diagram: an inner node (a decision) or a leaf (a state). One bit distinguishes them.
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

/// An inner node: `low` if the atom is false, `high` if it is true.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Decision {
    pub(in super::super) atom: AtomId,
    pub(in super::super) low: Target,
    pub(in super::super) high: Target,
}

/// States with decision diagrams for their transitions. Children have smaller numbers than parents; state 0 is initial.
#[derive(Debug, Clone)]
pub(super) struct Diagram {
    /// In ascending order, which is also the order of the decisions on every path from a root.
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

    pub(super) fn atom_index(&self, atom: AtomId) -> usize {
        self.atoms.binary_search(&atom).expect("an atom of the diagram")
    }

    /// Computes trap, goals and distances. The diagram must be minimal and canonically numbered.
    pub(super) fn into_dfa(mut self) -> Dfa {
        // Minimization can leave an atom that no state reads.
        let mut atoms: Vec<AtomId> = self.nodes.iter().map(|n| n.atom).collect();
        atoms.sort_unstable();
        atoms.dedup();
        self.atoms = atoms;
        // In a minimal automaton, all states that cannot accept any more are one, and it leads to itself.
        let trap = (0..self.roots.len()).find(|s| !self.accepting[*s] && self.roots[*s] == Target::state(*s));
        let goal = self.goals(trap);
        let to_goal = self.distances(&goal);
        let to_accepting = self.distances(&self.accepting);
        Dfa { diagram: self, trap, goal, to_goal, to_accepting }
    }

    /// By state, whether it accepts and all its transitions lead to itself or to the trap.
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
            // What a node leads to besides the trap. More than one state is not a goal, whichever they are.
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

    /// By state, the least number of steps to a wanted state, and among shortest paths the least number of atoms read:
    /// Dijkstra's algorithm backwards over the diagrams.
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
                // Taken from the queue before, with a smaller or equal distance.
                if of_state[state].is_some() {
                    continue;
                }
                of_state[state] = Some(distance);
                for above in &above_state[state] {
                    // An atom counts at its decision node, so a direct transition between states adds a step and no atom.
                    let next = if above.as_state().is_some() { step } else { distance.plus_one_atom() };
                    waiting.push(Reverse((next, *above)));
                }
            } else {
                let node = target.0 as usize;
                if of_node[node].is_some() {
                    continue;
                }
                of_node[node] = Some(distance);
                waiting.extend(above_node[node].iter().map(|above| Reverse((distance.plus_one_atom(), *above))));
                // To read the letter is one step, counted at the root of the diagram.
                waiting.extend(roots_at_node[node].iter().map(|state| Reverse((step, Target::state(*state)))));
            }
        }
        of_state
    }
}

/// Distance of a state to a goal: steps, then the number of atoms that a shortest path reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Distance {
    pub(in super::super) steps: u32,
    pub(in super::super) atoms: u32,
}

impl Distance {
    fn plus_one_atom(self) -> Self {
        Self { atoms: self.atoms + 1, ..self }
    }
}

/// A complete minimal deterministic finite automaton that reads a finite trace letter by letter.
///
/// It accepts a prefix if and only if the formula holds on that prefix as a complete trace. States are numbered from 0
/// (initial) in breadth-first order, letters in which the lowest atom is false first. So two formulas over atoms in the
/// same order that have the same traces have the same automaton.
///
/// # Panics
/// Methods that take a state panic if the automaton does not have it; as a target, such a state has no edges.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Dfa, Formulas, Limits};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("!b U a")?;
/// let dfa = Dfa::build(&formulas, rule, Limits::default())?;
/// let [b, a] = dfa.atoms()[..] else { unreachable!("two atoms") };
/// assert_eq!(dfa.states(), 3);
/// assert!(!dfa.accepts(Dfa::INITIAL), "`a` is still to come");
/// assert_eq!(dfa.distance(Dfa::INITIAL), Some(1));
///
/// let goal = dfa.next(Dfa::INITIAL, |atom| atom == a);
/// assert!(dfa.accepts(goal) && dfa.is_goal(goal));
/// let trap = dfa.next(Dfa::INITIAL, |atom| atom == b);
/// assert!(dfa.is_trap(trap) && dfa.trap() == Some(trap));
/// assert_eq!(dfa.distance_to_accepting(trap), None);
/// assert_eq!(dfa.successors(Dfa::INITIAL).len(), 3);
/// assert_eq!((dfa.edge_count(100), dfa.edge_count(2)), (Some(5), None));
/// assert!(dfa.nodes() >= 2 && !dfa.same_successors(goal, trap));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dfa {
    pub(super) diagram: Diagram,
    trap: Option<usize>,
    goal: Vec<bool>,
    to_goal: Vec<Option<Distance>>,
    to_accepting: Vec<Option<Distance>>,
}

impl Dfa {
    /// The initial state, before any letter is read.
    pub const INITIAL: usize = 0;

    /// The number of states, including a trap.
    pub fn states(&self) -> usize {
        self.diagram.roots.len()
    }

    /// The number of decision nodes of all states together.
    pub fn nodes(&self) -> usize {
        self.diagram.nodes.len()
    }

    /// The atoms that some state reads, in ascending order. Can be fewer than those of the formula.
    pub fn atoms(&self) -> &[AtomId] {
        &self.diagram.atoms
    }

    /// Whether a trace that ends in this state is accepted.
    pub fn accepts(&self, state: usize) -> bool {
        self.diagram.accepting[state]
    }

    /// Whether the state is a goal: it accepts, and every transition from it leads to itself or to the trap.
    pub fn is_goal(&self, state: usize) -> bool {
        self.goal[state]
    }

    /// Whether the state is the trap: no accepting state is reachable. False for a state that does not exist.
    pub fn is_trap(&self, state: usize) -> bool {
        self.trap == Some(state)
    }

    /// The trap, if there is one. Minimization leaves at most one.
    pub fn trap(&self) -> Option<usize> {
        self.trap
    }

    /// The least number of steps to a goal, 0 in a goal; `None` if no goal is reachable.
    pub fn distance(&self, state: usize) -> Option<u32> {
        self.to_goal[state].map(|d| d.steps)
    }

    /// The least number of steps to an accepting state, 0 in one; `None` only in the trap.
    pub fn distance_to_accepting(&self, state: usize) -> Option<u32> {
        self.to_accepting[state].map(|d| d.steps)
    }

    /// The state after one letter; `letter` says which atoms are true.
    pub fn next(&self, state: usize, mut letter: impl FnMut(AtomId) -> bool) -> usize {
        let mut target = self.diagram.roots[state];
        // A path decides each atom at most once, so `letter` is called at most once for each.
        while let Some(node) = target.as_node() {
            let decision = self.diagram.nodes[node];
            target = if letter(decision.atom) { decision.high } else { decision.low };
        }
        target.as_state().expect("a target is a state or a node")
    }

    /// The state after one record. `formulas` is the arena of the atoms.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Dfa, Formulas, Limits, Quantities};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("F x > 2")?;
    /// let dfa = Dfa::build(&formulas, rule, Limits::default())?;
    /// let state = dfa.read(&formulas, Dfa::INITIAL, &Quantities::from_iter([("x", 3.0)]));
    /// assert!(dfa.accepts(state));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self, formulas: &Formulas, state: usize, record: &(impl Record + ?Sized)) -> usize {
        self.next(state, |atom| formulas.atom(atom).holds(record))
    }

    /// The states that some letter leads to, in ascending order.
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

    /// The number of edges, one for each pair of a state and a successor; `None` if there are more than `most`. Counting is
    /// bounded because a conjunction of 16 responses has 4,294,967,296 edges.
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

    /// Whether two states have the same successor for every letter, so that they differ in acceptance only.
    pub fn same_successors(&self, a: usize, b: usize) -> bool {
        // Nodes are stored once, so equal functions have equal roots.
        self.diagram.roots[a] == self.diagram.roots[b]
    }

    pub(in super::super) fn root(&self, state: usize) -> Target {
        self.diagram.roots[state]
    }

    pub(in super::super) fn decision(&self, target: Target) -> Option<Decision> {
        target.as_node().map(|node| self.diagram.nodes[node])
    }

    pub(in super::super) fn goal_distance(&self, state: usize) -> Option<Distance> {
        self.to_goal[state]
    }

    pub(in super::super) fn accepting_distance(&self, state: usize) -> Option<Distance> {
        self.to_accepting[state]
    }
}
