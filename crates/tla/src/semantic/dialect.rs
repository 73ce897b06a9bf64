//! How `tla-mc` 0.2.2 parses operators, where that differs from TLA+: each has one binding power instead of a range,
//! and `\X` joins a product in parentheses. It refuses operators that it does not know. Source: its `parser.rs`, which
//! `tests/dialect.rs` compares for each pair of operators.

use super::operator::{Fixity, Operator};
use super::tree::{Expr, Form};

/// The binding power of an infix operator, and whether a chain of it groups to the right.
fn infix_power(operator: &Operator) -> Option<(u8, bool)> {
    Some(match operator.name {
        "=>" => (1, true),
        "<=>" | "~>" => (2, false),
        "/\\" | "\\/" => (3, false),
        "=" | "/=" | "<" | ">" | "\\leq" | "\\geq" | "\\in" | "\\notin" | "\\subseteq" | "\\subset" | "\\supseteq"
        | "\\prec" | "\\preceq" | "\\succ" | "\\succeq" | "\\ll" | "\\gg" | "\\sqsubset" | "\\sqsubseteq"
        | "\\sqsupset" | "\\sqsupseteq" | "\\sim" | "\\simeq" | "\\approx" | "\\cong" | "\\doteq" => (5, false),
        "@@" => (6, false),
        ":>" => (7, false),
        "\\cup" | "\\cap" | "\\" => (8, false),
        ".." | "##" | "$$" | "\\uplus" | "\\sqcap" | "\\sqcup" => (9, false),
        "+" | "-" | "\\times" | "++" | "\\oplus" | "%%" => (10, false),
        "\\ominus" => (11, false),
        "*" | "\\div" | "%" | "\\o" | "&" | "&&" | "**" | "//" | "\\otimes" | "\\odot" | "\\oslash" | "\\star"
        | "\\bullet" => (13, false),
        "^" => (14, true),
        "^^" => (14, false),
        _ => return None,
    })
}

/// The minimum binding power of a prefix operator's operand.
fn prefix_power(operator: &Operator) -> Option<u8> {
    Some(match operator.name {
        "~" | "[]" | "<>" | "ENABLED" => 4,
        "SUBSET" | "UNION" => 9,
        "DOMAIN" => 10,
        "-." => 12,
        "UNCHANGED" => 15,
        _ => return None,
    })
}

/// Whether the checker knows this infix or prefix operator.
pub(super) fn is_known(operator: &Operator) -> bool {
    if operator.is_prefix() { prefix_power(operator).is_some() } else { infix_power(operator).is_some() }
}

/// Prefix, infix or product: an expression that may need parentheses.
pub(super) fn is_operation(expression: &Expr) -> bool {
    match &expression.form {
        Form::Apply(operator, _) => !operator.is_postfix(),
        Form::Product(_) => true,
        _ => false,
    }
}

/// Whether the checker would parse the operators of this expression into another tree, or fail to.
pub(super) fn parses_differently(expression: &Expr) -> bool {
    let mut items = Vec::new();
    let expected = build_shape(expression, &mut items);
    let mut reader = Reader { items, position: 0 };
    let parsed = reader.expression(0);
    parsed != Some(expected) || reader.position != reader.items.len()
}

enum Item {
    Prefix(&'static Operator),
    Infix(&'static Operator),
    /// Anything else, by its offset.
    Operand(usize),
}

/// The tree of an expression's operators. A chain to the left is one node.
#[derive(Debug, PartialEq)]
enum Shape {
    Operand(usize),
    Prefix(&'static str, Box<Shape>),
    Infix(&'static str, Vec<Shape>),
}

fn join(operator: &'static Operator, left: Shape, right: Shape) -> Shape {
    match left {
        Shape::Infix(name, mut operands) if name == operator.name => {
            operands.push(right);
            Shape::Infix(name, operands)
        }
        left => Shape::Infix(operator.name, vec![left, right]),
    }
}

/// Our tree of the expression; `items` gets what is written.
fn build_shape(expression: &Expr, items: &mut Vec<Item>) -> Shape {
    match &expression.form {
        Form::Apply(operator, operands) if operator.is_prefix() && operands.len() == 1 => {
            items.push(Item::Prefix(operator));
            Shape::Prefix(operator.name, Box::new(build_shape(&operands[0], items)))
        }
        Form::Apply(operator, operands) if operator.is_infix() => build_chain(operator, operands, items),
        Form::Product(factors) => build_chain(&PRODUCT, factors, items),
        _ => {
            items.push(Item::Operand(expression.offset));
            Shape::Operand(expression.offset)
        }
    }
}

const PRODUCT: Operator = Operator { name: "\\times", fixity: Fixity::Product, low: 10, high: 13, left: true };

fn build_chain(operator: &'static Operator, operands: &[Expr], items: &mut Vec<Item>) -> Shape {
    let mut operands = operands.iter();
    let mut whole = operands.next().map_or(Shape::Operand(0), |first| build_shape(first, items));
    for operand in operands {
        items.push(Item::Infix(operator));
        whole = join(operator, whole, build_shape(operand, items));
    }
    whole
}

struct Reader {
    items: Vec<Item>,
    position: usize,
}

impl Reader {
    fn expression(&mut self, least: u8) -> Option<Shape> {
        let first = self.items.get(self.position)?;
        self.position += 1;
        let mut whole = match first {
            Item::Operand(offset) => Shape::Operand(*offset),
            Item::Prefix(operator) => {
                let operator = *operator;
                Shape::Prefix(operator.name, Box::new(self.expression(prefix_power(operator)?)?))
            }
            Item::Infix(_) => return None,
        };
        while let Some(Item::Infix(operator)) = self.items.get(self.position) {
            let operator = *operator;
            let (power, right) = infix_power(operator)?;
            if power < least {
                break;
            }
            self.position += 1;
            let operand = self.expression(if right { power } else { power + 1 })?;
            whole = join(operator, whole, operand);
        }
        Some(whole)
    }
}
