//! What a blind reader says the properties forbid, who sees module and properties under neutral names and nothing else.

use std::collections::BTreeMap;

use super::artifacts::file;
use super::revision::Revision;
use super::view::RunView;
use crate::journal::Sha;
use crate::pipeline::machine::ApprovalFacts;

impl RunView {
    /// What each property of the current module forbids, by those that were read blindly.
    pub fn blind_readings(&self) -> &BTreeMap<String, String> {
        self.readings_of(self.artifact(file::MODULE))
    }

    /// The same for a closed revision.
    pub fn blind_readings_of(&self, revision: &Revision) -> &BTreeMap<String, String> {
        self.readings_of(revision.hashes.get(file::MODULE))
    }

    /// Whether a blind reader was asked about the current module, whatever the answer was.
    pub fn is_read_blindly(&self) -> bool {
        self.artifact(file::MODULE).is_some_and(|module| self.reviews.blind_readings.contains_key(module))
    }

    fn readings_of(&self, module: Option<&Sha>) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        module.and_then(|module| self.reviews.blind_readings.get(module)).unwrap_or(&NONE)
    }

    /// How many of the properties that need a blind reading have none in the journal, or none that the review accepts.
    pub(super) fn unaccepted_readings(&self, facts: &ApprovalFacts) -> usize {
        let read = self.blind_readings();
        let is_open = |name: &&String| !read.contains_key(*name) || facts.unaccepted_readings.contains(name);
        if self.settings.blind_reading { facts.covering.iter().filter(is_open).count() } else { 0 }
    }
}
