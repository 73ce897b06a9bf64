//! The simulation against formulas for simple cases, and against a measurement of the program.

use super::deployment::{Deployment, Resource};
use super::measured_runs::{MEASURED_RUNS, MeasuredRequest, MeasuredRun};
use super::plan::{compare_doublings, grow};
use super::simulation::{Outcome, simulate, simulate_runs};
use super::workload::{Demand, Workload};

/// A fleet without a limit for this many runs.
fn unlimited(runs: u32) -> Deployment {
    Deployment {
        workers: 1,
        capacity: runs,
        cores: runs,
        requests_per_minute: f64::INFINITY,
        input_tokens_per_minute: f64::INFINITY,
        output_tokens_per_minute: f64::INFINITY,
        burst_seconds: 0.0,
        store_writes_per_second: f64::INFINITY,
        store_write_seconds: 0.0,
        engine_steps_per_second: f64::INFINITY,
        engine_open_runs: f64::INFINITY,
        ..Deployment::default()
    }
}

/// Equal runs, each with one request of 400 and an answer of 40 bytes, 100 and 10 tokens; 3 attempts and 5 writes.
fn equal_runs(check_seconds: f64, model_seconds: f64) -> Workload {
    const REQUEST: MeasuredRequest = MeasuredRequest { prompt_bytes: 400, answer_bytes: 40, check_seconds: 0.0 };
    const CHECKED: MeasuredRequest = MeasuredRequest { check_seconds: 1.0, ..REQUEST };
    let requests: &[MeasuredRequest] = if check_seconds > 0.0 { &[CHECKED] } else { &[REQUEST] };
    Workload {
        first_token_seconds: model_seconds,
        tokens_per_second: (f64::MAX, f64::MAX),
        check_factor: check_seconds,
        kinds: vec![MeasuredRun { name: "equal", preparation: 0.0, attempts: 3, writes: 5, requests }],
        ..Workload::default()
    }
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
}

fn used(outcome: &Outcome, resource: Resource) -> f64 {
    let mut all = outcome.used.iter().zip(Resource::ALL);
    *all.find(|(_, other)| *other == resource).unwrap().0
}

#[test]
fn a_saturated_rate_is_the_throughput() {
    for (resource, rate, per_run) in [
        (Resource::Requests, 2.0, 1.0),
        (Resource::InputTokens, 50.0, 100.0),
        (Resource::OutputTokens, 4.0, 10.0),
        (Resource::StoreWrites, 10.0, 5.0),
        (Resource::EngineSteps, 6.0, 3.0),
    ] {
        let mut fleet = unlimited(1000);
        match resource {
            Resource::Requests => fleet.requests_per_minute = rate * 60.0,
            Resource::InputTokens => fleet.input_tokens_per_minute = rate * 60.0,
            Resource::OutputTokens => fleet.output_tokens_per_minute = rate * 60.0,
            Resource::StoreWrites => fleet.store_writes_per_second = rate,
            _ => fleet.engine_steps_per_second = rate,
        }
        let outcome = simulate(&fleet, &equal_runs(0.0, 0.0), 1000);
        assert_close(outcome.seconds, 1000.0 * per_run / rate, 1e-9);
        assert_close(used(&outcome, resource), 1.0, 1e-9);
        assert_close(
            simulate(&fleet.doubled(resource), &equal_runs(0.0, 0.0), 1000).seconds,
            outcome.seconds / 2.0,
            1e-9,
        );
    }
}

#[test]
fn slots_and_cores_take_runs_in_rounds() {
    // 100 runs of 7 seconds on 3 × 4 slots: nine rounds.
    let fleet = Deployment { workers: 3, capacity: 4, ..unlimited(100) };
    let outcome = simulate(&fleet, &equal_runs(0.0, 7.0), 100);
    assert_close(outcome.seconds, 63.0, 1e-9);
    assert_close(used(&outcome, Resource::Slots), 700.0 / (63.0 * 12.0), 1e-9);
    // The engine keeps only five of them open: twenty rounds.
    let fleet = Deployment { engine_open_runs: 5.0, ..fleet };
    assert_close(simulate(&fleet, &equal_runs(0.0, 7.0), 100).seconds, 140.0, 1e-9);
    // 100 checks of 7 seconds on 2 × 5 cores: ten rounds.
    let fleet = Deployment { workers: 2, cores: 5, ..unlimited(100) };
    let outcome = simulate(&fleet, &equal_runs(7.0, 0.0), 100);
    assert_close(outcome.seconds, 70.0, 1e-9);
    assert_close(used(&outcome, Resource::Cores), 1.0, 1e-9);
}

#[test]
fn random_arrivals_at_one_server_wait_as_long_as_in_a_queue_m_d_1() {
    // Ten per second can be served, eight arrive.
    let (served, arriving) = (10.0, 8.0);
    let load: f64 = arriving / served;
    let expected = 1.0 / served + load / (2.0 * served * (1.0 - load));
    let arrivals_per_hour = Some(arriving * 3600.0);
    let by_rate = Deployment { requests_per_minute: served * 60.0, ..unlimited(100_000) };
    let by_core = Deployment { cores: 1, ..unlimited(100_000) };
    let by_slot = Deployment { capacity: 1, ..unlimited(1) };
    for (fleet, workload) in [
        (by_rate, equal_runs(0.0, 0.0)),
        (by_core, equal_runs(1.0 / served, 0.0)),
        (by_slot, equal_runs(0.0, 1.0 / served)),
    ] {
        let outcome = simulate(&fleet, &Workload { arrivals_per_hour, ..workload }, 100_000);
        assert_close(outcome.seconds_per_run, expected, 0.05);
    }
}

#[test]
fn without_contention_a_batch_takes_as_long_as_its_longest_run() {
    let workload = Workload::default();
    let outcome = simulate(&unlimited(5000), &workload, 500);
    let mut rng = fastrand::Rng::with_seed(workload.seed);
    let lengths = (0..500).map(|_| {
        let demands = workload.draw(&mut rng);
        let seconds = demands.iter().map(|demand| match demand {
            Demand::Request { seconds, .. } | Demand::Check { seconds } => *seconds,
            Demand::EngineSteps(_) | Demand::StoreWrites(_) => 0.0,
        });
        seconds.sum::<f64>()
    });
    let lengths: Vec<f64> = lengths.collect();
    assert_close(outcome.seconds, lengths.iter().copied().fold(0.0, f64::max), 1e-9);
    assert_close(outcome.seconds_per_run, lengths.iter().sum::<f64>() / 500.0, 1e-9);
    assert_eq!(compare_doublings(&unlimited(5000), &workload, 500).limit(), None);
}

#[test]
fn a_bucket_lets_a_burst_pass_and_then_its_rate() {
    let fleet = Deployment { requests_per_minute: 60.0, burst_seconds: 60.0, ..unlimited(100) };
    assert_close(simulate(&fleet, &equal_runs(0.0, 1.0), 60).seconds, 1.0, 1e-9);
    assert_close(simulate(&fleet, &equal_runs(0.0, 1.0), 100).seconds, 41.0, 1e-9);
}

#[test]
fn a_seed_decides_everything() {
    let (fleet, workload) = (Deployment::default(), Workload::default());
    assert_eq!(simulate(&fleet, &workload, 300), simulate(&fleet, &workload, 300));
    assert_ne!(simulate(&fleet, &workload, 300), simulate(&fleet, &Workload { seed: 1, ..workload }, 300));
}

#[test]
fn a_fleet_grows_until_it_is_fast_enough_or_no_doubling_helps() {
    let (fleet, workload) = (Deployment::default(), Workload::default());
    let steps = grow(&fleet, &workload, 3000, 3600.0);
    assert!(steps.last().unwrap().outcome.seconds <= 3600.0 && steps.len() > 1, "{steps:?}");
    let steps = grow(&fleet, &workload, 3000, 1.0);
    let last = steps.last().unwrap();
    assert_eq!(compare_doublings(&last.fleet, &workload, 3000).limit(), None);
}

/// `forge-all --jobs N --provider handoff` with six cases on two cores; each answer came 1.8 seconds after its request, and a
/// second later for each 63 tokens. Other programs used the same cores, so checks took longer than their processor time: the
/// seconds between the answers are those of that `forge-all`, added up by case. `docs/src/scale.md` has both predictions.
#[test]
fn forge_all_took_as_long_as_predicted() {
    for (jobs, measured_seconds, check_seconds) in
        [(2, 400.1, [55.9, 43.6, 2.2, 42.1, 9.2, 11.6]), (3, 304.8, [70.4, 50.5, 2.2, 45.5, 12.3, 31.8])]
    {
        let names = ["alternating_bit", "bounded_queue", "cache_aside", "cache_leases", "ring_election", "rw_lock"];
        let runs = names.iter().zip(check_seconds).map(|(name, check_seconds)| {
            let run = MEASURED_RUNS.iter().find(|run| run.name == *name).unwrap();
            let processor: f64 = run.requests.iter().map(|request| request.check_seconds).sum();
            let check_factor = check_seconds / (run.preparation + processor);
            let workload = Workload { tokens_per_second: (63.0, 63.0), check_factor, ..Workload::default() };
            (0.0, workload.demands(run, &mut fastrand::Rng::with_seed(0)))
        });
        let predicted = simulate_runs(&Deployment { capacity: jobs, ..unlimited(6) }, runs).seconds;
        assert_close(measured_seconds, predicted, 0.01);
    }
}
