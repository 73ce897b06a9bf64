//! Bounded operators, made of `X`.

use super::formula::{Formula, Formulas, Unary};
use super::parse::MAX_DEPTH;

/// A bound that makes no formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadBound {
    /// Within no further step there is nothing to wait for.
    #[error("bound must be at least 1")]
    Zero,
    /// The formula would nest too deep.
    #[error("bound must be at most {MAX_DEPTH}")]
    TooLarge,
}

impl Formulas {
    /// `a`, now or at one of the next `steps` steps: `a | X (a | X a)` for 2.
    pub fn finally_within(&mut self, a: Formula, steps: usize) -> Result<Formula, BadBound> {
        match steps {
            0 => return Err(BadBound::Zero),
            _ if steps >= MAX_DEPTH => return Err(BadBound::TooLarge),
            _ => {}
        }
        Ok((0..steps).fold(a, |within, _| {
            let later = self.unary(Unary::Next, within);
            self.or([a, later])
        }))
    }
}
