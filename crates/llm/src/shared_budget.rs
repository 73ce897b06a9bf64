//! Money that several runs share, each with a caller of its own. It knows no run: a caller reserves what a call is expected to
//! cost, and books what it cost.

use tokio::sync::watch;

use super::budget::{ExpectedUse, Overdraft};

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
    /// Whether a call was refused although no other call could make room for it.
    was_refused: bool,
}

impl SharedBudget {
    /// A limit in US dollars, of which the runs have spent `spent_usd` already.
    pub fn new(limit_usd: f64, spent_usd: f64) -> Self {
        let used = SharedUse { spent_usd, under_way: ExpectedUse::default(), was_refused: false };
        Self { limit_usd, used: watch::Sender::new(used) }
    }

    /// Whether too little is left for a call, so that no further run needs to begin.
    pub fn is_spent(&self) -> bool {
        let used = self.used.borrow();
        // A call is refused before the limit, by what it is expected to cost.
        used.was_refused || used.spent_usd >= self.limit_usd
    }

    /// Wakes up after each change.
    pub(super) fn subscribe(&self) -> SharedUseWatch {
        SharedUseWatch(self.used.subscribe())
    }

    /// Whether a call that is expected to cost this much fits besides the calls under way: `Ok(false)` if it may fit after one
    /// of them has ended.
    pub(super) fn has_room_for(&self, next: ExpectedUse, watch: &mut SharedUseWatch) -> Result<bool, Overdraft> {
        // Marks the value as seen before it is judged: a call that ends after this line wakes the caller up again.
        let SharedUse { spent_usd, under_way, .. } = *watch.0.borrow_and_update();
        if spent_usd + under_way.cost_usd() + next.cost_usd() <= self.limit_usd {
            return Ok(true);
        }
        if under_way.calls > 0 {
            return Ok(false);
        }
        self.used.send_modify(|used| used.was_refused = true);
        Err(self.overdraft(spent_usd, 0.0, next.cost_usd()))
    }

    /// Checks that one more request fits within a call under way, which has reserved `reserved` and has taken `taken_usd` so
    /// far. What other calls are expected to cost counts as spent.
    pub(super) fn check_request(&self, reserved: ExpectedUse, taken_usd: f64, next_usd: f64) -> Result<(), Overdraft> {
        let SharedUse { spent_usd, under_way, .. } = *self.used.borrow();
        let (spent_usd, others_usd) = (spent_usd + taken_usd, (under_way.cost_usd() - reserved.cost_usd()).max(0.0));
        if spent_usd + others_usd + next_usd <= self.limit_usd {
            return Ok(());
        }
        Err(self.overdraft(spent_usd, others_usd, next_usd))
    }

    fn overdraft(&self, spent_usd: f64, others_usd: f64, next_usd: f64) -> Overdraft {
        let others = match others_usd {
            0.0 => String::new(),
            others => format!(", other calls under way are expected to cost ${others:.4}"),
        };
        let what = format!(
            "all runs together have cost ${spent_usd:.4}{others}, the next call costs about ${next_usd:.4}, and their limit \
             is ${}",
            self.limit_usd
        );
        Overdraft { what, flag: "--max-cost" }
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
        // An error would mean that the budget is gone; its callers keep it.
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
        assert!(budget.has_room_for(call(0.5), &mut watch).is_err() && budget.is_spent(), "refused before the limit");
        budget.book(0.4);
        let refused = budget.has_room_for(call(0.3), &mut watch).unwrap_err().what;
        assert!(refused.contains("all runs together have cost $1.0000") && budget.is_spent(), "{refused}");
    }

    #[test]
    fn a_further_request_of_a_call_counts_others_but_not_its_own_reservation() {
        let (budget, call) =
            (SharedBudget::new(1.0, 0.2), |usd| ExpectedUse::of_call(&crate::Usage::default(), Some(usd)));
        budget.reserve(call(0.3));
        assert!(budget.check_request(call(0.3), 0.4, 0.3).is_ok());
        assert!(budget.check_request(call(0.3), 0.5, 0.4).is_err());
        budget.reserve(call(0.25));
        let refused = budget.check_request(call(0.3), 0.4, 0.3).unwrap_err();
        assert!(refused.what.contains("other calls under way are expected to cost $0.25"), "{}", refused.what);
        assert!(!budget.is_spent(), "the other call may cost less");
    }
}
