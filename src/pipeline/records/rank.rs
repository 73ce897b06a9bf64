//! How revisions, and candidates with properties, compare with each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a revision compares with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionRank {
    /// Module and configuration were accepted.
    pub parses: bool,
    /// Properties were checked that can fail, over more than the initial states, with every witness reached.
    pub not_vacuous: bool,
    /// The check holds.
    pub holds: bool,
    /// The check is inconclusive.
    pub inconclusive: bool,
    /// Requirements covered by properties that the check decided.
    pub covered: usize,
    /// Issues of the review.
    pub blockers: usize,
    /// Issues of the review.
    pub majors: usize,
}

impl RevisionRank {
    /// Larger is better. The number of states has no part in it.
    pub fn sort_key(&self) -> impl Ord + use<> {
        let fewer = |n: usize| usize::MAX - n;
        (self.parses, self.not_vacuous, self.holds, self.covered, fewer(self.blockers), fewer(self.majors))
    }
}
