//! How large an automaton may grow, and the error if it grows larger.

use super::super::readings::UnsupportedError;

/// Why there is no automaton.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AutomatonError {
    /// The formula uses an operator or atom that automata do not read.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedError),
    /// The automaton, or what it is made from, grows beyond a limit.
    #[error(
        "the automaton grows beyond {limit} {what} (reached {reached}), which is the most that is built: split the formula into parts"
    )]
    TooLarge {
        /// What there are too many of: states, nodes, steps, variables.
        what: &'static str,
        /// How many there were when the work was stopped.
        reached: usize,
        /// How many are allowed.
        limit: usize,
    },
}

/// How large an automaton may grow while it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// States, before minimisation too.
    pub states: usize,
    /// Nodes of the decision diagrams; the work done is limited to 64 steps a node.
    pub nodes: usize,
}

impl Default for Limits {
    /// 100,000 states and 4,000,000 nodes: about 200 MB and a minute at the worst.
    fn default() -> Self {
        Self { states: 100_000, nodes: 4_000_000 }
    }
}

/// Recursion goes once through all levels, so their number is limited whatever the other limits are.
pub(super) const MAX_LEVELS: usize = 1_000;

pub(super) fn check_limit(what: &'static str, reached: usize, limit: usize) -> Result<(), AutomatonError> {
    if reached > limit { Err(AutomatonError::TooLarge { what, reached, limit }) } else { Ok(()) }
}
