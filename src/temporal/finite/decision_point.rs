//! What decided a verdict: a record, the end of the trace, or nothing in it.

/// What decided a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionPoint {
    /// Nothing: every trace has this verdict.
    FromTheStart,
    /// The record at this position: before it, another verdict was still possible; after it, no continuation changes the
    /// verdict, and ending there does not.
    ByRecord(usize),
    /// The end of the trace: some continuation of the whole trace has the other verdict.
    ByTheEnd,
}
