//! Formulas as one hash-consed graph: equal formulas are one node, so every pass works on distinct subformulas.
//!
//! Knows the shape of formulas only; what an operator means is told by the readings.

use std::collections::HashMap;
use std::sync::Arc;

use super::atom::Atom;

/// A formula: the number of its node in a [`Formulas`]. A child's number is smaller than its parent's, so ascending
/// numbers are a bottom-up order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(u32);

impl Formula {
    /// The number, from 0, for tables indexed by formula.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An atom: its number in a [`Formulas`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(u32);

impl AtomId {
    /// The number, from 0, for tables indexed by atom.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unary {
    /// `X`: there is a next position, and there …
    Next,
    /// `N`: if there is a next position, then there …
    WeakNext,
    /// `G`: from here on, always.
    Globally,
    /// `F`: here or later.
    Finally,
    /// `Y`: there is a previous position, and there …
    Yesterday,
    /// `O`: here or earlier.
    Once,
    /// `H`: always until here.
    Historically,
    /// `P(…)`: at some event in the causal past.
    Past,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binary {
    /// `->`
    Implies,
    /// `<->`
    Iff,
    /// `U`: the right comes, and the left holds until then.
    Until,
    /// `W`: as `U`, or the left holds for ever.
    WeakUntil,
    /// `R`: the right holds up to and with the position where the left first does, or for ever.
    Release,
    /// `M`: as `R`, and the left comes.
    StrongRelease,
    /// `S`: the right was, and the left has held since then.
    Since,
}

/// Operators that speak of one lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Causal {
    /// `@A(…)`: at the latest visible event of `A`.
    At,
    /// `P@A(…)`: at some event of `A` in the causal past.
    PastAt,
}

/// One node of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// `true`
    True,
    /// `false`
    False,
    /// What is read off one position.
    Atom(AtomId),
    /// `!`
    Not(Formula),
    /// `&` of at least two, none of them an `&`.
    And(Box<[Formula]>),
    /// `|` of at least two, none of them an `|`.
    Or(Box<[Formula]>),
    /// An operator with one operand.
    Unary(Unary, Formula),
    /// An operator with two operands.
    Binary(Binary, [Formula; 2]),
    /// An operator that speaks of a lifeline.
    Causal(Causal, Arc<str>, Formula),
    /// `Seen@A`: some event of `A` is visible.
    Seen(Arc<str>),
}

impl Node {
    /// The operands, in order.
    pub fn children(&self) -> &[Formula] {
        match self {
            Self::True | Self::False | Self::Atom(_) | Self::Seen(_) => &[],
            Self::Not(a) | Self::Unary(_, a) | Self::Causal(_, _, a) => std::slice::from_ref(a),
            Self::And(all) | Self::Or(all) => all,
            Self::Binary(_, both) => both,
        }
    }
}

/// The nodes of any number of formulas, each kept once.
///
/// Two formulas of one `Formulas` are equal exactly when their numbers are.
#[derive(Debug, Clone, Default)]
pub struct Formulas {
    nodes: Vec<Node>,
    numbers: HashMap<Node, Formula>,
    atoms: Vec<Atom>,
    atom_numbers: HashMap<Atom, AtomId>,
}

impl Formulas {
    /// No formula yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many distinct formulas there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of a formula.
    pub fn node(&self, formula: Formula) -> &Node {
        &self.nodes[formula.index()]
    }

    /// The node of the formula with a number.
    pub(super) fn node_at(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// What an atom reads.
    pub fn atom(&self, atom: AtomId) -> &Atom {
        &self.atoms[atom.index()]
    }

    /// How many distinct atoms there are.
    pub fn atom_count(&self) -> usize {
        self.atoms.len()
    }

    /// All atoms, by number.
    pub fn atoms(&self) -> impl ExactSizeIterator<Item = (AtomId, &Atom)> {
        self.atoms.iter().enumerate().map(|(i, atom)| (AtomId(number(i)), atom))
    }

    /// The number of an atom, given one where it is new.
    pub fn atom_id(&mut self, atom: Atom) -> AtomId {
        if let Some(known) = self.atom_numbers.get(&atom) {
            return *known;
        }
        let id = AtomId(number(self.atoms.len()));
        self.atoms.push(atom.clone());
        self.atom_numbers.insert(atom, id);
        id
    }

    fn intern(&mut self, node: Node) -> Formula {
        if let Some(known) = self.numbers.get(&node) {
            return *known;
        }
        let formula = Formula(number(self.nodes.len()));
        self.nodes.push(node.clone());
        self.numbers.insert(node, formula);
        formula
    }

    /// `true`
    pub fn truth(&mut self) -> Formula {
        self.intern(Node::True)
    }

    /// `false`
    pub fn falsity(&mut self) -> Formula {
        self.intern(Node::False)
    }

    /// `true` or `false`
    pub fn constant(&mut self, value: bool) -> Formula {
        if value { self.truth() } else { self.falsity() }
    }

    /// The formula that an atom is.
    pub fn atomic(&mut self, atom: Atom) -> Formula {
        let id = self.atom_id(atom);
        self.intern(Node::Atom(id))
    }

    /// The atom "the field `name` is true".
    pub fn name(&mut self, name: &str) -> Formula {
        self.atomic(Atom::Name(name.into()))
    }

    /// `!`
    pub fn not(&mut self, a: Formula) -> Formula {
        self.intern(Node::Not(a))
    }

    /// `&` of any number, as written but for nesting: `(a & b) & c` is `a & b & c`, of none it is `true`.
    pub fn and(&mut self, all: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for a in all {
            match self.node(a) {
                Node::And(parts) => flat.extend_from_slice(parts),
                _ => flat.push(a),
            }
        }
        match flat.as_slice() {
            [] => self.truth(),
            [one] => *one,
            _ => self.intern(Node::And(flat.into())),
        }
    }

    /// `|` of any number, as written but for nesting; of none it is `false`.
    pub fn or(&mut self, all: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for a in all {
            match self.node(a) {
                Node::Or(parts) => flat.extend_from_slice(parts),
                _ => flat.push(a),
            }
        }
        match flat.as_slice() {
            [] => self.falsity(),
            [one] => *one,
            _ => self.intern(Node::Or(flat.into())),
        }
    }

    /// An operator with one operand.
    pub fn unary(&mut self, operator: Unary, a: Formula) -> Formula {
        self.intern(Node::Unary(operator, a))
    }

    /// An operator with two operands.
    pub fn binary(&mut self, operator: Binary, a: Formula, b: Formula) -> Formula {
        self.intern(Node::Binary(operator, [a, b]))
    }

    /// `->`
    pub fn implies(&mut self, a: Formula, b: Formula) -> Formula {
        self.binary(Binary::Implies, a, b)
    }

    /// An operator that speaks of a lifeline.
    pub fn causal(&mut self, operator: Causal, lifeline: &str, a: Formula) -> Formula {
        self.intern(Node::Causal(operator, lifeline.into(), a))
    }

    /// `Seen@A`
    pub fn seen(&mut self, lifeline: &str) -> Formula {
        self.intern(Node::Seen(lifeline.into()))
    }

    /// The distinct subformulas, each after those it is made of; the formula itself comes last.
    pub fn subformulas(&self, formula: Formula) -> Vec<Formula> {
        self.subformulas_of(&[formula])
    }

    /// The distinct subformulas of several formulas, in ascending order.
    pub fn subformulas_of(&self, formulas: &[Formula]) -> Vec<Formula> {
        let Some(top) = formulas.iter().max() else { return Vec::new() };
        let mut reached = vec![false; top.index() + 1];
        for formula in formulas {
            reached[formula.index()] = true;
        }
        for i in (0..reached.len()).rev() {
            if reached[i] {
                for child in self.nodes[i].children() {
                    reached[child.index()] = true;
                }
            }
        }
        reached.iter().enumerate().filter(|(_, reached)| **reached).map(|(i, _)| Formula(number(i))).collect()
    }

    /// The atoms that a formula reads, ascending.
    pub fn atoms_of(&self, formula: Formula) -> Vec<AtomId> {
        let mut atoms: Vec<AtomId> = self
            .subformulas(formula)
            .into_iter()
            .filter_map(|f| match self.node(f) {
                Node::Atom(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        atoms.sort_unstable();
        atoms
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than four thousand million formulas")
}
