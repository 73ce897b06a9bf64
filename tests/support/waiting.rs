//! Waits for another process or thread. It is the only file of the tests that sleeps (`tests/floors.rs` checks this).
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);
/// Far beyond what a slow machine needs.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until this holds. Fails, and says what was waited for, if it does not hold after two minutes.
#[track_caller]
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    assert!(holds_within(LIMIT, holds), "waited {LIMIT:?} in vain until {what}");
}

/// Whether this holds at once or within the time, if the time itself is what a test is about.
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

/// Like [`wait_until`], and other work of the same runtime goes on meanwhile.
pub async fn wait_until_async(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "waited {LIMIT:?} in vain until {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
