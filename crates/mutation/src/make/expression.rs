//! Visits and mutates expressions that do not refer to the next state.

use super::super::Operator;
use super::excerpt::excerpt;
use super::guard::GuardRemoval;
use super::tree_mutator::{Bound, Role, TreeMutator};
use tlaforge_tla::{Field, Id, NodeKind};

/// Maximum number of replacements for one string.
const MOST_STRINGS: usize = 2;

/// Statements that are quoted completely in the description of a mutant.
const SHORT_STATEMENTS: [NodeKind; 7] = [
    NodeKind::Assign,
    NodeKind::AssignTarget,
    NodeKind::Await,
    NodeKind::MacroCall,
    NodeKind::ProcedureCall,
    NodeKind::Variable,
    NodeKind::ProcedureVariable,
];

impl TreeMutator<'_> {
    /// Visits an expression and its subexpressions.
    pub(super) fn visit(&mut self, id: Id) {
        self.with_depth(|walk| walk.visit_here(id));
    }

    fn visit_here(&mut self, id: Id) {
        let tree = self.tree;
        match self.kind(id) {
            NodeKind::Infix => self.visit_infix(id),
            NodeKind::ConjunctionList => self.mutate_conjunction(id),
            NodeKind::DisjunctionList => {
                self.children(id).into_iter().filter_map(|item| tree.children(item).last()).for_each(|c| self.visit(c));
            }
            NodeKind::Prefix => self.visit_prefix(id),
            NodeKind::Bounded => {
                self.swap_quantifier(id);
                self.visit_binder(id, Self::visit, Self::visit);
            }
            NodeKind::SetFilter | NodeKind::SetMap | NodeKind::FunctionLiteral => {
                self.visit_binder(id, Self::visit, Self::visit);
            }
            NodeKind::Unbounded | NodeKind::Choose | NodeKind::Lambda => self.visit_unbounded_binder(id),
            NodeKind::LetIn => self.visit_let(id, Self::visit),
            NodeKind::Except => self.visit_except(id),
            NodeKind::IfThenElse => self.visit_if(id, Self::visit),
            NodeKind::CaseArm => {
                let parts = self.children(id);
                if let [condition, value] = parts[..] {
                    self.mutate_guard(condition, GuardRemoval::True);
                    self.visit(value);
                }
            }
            NodeKind::Number => self.mutate_number(id),
            NodeKind::Boolean => self.mutate_boolean(id),
            NodeKind::Text => self.mutate_string(id),
            NodeKind::Reference => self.mutate_variable(id, Operator::WrongVariable),
            // The first child is the name of the operator.
            NodeKind::Call => self.children(id).into_iter().skip(1).for_each(|argument| self.visit(argument)),
            // The second child is the name of the field.
            NodeKind::FieldAccess => self.children(id).into_iter().take(1).for_each(|record| self.visit(record)),
            NodeKind::Label => tree.field(id, Field::Body).into_iter().for_each(|inner| self.visit(inner)),
            // Primed expressions belong to the next state; the others contain no value of this module.
            NodeKind::Postfix
            | NodeKind::ForeignCall
            | NodeKind::Subexpression
            | NodeKind::Fairness
            | NodeKind::BoxAction
            | NodeKind::AngleAction
            | NodeKind::Instance => {}
            _ => self.children(id).into_iter().for_each(|child| self.visit(child)),
        }
    }

    fn visit_prefix(&mut self, id: Id) {
        let (Some(symbol), Some(operand)) = (self.tree.field(id, Field::Symbol), self.tree.field(id, Field::Right))
        else {
            return;
        };
        match self.symbol(id) {
            "~" if !self.refers_to_next_state(id) => {
                let what = format!("no longer negates {}", self.quote(self.range(self.strip_parentheses(operand))));
                let range = self.range(symbol);
                self.add_edit(Operator::Logical, range.start, "~ dropped", what, range, "");
            }
            "UNCHANGED" | "ENABLED" | "[]" | "<>" => return,
            _ => {}
        }
        self.visit(operand);
    }

    fn swap_quantifier(&mut self, id: Id) {
        let Some(quantifier) = self.tree.field(id, Field::Quantifier) else { return };
        if self.refers_to_next_state(id) {
            return;
        }
        let (old, new) = if self.kind(quantifier) == NodeKind::ForAll { ("\\A", "\\E") } else { ("\\E", "\\A") };
        let what = format!("uses `{new}` where `{old}` stood in {}", self.quote(self.range(id)));
        let range = self.range(quantifier);
        self.add_edit(Operator::Quantifier, range.start, &format!("{old} to {new}"), what, range, new);
    }

    /// Visits an expression that binds names from sets: the sets by `set`, the rest by `rest`.
    pub(super) fn visit_binder(&mut self, id: Id, set: impl Fn(&mut Self, Id), rest: impl Fn(&mut Self, Id)) {
        let tree = self.tree;
        let (bounds, others): (Vec<Id>, Vec<Id>) =
            self.children(id).into_iter().partition(|child| self.kind(*child) == NodeKind::Bound);
        let mut names = Vec::new();
        for bound in bounds {
            let of = tree.field(bound, Field::Set);
            names.extend(self.bound_names(bound));
            if let Some(of) = of {
                set(self, of);
            }
        }
        let is_sign = |kind| matches!(kind, NodeKind::ForAll | NodeKind::Exists | NodeKind::Identifier);
        self.with_bound(names, |walk| {
            others.into_iter().filter(|child| !is_sign(tree.kind(*child))).for_each(|child| rest(walk, child));
        });
    }

    /// The names bound by `x, y \in S`.
    pub(super) fn bound_names(&self, bound: Id) -> Vec<Bound> {
        let set = self.tree.field(bound, Field::Set).map(|set| excerpt(self.text(set), usize::MAX));
        let children = self.children(bound);
        let tuples = children.iter().filter(|child| self.kind(**child) == NodeKind::IdentifierTuple);
        let inner: Vec<Id> = tuples.flat_map(|tuple| self.children(*tuple)).collect();
        let plain =
            children.iter().map(|child| (*child, set.clone())).chain(inner.into_iter().map(|child| (child, None)));
        let names = plain.filter(|(child, _)| self.kind(*child) == NodeKind::Identifier);
        names.map(|(child, set)| Bound { name: self.text(child).to_owned(), set }).collect()
    }

    /// Visits a binder without a set, or whose set is not a choice (CHOOSE).
    fn visit_unbounded_binder(&mut self, id: Id) {
        let tree = self.tree;
        let set = tree.field(id, Field::Set);
        if let Some(set) = set {
            self.visit(set);
        }
        let names = self.bound_names(id);
        let sign = |kind| {
            matches!(kind, NodeKind::Identifier | NodeKind::IdentifierTuple | NodeKind::ForAll | NodeKind::Exists)
        };
        let rest: Vec<Id> = self.children(id).into_iter().filter(|c| Some(*c) != set && !sign(tree.kind(*c))).collect();
        self.with_bound(names, |walk| rest.into_iter().for_each(|child| walk.visit(child)));
    }

    /// `LET … IN e`, with `e` by `inner`.
    pub(super) fn visit_let(&mut self, id: Id, inner: impl Fn(&mut Self, Id)) {
        let tree = self.tree;
        let mut names = Vec::new();
        for definition in self.children(id) {
            if let Some(name) = tree.field(definition, Field::Name) {
                names.push(Bound { name: self.text(name).to_owned(), set: None });
            }
        }
        self.with_bound(names, |walk| {
            for definition in walk.children(id) {
                let Some(body) = tree.field(definition, Field::Definition) else { continue };
                let parameters =
                    walk.children(definition).into_iter().filter(|c| walk.kind(*c) == NodeKind::Identifier);
                let mut own: Vec<Bound> =
                    parameters.map(|name| Bound { name: walk.text(name).to_owned(), set: None }).collect();
                let bounds = walk.children(definition).into_iter().filter(|c| walk.kind(*c) == NodeKind::Bound);
                own.extend(bounds.flat_map(|bound| walk.bound_names(bound)).collect::<Vec<_>>());
                walk.with_bound(own, |walk| walk.visit(body));
            }
            tree.field(id, Field::Body).into_iter().for_each(|body| inner(walk, body));
        });
    }

    pub(super) fn visit_if(&mut self, id: Id, branch: impl Fn(&mut Self, Id)) {
        let tree = self.tree;
        tree.field(id, Field::Condition)
            .into_iter()
            .for_each(|condition| self.mutate_guard(condition, GuardRemoval::True));
        for side in [Field::Then, Field::Else] {
            tree.field(id, side).into_iter().for_each(|side| branch(self, side));
        }
    }

    fn visit_except(&mut self, id: Id) {
        let tree = self.tree;
        for child in self.children(id) {
            if self.kind(child) != NodeKind::ExceptUpdate {
                // The updated function stays the one that is assigned.
                if self.kind(child) != NodeKind::Reference {
                    self.visit(child);
                }
                continue;
            }
            let specifier = tree.field(child, Field::Path);
            let applied = specifier.into_iter().flat_map(|specifier| self.children(specifier));
            let indices: Vec<Id> = applied.filter(|part| self.kind(*part) == NodeKind::ExceptIndex).collect();
            let indices: Vec<Id> = indices.into_iter().flat_map(|part| self.children(part)).collect();
            for index in indices {
                self.mutate_index(index);
            }
            tree.field(child, Field::Value).into_iter().for_each(|value| self.visit(value));
        }
    }

    /// Mutates the index of an updated element.
    pub(super) fn mutate_index(&mut self, index: Id) {
        match self.kind(index) {
            NodeKind::Reference => self.mutate_variable(index, Operator::ExceptIndex),
            _ => self.visit(index),
        }
    }

    fn mutate_number(&mut self, id: Id) {
        let old = self.text(id);
        let Ok(number) = old.parse::<u64>() else { return };
        let range = self.range(id);
        let set = self.parents[id].filter(|parent| self.kind(*parent) == NodeKind::SetLiteral);
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
            if kind.is_pluscal() && !SHORT_STATEMENTS.contains(&kind) {
                break;
            }
            // A longer quotation would hide the change.
            let done = matches!(
                kind,
                NodeKind::Root
                    | NodeKind::OperatorDefinition
                    | NodeKind::ConjunctionItem
                    | NodeKind::DisjunctionItem
                    | NodeKind::LetIn
            );
            if done || self.range(parent).len() > 60 {
                break;
            }
            at = parent;
        }
        self.range(at)
    }
}
