//! A journal computed again: what it says of itself, held against what follows from the events before. What differs is
//! an objection. The same functions decide here that have decided while the run went on.

mod candidates;
mod interventions;
mod policy;
mod replay;

pub use replay::{Again, Objection, again};
