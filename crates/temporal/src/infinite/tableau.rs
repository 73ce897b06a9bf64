//! The automaton of a formula, built as far as it is needed. Its states are sets of formulas that hold from now on.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::behaviour::Formula;

pub(super) type FormulaId = u32;
pub(super) type StateId = u32;

/// The largest number of eventualities of a formula.
const MAX_EVENTUALITIES: usize = 64;
/// The largest number of ways in which one state accepts a step.
const MAX_BRANCHES: usize = 1 << 14;

/// A formula in negation normal form, whose parts are numbers of others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Node {
    Truth(bool),
    Literal { atom: usize, is_true: bool },
    And(Vec<FormulaId>),
    Or(Vec<FormulaId>),
    Always(FormulaId),
    Eventually(FormulaId),
}

/// One way in which a state of the automaton accepts a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    /// Atoms and the values that they must have at the step.
    pub(super) literals: Vec<(usize, bool)>,
    pub(super) next: StateId,
    /// The eventualities that this step leaves for later, as a set of bits. A behaviour is accepted if none is left for later
    /// forever.
    pub(super) postponed: u64,
}

#[derive(Default)]
pub(super) struct Tableau {
    nodes: Vec<Node>,
    known: HashMap<Node, FormulaId>,
    /// The eventualities, in the order of their bits.
    eventualities: Vec<FormulaId>,
    states: Vec<BTreeSet<FormulaId>>,
    known_states: HashMap<BTreeSet<FormulaId>, StateId>,
    moves: HashMap<StateId, Rc<[Move]>>,
}

/// A move in the making.
#[derive(Clone, Default)]
struct Branch {
    literals: Vec<(usize, bool)>,
    next: BTreeSet<FormulaId>,
    postponed: u64,
    seen: BTreeSet<FormulaId>,
}

impl Tableau {
    /// The automaton of a formula, and its first state; `None` if the formula has too many eventualities.
    pub(super) fn new(formula: &Formula) -> Option<(Self, StateId)> {
        let mut tableau = Self::default();
        let root = tableau.add(formula, true);
        let first = tableau.state(BTreeSet::from([root]));
        (tableau.eventualities.len() <= MAX_EVENTUALITIES).then_some((tableau, first))
    }

    /// The eventualities, as a set of bits.
    pub(super) fn eventualities(&self) -> u64 {
        match self.eventualities.len() {
            MAX_EVENTUALITIES.. => u64::MAX,
            count => (1 << count) - 1,
        }
    }

    fn add(&mut self, formula: &Formula, is_true: bool) -> FormulaId {
        let node = match (formula, is_true) {
            (Formula::Truth(value), _) => Node::Truth(*value == is_true),
            (Formula::Atom(atom), _) => Node::Literal { atom: *atom, is_true },
            (Formula::Not(one), _) => return self.add(one, !is_true),
            (Formula::And(all), true) | (Formula::Or(all), false) => return self.conjunction(all, is_true),
            (Formula::Or(all), true) | (Formula::And(all), false) => return self.disjunction(all, is_true),
            (Formula::Always(one), true) | (Formula::Eventually(one), false) => {
                let one = self.add(one, is_true);
                return self.always(one);
            }
            (Formula::Eventually(one), true) | (Formula::Always(one), false) => {
                let one = self.add(one, is_true);
                return self.eventually(one);
            }
        };
        self.intern(node)
    }

    fn conjunction(&mut self, all: &[Formula], is_true: bool) -> FormulaId {
        let mut parts = BTreeSet::new();
        for one in all {
            let part = self.add(one, is_true);
            match self.node(part).clone() {
                Node::Truth(true) => {}
                Node::Truth(false) => return part,
                Node::And(inner) => parts.extend(inner),
                _ => {
                    parts.insert(part);
                }
            }
        }
        match parts.len() {
            0 => self.intern(Node::Truth(true)),
            1 => parts.into_iter().next().unwrap_or(0),
            _ => self.intern(Node::And(parts.into_iter().collect())),
        }
    }

    fn disjunction(&mut self, all: &[Formula], is_true: bool) -> FormulaId {
        let mut parts = BTreeSet::new();
        for one in all {
            let part = self.add(one, is_true);
            match self.node(part).clone() {
                Node::Truth(false) => {}
                Node::Truth(true) => return part,
                Node::Or(inner) => parts.extend(inner),
                _ => {
                    parts.insert(part);
                }
            }
        }
        match parts.len() {
            0 => self.intern(Node::Truth(false)),
            1 => parts.into_iter().next().unwrap_or(0),
            _ => self.intern(Node::Or(parts.into_iter().collect())),
        }
    }

    fn always(&mut self, one: FormulaId) -> FormulaId {
        match *self.node(one) {
            Node::Truth(_) | Node::Always(_) => one,
            // Always eventually always is eventually always.
            Node::Eventually(inner) if matches!(self.node(inner), Node::Always(_)) => one,
            _ => self.intern(Node::Always(one)),
        }
    }

    fn eventually(&mut self, one: FormulaId) -> FormulaId {
        match *self.node(one) {
            Node::Truth(_) | Node::Eventually(_) => one,
            Node::Always(inner) if matches!(self.node(inner), Node::Eventually(_)) => one,
            _ => self.intern(Node::Eventually(one)),
        }
    }

    fn intern(&mut self, node: Node) -> FormulaId {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        // A formula has far fewer parts than a number of 32 bits can count.
        let id = FormulaId::try_from(self.nodes.len()).unwrap_or(FormulaId::MAX);
        if matches!(node, Node::Eventually(_)) {
            self.eventualities.push(id);
        }
        self.nodes.push(node.clone());
        self.known.insert(node, id);
        id
    }

    fn node(&self, id: FormulaId) -> &Node {
        &self.nodes[id as usize]
    }

    fn state(&mut self, obligations: BTreeSet<FormulaId>) -> StateId {
        if let Some(known) = self.known_states.get(&obligations) {
            return *known;
        }
        let id = StateId::try_from(self.states.len()).unwrap_or(StateId::MAX);
        self.states.push(obligations.clone());
        self.known_states.insert(obligations, id);
        id
    }

    /// The moves of a state; `None` if they are too many.
    pub(super) fn moves(&mut self, state: StateId) -> Option<Rc<[Move]>> {
        if let Some(known) = self.moves.get(&state) {
            return Some(known.clone());
        }
        let open: Vec<FormulaId> = self.states[state as usize].iter().rev().copied().collect();
        let mut branches = Vec::new();
        self.expand(open, Branch::default(), &mut branches)?;
        let mut moves: Vec<Move> = Vec::new();
        for mut branch in branches {
            self.drop_repeated(&mut branch.next);
            let one = Move { literals: branch.literals, next: self.state(branch.next), postponed: branch.postponed };
            // A move that asks for more and leaves more for later adds nothing.
            let is_weaker = |weak: &Move, strong: &Move| {
                weak.next == strong.next
                    && weak.postponed & !strong.postponed == 0
                    && weak.literals.iter().all(|literal| strong.literals.contains(literal))
            };
            if !moves.iter().any(|known| is_weaker(known, &one)) {
                moves.retain(|known| !is_weaker(&one, known));
                moves.push(one);
            }
        }
        let moves: Rc<[Move]> = moves.into();
        self.moves.insert(state, moves.clone());
        Some(moves)
    }

    /// An eventuality that holds at every later position need not be remembered: the next step asks for it again.
    fn drop_repeated(&self, next: &mut BTreeSet<FormulaId>) {
        let repeated: Vec<FormulaId> = next
            .iter()
            .filter_map(|id| match self.node(*id) {
                Node::Always(inner) if matches!(self.node(*inner), Node::Eventually(_)) => Some(*inner),
                _ => None,
            })
            .collect();
        for id in repeated {
            next.remove(&id);
        }
    }

    /// Adds the ways in which all formulas of `open` can hold; `None` if they are too many.
    fn expand(&self, mut open: Vec<FormulaId>, mut branch: Branch, done: &mut Vec<Branch>) -> Option<()> {
        while let Some(id) = open.pop() {
            if !branch.seen.insert(id) {
                continue;
            }
            match self.node(id) {
                Node::Truth(true) => {}
                Node::Truth(false) => return Some(()),
                Node::Literal { atom, is_true } => {
                    if branch.literals.contains(&(*atom, !is_true)) {
                        return Some(());
                    }
                    if !branch.literals.contains(&(*atom, *is_true)) {
                        branch.literals.push((*atom, *is_true));
                    }
                }
                Node::And(all) => open.extend(all.iter().rev()),
                Node::Or(all) => {
                    for one in all {
                        let mut chosen = open.clone();
                        chosen.push(*one);
                        self.expand(chosen, branch.clone(), done)?;
                    }
                    return Some(());
                }
                Node::Always(one) => {
                    branch.next.insert(id);
                    open.push(*one);
                }
                Node::Eventually(one) => {
                    let mut fulfilled = open.clone();
                    fulfilled.push(*one);
                    self.expand(fulfilled, branch.clone(), done)?;
                    let bit = self.eventualities.iter().position(|known| *known == id).unwrap_or(0);
                    branch.postponed |= 1 << bit;
                    branch.next.insert(id);
                }
            }
        }
        done.push(branch);
        (done.len() <= MAX_BRANCHES).then_some(())
    }
}
