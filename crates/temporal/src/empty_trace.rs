//! The value of future formulas on the empty trace, by De Giacomo and Vardi's semantics of finite traces.

use super::formula::{Binary, Formula, Node, Unary};

impl Node {
    /// The value on the empty trace, given those of the operands: there is no position, so `G N W R` hold and atoms,
    /// `F X U M` do not. Operators of the past and of lifelines count as false; callers refuse them before.
    pub(super) fn value_on_empty_trace(&self, operand: impl Fn(&Formula) -> bool) -> bool {
        match self {
            Self::True => true,
            Self::Not(a) => !operand(a),
            Self::And(all) => all.iter().all(operand),
            Self::Or(all) => all.iter().any(operand),
            Self::Unary(operator, _) => matches!(operator, Unary::Globally | Unary::WeakNext),
            Self::Binary(Binary::Implies, [a, b]) => !operand(a) || operand(b),
            Self::Binary(Binary::Iff, [a, b]) => operand(a) == operand(b),
            Self::Binary(operator, _) => matches!(operator, Binary::WeakUntil | Binary::Release),
            Self::False | Self::Atom(_) | Self::Causal(..) | Self::Seen(_) => false,
        }
    }
}
