//! The budget of a run: its limits, what the run has used, and whether the next request fits. It knows no provider and no
//! retry: the caller measures the usage and estimates the next request.
//!
//! A new limit needs a field in [`Budget`] and in [`Used`] and a comparison in [`Budget::check`]; the compiler names the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prices::Price;
use super::usage::Usage;

/// Assumed length of an answer in tokens, for the estimate before a request. A longer answer can exceed a limit by its own
/// cost; README says so.
pub(super) const EXPECTED_OUTPUT: u64 = 4_000;
/// Average bytes of text per token, for estimates.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// The limits of a run; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens of all kinds (input, output, cached).
    pub tokens: Option<u64>,
}

impl Budget {
    /// Whether there is any limit. Usage that no server reports is estimated only then.
    pub(super) fn limits_usage(&self) -> bool {
        // Without `..`, so that a new limit cannot be forgotten here.
        let Self { cost_usd, tokens } = self;
        cost_usd.is_some() || tokens.is_some()
    }

    /// Checks that a request with the estimated usage `next` fits. `taken` is what its call has used so far, which `used`
    /// does not include.
    pub(super) fn check(&self, used: &Used, price: Option<Price>, taken: Usage, next: Usage) -> Result<(), Overdraft> {
        let Self { cost_usd, tokens } = *self;
        if let Some(limit) = tokens {
            let (total, next) = (used.tokens.saturating_add(taken.total()), next.total());
            if total.saturating_add(next) > limit {
                let others = match used.expected_tokens {
                    0 => String::new(),
                    n => format!(" ({n} of them are expected of other calls under way)"),
                };
                let what = format!(
                    "the run has used {total} tokens{others}, the next call takes about {next}, and the limit is {limit}"
                );
                return Err(Overdraft { what, flag: "--max-tokens" });
            }
        }
        if let Some(limit) = cost_usd {
            // The command line refuses a cost limit if a model that can be called has no price, so a price is missing only if
            // no model is named, as in a replay.
            let cost = |usage: &Usage| price.map_or(0.0, |price| price.cost_of(usage));
            let (total, next) = (used.cost_usd + cost(&taken), cost(&next));
            if total + next > limit {
                let others = match used.expected_usd {
                    0.0 => String::new(),
                    others => format!(" (${others:.4} of it are expected of other calls under way)"),
                };
                let what = format!(
                    "the run has cost ${total:.4}{others}, the next call costs about ${next:.4}, and the limit is ${limit}"
                );
                return Err(Overdraft { what, flag: "--max-cost" });
            }
        }
        Ok(())
    }
}

/// A request that the budget does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Overdraft {
    /// The use so far, the next request, and the limit, in words.
    pub what: String,
    /// The command-line flag of the limit.
    pub flag: &'static str,
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
    /// Input, output and cached tokens.
    pub tokens: u64,
    /// The part of `tokens` that is only expected, for other calls under way.
    pub expected_tokens: u64,
    /// The part of `cost_usd` that is only expected, for other calls under way.
    pub expected_usd: f64,
    /// The use at which the budget ended this same call before a resume. The call needs at least as much again.
    pub before: Option<Usage>,
}

impl Used {
    /// Adds the tokens and the cost of a try.
    pub(super) fn add(&mut self, usage: Option<Usage>, cost_usd: Option<f64>) {
        self.tokens = self.tokens.saturating_add(usage.map_or(0, |usage| usage.total()));
        self.cost_usd += cost_usd.unwrap_or(0.0);
    }

    /// The same use with the expected use of the other calls under way.
    #[must_use]
    pub(super) fn with_expected(self, others: ExpectedUse) -> Self {
        Self {
            tokens: self.tokens.saturating_add(others.tokens),
            cost_usd: self.cost_usd + others.cost_usd,
            expected_tokens: others.tokens,
            expected_usd: others.cost_usd,
            ..self
        }
    }

    /// Raises the estimate for the first request of a call to what the same call needed before a resume. With the plain
    /// estimate, each resume would pay for the same tokens up to the point at which the budget ends the call again.
    pub(super) fn raise_first(&self, estimate: Usage) -> Usage {
        Usage { input: estimate.input.max(self.before.map_or(0, |before| before.total())), ..estimate }
    }
}

/// The expected use of one or several calls under way. It counts as used until each call ends, so that calls that start at
/// the same time cannot exceed the budget together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExpectedUse {
    pub calls: u32,
    tokens: u64,
    cost_usd: f64,
}

impl ExpectedUse {
    /// The expected use of one call.
    pub(super) fn of_call(usage: &Usage, cost_usd: Option<f64>) -> Self {
        Self { calls: 1, tokens: usage.total(), cost_usd: cost_usd.unwrap_or(0.0) }
    }

    pub(super) fn add(&mut self, one: Self) {
        self.calls += one.calls;
        self.tokens = self.tokens.saturating_add(one.tokens);
        self.cost_usd += one.cost_usd;
    }

    pub(super) fn remove(&mut self, one: Self) {
        self.calls -= one.calls;
        self.tokens = self.tokens.saturating_sub(one.tokens);
        // Sums of floating-point numbers drift; with no calls left the sum is exactly zero.
        self.cost_usd = if self.calls == 0 { 0.0 } else { (self.cost_usd - one.cost_usd).max(0.0) };
    }
}
