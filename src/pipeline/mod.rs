//! A run: the pure state machine, the records of its journal, the policies that govern it, the driver that journals each
//! event before it acts, and the verification of a journal.
//!
//! Imports go one way: `machine` <- `records` <- `policy` <- `run` <- `replay`. It knows no tool, no provider and no node:
//! nodes are names here, and their work comes through a trait.

mod machine;
mod policy;
mod records;
mod replay;
mod run;

pub use machine::*;
pub use policy::*;
pub use records::*;
pub use replay::*;
pub use run::*;
