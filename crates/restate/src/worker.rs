//! A stateless worker: serves one job to an engine, which opens connections to it.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::discovery;
use restate_sdk::endpoint::{self, ContextInternal, Endpoint, ServiceOptions};
use restate_sdk::errors::{HandlerError, HandlerResult};
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use serde_json::json;
use serde_json::value::RawValue;
use tlaforge_process::Cancel;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::address::{EngineAddress, QUICK, send};
use crate::job::{Answer, MAX_MESSAGE_BYTES, service_name};

/// The engine ends a job that has not answered for this long, and begins it again. A job writes nothing before its answer,
/// so this is the limit of a whole job with the time that it waits for its turn.
const JOB_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
/// Time between two attempts of the engine to reach a worker.
const RETRY_INTERVALS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// The engine would pause a job after 70 attempts; a client that still waits for it ends it instead.
const RETRY_ATTEMPTS: u64 = 1_000_000;
/// Time for the last answers and for closing connections.
const CLOSING: Duration = Duration::from_secs(5);
/// How long answers can be asked for again.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// What a job answers: JSON, or why this machine could not do it.
pub type JobFuture = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// A worker for one job of one version of a program.
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
    pub job: &'static str,
    pub work: Arc<dyn Fn(Vec<u8>) -> JobFuture + Send + Sync>,
}

/// Why a worker cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("this is not the public identity key of an engine: {key}: {what}")]
    IdentityKey { key: String, what: String },
    #[error("the engine {engine} refuses this worker: {what}")]
    Refused { engine: EngineAddress, what: String },
    #[error("cannot start a client of HTTP: {0}")]
    Client(#[from] reqwest::Error),
}

impl Worker {
    /// Serves until `cancel`, then finishes the jobs that run. `note` gets a line for each change.
    pub async fn serve(self, cancel: &Cancel, note: &(dyn Fn(&str) + Send + Sync)) -> Result<(), WorkerError> {
        let http = self.engine.http_client()?;
        let turns = Arc::new(Semaphore::new(self.capacity));
        let endpoint = self.endpoint(&turns)?;
        let listen = |source| WorkerError::Listen { address: self.listen, source };
        let listener = TcpListener::bind(self.listen).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        note(&format!("listening on {address}, at most {} at a time", self.capacity));
        // Each version has an address of its own, so that a new one does not replace a deployment that still runs jobs.
        let advertised = self.advertise.as_ref().map_or_else(|| format!("http://{address}"), ToString::to_string);
        let deployment = format!("{advertised}/{}", self.service());
        let graceful = GracefulShutdown::new();
        let mut registration = std::pin::pin!(self.register(&http, &deployment, note));
        let mut is_registered = false;
        loop {
            tokio::select! {
                () = cancel.cancelled() => break,
                registered = &mut registration, if !is_registered => {
                    registered?;
                    is_registered = true;
                    note(&format!("registered at {} as {deployment}", self.engine));
                }
                accepted = listener.accept() => {
                    // A connection that ended before it was accepted is not an error of the listener.
                    let Ok((stream, remote)) = accepted else { continue };
                    let connection = http2::Builder::new(TokioExecutor::new())
                        // The engine opens another connection for more, which may reach another worker.
                        .max_concurrent_streams(u32::try_from(self.capacity).unwrap_or(u32::MAX).saturating_add(1))
                        .serve_connection(TokioIo::new(stream), HyperEndpoint::new(endpoint.clone()));
                    let connection = graceful.watch(connection);
                    tokio::spawn(async move {
                        if let Err(error) = connection.await {
                            tracing::debug!(%remote, %error, "a connection of the engine ended");
                        }
                    });
                }
            }
        }
        // Jobs that wait for their turn go back to the engine.
        let running = self.capacity - turns.available_permits();
        turns.close();
        drop(listener);
        if running > 0 {
            note(&format!("finishing {running} running; new ones go to other workers"));
        }
        // A connection without a request, such as that of a health check, would stay open for ever.
        let mut closed = std::pin::pin!(graceful.shutdown());
        while tokio::time::timeout(CLOSING, &mut closed).await.is_err() && turns.available_permits() < self.capacity {}
        Ok(())
    }

    fn service(&self) -> String {
        service_name(self.program, &self.version)
    }

    /// Registers the worker, and waits for an engine that cannot be reached yet.
    async fn register(
        &self,
        http: &reqwest::Client,
        deployment: &str,
        note: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<(), WorkerError> {
        let request = json!({"uri": deployment, "force": true});
        let mut last = String::new();
        let mut pause = RETRY_INTERVALS[0];
        loop {
            let what = match send(http.post(self.engine.join("/deployments")).json(&request), QUICK).await {
                Ok(reply) if reply.is_success() => return Ok(()),
                // The engine cannot reach the advertised address, perhaps not yet, or starts.
                Ok(reply) if reply.status >= 500 => reply.message(),
                Ok(reply) => {
                    return Err(WorkerError::Refused { engine: self.engine.clone(), what: reply.message() });
                }
                Err(error) => error.what,
            };
            if what != last {
                note(&format!("cannot register at {} yet: {what}; trying again", self.engine));
                last = what;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RETRY_INTERVALS[1]);
        }
    }

    fn endpoint(&self, turns: &Arc<Semaphore>) -> Result<Endpoint, WorkerError> {
        let dispatcher = Dispatcher { work: self.work.clone(), turns: turns.clone(), job: self.job };
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
        let service = service_definition(dispatcher, discovered_service(&self.service(), self.job)).options(options);
        let mut builder = Endpoint::builder().bind(service);
        for key in &self.identity_keys {
            let bad = |what: String| WorkerError::IdentityKey { key: key.clone(), what };
            builder = builder.identity_key(key).map_err(|e| bad(e.to_string()))?;
        }
        Ok(builder.build())
    }
}

/// What the macro `service` of the SDK generates, with a name that is known only now.
struct Dispatcher {
    work: Arc<dyn Fn(Vec<u8>) -> JobFuture + Send + Sync>,
    turns: Arc<Semaphore>,
    job: &'static str,
}

impl restate_sdk::service::Service for Dispatcher {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let Self { work, turns, job } = self;
        let (work, turns, job) = (work.clone(), turns.clone(), *job);
        Box::pin(async move {
            if context.handler_name() != job {
                return Err(endpoint::Error::unknown_handler(context.service_name(), context.handler_name()));
            }
            let (input, _) = context.input::<Vec<u8>>().await;
            let result: HandlerResult<Vec<u8>> = match turns.acquire().await {
                // An error, and not an answer: the engine sends the job to another worker.
                Err(_) => Err(HandlerError::from("this worker is ending")),
                Ok(_turn) if input.len() > MAX_MESSAGE_BYTES => {
                    Ok(answer(Err(format!("a request has at most {MAX_MESSAGE_BYTES} bytes"))))
                }
                Ok(_turn) => Ok(answer(work(input).await)),
            };
            context.handle_handler_result(result);
            context.end();
            Ok(())
        })
    }
}

fn answer(result: Result<String, String>) -> Vec<u8> {
    let result = result.and_then(|json| match json.len() {
        ..=MAX_MESSAGE_BYTES => RawValue::from_string(json).map_err(|e| e.to_string()),
        bytes => Err(format!("its answer has {bytes} bytes, more than {MAX_MESSAGE_BYTES}")),
    });
    let answer = result.map_or_else(Answer::Failed, Answer::Done);
    serde_json::to_vec(&answer).expect("an answer is plain data")
}

fn discovered_service(service: &str, job: &str) -> discovery::Service {
    let handler = discovery::Handler {
        name: discovery::HandlerName::try_from(job).expect("the name of a job is a name of a handler"),
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
        ty: discovery::ServiceType::Service,
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
