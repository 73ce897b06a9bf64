//! What a node makes: artifacts, facts, feedback for other nodes, and an event for the state machine.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rank::RevisionRank;
use crate::journal::Sha;
use crate::pipeline::machine::{ApprovalFacts, Event as Step, FlawClause, FlawFacts, FlawStep, NodeName, Review};
use crate::prompt::{Assumption, FixedNames, NormativeSentence, OpenPoint, Requirement};
use crate::tla::{Diagnostic, StepContract};

/// Something that a node has to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feedback {
    pub node: NodeName,
    /// The source: `diagnostics`, `review`, `guard`, `unreadable`, `second reading`.
    pub from: String,
    pub text: String,
}

impl Feedback {
    /// The source of a flaw that the second reader confirmed.
    pub const CONFIRMED_FLAW: &str = "a flaw of the documented protocol, confirmed";
    /// The source of the task to take the other reading of an open point.
    pub const OTHER_READING: &str = "a requirement breaks under the reading of an open point";

    /// The source of what is left to mend of an answer that was used otherwise.
    pub const REST_OF_AN_ANSWER: &str = "what is left to mend of your last answer";

    pub fn is_rest_of_an_answer(&self) -> bool {
        self.from == Self::REST_OF_AN_ANSWER
    }

    /// The source of the task to take a reading that the owner of the protocol decided.
    pub const DECISION: &str = "the owner of the protocol answered an open point";

    pub fn is_decision(&self) -> bool {
        self.from == Self::DECISION
    }

    /// Whether it is an issue of a review.
    pub fn is_review_issue(&self) -> bool {
        self.from.starts_with("review (")
    }

    pub fn is_confirmed_flaw(&self) -> bool {
        self.from == Self::CONFIRMED_FLAW
    }

    pub fn is_other_reading(&self) -> bool {
        self.from == Self::OTHER_READING
    }
}

/// Sentences of the documents by the place that a review or a requirement cites: `docs/swap.md, line 12`, or
/// `docs/swap.md:3-5, docs/rest.md:9`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Quotes(pub BTreeMap<String, String>);

impl Quotes {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The line, with the sentence that it is part of if that is known.
    pub fn cite(&self, file: &str, line: usize) -> String {
        self.cite_place(Self::place(file, line))
    }

    /// Everything that a step cites.
    pub fn cite_step(&self, step: &FlawStep) -> Vec<String> {
        let line = (!step.file.is_empty()).then(|| self.cite(&step.file, step.line));
        let further = step.also.iter().map(|place| self.cite_place(place.clone()));
        let reading =
            step.open_point.iter().map(|id| format!("they leave this open: {id} takes the reading that grants it"));
        line.into_iter().chain(further).chain(reading).collect()
    }

    fn cite_place(&self, place: String) -> String {
        match self.0.get(&place) {
            Some(text) => format!("{place}: \"{text}\""),
            None => place,
        }
    }

    pub fn place(file: &str, line: usize) -> String {
        format!("{file}, line {line}")
    }
}

/// What a node found out, for later nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Facts {
    /// The artifacts say everything.
    Nothing,
    Informal {
        requirements: Vec<Requirement>,
        /// Questions that the documents leave open.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open_points: Vec<OpenPoint>,
        /// What the model takes for granted or leaves out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        assumptions: Vec<Assumption>,
        /// The sentences of the documents that demand something, and how the informal specification accounts for each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        normative_sentences: Vec<NormativeSentence>,
        /// The names that the documents fix for the specification.
        #[serde(default, skip_serializing_if = "FixedNames::is_empty")]
        names: FixedNames,
        /// Concerns that the informal specification leaves out.
        other_concerns: Vec<String>,
    },
    /// A parse failed.
    Rejected { diagnostics: Vec<Diagnostic> },
    /// The module was translated and parsed, and it declares the names that it has to.
    Validated {
        /// What a verdict would rest on: fairness, assumptions, assertions, instances.
        texts: BTreeMap<String, String>,
    },
    /// Contracts were added to the specification, or it has no steps that could have one.
    Contracted {
        /// Requirements by property.
        covers: BTreeMap<String, Vec<String>>,
        /// See [`Facts::Merged`].
        texts: BTreeMap<String, String>,
        contracts: Vec<StepContract>,
    },
    /// Properties were merged and parsed.
    Merged {
        /// Requirements by property.
        covers: BTreeMap<String, Vec<String>>,
        /// What a verdict would rest on, as a check of the same files journals it.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        texts: BTreeMap<String, String>,
    },
    Reviewed {
        review: Box<Review>,
        /// The facts of the approval guard.
        approval: Box<ApprovalFacts>,
        /// The facts of the flaw guard, if a flaw was claimed.
        flaw: Option<Box<FlawFacts>>,
        /// The other claims of flaws.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        further: Vec<FurtherClaim>,
        /// The rank of this revision.
        rank: RevisionRank,
        /// The sentences of the documents that the review and the broken requirements cite.
        #[serde(default, skip_serializing_if = "Quotes::is_empty")]
        quotes: Quotes,
    },
    ReviewUnreadable {
        /// The facts of the approval guard.
        approval: Box<ApprovalFacts>,
        /// The rank of this revision.
        rank: RevisionRank,
    },
    SecondRead {
        /// Whether a claim is confirmed: the main one, or else a further one.
        agrees: bool,
        why: String,
        /// The main claim, if the run rests on a further one instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaced: Option<Box<ReplacedClaim>>,
        /// If a step is granted only by the reading that an open point takes: that open point.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        open_point: Option<OpenPoint>,
        /// The second readings of the other claims.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        further: Vec<FurtherReading>,
    },
}

/// A claim beside the one that the run rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherClaim {
    /// The facts of the flaw guard.
    pub facts: FlawFacts,
    /// The clause that refuses it; such a claim has no second reading.
    pub refused_by: Option<FlawClause>,
}

/// The second reading of a further claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherReading {
    /// The requirement that the claim says is broken.
    pub requirement: String,
    /// The violated property.
    pub property: String,
    /// `None` if the answer could not be read.
    pub agrees: Option<bool>,
    pub why: String,
    /// If a step is granted only by the reading that an open point takes: that open point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_point: Option<OpenPoint>,
}

/// A main claim in whose place a further one was confirmed as a flaw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplacedClaim {
    /// The property of the further claim.
    pub by: String,
    /// The second reading of the main claim.
    pub reading: FurtherReading,
}

impl FurtherReading {
    /// Whether the claim is confirmed as a flaw under every reading.
    pub fn is_flaw(&self) -> bool {
        self.agrees == Some(true) && self.open_point.is_none()
    }
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Product {
    /// The event for the state machine.
    pub event: Step,
    /// New artifacts by file name.
    pub artifacts: BTreeMap<String, Sha>,
    pub feedback: Vec<Feedback>,
    pub facts: Facts,
}
