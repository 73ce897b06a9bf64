//! A run's journal and an evaluation as text. No IO: a value goes in, words come out.

mod eval;
mod junit;
mod text;

pub use eval::{Entry, Outcome, evaluation, suite};
pub use junit::junit;
pub use text::{counted, heading, report, skipped_lines, summary};
