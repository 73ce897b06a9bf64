//! The exit statuses of the program.

/// Exit status. The numbers are part of the command line's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Approved, holds, or a threshold is met.
    Ok = 0,
    /// A negative verdict: flaw found, not approved, violated, invalid.
    Negative = 1,
    /// Wrong usage or configuration, including that of a provider: no program, no key, an unknown model.
    Usage = 2,
    /// Undecided or inconclusive: a deadline, a budget, a bound.
    Undecided = 3,
    /// The Java tools or the embedded checker are missing or failed.
    Tool = 4,
    /// The model provider was asked and failed.
    Provider = 5,
    /// The baseline of a mutation run does not hold.
    Baseline = 6,
    /// A defect of tlaforge, or of one of two checkers that contradict each other.
    Defect = 70,
    /// By a signal: 128 + SIGINT.
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
        (Exit::Negative, "a negative verdict: flaw found, not approved, violated, invalid, a witness not reached"),
        (Exit::Usage, "usage or configuration; also a provider without its program or key, or an unknown model"),
        (Exit::Undecided, "undecided or inconclusive: a deadline, a budget, a bound"),
        (Exit::Tool, "the Java tools or the embedded checker are missing or cannot work (a full disk, no memory)"),
        (Exit::Provider, "the model provider was asked and failed"),
        (Exit::Baseline, "the baseline is bad"),
        (Exit::Defect, "a defect of tlaforge, or two checkers contradict each other"),
        (Exit::Interrupted, "interrupted"),
    ];
}
