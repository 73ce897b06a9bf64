//! Waits for another process or thread. It is the only file of the tests that sleeps (`tests/floors/` checks this).
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

use std::time::{Duration, Instant};

/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(5);
/// Time limit, far beyond the need of a slow machine: only what hangs takes longer.
const LIMIT: Duration = Duration::from_secs(400);

/// A shell command that ends only by a signal. Tests use it for a process that the program has to end; no test waits
/// until it ends by itself. A failed test leaves it for at most ten minutes.
pub const HANG: &str = "exec sleep 600";

/// Waits until the condition holds. Panics with `what` if it does not hold within [`LIMIT`].
#[track_caller]
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    assert!(holds_within(LIMIT, holds), "waited {LIMIT:?} in vain until {what}");
}

/// Whether the condition holds within the time limit, for tests of the time itself.
pub fn holds_within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    loop {
        if holds() {
            return true;
        }
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(PAUSE.min(left));
    }
}

/// Awaits a future. Panics with `what` if it takes longer than [`LIMIT`].
pub async fn end_of<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("waited {LIMIT:?} in vain until {what}"))
}

/// Like [`wait_until`], without blocking the runtime.
pub async fn wait_until_async(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "waited {LIMIT:?} in vain until {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
