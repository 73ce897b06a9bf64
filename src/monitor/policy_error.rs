//! Errors in a policy file, each with its line.

use std::ops::Range;

use toml::de::DeValue;

use super::rules::RuleError;

/// What is wrong with a policy. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The file is not TOML.
    #[error("line {line}: {message}")]
    Syntax { line: usize, message: String },
    #[error("the policy has no rule (a rule begins with `[[rule]]`)")]
    Empty,
    /// The `[log]` table is wrong.
    #[error("line {line}: [log]: {message}")]
    Log { line: usize, message: String },
    /// An unknown key at the top of the file.
    #[error(
        "line {line}: unknown key `{key}` (rules are written under `[[rule]]`, the format of the log under `[log]`)"
    )]
    Key { line: usize, key: String },
    /// The `[intervening]` table is wrong.
    #[error("line {line}: [intervening]: {message}")]
    Intervening { line: usize, message: String },
    /// The `[prediction]` table is wrong.
    #[error("line {line}: [prediction]: {message}")]
    Prediction { line: usize, message: String },
    /// A `[[label]]` table is wrong.
    #[error("line {line}: [[label]]: {message}")]
    Label { line: usize, message: String },
    #[error("line {line}: a second rule `{id}` (the first begins in line {first})")]
    Duplicate {
        /// The line of the second rule.
        line: usize,
        id: String,
        /// The line of the first rule.
        first: usize,
    },
    /// A key of a rule is wrong.
    #[error("line {line}: rule {rule}: {message}")]
    Rule {
        line: usize,
        /// The id in quotes, or the number of the rule from 1 if it has no id.
        rule: String,
        message: String,
    },
    /// The kind or a parameter of a rule is wrong.
    #[error("line {line}: rule {rule}: {source}")]
    Parameter {
        line: usize,
        /// The id in quotes.
        rule: String,
        source: RuleError,
    },
}

impl PolicyError {
    /// The syntax error of a file that is not TOML.
    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map_or(1, |span| line_number(text, &span));
        Self::Syntax { line, message: error.message().to_owned() }
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
