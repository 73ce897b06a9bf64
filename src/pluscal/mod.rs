//! PlusCal to TLA+ without Java: p-syntax and c-syntax, token for token what the reference translator writes.

mod ast;
mod draft;
mod expr;
mod labels;
mod macros;
mod module_options;
mod options;
mod parse;
mod parse_expression;
mod parse_statement;
#[cfg(test)]
mod parse_tests;
mod source;
mod symbols;
mod token;

pub use options::{Compat, Fair, Options};
