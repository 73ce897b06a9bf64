//! Replaces a name that is read by another of the same kind.

use super::super::Operator;
use super::tree_mutator::TreeMutator;
use tlaforge_tla::{Id, NodeKind};

impl TreeMutator<'_> {
    /// Replaces a name by the nearest one of its kind.
    pub(super) fn mutate_variable(&mut self, id: Id, operator: Operator) {
        let old = self.text(id);
        let Some(new) = self.similar_name(old) else { return };
        // `x := x` equals dropping the statement, which another operator does.
        if self.assignment_target(id) == Some(new.as_str()) {
            return;
        }
        let range = self.range(id);
        let what = match operator {
            Operator::ExceptIndex => {
                format!("updates the element `{new}` where `{old}` stood in {}", self.quote(self.enclosing_range(id)))
            }
            _ => format!("reads `{new}` where `{old}` stood in {}", self.quote(self.enclosing_range(id))),
        };
        self.add_edit(operator, range.start, &format!("{old} to {new}"), what, range, new);
    }

    fn similar_name(&self, name: &str) -> Option<String> {
        if let Some(own) = self.scope.iter().rposition(|bound| bound.name == name) {
            let set = self.scope[own].set.as_ref()?;
            // A name that is bound again further inside cannot be read here.
            let seen = |at: usize| !self.scope[at + 1..].iter().any(|later| later.name == self.scope[at].name);
            let others =
                (0..self.scope.len()).filter(|at| *at != own && self.scope[*at].set.as_ref() == Some(set) && seen(*at));
            let after = others.clone().find(|at| *at > own);
            return after.or_else(|| others.clone().next()).map(|at| self.scope[at].name.clone());
        }
        let own = self.visible.iter().position(|(variable, _)| variable == name)?;
        let shape = &self.visible[own].1;
        let local = |at: usize| at >= self.facts.globals.len();
        let hidden = |variable: &str| self.scope.iter().any(|bound| bound.name == variable);
        let same = |at: &usize| *at != own && self.visible[*at].1 == *shape && !hidden(&self.visible[*at].0);
        // A neighbouring declaration is the most likely mistake.
        let nearest = (0..self.visible.len())
            .filter(same)
            .min_by_key(|at| (local(*at) != local(own), at.abs_diff(own), *at < own));
        nearest.map(|at| self.visible[at].0.clone())
    }

    /// The variable that an expression is assigned to in the algorithm, if it is the complete right side.
    pub(super) fn assignment_target(&self, value: Id) -> Option<&str> {
        let parent = self.parents[value].filter(|parent| self.kind(*parent) == NodeKind::Assign)?;
        let before = self.tree.children(parent).take_while(|child| *child != value);
        before.filter(|child| self.kind(*child) == NodeKind::AssignTarget).last().map(|target| self.text(target))
    }
}
