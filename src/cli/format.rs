//! How a command prints its result: as text, as JSON, or as a list of findings.

use clap::ValueEnum;

use super::terminal::{print_json_line, print_result};
use crate::report::{Findings, github_annotations, markdown_summary, sarif};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for reading.
    Text,
    /// JSON for programs.
    Json,
}

/// How a command prints what it found, if that can also be shown beside lines of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FindingsFormat {
    /// Text for reading.
    Text,
    /// JSON for programs.
    Json,
    /// SARIF 2.1.0, for code scanning and editors.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// Markdown, for the summary of a job.
    Markdown,
}

impl FindingsFormat {
    /// The format of everything that is no finding, such as progress.
    pub(super) fn plain(self) -> Format {
        if self == Self::Json { Format::Json } else { Format::Text }
    }

    /// Prints the findings; `false` if this is no format of findings, so that the command prints its own text or JSON.
    #[must_use]
    pub(super) fn print(self, findings: impl FnOnce() -> Findings) -> bool {
        let findings = || findings().relative_to(&std::env::current_dir().unwrap_or_default());
        match self {
            Self::Text | Self::Json => return false,
            Self::Sarif => print_json_line(&sarif(&findings())),
            Self::Github => print_result(&github_annotations(&findings())),
            Self::Markdown => print_result(&markdown_summary(&findings())),
        }
        true
    }
}
