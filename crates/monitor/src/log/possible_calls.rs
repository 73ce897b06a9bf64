//! Objects that state no call in a known form and may be one all the same: a name beside arguments, in any spelling, the
//! identifier of a call beside an input, or a word for a call as their kind.

use serde_json::{Map, Value};

use super::call_arguments::{ARGUMENT_WORDS, is_one_of, worded_arguments};
use super::call_forms::{CallForm, Certainty, TOOL_KEYS, first_text, form, is_skipped_key, text};
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

/// Whether a key, in any spelling, is a word for the name, the arguments or the identifier of a call.
pub(super) fn is_field_of_calls(key: &str) -> bool {
    is_one_of(key, &NAME_WORDS) || is_one_of(key, &ARGUMENT_WORDS) || is_one_of(key, &CALL_ID_WORDS)
}

/// Whether an object that states no call in a known form is likely to be one: it has the identifier of a call beside an
/// input, or a word such as `tool_call` as a value.
pub(super) fn is_like_call(fields: &Map<String, Value>) -> bool {
    const KINDS: [&str; 9] = ["type", "kind", "event", "update", "role", "category", "operation", "action", "name"];
    let is_kind = |key: &str| {
        let word = normal(key);
        KINDS.iter().any(|kind| word.ends_with(kind)) && !is_skipped_key(key)
    };
    let is_word = |(key, value): (&String, &Value)| is_kind(key) && value.as_str().is_some_and(is_call_word);
    let has_more = fields.values().any(|value| value.is_object() || value.is_array())
        || fields.values().filter(|value| value.is_string()).count() > 1;
    let is_id = |(key, value): (&String, &Value)| value.is_string() && is_one_of(key, &CALL_ID_WORDS);
    has_more && fields.iter().any(is_word) || fields.iter().any(is_id) && worded_arguments(fields).is_some()
}
