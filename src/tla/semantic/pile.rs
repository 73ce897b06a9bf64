//! Operands and operators of one expression, put together by precedence.
//!
//! An operator waits until what stands behind it shows that it binds tighter. Two operators whose ranges overlap, and
//! that are not one left-associative operator, are a conflict: the reader must say with parentheses what is meant.

use super::operator::{APPLICATION, END, Fixity, Operator, as_prefix};
use super::parser::{Parsed, too_deep, wrong};
use super::tree::{Expr, Form, MAX_DEPTH};

/// Beyond this a chain of `/\\` or `\\/` is one node with many operands.
const LONGEST_CHAIN: u16 = 64;

enum Item {
    Operand(Expr),
    /// The operator, where it stands, where it ends, and for an application its arguments.
    Operator(&'static Operator, usize, usize, Vec<Expr>),
}

#[derive(Default)]
pub(super) struct Pile {
    items: Vec<Item>,
}

fn spelled(operator: &Operator) -> &str {
    match operator.name {
        "" => "the end of the expression",
        "[" => "[…]",
        name => name,
    }
}

impl Pile {
    pub(super) fn operand(&mut self, operand: Expr) {
        self.items.push(Item::Operand(operand));
    }

    pub(super) fn operator(&mut self, operator: &'static Operator, at: usize, end: usize) -> Parsed<()> {
        self.items.push(Item::Operator(operator, at, end, Vec::new()));
        self.settle()
    }

    /// `[a, b]` behind an operand.
    pub(super) fn application(&mut self, arguments: Vec<Expr>, at: usize, end: usize) -> Parsed<()> {
        self.items.push(Item::Operator(&APPLICATION, at, end, arguments));
        self.settle()
    }

    /// `.field` binds to the operand directly before it.
    pub(super) fn field(&mut self, at: usize, end: usize) -> Parsed<()> {
        if matches!(self.items.last(), Some(Item::Operator(operator, ..)) if operator.is_postfix()) {
            let last = self.items.len() - 1;
            self.reduce(last)?;
        }
        match self.items.pop() {
            Some(Item::Operand(record)) if record.depth >= MAX_DEPTH => too_deep(record.at),
            Some(Item::Operand(record)) => {
                self.items.push(Item::Operand(Expr::new(Form::Field(Box::new(record)), at).ending(end)));
                Ok(())
            }
            _ => wrong(at, "`.` follows an operator: a record stands before it".into()),
        }
    }

    /// The last operand, if nothing stands behind it: what `::` may follow.
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

    /// The operator that waits on top.
    pub(super) fn waiting(&self) -> Option<&'static Operator> {
        match self.items.last() {
            Some(Item::Operator(operator, ..)) => Some(operator),
            _ => None,
        }
    }

    /// The whole expression.
    pub(super) fn finish(mut self, at: usize) -> Parsed<Expr> {
        self.items.push(Item::Operator(&END, at, at, Vec::new()));
        self.settle()?;
        self.items.pop();
        match (self.items.pop(), self.items.is_empty()) {
            (Some(Item::Operand(whole)), true) => Ok(whole),
            _ => wrong(at, "two expressions stand side by side: an operator between them is missing".into()),
        }
    }

    fn operator_at(&self, index: usize) -> Option<(&'static Operator, usize)> {
        match self.items.get(index)? {
            Item::Operator(operator, at, ..) => Some((operator, *at)),
            Item::Operand(_) => None,
        }
    }

    /// Reduces what the operator on top allows.
    fn settle(&mut self) -> Parsed<()> {
        loop {
            let top = self.items.len() - 1;
            let Some((right, at)) = self.operator_at(top) else { return Ok(()) };
            if top == 0 {
                return if right.is_prefix() || as_prefix(right).is_some() {
                    Ok(())
                } else {
                    wrong(at, format!("an operand is missing before {}", spelled(right)))
                };
            }
            if let Some((below, below_at)) = self.operator_at(top - 1) {
                if !below.is_postfix() {
                    return behind_operator(below, below_at, right, at);
                }
                if right.is_prefix() {
                    return wrong(at, format!("{} follows {}: an operator is missing", spelled(right), spelled(below)));
                }
                self.reduce(top - 1)?;
                continue;
            }
            if right.is_prefix() {
                return wrong(at, format!("{} follows an expression: an operator is missing", spelled(right)));
            }
            if top == 1 {
                return Ok(());
            }
            let Some((mut before, before_at)) = self.operator_at(top - 2) else {
                return wrong(at, "two expressions stand side by side: an operator between them is missing".into());
            };
            let starts = top == 2 || self.operator_at(top - 3).is_some();
            if starts && !right.is_postfix() {
                before = as_prefix(before).unwrap_or(before);
            }
            let same = before.name == right.name && before.left && !right.is_postfix();
            if before.tighter(right) || same {
                if before.is_postfix() {
                    return wrong(before_at, format!("{} and {} cannot be combined", spelled(before), spelled(right)));
                }
                self.reduce(top - 2)?;
            } else if before.looser(right) {
                return Ok(());
            } else {
                return wrong(
                    at,
                    format!(
                        "{} and {} have no order of precedence: write parentheses",
                        spelled(before),
                        spelled(right)
                    ),
                );
            }
        }
    }

    /// Applies the operator at this index to the operands around it.
    fn reduce(&mut self, index: usize) -> Parsed<()> {
        let starts = index == 0 || matches!(self.items.get(index - 1), Some(Item::Operator(..)));
        let Item::Operator(operator, at, end, arguments) = self.items.remove(index) else { return Ok(()) };
        let mut operands = Vec::new();
        let first = if operator.is_postfix() || !starts { index - 1 } else { index };
        let count = if operator.is_postfix() || starts { 1 } else { 2 };
        for item in self.items.drain(first..first + count) {
            if let Item::Operand(operand) = item {
                operands.push(operand);
            }
        }
        let end = operands.last().map_or(end, |last| last.end.max(end));
        let whole = applied(operator, starts, at, operands, arguments).ending(end);
        if whole.depth > MAX_DEPTH {
            return too_deep(whole.at);
        }
        self.items.insert(first, Item::Operand(whole));
        Ok(())
    }
}

/// One product of `a \X b \X c`; the function and its arguments; one or two operands of any other operator.
fn applied(
    operator: &'static Operator,
    starts: bool,
    at: usize,
    mut operands: Vec<Expr>,
    arguments: Vec<Expr>,
) -> Expr {
    let from = operands.first().map_or(at, |operand| operand.at);
    if starts {
        return Expr::new(Form::Apply(as_prefix(operator).unwrap_or(operator), operands), at);
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
        return Expr { form: Form::Product(factors), at: from, end: from, depth };
    }
    if operator.fixity == Fixity::Product {
        return Expr::new(Form::Product(operands), from);
    }
    // A long chain of alternatives (labels of an algorithm, say) nests no deeper than a short one.
    if matches!(operator.name, "/\\" | "\\/")
        && let [Expr { form: Form::Apply(before, chain), depth, .. }, _] = &mut operands[..]
        && *before == operator
        && *depth > LONGEST_CHAIN
    {
        let (mut chain, depth) = (std::mem::take(chain), *depth);
        let last = operands.pop();
        let depth = depth.max(last.as_ref().map_or(0, |last| last.depth.saturating_add(1)));
        chain.extend(last);
        // The depth of the chain so far is known: computed anew for each operand, a long chain would take quadratic time.
        return Expr { form: Form::Apply(operator, chain), at: from, end: from, depth };
    }
    Expr::new(Form::Apply(operator, operands), from)
}

/// An operator directly behind a prefix or infix operator.
fn behind_operator(below: &Operator, below_at: usize, right: &'static Operator, at: usize) -> Parsed<()> {
    if right.is_prefix() {
        return Ok(());
    }
    match as_prefix(right) {
        Some(prefix) if !right.is_postfix() => {
            if below.tighter(prefix) {
                wrong(at, format!("{} and unary - have no order of precedence: write parentheses", spelled(below)))
            } else {
                Ok(())
            }
        }
        _ if right == &END => wrong(below_at, format!("an operand is missing behind {}", spelled(below))),
        _ => wrong(at, format!("{} follows {}: an operand is missing", spelled(right), spelled(below))),
    }
}
