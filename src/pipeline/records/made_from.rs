//! The texts of a revision that a run starts from if the documents of the earlier run have changed since (`resume --drift`).
//! None of them is evidence: the run drafts, checks and reviews as any other.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ambiguity::Decision;
use super::artifacts::{StoredFile, file};
use super::product::Feedback;
use super::wording::wording;
use crate::journal::Sha;
use crate::pipeline::machine::NodeName;
use crate::prompt::{Document, MovedCitations, Requirement, check_places};

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
    /// They cite text that has changed.
    pub kept_on_changed_text: Vec<String>,
    pub reworded: Vec<String>,
    pub gone: Vec<String>,
    pub new: Vec<String>,
}

impl MadeFrom {
    /// The texts, by artifact name, with their citations moved. The first request replaces the earlier places that are left in
    /// the informal specification; the module and the properties may be kept without a request, so they have none.
    pub fn move_citations(
        texts: &BTreeMap<String, String>,
        old: &[Document],
        new: &[Document],
    ) -> BTreeMap<String, String> {
        let citations = MovedCitations::new(old, new);
        let source = texts.get(file::SOURCE).map(String::as_str).unwrap_or_default();
        let moved = |name: &str, text: &str| match name {
            // Like the informal specification, with which the run compares it.
            file::INFORMAL | file::FORMALIZE_INPUT => citations.move_in(text),
            // The module follows the informal specification.
            file::PROPERTIES_INPUT => match text.strip_suffix(source) {
                Some(informal) => citations.move_in(informal) + &citations.move_or_leave_out(source),
                None => citations.move_in(text),
            },
            _ => citations.move_or_leave_out(text),
        };
        texts.iter().map(|(name, text)| (name.clone(), moved(name, text))).collect()
    }

    /// Whether a decision cites lines that these documents have.
    pub fn cites_lines(decision: &Decision, documents: &[Document]) -> bool {
        let mut point = decision.open_point.clone();
        check_places(&mut [], std::slice::from_mut(&mut point), &mut [], documents);
        point.place.is_some() && point.misplaced.is_none()
    }

    /// The artifacts that the run starts from. Other names, of a forged journal, are ignored.
    pub(super) fn start(&self) -> impl Iterator<Item = (&String, &Sha)> {
        self.artifacts.iter().filter(|(name, _)| file::TAKEN_OVER.contains(&name.as_str()))
    }

    /// The first task of the run.
    pub fn task(&self) -> Feedback {
        let from = "the documents have changed since `previous.md` was written".to_owned();
        Feedback { node: NodeName::InformalSpec, from, text: self.feedback.clone() }
    }

    pub fn compare(&self, now: &[&Requirement]) -> RequirementChanges {
        let mut changes = RequirementChanges::default();
        for before in &self.requirements {
            let list = match now.iter().find(|one| one.id == before.id) {
                Some(same) if wording(same) != wording(before) => &mut changes.reworded,
                Some(_) if self.concerned.contains(&before.id) => &mut changes.kept_on_changed_text,
                Some(_) => &mut changes.kept,
                None => &mut changes.gone,
            };
            list.push(before.id.clone());
        }
        let is_new = |one: &&&Requirement| !self.requirements.iter().any(|before| before.id == one.id);
        changes.new.extend(now.iter().filter(is_new).map(|one| one.id.clone()));
        changes
    }
}
