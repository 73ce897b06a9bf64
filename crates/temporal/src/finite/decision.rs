//! Finds the shortest prefix of a trace after which no continuation could change the verdict: exactly if that is feasible,
//! else by an upper bound.

use super::super::formula::{Formula, Node};
use super::backward::BackwardAutomaton;
use super::bounds;
use super::column::Labels;
use super::decision_point::DecisionPoint;
use super::sweep::{Columns, Subformulas};

/// The decision point of `root`, and whether it is exact; if not, the verdict may have been decided earlier, never later.
///
/// Continuations are arbitrary letters: atoms count as independent of each other.
pub(super) fn find_decision_point(
    subformulas: &Subformulas<'_>,
    table: &Columns<'_>,
    root: Formula,
    labels: &Labels,
) -> (DecisionPoint, bool) {
    let holds = |part| super::bits::bit(table.words(part), 0);
    let verdict = holds(root);
    // `None` if the automaton would be too large, or if a future operator is below a past one.
    let decide_exactly =
        |part| BackwardAutomaton::new(subformulas, part)?.find_decision_point(table, labels.len(), verdict);
    if let Some(found) = decide_exactly(root) {
        return found;
    }
    // Too large for the exact method. A violated conjunct violates the conjunction and a satisfied disjunct satisfies the
    // disjunction, so the exact decision point of such a part is an upper bound, like the approximation.
    let upper_bound = bounds::find_decision_point(subformulas, root, labels, verdict);
    let parts = match (subformulas.formulas.node(root), verdict) {
        (Node::And(parts), false) | (Node::Or(parts), true) => &**parts,
        _ => &[],
    };
    let parts = parts.iter().filter(|part| holds(**part) == verdict);
    (
        parts
            .filter_map(|part| decide_exactly(*part))
            .map(|(decided, _)| decided)
            .fold(upper_bound, DecisionPoint::min),
        false,
    )
}
