//! A run's journal as text. No IO: a view goes in, words come out.

mod text;

pub use text::{counted, heading, report, skipped_lines, summary};
