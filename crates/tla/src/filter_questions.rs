//! Questions that show whether the sets `{x \in S : A}` of properties ever have an element. Pure.

use super::premise_questions::{Context, Premises, joined_lines};
use super::syntax::{Field, Id, NodeKind, Tree};
use super::vacuity::plain;

impl<'a> Premises<'a, '_> {
    /// Asks about the sets over which a quantifier ranges. Nothing in the context may be bound by it.
    pub(super) fn bound_filters(&mut self, tree: &'a Tree, id: Id, context: &[Context]) {
        let body = tree.field(id, Field::Body).map(|body| tree.text(tree.strip_parentheses(body), &self.module.source));
        // Then the set must be empty.
        if matches!(body, Some("FALSE" | "TRUE")) {
            return;
        }
        for bound in tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound) {
            if let Some((tree, set)) = tree.field(bound, Field::Set).and_then(|set| self.filter_of(tree, set)) {
                self.filter(tree, set, context);
            }
        }
    }

    /// Asks about the set in `Cardinality({x \in S : A}) <= 1`, if the formula says no more than that. A count that has to be 0 says
    /// that there must be no element.
    pub(super) fn filters(&mut self, tree: &'a Tree, id: Id, context: &[Context]) {
        let Some((lhs, rhs)) = tree.operands(id) else { return };
        let (count, limit, is_strict) = match tree.operator(id) {
            "<=" | "=<" | "\\leq" => (lhs, rhs, false),
            "<" => (lhs, rhs, true),
            ">=" | "\\geq" => (rhs, lhs, false),
            ">" => (rhs, lhs, true),
            _ => return,
        };
        let limit = tree.text(tree.strip_parentheses(limit), &self.module.source);
        let is_some = match limit.parse::<u64>() {
            Ok(number) => number > u64::from(is_strict),
            Err(_) => self.module.declares_constant(limit),
        };
        if let Some((tree, set)) = self.counted_set(tree, count).filter(|_| is_some) {
            self.filter(tree, set, context);
        }
    }

    /// `{x \in S : A}` in `Cardinality({x \in S : A})`, also by its name.
    fn counted_set(&self, tree: &'a Tree, id: Id) -> Option<(&'a Tree, Id)> {
        let id = tree.strip_parentheses(id);
        let name = tree.called_name(id).filter(|name| *name != id)?;
        let is_count = tree.text(name, &self.module.source) == "Cardinality";
        is_count.then(|| self.filter_of(tree, tree.children(id).nth(1)?))?
    }

    /// The set, if it is `{x \in S : A}` or a name for it.
    fn filter_of(&self, tree: &'a Tree, set: Id) -> Option<(&'a Tree, Id)> {
        let set = tree.strip_parentheses(set);
        match tree.kind(set) {
            NodeKind::SetFilter => Some((tree, set)),
            NodeKind::Reference => {
                let named = plain(self.module, tree.text(set, &self.module.source))?;
                let body = named.tree.strip_parentheses(named.body()?);
                (named.tree.kind(body) == NodeKind::SetFilter).then_some((&named.tree, body))
            }
            _ => None,
        }
    }

    fn filter(&mut self, tree: &Tree, set: Id, context: &[Context]) {
        let Some(bound) = tree.field(set, Field::Generator) else { return };
        let Some(body) = tree.children(set).last() else { return };
        let Some(bounds) = joined_lines(tree.text(bound, &self.module.source)) else { return };
        let mut inner = context.to_vec();
        inner.push(Context::Bounds(bounds));
        self.premise(tree, body, "", &mut inner);
    }
}
