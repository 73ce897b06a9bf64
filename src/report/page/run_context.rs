//! What the sections of a run's page are made from.

use std::collections::BTreeMap;

use crate::journal::Sha;
use crate::pipeline::{AcceptedDrift, Entry, Flaw, Quotes, Revision, RunView, StoredFile, file};
use crate::prompt::{Document, Requirement};
use crate::report::run_explanation;
use crate::report::text::decisive_revision;
use crate::tla::Module;
use crate::toolchain::StateGraph;

/// What a page of a run is made from.
pub struct RunSource<'a> {
    pub view: &'a RunView,
    pub entries: &'a [Entry],
    /// Reads an artifact; `None` if it is missing.
    pub read: &'a dyn Fn(&Sha) -> Option<String>,
    /// The run folder as the user wrote it, for commands.
    pub folder: &'a str,
    /// Changes of the documents that were accepted since.
    pub accepted: &'a [AcceptedDrift],
    /// States of the decisive revision with a path to each witness, or why there are none. `None` if they were not explored.
    pub graph: Option<&'a Result<StateGraph, String>>,
}

/// What all sections use.
pub(super) struct RunContext<'a> {
    pub source: &'a RunSource<'a>,
    pub view: &'a RunView,
    pub documents: Vec<Document>,
    /// The revision that decides the outcome.
    pub decisive: Option<&'a Revision>,
}

impl<'a> RunContext<'a> {
    pub(super) fn new(source: &'a RunSource<'a>) -> Self {
        let view = source.view;
        let document = |stored: &StoredFile| Document {
            path: stored.path.clone(),
            text: (source.read)(&stored.sha).unwrap_or_default(),
        };
        Self {
            source,
            view,
            documents: view.settings.docs.iter().map(document).collect(),
            decisive: decisive_revision(view),
        }
    }

    /// An artifact of a revision.
    pub(super) fn text(&self, revision: &Revision, name: &str) -> Option<String> {
        (self.source.read)(revision.hashes.get(name)?)
    }

    pub(super) fn module(&self, revision: &Revision) -> Option<Module> {
        Module::parse(&self.text(revision, file::MODULE)?).ok()
    }

    pub(super) fn sentence(&self, revision: &Revision, requirement: &Requirement) -> Option<String> {
        run_explanation::cited_sentence(self.view, revision, requirement)
    }

    /// The claim that the violation of a property is a flaw, with the sentences that the review cites.
    pub(super) fn claim(&self, revision: &Revision, property: &str) -> Option<(&'a Flaw, &'a Quotes)> {
        let (review, quotes) = self.view.reviews.by_revision.get(&revision.revision)?.last()?;
        let mut claims = review.flaw.iter().chain(&review.further_flaws);
        Some((claims.find(|flaw| flaw.property.eq_ignore_ascii_case(property))?, quotes))
    }

    /// The steps of the counterexamples that rest on an open point, by its id; `None` if no flaw is claimed.
    pub(super) fn granted_by_open_points(&self) -> Option<BTreeMap<&'a str, Vec<usize>>> {
        let mut granted: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let reviews = self.shown_revisions().into_iter().filter_map(|r| self.view.reviews.last_of(r.revision));
        let claims: Vec<&Flaw> = reviews.flat_map(|review| review.flaw.iter().chain(&review.further_flaws)).collect();
        for step in claims.iter().flat_map(|flaw| &flaw.steps) {
            if let Some(id) = &step.open_point {
                granted.entry(id).or_default().push(step.step);
            }
        }
        (!claims.is_empty()).then_some(granted)
    }

    /// `rev_1`, and of a question which reading it takes: `rev_1 (reading b)`.
    pub(super) fn revision_words(&self, revision: &Revision) -> String {
        let number = revision.revision;
        let readings = self.view.open_question().map(|question| question.readings);
        let reading = readings.into_iter().flatten().find(|reading| reading.revision == Some(number));
        reading.map_or_else(|| format!("rev_{number}"), |reading| format!("rev_{number} (reading {})", reading.choice))
    }

    pub(super) fn shown_revisions(&self) -> Vec<&'a Revision> {
        run_explanation::shown_revisions(self.view)
    }
}

/// The id of the listing of a revision's module.
pub(super) fn module_id(revision: &Revision) -> String {
    format!("module-{}", revision.revision)
}
