//! Agreement of an audit with a reference: precision, recall and F1, as in appendix F.1 of the TRAC paper.

use std::collections::BTreeSet;

use super::trac::Decision;

/// A verdict of an audit on a rule, at the step that decided it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    pub rule: String,
    /// From 1.
    pub step: u64,
    pub decision: Decision,
}

/// Counts of findings that two audits share and do not share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// In both: violations or satisfactions found at their step.
    pub true_positives: u64,
    /// Only in the audit.
    pub false_positives: u64,
    /// Only in the reference.
    pub false_negatives: u64,
}

impl Score {
    /// Compares an audit with a reference. A finding that occurs twice counts once.
    pub fn compare<'a>(
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

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            true_positives: self.true_positives + other.true_positives,
            false_positives: self.false_positives + other.false_positives,
            false_negatives: self.false_negatives + other.false_negatives,
        }
    }

    /// The share of findings that are in the reference, 0 to 1. Without findings: 1 if the reference is empty too, else 0.
    pub fn precision(self) -> f64 {
        self.ratio(self.true_positives + self.false_positives)
    }

    /// The share of the reference that was found, 0 to 1. With an empty reference: 1 if there are no findings, else 0.
    pub fn recall(self) -> f64 {
        self.ratio(self.true_positives + self.false_negatives)
    }

    /// The harmonic mean of precision and recall; 0 if both are 0.
    pub fn f1(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
    }

    fn ratio(self, whole: u64) -> f64 {
        if whole == 0 {
            return if self.false_positives + self.false_negatives == 0 { 1.0 } else { 0.0 };
        }
        as_f64(self.true_positives) / as_f64(whole)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of findings are far below 2^53")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// A summary of the scores of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSummary {
    pub runs: usize,
    /// The mean F1.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the mean: 1.96 standard errors; 0 for fewer than two runs.
    pub interval: f64,
}

impl ScoreSummary {
    /// `None` without scores.
    pub fn new(scores: &[Score]) -> Option<Self> {
        let runs = u64::try_from(scores.len()).ok().filter(|runs| *runs > 0)?;
        let n = as_f64(runs);
        let mean = scores.iter().map(|score| score.f1()).sum::<f64>() / n;
        let spread = scores.iter().map(|score| (score.f1() - mean).powi(2)).sum::<f64>();
        let interval = if runs < 2 { 0.0 } else { 1.96 * (spread / (n - 1.0)).sqrt() / n.sqrt() };
        Some(Self { runs: scores.len(), mean, interval })
    }
}
