//! Agreement of a model's labels with reference labels: accuracy, as in appendix E.1 of the TRAC paper, and F1, for each
//! proposition.

use std::sync::Arc;

/// Counts for one proposition, or for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Agreement {
    /// True in both.
    pub true_positives: u64,
    /// False in both.
    pub true_negatives: u64,
    /// True only by the model.
    pub false_positives: u64,
    /// True only by the reference.
    pub false_negatives: u64,
}

impl Agreement {
    /// Counts one label and its reference.
    pub fn count(&mut self, labelled: bool, reference: bool) {
        *match (labelled, reference) {
            (true, true) => &mut self.true_positives,
            (false, false) => &mut self.true_negatives,
            (true, false) => &mut self.false_positives,
            (false, true) => &mut self.false_negatives,
        } += 1;
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            true_positives: self.true_positives + other.true_positives,
            true_negatives: self.true_negatives + other.true_negatives,
            false_positives: self.false_positives + other.false_positives,
            false_negatives: self.false_negatives + other.false_negatives,
        }
    }

    /// The number of labels that agree.
    pub fn agreed(self) -> u64 {
        self.true_positives + self.true_negatives
    }

    /// The number of labels.
    pub fn total(self) -> u64 {
        self.agreed() + self.false_positives + self.false_negatives
    }

    /// The share of labels that agree, 0 to 1; `None` without labels.
    pub fn accuracy(self) -> Option<f64> {
        ratio(self.agreed(), self.total())
    }

    /// The harmonic mean of precision and recall, 0 to 1; `None` if the proposition is true in neither, so that both are
    /// undefined.
    pub fn f1(self) -> Option<f64> {
        let twice = 2 * self.true_positives;
        ratio(twice, twice + self.false_positives + self.false_negatives)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of labels are far below 2^53")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Agreement of labels with a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelAccuracy {
    /// By proposition, sorted.
    pub propositions: Vec<(Arc<str>, Agreement)>,
    /// The number of states with a reference.
    pub compared: u64,
}

impl LabelAccuracy {
    /// The counts of all propositions together.
    pub fn overall(&self) -> Agreement {
        self.propositions.iter().fold(Agreement::default(), |all, (_, one)| all.plus(*one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposition_that_is_never_true_has_an_accuracy_and_no_f1() {
        let mut counts = Agreement::default();
        assert_eq!((counts.accuracy(), counts.f1()), (None, None));
        counts.count(false, false);
        assert_eq!((counts.accuracy(), counts.f1()), (Some(1.0), None));
        counts.count(true, false);
        assert_eq!((counts.accuracy(), counts.f1()), (Some(0.5), Some(0.0)));
        counts.count(true, true);
        counts.count(false, true);
        assert_eq!((counts.agreed(), counts.total()), (2, 4));
        assert_eq!((counts.accuracy(), counts.f1()), (Some(0.5), Some(0.5)));
    }
}
