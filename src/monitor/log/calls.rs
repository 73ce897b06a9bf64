//! What rules read of each tool call: `tool.name`, and `tool.input` with all that is below it.

use serde_json::Value;

use super::mapping::{Mapping, Shape};
use super::reads::{FieldReads, Reads};
use super::step::{Scalar, Step};

/// The fields of calls that rules read.
#[derive(Debug, Clone)]
pub(super) struct Calls {
    fields: Vec<CallField>,
    /// Whether each call of a record is a state. An event of a journal is always one state.
    pub(super) are_states: bool,
}

#[derive(Debug, Clone)]
struct CallField {
    number: usize,
    /// The keys below the input; `None` is the tool's name.
    below_input: Option<Vec<String>>,
    reads: Reads,
}

/// What a path leads to in the input of calls.
#[derive(Default)]
struct Values {
    all: Vec<Option<Scalar>>,
    /// Whether a list is on the way.
    through_list: bool,
    /// Whether a list is at the end.
    is_list: bool,
}

impl Calls {
    pub(super) fn new(mapping: &Mapping, names: &[String], read: &FieldReads) -> Self {
        let are_states = mapping.tool_call.is_some() && mapping.shape != Some(Shape::Journal);
        let field = |(number, name): (usize, &String)| {
            let below_input = match name.strip_prefix("tool.")? {
                "name" => None,
                "input" => Some(Vec::new()),
                other => Some(other.strip_prefix("input.")?.split('.').map(str::to_owned).collect()),
            };
            Some(CallField { number, below_input, reads: read.of_name(name) })
        };
        let fields = if are_states { names.iter().enumerate().filter_map(field).collect() } else { Vec::new() };
        Self { fields, are_states }
    }

    /// Whether a field is one of calls.
    pub(super) fn reads(&self, number: usize) -> bool {
        self.fields.iter().any(|field| field.number == number)
    }

    /// Whether the input of calls is read.
    pub(super) fn read_input(&self) -> bool {
        self.fields.iter().any(|field| field.below_input.is_some())
    }

    /// Sets the fields of the calls of a step; those of several calls are read by `any` and `every` alone.
    pub(super) fn fill(&self, step: &mut Step) {
        if self.fields.is_empty() || step.tools.is_empty() {
            return;
        }
        let inputs = self.inputs(step);
        for field in &self.fields {
            let mut values = Values::default();
            match &field.below_input {
                None => values.all.extend(step.tools.iter().map(|name| Some(Scalar::Text(name.clone())))),
                // The record may have such a field itself.
                Some(_) if inputs.is_empty() => continue,
                Some(keys) => inputs.iter().for_each(|input| values.find_in_input(input, keys)),
            }
            let Values { all, through_list, is_list } = values;
            let number = field.number;
            if through_list || is_list && field.reads.one {
                step.crosses = step.crosses.or(Some(number).filter(|_| field.reads.one || field.reads.there));
            }
            step.compound[number] = is_list || all.iter().any(Option::is_none);
            let one = all.first().cloned().flatten().filter(|_| step.tools.len() == 1);
            step.values[number] = one.map(|scalar| (0, scalar));
            if field.reads.all {
                step.lists[number] = (0, all.into());
            }
        }
    }

    /// What the calls of a step were given.
    fn inputs(&self, step: &Step) -> Vec<Value> {
        if !self.read_input() {
            return Vec::new();
        }
        (0..step.tools.len())
            .filter_map(|call| step.arguments_of(call).or(step.beside.as_ref()).map(read_arguments))
            .collect()
    }
}

/// Arguments as JSON: what is written in a text is read; a text that is none stays a text.
pub(super) fn read_arguments(value: &Value) -> Value {
    let read = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    read.filter(|read: &Value| read.is_object() || read.is_array()).unwrap_or_else(|| value.clone())
}

impl Values {
    /// Arguments that are a text, and no JSON that can be read, are the value of each of their fields: a rule that looks
    /// for something in a field must not miss it because the text is damaged.
    fn find_in_input(&mut self, input: &Value, keys: &[String]) {
        if input.is_string() { self.all.push(Some(Scalar::of(input))) } else { self.find(input, keys) }
    }

    fn find(&mut self, value: &Value, keys: &[String]) {
        match (value, keys.split_first()) {
            (Value::Array(items), rest) => {
                *(if rest.is_some() { &mut self.through_list } else { &mut self.is_list }) = true;
                for item in items {
                    self.find(item, keys);
                }
            }
            (Value::Object(fields), Some((key, rest))) => {
                fields.get(key).into_iter().for_each(|value| self.find(value, rest));
            }
            (Value::Object(_), None) => self.all.push(None),
            (_, Some(_)) => {}
            (scalar, None) => self.all.push(Some(Scalar::of(scalar))),
        }
    }
}
