//! One request, one answer, with usage and cost. A file per provider.
//!
//! It knows no node and no tool: what is asked and what the answer means is the caller's.

mod contract;
mod handoff;
mod recording;
mod renames;
mod replay;

pub use contract::{Answer, Asking, FileRead, LONGEST_ANSWER, LlmError, Offered, Provider, Request, RequestKey, Usage};
pub use handoff::Handoff;
pub use recording::{Recorded, Recording, RecordingError};
pub use replay::Replay;
