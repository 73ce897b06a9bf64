//! A fleet as the subject of a live page: what its engine knows, read again and again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::subject::{Subject, Update};
use crate::cli::fleet_status::{FleetReader, FleetStatus, count_states};
use crate::report::{LivePage, fleet_page};

/// Time between two looks at the engine.
const LOOK: Duration = Duration::from_secs(2);
/// Runs that the page lists; those in trouble are first.
const MAX_RUNS: usize = 500;

/// A clone shows the same.
#[derive(Clone)]
pub(in crate::cli) struct WatchedFleet {
    engine: String,
    seen: Arc<Mutex<Seen>>,
}

/// What the page shows.
#[derive(Debug, Default, Serialize)]
struct Seen {
    /// `None` before the first answer.
    fleet: Option<FleetStatus>,
    /// `2 stuck, 180 waiting`.
    counts: String,
    /// Runs that are not listed.
    more: usize,
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
        Self { engine, seen: Arc::default() }
    }

    /// Reads the engine until the future is dropped.
    pub(in crate::cli) async fn follow(&self, mut reader: FleetReader) {
        loop {
            self.see(reader.read().await);
            tokio::time::sleep(LOOK).await;
        }
    }

    fn see(&self, answer: Result<FleetStatus, String>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(mut fleet) => {
                let (counts, more) = (count_states(&fleet.runs), fleet.runs.len().saturating_sub(MAX_RUNS));
                fleet.runs.truncate(MAX_RUNS);
                *seen = Seen { fleet: Some(fleet), counts, more, error: None };
            }
            Err(why) => {
                let since = seen.error.take().map_or_else(|| jiff::Timestamp::now().to_string(), |error| error.since);
                seen.error = Some(NoAnswer { why, since });
            }
        }
    }
}

impl Subject for WatchedFleet {
    fn page(&self) -> LivePage {
        fleet_page(&self.engine)
    }

    fn update(&self) -> Update {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        Update { json: serde_json::to_string(&*seen).unwrap_or_default(), is_last: false }
    }
}
