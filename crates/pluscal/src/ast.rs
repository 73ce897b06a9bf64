//! The algorithm after parsing: macros are expanded, missing labels added, and statements grouped into steps.
//!
//! The structure follows the grammar in the PlusCal manuals and the class `pcal.AST` of the reference. `LabelIf` and
//! `LabelEither` are the `if` and `either` with a label inside, which the translation splits into several actions.

use super::expr::Expr;
use super::position::Position;

#[derive(Debug, Clone)]
pub(super) struct Algorithm {
    pub name: String,
    /// `--fair algorithm`: weak fairness of the whole next-state action.
    pub fair: bool,
    pub variables: Vec<Variable>,
    /// The content of the `define` block.
    pub define: Option<Expr>,
    pub procedures: Vec<Procedure>,
    pub body: Body,
    pub has_goto: bool,
    /// There is a `goto Done`. For a `goto` after a `call`, the reference compares the procedure's name with `Done`.
    pub has_goto_done: bool,
    /// A variable or parameter is declared without a value, so `defaultInitValue` is needed.
    pub has_default_value: bool,
    /// `pc` must not be left out: a label has a `+` or `-`, or the module asks for a version before 1.5.
    pub keeps_pc: bool,
    /// The module asks for a version before 1.5, in which a uniprocess algorithm counts as terminating even if it is a
    /// `while TRUE`.
    pub is_before_1_5: bool,
}

/// The behaviour of an algorithm.
#[derive(Debug, Clone)]
pub(super) enum Body {
    Single(Vec<Step>),
    /// In the order of the text, which is that of `ProcSet` and `Next`.
    Processes(Vec<Process>),
}

/// `x = e` or `x \in e`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Equals,
    In,
}

#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: String,
    pub position: Position,
    pub binding: Binding,
    /// `None` if no value is given.
    pub value: Option<Expr>,
}

/// The fairness of a process, from its keyword or otherwise from the option `-wf` or `-sf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fairness {
    Unfair,
    Weak,
    Strong,
}

/// A process or a process set.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub name: String,
    pub position: Position,
    pub fairness: Fairness,
    pub binding: Binding,
    /// The identifier of the process, or the set of identifiers.
    pub id: Expr,
    pub variables: Vec<Variable>,
    pub body: Vec<Step>,
    /// Labels written `l:-` and `l:+`.
    pub minus_labels: Vec<String>,
    pub plus_labels: Vec<String>,
    /// Names of the procedures that its body calls, without calls in macros.
    pub calls: Vec<String>,
}

/// A procedure. As in the reference, the last procedure of a uniprocess algorithm also gets the labels with `-` and `+`
/// and the calls of the algorithm's own body.
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

/// A label with the statements of its atomic step, up to the next label.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub label: String,
    pub position: Position,
    pub statements: Vec<Statement>,
}

/// A statement. `macro_position` is the position of the macro call that it comes from.
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
    /// The part of the left-hand side after the variable: `[i].x`. Empty for a plain variable.
    pub subscript: Expr,
    pub value: Expr,
}

/// A branch that may contain labels: the statements before the first label, then the labelled steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Branch {
    pub unlabeled: Vec<Statement>,
    pub labeled: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    While {
        test: Expr,
        body: Branch,
    },
    /// `x := e || y := f`.
    Assign(Vec<Assignment>),
    /// An `if` without a label inside. A branch may end in a call, return or goto if nothing follows in the step.
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
    /// `from` is the procedure that contains the statement; empty if it comes from a macro or is outside of procedures.
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
