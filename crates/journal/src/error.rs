//! Errors of reading and writing a journal.

use std::path::PathBuf;

use super::replica::ReplicaError;

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The shared store did not take a group.
    #[error(transparent)]
    Replica(#[from] ReplicaError),
    #[error("{what} {path}: {source}")]
    Io {
        /// The operation, as in `read PATH`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// A line other than an incomplete last one is damaged.
    #[error("{path}, line {line}, is damaged ({what}); restore the file or move the folder away: nothing was changed")]
    Damaged {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The damage, in words.
        what: String,
    },
    /// Another version of tlaforge wrote it.
    #[error("{path}, line {line}: {what}; nothing was changed")]
    Version {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Its format version, and the release that reads it.
        what: String,
    },
}
