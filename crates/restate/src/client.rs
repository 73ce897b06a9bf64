//! Calls jobs: submits each with an idempotency key, so that the engine runs it once however often it is asked for, and
//! waits for its answer. Survives restarts of the engine and of workers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{OnceCell, RwLock};

use crate::address::{EngineAddress, QUICK, Reply, SendError, send};
use crate::attempt::{ATTEMPT_COLUMNS, JobState, LastAttempt};
use crate::engine::{NoIngress, find_ingress, not_restate, query_tables, read_rows};
use crate::job::{Answer, MAX_MESSAGE_BYTES, found_no_turn, service_name};
use crate::jobs::first_line;
use crate::patience::{CallError, Patience};

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;

/// Time that one request waits for an answer. Then the client queries the job's status, and sends the request again.
const POLL: Duration = Duration::from_secs(10);
/// Time limit of a request that carries a whole message.
const TRANSFER: Duration = Duration::from_secs(120);
/// Times between attempts to reach the engine.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// Least time between two submissions. The engine sends jobs that come together over one new connection, and only the first of them
/// would be done there ([`crate::connection`]).
const SPACING: Duration = Duration::from_millis(10);
/// How often a job is submitted that a worker could not do: the next worker may be able to.
const ATTEMPTS: u32 = 3;

/// A client for one job of one version of a program.
pub struct Client {
    http: reqwest::Client,
    engine: EngineAddress,
    /// Where jobs are submitted; the engine says where.
    ingress: OnceCell<EngineAddress>,
    program: &'static str,
    version: String,
    job: &'static str,
    patience: Patience,
    /// Jobs of this client without an answer yet.
    submitted: Arc<Mutex<BTreeSet<String>>>,
    /// Held for reading while a job is submitted, so that none is missed when all are cancelled. True after that.
    submitting: Arc<RwLock<bool>>,
    /// When a job may be submitted next.
    next_submission: tokio::sync::Mutex<tokio::time::Instant>,
}

/// The end of one attempt.
enum Attempt {
    Done(Box<RawValue>),
    /// A worker or the engine answered that the job has no result.
    Failed(String),
    /// The same, and another attempt would do harm.
    Refused(String),
    /// The job's state is unknown; it may be submitted or not.
    Unknown(String),
}

/// What the engine says of a job without an answer.
enum Progress {
    /// A worker has it.
    Running,
    /// It has an answer.
    Ended,
    /// It waits for its turn.
    Waiting,
    /// Why no worker takes it.
    Obstacle(String),
}

impl Attempt {
    fn of(error: NoIngress) -> Self {
        match error {
            NoIngress::NotNow(what) => Self::Unknown(what),
            NoIngress::Never(what) => Self::Failed(what),
        }
    }
}

#[derive(Deserialize)]
struct Submitted {
    #[serde(rename = "invocationId")]
    id: String,
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
        let patience = Patience::new(engine.clone(), patience, note);
        let http = engine.http_client().map_err(|e| CallError::Failed(e.to_string()))?;
        Ok(Self {
            http,
            engine,
            ingress: OnceCell::new(),
            program,
            version: version.to_owned(),
            job,
            patience,
            submitted: Arc::default(),
            submitting: Arc::default(),
            next_submission: tokio::time::Instant::now().into(),
        })
    }

    /// The JSON that a worker answers to this request. Nobody else may know `key`: requests with the same key get the same answer
    /// for a day. `object` is the key of a virtual object; at most one of its jobs runs at a time.
    pub async fn call(&self, object: Option<&str>, key: &str, request: &[u8]) -> Result<Box<RawValue>, CallError> {
        if request.len() > MAX_MESSAGE_BYTES {
            return Err(CallError::TooLarge { bytes: request.len() });
        }
        let mut failures = 0;
        let mut pause = PAUSES[0];
        loop {
            match self.attempt(object, key, request, failures + 1 == ATTEMPTS).await? {
                Attempt::Done(answer) => {
                    self.patience.end_trouble();
                    return Ok(answer);
                }
                Attempt::Failed(what) => {
                    failures += 1;
                    if failures == ATTEMPTS {
                        return Err(CallError::Failed(what));
                    }
                }
                Attempt::Refused(what) => return Err(CallError::Failed(what)),
                Attempt::Unknown(what) => self.patience.wait_or_give_up(what)?,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Ends the jobs of this client that have no answer yet. Jobs that an earlier client submitted are not ended.
    pub async fn cancel_submitted(&self) {
        *self.submitting.write().await = true;
        let ids = std::mem::take(&mut *self.submitted.lock().unwrap_or_else(PoisonError::into_inner));
        let mut requests = tokio::task::JoinSet::new();
        let failed = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for id in ids {
            let failed = failed.clone();
            let request = self.http.patch(self.engine.join(&format!("/invocations/{id}/kill")));
            requests.spawn(async move {
                let what = match send(request, QUICK).await {
                    // 404: the engine no longer knows it. 409: it has already ended.
                    Ok(reply) if reply.is_success() || matches!(reply.status, 404 | 409) => return,
                    Ok(reply) => reply.message(),
                    Err(error) => error.what,
                };
                failed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                tracing::debug!(%id, what, "a job could not be cancelled");
            });
        }
        while requests.join_next().await.is_some() {}
        match failed.load(std::sync::atomic::Ordering::Relaxed) {
            0 => {}
            count => self.patience.note(&format!("{count} submitted jobs could not be cancelled; they may still run")),
        }
    }

    /// `is_last`: after a failure, the job is not submitted again.
    async fn attempt(
        &self,
        object: Option<&str>,
        key: &str,
        request: &[u8],
        is_last: bool,
    ) -> Result<Attempt, CallError> {
        let ingress = match self.ingress.get_or_try_init(|| self.find_ingress()).await {
            Ok(ingress) => ingress,
            Err(attempt) => return Ok(attempt),
        };
        {
            let mut next = self.next_submission.lock().await;
            tokio::time::sleep_until(*next).await;
            *next = tokio::time::Instant::now() + SPACING;
        }
        let id = match self.submit(ingress, object, key, request).await {
            Ok(id) => id,
            Err(attempt) => return Ok(attempt),
        };
        let attach = ingress.join(&format!("/restate/invocation/{id}/attach"));
        let mut limit = POLL;
        loop {
            match send(self.http.get(&attach), limit).await {
                Err(SendError { timed_out: true, .. }) => match self.find_progress(&id).await {
                    // It waits for other jobs, which end.
                    Progress::Running | Progress::Waiting => self.patience.end_trouble(),
                    // Its answer takes longer than that.
                    Progress::Ended if limit == POLL => limit = TRANSFER,
                    Progress::Ended => {
                        self.patience.wait_or_give_up("the engine sends no answer in time".to_owned())?;
                    }
                    Progress::Obstacle(what) => self.patience.wait_or_give_up(what)?,
                },
                Err(error) => return Ok(Attempt::Unknown(error.unreachable())),
                Ok(reply) => {
                    let attempt = read_answer(&reply);
                    if matches!(attempt, Attempt::Unknown(_)) {
                        return Ok(attempt);
                    }
                    self.forget(&id);
                    if matches!(attempt, Attempt::Failed(_)) && !is_last {
                        // Otherwise the same key gets the same failure for a day. The last one stays, for a person to see.
                        let purge = self.http.patch(self.engine.join(&format!("/invocations/{id}/purge")));
                        let _ = send(purge, QUICK).await;
                    }
                    return Ok(attempt);
                }
            }
        }
    }

    /// Submits the job, and returns the engine's id of it.
    async fn submit(
        &self,
        ingress: &EngineAddress,
        object: Option<&str>,
        key: &str,
        request: &[u8],
    ) -> Result<String, Attempt> {
        let service = service_name(self.program, &self.version, Some(self.job));
        let segments = [Some(service.as_str()), object, Some(self.job), Some("send")];
        let request = self
            .http
            .post(ingress.join_segments(segments.into_iter().flatten()))
            .header("idempotency-key", key)
            .body(request.to_vec());
        let request = request.header("content-type", "application/octet-stream");
        let (submitted, submitting) = (self.submitted.clone(), self.submitting.clone());
        // A task, so that it also ends if this call is dropped: otherwise the engine may have a job that is not known here, and
        // that is never cancelled.
        let task = tokio::spawn(async move {
            let was_cancelled = submitting.read_owned().await;
            if *was_cancelled {
                return Err(SendError { timed_out: false, what: "it was cancelled".to_owned() });
            }
            let reply = send(request, TRANSFER).await;
            let accepted = reply.as_ref().ok().and_then(|reply| serde_json::from_slice::<Submitted>(&reply.body).ok());
            if let Some(Submitted { id }) = accepted.filter(Submitted::is_valid) {
                submitted.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
            }
            reply
        });
        let reply = task.await.map_err(|error| Attempt::Unknown(error.to_string()))?;
        let reply = reply.map_err(|error| Attempt::Unknown(error.unreachable()))?;
        if reply.status == 404 {
            return Err(Attempt::Unknown(self.missing_worker().await));
        }
        if !reply.is_success() {
            let what = format!("the engine does not take the job: {}", reply.message());
            return Err(if reply.is_temporary() { Attempt::Unknown(what) } else { Attempt::Failed(what) });
        }
        let submitted = serde_json::from_slice(&reply.body).ok().filter(Submitted::is_valid);
        Ok(submitted.ok_or_else(|| Attempt::of(not_restate(&reply)))?.id)
    }

    fn forget(&self, id: &str) {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    async fn find_ingress(&self) -> Result<EngineAddress, Attempt> {
        find_ingress(&self.http, &self.engine).await.map_err(Attempt::of)
    }

    /// Why no worker can take a job of this version.
    async fn missing_worker(&self) -> String {
        let Self { program, version, .. } = self;
        let reply = send(self.http.get(self.engine.join("/services")), QUICK).await.ok();
        let object = reply.and_then(|reply| serde_json::from_slice::<Value>(&reply.body).ok()).unwrap_or_default();
        let names = object["services"].as_array().into_iter().flatten().filter_map(|service| service["name"].as_str());
        let prefix = format!("{program}-{}-", self.job);
        let others: Vec<&str> = names.filter_map(|name| name.strip_prefix(&prefix)).collect();
        let others = match others.as_slice() {
            [] => String::new(),
            others => format!("; workers of other versions are: {}", others.join(", ")),
        };
        format!("no worker of {program} {version} is registered for the job `{}`{others}", self.job)
    }

    /// Whether no worker has a job of this client's kind.
    async fn runs_none(&self) -> bool {
        let service = service_name(self.program, &self.version, Some(self.job));
        let query = format!(
            "SELECT COUNT(*) AS jobs FROM sys_invocation WHERE target_service_name = '{service}' AND status IN ('running', 'suspended')"
        );
        let reply = query_tables(&self.http, &self.engine, &query).await;
        let object = reply.ok().and_then(|reply| serde_json::from_slice::<Value>(&reply.body).ok());
        object.is_some_and(|object| object["rows"][0]["jobs"] == 0)
    }

    async fn find_progress(&self, id: &str) -> Progress {
        let query = format!("SELECT {ATTEMPT_COLUMNS} FROM sys_invocation WHERE id = '{id}'");
        let rows = match read_rows::<LastAttempt>(&self.http, &self.engine, &query).await {
            Ok(rows) => rows,
            Err(what) => return Progress::Obstacle(what),
        };
        let Some(attempt) = rows.first() else {
            return Progress::Obstacle("the engine does not know the job any more".to_owned());
        };
        if attempt.status == "completed" {
            return Progress::Ended;
        }
        match (attempt.state(), &attempt.last_failure) {
            (JobState::Running, _) => Progress::Running,
            (JobState::Waiting, None) if self.runs_none().await => {
                Progress::Obstacle("the job waits for its turn, and no worker has a job of its kind".to_owned())
            }
            (JobState::Waiting, None) => Progress::Waiting,
            (JobState::Waiting, Some(failure)) if found_no_turn(failure) && !self.runs_none().await => {
                Progress::Waiting
            }
            (_, failure) => {
                let failure =
                    first_line(failure.as_deref().unwrap_or("it is paused, perhaps on its way to another worker"));
                Progress::Obstacle(format!("no worker takes the job: {failure}"))
            }
        }
    }
}

fn read_answer(reply: &Reply) -> Attempt {
    if !reply.is_success() {
        let what = format!("the engine has no result: {}", reply.message());
        // A proxy, or a server that starts, says nothing of the job. Restate reports an end in its JSON.
        let is_end = serde_json::from_slice::<Value>(&reply.body).is_ok_and(|body| body["message"].is_string());
        let is_elsewhere = matches!(reply.status, 429 | 502..=504);
        return if is_end && !is_elsewhere { Attempt::Failed(what) } else { Attempt::Unknown(what) };
    }
    match serde_json::from_slice(&reply.body) {
        Ok(Answer::Done(answer)) => Attempt::Done(answer),
        Ok(Answer::Failed(what)) => Attempt::Failed(format!("a worker could not do it: {what}")),
        Ok(Answer::Refused(what)) => Attempt::Refused(what),
        Err(_) => Attempt::Failed("the answer is not that of a worker".to_owned()),
    }
}
