//! A run's journal as text. No IO: a view goes in, words come out.

mod mutation;
mod text;

pub use mutation::{mutant_line, mutation_json, mutation_text, stryker};
pub use text::{counted, heading, report, skipped_lines, summary};
