//! One request, one answer, with usage and cost. A file per provider.
//!
//! It knows no node and no tool: what is asked and what the answer means is the caller's.

mod caller;
mod claude;
mod claude_failure;
mod claude_login;
mod claude_program;
mod claude_reads;
mod claude_stream;
mod contract;
mod failure;
mod handoff;
mod prices;
mod recording;
mod replay;

pub use caller::{Budget, Caller, Models, Note, Pace, RetryPolicy, Used};
pub use claude::{CLAUDE_SURROUNDINGS, ClaudeCode, ClaudeLimits};
pub use claude_login::{ClaudeCredential, ClaudeKeyError, ClaudeLogin};
pub use claude_program::{ClaudeStatus, ClaudeVersion};
pub use contract::{Answer, Asking, FileRead, LlmError, ModelChoice, Offered, Provider, Request, RequestKey, Usage};
pub use failure::{CallFailure, FailureKind};
pub use handoff::Handoff;
pub use prices::{Price, PriceError, Prices};
pub use recording::{Recorded, Recording, RecordingError};
pub use replay::Replay;
