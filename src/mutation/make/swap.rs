//! Two neighbouring statements that change places.

use super::super::Edit;
use super::super::Operator;
use super::outline::Statement;
use super::statement::Steps;

impl Steps<'_, '_> {
    /// The texts of two statements change places, under the labels that they have. In one step the order matters only
    /// where one assigns what the other reads.
    pub(super) fn swap(&mut self, statements: &[Statement], at: usize) {
        let [first, second, ..] = &statements[at..] else { return };
        let movable = |s: &Statement| matches!(s.kind, "pcal_assign" | "pcal_await" | "pcal_macro_call");
        let walk = &self.walk;
        let one_line = |s: &Statement| !walk.source[s.range.clone()].contains('\n');
        if ![first, second].into_iter().all(|s| movable(s) && one_line(s)) {
            return;
        }
        let (a, b) = (self.assigned(first), self.assigned(second));
        if second.label.is_none() {
            if self.touched(first).is_disjoint(&b) && self.touched(second).is_disjoint(&a) {
                return;
            }
        } else {
            // Neither step may assign to a variable twice.
            let alone = first.label.is_some() || self.assigned_before(statements, at).is_disjoint(&b);
            let rest = statements[at + 2..].iter().take_while(|later| later.label.is_none());
            if !alone || rest.into_iter().any(|later| !self.assigned(later).is_disjoint(&a)) {
                return;
            }
        }
        let text = |s: &Statement| walk.source[s.range.clone()].to_owned();
        let edits = vec![
            Edit { range: first.range.clone(), text: text(second) },
            Edit { range: second.range.clone(), text: text(first) },
        ];
        let what = format!("does {} before {}", walk.quoted(second.range.clone()), walk.quoted(first.range.clone()));
        self.walk.add(Operator::SwapStatements, first.range.start, "", what, edits);
    }
}
