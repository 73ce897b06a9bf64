//! Ctrl-C and SIGTERM.

use std::time::Duration;

use super::telemetry::{self, LAST_BATCH_AT_SIGNAL};
use crate::exit::Exit;
use crate::process::Cancel;

/// Time for the program to react to the first signal before the process exits anyway.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Cancels on the first signal and exits the process on the second.
pub(super) fn cancel_on_signals() -> Cancel {
    handle_signals(true)
}

/// Cancels on the first signal. For a process that a worker signals: the second one may come from a service manager at the same
/// moment, and the worker ends a process that does not end by itself.
#[cfg(feature = "restate")]
pub(super) fn cancel_on_first_signal() -> Cancel {
    handle_signals(false)
}

/// A thread of its own handles the signals, because the single-threaded runtime does not run while a computation occupies it.
fn handle_signals(exits_on_second: bool) -> Cancel {
    use tokio::signal::unix::{SignalKind, signal};
    let cancel = Cancel::new();
    let cancel_in_thread = cancel.clone();
    let main_runtime = tokio::runtime::Handle::current();
    // Without a handler, a signal ends the process at once. Nothing is lost, because the journal is durable at every
    // instant.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return cancel };
    // Register here, not in the thread: a signal that arrives before the thread starts would kill the process.
    let registered = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    };
    let (Ok(mut interrupt), Ok(mut terminate)) = registered else { return cancel };
    let mut signalled = async move || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            signalled().await;
            cancel_in_thread.cancel();
            // If the runtime does not even start this task, a computation occupies it.
            let reacted = tokio::time::timeout(GRACE_PERIOD, main_runtime.spawn(async {}));
            tokio::select! {
                () = signalled(), if exits_on_second => {}
                // The program has reacted and ends its work by itself; only a second signal interrupts that.
                reacted = reacted => match reacted {
                    Ok(_) if exits_on_second => signalled().await,
                    Ok(_) => std::future::pending().await,
                    Err(_) => {}
                }
            }
            telemetry::end(LAST_BATCH_AT_SIGNAL);
            #[expect(clippy::exit, reason = "a second Ctrl-C means now; the journal is durable at every instant")]
            std::process::exit(i32::from(Exit::Interrupted.code()));
        });
    });
    cancel
}
