//! Scores that are a range while a part of them is undecided.

/// A score from 0 to 1, as a range. The lower end counts everything undecided as missed, the upper end counts it as found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    pub least: f64,
    pub most: f64,
}

/// Smaller differences are rounding.
const MIN_CHANGE: f64 = 0.0005;

const RANGE_SEPARATOR: &str = " to ";

impl Score {
    /// The score with this range; `most` is left out if everything was decided.
    pub fn new(least: f64, most: Option<f64>) -> Self {
        Self { least, most: most.unwrap_or(least).max(least) }
    }

    pub fn is_decided(self) -> bool {
        self.most - self.least < MIN_CHANGE
    }

    /// Whether it is certainly lower than `before`.
    pub(super) fn is_below(self, before: Self) -> bool {
        before.least - self.most >= MIN_CHANGE
    }

    /// Whether both ends are the same.
    pub(super) fn is_same(self, other: Self) -> bool {
        (self.least - other.least).abs() < MIN_CHANGE && (self.most - other.most).abs() < MIN_CHANGE
    }

    /// `0.80`, or `0.80 to 0.90` if a part is undecided.
    pub fn words(self, digits: usize) -> String {
        let Self { least, most } = self;
        if self.is_decided() {
            return format!("{least:.digits$}");
        }
        format!("{least:.digits$}{RANGE_SEPARATOR}{most:.digits$}")
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (least, most) = text.split_once(RANGE_SEPARATOR).unwrap_or((text, text));
        Some(Self { least: least.parse().ok()?, most: most.parse().ok()? })
    }
}
