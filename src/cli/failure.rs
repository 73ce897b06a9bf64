//! An error for a person: what, where, and what to do.

use crate::exit::Exit;

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(super) struct Failure {
    /// The status that the process ends with.
    pub exit: Exit,
    /// What and where.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hints: Vec::new() }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// Any error of a layer below, with the status of its kind.
pub(super) trait Fails<T> {
    fn fails(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Fails<T> for Result<T, E> {
    fn fails(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|e| Failure::new(exit, e.to_string()))
    }
}
