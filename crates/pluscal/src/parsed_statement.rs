//! Statements as the author wrote them, before macros are expanded and labels added: each statement has its optional
//! label, and the branches of `if`, `either` and `while` are plain sequences.

use super::ast::{Assignment, Binding};
use super::expr::Expr;
use super::position::Position;
use super::source::{ParseResult, syntax_error};

/// Limit on the nesting of statements, so that recursive functions fit the stack. Each `elsif` and each variable of a
/// `with` counts as one level.
pub(super) const MAX_DEPTH: usize = 250;

#[derive(Debug, Clone)]
pub(super) struct ParsedStatement {
    pub position: Position,
    /// The position of the outermost macro call that it comes from.
    pub macro_position: Option<Position>,
    pub label: Option<String>,
    pub kind: ParsedKind,
}

#[derive(Debug, Clone)]
pub(super) enum ParsedKind {
    While {
        test: Expr,
        body: Vec<ParsedStatement>,
    },
    Assign(Vec<Assignment>),
    If {
        test: Expr,
        then: Vec<ParsedStatement>,
        otherwise: Vec<ParsedStatement>,
    },
    Either(Vec<Vec<ParsedStatement>>),
    With {
        variable: String,
        binding: Binding,
        value: Expr,
        body: Vec<ParsedStatement>,
    },
    When(Expr),
    Print(Expr),
    Assert(Expr),
    Skip,
    Call {
        procedure: String,
        arguments: Vec<Expr>,
    },
    /// `from` is the procedure that contains the statement; empty if there is none.
    Return {
        from: String,
    },
    CallReturn {
        from: String,
        procedure: String,
        arguments: Vec<Expr>,
    },
    CallGoto {
        procedure: String,
        arguments: Vec<Expr>,
        to: String,
    },
    Goto {
        to: String,
    },
    MacroCall {
        name: String,
        arguments: Vec<Expr>,
    },
}

impl ParsedStatement {
    pub(super) fn new(position: Position, kind: ParsedKind) -> Self {
        Self { position, macro_position: None, label: None, kind }
    }

    /// The sequences of statements inside.
    pub(super) fn nested(&self) -> Vec<&[Self]> {
        match &self.kind {
            ParsedKind::While { body, .. } | ParsedKind::With { body, .. } => vec![body],
            ParsedKind::If { then, otherwise, .. } => vec![then, otherwise],
            ParsedKind::Either(clauses) => clauses.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        }
    }
}

/// The nesting depth of statements: 0 for none, 1 if none contains another.
pub(super) fn nesting_depth(statements: &[ParsedStatement]) -> usize {
    let one = |statement: &ParsedStatement| 1 + statement.nested().into_iter().map(nesting_depth).max().unwrap_or(0);
    statements.iter().map(one).max().unwrap_or(0)
}

/// Rejects statements that are nested too deep.
pub(super) fn check_depth(depth: usize, position: Position) -> ParseResult<()> {
    if depth > MAX_DEPTH {
        return syntax_error(position, format!("statements are nested more than {MAX_DEPTH} deep"));
    }
    Ok(())
}
