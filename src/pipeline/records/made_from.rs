//! What a run takes over from an earlier one whose documents have changed since (`resume --drift`): the texts of a revision,
//! as what to start from. None of them is evidence: the run drafts, checks and reviews as any other.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ambiguity::Decision;
use super::artifacts::{StoredFile, file};
use super::product::Feedback;
use crate::journal::Sha;
use crate::pipeline::machine::NodeName;
use crate::prompt::{Document, MovedCitations, Requirement};

/// The earlier revision that a run was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MadeFrom {
    /// The name of the folder of the earlier run.
    pub folder: String,
    /// The SHA-256 of the first line of its journal.
    pub run: Sha,
    pub revision: u32,
    /// The outcome of that revision.
    pub outcome: String,
    /// The documents of the earlier run.
    pub docs: Vec<StoredFile>,
    /// Texts of the revision by artifact name.
    pub texts: BTreeMap<String, Sha>,
    /// The same texts, with their citations moved to the new documents: what the run starts from.
    pub artifacts: BTreeMap<String, Sha>,
    /// The requirements of the revision, with moved citations.
    pub requirements: Vec<Requirement>,
    /// The parts whose cited text has changed, unless a person has accepted the change: `R6`, `step CarryOut`.
    pub concerned: Vec<String>,
    /// Documents that count as read, as paths below `docs/`; empty if all do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub read_documents: BTreeSet<String>,
    /// Readings that a person decided and whose text has not changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// What `informal_spec` has to bring in line with the new documents.
    pub feedback: String,
}

/// How the requirements of a revision differ in their wording from those that the run was made from, by number.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RequirementChanges {
    pub kept: Vec<String>,
    pub reworded: Vec<String>,
    pub gone: Vec<String>,
    pub new: Vec<String>,
}

impl MadeFrom {
    /// The texts, by artifact name, with their citations moved.
    pub fn move_citations(
        texts: &BTreeMap<String, String>,
        old: &[Document],
        new: &[Document],
    ) -> BTreeMap<String, String> {
        let citations = MovedCitations::new(old, new);
        texts.iter().map(|(name, text)| (name.clone(), citations.move_in(text))).collect()
    }

    /// The artifacts that the run starts from. Whatever else a forged journal names is not taken over.
    pub(super) fn start(&self) -> impl Iterator<Item = (&String, &Sha)> {
        self.artifacts.iter().filter(|(name, _)| file::TAKEN_OVER.contains(&name.as_str()))
    }

    /// The first task of the run.
    pub fn task(&self) -> Feedback {
        let from = "the documents have changed since `previous.md` was written".to_owned();
        Feedback { node: NodeName::InformalSpec, from, text: self.feedback.clone() }
    }

    pub fn compare(&self, now: &[&Requirement]) -> RequirementChanges {
        let words = |one: &Requirement| one.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut changes = RequirementChanges::default();
        for before in &self.requirements {
            let list = match now.iter().find(|one| one.id == before.id) {
                Some(same) if words(same) == words(before) => &mut changes.kept,
                Some(_) => &mut changes.reworded,
                None => &mut changes.gone,
            };
            list.push(before.id.clone());
        }
        let is_new = |one: &&&Requirement| !self.requirements.iter().any(|before| before.id == one.id);
        changes.new.extend(now.iter().filter(is_new).map(|one| one.id.clone()));
        changes
    }
}
