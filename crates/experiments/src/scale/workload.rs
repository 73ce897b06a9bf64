//! What runs ask of the fleet: measured runs, drawn at random, with the speed of a model.

use super::measured_runs::{MEASURED_RUNS, MeasuredRun};

/// One thing that a run needs; a run needs one after the other.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// Durable steps of the engine.
    EngineSteps(f64),
    /// A request to the model: its tokens, and the seconds until the whole answer is there once it is admitted.
    Request { input: f64, output: f64, seconds: f64 },
    /// Writes to the object store.
    StoreWrites(f64),
    /// Seconds of one core.
    Check { seconds: f64 },
}

/// Runs to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub seed: u64,
    /// Mean number of runs that arrive per hour, at random times; `None`: all arrive at once.
    pub arrivals_per_hour: Option<f64>,
    /// Bytes of text per token.
    pub bytes_per_token: f64,
    /// Seconds until the first token of an answer.
    pub first_token_seconds: f64,
    /// Lowest and highest number of output tokens per second; each request draws its own.
    pub tokens_per_second: (f64, f64),
    /// Multiplies the tokens of each request, for larger sets of documents.
    pub prompt_factor: f64,
    /// Multiplies the tokens of each answer, for models that think before they answer.
    pub answer_factor: f64,
    /// Multiplies the seconds of each check, for larger state spaces.
    pub check_factor: f64,
    /// Runs that are drawn from; each equally likely.
    pub kinds: Vec<MeasuredRun>,
}

impl Default for Workload {
    /// The measured runs. `docs/src/scale.md` has the source of each number.
    fn default() -> Self {
        Self {
            seed: 0,
            arrivals_per_hour: None,
            bytes_per_token: 4.0,
            first_token_seconds: 1.8,
            tokens_per_second: (45.0, 81.0),
            prompt_factor: 1.0,
            answer_factor: 1.0,
            check_factor: 1.0,
            kinds: MEASURED_RUNS.to_vec(),
        }
    }
}

impl Workload {
    /// Seconds between two arrivals: 0, or exponentially distributed.
    pub(super) fn next_gap(&self, rng: &mut fastrand::Rng) -> f64 {
        self.arrivals_per_hour.map_or(0.0, |per_hour| -(1.0 - rng.f64()).ln() * 3600.0 / per_hour)
    }

    /// A run of a random kind.
    pub(super) fn draw(&self, rng: &mut fastrand::Rng) -> Vec<Demand> {
        self.demands(&self.kinds[rng.usize(..self.kinds.len())], rng)
    }

    /// What a run of this kind needs.
    pub(super) fn demands(&self, run: &MeasuredRun, rng: &mut fastrand::Rng) -> Vec<Demand> {
        let requests = run.requests.iter().fold(0.0, |count, _| count + 1.0);
        let mut demands = vec![Demand::Check { seconds: run.preparation * self.check_factor }];
        for request in run.requests {
            let output = f64::from(request.answer_bytes) / self.bytes_per_token * self.answer_factor;
            let (slowest, fastest) = self.tokens_per_second;
            let speed = slowest + rng.f64() * (fastest - slowest);
            demands.extend([
                Demand::EngineSteps(f64::from(run.attempts) / requests),
                Demand::Request {
                    input: f64::from(request.prompt_bytes) / self.bytes_per_token * self.prompt_factor,
                    output,
                    seconds: self.first_token_seconds + output / speed,
                },
                Demand::StoreWrites(f64::from(run.writes) / requests),
                Demand::Check { seconds: request.check_seconds * self.check_factor },
            ]);
        }
        demands
    }
}
