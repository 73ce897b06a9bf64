//! The mutation score, which `tlaforge mutate`, runs, reports and conditions of approvals share.

/// How many mutants of a specification its properties notice. Mutants that do nothing new, only take behaviour away or cannot be
/// checked are not counted, nor are mutants that only deadlock: they say nothing about a property.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MutationScore {
    /// The mutants that a property or an assertion notices.
    pub noticed: usize,
    /// The mutants that do something new and that nothing notices.
    pub survived: usize,
    /// The mutants that were not decided or not judged: each may be noticed, survive, or do nothing new.
    pub undecided: usize,
}

impl MutationScore {
    /// The number of mutants that were noticed or survived.
    pub fn decided(self) -> usize {
        self.noticed + self.survived
    }

    /// noticed / (noticed + survived), the score in the literature; `None` at 0/0.
    pub fn score(self) -> Option<f64> {
        ratio(self.noticed, self.decided())
    }

    /// The score if all undecided mutants had survived; `None` at 0/0.
    pub fn at_least(self) -> Option<f64> {
        ratio(self.noticed, self.decided() + self.undecided)
    }

    /// For example `17 of 19 noticed`, with the range that undecided mutants leave.
    pub fn words(self) -> String {
        let Self { noticed, undecided, .. } = self;
        let decided = self.decided();
        match (decided, undecided) {
            (0, 0) => "none was killed, none survived".to_owned(),
            (0, more) => format!("none of {more} was decided"),
            (all, 0) => format!("{noticed} of {all} noticed"),
            (all, more) => format!(
                "{noticed} of {all} noticed ({noticed} to {} of {} with those that were not decided)",
                noticed + more,
                all + more
            ),
        }
    }
}

/// A share; `None` at 0/0.
#[expect(clippy::cast_precision_loss, reason = "counts of mutants")]
pub(super) fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
