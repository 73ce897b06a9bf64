//! Formulas as one hash-consed graph: equal formulas are one node, so every pass works on distinct subformulas.
//!
//! Knows the syntax only; each reading (finite trace, progression, …) gives the operators their meaning.

use std::collections::HashMap;
use std::sync::Arc;

use super::atom::Atom;

/// A formula: a handle, the number of its node in a [`Formulas`]. A child's number is smaller than its parent's, so ascending
/// numbers are a bottom-up order.
///
/// A handle does not know its arena: another one takes it for the formula of the same number, or panics if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(u32);

impl Formula {
    /// The number of the node, from 0, for tables indexed by formula.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An atom: a handle, its number in a [`Formulas`]. It does not know its arena either: see [`Formula`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(u32);

impl AtomId {
    /// The number of the atom, from 0, for tables indexed by atom.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operators with one operand: future `X N G F`, past `Y O H`, causal `P`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unary {
    /// `X a`: there is a next position, and `a` holds there.
    Next,
    /// `N a`: if there is a next position, `a` holds there.
    WeakNext,
    /// `G a`: `a` holds at this position and all later ones.
    Globally,
    /// `F a`: `a` holds at this position or a later one.
    Finally,
    /// `Y a`: there is a previous position, and `a` holds there.
    Yesterday,
    /// `O a`: `a` holds at this position or an earlier one.
    Once,
    /// `H a`: `a` holds at this position and all earlier ones.
    Historically,
    /// `P(a)`: `a` holds at some event in the causal past.
    Past,
}

/// Operators with two operands: the arrows, future `U W R M`, past `S`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binary {
    /// `a -> b`: `a` does not hold, or `b` does.
    Implies,
    /// `a <-> b`: both have the same value.
    Iff,
    /// `a U b`: `b` holds at some position from here on, and `a` holds at all positions before it.
    Until,
    /// `a W b`: `a U b`, or `a` holds at all positions from here on.
    WeakUntil,
    /// `a R b`: `b` holds up to and including the first position at which `a` holds, or at all positions.
    Release,
    /// `a M b`: `a R b`, and `a` holds at some position from here on.
    StrongRelease,
    /// `a S b`: `b` holds at this position or an earlier one, and `a` at all positions after it up to this one.
    Since,
}

/// Operators that evaluate their operand at events of one lifeline. The module [`causal`](super::causal) evaluates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Causal {
    /// `@A(a)`: `a` holds at the latest event of `A` in the causal past.
    At,
    /// `P@A(a)`: `a` holds at some event of `A` in the causal past.
    PastAt,
}

/// An associative and commutative connective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Connective {
    And,
    Or,
}

impl Connective {
    /// The value of one operand that decides the result: `false` for `&`.
    pub(super) fn deciding_value(self) -> bool {
        self == Self::Or
    }

    pub(super) fn apply(self, a: bool, b: bool) -> bool {
        match self {
            Self::And => a && b,
            Self::Or => a || b,
        }
    }
}

/// One node of the graph: an operator with its operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// `true`: holds at every position, that of the empty suffix included.
    True,
    /// `false`: holds at no position.
    False,
    /// A proposition about one position.
    Atom(AtomId),
    /// `!a`: `a` does not hold.
    Not(Formula),
    /// `&` of at least two operands, none of which is an `&`.
    And(Box<[Formula]>),
    /// `|` of at least two operands, none of which is an `|`.
    Or(Box<[Formula]>),
    /// A temporal operator with one operand.
    Unary(Unary, Formula),
    /// An arrow or temporal operator with two operands.
    Binary(Binary, [Formula; 2]),
    /// An operator that evaluates its operand at events of a lifeline.
    Causal(Causal, Arc<str>, Formula),
    /// `Seen@A`: the causal past has an event of `A`.
    Seen(Arc<str>),
}

impl Node {
    /// The operands, in the order in which they are written.
    pub fn children(&self) -> &[Formula] {
        match self {
            Self::True | Self::False | Self::Atom(_) | Self::Seen(_) => &[],
            Self::Not(a) | Self::Unary(_, a) | Self::Causal(_, _, a) => std::slice::from_ref(a),
            Self::And(all) | Self::Or(all) => all,
            Self::Binary(_, both) => both,
        }
    }
}

/// The arena of any number of formulas: builds, parses, prints and checks them. Each distinct node is stored once, so two
/// formulas of one arena are structurally equal if and only if their handles are equal.
///
/// # Panics
/// Methods panic if this arena has no formula or atom of the number that they are given. A handle of another arena that
/// does have the number is not detected.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Formulas, Node, Unary};
///
/// let mut formulas = Formulas::new();
/// assert!(formulas.is_empty());
/// let (sent, acked) = (formulas.name("sent"), formulas.name("acked"));
/// let later = formulas.unary(Unary::Finally, acked);
/// let response = formulas.implies(sent, later);
/// let rule = formulas.unary(Unary::Globally, response);
/// assert_eq!(formulas.text(rule), "G (sent -> F acked)");
///
/// // Parsing the same text returns the same handle, and adds no node.
/// assert_eq!(formulas.parse("G (sent -> F acked)"), Ok(rule));
/// assert_eq!((formulas.len(), formulas.atom_count()), (5, 2));
/// assert_eq!(formulas.node(rule), &Node::Unary(Unary::Globally, response));
/// assert_eq!(formulas.node(response).children(), [sent, later]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Formulas {
    nodes: Vec<Node>,
    numbers: HashMap<Node, Formula>,
    atoms: Vec<Atom>,
    atom_numbers: HashMap<Atom, AtomId>,
}

impl Formulas {
    /// An arena without formulas and atoms.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of distinct formulas, subformulas included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the arena has no formula.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The outermost operator of a formula, with its operands.
    pub fn node(&self, formula: Formula) -> &Node {
        &self.nodes[formula.index()]
    }

    /// The node with this number.
    pub(super) fn node_at(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// The proposition of an atom.
    pub fn atom(&self, atom: AtomId) -> &Atom {
        &self.atoms[atom.index()]
    }

    /// The number of distinct atoms.
    pub fn atom_count(&self) -> usize {
        self.atoms.len()
    }

    /// All atoms in the order of their numbers.
    pub fn atoms(&self) -> impl ExactSizeIterator<Item = (AtomId, &Atom)> {
        self.atoms.iter().enumerate().map(|(i, atom)| (AtomId(number(i)), atom))
    }

    /// The handle of an atom, which is added if the arena does not have it.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Atom, Formulas};
    ///
    /// let mut formulas = Formulas::new();
    /// let id = formulas.atom_id(Atom::Name("done".into()));
    /// assert_eq!(id.index(), 0);
    /// assert_eq!(formulas.atom(id), &Atom::Name("done".into()));
    /// assert_eq!(formulas.atoms().len(), 1);
    /// // `atomic` and `name` make the formula that consists of the atom.
    /// assert_eq!(formulas.atomic(Atom::Name("done".into())), formulas.name("done"));
    /// assert_eq!(formulas.atom_count(), 1);
    /// ```
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

    /// `true`, the conjunction of no operands.
    pub fn truth(&mut self) -> Formula {
        self.intern(Node::True)
    }

    /// `false`, the disjunction of no operands.
    pub fn falsity(&mut self) -> Formula {
        self.intern(Node::False)
    }

    /// [`Formulas::truth`] for true, [`Formulas::falsity`] for false.
    pub fn constant(&mut self, value: bool) -> Formula {
        if value { self.truth() } else { self.falsity() }
    }

    /// The formula that consists of this atom.
    pub fn atomic(&mut self, atom: Atom) -> Formula {
        let id = self.atom_id(atom);
        self.intern(Node::Atom(id))
    }

    /// The formula of [`Atom::Name`]: the field `name` has the value `true`.
    pub fn name(&mut self, name: &str) -> Formula {
        self.atomic(Atom::Name(name.into()))
    }

    /// `!a`, without simplification: the negation of `!a` is `!!a`.
    pub fn not(&mut self, a: Formula) -> Formula {
        self.intern(Node::Not(a))
    }

    /// `&` of any number of operands; of none it is `true`. Nested conjunctions are flattened: `(a & b) & c` becomes
    /// `a & b & c`. The order and repetitions stay.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::Formulas;
    ///
    /// let mut formulas = Formulas::new();
    /// let [a, b, c] = ["a", "b", "c"].map(|name| formulas.name(name));
    /// let ab = formulas.and([a, b]);
    /// let abc = formulas.and([ab, c]);
    /// assert_eq!(formulas.text(abc), "a & b & c");
    /// let either = formulas.or([a, b]);
    /// let neither = formulas.not(either);
    /// assert_eq!(formulas.text(neither), "!(a | b)");
    /// // The neutral elements.
    /// assert_eq!(formulas.and([]), formulas.truth());
    /// assert_eq!(formulas.or([]), formulas.constant(false));
    /// assert_eq!(formulas.falsity(), formulas.constant(false));
    /// ```
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

    /// `|` of any number of operands; of none it is `false`. Nested disjunctions are flattened as in [`Formulas::and`].
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

    /// A temporal operator with one operand.
    pub fn unary(&mut self, operator: Unary, a: Formula) -> Formula {
        self.intern(Node::Unary(operator, a))
    }

    /// An arrow or temporal operator with two operands.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Binary, Formulas};
    ///
    /// let mut formulas = Formulas::new();
    /// let (test, submit) = (formulas.name("test"), formulas.name("submit"));
    /// let not_submit = formulas.not(submit);
    /// let rule = formulas.binary(Binary::WeakUntil, not_submit, test);
    /// assert_eq!(formulas.text(rule), "!submit W test");
    /// ```
    pub fn binary(&mut self, operator: Binary, a: Formula, b: Formula) -> Formula {
        self.intern(Node::Binary(operator, [a, b]))
    }

    /// `a -> b`, kept as written: it becomes `!a | b` only in normal form.
    pub fn implies(&mut self, a: Formula, b: Formula) -> Formula {
        self.binary(Binary::Implies, a, b)
    }

    /// `@A(a)` or `P@A(a)` for the lifeline `A`.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Causal, Formulas};
    ///
    /// let mut formulas = Formulas::new();
    /// let ready = formulas.name("ready");
    /// let now = formulas.causal(Causal::At, "server", ready);
    /// assert_eq!(formulas.text(now), "@server(ready)");
    /// let seen = formulas.seen("server");
    /// assert_eq!(formulas.text(seen), "Seen@server");
    /// ```
    pub fn causal(&mut self, operator: Causal, lifeline: &str, a: Formula) -> Formula {
        self.intern(Node::Causal(operator, lifeline.into(), a))
    }

    /// `Seen@A` for the lifeline `A`: the causal past has an event of it.
    pub fn seen(&mut self, lifeline: &str) -> Formula {
        self.intern(Node::Seen(lifeline.into()))
    }

    /// The distinct subformulas in bottom-up order: operands first, the formula itself last.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::Formulas;
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("G (a -> F b)")?;
    /// let parts: Vec<String> = formulas.subformulas(rule).iter().map(|part| formulas.text(*part)).collect();
    /// assert_eq!(parts, ["a", "b", "F b", "a -> F b", "G (a -> F b)"]);
    /// let response = formulas.parse("F b")?;
    /// assert_eq!(formulas.subformulas_of(&[response, rule]).len(), 5, "shared parts count once");
    /// assert_eq!(formulas.atoms_of(rule).len(), 2);
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
    pub fn subformulas(&self, formula: Formula) -> Vec<Formula> {
        self.subformulas_of(&[formula])
    }

    /// The distinct subformulas of several formulas, in ascending and therefore bottom-up order.
    pub fn subformulas_of(&self, formulas: &[Formula]) -> Vec<Formula> {
        let Some(top) = formulas.iter().max() else { return Vec::new() };
        let mut reached = vec![false; top.index() + 1];
        for formula in formulas {
            reached[formula.index()] = true;
        }
        // From the highest number down: a child is always below its parent, so each node is marked before its turn
        // comes.
        for i in (0..reached.len()).rev() {
            if reached[i] {
                for child in self.nodes[i].children() {
                    reached[child.index()] = true;
                }
            }
        }
        reached.iter().enumerate().filter(|(_, reached)| **reached).map(|(i, _)| Formula(number(i))).collect()
    }

    /// The distinct atoms of a formula, in ascending order.
    pub fn atoms_of(&self, formula: Formula) -> Vec<AtomId> {
        let mut atoms: Vec<AtomId> = self
            .subformulas(formula)
            .into_iter()
            .filter_map(|f| match self.node(f) {
                Node::Atom(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        // Subformulas ascend by the number of the node, which is not the number of the atom.
        atoms.sort_unstable();
        atoms
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 formulas")
}
