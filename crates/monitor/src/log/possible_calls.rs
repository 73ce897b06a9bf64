//! Objects that state no call in a known form and may be one all the same: a name beside arguments, in any spelling, the
//! identifier of a call beside an input, or a word for a call as their kind.

use serde_json::{Map, Value};

use super::call_arguments::{ARGUMENT_WORDS, is_one_of, worded_arguments};
use super::call_form::{CallForm, Certainty, TOOL_KEYS, form};
use super::call_forms::payload_call;
use super::call_words::{is_call_word, normal};
use super::surroundings::is_skipped_key;

/// Words of keys, in any case, that name a tool beside its arguments.
const NAME_WORDS: [&str; 11] = [
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
    "action",
];
/// Words of keys that identify a call.
const CALL_ID_WORDS: [&str; 5] = ["call_id", "tool_call_id", "tool_use_id", "function_call_id", "tool_invocation_id"];

/// A name with arguments, which may be a call and may be other data. `is_listed_tool` says whether the object is in a list of
/// tools.
pub(super) fn possible_call(fields: &Map<String, Value>, is_listed_tool: bool) -> Option<CallForm<'_>> {
    let named = fields.iter().find_map(|(key, value)| {
        let name = value.as_str().filter(|name| !name.trim().is_empty() && is_one_of(key, &NAME_WORDS))?;
        Some((key.as_str(), name))
    });
    let (name_key, name) = named.filter(|_| !is_log_line(fields))?;
    if worded_arguments(fields).is_some() {
        return Some(form(fields, name, Certainty::Possible, name_key));
    }
    payload_call(fields, name, name_key, is_listed_tool)
}

/// Whether an object is a line of a program's log, whose `name` is that of the logger and whose `args` are those of the message.
fn is_log_line(fields: &Map<String, Value>) -> bool {
    fields.contains_key("levelname") || fields.contains_key("levelno")
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
    let identifies_call = |(key, value): (&String, &Value)| {
        let names_tools = value.is_array() && TOOL_KEYS.contains(&key.as_str());
        value.is_string() && is_one_of(key, &CALL_ID_WORDS) || names_tools
    };
    has_more && fields.iter().any(is_word) || fields.iter().any(identifies_call) && worded_arguments(fields).is_some()
}
