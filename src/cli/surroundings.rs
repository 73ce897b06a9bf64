//! The machine around a run: clock, environment, signals, tools, crash points.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use super::failure::Failure;
use crate::config::Settings;
use crate::exit::Exit;
use crate::journal::{Clock, Crash};
use crate::process::Cancel;
use crate::toolchain::{JavaToolchain, Limits, ToolError, ToolPaths};

/// UTC, to the millisecond.
pub(super) fn clock() -> Clock {
    Arc::new(|| {
        let now = jiff::Timestamp::now();
        now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string()
    })
}

pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Finds the Java tools; a missing one ends with status 4 and says how to get it.
pub(super) fn toolchain(settings: &Settings) -> Result<JavaToolchain, Failure> {
    discover(settings).map_err(|e| tool_failure(&e))
}

pub(super) fn discover(settings: &Settings) -> Result<JavaToolchain, ToolError> {
    let env = |name: &str| std::env::var_os(name);
    let paths = ToolPaths { jar: settings.given.tla_tools.as_deref(), java: None, env: &env };
    JavaToolchain::discover(&paths)
}

pub(super) fn tool_failure(error: &ToolError) -> Failure {
    match error {
        ToolError::Cancelled => Failure::new(Exit::Interrupted, "interrupted"),
        ToolError::Missing { tool, advice } => {
            Failure::new(Exit::Tool, format!("{tool} was not found")).hint(advice.clone())
        }
        ToolError::NoJar { advice } => Failure::new(Exit::Tool, "tla2tools.jar was not found").hint(advice.clone()),
        other => Failure::new(Exit::Tool, other.to_string()),
    }
}

/// Limits of tool runs.
pub(super) fn limits(settings: &Settings) -> Limits {
    Limits {
        check: Duration::from_secs(settings.tlc_timeout),
        workers: settings.given.workers.map(NonZeroUsize::get),
        heap_mib: settings.given.heap_mib.map(NonZeroU64::get),
        allowed_modules: settings.given.allow_modules.clone(),
        ..Limits::default()
    }
}

/// Cancels on the first signal, and ends the process on the second.
pub(super) fn cancel_on_signals() -> Cancel {
    use tokio::signal::unix::{SignalKind, signal};
    let cancel = Cancel::new();
    let given = cancel.clone();
    // Registered here and not in the task: that begins only when the program first waits for something, and a signal
    // before that would end the process as if nobody listened.
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return cancel;
    };
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if given.is_cancelled() {
                #[expect(clippy::exit, reason = "a second Ctrl-C means now; the journal is durable at every instant")]
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
            given.cancel();
        }
    });
    cancel
}

/// Crash tests end the process at a journal event: `TLAFORGE_CRASH=before:17`, `torn:17` or `after:17`.
pub(super) fn crash_point() -> Result<Option<Crash>, Failure> {
    let Some(value) = env("TLAFORGE_CRASH") else { return Ok(None) };
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
