//! Replaces infix operators by others, and adds parentheses if precedence requires them.

use super::super::Edit;
use super::super::Operator;
use super::chain::Junction;
use super::tree_mutator::TreeMutator;
use crate::tla::Id;

/// Precedence range of an operator ("Specifying Systems", table 6).
fn precedence(kind: &str) -> (u8, u8) {
    match kind {
        "implies" => (1, 1),
        "iff" | "equiv" | "leads_to" => (2, 2),
        "land" | "lor" => (3, 3),
        "lnot" => (4, 4),
        "eq" | "neq" | "lt" | "gt" | "leq" | "geq" | "in" | "notin" | "subseteq" | "subset" => (5, 5),
        "setminus" | "cap" | "cup" => (8, 8),
        "dots_2" => (9, 9),
        "plus" => (10, 10),
        "minus" => (11, 11),
        "mod" => (10, 11),
        "mul" | "div" | "circ" => (13, 13),
        "negative" => (12, 12),
        _ => (1, 15),
    }
}

/// A replacement: the mutation operator, the new symbol, and its node kind.
type Swap = (Operator, &'static str, &'static str);

/// The replacements for a symbol.
fn swaps(kind: &str) -> &'static [Swap] {
    use Operator::{Arithmetic, Logical, Relational, SetOperator};
    match kind {
        "lt" => &[(Relational, "<=", "leq"), (Relational, ">", "gt")],
        "leq" => &[(Relational, "<", "lt"), (Relational, ">=", "geq")],
        "gt" => &[(Relational, ">=", "geq"), (Relational, "<", "lt")],
        "geq" => &[(Relational, ">", "gt"), (Relational, "<=", "leq")],
        "eq" => &[(Relational, "#", "neq")],
        "neq" => &[(Relational, "=", "eq")],
        "plus" => &[(Arithmetic, "-", "minus")],
        "minus" => &[(Arithmetic, "+", "plus")],
        "mul" => &[(Arithmetic, "+", "plus")],
        "div" => &[(Arithmetic, "*", "mul")],
        "cup" => &[(SetOperator, "\\cap", "cap"), (SetOperator, "\\", "setminus")],
        "cap" => &[(SetOperator, "\\cup", "cup")],
        "setminus" => &[(SetOperator, "\\cup", "cup")],
        "in" => &[(SetOperator, "\\notin", "notin")],
        "notin" => &[(SetOperator, "\\in", "in")],
        "land" => &[(Logical, "\\/", "lor")],
        "lor" => &[(Logical, "/\\", "land")],
        "implies" => &[(Logical, "/\\", "land")],
        _ => &[],
    }
}

/// The symbol of the negated comparison.
pub(super) fn opposite_symbol(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "lt" => ">=",
        "leq" => ">",
        "gt" => "<=",
        "geq" => "<",
        "eq" => "#",
        "neq" => "=",
        "in" => "\\notin",
        "notin" => "\\in",
        _ => return None,
    })
}

impl TreeMutator<'_> {
    /// Visits an infix operator and its operands.
    pub(super) fn visit_infix(&mut self, id: Id) {
        let Some((left, right)) = self.operands(id) else { return };
        let symbol = self.symbol(id);
        if self.kind(left) == "bound_postfix_op" && matches!(symbol, "eq" | "in") && self.symbol(left) == "prime" {
            return self.visit(right);
        }
        match symbol {
            "land" => return self.mutate_conjunction(id),
            "lor" => {
                self.swap_symbol(id);
                self.visit(left);
                return self.visit(right);
            }
            "subseteq" => self.flip_subset(id, left, right),
            "dots_2" => self.mutate_interval(id, Operator::OffByOne, Operator::OffByOne),
            _ => self.swap_symbol(id),
        }
        let one = matches!(symbol, "plus" | "minus") && self.text(right) == "1";
        if one {
            self.mutate_plus_one(left, right);
        } else {
            self.visit(right);
        }
        self.visit(left);
    }

    /// Replaces the symbol by each of its alternatives.
    pub(super) fn swap_symbol(&mut self, id: Id) {
        let Some(at) = self.tree.field(id, "symbol") else { return };
        if self.refers_to_next_state(id) {
            return;
        }
        let old = self.text(at);
        // In a guard, the negated comparison is already a mutant of `negate-guard`.
        let most = if self.negated.contains(&id) { 1 } else { usize::MAX };
        for &(operator, new, kind) in swaps(self.kind(at)).iter().take(most) {
            let edits = self.replace_symbol(id, at, new, kind);
            let what = format!("uses `{new}` where `{old}` stood in {}", self.quote(self.range(id)));
            self.add_draft(operator, self.range(at).start, &format!("{old} to {new}"), what, edits);
        }
    }

    fn replace_symbol(&self, id: Id, at: Id, new: &str, kind: &str) -> Vec<Edit> {
        let insert = |at: usize, text: &str| Edit { range: at..at, text: text.to_owned() };
        let (low, high) = precedence(kind);
        let whole = self.range(id);
        let outer = self.parents[id].is_some_and(|parent| match self.kind(parent) {
            "bound_infix_op" | "bound_prefix_op" => low <= precedence(self.symbol(parent)).1,
            kind => matches!(kind, "bound_postfix_op" | "function_evaluation" | "record_value"),
        });
        let needs = |side: Id| match self.kind(side) {
            "bound_infix_op" | "bound_prefix_op" => precedence(self.symbol(side)).0 <= high,
            _ => false,
        };
        let mut edits = Vec::new();
        if outer {
            edits.push(insert(whole.start, "("));
        }
        let Some((left, right)) = self.operands(id) else { return edits };
        let same =
            |side: Id| self.symbol(side) == kind && matches!(kind, "land" | "lor" | "cup" | "cap" | "plus" | "mul");
        if needs(left) && !same(left) {
            edits.push(insert(whole.start, "("));
            edits.push(insert(self.range(left).end, ")"));
        }
        edits.push(Edit { range: self.range(at), text: new.to_owned() });
        if needs(right) && !same(right) {
            edits.push(insert(self.range(right).start, "("));
            edits.push(insert(whole.end, ")"));
        }
        if outer {
            edits.push(insert(whole.end, ")"));
        }
        edits
    }

    /// `A \subseteq B` to `B \subseteq A`.
    fn flip_subset(&mut self, id: Id, left: Id, right: Id) {
        let (old, new) = (self.text(left), self.text(right));
        if old.contains('\n') || new.contains('\n') {
            return;
        }
        let edits = vec![
            Edit { range: self.range(left), text: new.to_owned() },
            Edit { range: self.range(right), text: old.to_owned() },
        ];
        let what = format!("asks {} the other way round", self.quote(self.range(id)));
        self.add_draft(Operator::SetOperator, self.range(id).start, "flipped", what, edits);
    }

    /// `e + 1`: drops the 1, or doubles it.
    fn mutate_plus_one(&mut self, left: Id, right: Id) {
        let whole = self.range(left).start..self.range(right).end;
        let shown = self.quote(whole.clone());
        let gone = self.range(left).end..whole.end;
        let what = |end: &str| format!("is one off in {shown}: {end}");
        let assigned = self.parents[left].and_then(|sum| self.assignment_target(sum)) == Some(self.text(left));
        if !assigned {
            self.add_edit(Operator::OffByOne, self.range(right).start, "dropped", what("the 1 is gone"), gone, "");
        }
        self.add_edit(
            Operator::OffByOne,
            self.range(right).start,
            "doubled",
            what("2 stands there"),
            self.range(right),
            "2",
        );
    }

    /// Drops each conjunct; a conjunction of two also becomes a disjunction.
    pub(super) fn mutate_conjunction(&mut self, id: Id) {
        let Some(chain) = self.chain(id, Junction::And) else { return };
        let action = self.refers_to_next_state(id);
        if !action && chain.operands.len() > 1 {
            for index in 0..chain.operands.len() {
                self.drop_conjunct(&chain, index);
            }
        }
        if !action && chain.operands.len() == 2 {
            self.weaken_to_disjunction(id);
        }
        for operand in chain.operands {
            self.visit(operand.content);
        }
    }

    /// Drops one conjunct.
    pub(super) fn drop_conjunct(&mut self, chain: &super::chain::Chain, index: usize) {
        let edit = self.removal(chain, index, Junction::And);
        let content = self.range(chain.operands[index].content);
        let what = format!("no longer checks {}", self.quote(content.clone()));
        self.add_draft(Operator::DropGuard, content.start, "", what, vec![edit]);
    }

    fn weaken_to_disjunction(&mut self, id: Id) {
        if self.kind(id) != "conj_list" {
            return self.swap_symbol(id);
        }
        let bullets = self.children(id).into_iter().filter_map(|item| self.tree.children(item).next());
        let edits = bullets.map(|bullet| Edit { range: self.range(bullet), text: "\\/".to_owned() }).collect();
        let what = format!("uses `\\/` where `/\\` stood in {}", self.quote(self.range(id)));
        self.add_draft(Operator::Logical, self.range(id).start, "/\\ to \\/", what, edits);
    }
}
