//! Evaluates a formula at every position, with one sweep over the trace for each distinct subformula.

use std::borrow::Cow;

use super::super::formula::{Binary, Formula, Formulas, Node, Unary};
use super::super::readings::{Reading, UnsupportedError};
use super::bits::BitLayout;
use super::column::{Column, Labels};

/// The value of a formula at the positions `0..=n` of a labelled trace.
///
/// Position `i < n` reads record `i`. Position `n` is the empty suffix after the last record: there an atom is false,
/// `G W R N` are true and `F U M X` false. So at the last record `X a` is false and `N a` true, and an empty trace satisfies
/// `G a` and violates `F a`. Past operators read records only, so at `n` `Y a` is `a` at the last record, and `O H S` have
/// their value of `n - 1` (on the empty trace: `H` true, the others false).
///
/// One sweep for each distinct subformula, 64 positions at a time: the time is proportional to the length of the trace
/// times the size of the formula. Columns are reused after their last use. The dynamic program of finite-trace LTL
/// checkers; semantics of De Giacomo and Vardi (IJCAI 2013).
///
/// # Errors
/// An operator that the finite-trace reading does not support; an atom that is not labelled.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{Formulas, Labels, eval_all_positions};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("a S b")?;
/// let [a, b] = formulas.atoms_of(rule)[..] else { unreachable!("two atoms") };
/// let mut labels = Labels::new(&formulas, &[rule]);
/// for holds in [vec![a], vec![b], vec![a], vec![]] {
///     labels.push_values(|atom| holds.contains(&atom));
/// }
/// let column = eval_all_positions(&formulas, rule, &labels)?;
/// let values: Vec<bool> = (0..4).map(|position| column.holds_at(position)).collect();
/// assert_eq!(values, [false, true, true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn eval_all_positions(formulas: &Formulas, formula: Formula, labels: &Labels) -> Result<Column, UnsupportedError> {
    let subformulas = Subformulas::new(formulas, &[formula], labels)?;
    let mut table = Columns::new(&subformulas, labels, Keep::Needed);
    table.sweep();
    let words = table.take(formula).into_owned();
    Ok(Column { words, length: labels.len() })
}

/// The subformulas of checked formulas, in bottom-up order.
pub(super) struct Subformulas<'a> {
    pub(super) formulas: &'a Formulas,
    pub(super) roots: Vec<Formula>,
    pub(super) parts: Vec<Formula>,
    /// By formula number, the index among `parts`.
    places: Vec<u32>,
}

impl<'a> Subformulas<'a> {
    pub(super) fn new(formulas: &'a Formulas, roots: &[Formula], labels: &Labels) -> Result<Self, UnsupportedError> {
        let parts = formulas.subformulas_of(roots);
        let mut places = vec![u32::MAX; parts.last().map_or(0, |f| f.index() + 1)];
        for (place, part) in parts.iter().enumerate() {
            formulas.check_node_reading(*part, Reading::Finite)?;
            if let Node::Atom(atom) = formulas.node(*part)
                && labels.column(*atom).is_none()
            {
                let atom = formulas.atom_text(formulas.atom(*atom));
                return Err(UnsupportedError::Atom { atom, known: String::new() });
            }
            places[part.index()] = u32::try_from(place).expect("formulas are numbered in 32 bits");
        }
        Ok(Self { formulas, roots: roots.to_vec(), parts, places })
    }

    pub(super) fn index_of(&self, formula: Formula) -> usize {
        self.places[formula.index()] as usize
    }
}

/// Which columns to keep after the formulas above them are evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Those of the roots.
    Needed,
    /// All, to explain a value later.
    All,
}

pub(super) struct Columns<'a> {
    subformulas: &'a Subformulas<'a>,
    labels: &'a Labels,
    shape: BitLayout,
    computed: Vec<Option<Cow<'a, [u64]>>>,
    /// By subformula, the number of subformulas that still read its column.
    readers: Vec<u32>,
    free_buffers: Vec<Vec<u64>>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(subformulas: &'a Subformulas<'a>, labels: &'a Labels, keep: Keep) -> Self {
        let mut readers = vec![u32::from(keep == Keep::All); subformulas.parts.len()];
        for root in &subformulas.roots {
            readers[subformulas.index_of(*root)] += 1;
        }
        for part in &subformulas.parts {
            for child in subformulas.formulas.node(*part).children() {
                readers[subformulas.index_of(*child)] += 1;
            }
        }
        let computed = vec![None; subformulas.parts.len()];
        Self { subformulas, labels, shape: BitLayout::new(labels.len()), computed, readers, free_buffers: Vec::new() }
    }

    pub(super) fn sweep(&mut self) {
        for place in 0..self.subformulas.parts.len() {
            let node = self.subformulas.formulas.node(self.subformulas.parts[place]);
            self.computed[place] = Some(match node {
                Node::Atom(atom) => Cow::Borrowed(self.labels.column(*atom).expect("checked to be there")),
                node => Cow::Owned(self.evaluate_operator(node)),
            });
            // Only now: an operand may occur twice in the node.
            for child in node.children() {
                self.release(self.subformulas.index_of(*child));
            }
        }
    }

    fn release(&mut self, place: usize) {
        self.readers[place] -= 1;
        if self.readers[place] == 0
            && let Some(Cow::Owned(words)) = self.computed[place].take()
        {
            self.free_buffers.push(words);
        }
    }

    pub(super) fn take(&mut self, formula: Formula) -> Cow<'a, [u64]> {
        self.computed[self.subformulas.index_of(formula)].take().expect("the column of a root is kept")
    }

    pub(super) fn words(&self, formula: Formula) -> &[u64] {
        self.computed[self.subformulas.index_of(formula)].as_deref().expect("operands are evaluated first")
    }

    fn evaluate_operator(&mut self, node: &Node) -> Vec<u64> {
        let shape = self.shape;
        // Not cleared: every operator below writes all words.
        let mut out = self.free_buffers.pop().unwrap_or_else(|| vec![0; shape.words()]);
        match node {
            Node::False => out.fill(0),
            Node::True => {
                out.fill(u64::MAX);
                shape.trim(&mut out);
            }
            Node::Not(a) => {
                for (out, a) in out.iter_mut().zip(self.words(*a)) {
                    *out = !a;
                }
                shape.trim(&mut out);
            }
            // The operands are zero after `n`, so `&` and `|` need no `trim`; operators that negate do.
            Node::And(all) => self.fold(&mut out, all, |a, b| a & b),
            Node::Or(all) => self.fold(&mut out, all, |a, b| a | b),
            Node::Unary(operator, a) => {
                let a = self.words(*a);
                match operator {
                    Unary::Next => shape.next(&mut out, a, false),
                    Unary::WeakNext => shape.next(&mut out, a, true),
                    Unary::Globally => shape.globally(&mut out, a, true),
                    Unary::Finally => shape.finally(&mut out, a, false),
                    Unary::Yesterday => shape.yesterday(&mut out, a),
                    Unary::Once => shape.once(&mut out, a),
                    Unary::Historically => shape.historically(&mut out, a),
                    Unary::Past => unreachable!("refused by the reading"),
                }
            }
            Node::Binary(operator, [l, r]) => {
                let (left, right) = (self.words(*l), self.words(*r));
                match operator {
                    Binary::Implies => {
                        self.fold(&mut out, &[*l, *r], |a, b| !a | b);
                        shape.trim(&mut out);
                    }
                    Binary::Iff => {
                        self.fold(&mut out, &[*l, *r], |a, b| !(a ^ b));
                        shape.trim(&mut out);
                    }
                    Binary::Until => shape.until(&mut out, left, right, false),
                    Binary::WeakUntil => shape.until(&mut out, left, right, true),
                    Binary::Release => shape.release(&mut out, left, right, true),
                    Binary::StrongRelease => shape.release(&mut out, left, right, false),
                    Binary::Since => shape.since(&mut out, left, right),
                }
            }
            Node::Atom(_) | Node::Causal(..) | Node::Seen(_) => unreachable!("atoms are borrowed, the others refused"),
        }
        out
    }

    fn fold(&self, out: &mut [u64], all: &[Formula], operator: impl Fn(u64, u64) -> u64) {
        let [first, second, rest @ ..] = all else { unreachable!("a chain has at least two parts") };
        for ((out, a), b) in out.iter_mut().zip(self.words(*first)).zip(self.words(*second)) {
            *out = operator(*a, *b);
        }
        for a in rest {
            for (out, a) in out.iter_mut().zip(self.words(*a)) {
                *out = operator(*out, *a);
            }
        }
    }
}
