//! A cancel signal that several tasks can share.

use tokio::sync::watch;

/// A cancel signal. After [`Cancel::cancel`] on any clone, all clones are cancelled.
#[derive(Debug, Clone)]
pub struct Cancel {
    sender: std::sync::Arc<watch::Sender<bool>>,
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancel {
    pub fn new() -> Self {
        Self { sender: std::sync::Arc::new(watch::Sender::new(false)) }
    }

    /// Cancels all clones.
    pub fn cancel(&self) {
        self.sender.send_replace(true);
    }

    pub fn is_cancelled(&self) -> bool {
        *self.sender.borrow()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender lives in `self`, so the wait can only end by cancellation.
        let _ = receiver.wait_for(|cancelled| *cancelled).await;
    }
}
