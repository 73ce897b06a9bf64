//! Translates PlusCal to TLA+ without Java. It accepts p-syntax and c-syntax and writes, token for token, what the
//! reference translator `pcal.trans` of the TLA+ tools writes; it does not know TLC or any other part of the toolchain.
//!
//! The language is that of the PlusCal manuals, by L. Lamport, for both syntaxes ("A PlusCal User's Manual, P-Syntax" and
//! "C-Syntax", version 1.8). Where a manual leaves something open, the translator follows `pcal.trans`, including the
//! layout of the text and the checksums, so that TLC accepts the result as up to date.
//!
//! [`translate`] takes the text of a module and returns it with the translation of its algorithm in place:
//! ```
//! use tlaforge_pluscal::{Options, translate};
//!
//! let module = "---- MODULE Clock ----
//! EXTENDS Naturals
//! (* --algorithm Clock
//! variable hour = 0;
//! begin
//! tick: hour := (hour + 1) % 12;
//! end algorithm; *)
//! ====
//! ";
//! let translated = translate(module, &Options::default()).unwrap().expect("the module contains an algorithm");
//! assert!(translated.text.contains("tick == /\\ pc = \"tick\""));
//! ```
#![warn(missing_docs)]

mod after_translation;
mod algorithm_record;
mod ast;
mod call_graph;
mod changed_variables;
mod checksum;
mod diagnostic;
mod diagnostic_span;
mod explode;
mod expr;
mod generate;
mod generate_action;
mod generate_spec;
mod labels;
mod layout;
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
mod parsed_statement;
mod position;
mod source;
mod symbols;
mod token;
mod translate;

pub use diagnostic::Diagnostic;
pub use options::{Compat, Fair, Options};
pub use origin::{AlgorithmPlace, Origins};
pub use translate::{Translated, translate};

#[cfg(test)]
mod translation_tests;
