//! What holds for one call beside the request: what it may still use, and what its server turned out not to take.

use std::sync::{Mutex, OnceLock, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::caller::{Budget, Used};
use super::contract::Usage;
use super::failure::{CallFailure, FailureKind};
use super::prices::Price;

/// Tokens of an answer, for the estimate before a request.
pub(super) const EXPECTED_OUTPUT: u64 = 4_000;
/// Bytes of text that make a token, about, for estimates.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// A part of a request that its server refused, and that is left out from then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The part.
    pub part: String,
    /// What the server said of it.
    pub said: String,
}

/// What a budget does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Overdraft {
    /// What is spent, what comes next, and the limit.
    pub what: String,
    /// The limit's flag.
    pub flag: &'static str,
}

/// The terms of one call.
#[derive(Debug, Default)]
pub struct Terms {
    budget: Budget,
    used: Used,
    price: Option<Price>,
    overdraft: OnceLock<Overdraft>,
    left_out: Mutex<Vec<LeftOut>>,
}

impl Terms {
    /// `used` is what the run had used before the call; `price` is that of the model that is asked.
    pub(super) fn new(budget: Budget, used: Used, price: Option<Price>) -> Self {
        Self { budget, used, price, ..Self::default() }
    }

    /// Whether the budget allows what comes next, by an estimate, when the call has taken so much.
    pub(super) fn allow(&self, taken: Usage, next: Usage) -> Result<(), Overdraft> {
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
            let cost = |usage: &Usage| self.price.map_or(0.0, |price| price.of(usage));
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

    /// The same for one more request of a call that is under way: it ends the call.
    pub(super) fn go_on(&self, taken: Usage, next: Usage) -> Result<(), CallFailure> {
        self.allow(taken, next).map_err(|overdraft| {
            let failure = CallFailure::new(FailureKind::Budget, overdraft.what.clone());
            let _ = self.overdraft.set(overdraft);
            failure
        })
    }

    /// Whether there is a limit at all.
    pub(super) fn is_limited(&self) -> bool {
        self.budget != Budget::default()
    }

    /// What ended the call, where the budget did.
    pub(super) fn overdraft(&self) -> Option<&Overdraft> {
        self.overdraft.get()
    }

    /// Notes a part that the server refused.
    pub(super) fn leave_out(&self, part: &str, refusal: &CallFailure) {
        let (part, said) = (part.to_owned(), refusal.message.clone());
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).push(LeftOut { part, said });
    }

    /// What was left out, for the journal.
    pub(super) fn take_left_out(&self) -> Vec<LeftOut> {
        std::mem::take(&mut *self.left_out.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Cleans the server's words.
    pub(super) fn clean(&self, scrub: impl Fn(&str) -> String) {
        for one in self.left_out.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            one.said = scrub(&one.said);
        }
    }
}
