//! The causal reading: what holds at an event of one lifeline, told from what that lifeline can have seen.
//!
//! Executions are message sequence charts. Quantified lifeline carries a vector clock and, for the lifelines that guards look
//! at, the latest visible values of the subformulas and variables they ask for; both travel with messages. After causal
//! past logic (Bollig, "Causal Past Logic for Runtime Verification of Distributed LLM Agent Workflows", Definitions 1-4,
//! Algorithms 1 and 2).

mod chart;
mod clock;
mod compile;
mod errors;
mod event;
mod exports;
mod guards;
mod monitor;
mod program;
mod stamp;
mod tracker;

pub use chart::Chart;
pub use clock::VectorClock;
pub use compile::MAX_GUARD_SIZE;
pub use errors::{CausalError, GuardError};
pub use event::{Event, EventAction, EventKind};
pub use exports::{ExportedValues, Exports};
pub use guards::Guards;
pub use monitor::{EmptyRecord, Monitor};
pub use stamp::Stamp;
pub use tracker::{Tracker, Values};
