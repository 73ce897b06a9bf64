//! The question that an ambiguity raises, and what is known under each reading.

use serde::Serialize;

use super::ambiguity::Decision;
use super::product::{Feedback, FurtherReading};
use super::requirement_status::RequirementStatus;
use super::revision::Revision;
use super::same_point::{is_same_point, is_same_text, takes_other_reading};
use super::specification::Specification;
use super::view::RunView;
use crate::pipeline::machine::{Flaw, Outcome};
use crate::prompt::{OpenPoint, Requirement};

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
    /// What chooses it: `a` or `b`.
    pub choice: char,
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
    /// The open point on which the claim of the last review rests, unless the owner of the protocol decided it.
    pub fn claimed_open_point(&self) -> Option<&OpenPoint> {
        self.open_point_of(self.reviews.last.as_ref()?.flaw.as_ref()?)
    }

    /// The open point on which a claim rests, unless the owner of the protocol decided it.
    pub fn open_point_of(&self, flaw: &Flaw) -> Option<&OpenPoint> {
        flaw.steps.iter().filter_map(|step| step.open_point.as_deref()).find_map(|id| self.undecided_open_point(id))
    }

    /// The further claim that can take the place of the main one: the first that the guard did not refuse, whose second
    /// reading confirms it as a flaw, and that rests on no open point.
    pub fn confirmed_further_claim<'a>(
        &'a self,
        readings: &'a [FurtherReading],
    ) -> Option<(&'a Flaw, &'a FurtherReading)> {
        let review = self.reviews.last.as_ref()?;
        let claims = self.reviews.claims_of(self.rev)?;
        let is_accepted = |property: &str| {
            claims.further.iter().any(|claim| claim.facts.property == property && claim.refused_by.is_none())
        };
        readings.iter().filter(|reading| reading.is_flaw() && is_accepted(&reading.property)).find_map(|reading| {
            let flaw = review.further_flaws.iter().find(|flaw| flaw.property == reading.property)?;
            self.open_point_of(flaw).is_none().then_some((flaw, reading))
        })
    }

    /// The open point with this number, unless its reading is the decided one.
    pub fn undecided_open_point(&self, id: &str) -> Option<&OpenPoint> {
        let Specification { open_points, decisions, .. } = &self.specification;
        let is_decided = |point: &OpenPoint| decisions.iter().any(|decision| decision.is_followed_by(point));
        open_points.iter().find(|point| point.id == id).filter(|point| !is_decided(point))
    }

    /// Whether a step of a claim may rest on this open point: it has a place and two readings, and no decision contradicts
    /// it; or it is a decided one that the informal specification lists no longer.
    pub fn can_grant_steps(&self, id: &str) -> bool {
        let Specification { open_points, decisions, .. } = &self.specification;
        match open_points.iter().find(|point| point.id == id) {
            Some(point) => {
                let is_complete =
                    point.place.is_some() && point.misplaced.is_none() && point.missing_parts().is_empty();
                is_complete && !decisions.iter().any(|decision| decision.is_contradicted_by(point))
            }
            None => decisions.iter().any(|decision| decision.open_point.id == id),
        }
    }

    /// The question that the run ends with, or that it is trying the other reading of.
    pub fn open_question(&self) -> Option<Question> {
        match &self.finished {
            Some(finished) if finished.outcome == Outcome::AmbiguityFound => self.question(finished.best?),
            Some(finished) if finished.outcome != Outcome::Stopped => None,
            _ if self.state.other_reading => self.question(self.parent?),
            _ => None,
        }
    }

    /// The open points of which a task in the feedback says what becomes of them: their readings are exchanged, or the owner
    /// of the protocol decided them.
    pub fn settled_open_points(&self) -> Vec<OpenPoint> {
        let Specification { open_points, decisions, feedback, .. } = &self.specification;
        let mut settled = Vec::new();
        if feedback.iter().any(Feedback::is_other_reading) {
            settled.extend(self.parent.and_then(|parent| self.question(parent)).map(|question| question.open_point));
        }
        if feedback.iter().any(Feedback::is_decision) {
            settled.extend(decisions.iter().map(|decision| decision.open_point.clone()));
        }
        let keeps_its_number = |point: &OpenPoint| {
            open_points.iter().find(|known| known.id == point.id).is_none_or(|known| is_same_point(known, point))
        };
        settled.retain(keeps_its_number);
        settled
    }

    /// Whether a revision takes the reading that was decided.
    pub fn takes_decision(&self, revision: &Revision, decision: &Decision) -> bool {
        let tried = self.question(revision.revision).filter(|question| decision.is_about(&question.open_point));
        let of_question = tried.iter().flat_map(|question| &question.readings);
        revision.open_points.iter().any(|point| decision.is_followed_by(point))
            || of_question.into_iter().any(|reading| {
                reading.revision == Some(revision.revision) && is_same_text(&reading.reading, &decision.reading)
            })
    }

    /// The question whose other reading the specification in work takes.
    pub fn tried_question(&self) -> Option<Question> {
        let question = self.parent.filter(|_| self.state.other_reading).and_then(|parent| self.question(parent))?;
        exchanges(&self.specification.open_points, &question.open_point).then_some(question)
    }

    /// The question that led to this revision, or that it raised.
    pub fn question(&self, revision: u32) -> Option<Question> {
        let line = self.lineage(revision);
        // The other reading may be ambiguous again; the question is about the first reading.
        let tries_other = line.iter().rev().take_while(|known| known.other_reading).count();
        let (before, others) = line.split_at(line.len() - tries_other);
        let first = before.last()?;
        let ambiguity = self.reviews.ambiguities.get(&first.revision)?;
        let takes_other = |known: &&&Revision| !known.repaired && exchanges(&known.open_points, &ambiguity.open_point);
        let other = others.iter().rev().find(takes_other).copied();
        let requirement = self.requirement_of(first, &ambiguity.requirement);
        let reading = |choice, reading: &str, revision: Option<&Revision>| Reading {
            choice,
            reading: reading.to_owned(),
            revision: revision.map(|revision| revision.revision),
            status: revision.and_then(|revision| {
                let mut results = self.results_of(revision).into_iter();
                let is_same = |known: &Requirement| {
                    requirement.as_ref().is_some_and(|first| {
                        known.id == first.id && (known.place == first.place || is_same_text(&known.text, &first.text))
                    })
                };
                results.find(|result| is_same(&result.requirement)).map(|result| result.status)
            }),
            states: revision.and_then(|revision| revision.check.as_ref()).and_then(|check| {
                let property = check.violated_name(&ambiguity.property)?;
                Some(check.counterexample_to(property)?.steps.len())
            }),
        };
        let OpenPoint { taken, otherwise, .. } = &ambiguity.open_point;
        Some(Question {
            open_point: ambiguity.open_point.clone(),
            requirement: ambiguity.requirement.clone(),
            readings: [reading('a', taken, Some(first)), reading('b', otherwise, other)],
        })
    }

    fn requirement_of(&self, revision: &Revision, id: &str) -> Option<Requirement> {
        let mut results = self.results_of(revision).into_iter();
        results.find(|result| result.requirement.id == id).map(|result| result.requirement)
    }
}

/// Whether one of the open points is `first` with the other reading taken.
fn exchanges(points: &[OpenPoint], first: &OpenPoint) -> bool {
    points.iter().find(|point| is_same_point(point, first)).is_some_and(|point| takes_other_reading(point, first))
}
