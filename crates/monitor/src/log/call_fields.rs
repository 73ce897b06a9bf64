//! The fields of tool calls that rules read: `tool.name`, and `tool.input` with the keys below it.

use serde_json::Value;

use super::field_reads::{FieldReads, FieldUse};
use super::mapping::{Mapping, Shape};
use super::step::{Scalar, Step};

/// The fields of calls that rules read.
#[derive(Debug, Clone)]
pub(super) struct CallFields {
    fields: Vec<CallField>,
    /// Whether each call of a record is a state of its own. An event of a journal is always one state.
    pub(super) calls_are_states: bool,
}

#[derive(Debug, Clone)]
struct CallField {
    number: usize,
    /// The keys below `tool.input`; `None` for `tool.name`.
    input_path: Option<Vec<String>>,
    field_use: FieldUse,
}

/// The values that a path leads to in the input of calls.
#[derive(Default)]
struct Values {
    all: Vec<Option<Scalar>>,
    /// Whether the path leads through a list.
    through_list: bool,
    /// Whether the path ends at a list.
    is_list: bool,
}

impl CallFields {
    pub(super) fn new(mapping: &Mapping, names: &[String], reads: &FieldReads) -> Self {
        let calls_are_states = mapping.tool_call.is_some() && mapping.shape != Some(Shape::Journal);
        let field = |(number, name): (usize, &String)| {
            let input_path = match name.strip_prefix("tool.")? {
                "name" => None,
                "input" => Some(Vec::new()),
                other => Some(other.strip_prefix("input.")?.split('.').map(str::to_owned).collect()),
            };
            Some(CallField { number, input_path, field_use: reads.use_of(name) })
        };
        let fields = if calls_are_states { names.iter().enumerate().filter_map(field).collect() } else { Vec::new() };
        Self { fields, calls_are_states }
    }

    /// Whether the field with this number is a field of calls.
    pub(super) fn contains(&self, number: usize) -> bool {
        self.fields.iter().any(|field| field.number == number)
    }

    /// Whether rules read the input of calls.
    pub(super) fn read_input(&self) -> bool {
        self.fields.iter().any(|field| field.input_path.is_some())
    }

    /// Sets the fields of the calls of a step; fields of several calls can only be read by `any` and `every`.
    pub(super) fn fill(&self, step: &mut Step) {
        if self.fields.is_empty() || step.tools.is_empty() {
            return;
        }
        let inputs = self.inputs(step);
        for field in &self.fields {
            let mut values = Values::default();
            match &field.input_path {
                None => values.all.extend(step.tools.iter().map(|name| Some(Scalar::Text(name.clone())))),
                // The record itself may have a field of this name.
                Some(_) if inputs.is_empty() => continue,
                Some(keys) => inputs.iter().for_each(|input| values.find_in_input(input, keys)),
            }
            let Values { all, through_list, is_list } = values;
            let number = field.number;
            let FieldUse { single, defined, quantified } = field.field_use;
            if through_list || is_list && single {
                step.crossed_list = step.crossed_list.or(Some(number).filter(|_| single || defined));
            }
            step.compound[number] = is_list || all.iter().any(Option::is_none);
            let value = all.first().cloned().flatten().filter(|_| step.tools.len() == 1);
            step.values[number] = value.map(|scalar| (0, scalar));
            if quantified {
                step.all_values[number] = (0, all.into());
            }
        }
    }

    /// The arguments of the calls of a step, as JSON.
    fn inputs(&self, step: &Step) -> Vec<Value> {
        if !self.read_input() {
            return Vec::new();
        }
        (0..step.tools.len())
            .filter_map(|call| step.arguments_of(call).or(step.sibling_arguments.as_ref()).map(parse_arguments))
            .collect()
    }
}

/// Arguments as JSON: `OpenAI` writes them as JSON in a text, which is parsed; any other text stays a text.
pub(super) fn parse_arguments(value: &Value) -> Value {
    let parsed = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    parsed.filter(|parsed: &Value| parsed.is_object() || parsed.is_array()).unwrap_or_else(|| value.clone())
}

impl Values {
    /// Arguments that are a text, and not valid JSON, count as the value of every field: a rule that looks for something
    /// in a field must not miss it because the text is damaged.
    fn find_in_input(&mut self, input: &Value, keys: &[String]) {
        if input.is_string() { self.all.push(Some(Scalar::from_json(input))) } else { self.find(input, keys) }
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
            (scalar, None) => self.all.push(Some(Scalar::from_json(scalar))),
        }
    }
}
