//! Ambiguities: a requirement breaks under the reading that an open point takes, so that the owner of the protocol has to
//! say which reading is meant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::same_point::{is_same_point, is_same_text};
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

    /// Whether it decides this open point, perhaps in other words.
    pub fn is_about(&self, point: &OpenPoint) -> bool {
        is_same_point(&self.open_point, point)
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
