//! How a call to a model fails: closed kinds, so that what is retried is decided in one place.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Usage;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Too many requests or tokens for now.
    RateLimit,
    /// The server has too much to do.
    Overloaded,
    /// The server failed.
    Server,
    /// Nothing came for longer than the idle limit.
    Idle,
    /// The answer ended before its end.
    CutStream,
    /// The server cannot be reached.
    Connect,
    /// The answer holds no text.
    Empty,
    /// The server's certificate or the encryption is not accepted.
    Tls,
    /// The key or login is not accepted, or missing.
    Auth,
    /// The key may not do this.
    Permission,
    /// The account cannot pay.
    Billing,
    /// The account's own limit of spending is reached.
    SpendCap,
    /// There is no such model.
    ModelNotFound,
    /// The request is larger than the model reads.
    PromptTooLong,
    /// The model declines to answer.
    Refusal,
    /// The answer is longer than the model may write.
    Truncated,
    /// The model went on reading files beyond the limit of turns.
    ToolLoop,
    /// The request is not accepted.
    BadRequest,
    /// What came is not what the protocol says.
    Malformed,
    /// The program ended without a result.
    Killed,
    /// The program is missing or too old.
    Program,
    /// The program did not confirm that the model is confined.
    NotConfined,
    /// The budget does not allow the call to go on.
    Budget,
}

impl FailureKind {
    /// All kinds.
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

    /// Whether the same call may succeed a little later.
    pub fn is_passing(self) -> bool {
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

    /// What a person can do about it.
    pub fn advice(self) -> &'static str {
        match self {
            FailureKind::RateLimit | FailureKind::Overloaded => "wait and resume, or choose another model",
            FailureKind::Server | FailureKind::CutStream | FailureKind::Killed => "resume: nothing received is lost",
            FailureKind::Idle => "resume, or raise --idle-timeout for a slow server",
            FailureKind::Connect => "look at the base URL and the network, then resume",
            FailureKind::Tls => "look at the base URL (http or https) and at the machine's certificates",
            FailureKind::Auth => "set the key, or log in (`tlaforge doctor` shows how)",
            FailureKind::Permission => "use a key that may call this model",
            FailureKind::Billing => "add credit to the account, then resume",
            FailureKind::SpendCap => "raise the account's spending limit, then resume",
            FailureKind::ModelNotFound => "name a model that the provider has with --model",
            FailureKind::PromptTooLong => "give fewer documents, or a model with a larger context",
            FailureKind::Refusal => {
                "look at the documents for what the model may decline to read, or choose another model"
            }
            FailureKind::Truncated => "raise --max-output, or narrow the specification with --concern",
            FailureKind::Empty | FailureKind::ToolLoop | FailureKind::Malformed => "choose another model, then resume",
            FailureKind::BadRequest => {
                "the server does not take this request: look at model, effort, temperature and --max-output"
            }
            FailureKind::Program | FailureKind::NotConfined => {
                "install the current version (`tlaforge doctor` shows how)"
            }
            FailureKind::Budget => "give a larger limit and resume, or take a cheaper model",
        }
    }
}

/// A call that brought no answer. The message never holds a key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}; {}", .remedy.unwrap_or(.kind.advice()))]
pub struct CallFailure {
    /// Its kind.
    pub kind: FailureKind,
    /// What happened, with the server's own words where there are any.
    pub message: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// How long the server asks to wait.
    pub wait: Option<Duration>,
    /// The server's name of the request.
    pub request_id: Option<String>,
    /// Tokens that were used before it failed, where they are known.
    pub usage: Option<Usage>,
    /// Tokens that nobody counted, by an estimate.
    pub estimated: Option<Box<Usage>>,
    /// What the model tried to read outside the workspace before it failed.
    pub refused_reads: Vec<String>,
    /// What a person can do, where the message says more than the kind.
    pub remedy: Option<&'static str>,
}

impl CallFailure {
    /// A failure of which only kind and words are known.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            message,
            status: None,
            wait: None,
            request_id: None,
            usage: None,
            estimated: None,
            refused_reads: Vec::new(),
            remedy: None,
        }
    }

    /// Whether the model may have worked all the same: what such a call took is paid for, and not always counted.
    pub(super) fn may_be_paid(&self) -> bool {
        matches!(self.kind, FailureKind::CutStream | FailureKind::Idle | FailureKind::Malformed)
    }
}
