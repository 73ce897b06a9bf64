//! A cancel signal that many may hold.

use tokio::sync::watch;

/// Cloned freely; once [`Cancel::cancel`] was called on any clone, all are cancelled.
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
    /// A signal that was not given yet.
    pub fn new() -> Self {
        Self { sender: std::sync::Arc::new(watch::Sender::new(false)) }
    }

    /// Gives the signal.
    pub fn cancel(&self) {
        self.sender.send_replace(true);
    }

    /// Whether it was given.
    pub fn is_cancelled(&self) -> bool {
        *self.sender.borrow()
    }

    /// Waits until it is given.
    pub async fn cancelled(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender lives in `self`, so waiting ends only with the signal.
        let _ = receiver.wait_for(|given| *given).await;
    }
}
