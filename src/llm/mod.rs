//! One request, one answer, with usage and cost. A file per provider.
//!
//! It knows no node and no tool: what is asked and what the answer means is the caller's.

mod anthropic;
mod anthropic_stream;
mod caller;
mod claude;
mod claude_failure;
mod claude_login;
mod claude_program;
mod claude_reads;
mod claude_stream;
mod contract;
mod failure;
mod guarded;
mod handoff;
mod http;
mod http_failure;
mod openai;
mod openai_stream;
mod prices;
mod reading;
mod recording;
mod renames;
mod replay;
mod secret;
mod terms;

pub use anthropic::{Anthropic, DEFAULT_MODEL};
pub use caller::{Budget, Caller, Estimate, FailedCall, ModelSwitch, Models, Note, Pace, Place, RetryPolicy, Used};
pub use claude::{CLAUDE_SURROUNDINGS, ClaudeCode, ClaudeLimits};
pub use claude_login::{ClaudeCredential, ClaudeLogin};
pub use claude_program::{ClaudeStatus, ClaudeVersion};
pub use contract::{
    Answer, Asking, FileRead, LONGEST_ANSWER, LlmError, ModelChoice, Offered, Provider, Request, RequestKey, Timing,
    Usage,
};
pub use failure::{CallFailure, FailureKind};
pub use guarded::Guarded;
pub use handoff::Handoff;
pub use http::{HttpSettings, SetupError, host_elsewhere};
pub use openai::{OpenAi, OpenAiSettings};
pub use prices::{Price, PriceError, Prices};
pub use recording::{Recorded, Recording, RecordingError};
pub use replay::Replay;
pub use secret::{Secret, SecretError, without_marked};
pub use terms::{LeftOut, Terms};
