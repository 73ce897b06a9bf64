//! Waits for another process or thread. It is the only file of the tests that sleeps (`tests/floors/` checks this).
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

use std::time::{Duration, Instant};

/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(5);
/// Time limit, far beyond the need of a slow machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until the condition holds. Panics with `what` if it does not hold after two minutes.
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

/// Like [`wait_until`], without blocking the runtime.
pub async fn wait_until_async(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "waited {LIMIT:?} in vain until {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
