//! Bounded operators, expressed by nested `X`.

use super::formula::{Formula, Formulas, Unary};
use super::parse::MAX_DEPTH;

/// A bound out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BoundError {
    /// The bound is 0: `F` within no further step would be the operand itself.
    #[error("bound must be at least 1")]
    Zero,
    /// The formula would nest deeper than [`MAX_DEPTH`].
    #[error("bound must be at most {MAX_DEPTH}")]
    TooLarge,
}

impl Formulas {
    /// `a` now or at one of the next `steps` positions, from 1 to [`MAX_DEPTH`] - 1: `a | X (a | X a)` for 2.
    ///
    /// # Errors
    /// A bound out of range.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{BoundError, Formulas};
    ///
    /// let mut formulas = Formulas::new();
    /// let answer = formulas.name("answer");
    /// let soon = formulas.finally_within(answer, 2)?;
    /// assert_eq!(formulas.text(soon), "answer | X (answer | X answer)");
    /// assert_eq!(formulas.finally_within(answer, 0), Err(BoundError::Zero));
    /// # Ok::<(), BoundError>(())
    /// ```
    pub fn finally_within(&mut self, a: Formula, steps: usize) -> Result<Formula, BoundError> {
        match steps {
            0 => return Err(BoundError::Zero),
            _ if steps >= MAX_DEPTH => return Err(BoundError::TooLarge),
            _ => {}
        }
        Ok((0..steps).fold(a, |within, _| {
            let later = self.unary(Unary::Next, within);
            self.or([a, later])
        }))
    }
}
