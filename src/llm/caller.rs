//! Calls a provider: chooses the model for a node, retries, keeps to the budget and limits the calls that run at once.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tracing::{Instrument as _, debug, info, info_span, trace};

use super::budget::{Budget, Estimate, Used};
use super::call_state::{BYTES_PER_TOKEN, CallState, EXPECTED_OUTPUT, LeftOut};
use super::failure::{CallFailure, FailureKind};
use super::prices::Prices;
use super::provider::{Answer, LlmError, ModelChoice, Provider, Request, RequestKey, Timing};
use super::usage::Usage;
use crate::process::Cancel;

/// Waiting and remaining time, behind a trait so that tests need not wait.
pub trait CallTimer: Send + Sync {
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// A random number from 0 to below 1, so that several callers do not retry at the same moment.
    fn jitter(&self) -> f64;

    /// The time that the run has left; `None` if it has no limit.
    fn time_left(&self) -> Option<Duration>;
}

/// How often and after which delays a call is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first.
    pub retries: u32,
    /// The wait before retry n is n times this, unless the server names a time.
    pub delay: Duration,
    /// The longest wait. If a server asks for more, the model is not tried again.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { retries: 5, delay: Duration::from_secs(60), cap: Duration::from_secs(600) }
    }
}

impl RetryPolicy {
    /// The wait before retry `next` (from 1); `None` if there is no retry.
    fn wait(&self, failure: &CallFailure, next: u32, jitter: f64) -> Option<Duration> {
        if !failure.kind.is_transient() || next > self.retries {
            return None;
        }
        match failure.retry_after {
            // The server cannot be reached. A server that is starting up will answer soon, a wrong address never will.
            None if failure.kind == FailureKind::Connect => {
                (next <= CONNECT_RETRIES).then(|| (CONNECT_DELAY * next).min(self.delay).mul_f64(1.0 + 0.1 * jitter))
            }
            Some(asked) if asked > self.cap => None,
            // Never earlier than the server says.
            Some(asked) => Some(asked + Duration::from_secs_f64(jitter)),
            None => Some((self.delay * next).mul_f64(1.0 + 0.1 * jitter).min(self.cap)),
        }
    }
}

/// The models that answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    /// The choice for all nodes that set nothing else.
    pub all: ModelChoice,
    /// Choices for single nodes, by node name.
    pub nodes: BTreeMap<String, ModelChoice>,
    /// The model that answers if the first choice is overloaded.
    pub fallback: Option<String>,
}

impl Models {
    /// The choice for a node: its own settings first, then those for all nodes.
    pub fn choice_for(&self, node: &str) -> ModelChoice {
        let Some(own) = self.nodes.get(node) else { return self.all.clone() };
        ModelChoice {
            model: own.model.clone().or_else(|| self.all.model.clone()),
            effort: own.effort.clone().or_else(|| self.all.effort.clone()),
            temperature: own.temperature.or(self.all.temperature),
            max_output: own.max_output.or(self.all.max_output),
        }
    }
}

/// A try that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCall {
    pub kind: FailureKind,
    /// The failure in words.
    pub message: String,
    /// HTTP status.
    pub status: Option<u16>,
    /// The server's id of the request.
    pub request_id: Option<String>,
    /// Tokens that the failed try used.
    pub usage: Option<Usage>,
    /// Their cost in US dollars, if the price is known.
    pub cost_usd: Option<f64>,
    /// Estimate of the tokens that the server did not report; only if there is a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<Estimate>,
    /// The model that was asked.
    pub model: Option<String>,
    /// The number of the try, from 1.
    pub attempt: u32,
    /// Seconds until the next try; `None` if there is none.
    pub wait_seconds: Option<f64>,
    /// Seconds that the server asked to wait, even if the wait is shorter or there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_seconds: Option<f64>,
    /// Files outside the workspace that the model tried to read.
    #[serde(skip)]
    pub refused_reads: Vec<String>,
}

/// Another model is asked from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSwitch {
    /// The model that was asked; `None` for the provider's default.
    pub from: Option<String>,
    /// The model that is asked now.
    pub to: String,
}

/// An event during a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEvent {
    /// A try failed.
    Failed(FailedCall),
    /// Another model is asked from here on.
    Switched(ModelSwitch),
    /// A part of the request that the server refused is left out from here on.
    LeftOut(LeftOut),
}

/// Retries if the server cannot be reached; the wait before retry n is n times the delay.
const CONNECT_RETRIES: u32 = 2;
const CONNECT_DELAY: Duration = Duration::from_secs(5);
/// After this many rate-limit or overload failures in a row, the fallback model is asked.
const SWITCH_AFTER: u32 = 3;

/// Calls a provider under a retry policy, a budget and a limit of concurrent calls.
pub struct Caller {
    provider: Box<dyn Provider>,
    models: Models,
    retry: RetryPolicy,
    budget: Budget,
    prices: Prices,
    slots: Semaphore,
    /// The expected use of the calls under way.
    under_way: watch::Sender<ExpectedUse>,
    timer: Arc<dyn CallTimer>,
}

/// The expected use of a call under way. It counts as used until the call ends, so that calls that start at the same time
/// cannot exceed the budget together.
struct Reservation<'a> {
    caller: &'a Caller,
    next: ExpectedUse,
}

/// Permission to make one call: a slot among the concurrent calls, and a reservation in the budget.
pub struct CallPermit<'a> {
    used: Used,
    _reservation: Reservation<'a>,
    _slot: SemaphorePermit<'a>,
}

/// The expected use of one or several calls.
#[derive(Debug, Clone, Copy, Default)]
struct ExpectedUse {
    calls: u32,
    tokens: u64,
    cost_usd: f64,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.caller.under_way.send_modify(|all| {
            all.calls -= 1;
            all.tokens = all.tokens.saturating_sub(self.next.tokens);
            // Sums of floating-point numbers drift; with no calls left the sum is exactly zero.
            all.cost_usd = if all.calls == 0 { 0.0 } else { (all.cost_usd - self.next.cost_usd).max(0.0) };
        });
    }
}

impl Caller {
    /// Makes at most `concurrent_calls` calls at once.
    pub fn new(
        provider: Box<dyn Provider>,
        models: Models,
        retry: RetryPolicy,
        budget: Budget,
        prices: Prices,
        concurrent_calls: usize,
        timer: Arc<dyn CallTimer>,
    ) -> Self {
        let (slots, under_way) = (Semaphore::new(concurrent_calls.max(1)), watch::Sender::new(ExpectedUse::default()));
        Self { provider, models, retry, budget, prices, slots, under_way, timer }
    }

    /// The provider's name.
    pub fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// The model choice for a node.
    pub fn choice(&self, node: &str) -> ModelChoice {
        self.models.choice_for(node)
    }

    /// The time that the run has left; `None` if it has no limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.timer.time_left()
    }

    /// Whether the provider's recording says that the answer arrived after the decision that it was meant for.
    pub fn comes_late(&self, key: &RequestKey) -> bool {
        self.provider.comes_late(key)
    }

    /// Whether the provider's recording says that the quick check of the answer ran out of time.
    pub fn check_timed_out(&self, key: &RequestKey) -> bool {
        self.provider.check_timed_out(key)
    }

    /// The clock's decisions in this attempt of a node, from the provider's recording.
    pub fn timing(&self, node: &str, place: u32, attempt: u32) -> Option<&Timing> {
        self.provider.timing(node, place, attempt)
    }

    /// Waits until one more call may run and the budget has room for it besides the calls under way. `used` returns what the
    /// run has used; the expected use of other calls is added.
    pub async fn acquire(
        &self,
        request: &Request,
        used: &(dyn Fn() -> Used + Sync),
        cancel: &Cancel,
    ) -> Result<CallPermit<'_>, LlmError> {
        let began = Instant::now();
        let slot = tokio::select! {
            slot = self.slots.acquire() => slot.map_err(|_| LlmError::Cancelled)?,
            () = cancel.cancelled() => return Err(LlmError::Cancelled),
        };
        let (used, reservation) = self.reserve(request, used, cancel).await?;
        debug!(node = request.key.node, waited = ?began.elapsed(), tokens_used = used.tokens, "permit for a model call");
        Ok(CallPermit { used, _reservation: reservation, _slot: slot })
    }

    /// Asks, with retries, until there is an answer or a final failure. `used` returns what the run has used when the call
    /// begins; the expected use of other calls is added.
    pub async fn call(
        &self,
        request: &Request,
        used: &(dyn Fn() -> Used + Sync),
        cancel: &Cancel,
        note: &mut (dyn FnMut(CallEvent) + Send),
    ) -> Result<Answer, LlmError> {
        self.call_with_permit(self.acquire(request, used, cancel).await?, request, cancel, note).await
    }

    /// Asks with a permit that was acquired before.
    pub async fn call_with_permit(
        &self,
        permit: CallPermit<'_>,
        request: &Request,
        cancel: &Cancel,
        note: &mut (dyn FnMut(CallEvent) + Send),
    ) -> Result<Answer, LlmError> {
        let RequestKey { node, purpose, candidate, .. } = &request.key;
        let span = info_span!("model_call", provider = self.name(), node, purpose, candidate);
        self.call_until_answered(permit, request, cancel, note).instrument(span).await
    }

    async fn call_until_answered(
        &self,
        permit: CallPermit<'_>,
        request: &Request,
        cancel: &Cancel,
        note: &mut (dyn FnMut(CallEvent) + Send),
    ) -> Result<Answer, LlmError> {
        let mut used = permit.used;
        let mut request = request.clone();
        let mut attempt = 1;
        // Consecutive failures because the server lacks capacity.
        let mut capacity_failures = 0;
        loop {
            let state = self.call_state(&request, used);
            let mut first = expected_usage(&request, EXPECTED_OUTPUT);
            first.input = first.input.max(used.before.map_or(0, |before| before.total()));
            state.check_budget(Usage::default(), first).map_err(|o| LlmError::Budget { what: o.what, flag: o.flag })?;
            let asked = request.choice.model.clone();
            let began = Instant::now();
            info!(attempt, model = asked, "model call started");
            trace!(role = request.role, prompt = request.prompt, "request");
            let answered = self.with_deadline(self.provider.ask_with(&request, &state, cancel)).await;
            let took = began.elapsed();
            state.take_left_out().into_iter().for_each(|part| note(CallEvent::LeftOut(part)));
            let mut failure = match answered? {
                Ok(mut answer) => {
                    // A server may name a dated version of the model that was asked for. Either name can have a price.
                    let names = [answer.model.as_deref(), request.choice.model.as_deref()];
                    if answer.cost_usd.is_none() {
                        answer.cost_usd = names.into_iter().find_map(|name| self.cost(name, answer.usage.as_ref()));
                    }
                    let (input, output) =
                        answer.usage.map(|usage| (usage.total() - usage.output, usage.output)).unzip();
                    info!(attempt, model = asked, input, output, cost_usd = answer.cost_usd, ?took, "model answered");
                    trace!(text = answer.text, "answer");
                    return Ok(answer);
                }
                Err(LlmError::Failed(failure)) => failure,
                Err(other) => {
                    info!(attempt, model = asked, ?took, "model call ended without an answer");
                    return Err(other);
                }
            };
            capacity_failures = match failure.kind {
                FailureKind::Overloaded | FailureKind::RateLimit => capacity_failures + 1,
                _ => 0,
            };
            let fallback = self.models.fallback.as_ref().filter(|to| request.choice.model.as_ref() != Some(to));
            let last = self.retry.wait(&failure, attempt, 0.0).is_none();
            let switch = fallback.filter(|_| capacity_failures >= SWITCH_AFTER || (capacity_failures > 0 && last));
            let wait = match switch {
                Some(_) => Some(Duration::ZERO),
                None => self.retry.wait(&failure, attempt, self.timer.jitter()),
            };
            let model = request.choice.model.as_deref();
            let cost_usd = self.cost(model, failure.usage.as_ref());
            let estimated = self.estimate_failed(&request, &failure);
            if let (None, Some(asked)) = (wait, failure.retry_after) {
                failure.message = format!("{}; it asks to wait {} s", failure.message, asked.as_secs_f64().ceil());
            }
            let (kind, status) = (failure.kind, failure.status);
            info!(attempt, model = asked, ?kind, status, ?took, retry_after = ?wait, "model call failed");
            trace!(message = failure.message, "failure");
            note(CallEvent::Failed(FailedCall {
                kind: failure.kind,
                message: failure.message.clone(),
                status: failure.status,
                request_id: failure.request_id.clone(),
                usage: failure.usage,
                cost_usd,
                estimated,
                model: request.choice.model.clone(),
                attempt,
                wait_seconds: wait.map(|w| w.as_secs_f64()),
                asked_seconds: failure.retry_after.map(|asked| asked.as_secs_f64()),
                refused_reads: failure.refused_reads.clone(),
            }));
            used.tokens = used.tokens.saturating_add(failure.usage.map_or(0, |u| u.total()));
            used.cost_usd += cost_usd.unwrap_or(0.0);
            if let Some(estimated) = estimated {
                used.tokens = used.tokens.saturating_add(estimated.usage.total());
                used.cost_usd += estimated.cost_usd.unwrap_or(0.0);
            }
            if let Some(overdraft) = state.overdraft() {
                return Err(LlmError::Budget { what: overdraft.what.clone(), flag: overdraft.flag });
            }
            let Some(wait) = wait else { return Err(failure.into()) };
            if let Some(to) = switch {
                note(CallEvent::Switched(ModelSwitch { from: request.choice.model.clone(), to: to.clone() }));
                info!(from = request.choice.model, to, "another model is called");
                request.choice.model = Some(to.clone());
                (attempt, capacity_failures) = (1, 0);
                continue;
            }
            if self.timer.time_left().is_some_and(|left| left < wait) {
                return Err(LlmError::Deadline);
            }
            tokio::select! {
                () = self.timer.pause(wait) => {}
                () = cancel.cancelled() => return Err(LlmError::Cancelled),
            }
            attempt += 1;
        }
    }

    /// Reserves the expected use of a call. If the budget has no room for it besides the calls under way, waits until one of
    /// them ends: it may use less than expected. Returns the use so far, including that of other calls.
    async fn reserve(
        &self,
        request: &Request,
        used: &(dyn Fn() -> Used + Sync),
        cancel: &Cancel,
    ) -> Result<(Used, Reservation<'_>), LlmError> {
        let usage = expected_usage(request, EXPECTED_OUTPUT);
        let cost_usd = self.cost(request.choice.model.as_deref(), Some(&usage)).unwrap_or(0.0);
        let next = ExpectedUse { calls: 1, tokens: usage.total(), cost_usd };
        let mut under_way = self.under_way.subscribe();
        loop {
            let others = *under_way.borrow_and_update();
            let mut used = used();
            used.tokens = used.tokens.saturating_add(others.tokens);
            used.cost_usd += others.cost_usd;
            (used.expected_tokens, used.expected_usd) = (others.tokens, others.cost_usd);
            let mut first = usage;
            first.input = first.input.max(used.before.map_or(0, |before| before.total()));
            if others.calls == 0 || self.call_state(request, used).check_budget(Usage::default(), first).is_ok() {
                self.under_way.send_modify(|all| {
                    all.calls += 1;
                    all.tokens = all.tokens.saturating_add(next.tokens);
                    all.cost_usd += next.cost_usd;
                });
                return Ok((used, Reservation { caller: self, next }));
            }
            tokio::select! {
                _ = under_way.changed() => {}
                () = cancel.cancelled() => return Err(LlmError::Cancelled),
            }
        }
    }

    async fn with_deadline<T>(&self, call: impl Future<Output = T>) -> Result<T, LlmError> {
        match self.timer.time_left() {
            None => Ok(call.await),
            Some(left) => tokio::time::timeout(left, call).await.map_err(|_| LlmError::Deadline),
        }
    }

    fn cost(&self, model: Option<&str>, usage: Option<&Usage>) -> Option<f64> {
        Some(self.prices.price_of(model?)?.cost_of(usage?))
    }

    /// Estimates the tokens of an answer that its provider did not report, besides those in `usage`. If the provider knows
    /// nothing about the requests of the call, the estimate assumes that the model read each offered file once. Estimates
    /// count against the budget; without a budget there is none.
    pub fn estimate(&self, request: &Request, answer: &Answer) -> Option<Estimate> {
        if self.budget == Budget::default() {
            return None;
        }
        let full_estimate =
            || answer.usage.is_none().then(|| expected_usage(request, answer.text.len() as u64 / BYTES_PER_TOKEN));
        let usage = answer.estimated.or_else(full_estimate)?;
        Some(Estimate { usage, cost_usd: self.cost(request.choice.model.as_deref(), Some(&usage)) })
    }

    /// Estimates the unreported tokens of a failed try: at least its input, if the model may have worked on it.
    fn estimate_failed(&self, request: &Request, failure: &CallFailure) -> Option<Estimate> {
        let full_estimate = || (failure.usage.is_none() && failure.may_be_billed()).then(|| expected_usage(request, 0));
        let usage = failure
            .estimated
            .as_deref()
            .copied()
            .or_else(full_estimate)
            .filter(|_| self.budget != Budget::default())?;
        Some(Estimate { usage, cost_usd: self.cost(request.choice.model.as_deref(), Some(&usage)) })
    }

    fn call_state(&self, request: &Request, used: Used) -> CallState {
        let price = request.choice.model.as_deref().and_then(|model| self.prices.price_of(model));
        CallState::new(self.budget, used, price)
    }
}

/// The expected usage of a request whose answer has this many tokens.
fn expected_usage(request: &Request, output: u64) -> Usage {
    let bytes = (request.role.len() + request.prompt.len()) as u64;
    let input = (bytes + request.offered.iter().map(|o| o.bytes).sum::<u64>()) / BYTES_PER_TOKEN;
    Usage { input, output, ..Usage::default() }
}
