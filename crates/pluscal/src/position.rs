//! Positions in the text of a module.

/// A position in the text. Line and column count from 1; both are 0 for text that the translator made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub line: usize,
    pub column: usize,
}
