//! The state of one call besides its request: the budget that is left for it, and the parts of the request that its server
//! refused. It does not send requests and does not decide on retries.

use std::sync::{Mutex, OnceLock, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{Budget, Overdraft, Used};
use super::failure::{CallFailure, FailureKind};
use super::prices::Price;
use super::usage::Usage;

/// A part of a request that the server refused and that is left out from then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub part: String,
    /// The server's message, with keys redacted.
    pub said: String,
}

/// The state of one call.
#[derive(Debug, Default)]
pub struct CallState {
    budget: Budget,
    used: Used,
    price: Option<Price>,
    // Providers get the state by shared reference, so what they report needs interior mutability.
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
        self.budget.check(&self.used, self.price, taken, next)
    }

    /// Checks the budget before one more request of a call that is under way. An error ends the call.
    pub(super) fn check_next_request(&self, taken: Usage, next: Usage) -> Result<(), CallFailure> {
        self.check_budget(taken, next).map_err(|overdraft| {
            // The failure is journaled with the usage of the call. The caller returns the overdraft itself, which names the
            // flag.
            let failure = CallFailure::new(FailureKind::Budget, overdraft.what.clone());
            let _ = self.overdraft.set(overdraft);
            failure
        })
    }

    /// Whether the budget has any limit.
    pub(super) fn is_limited(&self) -> bool {
        self.budget.limits_usage()
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

    /// Applies `redact` to the server's messages: they go into the journal and can repeat a key.
    pub(super) fn redact(&self, redact: impl Fn(&str) -> String) {
        for one in self.left_out.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            one.said = redact(&one.said);
        }
    }
}
