//! Ctrl-C and SIGTERM.

use std::time::Duration;

use crate::exit::Exit;
use crate::process::Cancel;

/// How long the program may take to notice a signal before it is ended all the same.
const NOTICE: Duration = Duration::from_secs(5);

/// Cancels on the first signal, and ends the process on the second. Signals are handled in a thread of their own: while
/// the program computes by itself, nothing else of it would notice them.
pub(super) fn cancel_on_signals() -> Cancel {
    use tokio::signal::unix::{SignalKind, signal};
    let cancel = Cancel::new();
    let given = cancel.clone();
    let program = tokio::runtime::Handle::current();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return cancel };
    // Registered here and not in the thread: a signal before that begins would end the process as if nobody listened.
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
            given.cancel();
            // It is busy with a computation of its own if it does not even begin this.
            let noticed = tokio::time::timeout(NOTICE, program.spawn(async {}));
            tokio::select! {
                () = signalled() => {}
                noticed = noticed => if noticed.is_ok() {
                    signalled().await;
                }
            }
            #[expect(clippy::exit, reason = "a second Ctrl-C means now; the journal is durable at every instant")]
            std::process::exit(i32::from(Exit::Interrupted.code()));
        });
    });
    cancel
}
