//! The message sequence chart of a run, from its journal: a column for each lifeline and one for the model, an arrow for
//! each message, a note for an event at one lifeline.

mod mermaid;
mod rows;
mod text;
mod words;

pub use mermaid::chart_mermaid;
pub use rows::{Chart, ChartError};
pub(super) use rows::{Drawn, Line};
pub use text::chart_text;
