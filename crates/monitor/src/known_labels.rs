//! Labels that a model gave, joined to the steps of a log by the hash of their text.

use std::collections::HashMap;
use std::sync::Arc;

use super::labels::Labels;
use super::propositions::{Propositions, StepText};
use tlaforge_files::Sha;

/// Labels of steps, by the hash of the text that was judged.
#[derive(Debug, Clone, Default)]
pub struct KnownLabels {
    propositions: String,
    by_text: Arc<HashMap<Sha, Labels>>,
}

impl KnownLabels {
    /// Labels of these propositions. Labels that a log records itself are used only if they answer the same propositions,
    /// word for word.
    pub fn new(propositions: &Propositions, by_text: HashMap<Sha, Labels>) -> Self {
        Self { propositions: propositions.sha().to_string(), by_text: Arc::new(by_text) }
    }

    /// Whether labels with this hash of propositions answer the same propositions as these labels.
    pub(super) fn answer(&self, propositions: &str) -> bool {
        self.propositions == propositions
    }

    /// The labels of a step; `None` if it was not labelled.
    pub(super) fn get(&self, step: &StepText) -> Option<&Labels> {
        self.by_text.get(&step.sha())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_text.is_empty()
    }
}
