//! Objects that state no call in a known form and may be one all the same: a name beside arguments, in any spelling, the
//! identifier of a call beside an input, or a word for a call as their kind.

use serde_json::{Map, Value};

use super::call_forms::{
    ARGUMENT_KEYS, CallForm, Certainty, TOOL_KEYS, first_text, form, is_schema, is_skipped_key, text,
};
use super::call_words::{is_call_word, normal};

/// Words of keys, in any case, that name a tool beside its arguments.
const NAME_WORDS: [&str; 10] = [
    "name",
    "func",
    "function",
    "tool",
    "tool_name",
    "function_name",
    "call_name",
    "tool_call_name",
    "toolname",
    "funcname",
];
/// Words of keys, in any case, that hold arguments.
const ARGUMENT_WORDS: [&str; 18] = [
    "toolargs",
    "toolinput",
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
];
/// Words of keys that identify a call.
const CALL_ID_WORDS: [&str; 5] = ["call_id", "tool_call_id", "tool_use_id", "function_call_id", "tool_invocation_id"];

/// A name with arguments, which may be a call and may be other data.
pub(super) fn possible_call(fields: &Map<String, Value>) -> Option<CallForm<'_>> {
    let named = fields.iter().find_map(|(key, value)| {
        let name = value.as_str().filter(|name| !name.trim().is_empty() && is_one_of(key, &NAME_WORDS))?;
        Some((key.as_str(), name))
    });
    let ((name_key, name), (key, value)) = named.zip(worded_arguments(fields).or_else(|| payload_of_tool(fields)))?;
    let mut call = form(fields, name, Certainty::Possible, name_key);
    (call.arguments, call.consumed) = (Some(value.clone()), vec![name_key, key]);
    Some(call)
}

/// What an object that names a tool has beside it, under a key that is no word for arguments.
fn payload_of_tool(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    const PAYLOADS: [&str; 8] = ["command", "cmd", "payload", "data", "code", "query", "path", "body"];
    let is_tool = first_text(fields, &TOOL_KEYS).is_some() || text(fields, "type") == Some("tool");
    let mut entries = fields.iter().map(|(key, value)| (key.as_str(), value)).filter(|_| is_tool);
    entries.find(|(key, value)| is_one_of(key, &PAYLOADS) && (value.is_string() || value.is_object()))
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

/// Whether a key, in any spelling, is a word for the name, the arguments or the identifier of a call.
pub(super) fn is_field_of_calls(key: &str) -> bool {
    is_one_of(key, &NAME_WORDS) || is_one_of(key, &ARGUMENT_WORDS) || is_one_of(key, &CALL_ID_WORDS)
}

fn is_one_of(key: &str, words: &[&str]) -> bool {
    words.contains(&&*normal(key))
}

/// Whether an object that states no call in a known form is likely to be one: it has the identifier of a call beside an
/// input, or a word such as `tool_call` as a value.
pub(super) fn is_like_call(fields: &Map<String, Value>) -> bool {
    const KINDS: [&str; 9] = ["type", "kind", "event", "update", "role", "category", "operation", "action", "name"];
    let is_kind = |key: &str| KINDS.iter().any(|kind| normal(key).ends_with(kind)) && !is_skipped_key(key);
    let is_word = |(key, value): (&String, &Value)| is_kind(key) && value.as_str().is_some_and(is_call_word);
    let has_more = fields.values().any(|value| value.is_object() || value.is_array())
        || fields.values().filter(|value| value.is_string()).count() > 1;
    let is_id = |(key, value): (&String, &Value)| value.is_string() && is_one_of(key, &CALL_ID_WORDS);
    has_more && fields.iter().any(is_word) || fields.iter().any(is_id) && worded_arguments(fields).is_some()
}
