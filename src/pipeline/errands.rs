//! What goes on beside the nodes: calls that were paid for, and that nobody waits for any more.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::run::RunError;

/// Work beside the nodes. It tells the journal itself what came of it; its error is one of the run's own files.
pub type Errand<'run> = Pin<Box<dyn Future<Output = Result<(), RunError>> + Send + 'run>>;

/// Takes work that goes on beside the nodes.
#[derive(Clone)]
pub struct Errands<'run>(UnboundedSender<Errand<'run>>);

impl<'run> Errands<'run> {
    /// Sends one. It goes on while a node works, also after the one that sent it.
    pub fn send(&self, errand: Errand<'run>) {
        // Nobody takes it where the run has ended.
        let _ = self.0.send(errand);
    }
}

/// The errands under way.
pub(super) struct UnderWay<'run> {
    sent: UnboundedReceiver<Errand<'run>>,
    all: FuturesUnordered<Errand<'run>>,
}

/// Errands, and who sees to them.
pub(super) fn errands<'run>() -> (Errands<'run>, UnderWay<'run>) {
    let (sender, sent) = unbounded_channel();
    (Errands(sender), UnderWay { sent, all: FuturesUnordered::new() })
}

impl UnderWay<'_> {
    /// Does a node's work, with the errands going on.
    pub(super) async fn beside<T>(&mut self, work: impl Future<Output = T>) -> Result<T, RunError> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                Some(errand) = self.sent.recv() => self.all.push(errand),
                Some(done) = self.all.next() => done?,
            }
        }
    }

    /// Lets the errands come to their end, for so long at most; whether all of them did.
    pub(super) async fn settle(&mut self, patience: Duration) -> Result<bool, RunError> {
        while let Ok(errand) = self.sent.try_recv() {
            self.all.push(errand);
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

    /// Gives up what is still under way.
    pub(super) fn give_up(&mut self) {
        self.all.clear();
    }
}
