//! What the embedded checker and its child exchange for a run that continues after violations: the task, and the lines
//! that name violated properties. A specification cannot forge such a line: what it prints is a value, and none begins
//! with [`LINE_PREFIX`].

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Prefix of the marker's value if the child runs past violations.
pub(super) const PREFIX: &str = "past-violations:";

/// Prefix of the line for a violated property, which ends with its name.
pub(super) const LINE_PREFIX: &str = "tlaforge: violated: ";

/// The child reads it from standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// The main module, in the folder of the child.
    pub(super) spec: PathBuf,
    pub(super) cfg: PathBuf,
    /// Folder for what exceeds the two limits of memory.
    pub(super) meta: PathBuf,
    /// Memory for the states to explore.
    pub(super) queue_mib: u64,
    /// Memory for the fingerprints of known states.
    pub(super) fingerprints_mib: u64,
}

impl Task {
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Only a path that is not UTF-8 fails; the child then reports an incomplete task.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// The violated properties in the order of the output.
pub(super) fn parse(stdout: &str) -> Vec<String> {
    stdout.lines().filter_map(|line| line.strip_prefix(LINE_PREFIX)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_of_the_child_name_properties() {
        let stdout = "\"tlaforge: violated: A\"\n<<\"tlaforge: violated: B\">>\ntlaforge: violated: Inv\n\
                      x tlaforge: violated: C\ntlaforge: violated: Step\n";
        assert_eq!(parse(stdout), ["Inv", "Step"]);
    }
}
