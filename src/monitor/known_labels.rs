//! Labels that a model gave, joined to the steps that they were given to.

use std::collections::HashMap;
use std::sync::Arc;

use super::labels::Labels;
use super::propositions::{Propositions, StepText};
use crate::journal::Sha;

/// The labels of steps, by what was judged of them.
#[derive(Debug, Clone, Default)]
pub struct KnownLabels {
    asked: String,
    by_text: Arc<HashMap<Sha, Labels>>,
}

impl KnownLabels {
    /// Labels of these propositions. Where a log tells labels itself, they count where they are of the same words.
    pub fn new(propositions: &Propositions, by_text: HashMap<Sha, Labels>) -> Self {
        Self { asked: propositions.sha().to_string(), by_text: Arc::new(by_text) }
    }

    /// Whether labels that a log tells, and says to be of the propositions of this name, are of these.
    pub(super) fn are_of(&self, asked: &str) -> bool {
        self.asked == asked
    }

    /// The labels of a step, where it was labelled.
    pub(super) fn of(&self, step: &StepText) -> Option<&Labels> {
        self.by_text.get(&step.sha())
    }

    /// Whether any step was labelled.
    pub(super) fn is_empty(&self) -> bool {
        self.by_text.is_empty()
    }
}
