//! Where an object holds the arguments of the call that it states.

use serde_json::{Map, Value};

use super::call_fields::parse_arguments;
use super::call_words::normal;

const ARGUMENT_KEYS: [&str; 12] = [
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
    "tool_kwargs",
];
/// Words of keys, in any case, that hold arguments.
pub(super) const ARGUMENT_WORDS: [&str; 20] = [
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
    "tool_kwargs",
    "parsed_arguments",
];
/// Words of keys, in any case, that hold a part of the input of an object that is a call anyway.
pub(super) const PAYLOAD_WORDS: [&str; 10] =
    ["command", "cmd", "payload", "data", "code", "query", "path", "body", "script", "inputs"];
/// Payload words that count even beside arguments, because they rarely mean anything else.
const INPUT_WORDS: [&str; 7] = ["command", "cmd", "payload", "code", "body", "script", "inputs"];

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    pub(super) keys: Vec<&'a str>,
    pub(super) value: Value,
    /// Whether they are under several keys.
    pub(super) are_joined: bool,
    /// Whether they may be wrong or incomplete: two keys differ, or the key is unknown.
    pub(super) are_uncertain: bool,
}

impl<'a> Arguments<'a> {
    /// Joins the arguments under some keys. An empty value counts only if there is no other.
    fn join(found: &[(&'a str, &Value)]) -> Option<Self> {
        let filled: Vec<(&'a str, Value)> = found
            .iter()
            .map(|(key, value)| (*key, parse_arguments(value)))
            .filter(|(_, value)| !is_empty(value))
            .collect();
        let keys = found.iter().map(|(key, _)| *key).collect();
        let (are_joined, are_uncertain) = (false, false);
        let mut all = match &filled[..] {
            [] => {
                return found.first().map(|(_, value)| Self {
                    keys,
                    value: (*value).clone(),
                    are_joined,
                    are_uncertain,
                });
            }
            // A list is one part of the input, and its key names it.
            [(key, value)] if value.is_array() && is_one_of(key, &PAYLOAD_WORDS) => {
                let value = Value::Object(Map::from_iter([(normal(key).into_owned(), value.clone())]));
                return Some(Self { keys, value, are_joined, are_uncertain });
            }
            [(_, value)] => return Some(Self { keys, value: value.clone(), are_joined, are_uncertain }),
            _ => Self { keys, value: Value::Null, are_joined: true, are_uncertain },
        };
        let mut joined = Map::new();
        let mut put = |key: &str, value: Value| match joined.get(key) {
            Some(known) => all.are_uncertain |= *known != value,
            None => _ = joined.insert(key.to_owned(), value),
        };
        for (key, value) in &filled {
            match value {
                Value::Object(fields) => fields.iter().for_each(|(name, value)| put(name, value.clone())),
                other => put(&normal(key), other.clone()),
            }
        }
        all.value = Value::Object(joined);
        if all.are_uncertain {
            // As a text, they count as the value of every field, so that no key hides what another one has.
            let lines: Vec<String> = filled.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            all.value = Value::String(lines.join("\n"));
        }
        Some(all)
    }
}

/// Whether a key, in any spelling, may hold a part of the input of a call that has other arguments.
pub(super) fn is_input_word(key: &str) -> bool {
    // Asked of every key of a log: most are rejected by their length and first letter.
    let may_be = (3..=7).contains(&key.len()) && b"cpbsiCPBSI".contains(&key.as_bytes()[0]);
    may_be && is_one_of(key, &INPUT_WORDS)
}

pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Joins the arguments of a call from all known keys.
pub(super) fn joined_arguments(fields: &Map<String, Value>) -> Option<Arguments<'_>> {
    let is_scalar = |value: &Value| value.is_null() || value.is_number() || value.is_boolean();
    let values = || fields.iter().map(|(key, value)| (key.as_str(), value)).filter(|(_, value)| !is_scalar(value));
    let is_usual = |key: &str| ARGUMENT_KEYS.contains(&key) || is_one_of(key, &ARGUMENT_WORDS);
    let mut found: Vec<(&str, &Value)> = values().filter(|(key, value)| is_usual(key) && !is_schema(value)).collect();
    let is_filled = |(_, value): &(&str, &Value)| !is_empty(value);
    let more: &[&str] = if found.iter().any(is_filled) { &INPUT_WORDS } else { &PAYLOAD_WORDS };
    found.extend(values().filter(|(key, value)| is_one_of(key, more) && !is_empty(value) && !is_schema(value)));
    Arguments::join(&found)
}

/// Joins the payload keys of an object that names a tool but has no key for arguments.
pub(super) fn joined_payload(fields: &Map<String, Value>) -> Option<Arguments<'_>> {
    let values = fields.iter().map(|(key, value)| (key.as_str(), value));
    let is_payload = |(key, value): &(&str, &Value)| {
        is_one_of(key, &PAYLOAD_WORDS) && (value.is_string() || value.is_object()) && !is_empty(value)
    };
    Arguments::join(&values.filter(is_payload).collect::<Vec<_>>())
}

/// The arguments beside a name, unless they are the schema of a definition.
pub(super) fn arguments_of(fields: &Map<String, Value>) -> Option<(&'static str, &Value)> {
    let is_value = |value: &Value| !(value.is_null() || value.is_number() || value.is_boolean());
    ARGUMENT_KEYS
        .iter()
        .find_map(|key| Some((*key, fields.get(*key).filter(|value| is_value(value) && !is_schema(value))?)))
}

/// Finds objects and lists under unknown keys, which may be the arguments.
pub(super) fn unknown_parts(fields: &Map<String, Value>) -> Option<Arguments<'_>> {
    const KNOWN: [&str; 34] = [
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
        "structured_content",
        "outputs",
        "tags",
        "call_provider_metadata",
        "citations",
        "view",
        // The search visits these itself.
        "tool_calls",
        "tool_call",
        "function_call",
        "function_calls",
        "tool_uses",
        "tools",
        "messages",
        "events",
        "attributes",
        "context",
    ];
    let is_unknown = |(key, value): &(&str, &Value)| {
        let is_filled = value.as_object().is_some_and(|parts| !parts.is_empty())
            || value.as_array().is_some_and(|items| items.iter().any(Value::is_object));
        is_filled && !is_one_of(key, &KNOWN)
    };
    let found: Vec<(&str, &Value)> =
        fields.iter().map(|(key, value)| (key.as_str(), value)).filter(is_unknown).collect();
    // These may not be the arguments, or not all of them.
    Arguments::join(&found).map(|found| Arguments { are_uncertain: true, ..found })
}

/// The value of a key that is a word for arguments in any spelling.
pub(super) fn worded_arguments(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    // Other words than the usual ones often have empty values that say nothing.
    let may_be_empty = |key: &str, value: &Value| !value.is_array() && ARGUMENT_KEYS.contains(&key);
    let mut entries = fields.iter().map(|(key, value)| (key.as_str(), value));
    entries.find(|(key, value)| {
        let is_scalar = value.is_null() || value.is_number() || value.is_boolean();
        let is_filled = value.is_string() || !is_empty(value);
        let has_value = !is_scalar && !is_schema(value) && (is_filled || may_be_empty(key, value));
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
