//! What the translator reports about an algorithm that it cannot translate.

use std::fmt;

/// A problem of an algorithm and its position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Line in the text that [`translate`](crate::translate) was given, from 1; 0 if the position is unknown.
    pub line: usize,
    /// Column in characters, from 1, where a tab reaches to the next multiple of 8; 0 if the position is unknown.
    pub column: usize,
    /// The problem in words: a lower-case sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.message)
        } else {
            write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
        }
    }
}

impl std::error::Error for Diagnostic {}
