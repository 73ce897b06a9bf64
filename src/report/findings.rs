//! What a command found, as a list for tools that show findings beside lines of files. Every command fills the same list;
//! `sarif`, `github` and `markdown` write it and know nothing of commands.

use std::path::Path;

use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// `tlaforge check`.
    pub command: String,
    /// The result in one sentence, also if there is no finding.
    pub summary: String,
    pub list: Vec<Finding>,
}

impl Findings {
    /// Adds that two checkers contradict each other, if they do: the results may be wrong.
    #[must_use]
    pub fn with_contradiction(mut self, is_contradicted: bool) -> Self {
        if is_contradicted {
            let words = "two checkers contradict each other, so this result may be wrong";
            self.list.insert(0, Finding::new("contradiction", Level::Error, words));
        }
        self
    }

    /// Names files in this folder relative to it, as tools that show findings expect.
    #[must_use]
    pub fn relative_to(mut self, folder: &Path) -> Self {
        for place in self.list.iter_mut().flat_map(|finding| &mut finding.places) {
            if let Ok(inner) = Path::new(&place.file).strip_prefix(folder) {
                place.file = inner.display().to_string();
            }
        }
        self
    }

    /// Adds an error without a place for each message.
    #[must_use]
    pub fn with_errors(mut self, rule: &str, messages: impl IntoIterator<Item = String>) -> Self {
        self.list.extend(messages.into_iter().map(|message| Finding::new(rule, Level::Error, message)));
        self
    }

    /// Adds a warning without a place for each message.
    #[must_use]
    pub fn with_warnings(mut self, rule: &str, messages: impl IntoIterator<Item = String>) -> Self {
        self.list.extend(messages.into_iter().map(|message| Finding::new(rule, Level::Warning, message)));
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding, the same in every run: `violated`.
    pub rule: String,
    pub level: Level,
    pub message: String,
    /// First the line that the finding is about, then the lines of documents that it cites.
    pub places: Vec<FileLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The command fails because of it.
    Error,
    Warning,
    Note,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine {
    pub file: String,
    /// From 1; `None` if only the file is known.
    pub line: Option<usize>,
}

impl FileLine {
    pub fn new(file: impl Into<String>, line: usize) -> Self {
        Self { file: file.into(), line: (line > 0).then_some(line) }
    }
}

impl Finding {
    pub fn new(rule: &str, level: Level, message: impl Into<String>) -> Self {
        Self { rule: rule.to_owned(), level, message: message.into(), places: Vec::new() }
    }

    #[must_use]
    pub fn at(mut self, place: FileLine) -> Self {
        self.places.push(place);
        self
    }
}
