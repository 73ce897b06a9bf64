//! Mutates guards: conditions that must hold for an action or branch to be taken.

use super::super::Edit;
use super::super::Operator;
use super::chain::Junction;
use super::infix::opposite_symbol;
use super::tree_mutator::TreeMutator;
use tlaforge_tla::{Field, Id, NodeKind};

/// How to drop a complete guard.
pub(super) enum GuardRemoval {
    /// Replace it by TRUE.
    True,
    /// Apply this edit, which also removes the text around it.
    Edit(Edit),
    /// Keep it: a loop without its test does not end.
    Stays,
}

impl TreeMutator<'_> {
    /// Drops and negates a guard, and visits the expressions in it.
    pub(super) fn mutate_guard(&mut self, id: Id, without: GuardRemoval) {
        if self.kind(self.strip_parentheses(id)) == NodeKind::Boolean {
            return;
        }
        let conjuncts = self.conjuncts(id);
        // A guard with several conjuncts loses them one by one in `mutate_conjunction`.
        if let [_] = conjuncts.as_slice() {
            let range = self.range(id);
            let what = format!("no longer checks {}", self.quote(range.clone()));
            let edit = match without {
                GuardRemoval::True => Some(Edit { range: range.clone(), text: "TRUE".to_owned() }),
                GuardRemoval::Edit(edit) => Some(edit),
                GuardRemoval::Stays => None,
            };
            if let Some(edit) = edit {
                self.add_draft(Operator::DropGuard, range.start, "", what, vec![edit]);
            }
        }
        for conjunct in conjuncts {
            let what = format!("checks the opposite of {}", self.quote(self.range(conjunct)));
            let edits = self.negate(conjunct);
            // `swap_symbol` then leaves out the opposite comparison.
            self.negated.insert(self.strip_parentheses(conjunct));
            self.add_draft(Operator::NegateGuard, self.range(conjunct).start, "", what, edits);
        }
        self.visit(id);
    }

    /// The conjuncts of a formula, with nested conjunctions flattened.
    fn conjuncts(&self, id: Id) -> Vec<Id> {
        let mut found = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.chain(self.strip_parentheses(id), Junction::And) {
                Some(chain) => open.extend(chain.operands.iter().rev().map(|operand| operand.content)),
                None => found.push(id),
            }
        }
        found
    }

    /// The edits that negate a formula.
    fn negate(&self, id: Id) -> Vec<Edit> {
        let inner = self.strip_parentheses(id);
        let insert = |at: usize, text: &str| Edit { range: at..at, text: text.to_owned() };
        let symbol = self.tree.field(inner, Field::Symbol);
        match (self.kind(inner), self.symbol(inner), symbol) {
            (NodeKind::Infix, operator, Some(symbol)) => {
                if let Some(new) = opposite_symbol(operator) {
                    return vec![Edit { range: self.range(symbol), text: new.to_owned() }];
                }
            }
            (NodeKind::Prefix, "~", Some(symbol)) => {
                return vec![Edit { range: self.range(symbol), text: String::new() }];
            }
            (NodeKind::Boolean, ..) => {
                let new = if self.text(inner) == "TRUE" { "FALSE" } else { "TRUE" };
                return vec![Edit { range: self.range(inner), text: new.to_owned() }];
            }
            _ => {}
        }
        let range = self.range(id);
        // These bind more tightly than `~`.
        let simple = matches!(
            self.kind(id),
            NodeKind::Parentheses
                | NodeKind::Reference
                | NodeKind::Call
                | NodeKind::FunctionApplication
                | NodeKind::FieldAccess
        );
        if simple {
            return vec![insert(range.start, "~")];
        }
        vec![insert(range.start, "~("), insert(range.end, ")")]
    }
}
