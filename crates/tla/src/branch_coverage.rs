//! Which branches of the actions a check never saw taken, as data of its outcome.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Place;

/// How a branch is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BranchKind {
    /// An alternative of the `either` of an algorithm.
    Either,
    /// A disjunct inside an action.
    Disjunct,
    Then,
    Else,
    /// The body of a `while`.
    Loop,
}

/// A branch of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// The action: for PlusCal the label.
    pub action: String,
    pub kind: BranchKind,
    /// Where it begins: for PlusCal its first statement.
    pub place: Place,
    /// The comment at its beginning, or the macro or procedure that it calls first, or its first words.
    pub name: String,
}

impl Branch {
    /// One line for a list: ``Act, line 21: burn (alternative of `either`)``.
    pub fn description(&self) -> String {
        let kind = match self.kind {
            BranchKind::Either => "alternative of `either`",
            BranchKind::Disjunct => "disjunct",
            BranchKind::Then => "`then`",
            BranchKind::Else => "`else`",
            BranchKind::Loop => "body of `while`",
        };
        let Self { action, place: Place { line, .. }, name, .. } = self;
        format!("{action}, line {line}: {name} ({kind})")
    }
}

/// The branches of all actions after a complete search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BranchCoverage {
    /// Number of branches that were searched for.
    pub searched: usize,
    /// Branches that no reachable step takes. Those inside of such a branch, or of an action that is never taken, are
    /// not listed, nor is an `else` that does nothing.
    pub never_taken: Vec<Branch>,
    /// Branches of which the search did not decide whether a step takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Branch>,
}

impl BranchCoverage {
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Branch> {
        self.never_taken.iter_mut().chain(&mut self.undecided)
    }
}
