//! What one object of a log says of a tool call: its name, its identifier and its arguments.

use serde_json::{Map, Value};

use super::call_arguments::{is_empty, joined_arguments, unknown_parts};

/// How sure it is that something is a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// A form that is only used for calls.
    Known,
    /// A form that other data has too, such as a name with an input.
    Possible,
}

/// A call as one object describes it.
#[derive(Debug)]
pub(super) struct CallForm<'a> {
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) arguments: Option<Value>,
    /// Whether the arguments are under several keys, so that a reader of one key has not read all.
    pub(super) are_joined: bool,
    /// Whether the arguments may be wrong or incomplete: two keys differ, or the key is unknown.
    pub(super) are_uncertain: bool,
    pub(super) certainty: Certainty,
    pub(super) is_history: bool,
    /// The keys that hold the call, so that nothing below them is another one.
    pub(super) consumed: Vec<&'a str>,
}

pub(super) fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key)?.as_str().filter(|text| !text.trim().is_empty())
}

pub(super) fn first_text<'a>(fields: &'a Map<String, Value>, keys: &[&'a str]) -> Option<(&'a str, &'a str)> {
    keys.iter().find_map(|key| Some((*key, text(fields, key)?)))
}

pub(super) const TOOL_KEYS: [&str; 6] =
    ["tool_name", "toolName", "tool", "recipient_name", "function_name", "functionName"];
const ID_KEYS: [&str; 8] =
    ["call_id", "callId", "callID", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id"];

pub(super) fn id_of(fields: &Map<String, Value>) -> Option<String> {
    ID_KEYS.iter().find_map(|key| Some(text(fields, key)?.to_owned()))
}

/// Uses unknown parts as the arguments of a call that has none, and marks it as possible.
pub(super) fn with_unknown_parts<'a>(call: CallForm<'a>, fields: &'a Map<String, Value>) -> CallForm<'a> {
    if call.arguments.as_ref().is_some_and(|arguments| !is_empty(arguments)) {
        return call;
    }
    let inner = || ["function", "custom"].iter().find_map(|key| fields.get(*key)?.as_object());
    let Some(found) = unknown_parts(fields).or_else(|| unknown_parts(inner()?)) else { return call };
    let (arguments, certainty) = (Some(found.value), Certainty::Possible);
    // They are searched as arguments, and not once more as fields.
    let consumed = call.consumed.iter().copied().chain(found.keys).collect();
    CallForm { arguments, are_joined: found.are_joined, are_uncertain: true, certainty, consumed, ..call }
}

pub(super) fn form<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
    certainty: Certainty,
    name_key: &'a str,
) -> CallForm<'a> {
    let call = CallForm {
        name: name.to_owned(),
        id: id_of(fields),
        arguments: None,
        are_joined: false,
        are_uncertain: false,
        certainty,
        is_history: false,
        consumed: vec![name_key],
    };
    with_arguments(call, fields)
}

/// The call with the arguments that an object holds, if it holds any.
pub(super) fn with_arguments<'a>(mut call: CallForm<'a>, fields: &'a Map<String, Value>) -> CallForm<'a> {
    let Some(found) = joined_arguments(fields) else { return call };
    // An object that is the name of the call is no input.
    if found.keys.iter().any(|key| call.consumed.contains(key)) {
        return call;
    }
    call.consumed.extend(&found.keys);
    // Instrumentation writes the value with its type.
    let value = match &found.value {
        Value::Object(typed) if typed.len() == 2 && typed.contains_key("mime_type") => typed.get("value").cloned(),
        _ => None,
    };
    (call.arguments, call.are_joined, call.are_uncertain) =
        (value.or(Some(found.value)), found.are_joined, found.are_uncertain);
    call
}

/// A call whose form is known, without an identifier and consumed keys.
pub(super) fn known_call<'a>(name: &str, arguments: Option<&Value>) -> CallForm<'a> {
    CallForm {
        name: name.to_owned(),
        id: None,
        arguments: arguments.cloned(),
        are_joined: false,
        are_uncertain: false,
        certainty: Certainty::Known,
        is_history: false,
        consumed: Vec::new(),
    }
}

/// Without its name, and only possible, unless its arguments are complete JSON: of a piece, the name may be cut off, too.
pub(super) fn doubted_if_incomplete(call: CallForm<'_>) -> CallForm<'_> {
    let is_whole = match &call.arguments {
        Some(Value::String(text)) => serde_json::from_str::<Value>(text).is_ok(),
        Some(_) => true,
        None => false,
    };
    if is_whole { call } else { CallForm { name: String::new(), certainty: Certainty::Possible, ..call } }
}
