//! Reads modules and configurations that the command line names.

use std::path::Path;

use super::failure::Failure;
use crate::files;

/// Reads a file with its line ends, because it will be written back.
pub(super) fn read_spec_verbatim(path: &Path) -> Result<String, Failure> {
    files::read_text(path, files::MEDIUM).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))
}

/// Reads a module or a configuration with every line end as `\n`. Like TLC, it counts a lone carriage return as a line end.
pub(super) fn read_spec(path: &Path) -> Result<String, Failure> {
    Ok(with_newlines(&read_spec_verbatim(path)?))
}

/// The text with every line end as `\n`.
pub(super) fn with_newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
