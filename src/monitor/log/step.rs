//! One state of a log, holding only what the formulas ask for.

use std::borrow::Cow;
use std::sync::Arc;

use crate::monitor::propositions::{MODEL, StepText};
use crate::temporal::{Record, Value};

/// Names of application predicates that any log has.
pub const CALLS: [&str; 5] = ["contains", "starts_with", "ends_with", "one_of", "defined"];

/// What a record can tell besides fields.
pub(super) const TOLD: [&str; 3] = ["tool_call", "text", "stop_reason"];

/// A value that is no list and no object.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// `null`
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// An integer that no double holds.
    Integer(i128),
    /// A text.
    Text(String),
}

impl Scalar {
    pub(super) fn integer(value: i128) -> Self {
        match Value::integer(value) {
            Value::Number(number) => Self::Number(number),
            _ => Self::Integer(value),
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(value) => Value::Number(*value),
            Self::Integer(value) => Value::Integer(*value),
            Self::Text(value) => Value::Text(Cow::Borrowed(value)),
        }
    }

    pub(super) fn is_written(&self, text: &str) -> bool {
        match self {
            Self::Null => text.is_empty() || text == "null",
            Self::Text(value) => value == text,
            Self::Bool(_) | Self::Number(_) | Self::Integer(_) => self.value().to_string() == text,
        }
    }
}

/// One state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    pub(super) names: Arc<[String]>,
    /// By the number of the name; the rank tells from which of several places a value comes, lower ones go first.
    pub(super) values: Vec<Option<(u8, Scalar)>>,
    /// Fields that hold a list or an object: defined, but without a value.
    pub(super) compound: Vec<bool>,
    pub(super) tools: Vec<String>,
    /// What tools were called with, by the number of the tool, where a model has to judge that.
    pub(super) arguments: Vec<(usize, String)>,
    pub(super) text: String,
    /// Where the text is kept, until it is fetched.
    pub(super) text_kept: Option<String>,
    pub(super) stop: Option<(u8, String)>,
    /// What the record says that a model has found true, whatever it was asked.
    pub(super) told_labels: Vec<String>,
    /// The same of what rules speak of; `None` where it was not asked, or nothing is known of that.
    pub(super) model: Option<FoundTrue>,
}

/// What a model has found true of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundTrue {
    /// The propositions.
    pub names: Vec<Arc<str>>,
    /// Who said so, where the log tells.
    pub by: Option<String>,
}

impl Step {
    pub(super) fn new(names: &Arc<[String]>) -> Self {
        Self {
            names: names.clone(),
            values: vec![None; names.len()],
            compound: vec![false; names.len()],
            ..Self::default()
        }
    }

    /// Back to nothing known, for the next record.
    pub(super) fn clear(&mut self) {
        self.values.fill(None);
        self.compound.fill(false);
        self.tools.clear();
        self.arguments.clear();
        self.text.clear();
        self.text_kept = None;
        self.stop = None;
        self.told_labels.clear();
        self.model = None;
    }

    /// Which of the wanted fields this record has, by the number of the name.
    pub(super) fn defined(&self) -> impl Iterator<Item = bool> + '_ {
        self.values.iter().zip(&self.compound).map(|(value, compound)| value.is_some() || *compound)
    }

    /// Whether it tells what [`TOLD`] names.
    pub(super) fn told(&self) -> [bool; 3] {
        [!self.tools.is_empty(), !self.text.is_empty(), self.stop.is_some()]
    }

    /// What a model could judge of it. A text that is only named by the log is there once it is fetched.
    pub fn judged(&self) -> StepText {
        let mut tools = self.tools.clone();
        for (number, arguments) in &self.arguments {
            tools[*number] = format!("{} {arguments}", tools[*number]);
        }
        StepText { text: self.text.clone(), tools }
    }

    /// Whether it names a text that was not fetched.
    pub fn lacks_text(&self) -> bool {
        self.text_kept.is_some()
    }

    /// What a model has found true of it; `None` where no label of it is known.
    pub fn labels(&self) -> Option<&FoundTrue> {
        self.model.as_ref()
    }

    fn scalar(&self, name: &str) -> Option<&Scalar> {
        let at = self.names.iter().position(|n| n == name)?;
        self.values[at].as_ref().map(|(_, scalar)| scalar)
    }

    /// The value of a wanted field as text.
    pub fn text_of(&self, name: &str) -> Option<Cow<'_, str>> {
        Some(match self.scalar(name)? {
            Scalar::Text(text) => Cow::Borrowed(text.as_str()),
            Scalar::Null => return None,
            other => Cow::Owned(other.value().to_string()),
        })
    }

    /// The wanted fields that have a value.
    pub fn fields(&self) -> impl Iterator<Item = (&str, Value<'_>)> {
        let named = self.names.iter().zip(&self.values);
        named.filter_map(|(name, value)| value.as_ref().map(|(_, scalar)| (name.as_str(), scalar.value())))
    }
}

impl Record for Step {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.scalar(name).map(Scalar::value)
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        Some(match kind {
            "tool_call" => self.tools.iter().any(|tool| tool == text),
            "stop_reason" => self.stop.as_ref().is_some_and(|(_, stop)| stop == text),
            "text_contains" => self.text.contains(text),
            MODEL => self.model.iter().flat_map(|found| &found.names).any(|name| **name == *text),
            "extra" => match text.split_once('=') {
                Some((key, value)) => self.scalar(key).map_or(value.is_empty(), |scalar| scalar.is_written(value)),
                None => false,
            },
            _ => return None,
        })
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        Some(match (name, arguments) {
            ("contains", [Value::Text(text), Value::Text(part)]) => text.contains(part.as_ref()),
            ("starts_with", [Value::Text(text), Value::Text(part)]) => text.starts_with(part.as_ref()),
            ("ends_with", [Value::Text(text), Value::Text(part)]) => text.ends_with(part.as_ref()),
            ("one_of", [value, choices @ ..]) => choices.contains(value),
            ("defined", [_]) => true,
            _ => return None,
        })
    }
}
