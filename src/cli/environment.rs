//! The environment variables and the clock of this process.

use std::path::PathBuf;
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

/// The libraries of `TLA_PATH` and of `TLA-Library`, which the TLA+ tools know as a property of Java. As in a `PATH`, an
/// entry that does not exist is passed over.
pub(super) fn libraries_of_environment() -> Vec<PathBuf> {
    let options = variable("JAVA_TOOL_OPTIONS").unwrap_or_default();
    let property = options.split_whitespace().find_map(|option| option.strip_prefix("-DTLA-Library="));
    let lists = [variable("TLA_PATH"), variable("TLA-Library"), property.map(str::to_owned)];
    let all = lists.iter().flatten().flat_map(std::env::split_paths);
    all.filter(|path| !path.as_os_str().is_empty() && path.exists()).collect()
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
