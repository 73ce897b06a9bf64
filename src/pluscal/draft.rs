//! Statements as they are written, before macros are expanded and labels added: a label belongs to its statement, and
//! an `if`, `either` or `while` holds plain sequences.

use super::ast::{Assignment, Binding};
use super::expr::Expr;
use super::position::Position;
use super::source::{Parsing, fault};

/// How deep statements may be nested, `elsif` and every binding of a `with` counted.
pub(super) const MAX_DEPTH: usize = 250;

/// A statement.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub position: Position,
    /// The call of the macro that it came from: the outermost one.
    pub macro_position: Option<Position>,
    pub label: Option<String>,
    pub kind: DraftKind,
}

/// What a statement is.
#[derive(Debug, Clone)]
pub(super) enum DraftKind {
    While {
        test: Expr,
        body: Vec<Draft>,
    },
    Assign(Vec<Assignment>),
    If {
        test: Expr,
        then: Vec<Draft>,
        otherwise: Vec<Draft>,
    },
    Either(Vec<Vec<Draft>>),
    With {
        variable: String,
        binding: Binding,
        value: Expr,
        body: Vec<Draft>,
    },
    When(Expr),
    Print(Expr),
    Assert(Expr),
    Skip,
    Call {
        procedure: String,
        arguments: Vec<Expr>,
    },
    /// `from` is empty where the statement does not stand in a procedure.
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

impl Draft {
    pub(super) fn new(position: Position, kind: DraftKind) -> Self {
        Self { position, macro_position: None, label: None, kind }
    }

    /// The statements inside.
    pub(super) fn inside(&self) -> Vec<&[Self]> {
        match &self.kind {
            DraftKind::While { body, .. } | DraftKind::With { body, .. } => vec![body],
            DraftKind::If { then, otherwise, .. } => vec![then, otherwise],
            DraftKind::Either(clauses) => clauses.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        }
    }
}

/// How deep statements are nested: 0 for none, 1 for a statement that holds no other.
pub(super) fn height(statements: &[Draft]) -> usize {
    let one = |statement: &Draft| 1 + statement.inside().into_iter().map(height).max().unwrap_or(0);
    statements.iter().map(one).max().unwrap_or(0)
}

/// Refuses what is nested too deep.
pub(super) fn check_depth(depth: usize, position: Position) -> Parsing<()> {
    if depth > MAX_DEPTH {
        return fault(position, format!("statements are nested more than {MAX_DEPTH} deep"));
    }
    Ok(())
}
