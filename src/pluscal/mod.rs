//! PlusCal to TLA+ without Java: p-syntax and c-syntax, token for token what the reference translator writes.

mod ast;
mod changed;
mod explode;
mod expr;
mod generate;
mod generate_action;
mod generate_spec;
mod layout;
mod names;
mod options;

pub use options::{Compat, Fair, Options};
