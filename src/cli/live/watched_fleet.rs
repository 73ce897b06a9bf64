//! A fleet as the subject of a live page: what its engine knows, read again and again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::subject::{Subject, Update};
use crate::cli::fleet_status::{FleetReader, FleetStatus, count_states};
use crate::report::{LivePage, fleet_page};

/// Time between two requests for the state of the engine.
const READ_INTERVAL: Duration = Duration::from_secs(2);
/// Runs that the page lists; those in trouble are first.
const MAX_RUNS: usize = 500;

/// A clone shows the same.
#[derive(Clone)]
pub(in crate::cli) struct WatchedFleet {
    engine: String,
    state: Arc<Mutex<PageState>>,
}

/// What the page shows.
#[derive(Debug, Default, Serialize)]
struct PageState {
    /// `None` before the first answer.
    fleet: Option<FleetStatus>,
    /// `2 stuck, 180 waiting`.
    counts: String,
    /// Number of runs that are not listed.
    unlisted: usize,
    error: Option<NoAnswer>,
}

/// The engine has no answer, or not a useful one; the rest is as it was before.
#[derive(Debug, Serialize)]
struct NoAnswer {
    why: String,
    /// By the clock of this machine, RFC 3339.
    since: String,
}

impl WatchedFleet {
    pub(in crate::cli) fn new(engine: String) -> Self {
        Self { engine, state: Arc::default() }
    }

    /// Reads the engine until the future is dropped.
    pub(in crate::cli) async fn follow(&self, mut reader: FleetReader) {
        loop {
            self.store(reader.read().await);
            tokio::time::sleep(READ_INTERVAL).await;
        }
    }

    fn store(&self, answer: Result<FleetStatus, String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(mut fleet) => {
                let (counts, unlisted) = (count_states(&fleet.runs), fleet.runs.len().saturating_sub(MAX_RUNS));
                fleet.runs.truncate(MAX_RUNS);
                *state = PageState { fleet: Some(fleet), counts, unlisted, error: None };
            }
            Err(why) => {
                let since = state.error.take().map_or_else(|| jiff::Timestamp::now().to_string(), |error| error.since);
                state.error = Some(NoAnswer { why, since });
            }
        }
    }
}

impl Subject for WatchedFleet {
    fn page(&self) -> LivePage {
        fleet_page(&self.engine)
    }

    fn update(&self) -> Update {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Update { json: serde_json::to_string(&*state).unwrap_or_default(), is_last: false }
    }
}
