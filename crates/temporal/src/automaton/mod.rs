//! Complete minimal deterministic automata of formulas over finite traces, with symbolic guards.
//!
//! Knows formulas and atoms, but no quantities and no rewards.

mod bdd;
mod dfa;
mod dot;
mod guard;
mod limits;
mod minimize;
mod product;
mod translate;

pub use dfa::Dfa;
pub(super) use dfa::Target;
pub use guard::{Edge, Guard};
pub use limits::{AutomatonError, Limits};
pub use product::Conjunction;
