//! What the sections of a run's page are made from.

use crate::journal::Sha;
use crate::pipeline::{Entry, Revision, RunView, StoredFile, file};
use crate::prompt::Document;
use crate::report::text::decisive_revision;
use crate::tla::Module;

/// What a page of a run is made from.
pub struct RunSource<'a> {
    pub view: &'a RunView,
    pub entries: &'a [Entry],
    /// Reads an artifact; `None` if it is missing.
    pub read: &'a dyn Fn(&Sha) -> Option<String>,
    /// The run folder as the user wrote it, for commands.
    pub folder: &'a str,
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

    /// The revisions whose counterexamples are shown: the decisive one, and the one that raised its question.
    pub(super) fn shown_revisions(&self) -> Vec<&'a Revision> {
        let asked = self.view.open_question().map(|question| question.readings.map(|reading| reading.revision));
        let of_question =
            asked.into_iter().flatten().flatten().filter_map(|n| self.view.revisions.iter().find(|r| r.revision == n));
        let mut shown: Vec<&Revision> = of_question.collect();
        shown.extend(self.decisive.filter(|decisive| !shown.iter().any(|known| known.revision == decisive.revision)));
        shown
    }
}

/// The id of the listing of a revision's module.
pub(super) fn module_id(revision: &Revision) -> String {
    format!("module-{}", revision.revision)
}
