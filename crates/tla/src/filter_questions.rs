//! Questions that show whether the sets `{x \in S : A}` of properties ever have an element. Pure.

use super::premise_questions::{Context, Premises};
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

impl Premises<'_, '_> {
    /// Asks about the sets over which a quantifier ranges. Nothing in the context may be bound by it.
    pub(super) fn bound_filters(&mut self, tree: &Tree, id: Id, context: &[Context]) {
        for bound in tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound) {
            let set = tree.field(bound, Field::Set).map(|set| tree.strip_parentheses(set));
            if let Some(set) = set.filter(|set| tree.kind(*set) == NodeKind::SetFilter) {
                self.filter(tree, set, context);
            }
        }
    }

    /// Asks about the sets `{x \in S : A}` in a formula, where no name of the formula itself is bound.
    pub(super) fn filters(&mut self, tree: &Tree, id: Id, context: &[Context], depth: usize) {
        self.visits = self.visits.saturating_sub(1);
        if depth > MAX_DEPTH || self.visits == 0 {
            return;
        }
        let binds = matches!(
            tree.kind(id),
            NodeKind::Unbounded
                | NodeKind::SetFilter
                | NodeKind::SetMap
                | NodeKind::FunctionLiteral
                | NodeKind::Choose
                | NodeKind::Lambda
                | NodeKind::LetIn
        );
        if binds {
            return;
        }
        if tree.kind(id) == NodeKind::Bounded {
            return self.bound_filters(tree, id, context);
        }
        if let Some(set) = self.counted_set(tree, id) {
            return self.filter(tree, set, context);
        }
        // `Cardinality(S) = 0` says that there must be no element.
        if self.compares_with_nothing(tree, id) {
            return;
        }
        for child in tree.children(id).collect::<Vec<_>>() {
            self.filters(tree, child, context, depth + 1);
        }
    }

    /// `{x \in S : A}` in `Cardinality({x \in S : A})`.
    fn counted_set(&self, tree: &Tree, id: Id) -> Option<Id> {
        let name = tree.called_name(id).filter(|name| *name != id)?;
        let set = tree.strip_parentheses(tree.children(id).nth(1)?);
        let is_count = tree.text(name, &self.module.source) == "Cardinality";
        (is_count && tree.kind(set) == NodeKind::SetFilter).then_some(set)
    }

    fn compares_with_nothing(&self, tree: &Tree, id: Id) -> bool {
        let Some((lhs, rhs)) = tree.operands(id) else { return false };
        let text = |id| tree.text(tree.strip_parentheses(id), &self.module.source);
        match tree.operator(id) {
            "=" => [lhs, rhs].into_iter().any(|side| matches!(text(side), "0" | "{}")),
            "<" => text(rhs) == "1",
            "<=" | "=<" | "\\leq" => text(rhs) == "0",
            _ => false,
        }
    }

    fn filter(&mut self, tree: &Tree, set: Id, context: &[Context]) {
        let Some(bound) = tree.field(set, Field::Generator) else { return };
        let Some(body) = tree.children(set).last() else { return };
        let bounds = tree.text(bound, &self.module.source);
        if bounds.contains('\n') {
            return;
        }
        let mut inner = context.to_vec();
        inner.push(Context::Bounds(bounds.to_owned()));
        self.premise(tree, body, "", &mut inner);
    }
}
