//! How long a client waits for an engine or a worker that does not answer.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::address::EngineAddress;
use crate::job::MAX_MESSAGE_BYTES;

/// Why a message has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The engine could not be reached, or no worker took the job, for the time that the client waits.
    #[error("no result from the engine {engine} for {seconds} s: {what}")]
    Unavailable { engine: EngineAddress, seconds: u64, what: String },
    /// Workers took it and could not do it.
    #[error("{0}")]
    Failed(String),
    #[error("the request has {bytes} bytes, more than the {MAX_MESSAGE_BYTES} of a message")]
    TooLarge { bytes: usize },
}

pub(crate) struct Patience {
    engine: EngineAddress,
    /// Time without any progress after which the client gives up.
    limit: Duration,
    note: Box<dyn Fn(&str) + Send + Sync>,
    trouble: Mutex<Option<Trouble>>,
}

/// A time without progress.
struct Trouble {
    since: Instant,
    /// Reasons that were printed.
    noted: BTreeSet<String>,
}

impl Patience {
    /// `note` gets a line for each reason to wait.
    pub(crate) fn new(engine: EngineAddress, limit: Duration, note: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { engine, limit, note: Box::new(note), trouble: Mutex::new(None) }
    }

    pub(crate) fn note(&self, line: &str) {
        (self.note)(line);
    }

    pub(crate) fn end_trouble(&self) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Prints a new reason to wait. An error after the patience of this client without progress of any job.
    pub(crate) fn wait_or_give_up(&self, what: String) -> Result<(), CallError> {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble = trouble.get_or_insert_with(|| Trouble { since: Instant::now(), noted: BTreeSet::new() });
        if trouble.since.elapsed() >= self.limit {
            let seconds = trouble.since.elapsed().as_secs();
            return Err(CallError::Unavailable { engine: self.engine.clone(), seconds, what });
        }
        if !trouble.noted.contains(&what) {
            (self.note)(&format!("{what}; waiting for at most {} s", self.limit.as_secs()));
            trouble.noted.insert(what);
        }
        Ok(())
    }
}
