//! The causal reading: evaluates a formula at an event of a lifeline, from the events in its causal past only.
//!
//! Executions are message sequence charts. Each lifeline keeps a vector clock and the latest visible values of the
//! subformulas and variables that guards read of other lifelines; messages carry both. After causal past logic (Bollig,
//! "Causal Past Logic for Runtime Verification of Distributed LLM Agent Workflows", Definitions 1-4, Algorithms 1 and 2).
//!
//! [`Monitor`] follows all lifelines in one place, [`Tracker`] one lifeline of a distributed system, and [`Chart`] is an
//! execution as a list of events. A guard is evaluated at an event, although [`Formulas::in_words`] says "at the first
//! step" for it.
//!
//! [`Formulas::in_words`]: super::Formulas::in_words

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
