//! Renders the candidates of a revision.

use std::fmt::Write as _;

use super::lines::writeln;
use crate::pipeline::{Candidates, Chosen};

/// One line per candidate, with a mark on the chosen one.
pub(super) fn candidates_text(candidates: &Candidates) -> String {
    let mut text = String::new();
    let chosen = candidates.chosen.as_ref();
    for one in &candidates.all {
        let number = one.candidate;
        let mark = if chosen.is_some_and(|chosen| chosen.chosen == number) { ", chosen" } else { "" };
        let given_up = candidates.abandoned.get(&number);
        let late = match given_up {
            Some(given_up) => format!("; no properties: {}", first_line(&given_up.why)),
            None if chosen.is_some_and(|chosen| chosen.missing.contains(&number)) => ", too late".to_owned(),
            None => String::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "      candidate {number}: {}{mark}{late}", one.words());
    }
    for (number, given_up) in &candidates.abandoned {
        if candidates.all.iter().all(|one| one.candidate != *number) {
            let _ = writeln!(text, "      candidate {number}: abandoned: {}", first_line(&given_up.why));
        }
    }
    for number in &candidates.unfinished {
        let _ = writeln!(text, "      candidate {number}: in progress");
    }
    text
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

pub(super) fn chosen_words(chosen: &Chosen) -> String {
    let Chosen { chosen: number, missing, why, .. } = chosen;
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let without = if missing.is_empty() { String::new() } else { format!(", without {}", missing.join(", ")) };
    format!("chooses candidate {number}{without}: {why}")
}
