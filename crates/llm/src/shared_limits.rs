//! Limits that several runs share: what a caller asks before each request of a call, and reports after it. It knows no run
//! and no provider.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing::info;

use super::budget::Estimate;
use super::failure::CallFailure;
use super::usage::Usage;
use tlaforge_process::Cancel;

/// What a request uses: expected before it, known or estimated after it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RequestUse {
    /// US dollars, as far as prices are known.
    pub cost_usd: f64,
    pub tokens: u64,
}

impl RequestUse {
    /// What a try has used, or is estimated to have used.
    pub(super) fn of_try(usage: Option<Usage>, cost_usd: Option<f64>, estimated: Option<Estimate>) -> Self {
        let estimate = estimated.map(|estimated| estimated.usage).unwrap_or_default();
        let estimated_usd = estimated.and_then(|estimated| estimated.cost_usd);
        Self {
            cost_usd: cost_usd.unwrap_or(0.0) + estimated_usd.unwrap_or(0.0),
            tokens: usage.unwrap_or_default().total().saturating_add(estimate.total()),
        }
    }
}

/// Whether a request may be sent.
pub enum Admission {
    Granted,
    /// Not now. Ask again, with the same id, after `changed` has ended.
    Wait {
        why: String,
        changed: Pin<Box<dyn Future<Output = ()> + Send>>,
    },
    /// Waiting cannot help.
    Refused {
        /// The use so far, the next request, and the limit, in words.
        what: String,
        /// The command-line flag of the limit.
        flag: &'static str,
    },
}

/// The provider answers no request of the account any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaError {
    /// Its message.
    pub why: String,
    /// Time after which it answers again, if it said one.
    pub reset_after: Option<Duration>,
}

/// The end of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settlement {
    pub used: RequestUse,
    pub quota: Option<QuotaError>,
}

/// The answer to a question; the error says why there is none.
pub type AdmissionFuture<'a> = Pin<Box<dyn Future<Output = Result<Admission, String>> + Send + 'a>>;

/// Limits that several runs share, in one process or in many.
pub trait SharedLimits: fmt::Debug + Send + Sync {
    /// An id for one request. Repeating a question or a settlement with the same id changes nothing.
    fn new_id(&self) -> u64;

    /// Asks whether a request may be sent now. An admitted request counts as under way until it is settled.
    fn admit(&self, id: u64, expected: RequestUse) -> AdmissionFuture<'_>;

    /// Ends a request that was asked for. Returns at once.
    fn settle(&self, id: u64, settlement: Settlement);

    /// Ends when all settlements are where they count, or cannot get there.
    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    /// Whether questions wait after a quota error until the account gets answers again. If not, the call fails.
    fn waits_for_quota(&self) -> bool;
}

/// Why a request cannot be sent.
#[derive(Debug)]
pub(super) enum NotAdmitted {
    Cancelled,
    /// A limit does not allow it.
    Refused {
        what: String,
        flag: &'static str,
    },
    /// It is not known whether the limits allow it.
    Unknown {
        what: String,
    },
}

/// The requests of one call, one after the other. Dropping it ends the last one, also if the call fails or is cancelled.
#[derive(Debug)]
pub(super) struct SharedCall {
    limits: Arc<dyn SharedLimits>,
    current: Mutex<Current>,
}

#[derive(Debug, Default)]
struct Current {
    /// The request that was asked for and not settled.
    id: Option<u64>,
    /// Whether it was admitted.
    is_admitted: bool,
    /// What it was expected to use.
    expected: RequestUse,
    /// Whether it was sent.
    is_sent: bool,
    /// What earlier requests of the same try have used.
    settled: RequestUse,
}

impl SharedCall {
    pub(super) fn new(limits: Arc<dyn SharedLimits>) -> Self {
        Self { limits, current: Mutex::default() }
    }

    /// Asks for the next request, once.
    pub(super) async fn ask(&self, expected: RequestUse) -> Result<Admission, NotAdmitted> {
        let id = {
            let mut current = self.current();
            if current.is_admitted {
                return Ok(Admission::Granted);
            }
            *current.id.get_or_insert_with(|| self.limits.new_id())
        };
        let admission = self.limits.admit(id, expected).await.map_err(|what| NotAdmitted::Unknown { what })?;
        match &admission {
            Admission::Granted => {
                let mut current = self.current();
                (current.is_admitted, current.expected) = (true, expected);
            }
            Admission::Wait { why, .. } => info!(why, "a model call waits for the limits of all runs"),
            Admission::Refused { .. } => self.current().id = None,
        }
        Ok(admission)
    }

    /// Waits until the next request is admitted.
    pub(super) async fn admit(&self, expected: RequestUse, cancel: &Cancel) -> Result<(), NotAdmitted> {
        loop {
            let asked = tokio::select! {
                asked = self.ask(expected) => asked?,
                () = cancel.cancelled() => return Err(NotAdmitted::Cancelled),
            };
            match asked {
                Admission::Granted => return Ok(()),
                Admission::Refused { what, flag } => return Err(NotAdmitted::Refused { what, flag }),
                Admission::Wait { changed, .. } => tokio::select! {
                    () = changed => {}
                    () = cancel.cancelled() => return Err(NotAdmitted::Cancelled),
                },
            }
        }
    }

    pub(super) fn mark_sent(&self) {
        self.current().is_sent = true;
    }

    /// Begins one more request of a try that has used `taken` so far. The first one was admitted with the try.
    pub(super) async fn begin_request(&self, taken: RequestUse, next: RequestUse) -> Result<(), NotAdmitted> {
        let is_first = !std::mem::replace(&mut self.current().is_sent, true);
        if is_first {
            return Ok(());
        }
        self.settle(taken, None);
        // Cancelled with the call, by dropping it.
        self.admit(next, &Cancel::new()).await?;
        self.current().is_sent = true;
        Ok(())
    }

    /// Ends a try that has used this much in all of its requests.
    pub(super) fn end_try(&self, used: RequestUse, quota: Option<QuotaError>) {
        self.settle(used, quota);
        *self.current() = Current::default();
    }

    /// Ends a failed try; `is_last` if its failure does not allow another one. Returns whether the call is parked: the next try
    /// is admitted when the account gets answers again.
    pub(super) fn end_failed_try(&self, used: RequestUse, failure: &CallFailure, is_last: bool) -> bool {
        let is_parked = is_last && failure.is_quota_error() && self.limits.waits_for_quota();
        let quota = is_parked.then(|| QuotaError { why: failure.message.clone(), reset_after: failure.retry_after });
        self.end_try(used, quota);
        is_parked
    }

    /// Ends the last request of a try that has used this much so far.
    fn settle(&self, used: RequestUse, quota: Option<QuotaError>) {
        let mut current = self.current();
        let Current { id, settled, .. } = std::mem::take(&mut *current);
        current.settled = used;
        drop(current);
        let used = RequestUse {
            cost_usd: (used.cost_usd - settled.cost_usd).max(0.0),
            tokens: used.tokens.saturating_sub(settled.tokens),
        };
        // A try that ended because its next request was refused has none under way, but perhaps something to book.
        let id = id.or_else(|| (used != RequestUse::default() || quota.is_some()).then(|| self.limits.new_id()));
        if let Some(id) = id {
            self.limits.settle(id, Settlement { used, quota });
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SharedCall {
    fn drop(&mut self) {
        let (id, expected, may_be_sent) = {
            let mut current = self.current();
            (current.id.take(), current.expected, current.is_admitted && current.is_sent)
        };
        if let Some(id) = id {
            // A request that was cancelled under way may be paid all the same.
            let used = if may_be_sent { expected } else { RequestUse::default() };
            self.limits.settle(id, Settlement { used, quota: None });
        }
    }
}
