//! PlusCal to TLA+ without Java: p-syntax and c-syntax, token for token what the reference translator writes.
#![warn(missing_docs)]

mod ast;
mod changed;
mod checksum;
mod draft;
mod explode;
mod expr;
mod fingerprint;
mod generate;
mod generate_action;
mod generate_spec;
mod labels;
mod layout;
mod left_behind;
mod macros;
mod module_options;
mod names;
mod options;
mod origin;
mod parse;
mod parse_expression;
mod parse_statement;
#[cfg(test)]
mod parse_tests;
mod position;
mod source;
mod splice;
mod symbols;
mod token;

pub use options::{Compat, Fair, Options};
pub use origin::{AlgorithmPlace, Origins};
pub use splice::{Translated, translate};

#[cfg(test)]
mod translation_tests;
