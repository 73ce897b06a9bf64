//! How a command prints its result: as text or as JSON.

use clap::ValueEnum;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For a person.
    Text,
    /// `run` and `resume`: one event a line; the others: one object.
    Json,
}
