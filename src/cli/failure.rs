//! The error type of every command: what happened, where, and what to do.

use super::snippet::Snippet;
use crate::exit::Exit;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    /// What happened, and where.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
    /// The place of the error and its line. The message then contains no place. Boxed, because most failures have none.
    pub snippet: Option<Box<Snippet>>,
}

impl Failure {
    /// A failure without hints.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hints: Vec::new(), snippet: None }
    }

    /// A failure with the exit status of wrong arguments, settings or files.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Shows the line that is wrong.
    #[must_use]
    pub(super) fn at(mut self, snippet: Snippet) -> Self {
        self.snippet = Some(Box::new(snippet));
        self
    }

    /// The message with its place, where no line can be shown.
    pub(super) fn one_line(&self) -> String {
        match &self.snippet {
            Some(snippet) => format!("{}: {}", snippet.place(), self.message),
            None => self.message.clone(),
        }
    }

    /// Adds a line on what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// Turns an error of a lower layer into a [`Failure`] with an exit status.
pub trait Fails<T> {
    /// The error becomes the message.
    fn fails(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Fails<T> for Result<T, E> {
    fn fails(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|e| Failure::new(exit, e.to_string()))
    }
}
