//! How large an automaton may grow, and the error if it grows larger.

use super::super::readings::UnsupportedError;

/// Why an automaton cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AutomatonError {
    /// The formula contains an operator or atom that automata do not support.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedError),
    /// The automaton, or a decision diagram it is built from, exceeds a limit.
    #[error("the automaton exceeds the limit of {limit} {what} (reached {reached}): split the formula into parts")]
    TooLarge {
        /// The resource: states, nodes, steps, atoms.
        what: &'static str,
        /// The amount at which construction stopped.
        reached: usize,
        /// The limit from [`Limits`], or the maximum number of diagram levels.
        limit: usize,
    },
}

/// Limits for the construction of an automaton. A formula of length `n` can need an automaton of `2^2^n` states (De Giacomo
/// and Vardi 2013), so construction stops with [`AutomatonError::TooLarge`] instead.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{AutomatonError, Dfa, Formulas, Limits};
///
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("F a & F b & F c")?;
/// let small = Limits { states: 4, ..Limits::default() };
/// assert!(matches!(Dfa::build(&formulas, rule, small), Err(AutomatonError::TooLarge { limit: 4, .. })));
/// assert!(Dfa::build(&formulas, rule, Limits::default()).is_ok());
/// # Ok::<(), tlaforge_temporal::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of states, before and after minimization.
    pub states: usize,
    /// Maximum number of nodes of the decision diagrams. The number of diagram operations is limited to 64 times this.
    pub nodes: usize,
}

impl Default for Limits {
    /// 100,000 states and 4,000,000 nodes: at worst about 200 MB and a minute.
    fn default() -> Self {
        Self { states: 100_000, nodes: 4_000_000 }
    }
}

/// Maximum number of diagram levels. Diagram operations recurse once per level, so this bounds the call stack.
pub(super) const MAX_LEVELS: usize = 1_000;

pub(super) fn check_limit(what: &'static str, reached: usize, limit: usize) -> Result<(), AutomatonError> {
    if reached > limit { Err(AutomatonError::TooLarge { what, reached, limit }) } else { Ok(()) }
}
