//! The budget of a run, and how much of it is used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::usage::Usage;

/// The limits of a run; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens of all kinds (input, output, cached).
    pub tokens: Option<u64>,
}

/// An estimate of tokens that the server did not report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    pub usage: Usage,
    /// US dollars, if the price is known.
    pub cost_usd: Option<f64>,
}

/// The use of a run so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Used {
    /// US dollars, for the calls whose price is known.
    pub cost_usd: f64,
    /// Tokens of all kinds.
    pub tokens: u64,
    /// The part of `tokens` that is only expected, for other calls under way.
    pub expected_tokens: u64,
    /// The part of `cost_usd` that is only expected, for other calls under way.
    pub expected_usd: f64,
    /// The use at which the budget ended this same call before a resume. The call needs at least as much again.
    pub before: Option<Usage>,
}
