//! How well an audit agrees with a reference: precision, recall and F1, as in appendix F.1 of the TRAC paper.

use std::collections::BTreeSet;

use super::trac::{Decision, StepReport};

/// One verdict of an audit: a rule, the step at which it was decided, and how.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The step, from 1.
    pub step: u64,
    /// Violated or satisfied.
    pub decision: Decision,
}

impl Finding {
    /// The findings among what a monitor reported of a step.
    pub fn of_step(step: u64, reports: &[StepReport]) -> impl Iterator<Item = Self> {
        reports.iter().filter_map(move |report| {
            let decision = report.decision?;
            Some(Self { rule: report.rule.to_string(), step, decision })
        })
    }
}

/// Counts of findings that two audits share and do not share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// In both: violations or satisfactions found at their step.
    pub true_positives: u64,
    /// In the audit alone.
    pub false_positives: u64,
    /// In the reference alone.
    pub false_negatives: u64,
}

impl Score {
    /// Compares an audit with its reference; a finding that is given twice counts once.
    pub fn of<'a>(
        audit: impl IntoIterator<Item = &'a Finding>,
        reference: impl IntoIterator<Item = &'a Finding>,
    ) -> Self {
        let audit: BTreeSet<&Finding> = audit.into_iter().collect();
        let reference: BTreeSet<&Finding> = reference.into_iter().collect();
        let count = |n: usize| u64::try_from(n).expect("a count fits 64 bits");
        let shared = audit.intersection(&reference).count();
        Self {
            true_positives: count(shared),
            false_positives: count(audit.len() - shared),
            false_negatives: count(reference.len() - shared),
        }
    }

    /// The counts of several audits as one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            true_positives: self.true_positives + other.true_positives,
            false_positives: self.false_positives + other.false_positives,
            false_negatives: self.false_negatives + other.false_negatives,
        }
    }

    /// The part of what was found that is right, 0 to 1. Where nothing was found: 1 if there was nothing to find, else 0.
    pub fn precision(self) -> f64 {
        self.ratio(self.true_positives + self.false_positives)
    }

    /// The part of what is there that was found, 0 to 1. Where nothing is there: 1 if nothing was found, else 0.
    pub fn recall(self) -> f64 {
        self.ratio(self.true_positives + self.false_negatives)
    }

    /// The harmonic mean of both, 0 where both are 0.
    pub fn f1(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
    }

    fn ratio(self, of: u64) -> f64 {
        if of == 0 {
            return if self.false_positives + self.false_negatives == 0 { 1.0 } else { 0.0 };
        }
        as_real(self.true_positives) / as_real(of)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of findings are far below 2^53")]
fn as_real(count: u64) -> f64 {
    count as f64
}

/// Scores of several runs together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSummary {
    /// How many runs.
    pub runs: usize,
    /// The mean of their F1.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval: 1.96 standard errors; 0 for fewer than two runs.
    pub interval: f64,
}

impl ScoreSummary {
    /// Mean and confidence interval of the F1 of several runs; `None` of none.
    pub fn of(scores: &[Score]) -> Option<Self> {
        let runs = u64::try_from(scores.len()).ok().filter(|runs| *runs > 0)?;
        let n = as_real(runs);
        let mean = scores.iter().map(|score| score.f1()).sum::<f64>() / n;
        let spread = scores.iter().map(|score| (score.f1() - mean).powi(2)).sum::<f64>();
        let interval = if runs < 2 { 0.0 } else { 1.96 * (spread / (n - 1.0)).sqrt() / n.sqrt() };
        Some(Self { runs: scores.len(), mean, interval })
    }
}
