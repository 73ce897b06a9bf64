//! One request, one answer, with usage and cost. A file per provider.
//!
//! It knows no node and no tool: what is asked and what the answer means is the caller's.

mod caller;
mod contract;
mod failure;
mod handoff;
mod prices;
mod recording;
mod replay;

pub use caller::{Budget, Caller, Models, Note, Pace, RetryPolicy, Used};
pub use contract::{
    Answer, Asking, FileRead, LONGEST_ANSWER, LlmError, ModelChoice, Offered, Provider, Request, RequestKey, Usage,
};
pub use failure::{CallFailure, FailureKind};
pub use handoff::Handoff;
pub use prices::{Price, PriceError, Prices};
pub use recording::{Recorded, Recording, RecordingError};
pub use replay::Replay;
