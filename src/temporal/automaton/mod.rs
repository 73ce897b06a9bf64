//! Formulas over finite traces as complete minimal deterministic automata with symbolic guards.
//!
//! Knows formulas and atoms; neither quantities nor rewards.

mod decision;
mod dfa;
mod dot;
mod guard;
mod minimize;
mod product;
mod translate;

pub use decision::{AutomatonError, Limits};
pub use dfa::Dfa;
pub(super) use dfa::Target;
pub use guard::{Edge, Guard};
pub use product::Conjunction;
