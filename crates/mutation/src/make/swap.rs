//! Swaps neighbouring statements.

use super::super::Edit;
use super::super::Operator;
use super::algorithm::AlgorithmMutator;
use super::outline::Statement;
use tlaforge_tla::NodeKind;

impl AlgorithmMutator<'_, '_> {
    /// Swaps the texts of a statement and the next one; labels stay. Within one step the order matters only if one
    /// statement assigns what the other reads.
    pub(super) fn swap_with_next(&mut self, statements: &[Statement], at: usize) {
        let [first, second, ..] = &statements[at..] else { return };
        let movable = |s: &Statement| matches!(s.kind, NodeKind::Assign | NodeKind::Await | NodeKind::MacroCall);
        let walk = &self.walk;
        // A list over several lines would lose its alignment at another column.
        let one_line = |s: &Statement| !walk.source[s.range.clone()].contains('\n');
        if ![first, second].into_iter().all(|s| movable(s) && one_line(s)) {
            return;
        }
        let (a, b) = (self.assigned_variables(first), self.assigned_variables(second));
        if second.label.is_none() {
            if self.touched_variables(first).is_disjoint(&b) && self.touched_variables(second).is_disjoint(&a) {
                return;
            }
        } else {
            // PlusCal forbids two assignments to a variable in one step.
            let alone = first.label.is_some() || self.assigned_before_in_step(statements, at).is_disjoint(&b);
            let rest = statements[at + 2..].iter().take_while(|later| later.label.is_none());
            if !alone || rest.into_iter().any(|later| !self.assigned_variables(later).is_disjoint(&a)) {
                return;
            }
        }
        let text = |s: &Statement| walk.source[s.range.clone()].to_owned();
        let edits = vec![
            Edit { range: first.range.clone(), text: text(second) },
            Edit { range: second.range.clone(), text: text(first) },
        ];
        let what = format!("does {} before {}", walk.quote(second.range.clone()), walk.quote(first.range.clone()));
        self.walk.add_draft(Operator::SwapStatements, first.range.start, "", what, edits);
    }
}
