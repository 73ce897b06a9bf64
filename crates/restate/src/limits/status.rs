//! The limits and the use of each key, read from the tables of the engine. No worker is needed for this.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::decision::State;
use super::messages::{Limits, RequestUse};
use super::names::limits_service_name;
use crate::address::EngineAddress;
use crate::engine::{not_restate, query_tables};

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
        }
    }

    /// All keys that the engine knows, by name.
    pub async fn read_all(program: &str, engine: &EngineAddress) -> Result<Vec<Self>, String> {
        #[derive(Deserialize)]
        struct Row {
            service_key: String,
            value_utf8: String,
        }
        let service = limits_service_name(program);
        let sql =
            format!("SELECT service_key, value_utf8 FROM state WHERE service_name = '{service}' AND key = '{STATE}'");
        let mut all = Vec::new();
        for Row { service_key, value_utf8 } in read_rows(engine, &sql).await? {
            let state = serde_json::from_str(&value_utf8)
                .map_err(|e| format!("the state of {service_key} is not one of this version: {e}"))?;
            all.push(Self::of(service_key, &state));
        }
        all.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(all)
    }
}

/// How many jobs of a service are in a state such as `running`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCount {
    pub service: String,
    pub status: String,
    pub jobs: u64,
}

/// The jobs of a program that have not ended, by service and status; without the messages of limits.
pub async fn count_jobs(program: &str, engine: &EngineAddress) -> Result<Vec<JobCount>, String> {
    let sql = format!(
        "SELECT target_service_name AS service, status, COUNT(*) AS jobs FROM sys_invocation \
         WHERE target_service_name LIKE '{program}-%' AND status <> 'completed' \
         GROUP BY target_service_name, status ORDER BY target_service_name, status"
    );
    read_rows(engine, &sql).await
}

async fn read_rows<T: serde::de::DeserializeOwned>(engine: &EngineAddress, sql: &str) -> Result<Vec<T>, String> {
    #[derive(Deserialize)]
    struct Rows<T> {
        rows: Vec<T>,
    }
    let http = engine.http_client().map_err(|e| format!("cannot start a client of HTTP: {e}"))?;
    let reply = query_tables(&http, engine, sql).await.map_err(|error| error.unreachable())?;
    if !reply.is_success() {
        return Err(not_restate(&reply).into_words());
    }
    let Rows { rows } = serde_json::from_slice(&reply.body).map_err(|_| not_restate(&reply).into_words())?;
    Ok(rows)
}
