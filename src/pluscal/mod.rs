//! PlusCal to TLA+ without Java: p-syntax and c-syntax, token for token what the reference translator writes.

mod ast;
mod expr;
mod options;

pub use options::{Compat, Fair, Options};
