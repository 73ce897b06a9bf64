//! The formalizations that were drafted side by side.

use std::fmt::Write as _;

use crate::pipeline::{Candidates, Chosen};

/// A line for each candidate of a revision, and which one went on.
pub(super) fn candidates_text(candidates: &Candidates) -> String {
    let mut text = String::new();
    let chosen = candidates.chosen.as_ref();
    for one in &candidates.all {
        let number = one.candidate;
        let goes_on = if chosen.is_some_and(|chosen| chosen.chosen == number) { ", goes on" } else { "" };
        let late = if chosen.is_some_and(|chosen| chosen.missing.contains(&number)) { ", came too late" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "      candidate {number}: {}{goes_on}{late}", one.words());
    }
    for (number, why) in &candidates.given_up {
        let _ = writeln!(text, "      candidate {number}: gave nothing: {}", why.lines().next().unwrap_or_default());
    }
    text
}

/// The choice among them in a line.
pub fn chosen_words(chosen: &Chosen) -> String {
    let Chosen { chosen: number, missing, why, .. } = chosen;
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let without = if missing.is_empty() { String::new() } else { format!(", without {}", missing.join(", ")) };
    format!("chooses candidate {number}{without}: {why}")
}
