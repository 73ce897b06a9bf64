//! Deliberate flaws: made by operators on the text of a specification, and judged by its own properties.

mod diff;
mod inclusion;
mod judge;
mod judgement;
mod make;
mod mutant;
mod operator;
mod requirements;
mod results;
mod selection;
mod split;

pub use judge::{BaselineError, Judge, Subject, limits_of_one};
pub use judgement::{Judgement, Outcome, Summary};
pub use make::mutants;
pub use mutant::{Edit, Mutant};
pub use operator::Operator;
pub use requirements::{by_number, requirements_touched};
pub use results::{Results, ResultsError, listed};
pub use selection::{Selection, Shard, changed_lines};
