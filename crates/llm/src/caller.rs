//! Calls a provider: chooses the model for a node, retries, keeps to the budget and limits the calls that run at once. It
//! knows no wire format, and writes no journal: it reports each failed try to its caller.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tracing::field::Empty;
use tracing::{Instrument as _, debug, info, info_span, trace};

use super::budget::{BYTES_PER_TOKEN, Budget, EXPECTED_OUTPUT, Estimate, ExpectedUse, Used};
use super::call_state::{CallState, LeftOut};
use super::failure::{CallFailure, FailureKind};
use super::prices::Prices;
use super::provider::{Answer, LlmError, ModelChoice, Provider, Request, RequestKey, Timing};
use super::request_span::{RequestSpan, kind_of_error};
use super::shared_limits::{Admission, RequestUse, SharedCall, SharedLimits};
use super::usage::Usage;
use tlaforge_process::{Cancel, UnfinishedSpan};

/// The clock of a run: waiting and remaining time, behind a trait so that tests need not wait.
pub trait CallTimer: Send + Sync {
    /// Ends after this time, counted from the call of this method.
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// A random number from 0 to below 1, so that several callers do not retry at the same moment.
    fn jitter(&self) -> f64;

    /// The time that the run has left; `None` if it has no limit.
    fn time_left(&self) -> Option<Duration>;
}

/// How often and after which delays a call is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Largest number of tries after the first.
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
            // The cap comes after the jitter: the wait never exceeds the documented limit.
            None => Some((self.delay * next).mul_f64(1.0 + 0.1 * jitter).min(self.cap)),
        }
    }
}

/// The models that a run can call.
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
            // Field by field: a node that sets only its model keeps the effort and the limits of all nodes.
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
    pub failure: FailureKind,
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
    /// Number of tries with this model, including this one. `attempt`, of the journal line, counts executions of the node.
    pub tries: u32,
    /// Seconds until the next try; `None` if there is none.
    pub wait_seconds: Option<f64>,
    /// Seconds that the server asked to wait, even if the wait is shorter or there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_seconds: Option<f64>,
    /// Files outside the workspace that the model tried to read.
    #[serde(skip)]
    pub refused_reads: Vec<String>,
}

impl FailedCall {
    fn new(
        failure: &CallFailure,
        model: Option<String>,
        tries: u32,
        wait: Option<Duration>,
        (cost_usd, estimated): (Option<f64>, Option<Estimate>),
    ) -> Self {
        Self {
            failure: failure.kind,
            message: failure.message.clone(),
            status: failure.status,
            request_id: failure.request_id.clone(),
            usage: failure.usage,
            cost_usd,
            estimated,
            model,
            tries,
            wait_seconds: wait.map(|wait| wait.as_secs_f64()),
            asked_seconds: failure.retry_after.map(|asked| asked.as_secs_f64()),
            refused_reads: failure.refused_reads.clone(),
        }
    }
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
    Failed(FailedCall),
    /// Another model is asked from here on.
    Switched(ModelSwitch),
    /// A part of the request that the server refused is left out from here on.
    LeftOut(LeftOut),
}

/// Retries if the server cannot be reached; the wait before retry n is n times the delay, so a wrong address is reported
/// within a quarter of a minute.
const CONNECT_RETRIES: u32 = 2;
const CONNECT_DELAY: Duration = Duration::from_secs(5);
/// After this many rate-limit or overload failures in a row, requests go to the fallback model. Claude Code switches after as
/// many (measured).
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
    /// The limits that this caller shares with those of other runs.
    shared: Option<Arc<dyn SharedLimits>>,
    timer: Arc<dyn CallTimer>,
}

/// The expected use of a call under way; dropping it ends the reservation, also if the call fails or is cancelled.
struct Reservation<'a> {
    caller: &'a Caller,
    next: ExpectedUse,
}

/// Permission to make one call: a slot among the concurrent calls, a reservation in the budget, and the admission of its first
/// request under the limits for several runs.
pub struct CallPermit<'a> {
    used: Used,
    shared: Option<Arc<SharedCall>>,
    _reservation: Reservation<'a>,
    _slot: SemaphorePermit<'a>,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.caller.under_way.send_modify(|all| all.remove(self.next));
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
        // A semaphore without places would wait forever.
        let (slots, under_way) = (Semaphore::new(concurrent_calls.max(1)), watch::Sender::new(ExpectedUse::default()));
        Self { provider, models, retry, budget, prices, slots, under_way, shared: None, timer }
    }

    /// Makes the requests of all calls count against limits for several runs, too.
    pub fn share_limits(&mut self, shared: Arc<dyn SharedLimits>) {
        self.shared = Some(shared);
    }

    /// Ends when the limits for several runs know what the calls of this run have used. To be called when the run ends.
    pub async fn flush_limits(&self) {
        if let Some(shared) = &self.shared {
            shared.flush().await;
        }
    }

    /// A name of the provider with the key or login that pays, under which runs share limits. It never holds a key.
    pub fn key_name(&self) -> String {
        match self.provider.key_fingerprint() {
            Some(fingerprint) => format!("{}-{fingerprint}", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// The provider's name, as on the command line and in the journal.
    pub fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// The model choice for a node.
    pub fn choice(&self, node: &str) -> ModelChoice {
        self.models.choice_for(node)
    }

    /// Does the work within the time that the run has left; `None` if the work takes longer.
    pub async fn within_time_left<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let Some(left) = self.timer.time_left() else { return Some(work.await) };
        tokio::select! {
            // A result that is there at the last moment counts.
            biased;
            done = work => Some(done),
            () = self.timer.pause(left) => None,
        }
    }

    /// Ends after this time, by the clock of the run.
    pub fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.timer.pause(time)
    }

    /// Whether the provider's recording says that the answer arrived after the decision that it was meant for.
    pub fn comes_late(&self, key: &RequestKey) -> bool {
        self.provider.comes_late(key)
    }

    /// Whether the provider's recording says that the quick check of the answer ran out of time.
    pub fn check_timed_out(&self, key: &RequestKey) -> bool {
        self.provider.check_timed_out(key)
    }

    /// Whether the provider answers requests of this purpose.
    pub fn answers(&self, purpose: &str) -> bool {
        self.provider.answers(purpose)
    }

    /// Whether the provider can answer this request.
    pub fn has_answer(&self, key: &RequestKey) -> bool {
        self.provider.has_answer(key)
    }

    /// The words that made a sentence normative, from the provider's recording.
    pub fn normative_words(&self) -> Option<&[String]> {
        self.provider.normative_words()
    }

    /// The clock's decisions in this attempt of a node, from the provider's recording.
    pub fn timing(&self, node: &str, branch_index: u32, attempt: u32) -> Option<&Timing> {
        self.provider.timing(node, branch_index, attempt)
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
        // The slot first: a call that waits for a slot must not keep a part of the budget from others.
        let slot = tokio::select! {
            slot = self.slots.acquire() => slot.map_err(|_| LlmError::Cancelled)?,
            () = cancel.cancelled() => return Err(LlmError::Cancelled),
        };
        let (used, shared, reservation) = self.reserve(request, used, cancel).await?;
        debug!(node = request.key.node, waited = ?began.elapsed(), tokens_used = used.tokens, "permit for a model call");
        Ok(CallPermit { used, shared, _reservation: reservation, _slot: slot })
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
        let RequestKey { node, purpose, sample, .. } = &request.key;
        let span = info_span!("model_call", provider = self.name(), node, purpose, sample, error = Empty);
        let unfinished = UnfinishedSpan::new(span.clone());
        let ended = self.call_until_answered(permit, request, cancel, note).instrument(span).await;
        let span = unfinished.finish();
        if let Err(error) = &ended {
            span.record("error", kind_of_error(error));
        }
        ended
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
            // A new state for each try: `used` includes the tries that failed before it.
            let state = self.call_state(&request, used).sharing(permit.shared.clone());
            let first = used.raise_first(expected_usage(&request, EXPECTED_OUTPUT));
            state.check_budget(Usage::default(), first).map_err(|o| LlmError::Budget { what: o.what, flag: o.flag })?;
            // The first try was admitted with the permit; each further one is a request of its own.
            if let Some(shared) = &permit.shared {
                let admitted = shared.admit(state.shared_use(first), cancel);
                self.within_time_left(admitted).await.ok_or(LlmError::Deadline)??;
            }
            let asked = request.choice.model.clone();
            let began = Instant::now();
            info!(attempt, model = asked, "model call started");
            trace!(role = request.role, prompt = request.prompt, "request");
            let span = RequestSpan::start(self.name(), asked.as_deref(), attempt);
            let asking = self.within_time_left(self.provider.ask_with(&request, &state, cancel));
            let answered = span.follow(asking).await;
            let took = began.elapsed();
            // Before the result, so that the journal says first without which parts the request was answered.
            state.take_left_out().into_iter().for_each(|part| note(CallEvent::LeftOut(part)));
            let mut failure = match answered.unwrap_or(Err(LlmError::Deadline)) {
                Ok(mut answer) => {
                    // A server may name a dated version of the model that was asked for. Either name can have a price.
                    let names = [answer.model.as_deref(), request.choice.model.as_deref()];
                    if answer.cost_usd.is_none() {
                        answer.cost_usd = names.into_iter().find_map(|name| self.cost(name, answer.usage.as_ref()));
                    }
                    if let Some(shared) = &permit.shared {
                        let estimated = self.estimate(&request, &answer);
                        shared.end_try(RequestUse::of_try(answer.usage, answer.cost_usd, estimated), None);
                    }
                    let (input, output) =
                        answer.usage.map(|usage| (usage.total() - usage.output, usage.output)).unzip();
                    info!(attempt, model = asked, input, output, cost_usd = answer.cost_usd, ?took, "model answered");
                    span.answered(&answer);
                    trace!(text = answer.text, "answer");
                    return Ok(answer);
                }
                Err(LlmError::Failed(failure)) => failure,
                // Cancelled, out of time, or a file could not be read: another try would end in the same way.
                Err(other) => {
                    info!(attempt, model = asked, ?took, "model call ended without an answer");
                    span.ended(&other);
                    return Err(other);
                }
            };
            capacity_failures = match failure.kind {
                FailureKind::Overloaded | FailureKind::RateLimit => capacity_failures + 1,
                _ => 0,
            };
            // Nothing to switch to if this request already went to the fallback model.
            let fallback = self.models.fallback.as_ref().filter(|to| request.choice.model.as_ref() != Some(to));
            // The jitter changes how long the wait is, not whether there is one.
            let last = self.retry.wait(&failure, attempt, 0.0).is_none();
            let switch = fallback.filter(|_| capacity_failures >= SWITCH_AFTER || (capacity_failures > 0 && last));
            let wait = match switch {
                // The other model has a capacity of its own, so there is nothing to wait for.
                Some(_) => Some(Duration::ZERO),
                None => self.retry.wait(&failure, attempt, self.timer.jitter()),
            };
            let cost_usd = self.cost(request.choice.model.as_deref(), failure.usage.as_ref());
            // Here, because the wait before the next try is no part of the request.
            span.failed(&failure, cost_usd);
            let estimated = self.estimate_failed(&request, &failure);
            let used_by_try = RequestUse::of_try(failure.usage, cost_usd, estimated);
            let is_parked = permit
                .shared
                .as_ref()
                .is_some_and(|shared| shared.end_failed_try(used_by_try, &failure, wait.is_none()));
            if let (None, Some(asked)) = (wait, failure.retry_after) {
                failure.message = format!("{}; it asks to wait {} s", failure.message, asked.as_secs_f64().ceil());
            }
            let wait = if is_parked { Some(failure.retry_after.unwrap_or_default()) } else { wait };
            let (kind, status) = (failure.kind, failure.status);
            info!(attempt, model = asked, ?kind, status, ?took, retry_after = ?wait, "model call failed");
            trace!(message = failure.message, "failure");
            note(CallEvent::Failed(FailedCall::new(&failure, asked, attempt, wait, (cost_usd, estimated))));
            used.add(failure.usage, cost_usd);
            used.add(estimated.map(|estimated| estimated.usage), estimated.and_then(|estimated| estimated.cost_usd));
            // After the event, so that the journal has the usage of the call; a resume starts from it.
            if let Some(stop) = state.into_stop() {
                return Err(stop.into());
            }
            let Some(wait) = wait else { return Err(failure.into()) };
            if let Some(to) = switch {
                note(CallEvent::Switched(ModelSwitch { from: request.choice.model.clone(), to: to.clone() }));
                info!(from = request.choice.model, to, "another model is called");
                request.choice.model = Some(to.clone());
                // The failures of the first model say nothing about this one.
                (attempt, capacity_failures) = (1, 0);
                continue;
            }
            if is_parked {
                // What failed before says nothing about the time after. The limits wait, by the clock of all runs.
                (attempt, capacity_failures) = (1, 0);
                continue;
            }
            // The run would end during the wait, so it ends now.
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
    /// them ends: it may use less than expected. Then waits for the limits for several runs. Returns the use so far, including
    /// that of other calls.
    async fn reserve(
        &self,
        request: &Request,
        used: &(dyn Fn() -> Used + Sync),
        cancel: &Cancel,
    ) -> Result<(Used, Option<Arc<SharedCall>>, Reservation<'_>), LlmError> {
        let usage = expected_usage(request, EXPECTED_OUTPUT);
        let next = ExpectedUse::of_call(&usage, self.cost(request.choice.model.as_deref(), Some(&usage)));
        let mut under_way = self.under_way.subscribe();
        // One for the whole wait, so that it keeps its place in the queue.
        let shared = self.shared.clone().map(|limits| Arc::new(SharedCall::new(limits)));
        loop {
            // Marks the value as seen before it is judged: a call that ends after this line wakes the loop up again.
            let others = *under_way.borrow_and_update();
            let used = used().with_expected(others);
            let first = used.raise_first(usage);
            let state = self.call_state(request, used);
            // A call that is alone gets its permit in any case: no other call will end and make room for it, and its own
            // check reports the overdraft.
            let fits = others.calls == 0 || state.check_budget(Usage::default(), first).is_ok();
            if !fits {
                tokio::select! {
                    _ = under_way.changed() => {}
                    () = cancel.cancelled() => return Err(LlmError::Cancelled),
                }
                continue;
            }
            // No await since `others` was read, and the runtime has one thread: no other call can have reserved in between.
            self.under_way.send_modify(|all| all.add(next));
            let reservation = Reservation { caller: self, next };
            let Some(call) = &shared else { return Ok((used, shared, reservation)) };
            let asked = tokio::select! {
                asked = call.ask(state.shared_use(first)) => asked?,
                () = cancel.cancelled() => return Err(LlmError::Cancelled),
            };
            match asked {
                Admission::Granted => return Ok((used, shared, reservation)),
                Admission::Refused { what, flag } => return Err(LlmError::Budget { what, flag }),
                Admission::Wait { changed, .. } => {
                    // A call that waits for others must not keep a part of the budget from the calls of its own run.
                    drop(reservation);
                    tokio::select! {
                        changed = self.within_time_left(changed) => changed.ok_or(LlmError::Deadline)?,
                        () = cancel.cancelled() => return Err(LlmError::Cancelled),
                    }
                }
            }
        }
    }

    fn limits_usage(&self) -> bool {
        self.budget.limits_usage() || self.shared.is_some()
    }

    fn cost(&self, model: Option<&str>, usage: Option<&Usage>) -> Option<f64> {
        Some(self.prices.price_of(model?)?.cost_of(usage?))
    }

    /// Estimates the tokens of an answer that its provider did not report, besides those in `usage`. If the provider knows
    /// nothing about the requests of the call, the estimate assumes that the model read each offered file once. Estimates
    /// count against the budget; without a budget there is none.
    pub fn estimate(&self, request: &Request, answer: &Answer) -> Option<Estimate> {
        if !self.limits_usage() {
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
        let usage = failure.estimated.as_deref().copied().or_else(full_estimate).filter(|_| self.limits_usage())?;
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
