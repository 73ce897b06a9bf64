//! A stateless worker: serves jobs to an engine, which opens connections to it.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use restate_sdk::context::RunFuture as _;
use restate_sdk::discovery;
use restate_sdk::endpoint::{self, ContextInternal, Endpoint, ServiceOptions};
use restate_sdk::errors::{HandlerError, HandlerResult};
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use serde_json::value::RawValue;
use tlaforge_process::Cancel;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::address::EngineAddress;
use crate::connection::{self, ConnectionJobs};
use crate::job::{Answer, BUSY, GIVEN_BACK, MAX_MESSAGE_BYTES, OBJECT_TURN, service_name};
use crate::limits::{LimitsObject, limits_service, limits_service_name};
use crate::registration::{Registration, RegistrationError};

/// The engine ends a job that has not answered for this long, and begins it again. Between its turn and its answer a job writes
/// nothing, so this is the limit of a whole job, and of the time that it waits for its turn.
const JOB_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
/// Time between two attempts of the engine to reach a worker.
const RETRY_INTERVALS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// The engine would pause a job after 70 attempts; a client that still waits for it ends it instead.
const RETRY_ATTEMPTS: u64 = 1_000_000;
/// Time for the answers of the last jobs after SIGTERM.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Ticks between two checks of the registration.
const TICKS_BETWEEN_CHECKS: u32 = 30;
/// How long answers can be asked for again.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a job has no answer here.
#[derive(Debug)]
pub enum NoAnswer {
    /// This machine could not do it, and why. That is an answer of its own.
    Failed(String),
    /// Another worker shall go on with it, because this one ends.
    GivenBack,
}

/// What a job answers: JSON, or why it has no answer here.
pub type JobFuture = Pin<Box<dyn Future<Output = Result<String, NoAnswer>> + Send>>;

/// A kind of jobs.
#[derive(Clone)]
pub struct Job {
    pub name: &'static str,
    /// Whether a job names an object. Jobs of one object run one after the other.
    pub has_object: bool,
    /// Number of attempts that may be lost (the worker was killed, or the connection broke) before workers refuse the job; `None`: no
    /// limit.
    pub max_lost_attempts: Option<usize>,
    pub work: Arc<dyn Fn(Vec<u8>) -> JobFuture + Send + Sync>,
}

/// A worker for the jobs of one version of a program.
pub struct Worker {
    pub engine: EngineAddress,
    pub listen: SocketAddr,
    /// Where the engine reaches this worker, or the load balancer in front of several; `None` for the address that it
    /// listens on.
    pub advertise: Option<EngineAddress>,
    /// Maximum number of jobs at a time.
    pub capacity: usize,
    /// Public keys of the engines that may send jobs; empty accepts jobs from everyone.
    pub identity_keys: Vec<String>,
    pub program: &'static str,
    pub version: String,
    pub jobs: Vec<Job>,
    /// Whether it also keeps the limits that callers of all versions share.
    pub keeps_limits: bool,
    /// The step of the clock of limits, [`TICK`](crate::TICK).
    pub tick: Duration,
}

/// Why a worker cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("this is not the public identity key of an engine: {key}: {what}")]
    IdentityKey { key: String, what: String },
    #[error(transparent)]
    Registration(#[from] RegistrationError),
    #[error("cannot start a client of HTTP: {0}")]
    Client(#[from] reqwest::Error),
}

impl Worker {
    /// Serves until `cancel`, then finishes the jobs that run. `note` gets a line for each change.
    pub async fn serve(self, cancel: &Cancel, note: &(dyn Fn(&str) + Send + Sync)) -> Result<(), WorkerError> {
        let http = self.engine.http_client()?;
        let turns = Arc::new(Semaphore::new(self.capacity));
        let limits =
            self.keeps_limits.then(|| LimitsObject::new(self.program, self.engine.clone(), http.clone(), self.tick));
        // Finds what is wrong with the keys before anything is registered.
        self.endpoint(limits.as_ref(), &turns, &ConnectionJobs::new())?;
        let listen = |source| WorkerError::Listen { address: self.listen, source };
        let listener = TcpListener::bind(self.listen).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        note(&format!("listening on {address}, at most {} at a time", self.capacity));
        // Each version has an address of its own, so that a new one does not replace a deployment that still runs jobs.
        let advertised = self.advertise.as_ref().map_or_else(|| format!("http://{address}"), ToString::to_string);
        let deployment = format!("{advertised}/{}", service_name(self.program, &self.version, None));
        let (end, mut connections) = (Cancel::new(), JoinSet::new());
        let registration = Registration {
            http,
            engine: self.engine.clone(),
            address: deployment,
            services: self.services(),
            is_shared: self.advertise.is_some(),
            interval: self.tick * TICKS_BETWEEN_CHECKS,
        };
        let mut registration = std::pin::pin!(registration.stay_registered(note));
        loop {
            tokio::select! {
                () = cancel.cancelled() => break,
                refused = &mut registration => return Err(refused.into()),
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                accepted = listener.accept() => {
                    // A connection that ended before it was accepted is not an error of the listener.
                    let Ok((stream, _)) = accepted else {
                        // There may be too many open files.
                        tokio::time::sleep(RETRY_INTERVALS[0]).await;
                        continue;
                    };
                    let jobs = ConnectionJobs::new();
                    let endpoint = self.endpoint(limits.as_ref(), &turns, &jobs)?;
                    connections.spawn(connection::serve(stream, endpoint, jobs, end.clone()));
                }
            }
        }
        // Jobs that wait for their turn go back to the engine.
        let running = self.capacity - turns.available_permits();
        turns.close();
        drop(listener);
        end.cancel();
        if running > 0 {
            note(&format!("finishing {running} running; new ones go to other workers"));
        }
        let ended = async {
            while turns.available_permits() < self.capacity {
                tokio::time::sleep(RETRY_INTERVALS[0]).await;
            }
            // Time for the last answers. Without this limit, a connection without a request would keep the worker running.
            tokio::time::sleep(LAST_ANSWERS).await;
        };
        tokio::select! {
            () = async { while connections.join_next().await.is_some() {} } => {}
            () = ended => {}
        }
        Ok(())
    }

    /// The names of the services of this worker.
    fn services(&self) -> Vec<String> {
        let limits = self.keeps_limits.then(|| limits_service_name(self.program));
        let jobs = self.jobs.iter().map(|job| service_name(self.program, &self.version, Some(job.name)));
        limits.into_iter().chain(jobs).collect()
    }

    fn endpoint(
        &self,
        limits: Option<&Arc<LimitsObject>>,
        turns: &Arc<Semaphore>,
        jobs: &Arc<ConnectionJobs>,
    ) -> Result<Endpoint, WorkerError> {
        let options = ServiceOptions::new()
            .inactivity_timeout(JOB_LIMIT)
            .abort_timeout(JOB_LIMIT)
            .idempotency_retention(RETENTION)
            .journal_retention(Duration::ZERO)
            .retry_policy_initial_interval(RETRY_INTERVALS[0])
            .retry_policy_exponentiation_factor(2.0)
            .retry_policy_max_interval(RETRY_INTERVALS[1])
            .retry_policy_max_attempts(RETRY_ATTEMPTS)
            .retry_policy_kill_on_max_attempts();
        let mut builder = Endpoint::builder();
        if let Some(limits) = limits {
            builder = builder.bind(limits_service(limits, options.clone()));
        }
        for job in &self.jobs {
            let name = service_name(self.program, &self.version, Some(job.name));
            let dispatcher = Dispatcher { job: job.clone(), turns: turns.clone(), connection: jobs.clone() };
            builder =
                builder.bind(service_definition(dispatcher, discovered_service(&name, job)).options(options.clone()));
        }
        for key in &self.identity_keys {
            let bad = |what: String| WorkerError::IdentityKey { key: key.clone(), what };
            builder = builder.identity_key(key).map_err(|e| bad(e.to_string()))?;
        }
        Ok(builder.build())
    }
}

/// What the macro `service` of the SDK generates, with a name that is known only now.
struct Dispatcher {
    job: Job,
    turns: Arc<Semaphore>,
    connection: Arc<ConnectionJobs>,
}

impl restate_sdk::service::Service for Dispatcher {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let (job, turns, connection) = (self.job.clone(), self.turns.clone(), self.connection.clone());
        Box::pin(async move {
            if context.handler_name() != job.name {
                return Err(endpoint::Error::unknown_handler(context.service_name(), context.handler_name()));
            }
            let (input, _) = context.input::<Vec<u8>>().await;
            if input.len() > MAX_MESSAGE_BYTES {
                let what = format!("the request has {} bytes, more than {MAX_MESSAGE_BYTES}", input.len());
                context.handle_handler_result(Ok(answer(Err(what))));
                context.end();
                return Ok(());
            }
            // A job of an object is sent again, perhaps to a worker that is free.
            let limit = if job.has_object { OBJECT_TURN } else { JOB_LIMIT };
            let turn = tokio::time::timeout(limit, turns.acquire()).await;
            let Ok(turn) = turn else {
                context.handle_handler_result::<Vec<u8>>(Err(HandlerError::from(BUSY)));
                context.end();
                connection.refuse();
                return Ok(());
            };
            let result: HandlerResult<Vec<u8>> = match turn {
                Err(_) => Err(given_back()),
                Ok(_turn) => match give_up_after_lost_attempts(&context, job.max_lost_attempts).await {
                    Err(error) => Err(error),
                    Ok(Some(why)) => Ok(to_bytes(&Answer::Refused(why))),
                    Ok(None) => match (job.work)(input).await {
                        Ok(json) => Ok(answer(Ok(json))),
                        Err(NoAnswer::Failed(what)) => Ok(answer(Err(what))),
                        Err(NoAnswer::GivenBack) => Err(given_back()),
                    },
                },
            };
            context.handle_handler_result(result);
            context.end();
            Ok(())
        })
    }
}

/// An error, and not an answer: the engine sends the job to another worker.
fn given_back() -> HandlerError {
    HandlerError::from(GIVEN_BACK)
}

/// Returns why the job is given up, if all its attempts were lost. The engine's own count includes attempts that found no worker. So
/// each attempt writes an entry into the journal of the job; the entries found there are the earlier attempts.
async fn give_up_after_lost_attempts(
    context: &ContextInternal,
    max_lost_attempts: Option<usize>,
) -> Result<Option<String>, HandlerError> {
    let Some(max_lost_attempts) = max_lost_attempts else { return Ok(None) };
    let is_new = Arc::new(AtomicBool::new(false));
    for _ in 0..max_lost_attempts {
        let ran = is_new.clone();
        let entry = move || async move {
            ran.store(true, Ordering::Relaxed);
            Ok(())
        };
        context.run(entry).name("attempt").await?;
        if is_new.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    Ok(Some(format!(
        "{max_lost_attempts} attempts were lost, because their workers were killed or lost the connection to the engine: look for the reason \
         in the logs of the workers, such as too little memory; the same command tries again"
    )))
}

fn to_bytes(answer: &Answer) -> Vec<u8> {
    serde_json::to_vec(answer).expect("an answer is plain data")
}

fn answer(result: Result<String, String>) -> Vec<u8> {
    let result = result.and_then(|json| match json.len() {
        ..=MAX_MESSAGE_BYTES => RawValue::from_string(json).map_err(|e| e.to_string()),
        bytes => Err(format!("its answer has {bytes} bytes, more than {MAX_MESSAGE_BYTES}")),
    });
    to_bytes(&result.map_or_else(Answer::Failed, Answer::Done))
}

fn discovered_service(service: &str, job: &Job) -> discovery::Service {
    let handler = discovery::Handler {
        name: discovery::HandlerName::try_from(job.name).expect("the name of a job is a name of a handler"),
        input: Some(discovery::InputPayload::from_metadata::<Vec<u8>>()),
        output: Some(discovery::OutputPayload::from_metadata::<Vec<u8>>()),
        ty: None,
        documentation: None,
        metadata: std::collections::HashMap::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        workflow_completion_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    };
    discovery::Service {
        // The handler of an object is exclusive unless it says otherwise.
        ty: if job.has_object { discovery::ServiceType::VirtualObject } else { discovery::ServiceType::Service },
        name: discovery::ServiceName::try_from(service).expect("a version is part of a name of a service"),
        handlers: vec![handler],
        documentation: None,
        metadata: std::collections::HashMap::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    }
}
