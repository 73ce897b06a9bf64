//! Calls jobs: submits each with an idempotency key, so that the engine runs it once however often it is asked for, and
//! waits for its answer. Survives restarts of the engine and of workers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{OnceCell, RwLock};

use crate::address::{AddressError, EngineAddress, QUICK, Reply, SendError, send};
use crate::job::{Answer, MAX_MESSAGE_BYTES, service_name};

/// Time that one request waits for an answer. Then the client queries the state of the job, and sends the request again.
const POLL: Duration = Duration::from_secs(10);
/// Times between attempts to reach the engine.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// How often a job is submitted that a worker could not do: the next worker may be able to.
const ATTEMPTS: u32 = 3;

/// Why a job has no answer.
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

/// A client for one job of one version of a program.
pub struct Client {
    http: reqwest::Client,
    engine: EngineAddress,
    /// Where jobs are submitted; the engine says where.
    ingress: OnceCell<EngineAddress>,
    program: &'static str,
    version: String,
    job: &'static str,
    /// Time without any progress after which the client gives up.
    patience: Duration,
    note: Box<dyn Fn(&str) + Send + Sync>,
    trouble: Mutex<Option<Trouble>>,
    /// Jobs of this client without an answer yet.
    submitted: Arc<Mutex<BTreeSet<String>>>,
    /// Held for reading while a job is submitted, so that none is missed when all are cancelled.
    submitting: Arc<RwLock<()>>,
}

/// A time without progress.
struct Trouble {
    since: Instant,
    /// Reasons that were printed.
    noted: BTreeSet<String>,
}

/// The end of one attempt.
enum Attempt {
    Done(Box<RawValue>),
    /// A worker or the engine answered that the job has no result.
    Failed(String),
    /// The state of the job is unknown; it may be submitted or not.
    Lost(String),
}

#[derive(Deserialize)]
struct Submitted {
    #[serde(rename = "invocationId")]
    id: String,
    /// `Accepted`, or `PreviouslyAccepted` if there is a job with this key.
    status: String,
}

impl Submitted {
    /// The id becomes a part of addresses and of a query.
    fn is_valid(&self) -> bool {
        self.id.starts_with("inv_") && self.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }
}

impl Client {
    /// `note` gets a line for each reason to wait.
    pub fn new(
        engine: EngineAddress,
        program: &'static str,
        version: &str,
        job: &'static str,
        patience: Duration,
        note: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, CallError> {
        let http = engine.http_client().map_err(|e| CallError::Failed(e.to_string()))?;
        Ok(Self {
            http,
            engine,
            ingress: OnceCell::new(),
            program,
            version: version.to_owned(),
            job,
            patience,
            note: Box::new(note),
            trouble: Mutex::new(None),
            submitted: Arc::default(),
            submitting: Arc::default(),
        })
    }

    /// The JSON that a worker answers to this request. Requests with the same key get the same answer for a day.
    pub async fn call(&self, key: &str, request: &[u8]) -> Result<Box<RawValue>, CallError> {
        if request.len() > MAX_MESSAGE_BYTES {
            return Err(CallError::TooLarge { bytes: request.len() });
        }
        let mut failures = 0;
        let mut pause = PAUSES[0];
        loop {
            match self.attempt(key, request).await? {
                Attempt::Done(answer) => {
                    self.end_trouble();
                    return Ok(answer);
                }
                Attempt::Failed(what) => {
                    failures += 1;
                    if failures == ATTEMPTS {
                        return Err(CallError::Failed(what));
                    }
                }
                Attempt::Lost(what) => self.wait_or_give_up(what)?,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Ends the jobs of this client that have no answer yet. Jobs that an earlier client submitted are not ended.
    pub async fn cancel_submitted(&self) {
        let _all = self.submitting.write().await;
        let ids = std::mem::take(&mut *self.submitted.lock().unwrap_or_else(PoisonError::into_inner));
        let mut requests = tokio::task::JoinSet::new();
        for id in ids {
            let request = self.http.patch(self.engine.join(&format!("/invocations/{id}/kill")));
            requests.spawn(async move {
                if let Err(error) = send(request, QUICK).await {
                    tracing::debug!(%id, what = error.what, "a job could not be cancelled");
                }
            });
        }
        while requests.join_next().await.is_some() {}
    }

    async fn attempt(&self, key: &str, request: &[u8]) -> Result<Attempt, CallError> {
        let ingress = match self.ingress.get_or_try_init(|| self.find_ingress()).await {
            Ok(ingress) => ingress,
            Err(attempt) => return Ok(attempt),
        };
        let id = match self.submit(ingress, key, request).await {
            Ok(id) => id,
            Err(attempt) => return Ok(attempt),
        };
        let attach = ingress.join(&format!("/restate/invocation/{id}/attach"));
        loop {
            match send(self.http.get(&attach), POLL).await {
                Err(SendError { timed_out: true, .. }) => match self.find_obstacle(&id).await {
                    None => self.end_trouble(),
                    Some(what) => self.wait_or_give_up(what)?,
                },
                Err(error) => return Ok(Attempt::Lost(unreachable(&error))),
                Ok(reply) => {
                    let attempt = read_answer(&reply);
                    if !matches!(attempt, Attempt::Lost(_)) {
                        self.forget(&id);
                    }
                    if matches!(attempt, Attempt::Failed(_)) {
                        // Otherwise the same key gets the same failure for a day.
                        let purge = self.http.patch(self.engine.join(&format!("/invocations/{id}/purge")));
                        let _ = send(purge, QUICK).await;
                    }
                    return Ok(attempt);
                }
            }
        }
    }

    /// Submits the job, and returns the engine's id of it.
    async fn submit(&self, ingress: &EngineAddress, key: &str, request: &[u8]) -> Result<String, Attempt> {
        let path = format!("/{}/{}/send", service_name(self.program, &self.version), self.job);
        let request = self.http.post(ingress.join(&path)).header("idempotency-key", key).body(request.to_vec());
        let request = request.header("content-type", "application/octet-stream");
        let (submitted, submitting) = (self.submitted.clone(), self.submitting.clone());
        // A task, because it must end even if nobody waits for this call any more: otherwise the job is not known here, and
        // runs although it was cancelled.
        let task = tokio::spawn(async move {
            let _submitting = submitting.read_owned().await;
            let reply = send(request, QUICK).await;
            let accepted = reply.as_ref().ok().and_then(|reply| serde_json::from_slice::<Submitted>(&reply.body).ok());
            if let Some(Submitted { id, status }) = accepted.filter(Submitted::is_valid)
                && status == "Accepted"
            {
                submitted.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
            }
            reply
        });
        let reply = task.await.map_err(|error| Attempt::Lost(error.to_string()))?;
        let reply = reply.map_err(|error| Attempt::Lost(unreachable(&error)))?;
        if reply.status == 404 {
            return Err(Attempt::Lost(self.missing_worker().await));
        }
        if !reply.is_success() {
            let what = format!("the engine does not take the job: {}", reply.message());
            return Err(if reply.status >= 500 { Attempt::Lost(what) } else { Attempt::Failed(what) });
        }
        let submitted = serde_json::from_slice(&reply.body).ok().filter(Submitted::is_valid);
        Ok(submitted.ok_or_else(|| not_restate(&reply))?.id)
    }

    fn forget(&self, id: &str) {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    async fn find_ingress(&self) -> Result<EngineAddress, Attempt> {
        let reply = send(self.http.get(self.engine.join("/version")), QUICK).await;
        let reply = reply.map_err(|error| Attempt::Lost(unreachable(&error)))?;
        let object: Value = serde_json::from_slice(&reply.body).map_err(|_| not_restate(&reply))?;
        let address = object["ingress_endpoint"].as_str().ok_or_else(|| not_restate(&reply))?;
        address.parse().map_err(|e: AddressError| {
            Attempt::Failed(format!("the engine names no address where jobs are submitted: {e}"))
        })
    }

    /// Why no worker can take a job of this version.
    async fn missing_worker(&self) -> String {
        let Self { program, version, .. } = self;
        let reply = send(self.http.get(self.engine.join("/services")), QUICK).await.ok();
        let object = reply.and_then(|reply| serde_json::from_slice::<Value>(&reply.body).ok()).unwrap_or_default();
        let names = object["services"].as_array().into_iter().flatten().filter_map(|service| service["name"].as_str());
        let prefix = format!("{program}-");
        let others: Vec<&str> = names.filter_map(|name| name.strip_prefix(&prefix)).collect();
        let others = match others.as_slice() {
            [] => String::new(),
            others => format!("; workers of other versions are: {}", others.join(", ")),
        };
        format!("no worker of {program} {version} is registered{others}")
    }

    /// Why a submitted job does not run; `None` if a worker has it.
    async fn find_obstacle(&self, id: &str) -> Option<String> {
        let query = format!("SELECT status, last_failure FROM sys_invocation WHERE id = '{id}'");
        let request = self.http.post(self.engine.join("/query")).header("accept", "application/json");
        let reply = match send(request.json(&json!({"query": query})), QUICK).await {
            Ok(reply) => reply,
            Err(error) => return Some(unreachable(&error)),
        };
        let object: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let row = &object["rows"][0];
        match row["status"].as_str() {
            Some("backing-off" | "paused") => {
                let failure = row["last_failure"].as_str().unwrap_or("unknown reason");
                let failure = failure.lines().next().unwrap_or_default();
                Some(format!("no worker takes the job: {}", failure.chars().take(200).collect::<String>()))
            }
            // It may also have ended right now.
            Some(_) => None,
            None => Some(format!("the engine does not report the status of the job: {}", reply.message())),
        }
    }

    fn end_trouble(&self) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Prints a new reason to wait. An error after the patience of this client without progress of any job.
    fn wait_or_give_up(&self, what: String) -> Result<(), CallError> {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble = trouble.get_or_insert_with(|| Trouble { since: Instant::now(), noted: BTreeSet::new() });
        if trouble.since.elapsed() >= self.patience {
            let seconds = trouble.since.elapsed().as_secs();
            return Err(CallError::Unavailable { engine: self.engine.clone(), seconds, what });
        }
        if !trouble.noted.contains(&what) {
            (self.note)(&format!("{what}; waiting for at most {} s", self.patience.as_secs()));
            trouble.noted.insert(what);
        }
        Ok(())
    }
}

fn read_answer(reply: &Reply) -> Attempt {
    if !reply.is_success() {
        let what = format!("the engine has no result: {}", reply.message());
        // The end of a job is JSON with a message; a proxy or a server that starts answers something else.
        let is_of_job = serde_json::from_slice::<Value>(&reply.body).is_ok_and(|body| body["message"].is_string());
        let is_lost = reply.status == 429 || (reply.status >= 500 && !is_of_job);
        return if is_lost { Attempt::Lost(what) } else { Attempt::Failed(what) };
    }
    match serde_json::from_slice(&reply.body) {
        Ok(Answer::Done(answer)) => Attempt::Done(answer),
        Ok(Answer::Failed(what)) => Attempt::Failed(format!("a worker could not do it: {what}")),
        Err(_) => Attempt::Failed("the answer is not that of a worker".to_owned()),
    }
}

fn unreachable(error: &SendError) -> String {
    format!("the engine does not answer: {}", error.what)
}

/// Something else answers at this address, or only a proxy while the engine starts.
fn not_restate(reply: &Reply) -> Attempt {
    let what = format!("this is not the admin address of a Restate server: {}", reply.message());
    if reply.status >= 500 { Attempt::Lost(what) } else { Attempt::Failed(what) }
}
