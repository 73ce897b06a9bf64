//! The value of a formula at every position, one sweep over the trace for each distinct subformula.

use std::borrow::Cow;

use super::super::formula::{Binary, Formula, Formulas, Node, Unary};
use super::super::readings::{Reading, UnsupportedError};
use super::bits::BitLayout;
use super::column::{Column, Labels};

/// The value of a formula at the positions `0..=n` of a trace whose labels are prepared.
///
/// One sweep for each distinct subformula, 64 positions at a time, so the time is the trace's length times the formula's
/// size; a column is given back when the last formula above it is done. An operator without a meaning on finite traces is
/// refused, and so is an atom that the labels were not prepared for.
///
/// Source: the dynamic program of finite-trace LTL checkers (De Giacomo and Vardi, IJCAI 2013, for its meaning).
pub fn eval_all_positions(formulas: &Formulas, formula: Formula, labels: &Labels) -> Result<Column, UnsupportedError> {
    let subformulas = Subformulas::new(formulas, &[formula], labels)?;
    let mut table = Columns::new(&subformulas, labels, Keep::Needed);
    table.sweep();
    let words = table.take(formula).into_owned();
    Ok(Column { words, length: labels.len() })
}

/// The subformulas of formulas that were found to have a meaning here.
pub(super) struct Subformulas<'a> {
    pub(super) formulas: &'a Formulas,
    pub(super) roots: Vec<Formula>,
    pub(super) parts: Vec<Formula>,
    /// The place of a formula among the parts, by its number.
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

    pub(super) fn place(&self, formula: Formula) -> usize {
        self.places[formula.index()] as usize
    }
}

/// Which columns outlive the formulas above them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Those of the formulas asked for.
    Needed,
    /// All, to explain a value afterwards.
    All,
}

/// The columns of a formula's parts.
pub(super) struct Columns<'a> {
    subformulas: &'a Subformulas<'a>,
    labels: &'a Labels,
    shape: BitLayout,
    columns: Vec<Option<Cow<'a, [u64]>>>,
    /// How many parts still read a column.
    readers: Vec<u32>,
    spare: Vec<Vec<u64>>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(subformulas: &'a Subformulas<'a>, labels: &'a Labels, keep: Keep) -> Self {
        let mut readers = vec![u32::from(keep == Keep::All); subformulas.parts.len()];
        for root in &subformulas.roots {
            readers[subformulas.place(*root)] += 1;
        }
        for part in &subformulas.parts {
            for child in subformulas.formulas.node(*part).children() {
                readers[subformulas.place(*child)] += 1;
            }
        }
        let columns = vec![None; subformulas.parts.len()];
        Self { subformulas, labels, shape: BitLayout::new(labels.len()), columns, readers, spare: Vec::new() }
    }

    pub(super) fn sweep(&mut self) {
        for place in 0..self.subformulas.parts.len() {
            let node = self.subformulas.formulas.node(self.subformulas.parts[place]);
            self.columns[place] = Some(match node {
                Node::Atom(atom) => Cow::Borrowed(self.labels.column(*atom).expect("checked to be there")),
                node => Cow::Owned(self.operator(node)),
            });
            for child in node.children() {
                self.done_with(self.subformulas.place(*child));
            }
        }
    }

    fn done_with(&mut self, place: usize) {
        self.readers[place] -= 1;
        if self.readers[place] == 0
            && let Some(Cow::Owned(words)) = self.columns[place].take()
        {
            self.spare.push(words);
        }
    }

    pub(super) fn take(&mut self, formula: Formula) -> Cow<'a, [u64]> {
        self.columns[self.subformulas.place(formula)].take().expect("the column of a root is kept")
    }

    pub(super) fn words(&self, formula: Formula) -> &[u64] {
        self.columns[self.subformulas.place(formula)].as_deref().expect("a part is swept before what it is part of")
    }

    fn operator(&mut self, node: &Node) -> Vec<u64> {
        let shape = self.shape;
        let mut out = self.spare.pop().unwrap_or_else(|| vec![0; shape.words()]);
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
            Node::Atom(_) | Node::Causal(..) | Node::Seen(_) => unreachable!("an atom is borrowed, the others refused"),
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
