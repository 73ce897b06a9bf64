//! How many checks an evaluation runs at the same time.

use tokio::sync::Semaphore;

use crate::toolchain::{Limits, memory_per_run_mib};

/// Limits how many checks run at the same time.
pub struct CheckerSlots {
    free: Semaphore,
    /// How many share the memory of this machine, if they run here.
    sharing: Option<usize>,
}

impl CheckerSlots {
    /// Together they get the memory of one.
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        Self { free: Semaphore::new(count), sharing: Some(count) }
    }

    /// For checks on other machines: each gets the memory of one.
    pub fn elsewhere(count: usize) -> Self {
        Self { sharing: None, ..Self::new(count) }
    }

    /// The limits of one of them.
    pub(super) fn share(&self, limits: &Limits) -> Limits {
        let heap_mib = self.sharing.map(|count| memory_per_run_mib(limits, count)).or(limits.heap_mib);
        Limits { heap_mib, ..limits.clone() }
    }

    /// Does some work when a slot is free.
    pub async fn occupy<T>(&self, work: impl Future<Output = T>) -> T {
        // Fails only if the semaphore is closed, which never happens.
        let _slot = self.free.acquire().await;
        work.await
    }
}
