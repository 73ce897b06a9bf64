//! Reads modules and configurations that the command line names.

use std::io::Read as _;
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

/// Like [`read_spec`]; `-` is stdin.
pub(super) fn read_spec_or_stdin(path: &Path) -> Result<String, Failure> {
    if path != Path::new("-") {
        return read_spec(path);
    }
    let failure = |what: String| Failure::usage(format!("cannot read stdin: {what}"));
    let mut text = String::new();
    let read = std::io::stdin().lock().take(files::MEDIUM + 1).read_to_string(&mut text);
    match read.map_err(|error| failure(error.to_string()))? as u64 {
        length if length > files::MEDIUM => Err(failure(format!("it is longer than {} bytes", files::MEDIUM))),
        _ => Ok(with_newlines(&text)),
    }
}

/// The text with every line end as `\n`.
pub(super) fn with_newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
