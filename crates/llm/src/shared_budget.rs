//! Money that several runs of one process share, each with a caller of its own. It knows no run: a request reserves what it is
//! expected to cost until it is settled.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use super::shared_limits::{Admission, AdmissionFuture, RequestUse, Settlement, SharedLimits};

/// A limit for the cost of several runs together.
#[derive(Debug)]
pub struct SharedBudget {
    limit_usd: f64,
    used: watch::Sender<SharedUse>,
    ids: AtomicU64,
}

#[derive(Debug, Clone)]
struct SharedUse {
    /// US dollars of all requests that have ended.
    spent_usd: f64,
    /// US dollars that each request under way is expected to cost.
    under_way: BTreeMap<u64, f64>,
    /// Whether a request was refused although no other one could make room for it.
    was_refused: bool,
}

impl SharedBudget {
    /// A limit in US dollars, of which the runs have spent `spent_usd` already.
    pub fn new(limit_usd: f64, spent_usd: f64) -> Self {
        let used = SharedUse { spent_usd, under_way: BTreeMap::new(), was_refused: false };
        Self { limit_usd, used: watch::Sender::new(used), ids: AtomicU64::new(0) }
    }

    /// Whether too little is left for a call, so that no further run needs to begin.
    pub fn is_spent(&self) -> bool {
        let used = self.used.borrow();
        // A call is refused before the limit, by what it is expected to cost.
        used.was_refused || used.spent_usd >= self.limit_usd
    }

    fn decide(&self, id: u64, next_usd: f64) -> Admission {
        // Has seen the value that is judged: a request that ends after this line wakes it up.
        let mut changes = self.used.subscribe();
        let mut admission = Admission::Granted;
        self.used.send_if_modified(|used| {
            let expected_usd: f64 = used.under_way.values().sum();
            if used.under_way.contains_key(&id) {
                return false;
            }
            if used.spent_usd + expected_usd + next_usd <= self.limit_usd {
                used.under_way.insert(id, next_usd);
            } else if used.under_way.is_empty() {
                used.was_refused = true;
                let what = format!(
                    "all runs together have cost ${:.4}, the next call costs about ${next_usd:.4}, and their limit is ${}",
                    used.spent_usd, self.limit_usd
                );
                admission = Admission::Refused { what, flag: "--max-cost" };
            } else {
                admission = Admission::Wait { why: String::new(), changed: Box::pin(async {}) };
            }
            // Those that wait have nothing to gain from a request that begins or is refused.
            false
        });
        if let Admission::Wait { why, changed } = &mut admission {
            *why = format!("other calls may use up the limit of ${} for all runs", self.limit_usd);
            // An error would mean that the budget is gone; its callers keep it.
            *changed = Box::pin(async move { drop(changes.changed().await) });
        }
        admission
    }
}

impl SharedLimits for SharedBudget {
    fn new_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    fn admit(&self, id: u64, expected: RequestUse) -> AdmissionFuture<'_> {
        Box::pin(std::future::ready(Ok(self.decide(id, expected.cost_usd))))
    }

    fn settle(&self, id: u64, settlement: Settlement) {
        self.used.send_modify(|used| {
            used.under_way.remove(&id);
            used.spent_usd += settlement.used.cost_usd;
        });
    }

    fn waits_for_quota(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(cost_usd: f64) -> RequestUse {
        RequestUse { cost_usd, tokens: 0 }
    }

    fn used(cost_usd: f64) -> Settlement {
        Settlement { used: usd(cost_usd), quota: None }
    }

    #[test]
    fn a_call_waits_for_others_and_is_refused_if_none_can_make_room() {
        let budget = SharedBudget::new(1.0, 0.5);
        assert!(matches!(budget.decide(1, 0.3), Admission::Granted));
        assert!(matches!(budget.decide(1, 0.3), Admission::Granted), "the same one again reserves nothing more");
        let waits = budget.decide(2, 0.3);
        assert!(matches!(waits, Admission::Wait { .. }), "the other call may cost less than expected");
        budget.settle(1, used(0.1));
        if let Admission::Wait { changed, .. } = waits {
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(changed);
        }
        assert!(matches!(budget.decide(2, 0.3), Admission::Granted) && !budget.is_spent());
        budget.settle(2, used(0.0));
        assert!(
            matches!(budget.decide(3, 0.5), Admission::Refused { .. }) && budget.is_spent(),
            "refused before the limit"
        );
        budget.settle(4, used(0.4));
        let Admission::Refused { what, .. } = budget.decide(5, 0.3) else { panic!("admitted") };
        assert!(what.contains("all runs together have cost $1.0000") && budget.is_spent(), "{what}");
    }

    #[test]
    fn the_requests_of_a_call_are_booked_one_by_one_and_its_end_frees_what_was_expected() {
        use crate::shared_limits::{NotAdmitted, SharedCall};
        let budget = std::sync::Arc::new(SharedBudget::new(1.0, 0.2));
        let call = SharedCall::new(budget.clone());
        let cancel = tlaforge_process::Cancel::new();
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            call.admit(usd(0.3), &cancel).await.unwrap();
            call.begin_request(usd(0.0), usd(0.3)).await.unwrap();
            assert!(matches!(budget.decide(9, 0.6), Admission::Wait { .. }));
            call.begin_request(usd(0.4), usd(0.3)).await.unwrap();
            assert!(matches!(budget.decide(9, 0.2), Admission::Wait { .. }), "0.6 spent, 0.3 expected");
            let refused = call.begin_request(usd(0.5), usd(0.4)).await.unwrap_err();
            let NotAdmitted::Refused { what: refused, .. } = refused else { panic!("{refused:?}") };
            assert!(refused.contains("have cost $0.7000, the next call costs about $0.4000"), "{refused}");
            call.end_try(usd(0.6), None);
            call.admit(usd(0.2), &cancel).await.unwrap();
        });
        assert!(matches!(budget.decide(9, 0.1), Admission::Wait { .. }), "0.8 spent, 0.2 expected");
        drop(call);
        assert!(matches!(budget.decide(9, 0.2), Admission::Granted));
    }
}
