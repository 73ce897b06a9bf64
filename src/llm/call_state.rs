//! The state of one call besides its request: the budget that is left for it, and the parts of the request that its server
//! refused.

use std::sync::{Mutex, OnceLock, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{Budget, Used};
use super::failure::{CallFailure, FailureKind};
use super::prices::Price;
use super::usage::Usage;

/// Assumed length of an answer in tokens, for the estimate before a request.
pub(super) const EXPECTED_OUTPUT: u64 = 4_000;
/// Average bytes of text per token, for estimates.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// A part of a request that the server refused and that is left out from then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub part: String,
    /// The server's message.
    pub said: String,
}

/// A violation of the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Overdraft {
    /// The use so far, the next request, and the limit, in words.
    pub what: String,
    /// The command-line flag of the limit.
    pub flag: &'static str,
}

/// The state of one call.
#[derive(Debug, Default)]
pub struct CallState {
    budget: Budget,
    used: Used,
    price: Option<Price>,
    overdraft: OnceLock<Overdraft>,
    left_out: Mutex<Vec<LeftOut>>,
}

impl CallState {
    /// `used` is the use of the run before the call; `price` is the price of the model that is asked.
    pub(super) fn new(budget: Budget, used: Used, price: Option<Price>) -> Self {
        Self { budget, used, price, ..Self::default() }
    }

    /// Checks that the budget allows a request with the estimated usage `next`, if the call has used `taken` so far.
    pub(super) fn check_budget(&self, taken: Usage, next: Usage) -> Result<(), Overdraft> {
        if let Some(limit) = self.budget.tokens {
            let (used, next) = (self.used.tokens.saturating_add(taken.total()), next.total());
            if used.saturating_add(next) > limit {
                let others = match self.used.expected_tokens {
                    0 => String::new(),
                    n => format!(" ({n} of them are expected of other calls under way)"),
                };
                let what = format!(
                    "the run has used {used} tokens{others}, the next call takes about {next}, and the limit is {limit}"
                );
                return Err(Overdraft { what, flag: "--max-tokens" });
            }
        }
        if let Some(limit) = self.budget.cost_usd {
            let cost = |usage: &Usage| self.price.map_or(0.0, |price| price.cost_of(usage));
            let (used, next) = (self.used.cost_usd + cost(&taken), cost(&next));
            if used + next > limit {
                let others = match self.used.expected_usd {
                    0.0 => String::new(),
                    others => format!(" (${others:.4} of it are expected of other calls under way)"),
                };
                let what = format!(
                    "the run has cost ${used:.4}{others}, the next call costs about ${next:.4}, and the limit is ${limit}"
                );
                return Err(Overdraft { what, flag: "--max-cost" });
            }
        }
        Ok(())
    }

    /// Checks the budget before one more request of a call that is under way. An error ends the call.
    pub(super) fn check_next_request(&self, taken: Usage, next: Usage) -> Result<(), CallFailure> {
        self.check_budget(taken, next).map_err(|overdraft| {
            let failure = CallFailure::new(FailureKind::Budget, overdraft.what.clone());
            let _ = self.overdraft.set(overdraft);
            failure
        })
    }

    /// Whether the budget has any limit.
    pub(super) fn is_limited(&self) -> bool {
        self.budget != Budget::default()
    }

    /// The violation that ended the call, if the budget did.
    pub(super) fn overdraft(&self) -> Option<&Overdraft> {
        self.overdraft.get()
    }

    /// Records a part that the server refused.
    pub(super) fn leave_out(&self, part: &str, refusal: &CallFailure) {
        let (part, said) = (part.to_owned(), refusal.message.clone());
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).push(LeftOut { part, said });
    }

    /// Returns the parts that were left out since the last call, for the journal.
    pub(super) fn take_left_out(&self) -> Vec<LeftOut> {
        std::mem::take(&mut *self.left_out.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Redacts the server's messages.
    pub(super) fn redact(&self, redact: impl Fn(&str) -> String) {
        for one in self.left_out.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            one.said = redact(&one.said);
        }
    }
}
