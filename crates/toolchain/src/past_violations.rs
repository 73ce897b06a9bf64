//! What the embedded checker and its child exchange for a search: the task, and the lines that name violated properties
//! in a run that continues after violations. A specification cannot forge such a line: what it prints is a value, and none begins
//! with [`VIOLATED_PREFIX`] or [`UNDECIDED_PREFIX`], or is [`TOO_MANY_STATES`].

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::core_program::Source;

/// Prefix of the marker's value if the child runs past violations.
pub(super) const PREFIX: &str = "past-violations:";

/// Prefix of the line for a violated property, followed by [`Violated::depth`] and its name.
pub(super) const VIOLATED_PREFIX: &str = "tlaforge: violated: ";

/// Prefix of the line for a selected invariant that could not be evaluated, which ends with its name.
pub(super) const UNDECIDED_PREFIX: &str = "tlaforge: undecided: ";

/// The line of a run that ended at a limit of [`Continues::AfterAny`].
pub(super) const TOO_MANY_STATES: &str = "tlaforge: too many states";

/// The remark if the constraints are true in every state that the search has met.
pub(super) const NOTHING_CUT_OFF: &str = "tlaforge: the constraints cut off no state";

/// After which violations a run continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Continues {
    /// After that of any invariant or action property.
    AfterAny {
        /// Number of distinct states at which the run ends undecided; `None` for no limit.
        max_states: Option<u64>,
        /// Number of steps from an initial state at which the run ends undecided; `None` for no limit.
        max_depth: Option<u64>,
        /// Whether the run ends once each of them was found violated.
        ends_after_all: bool,
    },
    /// After that of these invariants, the negations of witnesses. If one cannot be evaluated, only it is undecided.
    AfterInvariants {
        names: BTreeSet<String>,
        /// Whether the run ends once each of them was found violated.
        ends_after_all: bool,
    },
}

/// The child reads it from standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) source: Source,
    pub(super) workers: usize,
    /// Folder for what exceeds the two limits of memory.
    pub(super) meta: PathBuf,
    /// Memory for the states to explore.
    pub(super) queue_mib: u64,
    /// Memory for the fingerprints of known states.
    pub(super) fingerprints_mib: u64,
    /// `None` for a run that ends at the first violation.
    pub(super) continues: Option<Continues>,
}

impl Task {
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Only a path that is not UTF-8 fails; the child then reports an incomplete task.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A property that a run found violated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Violated {
    pub(super) name: String,
    /// Number of states of a shortest path to a state that violates the invariant.
    pub(super) depth: usize,
}

/// The violated properties in the order of the output.
pub(super) fn parse(stdout: &str) -> Vec<Violated> {
    let parse_line = |line: &str| {
        let (depth, name) = line.strip_prefix(VIOLATED_PREFIX)?.split_once(' ')?;
        Some(Violated { name: name.to_owned(), depth: depth.parse().ok()? })
    };
    stdout.lines().filter_map(parse_line).collect()
}

/// The selected invariants that could not be evaluated.
pub(super) fn parse_undecided(stdout: &str) -> BTreeSet<String> {
    stdout.lines().filter_map(|line| line.strip_prefix(UNDECIDED_PREFIX)).map(str::to_owned).collect()
}

/// Whether the run ended at its limit of states.
pub(super) fn found_too_many_states(stdout: &str) -> bool {
    stdout.lines().any(|line| line == TOO_MANY_STATES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_of_the_child_name_properties() {
        let stdout = "\"tlaforge: violated: 1 A\"\n<<\"tlaforge: violated: 1 B\">>\ntlaforge: violated: 4 Inv\n\
                      x tlaforge: violated: 1 C\ntlaforge: undecided: Other\ntlaforge: violated: 12 Step\n";
        let violated: Vec<_> = parse(stdout).into_iter().map(|violated| (violated.name, violated.depth)).collect();
        assert_eq!(violated, [("Inv".to_owned(), 4), ("Step".to_owned(), 12)]);
        assert_eq!(parse_undecided(stdout), ["Other".to_owned()].into());
    }
}
