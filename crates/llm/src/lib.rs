//! One request, one answer, with usage and cost. A file per provider.
//!
//! It knows no node and no tool: what is asked and what the answer means is the caller's.

mod anthropic;
mod anthropic_stream;
mod budget;
mod call_state;
mod caller;
mod claude;
mod claude_failure;
mod claude_login;
mod claude_program;
mod claude_reads;
mod claude_stream;
mod control_characters;
mod download;
mod failure;
mod handoff;
mod http;
mod http_failure;
mod model_choice;
mod openai;
mod openai_stream;
mod prices;
mod provider;
mod read_tool;
mod recording;
mod redacting;
mod rename_watch;
mod replay;
mod request_span;
mod secret;
mod shared_budget;
mod shared_limits;
mod usage;

pub use anthropic::{Anthropic, DEFAULT_MODEL};
pub use budget::{Budget, Estimate, Used};
pub use call_state::{CallState, LeftOut};
pub use caller::{CallEvent, CallPermit, CallTimer, Caller, FailedCall, ModelSwitch, Models, RetryPolicy};
pub use claude::{CLAUDE_ENVIRONMENT, ClaudeCode, ClaudeLimits};
pub use claude_login::{ClaudeCredential, ClaudeLogin};
pub use claude_program::{ClaudeStatus, ClaudeVersion};
pub use download::{download, url_without_secrets};
pub use failure::{CallFailure, FailureKind};
pub use handoff::Handoff;
pub use http::{HttpSettings, SetupError, remote_host};
pub use openai::{OpenAi, OpenAiSettings};
pub use prices::{Price, PriceError, Prices};
pub use provider::{
    Answer, AnswerFuture, ChangedDocument, DocumentChange, FileRead, LlmError, MAX_ANSWER_BYTES, ModelChoice, Offered,
    Provider, Request, RequestKey, Timing, changed_documents_words,
};
pub use recording::{Recorded, RecordedDocument, Recording, RecordingError};
pub use redacting::RedactingProvider;
pub use replay::Replay;
pub use secret::{Secret, SecretError, redact_marked_keys};
pub use shared_budget::SharedBudget;
pub use shared_limits::{Admission, AdmissionFuture, QuotaError, RequestUse, Settlement, SharedLimits};
pub use usage::Usage;
