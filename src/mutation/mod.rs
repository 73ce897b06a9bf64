//! Deliberate flaws: made by operators on the text of a specification, and judged by its own properties.

mod action;
mod alignment;
mod chain;
mod diff;
mod expression;
mod facts;
mod fairness;
mod guard;
mod inclusion;
mod infix;
mod judge;
mod judgement;
mod labels;
mod make;
mod mutant;
mod operator;
mod outline;
mod requirements;
mod results;
mod scope;
mod selection;
mod sets;
mod statement;
mod swap;
mod walk;
mod wrong;

pub use judge::{BaselineError, Judge, Subject, limits_of_one};
pub use judgement::{Judgement, Outcome, Summary};
pub use make::mutants;
pub use mutant::{Edit, Mutant};
pub use operator::Operator;
pub use requirements::requirements_touched;
pub use results::{Results, ResultsError, listed};
pub use selection::{Selection, Shard, changed_lines};
