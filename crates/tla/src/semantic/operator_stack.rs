//! Builds the tree of one expression from operands and operators by precedence.
//!
//! An operator stays on the stack until the next one shows which of them binds tighter. Two operators whose ranges
//! overlap, and that are not one left-associative operator, are a conflict: the author must write parentheses.

use super::operator::{APPLICATION, END, Fixity, Operator, as_prefix};
use super::parser::{Parsed, syntax_error, too_deep};
use super::tree::{Expr, Form, MAX_DEPTH, Name};

/// Beyond this depth a chain of `/\` or `\/` is one node with many operands.
const MAX_NESTED_CHAIN: u16 = 64;

enum Item {
    Operand(Expr),
    /// The operator, its offset, its end, and for an application its arguments.
    Operator(&'static Operator, usize, usize, Vec<Expr>),
}

#[derive(Default)]
pub(super) struct OperatorStack {
    items: Vec<Item>,
}

fn display_name(operator: &Operator) -> &str {
    match operator.name {
        "" => "the end of the expression",
        "[" => "[…]",
        name => name,
    }
}

impl OperatorStack {
    pub(super) fn push_operand(&mut self, operand: Expr) {
        self.items.push(Item::Operand(operand));
    }

    pub(super) fn push_operator(&mut self, operator: &'static Operator, offset: usize, end: usize) -> Parsed<()> {
        self.items.push(Item::Operator(operator, offset, end, Vec::new()));
        self.reduce_while_tighter()
    }

    /// `[a, b]` after an operand.
    pub(super) fn push_application(&mut self, arguments: Vec<Expr>, offset: usize, end: usize) -> Parsed<()> {
        self.items.push(Item::Operator(&APPLICATION, offset, end, arguments));
        self.reduce_while_tighter()
    }

    /// `.field` binds to the operand directly before it.
    pub(super) fn push_field(&mut self, name: Name, offset: usize, end: usize) -> Parsed<()> {
        if matches!(self.items.last(), Some(Item::Operator(operator, ..)) if operator.is_postfix()) {
            let last = self.items.len() - 1;
            self.reduce(last)?;
        }
        match self.items.pop() {
            Some(Item::Operand(record)) if record.depth >= MAX_DEPTH => too_deep(record.offset),
            Some(Item::Operand(record)) => {
                self.items.push(Item::Operand(Expr::new(Form::Field(Box::new(record), name), offset).ending(end)));
                Ok(())
            }
            _ => syntax_error(offset, "`.` follows an operator: a record must precede it".into()),
        }
    }

    /// Removes the last operand, if nothing follows it: `::` may follow a label.
    pub(super) fn take_operand(&mut self) -> Option<Expr> {
        match self.items.pop() {
            Some(Item::Operand(operand)) => Some(operand),
            Some(other) => {
                self.items.push(other);
                None
            }
            None => None,
        }
    }

    /// The operator on top of the stack.
    pub(super) fn top_operator(&self) -> Option<&'static Operator> {
        match self.items.last() {
            Some(Item::Operator(operator, ..)) => Some(operator),
            _ => None,
        }
    }

    pub(super) fn finish(mut self, offset: usize) -> Parsed<Expr> {
        self.items.push(Item::Operator(&END, offset, offset, Vec::new()));
        self.reduce_while_tighter()?;
        self.items.pop();
        match (self.items.pop(), self.items.is_empty()) {
            (Some(Item::Operand(whole)), true) => Ok(whole),
            _ => syntax_error(offset, "two expressions follow each other: an operator between them is missing".into()),
        }
    }

    fn operator_at(&self, index: usize) -> Option<(&'static Operator, usize)> {
        match self.items.get(index)? {
            Item::Operator(operator, offset, ..) => Some((operator, *offset)),
            Item::Operand(_) => None,
        }
    }

    /// Reduces as far as the operator on top allows.
    fn reduce_while_tighter(&mut self) -> Parsed<()> {
        loop {
            let top = self.items.len() - 1;
            let Some((right, offset)) = self.operator_at(top) else { return Ok(()) };
            if top == 0 {
                return if right.is_prefix() || as_prefix(right).is_some() {
                    Ok(())
                } else {
                    syntax_error(offset, format!("an operand is missing before {}", display_name(right)))
                };
            }
            if let Some((below, below_at)) = self.operator_at(top - 1) {
                if !below.is_postfix() {
                    return check_after_operator(below, below_at, right, offset);
                }
                if right.is_prefix() {
                    return syntax_error(
                        offset,
                        format!("{} follows {}: an operator is missing", display_name(right), display_name(below)),
                    );
                }
                self.reduce(top - 1)?;
                continue;
            }
            if right.is_prefix() {
                return syntax_error(
                    offset,
                    format!("{} follows an expression: an operator is missing", display_name(right)),
                );
            }
            if top == 1 {
                return Ok(());
            }
            let Some((mut before, before_at)) = self.operator_at(top - 2) else {
                return syntax_error(
                    offset,
                    "two expressions follow each other: an operator between them is missing".into(),
                );
            };
            let starts = top == 2 || self.operator_at(top - 3).is_some();
            if starts && !right.is_postfix() {
                before = as_prefix(before).unwrap_or(before);
            }
            // An operator that is its own neighbour needs no parentheses if it is associative to the left.
            let same = before.name == right.name && before.left && !right.is_postfix();
            if before.tighter(right) || same {
                if before.is_postfix() {
                    return syntax_error(
                        before_at,
                        format!("{} and {} cannot be combined", display_name(before), display_name(right)),
                    );
                }
                self.reduce(top - 2)?;
            } else if before.looser(right) {
                return Ok(());
            } else {
                return syntax_error(
                    offset,
                    format!(
                        "{} and {} have no order of precedence: write parentheses",
                        display_name(before),
                        display_name(right)
                    ),
                );
            }
        }
    }

    /// Applies the operator at this index to the operands next to it.
    fn reduce(&mut self, index: usize) -> Parsed<()> {
        let starts = index == 0 || matches!(self.items.get(index - 1), Some(Item::Operator(..)));
        let Item::Operator(operator, offset, end, arguments) = self.items.remove(index) else { return Ok(()) };
        let mut operands = Vec::new();
        let first = if operator.is_postfix() || !starts { index - 1 } else { index };
        let count = if operator.is_postfix() || starts { 1 } else { 2 };
        for item in self.items.drain(first..first + count) {
            if let Item::Operand(operand) = item {
                operands.push(operand);
            }
        }
        let end = operands.last().map_or(end, |last| last.end.max(end));
        let whole = apply_operator(operator, starts, offset, operands, arguments).ending(end);
        if whole.depth > MAX_DEPTH {
            return too_deep(whole.offset);
        }
        self.items.insert(first, Item::Operand(whole));
        Ok(())
    }
}

/// The tree of an operator and its operands. A chain of `\X` is one product.
fn apply_operator(
    operator: &'static Operator,
    starts: bool,
    offset: usize,
    mut operands: Vec<Expr>,
    arguments: Vec<Expr>,
) -> Expr {
    let from = operands.first().map_or(offset, |operand| operand.offset);
    if starts {
        return Expr::new(Form::Apply(as_prefix(operator).unwrap_or(operator), operands), offset);
    }
    if operator == &APPLICATION
        && let Some(function) = operands.pop()
    {
        return Expr::new(Form::Application(Box::new(function), arguments), from);
    }
    if operator.fixity == Fixity::Product
        && let Some(Expr { form: Form::Product(factors), .. }) = operands.first_mut()
    {
        let mut factors = std::mem::take(factors);
        let depth = operands.iter().map(|operand| operand.depth).max().unwrap_or(0);
        let last = operands.pop();
        let depth = depth.max(last.as_ref().map_or(0, |last| last.depth.saturating_add(1)));
        factors.extend(last);
        return Expr { form: Form::Product(factors), offset: from, end: from, depth };
    }
    if operator.fixity == Fixity::Product {
        return Expr::new(Form::Product(operands), from);
    }
    // A long chain of alternatives (the labels of an algorithm, say) must not exceed the nesting limit.
    if matches!(operator.name, "/\\" | "\\/")
        && let [Expr { form: Form::Apply(before, chain), depth, .. }, _] = &mut operands[..]
        && *before == operator
        && *depth > MAX_NESTED_CHAIN
    {
        let (mut chain, depth) = (std::mem::take(chain), *depth);
        let last = operands.pop();
        let depth = depth.max(last.as_ref().map_or(0, |last| last.depth.saturating_add(1)));
        chain.extend(last);
        // The chain's depth so far is known. Computing it again for each operand would take quadratic time.
        return Expr { form: Form::Apply(operator, chain), offset: from, end: from, depth };
    }
    Expr::new(Form::Apply(operator, operands), from)
}

/// Checks an operator directly after a prefix or infix operator.
fn check_after_operator(below: &Operator, below_at: usize, right: &'static Operator, offset: usize) -> Parsed<()> {
    if right.is_prefix() {
        return Ok(());
    }
    match as_prefix(right) {
        Some(prefix) if !right.is_postfix() => {
            if below.tighter(prefix) {
                syntax_error(
                    offset,
                    format!("{} and unary - have no order of precedence: write parentheses", display_name(below)),
                )
            } else {
                Ok(())
            }
        }
        _ if right == &END => syntax_error(below_at, format!("an operand is missing after {}", display_name(below))),
        _ => syntax_error(
            offset,
            format!("{} follows {}: an operand is missing", display_name(right), display_name(below)),
        ),
    }
}
