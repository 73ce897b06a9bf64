//! Guards: what has to hold for something to be done.

use super::super::Edit;
use super::super::Operator;
use super::chain::Junction;
use super::infix::opposite;
use super::walk::Walk;
use crate::tla::Id;

/// What is left of a guard that goes as a whole.
pub(super) enum Without {
    /// TRUE in its place.
    True,
    /// It goes with what stands around it.
    Edit(Edit),
    /// It stays: a loop without its test does not end.
    Stays,
}

impl Walk<'_> {
    /// A guard, and the expressions in it.
    pub(super) fn guard(&mut self, id: Id, without: Without) {
        if self.kind(self.bare(id)) == "boolean" {
            return;
        }
        let conjuncts = self.conjuncts(id);
        if let [_] = conjuncts.as_slice() {
            let range = self.range(id);
            let what = format!("no longer checks {}", self.quoted(range.clone()));
            let edit = match without {
                Without::True => Some(Edit { range: range.clone(), text: "TRUE".to_owned() }),
                Without::Edit(edit) => Some(edit),
                Without::Stays => None,
            };
            if let Some(edit) = edit {
                self.add(Operator::DropGuard, range.start, "", what, vec![edit]);
            }
        }
        for conjunct in conjuncts {
            let what = format!("checks the opposite of {}", self.quoted(self.range(conjunct)));
            let edits = self.opposite(conjunct);
            self.negated.insert(self.bare(conjunct));
            self.add(Operator::NegateGuard, self.range(conjunct).start, "", what, edits);
        }
        self.visit(id);
    }

    /// The conjuncts of a formula, of those that are conjunctions as well.
    fn conjuncts(&self, id: Id) -> Vec<Id> {
        let mut found = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.chain(self.bare(id), Junction::And) {
                Some(chain) => open.extend(chain.links.iter().rev().map(|link| link.content)),
                None => found.push(id),
            }
        }
        found
    }

    /// The opposite of a formula.
    fn opposite(&self, id: Id) -> Vec<Edit> {
        let inner = self.bare(id);
        let insert = |at: usize, text: &str| Edit { range: at..at, text: text.to_owned() };
        match (self.kind(inner), self.tree.field(inner, "symbol")) {
            ("bound_infix_op", Some(symbol)) => {
                if let Some(new) = opposite(self.kind(symbol)) {
                    return vec![Edit { range: self.range(symbol), text: new.to_owned() }];
                }
            }
            ("bound_prefix_op" | "bound_nonfix_op", _) => {
                let prefixed = self.prefixed(inner).filter(|(symbol, _)| self.kind(*symbol) == "lnot");
                if let Some((symbol, _)) = prefixed {
                    return vec![Edit { range: self.range(symbol), text: String::new() }];
                }
            }
            ("boolean", _) => {
                let new = if self.text(inner) == "TRUE" { "FALSE" } else { "TRUE" };
                return vec![Edit { range: self.range(inner), text: new.to_owned() }];
            }
            _ => {}
        }
        let range = self.range(id);
        let simple = matches!(
            self.kind(id),
            "parentheses" | "identifier_ref" | "bound_op" | "function_evaluation" | "record_value"
        );
        if simple {
            return vec![insert(range.start, "~")];
        }
        vec![insert(range.start, "~("), insert(range.end, ")")]
    }
}
