//! The question that an ambiguity raises, and what is known under each reading.

use serde::Serialize;

use super::requirement_status::RequirementStatus;
use super::revision::Revision;
use super::specification::Specification;
use super::view::RunView;
use crate::prompt::OpenPoint;

/// The question that an ambiguity raises, with what is known under each reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    pub open_point: OpenPoint,
    /// The requirement that breaks under the first reading.
    pub requirement: String,
    /// What the model took first, and the other reading.
    pub readings: [Reading; 2],
}

/// One reading of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The answer that chooses it: `a` or `b`.
    pub answer: char,
    pub reading: String,
    /// The revision that takes it; `None` if none does.
    pub revision: Option<u32>,
    /// The status of the requirement in that revision.
    #[serde(flatten)]
    pub status: Option<RequirementStatus>,
    /// Number of states of the counterexample, if the requirement breaks and has one.
    pub states: Option<usize>,
}

impl RunView {
    /// The open point on which the claim of the last review rests, unless a person has decided it.
    pub fn claimed_open_point(&self) -> Option<&OpenPoint> {
        let flaw = self.reviews.last.as_ref()?.flaw.as_ref()?;
        flaw.steps.iter().filter_map(|step| step.open_point.as_deref()).find_map(|id| self.undecided_open_point(id))
    }

    /// The open point with this number, unless a person has decided it.
    pub fn undecided_open_point(&self, id: &str) -> Option<&OpenPoint> {
        let Specification { open_points, answers, .. } = &self.specification;
        let is_answered = |point: &OpenPoint| answers.iter().any(|answer| answer.is_about(point));
        open_points.iter().find(|point| point.id == id).filter(|point| !is_answered(point))
    }

    /// The question of the nearest ambiguity among a revision and those that led to it.
    pub fn question(&self, revision: u32) -> Option<Question> {
        let line = self.lineage(revision);
        let ambiguity = line.iter().rev().find_map(|known| self.reviews.ambiguities.get(&known.revision))?;
        let first = line.iter().find(|known| known.revision == ambiguity.revision)?;
        let other = line.iter().rfind(|known| known.revision > ambiguity.revision && known.other_reading);
        let reading = |answer, reading: &str, revision: Option<&Revision>| Reading {
            answer,
            reading: reading.to_owned(),
            revision: revision.map(|revision| revision.revision),
            status: revision.and_then(|revision| {
                let mut results = self.results_of(revision).into_iter();
                results.find(|result| result.requirement.id == ambiguity.requirement).map(|result| result.status)
            }),
            states: revision
                .and_then(|revision| revision.check.as_ref()?.counterexample_to(&ambiguity.property))
                .map(|trace| trace.steps.len()),
        };
        let OpenPoint { taken, otherwise, .. } = &ambiguity.open_point;
        Some(Question {
            open_point: ambiguity.open_point.clone(),
            requirement: ambiguity.requirement.clone(),
            readings: [reading('a', taken, Some(first)), reading('b', otherwise, other.copied())],
        })
    }
}
