//! Asks the object of a key for permission to send requests, and tells it what they have used.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Mutex as AsyncMutex, OnceCell};
use tokio::task::JoinSet;

use super::messages::{Admission, Admit, Limits, LimitsChange, QuotaError, Renew, RequestUse, Settle};
use super::names::{is_key_name, limits_service_name};
use crate::address::{EngineAddress, QUICK, send};
use crate::engine::{NoIngress, find_ingress};
use crate::patience::{CallError, Patience};

/// Pauses between attempts to reach the engine.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];

impl Admission {
    /// Ends when it makes sense to ask again; at once, unless the answer is to wait.
    pub fn ask_again(&self) -> impl Future<Output = ()> + Send + use<> {
        let time = match self {
            Self::Wait { ask_again_ms, .. } => Duration::from_millis(*ask_again_ms),
            _ => Duration::ZERO,
        };
        tokio::time::sleep(time)
    }
}

/// A client for the limits of one key. Clones are the same client.
#[derive(Clone)]
pub struct LimitsClient(Arc<Shared>);

struct Shared {
    http: reqwest::Client,
    engine: EngineAddress,
    ingress: OnceCell<EngineAddress>,
    service: String,
    key: String,
    patience: Patience,
    requests: Mutex<Requests>,
    /// How often this client has asked; a part of idempotency keys.
    asked: AtomicU64,
    /// Settlements that are not delivered yet.
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct Requests {
    /// Requests that were admitted and not settled.
    admitted: BTreeSet<String>,
    /// For each request that was asked for, the turn of its messages: a settlement must not overtake the question.
    turns: BTreeMap<String, Arc<AsyncMutex<()>>>,
    /// Time between two renewals, as the object named it.
    renew: Duration,
    is_renewing: bool,
}

impl std::fmt::Debug for LimitsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LimitsClient").field(&self.0.key).finish()
    }
}

impl LimitsClient {
    /// `key` is the name of a key, never the key itself. `patience` is the time without an answer after which the client gives
    /// up; `note` gets a line for each reason to wait.
    pub fn new(
        engine: EngineAddress,
        program: &str,
        key: &str,
        patience: Duration,
        note: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, CallError> {
        if !is_key_name(key) {
            let what = format!("{key:?} is not the name of a key: it has letters, digits, `-`, `_` and `.`");
            return Err(CallError::Failed(what));
        }
        let shared = Shared {
            http: engine.http_client().map_err(|e| CallError::Failed(e.to_string()))?,
            engine: engine.clone(),
            ingress: OnceCell::new(),
            service: limits_service_name(program),
            key: key.to_owned(),
            patience: Patience::new(engine, patience, note),
            requests: Mutex::default(),
            asked: AtomicU64::new(0),
            tasks: Mutex::default(),
        };
        Ok(Self(Arc::new(shared)))
    }

    /// Asks whether a request may be sent now. `id` is unique among the requests of all processes; asking again with the same
    /// one keeps its place in the queue. An admitted request is renewed until it is settled.
    pub async fn admit(&self, id: &str, run: &str, expected: RequestUse) -> Result<Admission, CallError> {
        let (shared, message) = (self.0.clone(), Admit { id: id.to_owned(), run: run.to_owned(), expected });
        let turn = shared.requests().turns.entry(id.to_owned()).or_default().clone();
        let ask = format!("{id}-{}", shared.asked.fetch_add(1, Ordering::Relaxed));
        // A task, because it must end even if its caller does not wait for it any more: otherwise it may be admitted after it was settled.
        let task = tokio::spawn(async move {
            let _turn = turn.lock_owned().await;
            // Attempts of one question are one message, so that they do not pile up where no worker takes them.
            let admission = shared.call("admit", &message, Some(&ask)).await?;
            let mut requests = shared.requests();
            match admission {
                // Not if it was settled meanwhile.
                Admission::Granted { renew_ms } if requests.turns.contains_key(&message.id) => {
                    requests.admitted.insert(message.id);
                    requests.renew = Duration::from_millis(renew_ms.max(1));
                }
                Admission::Refused { .. } | Admission::Ended => drop(requests.turns.remove(&message.id)),
                _ => {}
            }
            Ok(admission)
        });
        let admission: Admission = task.await.map_err(|e| CallError::Failed(e.to_string()))??;
        if matches!(admission, Admission::Granted { .. }) {
            self.keep_renewing();
        }
        Ok(admission)
    }

    /// Reports the end of a request, also of one that was never admitted. Repeats it in the background until the object has
    /// it; returns at once, because an answer that is paid for must not wait for the engine.
    pub fn settle(&self, id: &str, used: RequestUse, quota: Option<QuotaError>) {
        let (shared, message) = (self.0.clone(), Settle { id: id.to_owned(), used, quota });
        let turn = {
            let mut requests = shared.requests();
            requests.admitted.remove(id);
            // Its message is the last one of this request.
            requests.turns.remove(id).unwrap_or_default()
        };
        self.spawn(async move {
            let _turn = turn.lock_owned().await;
            if let Err(error) = shared.call::<()>("settle", &message, Some(&message.id)).await {
                tracing::warn!(id = message.id, %error, "the use of a request could not be reported; the expected use counts");
            }
        });
    }

    /// Waits until the object has all settlements, or cannot be reached.
    pub async fn flush(&self) {
        let mut tasks = std::mem::take(&mut *self.0.tasks());
        while tasks.join_next().await.is_some() {}
    }

    /// Changes limits, and closes the circuit breaker. Returns the limits that are in force.
    pub async fn set_limits(&self, change: LimitsChange) -> Result<Limits, CallError> {
        self.0.call("set_limits", &change, None).await
    }

    /// Sets the limits of a key that has none yet. Returns the limits that are in force.
    pub async fn init_limits(&self, limits: Limits) -> Result<Limits, CallError> {
        self.0.call("init_limits", &limits, None).await
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Starts the task that renews all admitted requests, unless it runs. It ends with the last of them.
    fn keep_renewing(&self) {
        let mut requests = self.0.requests();
        if std::mem::replace(&mut requests.is_renewing, true) {
            return;
        }
        drop(requests);
        // Weak, so that a forgotten request is renewed no longer than its client exists.
        let client = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                let Some(pause) = client.upgrade().map(|shared| shared.requests().renew) else { return };
                tokio::time::sleep(pause).await;
                let Some(shared) = client.upgrade() else { return };
                let ids: Vec<String> = {
                    let mut requests = shared.requests();
                    requests.is_renewing = !requests.admitted.is_empty();
                    requests.admitted.iter().cloned().collect()
                };
                if ids.is_empty() {
                    return;
                }
                // The lease is longer than several pauses, so one that fails does not matter.
                if let Err(error) = shared.attempt::<()>("renew", &Renew { ids }, None).await {
                    tracing::debug!(?error, "requests could not be renewed");
                }
            }
        });
    }
}

/// Why one attempt has no answer.
#[derive(Debug)]
enum Failed {
    /// Nothing is known of the message; the next attempt may succeed.
    Now(String),
    Always(String),
}

impl Shared {
    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message until it has an answer.
    async fn call<T: DeserializeOwned>(
        &self,
        handler: &str,
        message: &impl Serialize,
        idempotency_key: Option<&str>,
    ) -> Result<T, CallError> {
        let mut pause = PAUSES[0];
        loop {
            match self.attempt(handler, message, idempotency_key).await {
                Ok(answer) => {
                    self.patience.end_trouble();
                    return Ok(answer);
                }
                Err(Failed::Always(what)) => return Err(CallError::Failed(what)),
                Err(Failed::Now(what)) => self.patience.wait_or_give_up(what)?,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    async fn attempt<T: DeserializeOwned>(
        &self,
        handler: &str,
        message: &impl Serialize,
        idempotency_key: Option<&str>,
    ) -> Result<T, Failed> {
        let find = || find_ingress(&self.http, &self.engine);
        let ingress = self.ingress.get_or_try_init(find).await.map_err(|error| match error {
            NoIngress::NotNow(what) => Failed::Now(what),
            NoIngress::Never(what) => Failed::Always(what),
        })?;
        let path = format!("/{}/{}/{handler}", self.service, self.key);
        let mut request = self.http.post(ingress.join(&path)).json(message);
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let reply = send(request, QUICK).await.map_err(|error| {
            let no_worker = || "no worker answers for the limits".to_owned();
            Failed::Now(if error.timed_out { no_worker() } else { error.unreachable() })
        })?;
        if reply.status == 404 {
            return Err(Failed::Now("no worker is registered that keeps limits".to_owned()));
        }
        if !reply.is_success() {
            let what = format!("the limits have no answer: {}", reply.message());
            return Err(if reply.is_temporary() { Failed::Now(what) } else { Failed::Always(what) });
        }
        serde_json::from_slice(&reply.body).map_err(|e| Failed::Always(format!("not an answer of the limits: {e}")))
    }
}
