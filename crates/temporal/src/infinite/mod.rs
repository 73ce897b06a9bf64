//! Temporal logic over infinite behaviours: whether a fair path of a finite graph satisfies a formula.
//!
//! A behaviour is an infinite path. A position of it is a step from one node to the next, and an atom is a predicate of
//! such a step, so predicates of states and of actions are atoms alike. The search builds the product of the graph
//! with a generalised Büchi automaton of the formula, and looks for a strongly connected component that accepts.
//! Sources: Gerth, Peled, Vardi and Wolper, "Simple on-the-fly automatic verification of linear temporal logic" (1995);
//! Emerson and Lei, "Modalities for model checking: branching time logic strikes back" (1987), for strong fairness.

mod behaviour;
mod search;
mod tableau;

pub use behaviour::{Fairness, Formula, Graph, Lasso};
pub use search::{SearchError, find_behaviour};
