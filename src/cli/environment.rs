//! The environment variables and the clock of this process.

use std::sync::Arc;

use super::failure::Failure;
use crate::journal::{Clock, Crash};

/// UTC, rounded to milliseconds.
pub(super) fn clock() -> Clock {
    Arc::new(|| {
        let now = jiff::Timestamp::now();
        now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string()
    })
}

/// Returns `None` for a variable that is unset or not Unicode.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns `None` for an empty variable too.
pub(super) fn nonempty_variable(name: &str) -> Option<String> {
    variable(name).filter(|v| !v.is_empty())
}

/// The crash point of a crash test: `TLAFORGE_CRASH=before:17`, `torn:17` or `after:17` ends the process at that event.
pub(super) fn crash_point_from_env() -> Result<Option<Crash>, Failure> {
    let Some(value) = variable("TLAFORGE_CRASH") else { return Ok(None) };
    let point = value.split_once(':').and_then(|(kind, seq)| {
        let seq = seq.parse().ok()?;
        match kind {
            "before" => Some(Crash::Before(seq)),
            "torn" => Some(Crash::Torn(seq)),
            "after" => Some(Crash::After(seq)),
            _ => None,
        }
    });
    point.map(Some).ok_or_else(|| Failure::usage(format!("TLAFORGE_CRASH is {value:?}; it must be like after:17")))
}
