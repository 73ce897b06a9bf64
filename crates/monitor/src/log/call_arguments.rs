//! Where an object holds the arguments of the call that it states.

use serde_json::{Map, Value};

use super::call_words::normal;

const ARGUMENT_KEYS: [&str; 11] = [
    "arguments",
    "input",
    "args",
    "parameters",
    "tool_input",
    "toolInput",
    "tool_args",
    "toolArgs",
    "tool_arguments",
    "action_input",
    "kwargs",
];
/// Words of keys, in any case, that hold arguments.
pub(super) const ARGUMENT_WORDS: [&str; 18] = [
    "arguments",
    "argument",
    "input",
    "args",
    "parameters",
    "params",
    "kwargs",
    "tool_input",
    "tool_args",
    "tool_arguments",
    "tool_params",
    "tool_parameters",
    "function_args",
    "action_input",
    "raw_input",
    "arguments_json",
    "toolargs",
    "toolinput",
];

/// The arguments beside a name, unless they are the schema of a definition.
pub(super) fn arguments_of(fields: &Map<String, Value>) -> Option<(&'static str, &Value)> {
    let is_value = |value: &Value| !(value.is_null() || value.is_number() || value.is_boolean());
    ARGUMENT_KEYS
        .iter()
        .find_map(|key| Some((*key, fields.get(*key).filter(|value| is_value(value) && !is_schema(value))?)))
}

/// The arguments beside a name, under a usual key or under a word for them.
pub(super) fn any_arguments(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    arguments_of(fields).or_else(|| worded_arguments(fields))
}

/// Whether a call without arguments has something else with parts, which may be its arguments under an unknown key.
pub(super) fn has_unknown_parts(fields: &Map<String, Value>) -> bool {
    const KNOWN: [&str; 18] = [
        "caller",
        "cache_control",
        "metadata",
        "usage",
        "status",
        "annotations",
        "extra_content",
        "provider_metadata",
        "provider_options",
        "function",
        "custom",
        "result",
        "output",
        "response",
        "content",
        "error",
        "tool_choice",
        "tool_use_result",
    ];
    fields.iter().any(|(key, value)| {
        let is_filled = value.as_object().is_some_and(|parts| !parts.is_empty());
        is_filled && !is_one_of(key, &KNOWN)
    })
}

/// The value of a key that is a word for arguments in any spelling.
pub(super) fn worded_arguments(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        other => !other.is_string(),
    };
    // Other words than the usual ones often have empty values that say nothing.
    let may_be_empty = |key: &str, value: &Value| !value.is_array() && ARGUMENT_KEYS.contains(&key);
    let mut entries = fields.iter().map(|(key, value)| (key.as_str(), value));
    entries.find(|(key, value)| {
        let is_scalar = value.is_null() || value.is_number() || value.is_boolean();
        let has_value = !is_scalar && !is_schema(value) && (!is_empty(value) || may_be_empty(key, value));
        is_one_of(key, &ARGUMENT_WORDS) && has_value
    })
}

pub(super) fn is_schema(value: &Value) -> bool {
    let is_typed = matches!(value.get("type"), Some(Value::String(kind)) if kind.eq_ignore_ascii_case("object"));
    is_typed && (value.get("properties").is_some() || value.as_object().is_some_and(|fields| fields.len() == 1))
        || value.get("$schema").is_some()
        || value.get("properties").is_some_and(Value::is_object)
}

pub(super) fn is_one_of(key: &str, words: &[&str]) -> bool {
    words.contains(&&*normal(key))
}
