//! A place in a text, with its line: what an error shows besides its message. `snippet_text` renders it.

use std::ops::Range;

/// A place in a text, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub(super) path: String,
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
    /// The line and the range in it; `None` if the line must not be shown.
    pub(super) source: Option<(String, Range<usize>)>,
}

impl Snippet {
    /// The place of a byte range in a text. A range outside of the text is at its end; of a range of several lines, only the
    /// first is shown.
    pub(super) fn new(path: impl Into<String>, text: &str, span: Range<usize>) -> Self {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let line = &text[line_start..line_end];
        let line = line.strip_suffix('\r').unwrap_or(line);
        let start = (start - line_start).min(line.len());
        let mut end = span.end.saturating_sub(line_start).clamp(start, line.len());
        while !line.is_char_boundary(end) {
            end += 1;
        }
        Self {
            path: path.into(),
            line: text[..line_start].matches('\n').count() + 1,
            column: line[..start].chars().count() + 1,
            source: Some((line.to_owned(), start..end)),
        }
    }

    /// `path:line:column`
    pub(super) fn place(&self) -> String {
        format!("{}:{}:{}", self.path, self.line, self.column)
    }

    /// The place without its line.
    pub(super) fn without_source(self) -> Self {
        Self { source: None, ..self }
    }
}
