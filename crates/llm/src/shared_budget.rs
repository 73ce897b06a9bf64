//! Money that several runs share, each with a caller of its own. It knows no run: a caller reserves what a call is expected to
//! cost, and books what it cost.

use tokio::sync::watch;

use super::budget::ExpectedUse;
use super::provider::LlmError;

/// A limit for the cost of several runs together.
#[derive(Debug)]
pub struct SharedBudget {
    limit_usd: f64,
    used: watch::Sender<SharedUse>,
}

#[derive(Debug, Clone, Copy)]
struct SharedUse {
    /// US dollars of all calls that have ended.
    spent_usd: f64,
    /// The expected use of the calls under way.
    under_way: ExpectedUse,
}

impl SharedBudget {
    /// A limit in US dollars, of which the runs have spent `spent_usd` already.
    pub fn new(limit_usd: f64, spent_usd: f64) -> Self {
        Self { limit_usd, used: watch::Sender::new(SharedUse { spent_usd, under_way: ExpectedUse::default() }) }
    }

    /// Whether nothing is left, so that no further run needs to begin.
    pub fn is_spent(&self) -> bool {
        self.used.borrow().spent_usd >= self.limit_usd
    }

    /// Wakes up after each change.
    pub(super) fn subscribe(&self) -> SharedUseWatch {
        SharedUseWatch(self.used.subscribe())
    }

    /// Whether a call that is expected to cost this much fits besides the calls under way: `Ok(false)` if it may fit after one
    /// of them has ended.
    pub(super) fn has_room_for(&self, next: ExpectedUse, watch: &mut SharedUseWatch) -> Result<bool, LlmError> {
        // Marks the value as seen before it is judged: a call that ends after this line wakes the caller up again.
        let SharedUse { spent_usd, under_way } = *watch.0.borrow_and_update();
        if spent_usd + under_way.cost_usd() + next.cost_usd() <= self.limit_usd {
            return Ok(true);
        }
        if under_way.calls > 0 {
            return Ok(false);
        }
        let what = format!(
            "all runs together have cost ${spent_usd:.4}, the next call costs about ${:.4}, and their limit is ${}",
            next.cost_usd(),
            self.limit_usd
        );
        Err(LlmError::Budget { what, flag: "--max-cost" })
    }

    pub(super) fn reserve(&self, next: ExpectedUse) {
        self.used.send_modify(|used| used.under_way.add(next));
    }

    pub(super) fn release(&self, next: ExpectedUse) {
        self.used.send_modify(|used| used.under_way.remove(next));
    }

    /// Books what a call cost.
    pub(super) fn book(&self, cost_usd: f64) {
        self.used.send_modify(|used| used.spent_usd += cost_usd);
    }
}

/// Sees each change of a shared budget.
pub(super) struct SharedUseWatch(watch::Receiver<SharedUse>);

impl SharedUseWatch {
    pub(super) async fn changed(&mut self) {
        // An error means that the budget is gone, which its callers outlive never.
        let _ = self.0.changed().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_waits_for_others_and_is_refused_if_none_can_make_room() {
        let (budget, call) =
            (SharedBudget::new(1.0, 0.5), |usd| ExpectedUse::of_call(&crate::Usage::default(), Some(usd)));
        let mut watch = budget.subscribe();
        assert!(budget.has_room_for(call(0.3), &mut watch).unwrap());
        budget.reserve(call(0.3));
        assert!(!budget.has_room_for(call(0.3), &mut watch).unwrap(), "the other call may cost less than expected");
        budget.release(call(0.3));
        budget.book(0.1);
        assert!(budget.has_room_for(call(0.3), &mut watch).unwrap() && !budget.is_spent());
        budget.book(0.4);
        let refused = budget.has_room_for(call(0.3), &mut watch).unwrap_err().to_string();
        assert!(refused.contains("all runs together have cost $1.0000") && budget.is_spent(), "{refused}");
    }
}
