//! What a requirement says, for comparison.

use crate::prompt::Requirement;

/// The text of a requirement with single spaces: line breaks do not change what it says.
pub(super) fn wording(requirement: &Requirement) -> String {
    requirement.text.split_whitespace().collect::<Vec<_>>().join(" ")
}
