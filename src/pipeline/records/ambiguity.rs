//! Ambiguities: a requirement breaks under the reading that an open point takes, so that the owner of the protocol has to
//! say which reading is meant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::OpenPoint;

/// A confirmed claim of which a step is granted only by the reading that an open point takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ambiguity {
    pub revision: u32,
    /// The requirement that breaks.
    pub requirement: String,
    /// The violated property.
    pub property: String,
    pub open_point: OpenPoint,
    /// What the second reader says.
    pub why: String,
}

/// A reading of an open point that the owner of the protocol chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// The open point, as it was when it was decided.
    pub open_point: OpenPoint,
    /// The reading that holds.
    pub reading: String,
}

impl Decision {
    /// For models and readers: the place, the question and what was decided.
    pub fn words(&self) -> String {
        format!("[{}] {} Decided: {}", self.open_point.place_words(), self.open_point.question, self.reading)
    }

    /// Whether it decides this open point. A number alone can belong to another point in a later informal specification.
    pub fn is_about(&self, point: &OpenPoint) -> bool {
        is_same_text(&self.open_point.question, &point.question)
    }

    /// Whether the open point takes the reading that was decided.
    pub fn is_followed_by(&self, point: &OpenPoint) -> bool {
        self.is_about(point) && is_same_text(&self.reading, &point.taken)
    }

    /// Whether the open point takes one of the two readings, and it is not the one that was decided.
    pub fn is_contradicted_by(&self, point: &OpenPoint) -> bool {
        let OpenPoint { taken, otherwise, .. } = &self.open_point;
        let is_known = is_same_text(taken, &point.taken) || is_same_text(otherwise, &point.taken);
        self.is_about(point) && is_known && !self.is_followed_by(point)
    }
}

/// Whether two texts are the same but for white space, case, marks of Markdown, and punctuation at the end, which models
/// change when they repeat a text. Signs inside count: `n < Max` and `n <= Max` are different readings.
pub(super) fn is_same_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let text = text.replace("**", "").replace('`', "").to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").trim_end_matches(['.', ',', ';', ':', '?', '!']).to_owned()
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_that_differ_in_a_sign_are_different() {
        assert!(is_same_text("Yes, `n`  below **Max**.", "yes, n below Max"));
        for (one, other) in [("n < Max", "n <= Max"), ("n < Max", "n > Max"), ("-1", "1"), ("{1, 2}", "12"), ("no", "")]
        {
            assert!(!is_same_text(one, other), "{one}, {other}");
        }
    }
}
