//! The error of the lexer and the parser: what is wrong with the text of a formula, and where.

use std::fmt;
use std::ops::Range;

/// An error in the text of a formula, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Byte range of the wrong part of the text, to be underlined; empty where something is missing, such as at the end.
    pub span: Range<usize>,
    /// Number of the line on which the span begins, from 1.
    pub line: usize,
    /// Column in characters at which the span begins, from 1.
    pub column: usize,
    /// The problem, as a lower-case fragment.
    pub message: String,
    /// A suggestion what to write instead, if there is one.
    pub hint: Option<String>,
}

impl ParseError {
    pub(super) fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let before = &text[..span.start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Self {
            span,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            1 => write!(f, "column {}: {}", self.column, self.message)?,
            line => write!(f, "line {line}, column {}: {}", self.column, self.message)?,
        }
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}
