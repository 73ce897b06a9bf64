//! The object: keeps the state of a key in the engine, and sends itself the ticks of its clock.

use std::sync::Arc;
use std::time::Duration;

use restate_sdk::discovery;
use restate_sdk::endpoint::{ContextInternal, HandlerOptions, ServiceOptions};
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use restate_sdk::service::ServiceDefinition;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use serde_json::json;
use tokio::sync::OnceCell;

use super::decision::State;
use super::messages::{Message, Tick};
use super::names::limits_service_name;
use super::status::STATE;
use crate::address::{EngineAddress, QUICK, send};
use crate::engine::{NoIngress, find_ingress};

/// The length of a tick, except in tests.
pub const TICK: Duration = Duration::from_secs(1);
/// The engine repeats a message that has no answer for this long. Nothing in it takes more than a request to the ingress.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// How long a repeated settlement has no effect, besides those that the state remembers.
const SETTLED_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a repeated question gets the same answer: for the next attempts of a caller that has lost it.
const ASKED_RETENTION: Duration = Duration::from_secs(30);

/// The service for the endpoint of a connection.
pub(crate) fn limits_service(object: &Arc<LimitsObject>, options: ServiceOptions) -> ServiceDefinition {
    let name = &object.service;
    // Messages are JSON, whatever their sender calls them.
    let handlers: Vec<_> = Message::HANDLERS
        .iter()
        .map(|handler| {
            json!({
                "name": handler,
                "input": {"contentType": "*/*", "required": false},
                "output": {"contentType": "application/json", "setContentTypeIfEmpty": true},
            })
        })
        .collect();
    let service = json!({"name": name, "ty": "VIRTUAL_OBJECT", "handlers": handlers});
    let service: discovery::Service = serde_json::from_value(service).expect("the schema has these fields");
    let options = options
        .inactivity_timeout(ANSWER_LIMIT)
        .abort_timeout(ANSWER_LIMIT)
        .idempotency_retention(Duration::ZERO)
        .handler("admit", HandlerOptions::new().idempotency_retention(ASKED_RETENTION))
        .handler("settle", HandlerOptions::new().idempotency_retention(SETTLED_RETENTION));
    service_definition(Dispatcher(object.clone()), service).options(options)
}

/// The object that keeps limits. All connections of a worker share it.
pub(crate) struct LimitsObject {
    service: String,
    engine: EngineAddress,
    http: reqwest::Client,
    ingress: OnceCell<EngineAddress>,
    tick: Duration,
}

struct Dispatcher(Arc<LimitsObject>);

impl restate_sdk::service::Service for Dispatcher {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let object = self.0.clone();
        Box::pin(async move {
            let (body, input) = context.input::<Vec<u8>>().await;
            let result = object.answer(&context, &input.key, &body).await;
            context.handle_handler_result(result);
            context.end();
            Ok(())
        })
    }
}

impl LimitsObject {
    pub(crate) fn new(program: &str, engine: EngineAddress, http: reqwest::Client, tick: Duration) -> Arc<Self> {
        Arc::new(Self { service: limits_service_name(program), engine, http, ingress: OnceCell::new(), tick })
    }

    async fn answer(&self, context: &ContextInternal, key: &str, body: &[u8]) -> HandlerResult<Vec<u8>> {
        let terminal = |what: String| HandlerError::from(TerminalError::new_with_code(400, what));
        let message = Message::read(context.handler_name(), body).map_err(terminal)?;
        let mut state: State = match context.get::<Vec<u8>>(STATE).await? {
            None => State::default(),
            Some(json) => serde_json::from_slice(&json)?,
        };
        let tick_ms = u64::try_from(self.tick.as_millis()).unwrap_or(u64::MAX).max(1);
        let decision = state.decide(message, tick_ms);
        if let Some(tick) = decision.tick {
            // Before the state is written: if it fails, the engine repeats the message. A tick that is sent twice counts once.
            self.send_tick(key, tick).await.map_err(HandlerError::from)?;
        }
        context.set(STATE, serde_json::to_vec(&state)?);
        Ok(serde_json::to_vec(&decision.reply)?)
    }

    /// Through the ingress, whose clock measures the delay. The SDK would add it to the clock of this worker, so that a worker
    /// whose clock is slow would let a minute pass in no time.
    async fn send_tick(&self, key: &str, tick: Tick) -> Result<(), String> {
        let find = || find_ingress(&self.http, &self.engine);
        let ingress = self.ingress.get_or_try_init(find).await.map_err(NoIngress::into_words)?;
        let delay = self.tick.as_millis();
        let path = format!("/{}/{key}/tick/send?delay={delay}ms", self.service);
        let reply = send(self.http.post(ingress.join(&path)).json(&tick), QUICK).await;
        match reply {
            Ok(reply) if reply.is_success() => Ok(()),
            Ok(reply) => Err(format!("the engine does not take a tick: {}", reply.message())),
            Err(error) => Err(error.unreachable()),
        }
    }
}
