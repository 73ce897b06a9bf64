//! What is measured of a closed revision: the quantities that an objective can name, one definition each.
//!
//! A quantity that a revision does not have is undefined, and never guessed.

use super::metrics::{Metrics, Quantity};
use super::revision::Revision;
use super::spending::Spent;
use crate::monitor::{MetricDomain, Range, Trend};
use crate::pipeline::machine::{Review, ReviewVerdict, Severity};
use crate::tla::Verdict;

/// Where a metric comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Translator, parser and checker.
    Tools,
    /// The mutants that are judged before the review.
    Mutants,
    Review,
    /// The spending of the run.
    Ledger,
    Run,
}

impl Source {
    pub fn words(self) -> &'static str {
        match self {
            Source::Tools => "tools",
            Source::Mutants => "mutants (before the review)",
            Source::Review => "review",
            Source::Ledger => "ledger",
            Source::Run => "run",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The name in predicates.
    pub name: &'static str,
    /// The unit; `yes or no` for a truth value.
    pub unit: &'static str,
    pub range: Range,
    /// The values of other metrics that follow if it is true.
    pub implies: &'static [(&'static str, bool)],
    /// How its values follow each other.
    pub trend: Trend,
    pub source: Source,
    /// The definition, and when it is undefined.
    pub words: &'static str,
    of: fn(&Measured<'_>) -> Option<Quantity>,
}

const TRUTH: &str = "yes or no";

/// What metrics are computed from.
struct Measured<'a> {
    revision: &'a Revision,
    review: Option<&'a Review>,
    spent: &'a Spent,
}

impl Measured<'_> {
    fn verdict(&self, is: fn(&Verdict) -> bool) -> Option<Quantity> {
        self.revision.check.as_ref().map(|check| Quantity::Truth(is(&check.verdict)))
    }

    fn issues(&self, severity: Severity) -> Option<Quantity> {
        let issues = self.review?.issues.iter().filter(|issue| issue.severity == severity);
        Some(count(issues.count()))
    }

    fn requirements(&self, covered: bool) -> Option<Quantity> {
        let all = &self.revision.requirements;
        let such = all.iter().filter(|r| r.covered_by.is_empty() != covered).count();
        (!all.is_empty()).then(|| count(such))
    }
}

fn count(n: impl TryInto<u64>) -> Quantity {
    Quantity::Count(n.try_into().unwrap_or(u64::MAX))
}

fn cost(spent: &Spent) -> Option<Quantity> {
    (spent.unpriced == 0).then_some(Quantity::Number(spent.cost_usd))
}

fn tokens(spent: &Spent) -> Option<Quantity> {
    let uncounted = spent.estimated_tokens > 0 || (spent.tokens == 0 && spent.answers > 0);
    (!uncounted).then(|| count(spent.tokens))
}

/// All metrics, in the order of the pipeline.
pub const METRICS: [Metric; 20] = [
    Metric {
        name: "revision",
        unit: "number",
        range: Range::Count,
        implies: &[],
        trend: Trend::RevisionNumber,
        source: Source::Run,
        words: "its number in the run; the first is 0",
        of: |m| Some(count(m.revision.revision)),
    },
    Metric {
        name: "approved",
        unit: TRUTH,
        range: Range::Truth,
        implies: &[
            ("holds", true),
            ("violated", false),
            ("inconclusive", false),
            ("vacuous", false),
            ("parses", true),
            ("approved_by_review", true),
        ],
        trend: Trend::LastRevision,
        source: Source::Run,
        words: "the run ended approved with it: a review approved, and every clause of the guard held",
        of: |m| Some(Quantity::Truth(m.revision.outcome.starts_with("approved"))),
    },
    Metric {
        name: "parses",
        unit: TRUTH,
        range: Range::Truth,
        implies: &[],
        trend: Trend::Free,
        source: Source::Tools,
        words: "module, properties and configuration were accepted together",
        of: |m| Some(Quantity::Truth(m.revision.rank.parses)),
    },
    Metric {
        name: "holds",
        unit: TRUTH,
        range: Range::Truth,
        implies: &[("violated", false), ("inconclusive", false)],
        trend: Trend::Free,
        source: Source::Tools,
        words: "the check of the current files holds; undefined without one",
        of: |m| m.verdict(|verdict| matches!(verdict, Verdict::Holds)),
    },
    Metric {
        name: "violated",
        unit: TRUTH,
        range: Range::Truth,
        implies: &[("holds", false), ("inconclusive", false)],
        trend: Trend::Free,
        source: Source::Tools,
        words: "the check of the current files found a violation; undefined without one",
        of: |m| m.verdict(|verdict| matches!(verdict, Verdict::Violated { .. })),
    },
    Metric {
        name: "inconclusive",
        unit: TRUTH,
        range: Range::Truth,
        implies: &[("holds", false), ("violated", false)],
        trend: Trend::Free,
        source: Source::Tools,
        words: "the check of the current files came to no verdict; undefined without one",
        of: |m| m.verdict(|verdict| matches!(verdict, Verdict::Inconclusive { .. })),
    },
    Metric {
        name: "vacuous",
        unit: TRUTH,
        range: Range::Truth,
        implies: &[],
        trend: Trend::Free,
        source: Source::Tools,
        words: "the check shows nothing: no property that can fail and covers a requirement, nothing but initial states, or \
                a witness that is missing or not reached; undefined without a check",
        of: |m| m.revision.check.as_ref().map(|_| Quantity::Truth(!m.revision.rank.not_vacuous)),
    },
    Metric {
        name: "states",
        unit: "distinct states",
        range: Range::Count,
        implies: &[],
        trend: Trend::Free,
        source: Source::Tools,
        words: "what the check of the current files found; undefined without one",
        of: |m| m.revision.check.as_ref()?.statistics.distinct.map(count),
    },
    Metric {
        name: "depth",
        unit: "states",
        range: Range::Count,
        implies: &[],
        trend: Trend::Free,
        source: Source::Tools,
        words: "the longest of the shortest ways to a state in that check; undefined without one that was completed",
        of: |m| m.revision.check.as_ref()?.statistics.depth.map(count),
    },
    Metric {
        name: "seconds",
        unit: "seconds",
        range: Range::Amount,
        implies: &[],
        trend: Trend::Free,
        source: Source::Tools,
        words: "how long its main run took; undefined without one",
        of: |m| m.revision.check.as_ref().map(|check| Quantity::Number(check.statistics.seconds)),
    },
    Metric {
        name: "covered",
        unit: "requirements",
        range: Range::Count,
        implies: &[],
        trend: Trend::Free,
        source: Source::Tools,
        words: "those covered by a property that the check of the current files decided; undefined without requirements",
        of: |m| m.requirements(true),
    },
    Metric {
        name: "uncovered",
        unit: "requirements",
        range: Range::Count,
        implies: &[],
        trend: Trend::Free,
        source: Source::Tools,
        words: "all others; undefined without requirements",
        of: |m| m.requirements(false),
    },
    Metric {
        name: "mutation_score",
        unit: "share, 0 to 1",
        range: Range::Share,
        implies: &[],
        trend: Trend::Free,
        source: Source::Mutants,
        words: "mutants killed of those killed or surviving, at the end of the revision; one that only deadlocks counts as killed; undefined if none was killed or survived",
        of: |m| m.revision.strengthened.as_ref()?.after.score.map(Quantity::Number),
    },
    Metric {
        name: "approved_by_review",
        unit: TRUTH,
        range: Range::Truth,
        implies: &[],
        trend: Trend::Free,
        source: Source::Review,
        words: "the verdict is to approve, whatever the guard says; undefined without a readable review",
        of: |m| m.review.map(|review| Quantity::Truth(review.verdict == ReviewVerdict::Approved)),
    },
    Metric {
        name: "blockers",
        unit: "issues",
        range: Range::Count,
        implies: &[],
        trend: Trend::Free,
        source: Source::Review,
        words: "of that severity; undefined without a readable review",
        of: |m| m.issues(Severity::Blocker),
    },
    Metric {
        name: "majors",
        unit: "issues",
        range: Range::Count,
        implies: &[],
        trend: Trend::Free,
        source: Source::Review,
        words: "of that severity; undefined without a readable review",
        of: |m| m.issues(Severity::Major),
    },
    Metric {
        name: "minors",
        unit: "issues",
        range: Range::Count,
        implies: &[],
        trend: Trend::Free,
        source: Source::Review,
        words: "of that severity; undefined without a readable review",
        of: |m| m.issues(Severity::Minor),
    },
    Metric {
        name: "cost",
        unit: "US dollars",
        range: Range::Amount,
        implies: &[],
        trend: Trend::NonDecreasing,
        source: Source::Ledger,
        words: "what the run has cost until the revision closed; undefined if the price of a call is unknown",
        of: |m| cost(m.spent),
    },
    Metric {
        name: "tokens",
        unit: "tokens",
        range: Range::Count,
        implies: &[],
        trend: Trend::NonDecreasing,
        source: Source::Ledger,
        words: "what the run has used until then; undefined if the provider did not count them",
        of: |m| tokens(m.spent),
    },
    Metric {
        name: "answers",
        unit: "answers",
        range: Range::Positive,
        implies: &[],
        trend: Trend::NonDecreasing,
        source: Source::Ledger,
        words: "what the run has received until then",
        of: |m| Some(count(m.spent.answers)),
    },
];

impl Metric {
    pub fn is_truth(&self) -> bool {
        self.range == Range::Truth
    }
}

/// The names that an objective may use.
pub fn known_metrics() -> [MetricDomain; METRICS.len()] {
    METRICS.map(|Metric { name, range, implies, trend, .. }| MetricDomain { name, range, implies, trend })
}

/// The metrics of a revision, with its last readable review and what the run had spent when it closed.
pub(in crate::pipeline) fn measure(revision: &Revision, review: Option<&Review>, spent: &Spent) -> Metrics {
    let measured = Measured { revision, review, spent };
    let value = |metric: &Metric| Some((metric.name.to_owned(), (metric.of)(&measured)?));
    Metrics(METRICS.iter().filter_map(value).collect())
}

/// The metrics that only grow along a run: the highest number of a revision so far, and what was spent.
pub(in crate::pipeline) fn growing_metrics(revision: Option<u32>, spent: &Spent) -> Metrics {
    let all = [
        ("revision", revision.map(count)),
        ("cost", cost(spent)),
        ("tokens", tokens(spent)),
        ("answers", Some(count(spent.answers))),
    ];
    Metrics(all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}
