//! The limits of one key as pure code: a state and a message give a new state, an answer, and the next tick of the clock.
//!
//! Time is the number of ticks that the engine has delivered, each at least one tick after the last: clocks of workers have no
//! influence, and a late tick only makes the limits stricter. Places in the last minute, leases and the circuit breaker all
//! end after a number of ticks.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::messages::{Admission, Admit, LimitName, Limits, LimitsChange, Message, QuotaError, Reply, RequestUse};
use super::messages::{Renew, Settle, Tick};

/// A request that was admitted between two ticks counts until this many later: 60 whole ticks have passed then for sure.
pub(super) const MINUTE: u64 = 61;
/// A request under way counts as lost if its caller has not renewed it for this many ticks.
pub(super) const LEASE: u64 = 60;
const RENEW: u64 = 15;
/// A request that waits loses its place in the queue if its caller has not asked for this many ticks.
pub(super) const QUEUE_LEASE: u64 = 30;
/// Ticks until a waiting caller asks again: more the more callers wait, so that asking stays cheap.
const ASK_AGAIN: std::ops::RangeInclusive<u64> = 1..=10;
const WAITING_PER_TICK: u64 = 50;
/// Ids of ended requests that are remembered, so that a repeated message has no effect.
const REMEMBERED: usize = 500;

/// The state of one key. It holds the name of a key, never the key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// `None` until they are set for the first time.
    pub limits: Option<Limits>,
    /// Of all requests that were settled.
    pub spent: RequestUse,
    pub running: BTreeMap<String, Running>,
    pub waiting: BTreeMap<String, Waiting>,
    /// Requests whose caller was lost. They may have been sent, so they count as spent with what was expected of them, until
    /// their caller says what they used.
    pub unreported: BTreeMap<String, Running>,
    /// Admitted requests of the last minute, by tick.
    pub minute: VecDeque<Slot>,
    pub breaker: Option<Breaker>,
    /// How often the breaker was closed.
    pub closed: u64,
    /// Ids of the requests that were settled last.
    pub ended: VecDeque<String>,
    pub now: u64,
    /// The clock that counts; others are ignored.
    pub clock: u64,
    /// Whether its next tick is under way.
    pub is_ticking: bool,
    /// How many requests were queued so far.
    pub queued: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Running {
    pub run: String,
    pub expected: RequestUse,
    /// When it was admitted.
    pub tick: u64,
    /// The last tick of its lease.
    pub until: u64,
    /// How often the breaker had been closed when it was admitted.
    pub closed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub run: String,
    pub expected: RequestUse,
    /// Its number in the queue.
    pub number: u64,
    /// The last tick of its lease.
    pub until: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Slot {
    pub tick: u64,
    pub requests: u64,
    pub tokens: u64,
}

/// Nothing is admitted while it is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Breaker {
    pub why: String,
    /// The tick that closes it; `None` if only a person can.
    pub until: Option<u64>,
}

/// An answer, and the tick to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision {
    pub reply: Reply,
    /// To be delivered after one tick.
    pub tick: Option<Tick>,
}

impl State {
    /// `tick_ms` is the length of a tick.
    pub(super) fn decide(&mut self, message: Message, tick_ms: u64) -> Decision {
        let reply = match message {
            Message::Admit(admit) => Reply::Admission(self.admit(admit, tick_ms)),
            Message::Renew(Renew { ids }) => {
                for id in &ids {
                    self.renew(id);
                }
                Reply::Done(())
            }
            Message::Settle(settle) => {
                self.settle(settle, tick_ms);
                Reply::Done(())
            }
            Message::SetLimits(change) => Reply::Limits(self.set_limits(change)),
            Message::InitLimits(limits) => Reply::Limits(*self.limits.get_or_insert(limits)),
            Message::Tick(tick) => {
                self.tick(tick);
                Reply::Done(())
            }
        };
        Decision { reply, tick: self.next_tick() }
    }

    fn limits(&self) -> Limits {
        self.limits.unwrap_or_default()
    }

    fn admit(&mut self, Admit { id, run, expected }: Admit, tick_ms: u64) -> Admission {
        let granted = Admission::Granted { renew_ms: RENEW * tick_ms };
        if self.running.contains_key(&id) || self.unreported.contains_key(&id) {
            self.renew(&id);
            return granted;
        }
        if self.ended.contains(&id) {
            return Admission::Ended;
        }
        if let Some((why, limit)) = self.refusal(expected) {
            self.waiting.remove(&id);
            return Admission::Refused { why, limit };
        }
        let number = self.waiting.get(&id).map_or(self.queued, |waiting| waiting.number);
        self.queued = self.queued.max(number + 1);
        let waiting = Waiting { run: run.clone(), expected, number, until: self.now + QUEUE_LEASE };
        self.waiting.insert(id.clone(), waiting);
        let Some(why) = self.obstacle(&id) else {
            self.waiting.remove(&id);
            let (tick, until) = (self.now, self.now + LEASE);
            self.count(tick, |slot| {
                slot.requests += 1;
                slot.tokens += expected.tokens;
            });
            self.running.insert(id, Running { run, expected, tick, until, closed: self.closed });
            return granted;
        };
        let ticks = (self.waiting.len() as u64 / WAITING_PER_TICK).clamp(*ASK_AGAIN.start(), *ASK_AGAIN.end());
        let ticks = if self.breaker.is_some() { *ASK_AGAIN.end() } else { ticks };
        Admission::Wait { why, ask_again_ms: ticks * tick_ms }
    }

    /// Why no end of another request can make room for this one.
    fn refusal(&self, expected: RequestUse) -> Option<(String, LimitName)> {
        let Limits { max_cost_usd, tokens_per_minute, .. } = self.limits();
        let (spent, next) = (self.committed_usd(), expected.cost_usd);
        if let Some(limit) = max_cost_usd.filter(|limit| spent + next > *limit) {
            let why = format!(
                "all requests with this key have cost ${spent:.4}, the next one costs about ${next:.4}, and their limit is \
                 ${limit}"
            );
            return Some((why, LimitName::MaxCost));
        }
        let limit = tokens_per_minute.filter(|limit| expected.tokens > *limit)?;
        let why = format!("the request takes about {} tokens, and the limit is {limit} a minute", expected.tokens);
        Some((why, LimitName::TokensPerMinute))
    }

    /// US dollars that were spent, or may have been.
    fn committed_usd(&self) -> f64 {
        self.spent.cost_usd + self.unreported.values().map(|lost| lost.expected.cost_usd).sum::<f64>()
    }

    /// Why a request of the queue cannot begin yet.
    ///
    /// The fair share of a run: of all that wait, the request whose run has the fewest under way is next, then the one that
    /// has waited longest. If there is no room for it, nothing overtakes it; otherwise small requests could delay a large one
    /// for ever. A place is kept for each that is next, until its caller asks: a caller is only told that its request may be
    /// sent when it can send it at once.
    fn obstacle(&self, id: &str) -> Option<String> {
        if let Some(Breaker { why, .. }) = &self.breaker {
            return Some(format!("the provider answers no requests with this key: {why}"));
        }
        let limits = self.limits();
        let mut under_way: BTreeMap<&str, u64> = BTreeMap::new();
        for running in self.running.values() {
            *under_way.entry(&running.run).or_default() += 1;
        }
        let mut cost_usd = self.committed_usd() + self.running.values().map(|run| run.expected.cost_usd).sum::<f64>();
        let mut requests: u64 = self.minute.iter().map(|slot| slot.requests).sum();
        let mut tokens: u64 = self.minute.iter().map(|slot| slot.tokens).sum();
        // Those that would be refused get their answer when they ask.
        let mut queue: BTreeMap<&str, &Waiting> = self.waiting.iter().map(|(id, one)| (id.as_str(), one)).collect();
        queue.retain(|_, one| self.refusal(one.expected).is_none());
        loop {
            let share = |one: &Waiting| (under_way.get(one.run.as_str()).copied().unwrap_or(0), one.number);
            let (next, one) = queue.iter().min_by_key(|(_, one)| share(one)).map(|(next, one)| (*next, *one))?;
            if limits.max_cost_usd.is_some_and(|limit| cost_usd + one.expected.cost_usd > limit) {
                return Some(format!("requests under way may use up the limit of ${}", limits.max_cost_usd?));
            }
            if limits.requests_per_minute.is_some_and(|limit| requests >= u64::from(limit)) {
                return Some(format!("the limit is {} requests a minute", limits.requests_per_minute?));
            }
            if limits.tokens_per_minute.is_some_and(|limit| tokens.saturating_add(one.expected.tokens) > limit) {
                return Some(format!("the limit is {} tokens a minute", limits.tokens_per_minute?));
            }
            if next == id {
                return None;
            }
            queue.remove(next);
            *under_way.entry(&one.run).or_default() += 1;
            cost_usd += one.expected.cost_usd;
            requests += 1;
            tokens = tokens.saturating_add(one.expected.tokens);
        }
    }

    /// Changes what was admitted in a tick; no effect if that was more than a minute ago.
    fn count(&mut self, tick: u64, change: impl FnOnce(&mut Slot)) {
        if tick == self.now && self.minute.back().is_none_or(|slot| slot.tick != tick) {
            self.minute.push_back(Slot { tick, requests: 0, tokens: 0 });
        }
        if let Some(slot) = self.minute.iter_mut().find(|slot| slot.tick == tick) {
            change(slot);
        }
    }

    /// Extends the lease of a request under way. A lost one whose caller is back is under way again.
    fn renew(&mut self, id: &str) {
        if let Some(lost) = self.unreported.remove(id) {
            self.running.insert(id.to_owned(), lost);
        }
        if let Some(running) = self.running.get_mut(id) {
            running.until = self.now + LEASE;
        }
    }

    fn settle(&mut self, Settle { id, used, quota }: Settle, tick_ms: u64) {
        if self.ended.contains(&id) {
            return;
        }
        self.waiting.remove(&id);
        let request = self.running.remove(&id).or_else(|| self.unreported.remove(&id));
        if let Some(Running { tick, expected, .. }) = &request {
            self.count(*tick, |slot| slot.tokens = slot.tokens.saturating_sub(expected.tokens) + used.tokens);
        }
        self.spent.cost_usd += used.cost_usd;
        self.spent.tokens = self.spent.tokens.saturating_add(used.tokens);
        self.ended.push_back(id);
        if self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
        // An error of a request from before the breaker was closed says nothing about now.
        if let Some(quota) = quota
            && request.is_none_or(|request| request.closed == self.closed)
        {
            self.open_breaker(quota, tick_ms);
        }
    }

    /// Stays open until the last of several times, and without a time until a person closes it.
    fn open_breaker(&mut self, QuotaError { why, reset_after_ms }: QuotaError, tick_ms: u64) {
        let until = reset_after_ms.map(|ms| self.now + ms.div_ceil(tick_ms.max(1)) + 1);
        let is_longer = |open: &Breaker| open.until.is_some_and(|known| until.is_none_or(|until| until > known));
        if self.breaker.as_ref().is_none_or(is_longer) {
            self.breaker = Some(Breaker { why, until });
        }
    }

    fn set_limits(&mut self, change: LimitsChange) -> Limits {
        let limits = self.limits.get_or_insert_default();
        change.max_cost_usd.apply(&mut limits.max_cost_usd);
        change.requests_per_minute.apply(&mut limits.requests_per_minute);
        change.tokens_per_minute.apply(&mut limits.tokens_per_minute);
        let limits = *limits;
        self.close_breaker();
        self.clock += 1;
        self.is_ticking = false;
        limits
    }

    fn close_breaker(&mut self) {
        if self.breaker.take().is_some() {
            self.closed += 1;
        }
    }

    fn tick(&mut self, Tick { clock, number }: Tick) {
        if (clock, number) != (self.clock, self.now + 1) {
            return;
        }
        self.now = number;
        self.is_ticking = false;
        let now = self.now;
        self.minute.retain(|slot| slot.tick + MINUTE > now);
        self.waiting.retain(|_, waiting| waiting.until >= now);
        let (lost, running) = std::mem::take(&mut self.running).into_iter().partition(|(_, one)| one.until < now);
        self.running = running;
        self.unreported.extend::<BTreeMap<_, _>>(lost);
        while self.unreported.len() > REMEMBERED {
            // Its caller will not say any more what it used.
            let oldest = self.unreported.iter().min_by_key(|(_, lost)| lost.tick).map(|(id, _)| id.clone());
            let Some(lost) = oldest.and_then(|id| self.unreported.remove(&id)) else { break };
            self.spent.cost_usd += lost.expected.cost_usd;
            self.spent.tokens = self.spent.tokens.saturating_add(lost.expected.tokens);
        }
        if self.breaker.as_ref().is_some_and(|breaker| breaker.until.is_some_and(|until| until <= now)) {
            self.close_breaker();
        }
    }

    /// The next tick, if it is not under way yet. The clock stops when it has nothing to end.
    fn next_tick(&mut self) -> Option<Tick> {
        let has_work = !self.minute.is_empty()
            || !self.waiting.is_empty()
            || !self.running.is_empty()
            || self.breaker.as_ref().is_some_and(|breaker| breaker.until.is_some());
        if self.is_ticking || !has_work {
            return None;
        }
        self.is_ticking = true;
        Some(Tick { clock: self.clock, number: self.now + 1 })
    }
}
