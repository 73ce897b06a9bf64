//! Why a log or one of its records cannot be read.

use std::io;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("cannot read the log")]
    Io(#[from] io::Error),
    /// A line that is not a record.
    #[error("line {line}: {message}")]
    Line {
        /// From 1.
        line: u64,
        message: String,
    },
    /// A path that a rule reads as one value crosses a list.
    #[error("{place}: {message}")]
    List {
        /// The line or the message of a list.
        place: String,
        /// Says what to write instead.
        message: String,
    },
}

impl LogError {
    /// The error of a record of a list, which has no line.
    pub(super) fn of_list(self) -> Self {
        match self {
            Self::List { place, message } => Self::List { place: place.replace("line", "message"), message },
            Self::Line { line, message } => Self::List { place: format!("message {line}"), message },
            Self::Io(error) => Self::Io(error),
        }
    }
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The record names a text that cannot be fetched.
    #[error("{0}")]
    Text(String),
    /// A path that a rule reads as one value crosses a list.
    #[error("{0}")]
    List(String),
}
