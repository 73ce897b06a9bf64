//! Runs that were measured: each recorded case of `evals/`, forged again with the recorded answers.

/// A request, and the work after its answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredRequest {
    /// The whole request, with the documents that it offers.
    pub prompt_bytes: u32,
    pub answer_bytes: u32,
    /// Seconds of one core from the answer to the next request or to the end: translator, checks, mutants.
    pub check_seconds: f64,
}

/// A run that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredRun {
    /// Its case.
    pub name: &'static str,
    /// Seconds of one core before the first request.
    pub preparation: f64,
    /// Attempts of nodes, each a durable step of the engine.
    pub attempts: u32,
    /// Groups of journal lines and artifacts, each a write to the object store.
    pub writes: u32,
    pub requests: &'static [MeasuredRequest],
}

const fn request(prompt_bytes: u32, answer_bytes: u32, check_seconds: f64) -> MeasuredRequest {
    MeasuredRequest { prompt_bytes, answer_bytes, check_seconds }
}

pub(super) const MEASURED_RUNS: [MeasuredRun; 1] = [
    MeasuredRun {
        name: "alternating_bit",
        preparation: 0.01,
        attempts: 6,
        writes: 70,
        requests: &[
            request(9599, 9223, 0.02), request(17824, 4673, 0.03), request(16830, 7145, 7.0), request(8215, 1676, 0.1),
            request(39456, 3278, 9.8),
        ],
    },
];
