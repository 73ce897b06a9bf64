//! Deliberate flaws: made by operators on the text of a specification, and judged by its own properties.

mod action;
mod alignment;
mod chain;
mod diff;
mod expression;
mod facts;
mod fairness;
mod guard;
mod infix;
mod labels;
mod make;
mod mutant;
mod operator;
mod outline;
mod scope;
mod sets;
mod statement;
mod swap;
mod walk;
mod wrong;

pub use make::mutants;
pub use mutant::{Edit, Mutant};
pub use operator::Operator;
