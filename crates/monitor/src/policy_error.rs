//! Errors in a policy file, each with its place.

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::rules::RuleError;

/// A place in a policy file. Displayed as its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyPlace {
    /// The line on which the span begins, from 1.
    pub line: usize,
    /// The byte range in the text of the file.
    pub span: Range<usize>,
}

impl PolicyPlace {
    pub(super) fn new(text: &str, span: Range<usize>) -> Self {
        Self { line: line_number(text, &span), span }
    }
}

impl fmt::Display for PolicyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line.fmt(f)
    }
}

/// What is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The file is not TOML.
    #[error("line {place}: {message}")]
    Syntax { place: PolicyPlace, message: String },
    #[error("the policy has no rule (a rule begins with `[[rule]]`)")]
    Empty,
    /// The `[log]` table is wrong.
    #[error("line {place}: [log]: {message}")]
    Log { place: PolicyPlace, message: String },
    /// An unknown key at the top of the file.
    #[error(
        "line {place}: unknown key `{key}` (rules are written under `[[rule]]`, the format of the log under `[log]`)"
    )]
    Key { place: PolicyPlace, key: String },
    /// The `[intervening]` table is wrong.
    #[error("line {place}: [intervening]: {message}")]
    Intervening { place: PolicyPlace, message: String },
    /// The `[prediction]` table is wrong.
    #[error("line {place}: [prediction]: {message}")]
    Prediction { place: PolicyPlace, message: String },
    /// A `[[label]]` table is wrong.
    #[error("line {place}: [[label]]: {message}")]
    Label { place: PolicyPlace, message: String },
    #[error("line {place}: a second rule `{id}` (the first begins in line {first})")]
    Duplicate {
        /// Where the second rule begins.
        place: PolicyPlace,
        id: String,
        /// The line of the first rule.
        first: usize,
    },
    /// A key of a rule is wrong.
    #[error("line {place}: rule {rule}: {message}")]
    Rule {
        place: PolicyPlace,
        /// The id in quotes, or the number of the rule from 1 if it has no id.
        rule: String,
        message: String,
    },
    /// The kind or a parameter of a rule is wrong.
    #[error("line {place}: rule {rule}: {source}")]
    Parameter {
        place: PolicyPlace,
        /// The id in quotes.
        rule: String,
        source: RuleError,
    },
}

impl PolicyError {
    /// The syntax error of a file that is not TOML.
    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let place = PolicyPlace::new(text, error.span().unwrap_or(0..0));
        Self::Syntax { place, message: error.message().to_owned() }
    }

    /// Where the error is; `None` if the whole file is wrong.
    pub fn place(&self) -> Option<&PolicyPlace> {
        match self {
            Self::Empty => None,
            Self::Syntax { place, .. }
            | Self::Log { place, .. }
            | Self::Key { place, .. }
            | Self::Intervening { place, .. }
            | Self::Prediction { place, .. }
            | Self::Label { place, .. }
            | Self::Duplicate { place, .. }
            | Self::Rule { place, .. }
            | Self::Parameter { place, .. } => Some(place),
        }
    }

    /// The message without the place, and what to write instead if the error suggests it; to be shown beside the line.
    pub fn without_place(&self) -> (String, Option<String>) {
        if let Self::Parameter { rule, source: RuleError::Formula { parameter, source }, .. } = self {
            let message = format!("rule {rule}: the parameter `{parameter}` is not a formula: {}", source.message);
            return (message, source.hint.clone());
        }
        let message = self.to_string();
        let place = self.place().map(|place| format!("line {place}: ")).unwrap_or_default();
        (message.strip_prefix(&place).unwrap_or(&message).to_owned(), None)
    }
}

/// The span in a TOML file of a part of the text at a top-level key; `None` if there is no such text.
pub fn span_in_text_value(file: &str, key: &str, part: &Range<usize>) -> Option<Range<usize>> {
    let table = DeTable::parse(file).ok()?;
    let value = table.get_ref().get(key)?;
    Some(span_in_value(file, &value.span(), value.get_ref().as_str()?, part))
}

/// The span in the file of a part of a text value; the whole value if it is written with escapes.
pub(super) fn span_in_value(file: &str, value: &Range<usize>, text: &str, part: &Range<usize>) -> Range<usize> {
    let written = file.get(value.clone()).unwrap_or_default();
    // TOML drops a newline directly after three quotes.
    let opening = ["'''\r\n", "'''\n", "'''", "\"\"\"\r\n", "\"\"\"\n", "\"\"\"", "'", "\""];
    let opening = opening.into_iter().find(|opening| written.starts_with(opening)).map_or(0, str::len);
    if written[opening..].starts_with(text) {
        let start = value.start + opening;
        start + part.start..start + part.end
    } else {
        value.clone()
    }
}

/// The line on which a span begins, from 1.
pub(super) fn line_number(text: &str, span: &Range<usize>) -> usize {
    text.get(..span.start).unwrap_or(text).matches('\n').count() + 1
}

/// The type of a TOML value, for messages.
pub(super) fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
