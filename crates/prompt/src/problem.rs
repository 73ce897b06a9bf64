//! The result of reading an answer: a value with notes on what was corrected, or a problem in words for the model.

use serde::{Deserialize, Serialize};

/// A problem that makes an answer unreadable, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The description, with a quotation.
    pub what: String,
}

impl Problem {
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }

    /// Several mistakes as one problem, so that the model mends all of them at once.
    pub fn of_mistakes(mistakes: &[String]) -> Self {
        match mistakes {
            [one] => Self::new(one.clone()),
            all => Self::new(format!("mend all of these:\n\n- {}", all.join("\n- "))),
        }
    }
}

/// A value that was read from an answer, and the corrections that reading it needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readable<T> {
    pub value: T,
    /// The corrections in words; empty if the answer had the required form.
    pub normalised: Vec<String>,
}

/// The first line of a text, quoted and cut to 80 characters.
pub(super) fn quote(text: &str) -> String {
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim();
    let short: String = line.chars().take(80).collect();
    if short.len() < line.len() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
}
