//! Tasks that run beside the nodes: calls that are paid for but that no node waits for any more.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::open_run::RunError;

/// A task journals its own result. It fails only on an error of the run's own files.
pub type BackgroundTask<'run> = Pin<Box<dyn Future<Output = Result<(), RunError>> + Send + 'run>>;

/// Starts tasks that run beside the nodes.
#[derive(Clone)]
pub struct BackgroundTasks<'run>(UnboundedSender<BackgroundTask<'run>>);

impl<'run> BackgroundTasks<'run> {
    /// The task runs while a node works, also after the node that started it has finished.
    pub fn spawn(&self, task: BackgroundTask<'run>) {
        // The receiver is gone once the run has ended.
        let _ = self.0.send(task);
    }
}

pub(super) struct RunningTasks<'run> {
    sent: UnboundedReceiver<BackgroundTask<'run>>,
    all: FuturesUnordered<BackgroundTask<'run>>,
}

/// A handle that starts tasks, and the driver's side that polls them.
pub(super) fn background_tasks<'run>() -> (BackgroundTasks<'run>, RunningTasks<'run>) {
    let (sender, sent) = unbounded_channel();
    (BackgroundTasks(sender), RunningTasks { sent, all: FuturesUnordered::new() })
}

impl RunningTasks<'_> {
    /// Awaits a node's work and polls the tasks meanwhile.
    pub(super) async fn run_beside<T>(&mut self, work: impl Future<Output = T>) -> Result<T, RunError> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                Some(task) = self.sent.recv() => self.all.push(task),
                Some(done) = self.all.next() => done?,
            }
        }
    }

    /// Awaits all tasks, at most this long. Returns whether all have finished.
    pub(super) async fn settle(&mut self, patience: Duration) -> Result<bool, RunError> {
        while let Ok(task) = self.sent.try_recv() {
            self.all.push(task);
        }
        let all = async {
            while let Some(done) = self.all.next().await {
                done?;
            }
            Ok(())
        };
        match tokio::time::timeout(patience, all).await {
            Ok(done) => done.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Cancels the tasks that have not finished.
    pub(super) fn cancel(&mut self) {
        self.all.clear();
    }
}
