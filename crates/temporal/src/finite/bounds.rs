//! An approximation of the point at which a verdict was decided: every value after a prefix is unknown, and unknown values
//! count as independent. Sound, but it misses formulas that are decided because their parts contradict or complete each
//! other (`X a & X !a`).

use super::super::formula::{Binary, Formula, Node, Unary};
use super::bits::{BitLayout, bit};
use super::column::Labels;
use super::decision_point::DecisionPoint;
use super::sweep::Subformulas;

/// Finds the shortest deciding prefix by bisection: a verdict decided after a prefix stays decided after longer ones.
pub(super) fn find_decision_point(
    subformulas: &Subformulas<'_>,
    root: Formula,
    labels: &Labels,
    verdict: bool,
) -> DecisionPoint {
    let is_decided = |length: usize| {
        let (lower, upper) = bounds(subformulas, root, labels, length);
        if verdict { lower } else { !upper }
    };
    // 0 counts as undecided, because `bounds` needs a record; one more than the length as decided, by the end of the
    // trace.
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

/// Whether the formula is certainly true, and whether it is possibly true, at position 0, given the first `length` records,
/// at least one.
fn bounds(subformulas: &Subformulas<'_>, root: Formula, labels: &Labels, length: usize) -> (bool, bool) {
    let shape = BitLayout::new(length);
    let mut columns: Vec<[Vec<u64>; 2]> = Vec::with_capacity(subformulas.parts.len());
    for part in &subformulas.parts {
        let node = subformulas.formulas.node(*part);
        let both = [false, true].map(|upper| bound(subformulas, labels, shape, &columns, node, upper));
        columns.push(both);
    }
    let [lower, upper] = &columns[subformulas.index_of(root)];
    (bit(lower, 0), bit(upper, 0))
}

/// The lower (or upper) bound of the value at each position of the prefix.
fn bound(
    subformulas: &Subformulas<'_>,
    labels: &Labels,
    shape: BitLayout,
    columns: &[[Vec<u64>; 2]],
    node: &Node,
    upper: bool,
) -> Vec<u64> {
    let words = shape.words();
    let column = |formula: Formula, upper: bool| columns[subformulas.index_of(formula)][usize::from(upper)].as_slice();
    let fold = |all: &[Formula], start: u64, operator: fn(u64, u64) -> u64| {
        let mut out = vec![start; words];
        for a in all {
            for (out, a) in out.iter_mut().zip(column(*a, upper)) {
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
        // A negation swaps the bounds, and so does the left side of an implication.
        Node::Not(a) => out = column(*a, !upper).iter().map(|a| !a).collect(),
        Node::And(all) => out = fold(all, u64::MAX, |a, b| a & b),
        Node::Or(all) => out = fold(all, 0, |a, b| a | b),
        Node::Unary(operator, a) => {
            let a = column(*a, upper);
            match operator {
                // Strong and weak operators do not differ here: after the prefix everything is unknown, which is false
                // for the lower bound and true for the upper.
                Unary::Next | Unary::WeakNext => shape.next(&mut out, a, upper),
                Unary::Globally => shape.globally(&mut out, a, upper),
                Unary::Finally => shape.finally(&mut out, a, upper),
                Unary::Yesterday => shape.yesterday(&mut out, a),
                Unary::Once => shape.once(&mut out, a),
                Unary::Historically => shape.historically(&mut out, a),
                Unary::Past => unreachable!("refused by the reading"),
            }
        }
        Node::Binary(operator, [l, r]) => match operator {
            Binary::Implies => out = zip(column(*l, !upper), column(*r, upper), |a, b| !a | b),
            Binary::Iff => {
                // Both sides count as independent: each has its own bound for "both true" and for "both false".
                let both = zip(column(*l, upper), column(*r, upper), |a, b| a & b);
                let neither = zip(column(*l, !upper), column(*r, !upper), |a, b| !a & !b);
                out = zip(&both, &neither, |a, b| a | b);
            }
            Binary::Until | Binary::WeakUntil => shape.until(&mut out, column(*l, upper), column(*r, upper), upper),
            Binary::Release | Binary::StrongRelease => {
                shape.release(&mut out, column(*l, upper), column(*r, upper), upper);
            }
            Binary::Since => shape.since(&mut out, column(*l, upper), column(*r, upper)),
        },
        Node::Causal(..) | Node::Seen(_) => unreachable!("refused by the reading"),
    }
    out
}
