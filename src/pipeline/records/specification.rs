//! The specification in work: its artifacts, the requirements and what covers them, and what is still to be mended.

use std::collections::{BTreeMap, BTreeSet};

use super::ambiguity::Decision;
use super::artifacts::file;
use super::made_from::MadeFrom;
use super::product::{Facts, Feedback, Product};
use super::settings::Branch;
use super::wording::wording_with_place;
use crate::journal::Sha;
use crate::pipeline::machine::{Event as Step, NodeName, Position};
use crate::prompt::{Assumption, FixedNames, NormativeSentence, OpenPoint, Requirement};
use crate::tla::{Diagnostic, StepContract};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Specification {
    /// Current artifacts by file name.
    pub artifacts: BTreeMap<String, Sha>,
    /// Requirements of the current informal specification.
    pub requirements: Vec<Requirement>,
    /// Questions that the documents leave open, with the readings that the informal specification takes.
    pub open_points: Vec<OpenPoint>,
    /// What the informal specification takes for granted or leaves out.
    pub assumptions: Vec<Assumption>,
    /// The sentences of the documents that demand something, and how the informal specification accounts for each.
    pub normative_sentences: Vec<NormativeSentence>,
    /// The documents that an answer of `informal_spec` read, as paths below `docs/`.
    pub read_documents: BTreeSet<String>,
    /// The names that the documents fix.
    pub names: FixedNames,
    /// Readings that a person decided.
    pub decisions: Vec<Decision>,
    /// Concerns that the informal specification leaves out.
    pub other_concerns: Vec<String>,
    /// Requirements by property, of the last accepted merge.
    pub covers: BTreeMap<String, Vec<String>>,
    /// The contracts of the current module; `None` if none were added to it.
    pub contracts: Option<Vec<StepContract>>,
    /// Diagnostics of the last parse, if it rejected the current module.
    pub diagnostics: Vec<Diagnostic>,
    /// What is still to be mended.
    pub feedback: Vec<Feedback>,
    /// Files that a person edited before this branch began.
    pub edited: Vec<String>,
    pub origin: Origin,
    /// The origin at the close of each revision.
    origins_at_close: BTreeMap<u32, Origin>,
}

/// Which informal specification the run holds, and which one the module was made from. Readable informal specifications
/// are numbered from 1, those that a person edited included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// The number of the current informal specification; 0 if there is none.
    pub informal: u32,
    /// The number of the informal specification that the module was made from.
    pub module_made_from: u32,
    /// The highest number so far.
    pub latest: u32,
}

impl Origin {
    fn add_informal(&mut self) {
        self.latest += 1;
        self.informal = self.latest;
    }
}

impl Specification {
    pub fn artifact(&self, name: &str) -> Option<&Sha> {
        self.artifacts.get(name)
    }

    /// Adds what a node made. `is_repeated` says that the previous answer at this position was unreadable, too.
    pub(super) fn absorb(&mut self, position: Position, is_repeated: bool, product: &Product) {
        match (position, product.event) {
            (Position::Node(NodeName::InformalSpec), Step::Answered) => self.origin.add_informal(),
            (Position::Node(NodeName::Formalize), Step::Answered) => {
                self.origin.module_made_from = self.origin.informal;
                self.artifacts.remove(file::VALIDATED);
            }
            _ => {}
        }
        self.artifacts.extend(product.artifacts.clone());
        if let Position::Node(node) = position
            && !matches!(product.event, Step::Unreadable | Step::ReviewUnreadable { .. })
        {
            // A node that answered has seen all feedback for it. A review replaces all feedback.
            self.feedback.retain(|f| node != NodeName::Review && f.node != node);
        }
        // After a second unreadable review the revision closes. The next review need not mend the unreadable answer.
        if matches!(product.event, Step::ReviewUnreadable { .. }) && is_repeated {
            self.feedback.retain(|f| f.node != NodeName::Review);
        }
        self.feedback.extend(product.feedback.iter().cloned());
        self.absorb_facts(product);
    }

    fn absorb_facts(&mut self, product: &Product) {
        match &product.facts {
            // After an unreadable answer the module is still the rejected one.
            Facts::Nothing if product.event == Step::Unreadable => {}
            Facts::Nothing => self.diagnostics.clear(),
            Facts::Informal { requirements, open_points, assumptions, normative_sentences, names, other_concerns } => {
                self.requirements.clone_from(requirements);
                self.open_points.clone_from(open_points);
                self.assumptions.clone_from(assumptions);
                self.normative_sentences.clone_from(normative_sentences);
                self.names.clone_from(names);
                self.other_concerns.clone_from(other_concerns);
            }
            Facts::Rejected { diagnostics } => self.diagnostics.clone_from(diagnostics),
            Facts::Validated { .. } => self.diagnostics.clear(),
            Facts::Merged { covers, .. } => {
                self.diagnostics.clear();
                self.covers.clone_from(covers);
                self.contracts = None;
            }
            Facts::Contracted { covers, contracts, .. } => {
                self.diagnostics.clear();
                self.covers.clone_from(covers);
                self.contracts = Some(contracts.clone());
            }
            Facts::Reviewed { .. } | Facts::ReviewUnreadable { .. } | Facts::SecondRead { .. } => {}
        }
    }

    /// Starts from the texts of an earlier run. Its requirements and other facts count once this run has drafted them.
    pub(super) fn take_over(&mut self, made_from: &MadeFrom) {
        self.artifacts.extend(made_from.start().map(|(name, sha)| (name.clone(), sha.clone())));
        self.read_documents.clone_from(&made_from.read_documents);
        self.decisions.clone_from(&made_from.decisions);
    }

    /// Continues from the specification of a closed revision.
    pub(super) fn begin_branch(&mut self, branch: Branch) {
        let parent = self.origins_at_close.get(&branch.from).copied().unwrap_or(self.origin);
        self.origin = Origin { latest: self.origin.latest, ..parent };
        if branch.edited.iter().any(|name| name == file::INFORMAL) {
            self.origin.add_informal();
            // A person who continues after `formalize` accepts that informal specification and module belong together.
            if !matches!(branch.state.position, Position::Node(NodeName::InformalSpec | NodeName::Formalize)) {
                self.origin.module_made_from = self.origin.informal;
            }
        }
        self.artifacts = branch.artifacts;
        self.requirements = branch.requirements;
        self.open_points = branch.open_points;
        self.assumptions = branch.assumptions;
        self.normative_sentences = branch.normative_sentences;
        self.names = branch.names;
        self.decisions = branch.decisions;
        self.covers = branch.covers;
        self.contracts = branch.contracts;
        self.feedback = branch.feedback;
        self.edited = branch.edited;
        self.diagnostics.clear();
    }

    /// Whether a document was read, as far as the provider saw. If it saw none being read, as with `handoff`, all count.
    pub fn was_read(&self, document: &str) -> bool {
        self.read_documents.is_empty() || self.read_documents.contains(document)
    }

    pub(super) fn add_reads<'a>(&mut self, paths: impl Iterator<Item = &'a str>) {
        let documents = paths.filter_map(|path| path.strip_prefix("docs/")).filter(|path| !path.starts_with("INDEX"));
        self.read_documents.extend(documents.map(str::to_owned));
    }

    pub(super) fn close_revision(&mut self, revision: u32) {
        self.origins_at_close.insert(revision, self.origin);
    }

    /// What a verdict rests on, together with the wording and the places of the requirements, as texts that later ones are
    /// compared with. If a name is in both, its text is both.
    pub(super) fn with_requirements(&self, checked: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        self.with_requirement_texts(checked, wording_with_place)
    }

    /// The same, for comparison with such texts: a place that does not exist is a difference.
    pub(super) fn with_looked_up_requirements(&self, checked: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        self.with_requirement_texts(checked, |requirement| {
            let wrong = requirement.misplaced.as_ref().map(|wrong| format!(", which {wrong}"));
            wording_with_place(requirement) + &wrong.unwrap_or_default()
        })
    }

    fn with_requirement_texts(
        &self,
        checked: &BTreeMap<String, String>,
        text_of: impl Fn(&Requirement) -> String,
    ) -> BTreeMap<String, String> {
        let mut all = checked.clone();
        for requirement in &self.requirements {
            let text = text_of(requirement);
            let both = all.remove(&requirement.id).map(|known| format!("{known}\n{text}"));
            all.insert(requirement.id.clone(), both.unwrap_or(text));
        }
        all
    }

    /// The requirements that a property says it covers, with their wording and place.
    pub(super) fn covered_by(&self, property: &str) -> BTreeMap<String, String> {
        let ids = self.covers.get(property).map(Vec::as_slice).unwrap_or_default();
        self.requirements
            .iter()
            .filter(|r| ids.contains(&r.id))
            .map(|r| (r.id.clone(), wording_with_place(r)))
            .collect()
    }
}
