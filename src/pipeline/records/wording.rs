//! What a requirement says, for comparison.

use crate::prompt::Requirement;

/// The text of a requirement with single spaces: line breaks do not change what it says.
pub(super) fn wording(requirement: &Requirement) -> String {
    requirement.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The wording of a requirement with the place that it cites: the same words about another passage are another
/// requirement.
pub(super) fn wording_with_place(requirement: &Requirement) -> String {
    let place = requirement.place.as_deref().unwrap_or("no place given");
    let place: Vec<&str> = place.split_whitespace().collect();
    format!("{} [{}]", wording(requirement), place.join(" "))
}
