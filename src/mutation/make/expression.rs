//! Visits and mutates expressions that do not refer to the next state.

use super::super::Operator;
use super::excerpt::excerpt;
use super::guard::GuardRemoval;
use super::tree_mutator::{Bound, Role, TreeMutator};
use crate::tla::Id;

/// Maximum number of replacements for one string.
const MOST_STRINGS: usize = 2;

/// Statements that are quoted completely in the description of a mutant.
const SHORT_STATEMENTS: [&str; 7] = [
    "pcal_assign",
    "pcal_lhs",
    "pcal_await",
    "pcal_macro_call",
    "pcal_proc_call",
    "pcal_var_decl",
    "pcal_proc_var_decl",
];

impl TreeMutator<'_> {
    /// Visits an expression and its subexpressions.
    pub(super) fn visit(&mut self, id: Id) {
        self.with_depth(|walk| walk.visit_here(id));
    }

    fn visit_here(&mut self, id: Id) {
        let tree = self.tree;
        match self.kind(id) {
            "bound_infix_op" => self.visit_infix(id),
            "conj_list" => self.mutate_conjunction(id),
            "disj_list" => {
                self.children(id).into_iter().filter_map(|item| tree.children(item).last()).for_each(|c| self.visit(c));
            }
            "bound_prefix_op" | "bound_nonfix_op" => self.visit_prefix(id),
            "bounded_quantification" => {
                self.swap_quantifier(id);
                self.visit_binder(id, Self::visit, Self::visit);
            }
            "set_filter" | "set_map" | "function_literal" => self.visit_binder(id, Self::visit, Self::visit),
            "unbounded_quantification" | "choose" | "lambda" => self.visit_unbounded_binder(id),
            "let_in" => self.visit_let(id, Self::visit),
            "except" => self.visit_except(id),
            "if_then_else" => self.visit_if(id, Self::visit),
            "case_arm" => {
                let parts = self.children(id);
                if let [condition, .., value] = parts[..] {
                    self.mutate_guard(condition, GuardRemoval::True);
                    self.visit(value);
                }
            }
            "nat_number" => self.mutate_number(id),
            "boolean" => self.mutate_boolean(id),
            "string" => self.mutate_string(id),
            "identifier_ref" => self.mutate_variable(id, Operator::WrongVariable),
            "bound_op" => self.children(id).into_iter().skip(1).for_each(|argument| self.visit(argument)),
            "record_value" => self.children(id).into_iter().take(1).for_each(|record| self.visit(record)),
            "label" => tree.field(id, "expression").into_iter().for_each(|inner| self.visit(inner)),
            // Primed expressions belong to the next state; the others contain no value of this module.
            "bound_postfix_op"
            | "prefixed_op"
            | "subexpression"
            | "fairness"
            | "step_expr_or_stutter"
            | "step_expr_no_stutter"
            | "instance" => {}
            _ => self.children(id).into_iter().for_each(|child| self.visit(child)),
        }
    }

    fn visit_prefix(&mut self, id: Id) {
        let Some((symbol, operand)) = self.prefix_operands(id) else { return };
        match self.kind(symbol) {
            "lnot" if !self.refers_to_next_state(id) => {
                let what = format!("no longer negates {}", self.quote(self.range(operand)));
                let range = self.range(symbol);
                self.add_edit(Operator::Logical, range.start, "~ dropped", what, range, "");
            }
            "unchanged" | "enabled" | "always" | "eventually" => return,
            _ => {}
        }
        self.visit(operand);
    }

    /// The symbol and the operand of `~ e`. The grammar parses `~(e)` as the application of an operator symbol.
    pub(super) fn prefix_operands(&self, id: Id) -> Option<(Id, Id)> {
        let symbol = self.tree.field(id, "symbol")?;
        match (self.kind(id), self.kind(symbol)) {
            ("bound_prefix_op", _) => Some((symbol, self.tree.field(id, "rhs")?)),
            ("bound_nonfix_op", "prefix_op_symbol") => {
                Some((self.tree.children(symbol).next()?, self.tree.children(id).last()?))
            }
            _ => None,
        }
    }

    fn swap_quantifier(&mut self, id: Id) {
        let Some(quantifier) = self.tree.field(id, "quantifier") else { return };
        if self.refers_to_next_state(id) {
            return;
        }
        let (old, new) = if self.kind(quantifier) == "forall" { ("\\A", "\\E") } else { ("\\E", "\\A") };
        let what = format!("uses `{new}` where `{old}` stood in {}", self.quote(self.range(id)));
        let range = self.range(quantifier);
        self.add_edit(Operator::Quantifier, range.start, &format!("{old} to {new}"), what, range, new);
    }

    /// Visits an expression that binds names from sets: the sets by `set`, the rest by `rest`.
    pub(super) fn visit_binder(&mut self, id: Id, set: impl Fn(&mut Self, Id), rest: impl Fn(&mut Self, Id)) {
        let tree = self.tree;
        let (bounds, others): (Vec<Id>, Vec<Id>) =
            self.children(id).into_iter().partition(|child| self.kind(*child) == "quantifier_bound");
        let mut names = Vec::new();
        for bound in bounds {
            let of = tree.field(bound, "set");
            names.extend(self.bound_names(bound));
            if let Some(of) = of {
                set(self, of);
            }
        }
        let is_sign = |kind: &str| matches!(kind, "all_map_to" | "forall" | "exists" | "identifier" | "def_eq");
        self.with_bound(names, |walk| {
            others.into_iter().filter(|child| !is_sign(tree.node(*child).kind)).for_each(|child| rest(walk, child));
        });
    }

    /// The names bound by `x, y \in S`.
    pub(super) fn bound_names(&self, bound: Id) -> Vec<Bound> {
        let set = self.tree.field(bound, "set").map(|set| excerpt(self.text(set), usize::MAX));
        let children = self.children(bound);
        let tuples = children.iter().filter(|child| self.kind(**child) == "tuple_of_identifiers");
        let inner: Vec<Id> = tuples.flat_map(|tuple| self.children(*tuple)).collect();
        let plain =
            children.iter().map(|child| (*child, set.clone())).chain(inner.into_iter().map(|child| (child, None)));
        let names = plain.filter(|(child, _)| self.kind(*child) == "identifier");
        names.map(|(child, set)| Bound { name: self.text(child).to_owned(), set }).collect()
    }

    /// Visits a binder without a set, or whose set is not a choice (CHOOSE).
    fn visit_unbounded_binder(&mut self, id: Id) {
        let tree = self.tree;
        let set = tree.field(id, "set");
        if let Some(set) = set {
            self.visit(set);
        }
        let names = self.bound_names(id);
        let sign = |kind: &str| matches!(kind, "identifier" | "tuple_of_identifiers" | "set_in" | "forall" | "exists");
        let rest: Vec<Id> =
            self.children(id).into_iter().filter(|c| Some(*c) != set && !sign(tree.node(*c).kind)).collect();
        self.with_bound(names, |walk| rest.into_iter().for_each(|child| walk.visit(child)));
    }

    /// `LET … IN e`, with `e` by `inner`.
    pub(super) fn visit_let(&mut self, id: Id, inner: impl Fn(&mut Self, Id)) {
        let tree = self.tree;
        let mut names = Vec::new();
        for definition in self.children(id) {
            if let Some(name) = tree.field(definition, "name") {
                names.push(Bound { name: self.text(name).to_owned(), set: None });
            }
        }
        self.with_bound(names, |walk| {
            for definition in walk.children(id) {
                let Some(body) = tree.field(definition, "definition") else { continue };
                let parameters = walk.children(definition).into_iter().filter(|c| walk.kind(*c) == "identifier");
                let mut own: Vec<Bound> =
                    parameters.map(|name| Bound { name: walk.text(name).to_owned(), set: None }).collect();
                let bounds = walk.children(definition).into_iter().filter(|c| walk.kind(*c) == "quantifier_bound");
                own.extend(bounds.flat_map(|bound| walk.bound_names(bound)).collect::<Vec<_>>());
                walk.with_bound(own, |walk| walk.visit(body));
            }
            tree.field(id, "expression").into_iter().for_each(|body| inner(walk, body));
        });
    }

    pub(super) fn visit_if(&mut self, id: Id, branch: impl Fn(&mut Self, Id)) {
        let tree = self.tree;
        tree.field(id, "if").into_iter().for_each(|condition| self.mutate_guard(condition, GuardRemoval::True));
        for side in ["then", "else"] {
            tree.field(id, side).into_iter().for_each(|side| branch(self, side));
        }
    }

    fn visit_except(&mut self, id: Id) {
        let tree = self.tree;
        for child in self.children(id) {
            if self.kind(child) != "except_update" {
                // The updated function stays the one that is assigned.
                if self.kind(child) != "identifier_ref" {
                    self.visit(child);
                }
                continue;
            }
            let specifier = tree.field(child, "update_specifier");
            let applied = specifier.into_iter().flat_map(|specifier| self.children(specifier));
            let indices: Vec<Id> = applied.filter(|part| self.kind(*part) == "except_update_fn_appl").collect();
            let indices: Vec<Id> = indices.into_iter().flat_map(|part| self.children(part)).collect();
            for index in indices {
                self.mutate_index(index);
            }
            tree.field(child, "new_val").into_iter().for_each(|value| self.visit(value));
        }
    }

    /// Mutates the index of an updated element.
    pub(super) fn mutate_index(&mut self, index: Id) {
        match self.kind(index) {
            "identifier_ref" => self.mutate_variable(index, Operator::ExceptIndex),
            _ => self.visit(index),
        }
    }

    fn mutate_number(&mut self, id: Id) {
        let old = self.text(id);
        let Ok(number) = old.parse::<u64>() else { return };
        let range = self.range(id);
        let set = self.parents[id].filter(|parent| self.kind(*parent) == "finite_set_literal");
        let beside = set.map(|set| self.children(set)).unwrap_or_default();
        for new in [number.checked_sub(1), number.checked_add(1)].into_iter().flatten() {
            // `{1, 1}` is only the set without the other element.
            if beside.iter().any(|element| self.text(*element) == new.to_string()) {
                continue;
            }
            let what = format!("uses {new} where {old} stood in {}", self.quote(self.enclosing_range(id)));
            self.add_edit(
                Operator::Constant,
                range.start,
                &format!("{old} to {new}"),
                what,
                range.clone(),
                new.to_string(),
            );
        }
    }

    fn mutate_boolean(&mut self, id: Id) {
        let (old, range) = (self.text(id), self.range(id));
        let new = if old == "TRUE" { "FALSE" } else { "TRUE" };
        let (operator, what) = if self.role == Role::Initial {
            (
                Operator::InitialValue,
                format!("starts with {new} where {old} stood in {}", self.quote(self.enclosing_range(id))),
            )
        } else {
            (Operator::Constant, format!("uses {new} where {old} stood in {}", self.quote(self.enclosing_range(id))))
        };
        self.add_edit(operator, range.start, &format!("{old} to {new}"), what, range, new);
    }

    fn mutate_string(&mut self, id: Id) {
        let (old, range) = (self.text(id), self.range(id));
        let others = self.facts.other_strings(self.tree, &self.parents, id);
        for new in others.into_iter().take(MOST_STRINGS) {
            let around = self.quote(self.enclosing_range(id));
            let (operator, verb) = match self.role {
                Role::Initial => (Operator::InitialValue, "starts with"),
                _ => (Operator::StringSwap, "uses"),
            };
            let what = format!("{verb} {new} where {old} stood in {around}");
            self.add_edit(operator, range.start, &format!("{old} to {new}"), what, range.clone(), new);
        }
    }

    /// The range around an expression to quote in a description: up to 60 characters, within one statement or conjunct.
    pub(super) fn enclosing_range(&self, id: Id) -> std::ops::Range<usize> {
        let mut at = id;
        while let Some(parent) = self.parents[at] {
            let kind = self.kind(parent);
            if kind.starts_with("pcal_") && !SHORT_STATEMENTS.contains(&kind) {
                break;
            }
            let done = matches!(kind, "source_file" | "operator_definition" | "conj_item" | "disj_item" | "let_in");
            if done || self.range(parent).len() > 60 {
                break;
            }
            at = parent;
        }
        self.range(at)
    }
}
