//! What callers and the object of a key send each other.

use serde::{Deserialize, Serialize};

/// What a request uses: expected before it, known after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestUse {
    pub cost_usd: f64,
    pub tokens: u64,
}

/// The limits of a key; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// US dollars of all requests together.
    pub max_cost_usd: Option<f64>,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u64>,
}

/// What happens to one limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change<T> {
    #[default]
    Keep,
    Set(T),
    Remove,
}

impl<T> Change<T> {
    pub(super) fn apply(self, limit: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Set(new) => *limit = Some(new),
            Self::Remove => *limit = None,
        }
    }
}

/// A change of limits. Even without any change it closes the circuit breaker: a person says that requests can be sent again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitsChange {
    pub max_cost_usd: Change<f64>,
    pub requests_per_minute: Change<u32>,
    pub tokens_per_minute: Change<u64>,
}

/// The provider does not answer requests with this key any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuotaError {
    /// The provider's message.
    pub why: String,
    /// Time after which it answers again, if it said one. A duration, because clocks of workers may differ.
    pub reset_after_ms: Option<u64>,
}

/// A limit, in answers that refuse a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    MaxCost,
    TokensPerMinute,
}

/// The answer to a request that wants to begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// It may be sent now. Its caller renews it at least this often while it is under way.
    Granted { renew_ms: u64 },
    /// It keeps its place in the queue if its caller asks again after this time.
    Wait { why: String, ask_again_ms: u64 },
    /// Waiting cannot help.
    Refused { why: String, limit: LimitName },
    /// It was settled before it was admitted; its caller does not want it any more.
    Ended,
}

/// A message to the object, by handler.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    Admit(Admit),
    Renew(Renew),
    Settle(Settle),
    SetLimits(LimitsChange),
    /// Sets the limits if the key has none yet.
    InitLimits(Limits),
    Tick(Tick),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Admit {
    /// Unique among the requests of all processes.
    pub id: String,
    pub run: String,
    pub expected: RequestUse,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Renew {
    pub ids: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settle {
    pub id: String,
    pub used: RequestUse,
    pub quota: Option<QuotaError>,
}

/// The engine's clock: sent by the object to itself, delayed by the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tick {
    /// A change of limits starts a new clock, in case the last tick was removed from the engine by hand.
    pub clock: u64,
    pub number: u64,
}

impl Message {
    pub(super) const HANDLERS: [&'static str; 6] = ["admit", "renew", "settle", "set_limits", "init_limits", "tick"];

    /// Reads the message of a handler.
    pub(super) fn read(handler: &str, body: &[u8]) -> Result<Self, String> {
        let message = match handler {
            "admit" => serde_json::from_slice(body).map(Self::Admit),
            "renew" => serde_json::from_slice(body).map(Self::Renew),
            "settle" => serde_json::from_slice(body).map(Self::Settle),
            "set_limits" => serde_json::from_slice(body).map(Self::SetLimits),
            "init_limits" => serde_json::from_slice(body).map(Self::InitLimits),
            "tick" => serde_json::from_slice(body).map(Self::Tick),
            other => return Err(format!("there is no handler {other}")),
        };
        message.map_err(|e| format!("not a message to {handler}: {e}"))
    }
}

/// What the object answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Reply {
    Admission(Admission),
    Limits(Limits),
    Done(()),
}
