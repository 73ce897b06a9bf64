//! The formalizations that were drafted side by side.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use crate::pipeline::{Candidate, Candidates, Chosen};

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

/// What an event of a candidate, or of the choice among them, says.
pub fn candidate_event(name: &str, data: &Value) -> String {
    let candidate = &data["candidate"];
    let text = |field: &str| data[field].as_str().unwrap_or("?").to_owned();
    match name {
        "candidate_started" => format!("candidate {candidate} begins"),
        "leader_told" => format!("candidate {candidate} leads: properties for it"),
        "quickly_checked" => format!("quick check: {}", text("verdict")),
        "candidate_finished" => match Candidate::deserialize(data) {
            Ok(one) => one.words(),
            Err(_) => "candidate finished".to_owned(),
        },
        "candidate_received" => format!("receives candidate {candidate} ({} points)", data["points"]),
        "candidate_given_up" => format!("candidate {candidate} gave nothing: {}", text("why")),
        "leaders_named" => format!("properties for candidates {}", data["leaders"]),
        _ => {
            Chosen::deserialize(data).map_or_else(|_| "chooses a candidate".to_owned(), |chosen| chosen_words(&chosen))
        }
    }
}

/// The choice among them in a line.
fn chosen_words(chosen: &Chosen) -> String {
    let Chosen { chosen: number, missing, why, .. } = chosen;
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let without = if missing.is_empty() { String::new() } else { format!(", without {}", missing.join(", ")) };
    format!("chooses candidate {number}{without}: {why}")
}
