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
        let given_up = candidates.abandoned.get(&number);
        let late = match given_up {
            Some(given_up) => format!("; no properties: {}", first_line(&given_up.why)),
            None if chosen.is_some_and(|chosen| chosen.missing.contains(&number)) => ", came too late".to_owned(),
            None => String::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "      candidate {number}: {}{goes_on}{late}", one.words());
    }
    for (number, given_up) in &candidates.abandoned {
        if candidates.all.iter().all(|one| one.candidate != *number) {
            let _ = writeln!(text, "      candidate {number}: nothing came of it: {}", first_line(&given_up.why));
        }
    }
    for number in &candidates.unfinished {
        let _ = writeln!(text, "      candidate {number}: on its way");
    }
    text
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The choice among them in a line.
pub(super) fn chosen_words(chosen: &Chosen) -> String {
    let Chosen { chosen: number, missing, why, .. } = chosen;
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let without = if missing.is_empty() { String::new() } else { format!(", without {}", missing.join(", ")) };
    format!("chooses candidate {number}{without}: {why}")
}
