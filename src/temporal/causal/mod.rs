//! The causal reading: what holds at an event of one lifeline, told from what that lifeline can have seen.
//!
//! Executions are message sequence charts. Each lifeline carries a vector clock and, for the lifelines that guards look
//! at, the latest visible values of the subformulas and variables they ask for; both travel with messages. After causal
//! past logic (Bollig, "Causal Past Logic for Runtime Verification of Distributed LLM Agent Workflows", Definitions 1-4,
//! Algorithms 1 and 2).

mod chart;
mod clock;
mod code;
mod compile;
mod errors;
mod guards;
mod monitor;
mod stamp;
mod tracker;

pub use chart::{Chart, Event, Kind, Step};
pub use clock::VectorClock;
pub use errors::{CausalError, GuardError};
pub use guards::{Guards, Kept, MAX_GUARD_SIZE};
pub use monitor::{Monitor, Nothing};
pub use stamp::{Stamp, View};
pub use tracker::{Tracker, Values};
