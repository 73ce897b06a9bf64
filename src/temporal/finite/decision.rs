//! When a trace's verdict was decided: after how many records no continuation could have changed it.

use super::super::formula::{Formula, Node};
use super::backward::BackwardAutomaton;
use super::bounds;
use super::column::Labels;
use super::decision_point::DecisionPoint;
use super::sweep::{Columns, Subformulas};

/// What decided the verdict of `root`, and whether that is exact; if not, it may have been decided earlier, never later.
///
/// Atoms are taken to be independent of each other in what could have followed.
pub(super) fn find_decision_point(
    subformulas: &Subformulas<'_>,
    table: &Columns<'_>,
    root: Formula,
    labels: &Labels,
) -> (DecisionPoint, bool) {
    let holds = |part| super::bits::bit(table.words(part), 0);
    let verdict = holds(root);
    let by_future = |part| BackwardAutomaton::new(subformulas, part)?.find_decision_point(table, labels.len(), verdict);
    if let Some(found) = by_future(root) {
        return found;
    }
    // A violated conjunct violates the conjunction, a satisfied disjunct satisfies the disjunction.
    let bound = bounds::find_decision_point(subformulas, root, labels, verdict);
    let parts = match (subformulas.formulas.node(root), verdict) {
        (Node::And(parts), false) | (Node::Or(parts), true) => &**parts,
        _ => &[],
    };
    let parts = parts.iter().filter(|part| holds(**part) == verdict);
    (parts.filter_map(|part| by_future(*part)).map(|(decided, _)| decided).fold(bound, DecisionPoint::min), false)
}
