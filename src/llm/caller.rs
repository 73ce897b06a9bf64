//! A provider with what every call needs: who answers for which node, retries, a budget, a limit of calls at a time.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tracing::{Instrument as _, debug, info, info_span, trace};

use super::contract::{Answer, LlmError, ModelChoice, Provider, Request, RequestKey, Timing, Usage};
use super::failure::{CallFailure, FailureKind};
use super::prices::Prices;
use super::terms::{BYTES_PER_TOKEN, EXPECTED_OUTPUT, LeftOut, Terms};
use crate::process::Cancel;

/// Time as a caller needs it, so that a test need not wait.
pub trait Pace: Send + Sync {
    /// Waits.
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// A number from 0 up to 1, to keep callers apart.
    fn jitter(&self) -> f64;

    /// How long the run may still take; `None` where it has no limit.
    fn left(&self) -> Option<Duration>;
}

/// How often and how late a call is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first.
    pub retries: u32,
    /// The wait before try n is n times this, unless the server names a time.
    pub delay: Duration,
    /// No wait is longer; a server that asks for more is not waited for.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { retries: 5, delay: Duration::from_secs(60), cap: Duration::from_secs(600) }
    }
}

impl RetryPolicy {
    /// How long to wait before try `next` (from 1), or `None` where it is not tried again.
    fn wait(&self, failure: &CallFailure, next: u32, jitter: f64) -> Option<Duration> {
        if !failure.kind.is_passing() || next > self.retries {
            return None;
        }
        match failure.wait {
            // Nobody is there: a server that is starting up comes soon, a wrong address never.
            None if failure.kind == FailureKind::Connect => {
                (next <= CONNECT_RETRIES).then(|| (CONNECT_DELAY * next).min(self.delay).mul_f64(1.0 + 0.1 * jitter))
            }
            Some(asked) if asked > self.cap => None,
            // Never earlier than the server says.
            Some(asked) => Some(asked + Duration::from_secs_f64(jitter)),
            None => Some((self.delay * next).min(self.cap).mul_f64(1.0 + 0.1 * jitter)),
        }
    }
}

/// What a run may use.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens of all kinds.
    pub tokens: Option<u64>,
}

/// Tokens that nobody counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The tokens.
    pub usage: Usage,
    /// US dollars, where the price is known.
    pub cost_usd: Option<f64>,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Used {
    /// US dollars, of those calls whose price is known.
    pub cost_usd: f64,
    /// Tokens of all kinds.
    pub tokens: u64,
    /// Tokens among them that other calls under way are expected to take.
    pub expected_tokens: u64,
    /// US dollars among them, likewise.
    pub expected_usd: f64,
    /// What the budget ended this very call at before: it takes at least as much again.
    pub before: Option<Usage>,
}

/// Who answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    /// Everything that no node says otherwise.
    pub all: ModelChoice,
    /// What single nodes say, by name.
    pub nodes: BTreeMap<String, ModelChoice>,
    /// Who answers where the first choice is overloaded.
    pub fallback: Option<String>,
}

impl Models {
    /// The choice of a node.
    pub fn of(&self, node: &str) -> ModelChoice {
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
    /// The kind of failure.
    pub kind: FailureKind,
    /// The failure in words.
    pub message: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The server's name of the request.
    pub request_id: Option<String>,
    /// Tokens used all the same.
    pub usage: Option<Usage>,
    /// US dollars of these, if the price is known.
    pub cost_usd: Option<f64>,
    /// What the server did not count, if there is a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<Estimate>,
    /// The model that was asked.
    pub model: Option<String>,
    /// The number of the try, from 1.
    pub attempt: u32,
    /// Seconds until the next try; `None` if there is none.
    pub wait_seconds: Option<f64>,
    /// Seconds that the server asks to wait, whether they are waited for or not.
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

/// Something that happened during a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// A try failed.
    Failed(FailedCall),
    /// Another model is asked from here on.
    Switched(ModelSwitch),
    /// A part of the request that the server refused is left out from here on.
    LeftOut(LeftOut),
}

/// How often and how late a server that cannot be reached is tried again: n times the delay before try n.
const CONNECT_RETRIES: u32 = 2;
const CONNECT_DELAY: Duration = Duration::from_secs(5);
/// After so many failures in a row for want of capacity another model is asked.
const SWITCH_AFTER: u32 = 3;

/// A provider, and how it is called.
pub struct Caller {
    provider: Box<dyn Provider>,
    models: Models,
    retry: RetryPolicy,
    budget: Budget,
    prices: Prices,
    slots: Semaphore,
    /// What the calls under way are expected to take.
    under_way: watch::Sender<Expected>,
    pace: Arc<dyn Pace>,
}

/// A call under way counts as used until it has ended: several may begin at once.
struct Reserved<'a> {
    caller: &'a Caller,
    next: Expected,
}

/// A place among the calls under way, and in the budget.
pub struct Place<'a> {
    used: Used,
    _reserved: Reserved<'a>,
    _slot: SemaphorePermit<'a>,
}

/// What calls under way are expected to take.
#[derive(Debug, Clone, Copy, Default)]
struct Expected {
    calls: u32,
    tokens: u64,
    cost_usd: f64,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.caller.under_way.send_modify(|all| {
            all.calls -= 1;
            all.tokens = all.tokens.saturating_sub(self.next.tokens);
            all.cost_usd = if all.calls == 0 { 0.0 } else { (all.cost_usd - self.next.cost_usd).max(0.0) };
        });
    }
}

impl Caller {
    /// Calls `provider`, at most `at_a_time` calls at once.
    pub fn new(
        provider: Box<dyn Provider>,
        models: Models,
        retry: RetryPolicy,
        budget: Budget,
        prices: Prices,
        at_a_time: usize,
        pace: Arc<dyn Pace>,
    ) -> Self {
        let (slots, under_way) = (Semaphore::new(at_a_time.max(1)), watch::Sender::new(Expected::default()));
        Self { provider, models, retry, budget, prices, slots, under_way, pace }
    }

    /// The provider's name.
    pub fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// Who answers for a node.
    pub fn choice(&self, node: &str) -> ModelChoice {
        self.models.of(node)
    }

    /// How long the run may still take; `None` where it has no limit.
    pub fn left(&self) -> Option<Duration> {
        self.pace.left()
    }

    /// Whether the provider's recording says that the answer came too late for a decision.
    pub fn comes_late(&self, key: &RequestKey) -> bool {
        self.provider.comes_late(key)
    }

    /// Whether the provider's recording says that the quick check of the answer did not end in time.
    pub fn check_timed_out(&self, key: &RequestKey) -> bool {
        self.provider.check_timed_out(key)
    }

    /// What the provider's recording says that the clock decided in this attempt of a node.
    pub fn timing(&self, node: &str, place: u32, attempt: u32) -> Option<&Timing> {
        self.provider.timing(node, place, attempt)
    }

    /// Waits until there is a place for one more call, and room for it in the budget beside those under way. `used` tells
    /// what the run has used; what the others are expected to take is added to it.
    pub async fn place(
        &self,
        request: &Request,
        used: &(dyn Fn() -> Used + Sync),
        cancel: &Cancel,
    ) -> Result<Place<'_>, LlmError> {
        let began = Instant::now();
        let slot = tokio::select! {
            slot = self.slots.acquire() => slot.map_err(|_| LlmError::Cancelled)?,
            () = cancel.cancelled() => return Err(LlmError::Cancelled),
        };
        let (used, reserved) = self.reserve(request, used, cancel).await?;
        debug!(node = request.key.node, waited = ?began.elapsed(), tokens_used = used.tokens, "place for a model call");
        Ok(Place { used, _reserved: reserved, _slot: slot })
    }

    /// Asks until there is an answer, or none can be hoped for. `used` tells what the run has used when the call begins;
    /// what other calls under way are expected to take is added to it.
    pub async fn call(
        &self,
        request: &Request,
        used: &(dyn Fn() -> Used + Sync),
        cancel: &Cancel,
        note: &mut (dyn FnMut(Note) + Send),
    ) -> Result<Answer, LlmError> {
        self.call_in(self.place(request, used, cancel).await?, request, cancel, note).await
    }

    /// The same, where a place is held.
    pub async fn call_in(
        &self,
        place: Place<'_>,
        request: &Request,
        cancel: &Cancel,
        note: &mut (dyn FnMut(Note) + Send),
    ) -> Result<Answer, LlmError> {
        let RequestKey { node, purpose, candidate, .. } = &request.key;
        let span = info_span!("model_call", provider = self.name(), node, purpose, candidate);
        self.call_until_answered(place, request, cancel, note).instrument(span).await
    }

    async fn call_until_answered(
        &self,
        place: Place<'_>,
        request: &Request,
        cancel: &Cancel,
        note: &mut (dyn FnMut(Note) + Send),
    ) -> Result<Answer, LlmError> {
        let mut used = place.used;
        let mut request = request.clone();
        let mut attempt = 1;
        let mut crowded = 0;
        loop {
            let terms = self.terms(&request, used);
            let mut first = expected(&request, EXPECTED_OUTPUT);
            first.input = first.input.max(used.before.map_or(0, |before| before.total()));
            terms.allow(Usage::default(), first).map_err(|o| LlmError::Budget { what: o.what, flag: o.flag })?;
            let asked = request.choice.model.clone();
            let began = Instant::now();
            info!(attempt, model = asked, "model call started");
            trace!(role = request.role, prompt = request.prompt, "request");
            let answered = self.in_time(self.provider.ask_under(&request, &terms, cancel)).await;
            let took = began.elapsed();
            terms.take_left_out().into_iter().for_each(|part| note(Note::LeftOut(part)));
            let mut failure = match answered? {
                Ok(mut answer) => {
                    // A server may call the model by a longer name than it was asked for.
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
            crowded = match failure.kind {
                FailureKind::Overloaded | FailureKind::RateLimit => crowded + 1,
                _ => 0,
            };
            let other = self.models.fallback.as_ref().filter(|to| request.choice.model.as_ref() != Some(to));
            let last = self.retry.wait(&failure, attempt, 0.0).is_none();
            let switch = other.filter(|_| crowded >= SWITCH_AFTER || (crowded > 0 && last));
            let wait = match switch {
                Some(_) => Some(Duration::ZERO),
                None => self.retry.wait(&failure, attempt, self.pace.jitter()),
            };
            let model = request.choice.model.as_deref();
            let cost_usd = self.cost(model, failure.usage.as_ref());
            let estimated = self.uncounted(&request, &failure);
            if let (None, Some(asked)) = (wait, failure.wait) {
                failure.message = format!("{}; it asks to wait {} s", failure.message, asked.as_secs_f64().ceil());
            }
            let (kind, status) = (failure.kind, failure.status);
            info!(attempt, model = asked, ?kind, status, ?took, retry_after = ?wait, "model call failed");
            trace!(message = failure.message, "failure");
            note(Note::Failed(FailedCall {
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
                asked_seconds: failure.wait.map(|asked| asked.as_secs_f64()),
                refused_reads: failure.refused_reads.clone(),
            }));
            used.tokens = used.tokens.saturating_add(failure.usage.map_or(0, |u| u.total()));
            used.cost_usd += cost_usd.unwrap_or(0.0);
            if let Some(estimated) = estimated {
                used.tokens = used.tokens.saturating_add(estimated.usage.total());
                used.cost_usd += estimated.cost_usd.unwrap_or(0.0);
            }
            if let Some(overdraft) = terms.overdraft() {
                return Err(LlmError::Budget { what: overdraft.what.clone(), flag: overdraft.flag });
            }
            let Some(wait) = wait else { return Err(failure.into()) };
            if let Some(to) = switch {
                note(Note::Switched(ModelSwitch { from: request.choice.model.clone(), to: to.clone() }));
                info!(from = request.choice.model, to, "another model is called");
                request.choice.model = Some(to.clone());
                (attempt, crowded) = (1, 0);
                continue;
            }
            if self.pace.left().is_some_and(|left| left < wait) {
                return Err(LlmError::Deadline);
            }
            tokio::select! {
                () = self.pace.pause(wait) => {}
                () = cancel.cancelled() => return Err(LlmError::Cancelled),
            }
            attempt += 1;
        }
    }

    /// What is used, with what others under way are expected to take; they are told of this call. Where the budget has no
    /// room beside those, it waits until one of them has ended.
    async fn reserve(
        &self,
        request: &Request,
        used: &(dyn Fn() -> Used + Sync),
        cancel: &Cancel,
    ) -> Result<(Used, Reserved<'_>), LlmError> {
        let usage = expected(request, EXPECTED_OUTPUT);
        let cost_usd = self.cost(request.choice.model.as_deref(), Some(&usage)).unwrap_or(0.0);
        let next = Expected { calls: 1, tokens: usage.total(), cost_usd };
        let mut under_way = self.under_way.subscribe();
        loop {
            let others = *under_way.borrow_and_update();
            let mut used = used();
            used.tokens = used.tokens.saturating_add(others.tokens);
            used.cost_usd += others.cost_usd;
            (used.expected_tokens, used.expected_usd) = (others.tokens, others.cost_usd);
            let mut first = usage;
            first.input = first.input.max(used.before.map_or(0, |before| before.total()));
            if others.calls == 0 || self.terms(request, used).allow(Usage::default(), first).is_ok() {
                self.under_way.send_modify(|all| {
                    all.calls += 1;
                    all.tokens = all.tokens.saturating_add(next.tokens);
                    all.cost_usd += next.cost_usd;
                });
                return Ok((used, Reserved { caller: self, next }));
            }
            tokio::select! {
                _ = under_way.changed() => {}
                () = cancel.cancelled() => return Err(LlmError::Cancelled),
            }
        }
    }

    async fn in_time<T>(&self, call: impl Future<Output = T>) -> Result<T, LlmError> {
        match self.pace.left() {
            None => Ok(call.await),
            Some(left) => tokio::time::timeout(left, call).await.map_err(|_| LlmError::Deadline),
        }
    }

    fn cost(&self, model: Option<&str>, usage: Option<&Usage>) -> Option<f64> {
        Some(self.prices.of(model?)?.of(usage?))
    }

    /// An estimate of the tokens of an answer that its provider did not count, beside those in `usage`. If nothing is known
    /// of the requests of the call, it is what the request offers, read once, and the answer. It counts as used against a
    /// budget; without a budget there is no estimate.
    pub fn estimate(&self, request: &Request, answer: &Answer) -> Option<Estimate> {
        if self.budget == Budget::default() {
            return None;
        }
        let whole = || answer.usage.is_none().then(|| expected(request, answer.text.len() as u64 / BYTES_PER_TOKEN));
        let usage = answer.estimated.or_else(whole)?;
        Some(Estimate { usage, cost_usd: self.cost(request.choice.model.as_deref(), Some(&usage)) })
    }

    /// What a failed try took that nobody counted: at least what it was asked with, where the model may have worked.
    fn uncounted(&self, request: &Request, failure: &CallFailure) -> Option<Estimate> {
        let whole = || (failure.usage.is_none() && failure.may_be_paid()).then(|| expected(request, 0));
        let usage =
            failure.estimated.as_deref().copied().or_else(whole).filter(|_| self.budget != Budget::default())?;
        Some(Estimate { usage, cost_usd: self.cost(request.choice.model.as_deref(), Some(&usage)) })
    }

    fn terms(&self, request: &Request, used: Used) -> Terms {
        let price = request.choice.model.as_deref().and_then(|model| self.prices.of(model));
        Terms::new(self.budget, used, price)
    }
}

/// A request that is answered with so many tokens.
fn expected(request: &Request, output: u64) -> Usage {
    let bytes = (request.role.len() + request.prompt.len()) as u64;
    let input = (bytes + request.offered.iter().map(|o| o.bytes).sum::<u64>()) / BYTES_PER_TOKEN;
    Usage { input, output, ..Usage::default() }
}
