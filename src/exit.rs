//! The exit statuses of the program.

/// Exit status. The numbers are part of the command line's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
pub enum Exit {
    /// Approved, holds, or the threshold is met.
    Ok = 0,
    /// A negative verdict: flaw or ambiguity found, not approved, violated, invalid, or below the threshold.
    Negative = 1,
    /// Wrong usage or configuration; also a provider without program or key, or an unknown model.
    Usage = 2,
    /// Undecided or inconclusive: a deadline, a budget, a bound.
    Undecided = 3,
    /// The Java tools or the embedded checker are missing or cannot work.
    Tool = 4,
    /// A request to the model provider failed.
    Provider = 5,
    /// The baseline of a mutation run does not hold.
    Baseline = 6,
    /// An internal error, or two checkers that contradict each other.
    Defect = 70,
    Interrupted = 130,
}

impl Exit {
    /// The number that the process exits with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Every status with one line of explanation, for `--help` and the documentation.
    pub const ALL: [(Exit, &'static str); 9] = [
        (Exit::Ok, "approved, holds, or the threshold is met"),
        (
            Exit::Negative,
            "negative: flaw, ambiguity, not approved, violated, invalid, not reached, below the threshold",
        ),
        (Exit::Usage, "wrong usage or configuration; also a provider without program or key, or an unknown model"),
        (Exit::Undecided, "undecided or inconclusive: a time limit, a budget or a bound was reached"),
        (Exit::Tool, "the Java tools or the embedded checker are missing or cannot work (full disk, no memory)"),
        (Exit::Provider, "a request to the model provider failed"),
        (Exit::Baseline, "the specification itself does not hold, so its mutants cannot be judged (`mutate`)"),
        (Exit::Defect, "internal error of tlaforge, or two checkers contradict each other"),
        (Exit::Interrupted, "interrupted"),
    ];
}
