//! Diagnostics: errors and warnings of the tools and of our own checks, with their positions.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cfg_keyword::is_keyword;
use super::layout::{column_of, offset_of_column};
use super::lexer::{Lexer, Lines};

/// The stage that reports a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Our own checks before any tool runs.
    Lint,
    /// The PlusCal translator.
    Translate,
    /// SANY.
    Parse,
    /// Our own static checks, which replace SANY for the embedded checker.
    Analysis,
    /// The model configuration.
    Config,
    /// Merging generated properties into the module.
    Merge,
    /// TLC.
    Check,
    /// The embedded checker.
    Embedded,
}

impl Stage {
    /// Whether its columns are those of SANY, the translators and TLC. The others count characters.
    fn has_columns_of_sany(self) -> bool {
        matches!(self, Self::Translate | Self::Parse | Self::Check)
    }
}

/// An error or warning. Lines and columns count from 1; both are 0 if the position is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    pub stage: Stage,
    /// Line in the input of the stage.
    pub line: usize,
    pub column: usize,
    /// As the tool words it.
    pub message: String,
}

impl Diagnostic {
    /// A diagnostic at a byte offset of the text that it is about.
    pub fn at(stage: Stage, text: &str, offset: usize, message: String) -> Self {
        let (line, column) = Lines::new(text).position(text, offset);
        let column = if stage.has_columns_of_sany() { column_of(text, offset) + 1 } else { column };
        Self { stage, line, column, message }
    }

    /// Stage and message, for output that shows the line as well.
    pub fn without_position(&self) -> String {
        format!("{}: {}", self.stage, self.message)
    }

    /// The byte range of what it is about in `text`, the text that line and column refer to: the token at the position. If
    /// a diagnostic about a configuration has no exact position, that of a name in its message.
    pub fn span(&self, text: &str) -> Option<Range<usize>> {
        let lines = || {
            text.split_inclusive('\n').scan(0, |end, line| {
                *end += line.len();
                Some(*end - line.len()..*end - line.len() + line.trim_end_matches(['\n', '\r']).len())
            })
        };
        let line = self.line.checked_sub(1).map(|line| lines().nth(line).unwrap_or(text.len()..text.len()));
        if self.stage == Stage::Config && self.column <= 1 {
            let mut words: Vec<Range<usize>> = match &line {
                Some(line) => words_in_message(text, line.clone(), &self.message),
                None => lines().flat_map(|line| words_in_message(text, line, &self.message)).collect(),
            };
            words.retain(|word| line.is_some() || !is_keyword(&text[word.clone()]));
            words.sort_by_key(|word| is_keyword(&text[word.clone()]));
            if let Some(word) = words.into_iter().next() {
                return Some(word);
            }
        }
        let line = line?;
        let content = &text[line.clone()];
        if self.column == 0 {
            let start = line.start + content.len() - content.trim_start().len();
            return Some(start..start + content.trim().len());
        }
        let start = line.start
            + if self.stage.has_columns_of_sany() {
                offset_of_column(content, self.column - 1)
            } else {
                content.char_indices().nth(self.column - 1).map_or(content.len(), |(offset, _)| offset)
            };
        let one = text[start..line.end].chars().next().map_or(0, char::len_utf8);
        let token = Lexer::new(text, start..line.end).next_token();
        let token = token.filter(|token| token.start == start && !token.is_comment());
        Some(start..token.map_or(start + one, |token| token.end))
    }
}

/// The words of a line that also occur in a message.
fn words_in_message(text: &str, line: Range<usize>, message: &str) -> Vec<Range<usize>> {
    let is_separator = |c: char| !c.is_alphanumeric() && c != '_';
    let content = &text[line.clone()];
    // Only witnesses are listed in comments.
    let lists_witnesses = content.trim_start().starts_with("\\* WITNESS");
    let code = if lists_witnesses { content } else { content.split("\\*").next().unwrap_or(content) };
    let mut end = line.start;
    let words = code.split_inclusive(is_separator).map(|part| {
        end += part.len();
        end - part.len()..end - (part.len() - part.trim_end_matches(is_separator).len())
    });
    words
        .filter(|word| !word.is_empty())
        .filter(|word| message.split(is_separator).any(|named| named == &text[word.clone()]))
        .collect()
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Lint => "refused",
            Stage::Translate => "PlusCal",
            Stage::Parse => "SANY",
            Stage::Analysis => "static check",
            Stage::Config => "cfg",
            Stage::Merge => "merge",
            Stage::Check => "TLC",
            Stage::Embedded => "embedded checker",
        })
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.without_position())
        } else {
            write!(f, "{}: line {}, column {}: {}", self.stage, self.line, self.column, self.message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, stage: Stage, (line, column): (usize, usize), message: &str) -> Option<String> {
        let diagnostic = Diagnostic { stage, line, column, message: message.to_owned() };
        diagnostic.span(text).map(|span| text[span].to_owned())
    }

    #[test]
    fn a_diagnostic_points_to_its_token_whichever_columns_its_stage_counts() {
        let text = "a\n\t(*\u{1f600} e\u{301}*)\t/\\ x\r\n  \u{1f600}\t\\/ y\n";
        for token in ["/\\", "x", "\\/", "y"] {
            for stage in [Stage::Parse, Stage::Check, Stage::Translate, Stage::Analysis, Stage::Embedded, Stage::Lint] {
                let diagnostic = Diagnostic::at(stage, text, text.find(token).unwrap(), String::new());
                assert_eq!(&text[diagnostic.span(text).unwrap()], token, "{diagnostic:?}");
            }
        }
    }

    #[test]
    fn the_span_is_the_token_at_the_position() {
        let text = "A == <<Lenght, \"a b\">>\r\n\tB \\subseteq 中\u{301} (* c *)\n  x => 12";
        for (stage, position, expected) in [
            (Stage::Parse, (1, 1), "A"),
            (Stage::Parse, (1, 6), "<<"),
            (Stage::Parse, (1, 8), "Lenght"),
            (Stage::Parse, (1, 16), "\"a b\""),
            // A tab reaches to column 8 for SANY, and is one character for the static checks.
            (Stage::Parse, (2, 9), "B"),
            (Stage::Translate, (2, 9), "B"),
            (Stage::Analysis, (2, 2), "B"),
            (Stage::Analysis, (2, 4), "\\subseteq"),
            (Stage::Analysis, (2, 14), "中"),
            // A comment is no token.
            (Stage::Analysis, (2, 17), "("),
            (Stage::Check, (3, 5), "=>"),
            (Stage::Check, (3, 8), "12"),
            // A position inside of a token.
            (Stage::Check, (3, 9), "2"),
            // Blanks, the end of a line and of the text, and what is beyond.
            (Stage::Check, (3, 1), " "),
            (Stage::Check, (1, 23), ""),
            (Stage::Check, (3, 10), ""),
            (Stage::Check, (3, 100), ""),
            (Stage::Check, (9, 1), ""),
            // Only the line is known.
            (Stage::Check, (3, 0), "x => 12"),
        ] {
            assert_eq!(marked(text, stage, position, "").as_deref(), Some(expected), "{stage:?} {position:?}");
        }
        assert_eq!(marked(text, Stage::Parse, (0, 0), "Lenght"), None);
        assert_eq!(marked("", Stage::Parse, (1, 1), ""), Some(String::new()));
    }

    #[test]
    fn a_configuration_without_a_position_is_searched_for_the_name() {
        let text = "\\* Small is listed below\nSPECIFICATION Spec\nINVARIANTS Smaller, Small\n\\* WITNESS Late\nCONSTANT N = 3\n";
        for (position, message, expected) in [
            ((0, 0), "INVARIANT Small: the module does not define Small", Some("Small")),
            ((0, 0), "the witness Late is not defined", Some("Late")),
            ((0, 0), "CONSTANT M: no value is assigned", None),
            ((0, 0), "no value is assigned", None),
            ((5, 1), "a value is given to the constant N", Some("N")),
            ((5, 1), "`CONSTANT` is not known", Some("CONSTANT")),
            ((3, 12), "not a keyword", Some("Smaller")),
            ((2, 1), "something else", Some("SPECIFICATION")),
        ] {
            assert_eq!(marked(text, Stage::Config, position, message).as_deref(), expected, "{message}");
        }
        let small = Diagnostic { stage: Stage::Config, line: 0, column: 0, message: "Small".to_owned() };
        assert_eq!(text[..small.span(text).unwrap().start].matches('\n').count(), 2, "not in the comment");
    }
}
