//! A line of a log, as far as its order and its event matter.

use std::fmt;
use std::path::PathBuf;

use super::times::{Clock, Times};

/// The place of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlace {
    pub file: PathBuf,
    /// From 1; in a file with one JSON list, the number of the item.
    pub line: usize,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// An event that the map knows, or a line that it ignores: it still counts for clocks.
pub(super) struct LogLine {
    pub(super) place: LogPlace,
    pub(super) process: String,
    pub(super) clock: Option<Clock>,
    pub(super) times: Option<Times>,
    /// Its kind and its fields; `None` if it is ignored.
    pub(super) event: Option<(usize, Vec<u32>)>,
}
