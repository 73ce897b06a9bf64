//! Small syntax trees of the checker, and the names that it takes for others.

use std::rc::Rc;

use tla_mc::ast::{Ast, Def};

/// Names that the checker knows as operators of the standard modules.
pub(super) const STANDARD: [&str; 17] = [
    "Nat",
    "Int",
    "STRING",
    "BOOLEAN",
    "Cardinality",
    "Len",
    "Append",
    "Head",
    "Tail",
    "SubSeq",
    "Seq",
    "IsFiniteSet",
    "Print",
    "PrintT",
    "Assert",
    "Permutations",
    "SelectSeq",
];

/// The name of a definition for the checker, which would take one with a standard name for the standard operator, also
/// where another module uses that.
pub(super) fn definition_name(name: &str) -> String {
    if STANDARD.contains(&name) { format!("{name}~own") } else { name.to_owned() }
}

pub(super) fn define(name: &str, body: Ast) -> Rc<Def> {
    Rc::new(Def { name: name.to_owned(), params: Vec::new(), op_arity: Vec::new(), body })
}

pub(super) fn define_operator(name: &str, parameters: &[String], body: Ast) -> Rc<Def> {
    Rc::new(Def { name: name.to_owned(), params: parameters.to_vec(), op_arity: vec![0; parameters.len()], body })
}

pub(super) fn name(name: &str) -> Ast {
    Ast::Ident(name.to_owned())
}

pub(super) fn binary(operator: &'static str, one: Ast, other: Ast) -> Ast {
    Ast::Bin(operator, Box::new(one), Box::new(other))
}

/// To apply a text as a function is an error that shows the text; the checker has no operator that fails with a message.
pub(super) fn stop(text: &str) -> Ast {
    Ast::App(Box::new(Ast::Str(text.to_owned())), vec![Ast::Num(1)])
}
