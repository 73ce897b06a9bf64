//! One state of a log, holding only what the formulas read.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::propositions::{MODEL, StepText};
use tlaforge_temporal::{Record, Value};

/// The predicates that formulas can use on any log.
pub const BUILTIN_PREDICATES: [&str; 5] = ["contains", "starts_with", "ends_with", "one_of", "defined"];

/// What a record can hold besides fields.
pub(super) const OBSERVATIONS: [&str; 3] = ["tool_call", "text", "stop_reason"];

/// A JSON value that is neither a list nor an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Null,
    Bool(bool),
    Number(f64),
    /// An integer that no double represents exactly.
    Integer(i128),
    Text(String),
}

impl Scalar {
    pub(super) fn integer(value: i128) -> Self {
        match Value::integer(value) {
            Value::Number(number) => Self::Number(number),
            _ => Self::Integer(value),
        }
    }

    /// The scalar of a JSON value; `Null` for lists and objects.
    pub(super) fn from_json(value: &serde_json::Value) -> Self {
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

    /// Whether `extra:NAME=text` and a policy's `values = [text]` match this value.
    pub(super) fn equals_text(&self, text: &str) -> bool {
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
    /// By the number of the field: the value, and the rank of the path that it comes from. Lower ranks take precedence.
    pub(super) values: Vec<Option<(u8, Scalar)>>,
    /// By the number of the field: whether it holds a list or an object, so that it is defined but has no value.
    pub(super) compound: Vec<bool>,
    /// By the number of the field: the values that `any` and `every` read, and the rank of their path; `None` stands for
    /// an object.
    pub(super) all_values: Vec<(u8, Arc<Vec<Option<Scalar>>>)>,
    /// The number of a field that is read as one value although a list leads to it.
    pub(super) crossed_list: Option<usize>,
    pub(super) tools: Vec<String>,
    /// For each tool, the number of the path in the mapping that leads to it.
    pub(super) call_paths: Vec<usize>,
    /// The arguments of calls, each with the number of the call, sorted; read only if rules or a model need them.
    pub(super) arguments: Vec<(usize, serde_json::Value)>,
    /// A value beside the name of a tool that may be its arguments.
    pub(super) sibling_arguments: Option<serde_json::Value>,
    /// The `name` of a plain record, which together with parameters is a call.
    pub(super) plain_name: Option<String>,
    pub(super) plain_parameters: Option<serde_json::Value>,
    pub(super) text: String,
    /// The parts of the text, each with the number of the call that it precedes.
    pub(super) text_parts: Vec<(usize, Range<usize>)>,
    /// Whether a list with texts and calls is being read, so that the order of its elements counts.
    pub(super) in_blocks: bool,
    /// The name of the stored text, until it is fetched.
    pub(super) stored_text: Option<String>,
    /// The stop reason, and the rank of its path.
    pub(super) stop_reason: Option<(u8, String)>,
    /// The propositions that a model has found true, as the record says, whatever the model was asked.
    pub(super) recorded_labels: Vec<String>,
    /// The propositions that rules use and a model has found true; `None` if no label of this step is known.
    pub(super) model_labels: Option<ModelLabels>,
}

/// The propositions that a model has found true of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelLabels {
    pub names: Vec<Arc<str>>,
    /// The model, if the log names it.
    pub model: Option<String>,
}

impl Step {
    pub(super) fn new(names: &Arc<[String]>) -> Self {
        Self {
            names: names.clone(),
            values: vec![None; names.len()],
            compound: vec![false; names.len()],
            all_values: vec![(u8::MAX, Arc::default()); names.len()],
            ..Self::default()
        }
    }

    /// Empties the step for the next record, and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.values.fill(None);
        self.compound.fill(false);
        for (rank, list) in self.all_values.iter_mut().filter(|(rank, _)| *rank != u8::MAX) {
            *rank = u8::MAX;
            *list = Arc::default();
        }
        self.crossed_list = None;
        self.tools.clear();
        self.call_paths.clear();
        self.arguments.clear();
        self.sibling_arguments = None;
        self.plain_name = None;
        self.plain_parameters = None;
        self.text.clear();
        self.text_parts.clear();
        self.in_blocks = false;
        self.stored_text = None;
        self.stop_reason = None;
        self.recorded_labels.clear();
        self.model_labels = None;
    }

    /// By the number of the field, whether it has a value.
    pub(super) fn valued(&self) -> impl Iterator<Item = bool> + '_ {
        let all = self.values.iter().zip(&self.all_values);
        all.map(|(value, (_, list))| value.is_some() || list.iter().any(Option::is_some))
    }

    /// By the number of the field, whether the record has it.
    pub(super) fn defined(&self) -> impl Iterator<Item = bool> + '_ {
        let all = self.values.iter().zip(&self.compound).zip(&self.all_values);
        all.map(|((value, compound), (_, list))| value.is_some() || *compound || !list.is_empty())
    }

    /// Adds a call, in order.
    pub(super) fn add_call(&mut self, tool: String, path: usize, arguments: Option<serde_json::Value>) {
        self.arguments.extend(arguments.map(|arguments| (self.tools.len(), arguments)));
        self.tools.push(tool);
        self.call_paths.push(path);
    }

    /// Sets the arguments of a call.
    pub(super) fn set_arguments(&mut self, call: usize, arguments: Option<serde_json::Value>) {
        let Some(arguments) = arguments else { return };
        match self.arguments.binary_search_by_key(&call, |(number, _)| *number) {
            Ok(at) => self.arguments[at].1 = arguments,
            Err(at) => self.arguments.insert(at, (call, arguments)),
        }
    }

    /// The arguments of the call with this number.
    pub(super) fn arguments_of(&self, call: usize) -> Option<&serde_json::Value> {
        let at = self.arguments.binary_search_by_key(&call, |(number, _)| *number).ok()?;
        Some(&self.arguments[at].1)
    }

    /// Adds text on a line of its own; within blocks it belongs to the call that follows it.
    pub(super) fn add_text(&mut self, text: &str) {
        add_line(&mut self.text, text);
        let from = self.text.len() - text.len();
        let call = if self.in_blocks { self.tools.len() } else { 0 };
        self.text_parts.push((call, from..self.text.len()));
    }

    /// Sets the value of a field unless it has one of a lower rank.
    pub(super) fn set_value(&mut self, number: usize, rank: u8, value: impl FnOnce() -> Scalar) {
        let slot = &mut self.values[number];
        if slot.as_ref().is_none_or(|(before, _)| rank <= *before) {
            *slot = Some((rank, value()));
        }
    }

    /// Adds a value that `any` and `every` read; only values of the lowest rank are kept.
    pub(super) fn add_value(&mut self, number: usize, rank: u8, value: Option<Scalar>) {
        let (before, list) = &mut self.all_values[number];
        if rank < *before {
            *before = rank;
            *list = Arc::default();
        }
        if rank == *before {
            Arc::make_mut(list).push(value);
        }
    }

    /// Which of [`OBSERVATIONS`] the record has.
    pub(super) fn observations(&self) -> [bool; 3] {
        [!self.tools.is_empty(), !self.text.is_empty(), self.stop_reason.is_some()]
    }

    /// The text that a model judges. A stored text is in it only after it was fetched.
    pub fn text_to_judge(&self) -> StepText {
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

    /// Whether the record names a stored text that was not fetched.
    pub fn lacks_text(&self) -> bool {
        self.stored_text.is_some()
    }

    /// The propositions that a model has found true; `None` if no label of this step is known.
    pub fn model_labels(&self) -> Option<&ModelLabels> {
        self.model_labels.as_ref()
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    fn scalar(&self, name: &str) -> Option<&Scalar> {
        self.values[self.number(name)?].as_ref().map(|(_, scalar)| scalar)
    }

    /// The value of a field as text; `None` for `null` too.
    pub fn text_of(&self, name: &str) -> Option<Cow<'_, str>> {
        Some(match self.scalar(name)? {
            Scalar::Text(text) => Cow::Borrowed(text.as_str()),
            Scalar::Null => return None,
            other => Cow::Owned(other.value().to_string()),
        })
    }

    /// The fields that have a value.
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
        self.all_values[at].1.iter().map(|scalar| scalar.as_ref().map(Scalar::value)).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.number(name).is_some_and(|at| self.values[at].is_some() || self.compound[at])
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        Some(match kind {
            "tool_call" => self.tools.iter().any(|tool| tool == text),
            "stop_reason" => self.stop_reason.as_ref().is_some_and(|(_, stop)| stop == text),
            "text_contains" => self.text.contains(text),
            MODEL => self.model_labels.iter().flat_map(|labels| &labels.names).any(|name| **name == *text),
            "extra" => match text.split_once('=') {
                Some((key, value)) => self.scalar(key).map_or(value.is_empty(), |scalar| scalar.equals_text(value)),
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
