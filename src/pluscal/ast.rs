//! The algorithm as it stands after parsing: macros expanded, missing labels added, statements in steps.
//!
//! The shape is that of the grammar in the PlusCal manuals; `LabelIf` and `LabelEither` are the `if` and `either` with
//! a label or a jump inside, which the translation breaks into steps of their own.

use super::expr::Expr;
use super::position::Position;

/// An algorithm.
#[derive(Debug, Clone)]
pub(super) struct Algorithm {
    pub name: String,
    /// `fair algorithm`: weak fairness of the whole next-state action (of each process where there are some).
    pub fair: bool,
    /// Global variables.
    pub variables: Vec<Variable>,
    /// The text of `define`.
    pub define: Option<Expr>,
    pub procedures: Vec<Procedure>,
    pub body: Body,
    /// A `goto` occurs, or one to `Done` (for a `goto` after a `call` the reference compares the procedure's name).
    pub has_goto: bool,
    pub has_goto_done: bool,
    /// A variable, parameter or local variable is declared without a value, so that `defaultInitValue` is needed.
    pub has_default_value: bool,
    /// `pc` may not be left out whatever the bodies look like: a label has a `+` or `-`, or the module asks for a
    /// version before 1.5.
    pub keeps_pc: bool,
    /// The module asks for a version before 1.5: a uniprocess algorithm counts as one that ends, even if it is
    /// `while TRUE`.
    pub is_before_1_5: bool,
}

/// What an algorithm does.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// A uniprocess algorithm.
    Single(Vec<Step>),
    /// Processes, in order.
    Processes(Vec<Process>),
}

/// `x = e` or `x \in e`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Equals,
    In,
}

/// A declared variable.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: String,
    pub position: Position,
    pub binding: Binding,
    /// `None` where no value is given.
    pub value: Option<Expr>,
}

/// The fairness of a process: what stands before it, otherwise what the option `-wf` or `-sf` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fairness {
    Unfair,
    Weak,
    Strong,
}

/// A process or a set of them.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub name: String,
    pub position: Position,
    pub fairness: Fairness,
    pub binding: Binding,
    /// Its identifier, or the set of them.
    pub id: Expr,
    pub variables: Vec<Variable>,
    pub body: Vec<Step>,
    /// Labels written `l:-` and `l:+`.
    pub minus_labels: Vec<String>,
    pub plus_labels: Vec<String>,
    /// Names of the procedures that it calls itself, not by way of a macro.
    pub calls: Vec<String>,
}

/// A procedure. To the last one of a uniprocess algorithm the labels with `-` and `+` and the calls of the algorithm's
/// own body are counted too, as the reference does.
#[derive(Debug, Clone)]
pub(super) struct Procedure {
    pub name: String,
    pub position: Position,
    pub parameters: Vec<Variable>,
    pub variables: Vec<Variable>,
    pub body: Vec<Step>,
    pub minus_labels: Vec<String>,
    pub plus_labels: Vec<String>,
    pub calls: Vec<String>,
}

/// A label with all that is done in its atomic step, up to the next label.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub label: String,
    pub position: Position,
    pub statements: Vec<Statement>,
}

/// A statement with its place. `macro_at` is the call of the macro that it came from.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub position: Position,
    pub macro_position: Option<Position>,
    pub kind: Kind,
}

/// One assignment of a multiple assignment.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub position: Position,
    pub variable: String,
    /// What follows the variable on the left: `[i].x`. Empty for a plain variable.
    pub subscript: Expr,
    pub value: Expr,
}

/// A branch with labels inside: what is done before the first label, then the labelled steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Branch {
    pub unlabeled: Vec<Statement>,
    pub labeled: Vec<Step>,
}

/// The statements.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    While {
        test: Expr,
        body: Branch,
    },
    /// `x := e || y := f`.
    Assign(Vec<Assignment>),
    /// No label is inside. A call, return or goto may end it where nothing follows it in its step.
    If {
        test: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// An `if` with a label inside.
    LabelIf {
        test: Expr,
        then: Branch,
        otherwise: Branch,
    },
    Either(Vec<Vec<Statement>>),
    LabelEither(Vec<Branch>),
    With {
        variable: String,
        binding: Binding,
        value: Expr,
        body: Vec<Statement>,
    },
    When(Expr),
    Print(Expr),
    Assert(Expr),
    Skip,
    Call {
        procedure: String,
        arguments: Vec<Expr>,
    },
    /// `from` is the procedure that the statement stands in; empty where it was written in a macro or stands in none.
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
}
