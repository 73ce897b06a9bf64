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

/// A reading of an open point that a person decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The open point, as it was when it was answered.
    pub open_point: OpenPoint,
    /// The reading that holds.
    pub reading: String,
}

impl Answer {
    /// Whether it answers this open point, which a later informal specification may number otherwise.
    pub fn is_about(&self, point: &OpenPoint) -> bool {
        let same_id_and_place = self.open_point.id == point.id && self.open_point.place == point.place;
        same_id_and_place || self.open_point.question == point.question
    }
}
