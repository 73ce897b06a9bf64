//! Replaces infix operators by others, and adds parentheses if precedence requires them.

use super::super::Edit;
use super::super::Operator;
use super::chain::Junction;
use super::tree_mutator::TreeMutator;
use tlaforge_tla::semantic::find_operator;
use tlaforge_tla::{Field, Id, NodeKind};

/// A replacement: the mutation operator and the new symbol.
type Swap = (Operator, &'static str);

/// The replacements for a symbol: the neighbouring boundary before the opposite.
fn swaps(symbol: &str) -> &'static [Swap] {
    use Operator::{Arithmetic, Logical, Relational, SetOperator};
    match symbol {
        "<" => &[(Relational, "<="), (Relational, ">")],
        "\\leq" => &[(Relational, "<"), (Relational, ">=")],
        ">" => &[(Relational, ">="), (Relational, "<")],
        "\\geq" => &[(Relational, ">"), (Relational, "<=")],
        "=" => &[(Relational, "#")],
        "/=" => &[(Relational, "=")],
        "+" => &[(Arithmetic, "-")],
        "-" => &[(Arithmetic, "+")],
        "*" => &[(Arithmetic, "+")],
        "\\div" => &[(Arithmetic, "*")],
        "\\cup" => &[(SetOperator, "\\cap"), (SetOperator, "\\")],
        "\\cap" => &[(SetOperator, "\\cup")],
        "\\" => &[(SetOperator, "\\cup")],
        "\\in" => &[(SetOperator, "\\notin")],
        "\\notin" => &[(SetOperator, "\\in")],
        "/\\" => &[(Logical, "\\/")],
        "\\/" => &[(Logical, "/\\")],
        "=>" => &[(Logical, "/\\")],
        _ => &[],
    }
}

/// The symbol of the negated comparison.
pub(super) fn opposite_symbol(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "<" => ">=",
        "\\leq" => ">",
        ">" => "<=",
        "\\geq" => "<",
        "=" => "#",
        "/=" => "=",
        "\\in" => "\\notin",
        "\\notin" => "\\in",
        _ => return None,
    })
}

impl TreeMutator<'_> {
    /// Visits an infix operator and its operands.
    pub(super) fn visit_infix(&mut self, id: Id) {
        let Some((left, right)) = self.operands(id) else { return };
        let symbol = self.symbol(id);
        // `x' = e` assigns x. With another symbol, x would have no value that TLC can compute.
        if self.kind(left) == NodeKind::Postfix && matches!(symbol, "=" | "\\in") && self.symbol(left) == "'" {
            return self.visit(right);
        }
        match symbol {
            "/\\" => return self.mutate_conjunction(id),
            "\\/" => {
                self.swap_symbol(id);
                self.visit(left);
                return self.visit(right);
            }
            "\\subseteq" => self.flip_subset(id, left, right),
            ".." => self.mutate_interval(id, Operator::OffByOne, Operator::OffByOne),
            _ => self.swap_symbol(id),
        }
        let one = matches!(symbol, "+" | "-") && self.text(right) == "1";
        if one {
            self.mutate_plus_one(left, right);
        } else {
            self.visit(right);
        }
        self.visit(left);
    }

    /// Replaces the symbol by each of its alternatives.
    pub(super) fn swap_symbol(&mut self, id: Id) {
        let Some(at) = self.tree.field(id, Field::Symbol) else { return };
        if self.refers_to_next_state(id) {
            return;
        }
        let old = self.text(at);
        // In a guard, the negated comparison is already a mutant of `negate-guard`.
        let most = if self.negated.contains(&id) { 1 } else { usize::MAX };
        for &(operator, new) in swaps(self.symbol(id)).iter().take(most) {
            let edits = self.replace_symbol(id, at, new);
            let what = format!("uses `{new}` where `{old}` stood in {}", self.quote(self.range(id)));
            self.add_draft(operator, self.range(at).start, &format!("{old} to {new}"), what, edits);
        }
    }

    fn replace_symbol(&self, id: Id, at: Id, new: &str) -> Vec<Edit> {
        let insert = |at: usize, text: &str| Edit { range: at..at, text: text.to_owned() };
        let Some(operator) = find_operator(new) else { return Vec::new() };
        let whole = self.range(id);
        let outer = self.parents[id].is_some_and(|parent| match self.tree.applied_operator(parent) {
            Some(around) if !around.is_postfix() => operator.low <= around.high,
            Some(_) => true,
            None => matches!(self.kind(parent), NodeKind::FunctionApplication | NodeKind::FieldAccess),
        });
        let needs = |side: Id| {
            self.tree.applied_operator(side).is_some_and(|inner| !inner.is_postfix() && inner.low <= operator.high)
        };
        let mut edits = Vec::new();
        if outer {
            edits.push(insert(whole.start, "("));
        }
        let Some((left, right)) = self.operands(id) else { return edits };
        // A chain of one associative operator needs no parentheses.
        let associative = matches!(operator.name, "/\\" | "\\/" | "\\cup" | "\\cap" | "+" | "*");
        let same = |side: Id| associative && self.symbol(side) == operator.name;
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
        // A list over several lines would lose its alignment at another column.
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
        // `x := x` is already a mutant of `drop-statement`.
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

    pub(super) fn drop_conjunct(&mut self, chain: &super::chain::Chain, index: usize) {
        let edit = self.removal(chain, index, Junction::And);
        let content = self.range(chain.operands[index].content);
        let what = format!("no longer checks {}", self.quote(content.clone()));
        self.add_draft(Operator::DropGuard, content.start, "", what, vec![edit]);
    }

    fn weaken_to_disjunction(&mut self, id: Id) {
        if self.kind(id) != NodeKind::ConjunctionList {
            return self.swap_symbol(id);
        }
        let bullets = self.children(id).into_iter().filter_map(|item| self.tree.children(item).next());
        let edits = bullets.map(|bullet| Edit { range: self.range(bullet), text: "\\/".to_owned() }).collect();
        let what = format!("uses `\\/` where `/\\` stood in {}", self.quote(self.range(id)));
        self.add_draft(Operator::Logical, self.range(id).start, "/\\ to \\/", what, edits);
    }
}
