//! What one run of a checker searches for besides violations.

use super::CheckRequest;
use super::branches::Branches;

/// Predicates that one run searches for, with the definitions of those that the specification does not define.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    pub(crate) witnesses: Vec<String>,
    /// Predicates that `definitions` defines.
    pub(crate) predicates: Vec<String>,
    pub(crate) definitions: String,
}

impl Targets {
    /// These witnesses and, for each branch, the predicate that a step can take it.
    pub(super) fn new(request: &CheckRequest, witnesses: &[String], branches: Option<&Branches>) -> Self {
        let definitions = branches.map(|branches| branches.definitions(&request.cfg.constraints));
        Self {
            witnesses: witnesses.to_vec(),
            predicates: branches.into_iter().flat_map(Branches::predicates).collect(),
            definitions: definitions.unwrap_or_default(),
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.witnesses.iter().chain(&self.predicates)
    }
}
