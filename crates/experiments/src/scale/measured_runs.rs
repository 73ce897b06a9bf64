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

/// In the order of `evals/`. `docs/src/scale.md` says how they were measured.
pub(super) const MEASURED_RUNS: [MeasuredRun; 10] = [
    MeasuredRun {
        name: "alternating_bit",
        preparation: 0.01,
        attempts: 6,
        writes: 70,
        requests: &[
            request(9599, 9223, 0.01),
            request(17824, 4673, 0.02),
            request(16830, 7145, 6.96),
            request(8215, 1676, 0.07),
            request(39456, 3278, 9.88),
        ],
    },
    MeasuredRun {
        name: "bounded_queue",
        preparation: 0.01,
        attempts: 6,
        writes: 66,
        requests: &[request(19068, 16852, 16.35), request(7025, 1916, 0.06), request(35576, 6304, 2.95)],
    },
    MeasuredRun {
        name: "cache_aside",
        preparation: 0.01,
        attempts: 7,
        writes: 70,
        requests: &[
            request(8076, 9410, 0.01),
            request(16269, 3315, 0.02),
            request(14785, 5235, 0.88),
            request(32635, 4822, 0.06),
            request(7888, 888, 0.00),
        ],
    },
    MeasuredRun {
        name: "cache_leases",
        preparation: 0.01,
        attempts: 6,
        writes: 70,
        requests: &[
            request(8224, 9552, 0.01),
            request(16443, 4628, 0.02),
            request(16130, 4355, 11.99),
            request(7157, 808, 0.07),
            request(34097, 2772, 9.39),
        ],
    },
    MeasuredRun {
        name: "lockbox",
        preparation: 0.04,
        attempts: 9,
        writes: 151,
        requests: &[
            request(13472, 19443, 0.07),
            request(19637, 5549, 0.01),
            request(20471, 7997, 40.49),
            request(62440, 3333, 0.09),
            request(35798, 1356, 41.76),
            request(10327, 2063, 0.12),
            request(68707, 3665, 10.59),
        ],
    },
    MeasuredRun {
        name: "ring_election",
        preparation: 0.01,
        attempts: 12,
        writes: 127,
        requests: &[
            request(18434, 14728, 0.86),
            request(7896, 2088, 0.06),
            request(31735, 5762, 0.06),
            request(15563, 1111, 0.01),
            request(21764, 723, 0.01),
            request(24416, 3028, 0.91),
            request(8549, 536, 0.06),
            request(34912, 2492, 1.84),
        ],
    },
    MeasuredRun {
        name: "rw_lock",
        preparation: 0.00,
        attempts: 6,
        writes: 66,
        requests: &[request(18223, 12814, 4.20), request(6069, 1109, 0.03), request(28033, 1706, 1.81)],
    },
    MeasuredRun {
        name: "token_bucket",
        preparation: 0.01,
        attempts: 6,
        writes: 66,
        requests: &[request(18680, 16759, 33.98), request(7536, 1356, 0.05), request(33652, 4931, 10.33)],
    },
    MeasuredRun {
        name: "two_phase_commit",
        preparation: 0.01,
        attempts: 6,
        writes: 66,
        requests: &[request(18311, 20921, 6.19), request(8080, 1599, 0.12), request(37782, 3554, 5.57)],
    },
    MeasuredRun {
        name: "uniswap_swap",
        preparation: 0.01,
        attempts: 6,
        writes: 65,
        requests: &[request(17572, 16598, 31.94), request(7580, 1309, 0.05), request(33083, 4004, 9.36)],
    },
];
