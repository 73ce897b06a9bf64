//! Failures of model calls. The kinds are a closed set, so that retries are decided in one place. It knows no server: each
//! provider classifies its own errors.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::usage::Usage;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Too many requests or tokens for now.
    RateLimit,
    /// The server lacks capacity for now, whatever the account may use.
    Overloaded,
    /// The server failed for a reason of its own (5xx).
    Server,
    /// No data arrived for longer than the idle limit.
    Idle,
    /// The connection broke off inside the answer.
    CutStream,
    /// The server cannot be reached.
    Connect,
    /// The answer holds no text.
    Empty,
    /// The server's certificate or the encryption is not accepted.
    Tls,
    /// The key or login is not accepted, or missing.
    Auth,
    /// The key lacks the permission for this call.
    Permission,
    /// The account has no credit, or its payment failed.
    Billing,
    /// The account's own spending limit is reached. Waiting does not help.
    SpendCap,
    /// The provider has no model of this name.
    ModelNotFound,
    /// The request exceeds the model's context.
    PromptTooLong,
    /// The model declines to answer.
    Refusal,
    /// The answer reached the limit of output tokens.
    Truncated,
    /// The model called tools beyond the limit of turns.
    ToolLoop,
    /// The server rejects the request.
    BadRequest,
    /// The answer violates the protocol.
    Malformed,
    /// The provider's program ended without a result.
    Killed,
    /// The provider's program is missing or too old.
    Program,
    /// The provider's program did not confirm that the model is confined to the workspace.
    NotConfined,
    /// The budget does not allow the next request of the call.
    Budget,
}

impl FailureKind {
    pub const ALL: [FailureKind; 23] = [
        FailureKind::RateLimit,
        FailureKind::Overloaded,
        FailureKind::Server,
        FailureKind::Idle,
        FailureKind::CutStream,
        FailureKind::Connect,
        FailureKind::Empty,
        FailureKind::Tls,
        FailureKind::Auth,
        FailureKind::Permission,
        FailureKind::Billing,
        FailureKind::SpendCap,
        FailureKind::ModelNotFound,
        FailureKind::PromptTooLong,
        FailureKind::Refusal,
        FailureKind::Truncated,
        FailureKind::ToolLoop,
        FailureKind::BadRequest,
        FailureKind::Malformed,
        FailureKind::Killed,
        FailureKind::Program,
        FailureKind::NotConfined,
        FailureKind::Budget,
    ];

    /// Whether a retry of the same call can succeed.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            FailureKind::RateLimit
                | FailureKind::Overloaded
                | FailureKind::Server
                | FailureKind::Idle
                | FailureKind::CutStream
                | FailureKind::Connect
                | FailureKind::Empty
        )
    }

    /// What the user can do about it.
    pub fn advice(self) -> &'static str {
        match self {
            FailureKind::RateLimit | FailureKind::Overloaded => "wait and resume, or choose another model",
            FailureKind::Server | FailureKind::CutStream | FailureKind::Killed => "resume: nothing received is lost",
            FailureKind::Idle => "resume, or raise --idle-timeout for a slow server",
            FailureKind::Connect => "check the base URL and the network, then resume",
            FailureKind::Tls => "check the base URL (http or https) and the certificates of this machine",
            FailureKind::Auth => "set the key, or log in (`tlaforge doctor` shows how)",
            FailureKind::Permission => "use a key with access to this model",
            FailureKind::Billing => "add credit to the account, then resume",
            FailureKind::SpendCap => "raise the account's spending limit, then resume",
            FailureKind::ModelNotFound => "choose one of the provider's models with --model",
            FailureKind::PromptTooLong => "use fewer documents, or a model with a larger context",
            FailureKind::Refusal => {
                "check the documents for content that the model may refuse, or choose another model"
            }
            FailureKind::Truncated => "raise --max-output, or narrow the specification with --concern",
            FailureKind::Empty | FailureKind::ToolLoop | FailureKind::Malformed => "choose another model, then resume",
            FailureKind::BadRequest => {
                "check model, effort, temperature and --max-output: the server rejects this request"
            }
            FailureKind::Program | FailureKind::NotConfined => {
                "install the current version (`tlaforge doctor` shows how)"
            }
            FailureKind::Budget => "raise the limit and resume, or choose a cheaper model",
        }
    }
}

/// A call that failed. The message never contains a key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}; {}", .remedy.unwrap_or(.kind.advice()))]
pub struct CallFailure {
    pub kind: FailureKind,
    /// What happened, with the server's own message if there is one.
    pub message: String,
    /// HTTP status; `None` if there was no response.
    pub status: Option<u16>,
    /// How long the server asks to wait before a retry.
    pub retry_after: Option<Duration>,
    /// The server's id of the request.
    pub request_id: Option<String>,
    /// Tokens that were used before the failure, if they are known.
    pub usage: Option<Usage>,
    /// Estimate of the tokens that the server did not report.
    pub estimated: Option<Box<Usage>>,
    /// Paths outside the workspace that the model tried to read before the failure.
    pub refused_reads: Vec<String>,
    /// Advice that replaces that of the kind, if the message is more specific than the kind.
    pub remedy: Option<&'static str>,
}

impl CallFailure {
    /// A failure of which only kind and message are known.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            message,
            status: None,
            retry_after: None,
            request_id: None,
            usage: None,
            estimated: None,
            refused_reads: Vec::new(),
            remedy: None,
        }
    }

    /// Whether the account gets no answers for now, so that other calls with the same key would fail in the same way.
    pub(super) fn is_quota_error(&self) -> bool {
        match self.kind {
            FailureKind::Billing | FailureKind::SpendCap => true,
            // Without a time, it may be over at any moment.
            FailureKind::RateLimit => self.retry_after.is_some(),
            _ => false,
        }
    }

    /// Whether the model may have worked on the call: its tokens are then billed, but the server may not have reported them.
    pub(super) fn may_be_billed(&self) -> bool {
        matches!(self.kind, FailureKind::CutStream | FailureKind::Idle | FailureKind::Malformed)
    }
}
