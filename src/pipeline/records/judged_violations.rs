//! What the review and the second readers made of each violated property of a revision.

use serde::Serialize;

use super::product::{FurtherClaim, FurtherReading};
use super::revision::Revision;
use super::view::RunView;
use crate::pipeline::machine::{Blame, NodeName, ReviewVerdict};
use crate::tla::CheckOutcome;

/// A violated property with what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedViolation {
    pub property: String,
    #[serde(flatten)]
    pub judgement: ViolationJudgement,
}

/// What a violation means, as the review and a second reader see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "judgement", rename_all = "snake_case")]
pub enum ViolationJudgement {
    /// The protocol as documented breaks a requirement; a second reader agrees.
    Flaw { why: String },
    /// A requirement breaks only under the reading that an open point takes; a second reader agrees.
    Ambiguity { open_point: String, why: String },
    /// It is claimed to be a flaw, and the guard or a second reader refused the claim.
    ClaimRefused { why: String },
    /// It is claimed to be a flaw, and no second reading decides it.
    ClaimUndecided { why: String },
    /// The module does not say what the documents say.
    SpecificationWrong { why: String },
    /// The property says more than its requirement.
    PropertyWrong { why: String },
    /// The requirement, as the informal specification words it, says more than the documents.
    RequirementWrong { why: String },
    /// It is a contract, and says of a step what the documents do not say.
    ContractWrong { why: String },
    /// It is a contract, and the documents allow what it says and what the module does.
    BothAllowed { why: String },
    /// An issue of the review names it and blames neither module nor property nor requirement.
    SentBack { node: NodeName, why: String },
    /// Neither an issue nor a second reading decides it.
    NotJudged,
}

impl ViolationJudgement {
    /// For readers, in one line.
    pub fn words(&self) -> String {
        match self.why() {
            "" => self.short_words(),
            why => format!("{}: {why}", self.short_words()),
        }
    }

    /// For readers, without the reason.
    pub fn short_words(&self) -> String {
        match self {
            Self::Flaw { .. } => "a flaw of the protocol, as a second reader confirms".to_owned(),
            Self::Ambiguity { open_point, .. } => {
                format!("a flaw only under the reading of {open_point}, as a second reader confirms")
            }
            Self::ClaimRefused { .. } => "claimed as a flaw, and refused".to_owned(),
            Self::ClaimUndecided { .. } => "claimed as a flaw, and not decided".to_owned(),
            Self::SpecificationWrong { .. } => "the review blames the module".to_owned(),
            Self::PropertyWrong { .. } => "the review blames the property".to_owned(),
            Self::RequirementWrong { .. } => "the review blames the wording of the requirement".to_owned(),
            Self::ContractWrong { .. } => "the review blames the contract".to_owned(),
            Self::BothAllowed { .. } => "the documents allow both readings, as the review says".to_owned(),
            Self::SentBack { node, .. } => format!("an issue of the review, for {node}, names it"),
            Self::NotJudged => "not judged".to_owned(),
        }
    }

    /// The reason in the words of the reviewer or reader; empty if there is none.
    pub fn why(&self) -> &str {
        match self {
            Self::Flaw { why }
            | Self::Ambiguity { why, .. }
            | Self::ClaimRefused { why }
            | Self::ClaimUndecided { why }
            | Self::SpecificationWrong { why }
            | Self::PropertyWrong { why }
            | Self::RequirementWrong { why }
            | Self::ContractWrong { why }
            | Self::BothAllowed { why }
            | Self::SentBack { why, .. } => why,
            Self::NotJudged => "",
        }
    }
}

impl RunView {
    /// The violated properties of a closed revision, each judged on its own, in the order of the check.
    pub fn judged_violations(&self, revision: &Revision) -> Vec<JudgedViolation> {
        let names = revision.check.iter().flat_map(CheckOutcome::violated_names);
        let judged =
            |name: &str| JudgedViolation { property: name.to_owned(), judgement: self.judge_violation(revision, name) };
        names.map(judged).collect()
    }

    fn judge_violation(&self, revision: &Revision, name: &str) -> ViolationJudgement {
        let number = revision.revision;
        let is_it = |property: &str| property.eq_ignore_ascii_case(name);
        let claims = self.reviews.claims_of(number);
        let main_reading = claims.and_then(|claims| claims.second_reading.clone());
        let main_why = || main_reading.clone().map(|(_, why)| why).unwrap_or_default();
        if self.reviews.confirmed_flaw(number).is_some_and(|flaw| is_it(&flaw.property)) {
            return ViolationJudgement::Flaw { why: main_why() };
        }
        if let Some(ambiguity) = self.reviews.ambiguities.get(&number).filter(|ambiguity| is_it(&ambiguity.property)) {
            return ViolationJudgement::Ambiguity {
                open_point: ambiguity.open_point.id.clone(),
                why: ambiguity.why.clone(),
            };
        }
        let readings = claims.map(|claims| claims.further_readings.as_slice()).unwrap_or_default();
        if let Some(FurtherReading { agrees, why, open_point, .. }) = readings.iter().find(|r| is_it(&r.property)) {
            let why = why.clone();
            return match (agrees, open_point) {
                (Some(true), Some(point)) => ViolationJudgement::Ambiguity { open_point: point.id.clone(), why },
                (Some(true), None) => ViolationJudgement::Flaw { why },
                (Some(false), _) => {
                    ViolationJudgement::ClaimRefused { why: format!("the second reader disagrees: {why}") }
                }
                (None, _) => ViolationJudgement::ClaimUndecided { why },
            };
        }
        let Some(review) = self.reviews.last_of(number) else { return ViolationJudgement::NotJudged };
        let further = claims.map(|claims| claims.further.as_slice()).unwrap_or_default();
        if let Some(FurtherClaim { facts, refused_by }) = further.iter().find(|c| is_it(&c.facts.property)) {
            return match refused_by {
                Some(clause) => ViolationJudgement::ClaimRefused { why: clause.words(facts) },
                None => ViolationJudgement::ClaimUndecided { why: "no second reader was asked about it".to_owned() },
            };
        }
        let claimed = review.flaw.as_ref().filter(|_| review.verdict == ReviewVerdict::Flaw);
        if claimed.is_some_and(|flaw| is_it(&flaw.property)) {
            return ViolationJudgement::ClaimRefused {
                why: if main_reading.is_some() { main_why() } else { revision.why.clone() },
            };
        }
        let issue = review.issues.iter().find(|issue| issue.mentions(name));
        issue.map_or(ViolationJudgement::NotJudged, |issue| {
            let why = issue.description.clone();
            match (issue.blame, issue.node()) {
                (Some(Blame::Contract), _) => ViolationJudgement::ContractWrong { why },
                (Some(Blame::Documents), _) => ViolationJudgement::BothAllowed { why },
                (Some(Blame::Requirement), _) | (None, NodeName::InformalSpec) => {
                    ViolationJudgement::RequirementWrong { why }
                }
                (Some(Blame::Invariant), _) | (None, NodeName::GenerateInvariants) => {
                    ViolationJudgement::PropertyWrong { why }
                }
                _ => ViolationJudgement::SpecificationWrong { why },
            }
        })
    }
}
