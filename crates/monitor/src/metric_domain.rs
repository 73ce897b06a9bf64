//! What an objective knows about the metrics of revisions: their ranges, and how their values develop from revision to
//! revision.

/// What is known about the values of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricDomain {
    pub name: &'static str,
    /// A goal can name a metric of range [`Range::Truth`] without a predicate.
    pub range: Range,
    /// Truth values of other metrics that follow if this one is true.
    pub implies: &'static [(&'static str, bool)],
    pub trend: Trend,
}

/// How the values of a metric develop along a line of revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// Any value can follow any other.
    Free,
    /// Values never decrease.
    NonDecreasing,
    /// Values strictly increase, up to the maximum number of revisions of the run.
    RevisionNumber,
    /// The revision of which it is true is the last one of the run.
    LastRevision,
}

/// The values that a metric can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    Truth,
    /// Whole numbers from 0.
    Count,
    /// Whole numbers from 1.
    Positive,
    /// Numbers from 0 to 1.
    Share,
    /// Numbers from 0.
    Amount,
}
