//! Synthetic traces for which the truth of temporal constraints is known, as in section 5.2 of the TRAC paper.
//!
//! Each step shows one or more entities with an animal, a shape, a colour and a number, drawn at random and independently,
//! so that only the order of events decides. The constraints are a sequence, a tree of alternatives (appendix D of the
//! paper), and the seven patterns of its table 2. The same seed makes the same traces.

mod constraint;
mod generator;
mod trace;
mod wordings;

pub use constraint::{Constraint, Shape, pattern_constraints};
pub use generator::{MAX_CONSTRAINTS, MAX_ENTITIES, Synthetic};
pub use trace::{Attribute, Event, Trace};
pub use wordings::{Wording, Wordings};
