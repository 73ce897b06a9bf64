//! How a command prints its result: as text, as JSON, or as a list of findings.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

use super::failure::Failure;
use super::output_file::{unwritable_reason, write_file};
use super::terminal::{print_json_line, print_result, print_workflow_commands};
use crate::report::{Findings, github_annotations, markdown_summary, sarif};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for reading.
    Text,
    /// JSON for programs.
    Json,
}

/// The names of all values, as a help text shows them: `text|json`.
pub(super) fn value_names<T: ValueEnum>() -> &'static str {
    let names = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
    // clap keeps only static texts; there are as many as options.
    Box::leak(names.join("|").into_boxed_str())
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

    /// Prints the findings and writes them to `files`; `false` if this is no format of findings, so that the command prints
    /// its own text or JSON.
    pub(super) fn print(self, files: &FindingsFiles, findings: impl FnOnce() -> Findings) -> Result<bool, Failure> {
        let is_plain = matches!(self, Self::Text | Self::Json);
        if is_plain && files.findings.is_empty() {
            return Ok(false);
        }
        let findings = findings().relative_to(&std::env::current_dir().unwrap_or_default());
        match self {
            Self::Text | Self::Json => {}
            Self::Sarif => print_json_line(&sarif(&findings)),
            Self::Github => print_workflow_commands(&github_annotations(&findings)),
            Self::Markdown => print_result(&markdown_summary(&findings)),
        }
        files.write(&findings)?;
        Ok(!is_plain)
    }
}

/// Files that receive the findings of a command in addition to its output.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct FindingsFiles {
    /// Also write the findings to this file: SARIF if its name ends in `.sarif`, Markdown if it ends in `.md`. A command
    /// without a result leaves an earlier file as it is. Can be repeated [default: none].
    #[arg(long, value_name = "FILE", value_parser = parse_findings_file)]
    pub findings: Vec<PathBuf>,
}

impl FindingsFiles {
    fn write(&self, findings: &Findings) -> Result<(), Failure> {
        for path in &self.findings {
            let text = if is_sarif(path) { format!("{:#}\n", sarif(findings)) } else { markdown_summary(findings) };
            write_file(path, &text)?;
        }
        Ok(())
    }
}

fn is_sarif(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sarif")
}

/// Refuses a file that cannot be written before the command begins.
fn parse_findings_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if !is_sarif(&path) && path.extension().is_none_or(|extension| extension != "md") {
        return Err("its name must end in .sarif or .md".to_owned());
    }
    unwritable_reason(&path).map_or(Ok(path), Err)
}
