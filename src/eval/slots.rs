//! How many checks an evaluation runs at the same time.

use tokio::sync::Semaphore;

/// Limits how many checks run at the same time. Together they get the memory of one.
pub struct CheckerSlots {
    free: Semaphore,
    count: usize,
}

impl CheckerSlots {
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        Self { free: Semaphore::new(count), count }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Does some work when a slot is free.
    pub async fn occupy<T>(&self, work: impl Future<Output = T>) -> T {
        // Fails only if the semaphore is closed, which never happens.
        let _slot = self.free.acquire().await;
        work.await
    }
}
