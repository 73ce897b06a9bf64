//! The error type of every command: what happened, where, and what to do.

use crate::exit::Exit;

#[derive(Debug)]
pub(super) struct Failure {
    pub exit: Exit,
    /// What happened, and where.
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

/// Turns an error of a lower layer into a [`Failure`] with an exit status.
pub(super) trait Fails<T> {
    fn fails(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Fails<T> for Result<T, E> {
    fn fails(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|e| Failure::new(exit, e.to_string()))
    }
}
