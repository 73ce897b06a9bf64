//! A line of a log, as far as its order and its event matter.

use std::fmt;
use std::path::{Path, PathBuf};

use super::times::{Clock, Times};

/// The name that stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// The place of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlace {
    pub file: PathBuf,
    /// From 1; in a file with one JSON list, the number of the item.
    pub line: usize,
    /// The place in the list of spans and their events, from 1, in an export of OpenTelemetry.
    pub span: Option<usize>,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file == Path::new(STANDARD_INPUT) {
            write!(f, "standard input, line {}", self.line)?;
        } else {
            write!(f, "{}:{}", self.file.display(), self.line)?;
        }
        match self.span {
            Some(span) => write!(f, ", record {span}"),
            None => Ok(()),
        }
    }
}

/// An event that the map knows, or a line that it ignores: it still counts for clocks.
pub(super) struct LogLine {
    pub(super) place: LogPlace,
    pub(super) process: String,
    pub(super) clock: Option<Clock>,
    pub(super) times: Option<Times>,
    /// The messages that it sends, and that it receives, by their names.
    pub(super) sends: Vec<String>,
    pub(super) receives: Vec<String>,
    /// Its kind and its fields; `None` if it is ignored.
    pub(super) event: Option<(usize, Vec<u32>)>,
}
