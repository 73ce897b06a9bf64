//! Waits for something while the client sees progress and can cancel.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::Instant;

/// Time between two messages. Clients give up after a minute of silence.
const INTERVAL: Duration = Duration::from_secs(5);
/// Longest wait that a client can ask for: Codex gives a call 60 seconds.
pub(super) const MAX_WAIT: u32 = 45;

pub(super) enum Waited<T> {
    Done(T),
    TimeUp,
    /// The client cancelled the call.
    Cancelled,
}

/// Waits until `done`, the time limit, or a cancel. `describe` gives the message for the client.
pub(super) async fn wait_with_progress<T>(
    context: &RequestContext<RoleServer>,
    limit: Duration,
    describe: &(dyn Fn() -> String + Sync),
    done: impl Future<Output = T>,
) -> Waited<T> {
    tokio::pin!(done);
    let began = Instant::now();
    let end = tokio::time::sleep(limit);
    tokio::pin!(end);
    loop {
        tokio::select! {
            result = &mut done => return Waited::Done(result),
            () = &mut end => return Waited::TimeUp,
            () = context.ct.cancelled() => return Waited::Cancelled,
            () = tokio::time::sleep(INTERVAL) => {
                if let Some(token) = context.meta.get_progress_token() {
                    let progress = ProgressNotificationParam::new(token, began.elapsed().as_secs_f64());
                    // A client that has gone is noticed by the transport.
                    let _ = context.peer.notify_progress(progress.with_message(describe())).await;
                }
            }
        }
    }
}

/// The wait that a client asks for.
pub(super) fn requested_wait(seconds: Option<u32>, default: u32) -> Duration {
    Duration::from_secs(u64::from(seconds.unwrap_or(default).min(MAX_WAIT)))
}

/// Calls `check` now and every quarter of a second, until it has a result.
pub(super) async fn poll_until<T>(mut check: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(result) = check() {
            return result;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}
