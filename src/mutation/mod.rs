//! Deliberate flaws: made by operators on the text of a specification, and judged by its own properties.

mod mutant;
mod operator;

pub use mutant::{Edit, Mutant};
pub use operator::Operator;
