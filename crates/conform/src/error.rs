//! Why logs cannot be compared with a specification.

use std::path::Path;

use thiserror::Error;

/// What is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {what}")]
pub struct ConformError {
    /// A file, perhaps with a line.
    pub place: String,
    pub what: String,
    pub hint: Option<String>,
}

impl ConformError {
    pub(super) fn of_file(path: &Path, what: impl Into<String>) -> Self {
        Self { place: path.display().to_string(), what: what.into(), hint: None }
    }

    pub(super) fn at(place: &(impl ToString + ?Sized), what: impl Into<String>) -> Self {
        Self { place: place.to_string(), what: what.into(), hint: None }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
