//! The limits and the use of each key, read from the tables of the engine. No worker is needed for this.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::decision::State;
use super::messages::{Limits, RequestUse};
use super::names::{is_key_name, limits_service_name};
use crate::address::EngineAddress;
use crate::engine::read_rows;

/// The name under which an object keeps its state.
pub(super) const STATE: &str = "state";

/// A key of a provider, its limits and its use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitsStatus {
    pub key: String,
    pub limits: Limits,
    /// What ended requests have used.
    pub spent: RequestUse,
    /// Requests under way.
    pub under_way: usize,
    /// The runs that they belong to.
    pub runs: usize,
    /// What is expected of them.
    pub expected: RequestUse,
    /// Requests that wait.
    pub waiting: usize,
    /// Requests whose caller was lost, and what was expected of them. It counts as spent.
    pub unreported: usize,
    pub unreported_use: RequestUse,
    /// Requests that were admitted in the last minute.
    pub requests_last_minute: u64,
    /// The tokens that they use or are expected to use.
    pub tokens_last_minute: u64,
    /// Why nothing is admitted, if the circuit breaker is open.
    pub stopped: Option<String>,
    /// Seconds until it closes; `None` if only a person can close it.
    pub stopped_seconds: Option<u64>,
    /// Requests of each run.
    #[serde(skip)]
    pub requests: BTreeMap<String, RunRequests>,
}

/// A key whose state cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableKey {
    pub key: String,
    pub why: String,
}

/// Requests of one run with one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RunRequests {
    pub under_way: u64,
    pub waiting: u64,
}

impl LimitsStatus {
    fn of(key: String, state: &State) -> Self {
        let sum = |requests: &mut dyn Iterator<Item = RequestUse>| {
            requests.fold(RequestUse::default(), |sum, one| RequestUse {
                cost_usd: sum.cost_usd + one.cost_usd,
                tokens: sum.tokens.saturating_add(one.tokens),
            })
        };
        let breaker = state.breaker.as_ref();
        let mut requests: BTreeMap<String, RunRequests> = BTreeMap::new();
        for running in state.running.values() {
            requests.entry(running.run.clone()).or_default().under_way += 1;
        }
        for waiting in state.waiting.values() {
            requests.entry(waiting.run.clone()).or_default().waiting += 1;
        }
        Self {
            key,
            limits: state.limits.unwrap_or_default(),
            spent: state.spent,
            under_way: state.running.len(),
            runs: state.running.values().map(|running| &running.run).collect::<BTreeSet<_>>().len(),
            expected: sum(&mut state.running.values().map(|running| running.expected)),
            waiting: state.waiting.len(),
            unreported: state.unreported.len(),
            unreported_use: sum(&mut state.unreported.values().map(|lost| lost.expected)),
            requests_last_minute: state.minute.iter().map(|slot| slot.requests).sum(),
            tokens_last_minute: state.minute.iter().map(|slot| slot.tokens).sum(),
            stopped: breaker.map(|breaker| breaker.why.clone()),
            stopped_seconds: breaker.and_then(|breaker| Some(breaker.until?.saturating_sub(state.now))),
            requests,
        }
    }

    /// All keys that the engine knows, by name. Those whose state cannot be read do not hide the others.
    pub async fn read_all(program: &str, engine: &EngineAddress) -> Result<(Vec<Self>, Vec<UnreadableKey>), String> {
        #[derive(Deserialize)]
        struct Row {
            service_key: String,
            /// `None` if it is not UTF-8.
            value_utf8: Option<String>,
        }
        let service = limits_service_name(program);
        let sql = format!(
            "SELECT service_key, value_utf8 FROM state WHERE service_name = '{service}' AND key = '{STATE}' \
             ORDER BY service_key"
        );
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        let http = engine.http_client().map_err(|e| format!("cannot start a client of HTTP: {e}"))?;
        // Everyone who reaches the engine can create other objects; no client uses them.
        let rows = read_rows(&http, engine, &sql).await?.into_iter().filter(|row: &Row| is_key_name(&row.service_key));
        for Row { service_key, value_utf8 } in rows {
            let state = value_utf8.ok_or_else(|| "not UTF-8".to_owned());
            match state.and_then(|json| serde_json::from_str(&json).map_err(|e| e.to_string())) {
                Ok(state) => readable.push(Self::of(service_key, &state)),
                Err(error) => {
                    let why = format!("its state does not have the format of this version of {program}: {error}");
                    unreadable.push(UnreadableKey { key: service_key, why });
                }
            }
        }
        Ok((readable, unreadable))
    }
}
