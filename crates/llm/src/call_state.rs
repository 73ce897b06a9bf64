//! The state of one call besides its request: the budget that is left for it, and the parts of the request that its server
//! refused. It does not send requests and does not decide on retries.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{Budget, ExpectedUse, Overdraft, Used};
use super::failure::{CallFailure, FailureKind};
use super::prices::Price;
use super::shared_budget::SharedBudget;
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
    /// The limit for several runs, and what the call has reserved of it.
    shared: Option<(Arc<SharedBudget>, ExpectedUse)>,
    // Providers get the state by shared reference, so what they report needs interior mutability.
    overdraft: OnceLock<Overdraft>,
    left_out: Mutex<Vec<LeftOut>>,
}

impl CallState {
    /// `used` is the use of the run before the call; `price` is the price of the model that is asked.
    pub(super) fn new(budget: Budget, used: Used, price: Option<Price>) -> Self {
        Self { budget, used, price, ..Self::default() }
    }

    /// Makes the requests of the call count against a limit for several runs, too. `reserved` is the call's own reservation.
    #[must_use]
    pub(super) fn sharing(self, shared: Option<Arc<SharedBudget>>, reserved: ExpectedUse) -> Self {
        Self { shared: shared.map(|shared| (shared, reserved)), ..self }
    }

    /// Checks that the budgets allow a request with the estimated usage `next`, if the call has used `taken` so far.
    pub(super) fn check_budget(&self, taken: Usage, next: Usage) -> Result<(), Overdraft> {
        self.budget.check(&self.used, self.price, taken, next)?;
        let cost = |usage: &Usage| self.price.map_or(0.0, |price| price.cost_of(usage));
        match &self.shared {
            Some((shared, reserved)) => shared.check_request(*reserved, cost(&taken), cost(&next)),
            None => Ok(()),
        }
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
        self.budget.limits_usage() || self.shared.is_some()
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
