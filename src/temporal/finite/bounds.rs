//! When a verdict was decided, as far as that shows without asking which continuations there are: whatever comes after a
//! prefix is unknown, and unknown values are taken to be independent. Sound, and complete but for formulas that are
//! decided by the way their parts contradict or complete each other (`X a & X !a`).

use super::super::formula::{Binary, Formula, Node, Unary};
use super::bits::{BitLayout, bit};
use super::column::Labels;
use super::decision_point::DecisionPoint;
use super::sweep::Subformulas;

/// Finds the shortest prefix by bisection: what is decided after a prefix stays decided after longer ones.
pub(super) fn find_decision_point(
    subformulas: &Subformulas<'_>,
    root: Formula,
    labels: &Labels,
    verdict: bool,
) -> DecisionPoint {
    let is_decided = |length: usize| {
        let (least, most) = bounds(subformulas, root, labels, length);
        if verdict { least } else { !most }
    };
    let (mut undecided, mut decided) = (0, labels.len() + 1);
    while undecided + 1 < decided {
        let middle = undecided.midpoint(decided);
        if is_decided(middle) {
            decided = middle;
        } else {
            undecided = middle;
        }
    }
    if decided > labels.len() { DecisionPoint::ByTheEnd } else { DecisionPoint::ByRecord(decided - 1) }
}

/// Whether the formula is certainly and whether it is possibly true at position 0, given the first records, one at least.
fn bounds(subformulas: &Subformulas<'_>, root: Formula, labels: &Labels, length: usize) -> (bool, bool) {
    let shape = BitLayout::new(length);
    let mut columns: Vec<[Vec<u64>; 2]> = Vec::with_capacity(subformulas.parts.len());
    for part in &subformulas.parts {
        let node = subformulas.formulas.node(*part);
        let both = [false, true].map(|most| bound(subformulas, labels, shape, &columns, node, most));
        columns.push(both);
    }
    let [least, most] = &columns[subformulas.place(root)];
    (bit(least, 0), bit(most, 0))
}

/// The least (or most) that can be true at each position before the end of the prefix.
fn bound(
    subformulas: &Subformulas<'_>,
    labels: &Labels,
    shape: BitLayout,
    columns: &[[Vec<u64>; 2]],
    node: &Node,
    most: bool,
) -> Vec<u64> {
    let words = shape.words();
    let column = |formula: Formula, most: bool| columns[subformulas.place(formula)][usize::from(most)].as_slice();
    let fold = |all: &[Formula], start: u64, operator: fn(u64, u64) -> u64| {
        let mut out = vec![start; words];
        for a in all {
            for (out, a) in out.iter_mut().zip(column(*a, most)) {
                *out = operator(*out, *a);
            }
        }
        out
    };
    let zip = |a: &[u64], b: &[u64], operator: fn(u64, u64) -> u64| -> Vec<u64> {
        a.iter().zip(b).map(|(a, b)| operator(*a, *b)).collect()
    };
    let mut out = vec![0; words];
    match node {
        Node::True => out.fill(u64::MAX),
        Node::False => {}
        Node::Atom(atom) => out.copy_from_slice(&labels.column(*atom).expect("checked to be there")[..words]),
        Node::Not(a) => out = column(*a, !most).iter().map(|a| !a).collect(),
        Node::And(all) => out = fold(all, u64::MAX, |a, b| a & b),
        Node::Or(all) => out = fold(all, 0, |a, b| a | b),
        Node::Unary(operator, a) => {
            let a = column(*a, most);
            match operator {
                Unary::Next | Unary::WeakNext => shape.next(&mut out, a, most),
                Unary::Globally => shape.globally(&mut out, a, most),
                Unary::Finally => shape.finally(&mut out, a, most),
                Unary::Yesterday => shape.yesterday(&mut out, a),
                Unary::Once => shape.once(&mut out, a),
                Unary::Historically => shape.historically(&mut out, a),
                Unary::Past => unreachable!("refused by the reading"),
            }
        }
        Node::Binary(operator, [l, r]) => match operator {
            Binary::Implies => out = zip(column(*l, !most), column(*r, most), |a, b| !a | b),
            Binary::Iff => {
                let both = zip(column(*l, most), column(*r, most), |a, b| a & b);
                let neither = zip(column(*l, !most), column(*r, !most), |a, b| !a & !b);
                out = zip(&both, &neither, |a, b| a | b);
            }
            Binary::Until | Binary::WeakUntil => shape.until(&mut out, column(*l, most), column(*r, most), most),
            Binary::Release | Binary::StrongRelease => {
                shape.release(&mut out, column(*l, most), column(*r, most), most);
            }
            Binary::Since => shape.since(&mut out, column(*l, most), column(*r, most)),
        },
        Node::Causal(..) | Node::Seen(_) => unreachable!("refused by the reading"),
    }
    out
}
