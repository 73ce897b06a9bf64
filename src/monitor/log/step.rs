//! One state of a log, holding only what the formulas ask for.

use std::borrow::Cow;
use std::ops::Range;
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

    /// A JSON value that is neither a list nor an object.
    pub(super) fn of(value: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match value {
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(integer), ..) => Self::integer(integer.into()),
                (_, Some(integer), _) => Self::integer(integer.into()),
                (.., Some(number)) => Self::Number(number),
                _ => Self::Null,
            },
            Json::String(text) => Self::Text(text.clone()),
            Json::Null | Json::Array(_) | Json::Object(_) => Self::Null,
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
    /// Values of fields that are read by `any` and `every`, with the rank of the place that they come from; `None` is an
    /// object.
    pub(super) lists: Vec<(u8, Arc<Vec<Option<Scalar>>>)>,
    /// The number of a field that is read as one value, and that a list leads to.
    pub(super) crosses: Option<usize>,
    pub(super) tools: Vec<String>,
    /// For each tool, the number of the path that led to it.
    pub(super) paths: Vec<usize>,
    /// What tools were called with, by the number of the tool, if rules read that or a model has to judge it.
    pub(super) arguments: Vec<(usize, serde_json::Value)>,
    /// What stands beside the name of a tool in a record, and may be its arguments.
    pub(super) beside: Option<serde_json::Value>,
    /// The name and the parameters of a plain record, which together are a call.
    pub(super) named: Option<String>,
    pub(super) named_with: Option<serde_json::Value>,
    pub(super) text: String,
    /// The parts of the text, each with the number of the call that it precedes.
    pub(super) parts: Vec<(usize, Range<usize>)>,
    /// Whether the elements of a list with texts and calls are being read, so that their order counts.
    pub(super) in_blocks: bool,
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
            lists: vec![(u8::MAX, Arc::default()); names.len()],
            ..Self::default()
        }
    }

    /// Back to nothing known, for the next record.
    pub(super) fn clear(&mut self) {
        self.values.fill(None);
        self.compound.fill(false);
        for (rank, list) in self.lists.iter_mut().filter(|(rank, _)| *rank != u8::MAX) {
            *rank = u8::MAX;
            *list = Arc::default();
        }
        self.crosses = None;
        self.tools.clear();
        self.paths.clear();
        self.arguments.clear();
        self.beside = None;
        self.named = None;
        self.named_with = None;
        self.text.clear();
        self.parts.clear();
        self.in_blocks = false;
        self.text_kept = None;
        self.stop = None;
        self.told_labels.clear();
        self.model = None;
    }

    /// Which of the wanted fields this record has a value of, by the number of the name.
    pub(super) fn valued(&self) -> impl Iterator<Item = bool> + '_ {
        let all = self.values.iter().zip(&self.lists);
        all.map(|(value, (_, list))| value.is_some() || list.iter().any(Option::is_some))
    }

    /// Which of the wanted fields this record has, by the number of the name.
    pub(super) fn defined(&self) -> impl Iterator<Item = bool> + '_ {
        let all = self.values.iter().zip(&self.compound).zip(&self.lists);
        all.map(|((value, compound), (_, list))| value.is_some() || *compound || !list.is_empty())
    }

    /// Adds a call, in order.
    pub(super) fn add_call(&mut self, tool: String, path: usize, arguments: Option<serde_json::Value>) {
        self.arguments.extend(arguments.map(|arguments| (self.tools.len(), arguments)));
        self.tools.push(tool);
        self.paths.push(path);
    }

    /// What a call was given.
    pub(super) fn arguments_of(&self, call: usize) -> Option<&serde_json::Value> {
        let at = self.arguments.binary_search_by_key(&call, |(number, _)| *number).ok()?;
        Some(&self.arguments[at].1)
    }

    /// Adds a line of text; within blocks it belongs to the call that follows it.
    pub(super) fn write(&mut self, text: &str) {
        add_line(&mut self.text, text);
        let from = self.text.len() - text.len();
        let call = if self.in_blocks { self.tools.len() } else { 0 };
        self.parts.push((call, from..self.text.len()));
    }

    /// Adds a value of a field that is read by `any` and `every`; only the places of the lowest rank count.
    pub(super) fn add_value(&mut self, number: usize, rank: u8, value: Option<Scalar>) {
        let (before, list) = &mut self.lists[number];
        if rank < *before {
            *before = rank;
            *list = Arc::default();
        }
        if rank == *before {
            Arc::make_mut(list).push(value);
        }
    }

    /// Whether it tells what [`TOLD`] names.
    pub(super) fn told(&self) -> [bool; 3] {
        [!self.tools.is_empty(), !self.text.is_empty(), self.stop.is_some()]
    }

    /// What a model could judge of it. A text that is only named by the log is there once it is fetched.
    pub fn judged(&self) -> StepText {
        let mut tools = self.tools.clone();
        for (number, arguments) in &self.arguments {
            let arguments = match arguments {
                serde_json::Value::String(text) => Cow::Borrowed(text.as_str()),
                other => Cow::Owned(other.to_string()),
            };
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

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    fn scalar(&self, name: &str) -> Option<&Scalar> {
        self.values[self.number(name)?].as_ref().map(|(_, scalar)| scalar)
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

pub(super) fn add_line(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

impl Record for Step {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.scalar(name).map(Scalar::value)
    }

    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        let Some(at) = self.number(name) else { return Vec::new() };
        self.lists[at].1.iter().map(|scalar| scalar.as_ref().map(Scalar::value)).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.number(name).is_some_and(|at| self.values[at].is_some() || self.compound[at])
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
