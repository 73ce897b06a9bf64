//! How revisions, and candidates with properties, compare with each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionRank {
    /// The tools accepted module and configuration together.
    pub parses: bool,
    /// Properties that can fail were checked, over more than the initial states, and every witness was reached.
    pub not_vacuous: bool,
    pub holds: bool,
    pub inconclusive: bool,
    /// Requirements covered by properties that the check decided.
    pub covered: usize,
    /// Issues of this severity.
    pub blockers: usize,
    /// Issues of this severity.
    pub majors: usize,
}

impl RevisionRank {
    /// Larger is better. The number of states has no part in it.
    pub fn sort_key(&self) -> impl Ord + use<> {
        let fewer = |n: usize| usize::MAX - n;
        (self.parses, self.not_vacuous, self.holds, self.covered, fewer(self.blockers), fewer(self.majors))
    }
}
