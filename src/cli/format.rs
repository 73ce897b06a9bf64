//! How a command prints its result: as text or as JSON.

use clap::ValueEnum;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for reading.
    Text,
    /// JSON: one event a line for `run`, `demo` and `resume`, one object for every other command.
    Json,
}
