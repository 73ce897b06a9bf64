//! How a command prints its result: as text or as JSON.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for reading.
    Text,
    /// JSON for programs.
    Json,
}
