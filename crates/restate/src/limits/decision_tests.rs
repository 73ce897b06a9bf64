//! The decisions against an oracle that knows only what was asked and answered, not the state.
#![expect(clippy::option_option, reason = "no stop, a stop without an end, and one with an end")]
#![expect(clippy::needless_pass_by_value, reason = "a step is used once")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::decision::{LEASE, MINUTE, QUEUE_LEASE, State};
use super::messages::{
    Admission, Admit, Change, LimitName, Limits, LimitsChange, Message, QuotaError, Renew, Reply, RequestUse, Settle,
    Tick,
};

const TICK_MS: u64 = 1000;

/// An action of a caller, a person or the engine.
#[derive(Debug, Clone)]
enum Step {
    Ask(usize),
    Renew(usize),
    Settle {
        request: usize,
        used: RequestUse,
        quota: Option<Option<u64>>,
    },
    SetLimits(LimitsChange),
    /// The engine delivers a tick that was sent.
    Tick,
    /// The same, so often that leases and minutes end.
    Ticks(u64),
}

const REQUESTS: usize = 14;

fn run_of(request: usize) -> String {
    format!("run{}", request % 3)
}

/// Quarters of a dollar, so that sums are exact.
fn any_use() -> impl Strategy<Value = RequestUse> {
    (0..5u32, 0..200u64).prop_map(|(quarters, tokens)| RequestUse { cost_usd: f64::from(quarters) * 0.25, tokens })
}

fn any_change<T: std::fmt::Debug + Clone + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Change<T>> {
    prop_oneof![1 => Just(Change::Keep), 3 => value.prop_map(Change::Set), 1 => Just(Change::Remove)].boxed()
}

fn any_limits() -> impl Strategy<Value = LimitsChange> {
    let usd = (1..20u32).prop_map(|quarters| f64::from(quarters) * 0.25);
    (any_change(usd), any_change(1..4u32), any_change(100..400u64)).prop_map(
        |(max_cost_usd, requests_per_minute, tokens_per_minute)| LimitsChange {
            max_cost_usd,
            requests_per_minute,
            tokens_per_minute,
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    let request = 0..REQUESTS;
    prop_oneof![
        8 => request.clone().prop_map(Step::Ask),
        2 => request.clone().prop_map(Step::Renew),
        5 => (request, any_use(), prop::option::weighted(0.1, prop::option::of(0..90_000u64)))
            .prop_map(|(request, used, quota)| Step::Settle { request, used, quota }),
        1 => any_limits().prop_map(Step::SetLimits),
        4 => Just(Step::Tick),
        1 => (20..70u64).prop_map(Step::Ticks),
    ]
}

/// A request as its caller knows it.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    granted: Option<u64>,
    /// The last tick in which its caller said that it is under way.
    seen: u64,
    /// How often the breaker had been closed when it was granted.
    closed: u64,
    settled: Option<RequestUse>,
}

#[derive(Debug, Default)]
struct Oracle {
    now: u64,
    limits: Limits,
    expected: Vec<RequestUse>,
    requests: BTreeMap<usize, Known>,
    /// While the breaker is open: the tick that closes it, if any does.
    open: Option<Option<u64>>,
    closed: u64,
}

impl Oracle {
    fn granted(&self) -> impl Iterator<Item = (RequestUse, Known, u64)> {
        self.requests.iter().filter_map(|(index, known)| Some((self.expected[*index], *known, known.granted?)))
    }

    /// What ended requests have cost, and what those under way may cost.
    fn usd(&self, counts: impl Fn(&Known) -> bool) -> f64 {
        let settled: f64 = self.requests.values().filter_map(|known| known.settled).map(|used| used.cost_usd).sum();
        let open = self.granted().filter(|(_, known, _)| known.settled.is_none() && counts(known));
        settled + open.map(|(expected, ..)| expected.cost_usd).sum::<f64>()
    }

    fn check_grant(&self, next: RequestUse) {
        assert!(self.open.is_none(), "granted while the breaker is open");
        let last = || self.granted().filter(|(.., tick)| tick + MINUTE > self.now);
        let tokens: u64 = last().map(|(expected, known, _)| known.settled.unwrap_or(expected).tokens).sum();
        let Limits { max_cost_usd, requests_per_minute, tokens_per_minute } = self.limits;
        assert!(requests_per_minute.is_none_or(|limit| last().count() < limit as usize), "too many requests");
        assert!(tokens_per_minute.is_none_or(|limit| tokens + next.tokens <= limit), "too many tokens");
        assert!(max_cost_usd.is_none_or(|limit| self.usd(|_| true) + next.cost_usd <= limit), "too expensive");
    }

    fn can_ever_begin(&self, next: RequestUse) -> bool {
        let lost_usd = self.usd(|known| known.seen + LEASE < self.now);
        self.limits.max_cost_usd.is_none_or(|limit| lost_usd + next.cost_usd <= limit)
            && self.limits.tokens_per_minute.is_none_or(|limit| next.tokens <= limit)
    }
}

/// The state with the messages that it has sent to itself.
#[derive(Default)]
struct World {
    state: State,
    ticks: Vec<Tick>,
}

impl World {
    fn send(&mut self, message: &Message) -> Reply {
        let before = self.state.clone();
        let decision = self.state.decide(message.clone(), TICK_MS);
        self.ticks.extend(decision.tick);
        if !matches!(message, Message::SetLimits(_)) {
            // The answer was lost; the same message once more.
            let mut again = self.state.clone();
            let repeated = again.decide(message.clone(), TICK_MS);
            assert_eq!((&again, repeated.tick), (&self.state, None), "{message:?} repeated in {before:?}");
            assert!(repeated.reply == decision.reply || matches!(message, Message::Tick(_)));
        }
        let json = serde_json::to_string(&self.state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&json).unwrap(), self.state);
        decision.reply
    }

    /// Whether there was a tick that counts.
    fn tick(&mut self) -> bool {
        let before = self.state.now;
        while let Some(tick) = self.ticks.pop() {
            self.send(&Message::Tick(tick));
            if self.state.now > before {
                return true;
            }
        }
        false
    }

    fn ask(&mut self, id: &str, run: &str, expected: RequestUse) -> Admission {
        let admit = Admit { id: id.to_owned(), run: run.to_owned(), expected };
        match self.send(&Message::Admit(admit)) {
            Reply::Admission(admission) => admission,
            other => panic!("{other:?}"),
        }
    }

    fn settle(&mut self, id: &str, used: RequestUse) {
        self.send(&Message::Settle(Settle { id: id.to_owned(), used, quota: None }));
    }
}

fn step(world: &mut World, oracle: &mut Oracle, step: Step) {
    match step {
        Step::Ask(request) => {
            let expected = oracle.expected[request];
            let known = oracle.requests.get(&request).copied().unwrap_or_default();
            match world.ask(&request.to_string(), &run_of(request), expected) {
                Admission::Granted { .. } => {
                    assert!(known.settled.is_none());
                    if known.granted.is_none() {
                        oracle.check_grant(expected);
                    }
                    let granted = known.granted.or(Some(oracle.now));
                    let closed = if known.granted.is_some() { known.closed } else { oracle.closed };
                    oracle.requests.insert(request, Known { granted, seen: oracle.now, closed, settled: None });
                }
                Admission::Ended => assert!(known.settled.is_some()),
                Admission::Refused { limit, .. } => {
                    assert!(known.granted.is_none() && !oracle.can_ever_begin(expected));
                    let tokens = oracle.limits.tokens_per_minute;
                    assert!(limit == LimitName::MaxCost || tokens.is_some_and(|limit| expected.tokens > limit));
                }
                Admission::Wait { .. } => {
                    assert!(known.granted.is_none() && known.settled.is_none() && oracle.can_ever_begin(expected));
                }
            }
        }
        Step::Renew(request) => {
            world.send(&Message::Renew(Renew { ids: vec![request.to_string()] }));
            if let Some(known) = oracle.requests.get_mut(&request) {
                known.seen = oracle.now;
            }
        }
        Step::Settle { request, used, quota } => {
            let error = quota.map(|reset_after_ms| QuotaError { why: "quota".to_owned(), reset_after_ms });
            world.send(&Message::Settle(Settle { id: request.to_string(), used, quota: error }));
            let (now, closed) = (oracle.now, oracle.closed);
            let known = oracle.requests.entry(request).or_default();
            if known.settled.is_some() {
                return;
            }
            known.settled = Some(used);
            if let Some(reset) = quota
                && (known.granted.is_none() || known.closed == closed)
            {
                let until = reset.map(|ms| now + ms.div_ceil(TICK_MS) + 1);
                oracle.open = Some(match oracle.open {
                    None => until,
                    Some(known) => known.zip(until).map(|(known, new)| known.max(new)),
                });
            }
        }
        Step::SetLimits(change) => {
            let reply = world.send(&Message::SetLimits(change));
            change.max_cost_usd.apply(&mut oracle.limits.max_cost_usd);
            change.requests_per_minute.apply(&mut oracle.limits.requests_per_minute);
            change.tokens_per_minute.apply(&mut oracle.limits.tokens_per_minute);
            assert_eq!(reply, Reply::Limits(oracle.limits));
            oracle.closed += u64::from(oracle.open.take().is_some());
        }
        Step::Tick => {
            if world.tick() {
                oracle.now += 1;
                if matches!(oracle.open, Some(Some(until)) if until <= oracle.now) {
                    oracle.open = None;
                    oracle.closed += 1;
                }
            } else {
                let state = &world.state;
                let is_idle = state.running.is_empty() && state.waiting.is_empty() && state.minute.is_empty();
                assert!(is_idle && !matches!(oracle.open, Some(Some(_))), "the clock has stopped: {state:?}");
            }
        }
        Step::Ticks(count) => (0..count).for_each(|_| self::step(world, oracle, Step::Tick)),
    }
}

proptest! {
    #[test]
    fn limits_are_never_exceeded_and_nothing_is_lost(
        expected in prop::collection::vec(any_use(), REQUESTS),
        steps in prop::collection::vec(any_step(), 1..120),
    ) {
        let (mut world, mut oracle) = (World::default(), Oracle { expected, ..Oracle::default() });
        for one in steps {
            step(&mut world, &mut oracle, one);
            let settled = oracle.requests.values().filter_map(|known| known.settled);
            let sum = settled.fold((0.0, 0), |(usd, tokens), used| (usd + used.cost_usd, tokens + used.tokens));
            prop_assert_eq!((world.state.spent.cost_usd, world.state.spent.tokens), sum);
            let under_way = oracle.granted().filter(|(_, known, _)| known.settled.is_none()).count();
            prop_assert_eq!(world.state.running.len() + world.state.unreported.len(), under_way);
        }
    }

    /// Callers ask in every tick, in any order; some die while they wait. All others begin.
    #[test]
    fn every_request_begins_or_is_refused(
        requests in prop::collection::vec((0..3u32, any_use(), 1..5u64, prop::bool::weighted(0.1)), 1..14),
        change in any_limits(),
        seed in any::<u64>(),
    ) {
        let mut world = World::default();
        world.send(&Message::SetLimits(change));
        let mut open: Vec<usize> = (0..requests.len()).collect();
        let mut running: Vec<(usize, u64)> = Vec::new();
        let mut order = seed;
        // Each has a minute and the lease of a dead one in front of it at most, for each before it.
        for now in 0..(requests.len() as u64 + 1) * (MINUTE + QUEUE_LEASE + 5) {
            if open.is_empty() {
                break;
            }
            let length = open.len();
            order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            open.rotate_left((order >> 33) as usize % length);
            open.retain(|index| {
                let (run, expected, lasts, dies) = &requests[*index];
                match world.ask(&index.to_string(), &run.to_string(), *expected) {
                    Admission::Granted { .. } => running.push((*index, now + lasts)),
                    Admission::Wait { .. } => return !dies,
                    _ => {}
                }
                false
            });
            running.retain(|(index, until)| {
                if *until <= now {
                    world.settle(&index.to_string(), requests[*index].1);
                }
                *until > now
            });
            world.tick();
        }
        prop_assert!(open.is_empty(), "{open:?} of {requests:?} wait in {:?}", world.state);
    }
}

fn usd(cost_usd: f64) -> RequestUse {
    RequestUse { cost_usd, tokens: 0 }
}

fn is_granted(admission: &Admission) -> bool {
    matches!(admission, Admission::Granted { .. })
}

#[test]
fn the_run_with_the_fewest_under_way_is_next_and_then_the_one_that_waited_longest() {
    let mut world = World::default();
    world.send(&Message::InitLimits(Limits { max_cost_usd: Some(2.0), ..Limits::default() }));
    assert!(is_granted(&world.ask("a1", "a", usd(1.0))) && is_granted(&world.ask("a2", "a", usd(1.0))));
    for (id, run) in [("a3", "a"), ("a4", "a"), ("b1", "b"), ("c1", "c")] {
        assert!(!is_granted(&world.ask(id, run, usd(1.0))));
    }
    world.settle("a1", usd(0.0));
    // One place is free, and b has waited longer than c. It is kept until b asks.
    for id in ["c1", "a3", "a4"] {
        assert!(!is_granted(&world.ask(id, &id[..1], usd(1.0))), "{id}");
    }
    assert!(is_granted(&world.ask("b1", "b", usd(1.0))));
    world.settle("b1", usd(0.0));
    assert!(!is_granted(&world.ask("a3", "a", usd(1.0))) && is_granted(&world.ask("c1", "c", usd(1.0))));
    world.settle("a2", usd(0.0));
    assert!(is_granted(&world.ask("a3", "a", usd(1.0))));
}

#[test]
fn a_lost_request_counts_as_spent_until_its_caller_says_what_it_used() {
    let mut world = World::default();
    world.send(&Message::InitLimits(Limits { max_cost_usd: Some(2.0), ..Limits::default() }));
    assert!(is_granted(&world.ask("lost", "a", usd(1.5))));
    for _ in 0..=LEASE {
        assert!(matches!(world.ask("next", "b", usd(1.0)), Admission::Wait { .. }));
        world.tick();
    }
    assert_eq!((world.state.running.len(), world.state.unreported.len()), (0, 1));
    assert!(matches!(world.ask("next", "b", usd(1.0)), Admission::Refused { limit: LimitName::MaxCost, .. }));
    // Late, twice.
    world.settle("lost", usd(0.5));
    world.settle("lost", usd(0.5));
    assert_eq!((world.state.spent.cost_usd, world.state.unreported.len()), (0.5, 0));
    assert!(is_granted(&world.ask("next", "b", usd(1.0))));
    // Its caller was only out of reach, and is back.
    (0..=LEASE).for_each(|_| assert!(world.tick()));
    assert_eq!(world.state.unreported.len(), 1);
    world.send(&Message::Renew(Renew { ids: vec!["next".to_owned(), "unknown".to_owned()] }));
    assert_eq!((world.state.running.len(), world.state.unreported.len()), (1, 0));
}

#[test]
fn a_quota_error_stops_all_until_the_reset_or_a_person() {
    let mut world = World::default();
    let fail = |world: &mut World, id: &str, reset_after_ms| {
        assert!(is_granted(&world.ask(id, "a", usd(0.0))));
        let quota = Some(QuotaError { why: "5-hour limit".to_owned(), reset_after_ms });
        world.send(&Message::Settle(Settle { id: id.to_owned(), used: usd(0.0), quota }));
    };
    assert!(is_granted(&world.ask("old", "a", usd(0.0))));
    fail(&mut world, "first", Some(3 * TICK_MS));
    for _ in 0..4 {
        let Admission::Wait { why, .. } = world.ask("next", "b", usd(0.0)) else { panic!("not stopped") };
        assert!(why.contains("5-hour limit"), "{why}");
        assert!(world.tick());
    }
    assert!(is_granted(&world.ask("next", "b", usd(0.0))));
    // The error of a request from before says nothing about now.
    let quota = Some(QuotaError { why: "5-hour limit".to_owned(), reset_after_ms: None });
    world.send(&Message::Settle(Settle { id: "old".to_owned(), used: usd(0.0), quota }));
    assert!(is_granted(&world.ask("other", "b", usd(0.0))));
    // Without a time, only a person closes it, also if limits stay the same.
    fail(&mut world, "second", None);
    (0..500).for_each(|_| {
        world.tick();
    });
    assert!(!is_granted(&world.ask("last", "b", usd(0.0))));
    world.send(&Message::SetLimits(LimitsChange::default()));
    assert!(is_granted(&world.ask("last", "b", usd(0.0))));
}

#[test]
fn limits_are_set_once_by_programs_and_changed_by_people() {
    let mut world = World::default();
    let limits = |usd| Limits { max_cost_usd: Some(usd), ..Limits::default() };
    assert_eq!(world.send(&Message::InitLimits(limits(1.0))), Reply::Limits(limits(1.0)));
    assert_eq!(world.send(&Message::InitLimits(limits(9.0))), Reply::Limits(limits(1.0)));
    let change =
        LimitsChange { max_cost_usd: Change::Remove, requests_per_minute: Change::Set(3), ..LimitsChange::default() };
    let changed = Limits { requests_per_minute: Some(3), ..Limits::default() };
    assert_eq!(world.send(&Message::SetLimits(change)), Reply::Limits(changed));
    assert_eq!(world.send(&Message::InitLimits(limits(9.0))), Reply::Limits(changed));
}
