//! The simulation itself: discrete events in the order of their times, each the next demand of one run.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::deployment::{Deployment, Resource};
use super::workload::{Demand, Workload};

/// What a simulation found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub runs: usize,
    /// Seconds from the first arrival to the end of the last run.
    pub seconds: f64,
    /// Mean seconds from the arrival of a run to its end.
    pub seconds_per_run: f64,
    /// US dollars for tokens.
    pub model_usd: f64,
    /// US dollars for machines and store.
    pub fleet_usd: f64,
    /// Share of each resource that was used, in the order of [`Resource::ALL`].
    pub used: [f64; 8],
}

/// A limit in units per second, first come, first served: a bucket that fills at the rate and holds what passes in a burst.
struct RateLimit {
    per_second: f64,
    burst_seconds: f64,
    /// When everything admitted so far has passed at the rate. Before time 0 if the bucket is full.
    passed_at: f64,
}

impl RateLimit {
    fn new(per_second: f64, burst_seconds: f64) -> Self {
        Self { per_second, burst_seconds, passed_at: -burst_seconds }
    }

    /// The time at which a demand of `amount` is admitted.
    fn admit(&mut self, now: f64, amount: f64) -> f64 {
        self.passed_at = self.passed_at.max(now - self.burst_seconds) + amount / self.per_second;
        self.passed_at.max(now)
    }
}

/// A time that can be ordered.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A run on its way through its demands.
struct Run {
    arrived: f64,
    started: f64,
    /// The worker that holds it, once it has a slot.
    worker: Option<usize>,
    demands: Vec<Demand>,
    next: usize,
}

/// Simulates `count` runs of the workload on the fleet.
pub fn simulate(fleet: &Deployment, workload: &Workload, count: usize) -> Outcome {
    let mut rng = fastrand::Rng::with_seed(workload.seed);
    let mut arrival = 0.0;
    let drawn = (0..count).map(|_| {
        arrival += workload.next_gap(&mut rng);
        (arrival, workload.draw(&mut rng))
    });
    simulate_runs(fleet, drawn)
}

/// Simulates runs that are given by the time of their arrival and their demands.
pub(super) fn simulate_runs(fleet: &Deployment, runs: impl Iterator<Item = (f64, Vec<Demand>)>) -> Outcome {
    let mut runs: Vec<Run> =
        runs.map(|(arrived, demands)| Run { arrived, started: 0.0, worker: None, demands, next: 0 }).collect();
    let mut machines = Machines::new(fleet);
    let mut waiting = VecDeque::new();
    // Ordered by time and, at the same time, by number. A run has at most one event.
    let mut events: BinaryHeap<Reverse<(Time, usize)>> =
        runs.iter().enumerate().map(|(number, run)| Reverse((Time(run.arrived), number))).collect();
    let (mut end, mut sojourn, mut held) = (0.0_f64, 0.0, 0.0);
    while let Some(Reverse((Time(now), number))) = events.pop() {
        let run = &mut runs[number];
        let Some(worker) = run.worker.or_else(|| machines.free_slots.pop_front()) else {
            waiting.push_back(number);
            continue;
        };
        if run.worker.replace(worker).is_none() {
            run.started = now;
        }
        if let Some(demand) = run.demands.get(run.next) {
            run.next += 1;
            events.push(Reverse((Time(machines.serve(now, worker, demand)), number)));
            continue;
        }
        end = end.max(now);
        sojourn += now - run.arrived;
        held += now - run.started;
        if let Some(first) = waiting.pop_front() {
            (runs[first].worker, runs[first].started) = (Some(worker), now);
            events.push(Reverse((Time(now), first)));
        } else {
            machines.free_slots.push_back(worker);
        }
    }
    machines.outcome(fleet, &runs, end, sojourn, held)
}

/// The state of all resources.
struct Machines {
    requests: RateLimit,
    input: RateLimit,
    output: RateLimit,
    store: RateLimit,
    store_write_seconds: f64,
    engine: RateLimit,
    /// The worker of each free slot, in the order in which they are taken.
    free_slots: VecDeque<usize>,
    /// When each core of each worker is free.
    cores: Vec<BinaryHeap<Reverse<Time>>>,
}

impl Machines {
    fn new(fleet: &Deployment) -> Self {
        let limit = |resource, burst| RateLimit::new(fleet.limit(resource), burst);
        let per_round = (0..fleet.capacity).flat_map(|_| 0..fleet.workers as usize);
        // The engine starts no more runs than it keeps open, whatever the workers would take.
        let open = fleet.limit(Resource::OpenRuns);
        let slots =
            per_round.zip(0_u32..).take_while(|(_, number)| f64::from(*number) < open).map(|(worker, _)| worker);
        let cores: BinaryHeap<_> = (0..fleet.cores).map(|_| Reverse(Time(0.0))).collect();
        Self {
            requests: limit(Resource::Requests, fleet.burst_seconds),
            input: limit(Resource::InputTokens, fleet.burst_seconds),
            output: limit(Resource::OutputTokens, fleet.burst_seconds),
            store: limit(Resource::StoreWrites, 0.0),
            store_write_seconds: fleet.store_write_seconds,
            engine: limit(Resource::EngineSteps, 0.0),
            free_slots: slots.collect(),
            cores: vec![cores; fleet.workers as usize],
        }
    }

    /// When a demand that comes now is met.
    fn serve(&mut self, now: f64, worker: usize, demand: &Demand) -> f64 {
        match *demand {
            Demand::EngineSteps(steps) => self.engine.admit(now, steps),
            Demand::Request { input, output, seconds } => {
                let request = self.requests.admit(now, 1.0);
                request.max(self.input.admit(now, input)).max(self.output.admit(now, output)) + seconds
            }
            Demand::StoreWrites(writes) => self.store.admit(now, writes) + writes * self.store_write_seconds,
            Demand::Check { seconds } => {
                let mut core = self.cores[worker].peek_mut().expect("a worker has a core");
                let end = core.0.0.max(now) + seconds;
                *core = Reverse(Time(end));
                end
            }
        }
    }

    fn outcome(&self, fleet: &Deployment, runs: &[Run], end: f64, sojourn: f64, held: f64) -> Outcome {
        let (mut requests, mut input, mut output, mut check, mut writes, mut steps) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for demand in runs.iter().flat_map(|run| &run.demands) {
            match demand {
                Demand::EngineSteps(amount) => steps += amount,
                Demand::Request { input: read, output: written, .. } => {
                    requests += 1.0;
                    input += read;
                    output += written;
                }
                Demand::StoreWrites(amount) => writes += amount,
                Demand::Check { seconds } => check += seconds,
            }
        }
        let count = runs.iter().fold(0.0, |count, _| count + 1.0);
        let seconds = end - runs.first().map_or(0.0, |run| run.arrived);
        let used = Resource::ALL.map(|resource| {
            let amount = match resource {
                Resource::Requests => requests,
                Resource::InputTokens => input,
                Resource::OutputTokens => output,
                Resource::Slots | Resource::OpenRuns => held,
                Resource::Cores => check,
                Resource::StoreWrites => writes,
                Resource::EngineSteps => steps,
            };
            let limit = fleet.limit(resource);
            let burst = match resource {
                Resource::Requests | Resource::InputTokens | Resource::OutputTokens => self.requests.burst_seconds,
                _ => 0.0,
            };
            if amount > 0.0 { amount / (limit * (seconds + burst)) } else { 0.0 }
        });
        let (input_usd, output_usd) = fleet.million_tokens_usd;
        Outcome {
            runs: runs.len(),
            seconds,
            seconds_per_run: if count > 0.0 { sojourn / count } else { 0.0 },
            model_usd: (input * input_usd + output * output_usd) / 1e6,
            fleet_usd: seconds / 3600.0 * fleet.machines_usd_per_hour() + writes * fleet.million_writes_usd / 1e6,
            used,
        }
    }
}
