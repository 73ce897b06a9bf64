//! The point of a trace at which its verdict was decided.

/// The point of a trace after which no continuation could change the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionPoint {
    /// Before the first record: every trace has this verdict.
    FromTheStart,
    /// The record at this position: before it, the other verdict was possible; after it, neither a continuation nor the end
    /// of the trace changes the verdict.
    ByRecord(usize),
    /// The end of the trace: some continuation of the complete trace has the other verdict.
    ByTheEnd,
}
