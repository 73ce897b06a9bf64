//! What a node makes: artifacts, facts, feedback for other nodes, and an event for the state machine.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rank::RevisionRank;
use crate::journal::Sha;
use crate::pipeline::machine::{ApprovalFacts, Event as Step, FlawFacts, NodeName, Review};
use crate::prompt::Requirement;
use crate::tla::Diagnostic;

/// Something that a node has to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feedback {
    /// The node.
    pub node: NodeName,
    /// Where it comes from: `diagnostics`, `review`, `guard`, `unreadable`, `second reading`.
    pub from: String,
    /// In words.
    pub text: String,
}

impl Feedback {
    /// Where a flaw comes from with which the second reader agreed.
    pub const CONFIRMED_FLAW: &str = "a flaw of the documented protocol, confirmed";

    /// Whether this is a flaw with which the second reader agreed.
    pub fn is_confirmed_flaw(&self) -> bool {
        self.from == Self::CONFIRMED_FLAW
    }
}

/// Lines of the documents, trimmed, by the place that a review gives for them: `docs/swap.md, line 12`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Quotes(pub BTreeMap<String, String>);

impl Quotes {
    /// Whether nothing is quoted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place, with what stands there where that is known.
    pub fn cite(&self, file: &str, line: usize) -> String {
        let place = Self::place(file, line);
        match self.0.get(&place) {
            Some(text) => format!("{place}: \"{text}\""),
            None => place,
        }
    }

    /// How a place is written.
    pub fn place(file: &str, line: usize) -> String {
        format!("{file}, line {line}")
    }
}

/// What a node found out, for those who come after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Facts {
    /// Nothing that is not in the artifacts.
    Nothing,
    /// Of an informal specification.
    Informal {
        /// Its requirements.
        requirements: Vec<Requirement>,
        /// The concerns that were left out.
        other_concerns: Vec<String>,
    },
    /// Of a parse that failed.
    Rejected {
        /// What the tools said.
        diagnostics: Vec<Diagnostic>,
    },
    /// Of properties merged and parsed.
    Merged {
        /// Requirements by property.
        covers: BTreeMap<String, Vec<String>>,
    },
    /// Of a review.
    Reviewed {
        /// The review.
        review: Box<Review>,
        /// What the approval guard saw.
        approval: Box<ApprovalFacts>,
        /// What the flaw guard saw, where a flaw was claimed.
        flaw: Option<Box<FlawFacts>>,
        /// How this revision compares.
        rank: RevisionRank,
        /// The lines of the documents that it cites, as they stand there.
        #[serde(default, skip_serializing_if = "Quotes::is_empty")]
        quotes: Quotes,
    },
    /// Of a review that could not be read.
    ReviewUnreadable {
        /// What the approval guard saw.
        approval: Box<ApprovalFacts>,
        /// How this revision compares.
        rank: RevisionRank,
    },
    /// Of the second reading.
    SecondRead {
        /// Whether it agrees.
        agrees: bool,
        /// Its reason.
        why: String,
    },
}

/// What a node made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Product {
    /// What happened, for the machine.
    pub event: Step,
    /// Artifacts that are now the current ones, by file name.
    pub artifacts: BTreeMap<String, Sha>,
    /// What is to be mended, by whom.
    pub feedback: Vec<Feedback>,
    /// What was found out.
    pub facts: Facts,
}
