//! The state of one call besides its request: the budget that is left for it, and the parts of the request that its server
//! refused. It does not send requests and does not decide on retries.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{Budget, Overdraft, Used};
use super::failure::{CallFailure, FailureKind};
use super::prices::Price;
use super::shared_limits::{NotAdmitted, RequestUse, SharedCall};
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
    /// The requests of the call, under the limits for several runs.
    shared: Option<Arc<SharedCall>>,
    // Providers get the state by shared reference, so what they report needs interior mutability.
    stop: OnceLock<NotAdmitted>,
    left_out: Mutex<Vec<LeftOut>>,
}

impl CallState {
    /// `used` is the use of the run before the call; `price` is the price of the model that is asked.
    pub(super) fn new(budget: Budget, used: Used, price: Option<Price>) -> Self {
        Self { budget, used, price, ..Self::default() }
    }

    /// Makes the requests of the call count against limits for several runs, too.
    #[must_use]
    pub(super) fn sharing(self, shared: Option<Arc<SharedCall>>) -> Self {
        Self { shared, ..self }
    }

    /// Checks that the budget of the run allows a request with the estimated usage `next`, if the call has used `taken` so far.
    pub(super) fn check_budget(&self, taken: Usage, next: Usage) -> Result<(), Overdraft> {
        self.budget.check(&self.used, self.price, taken, next)
    }

    /// What this usage means for limits of several runs.
    pub(super) fn shared_use(&self, usage: Usage) -> RequestUse {
        let cost_usd = self.price.map_or(0.0, |price| price.cost_of(&usage));
        RequestUse { cost_usd, tokens: usage.total() }
    }

    /// Begins one more request of a call that is under way: checks the budget, and waits for the limits of several runs. An
    /// error ends the call.
    pub(super) async fn begin_request(&self, taken: Usage, next: Usage) -> Result<(), CallFailure> {
        let checked = match (self.check_budget(taken, next), &self.shared) {
            (Err(Overdraft { what, flag }), _) => Err(NotAdmitted::Refused { what, flag }),
            (Ok(()), Some(shared)) => shared.begin_request(self.shared_use(taken), self.shared_use(next)).await,
            (Ok(()), None) => Ok(()),
        };
        checked.map_err(|error| {
            // The failure is journaled with the usage of the call. The caller returns the error itself, which names the flag.
            let what = match &error {
                NotAdmitted::Cancelled => "cancelled".to_owned(),
                NotAdmitted::Refused { what, .. } | NotAdmitted::Unknown { what } => what.clone(),
            };
            let _ = self.stop.set(error);
            CallFailure::new(FailureKind::Budget, what)
        })
    }

    /// Marks the first request as sent, for a provider that does not report each of its requests.
    pub(super) fn mark_sent(&self) {
        if let Some(shared) = &self.shared {
            shared.mark_sent();
        }
    }

    /// Whether the budget has any limit.
    pub(super) fn is_limited(&self) -> bool {
        self.budget.limits_usage() || self.shared.is_some()
    }

    /// The error that ended the call, if a limit did.
    pub(super) fn into_stop(self) -> Option<NotAdmitted> {
        self.stop.into_inner()
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
