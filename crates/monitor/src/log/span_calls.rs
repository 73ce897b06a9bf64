//! Calls in the attributes of spans, as instrumentation writes them.

use serde_json::{Map, Value, json};

use super::call_arguments::is_empty;
use super::call_fields::parse_arguments;
use super::call_form::{CallForm, Certainty, form, known_call, text};
use super::call_words::normal;

/// The names under which instrumentation writes the tool, its identifier and its arguments into the attributes of a span.
const SPAN_ATTRIBUTES: [(&str, &[&str], &[&str]); 4] = [
    (
        "gen_ai.tool.name",
        &["gen_ai.tool.call.id"],
        &["gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input", "tool_arguments"],
    ),
    ("ai.toolCall.name", &["ai.toolCall.id"], &["ai.toolCall.args", "ai.toolCall.input"]),
    ("mcp.tool.name", &["mcp.request.id"], &["mcp.tool.arguments"]),
    ("tool.name", &["tool_call.id", "tool.id"], &["input.value", "tool.parameters", "tool.input"]),
];

/// Reads a call from the attributes of the span of a tool, or from the name of the span.
pub(super) fn call_of_attributes(fields: &Map<String, Value>) -> Option<CallForm<'_>> {
    for (name_key, id_keys, argument_keys) in SPAN_ATTRIBUTES {
        let Some(name) = text(fields, name_key) else { continue };
        let id = id_keys.iter().find_map(|key| text(fields, key)).map(str::to_owned);
        let filled = |key: &&'static str| Some((*key, fields.get(*key).filter(|value| !is_empty(value))?));
        let arguments = argument_keys.iter().find_map(filled);
        let (argument_key, arguments) = arguments.unzip();
        let consumed = argument_key.into_iter().chain([name_key]).collect();
        return Some(CallForm { id, consumed, ..known_call(name, arguments) });
    }
    if text(fields, "traceloop.span.kind") == Some("tool")
        && let Some(name) = text(fields, "traceloop.entity.name")
    {
        let arguments = fields.get("traceloop.entity.input").map(entity_input);
        let consumed = vec!["traceloop.entity.name", "traceloop.entity.input"];
        return Some(CallForm { consumed, ..known_call(name, arguments.as_ref()) });
    }
    let named_after = ["name", "span_name", "SpanName", "operationName"]
        .into_iter()
        .find_map(|key| Some((key, text(fields, key)?.strip_prefix("execute_tool ")?.trim())));
    let (key, name) = named_after.filter(|(_, name)| !name.is_empty())?;
    let attributes = ["attributes", "span_attributes", "SpanAttributes", "tags"];
    let has_own = attributes.iter().filter_map(|key| fields.get(*key)).any(|value| {
        let listed = value.as_array().and_then(|items| attributes_of_list(items));
        listed.as_ref().or(value.as_object()).is_some_and(|all| call_of_attributes(all).is_some())
    });
    (!has_own).then(|| form(fields, name, Certainty::Known, key))
}

/// The arguments of a tool as a decorated function got them: by name, and by position if there are any.
fn entity_input(input: &Value) -> Value {
    let parsed = parse_arguments(input);
    let has_no_args = parsed["args"].as_array().is_none_or(Vec::is_empty);
    match parsed.get("kwargs").or_else(|| parsed.get("inputs")) {
        Some(by_name) if by_name.is_object() && has_no_args => by_name.clone(),
        _ => input.clone(),
    }
}

/// Attributes as a list of keys and values, such as OTLP writes them.
pub(super) fn attributes_of_list(items: &[Value]) -> Option<Map<String, Value>> {
    let pair = |item: &Value| {
        let key = item.get("key")?.as_str()?.to_owned();
        Some((key, plain_value(item.get("value")?)))
    };
    if items.is_empty() { None } else { items.iter().map(pair).collect() }
}

/// A value of OTLP without its type.
fn plain_value(value: &Value) -> Value {
    let Some(fields) = value.as_object().filter(|fields| fields.len() == 1) else { return value.clone() };
    let (kind, inner) = fields.iter().next().expect("it has one field");
    match &*normal(kind) {
        "string_value" | "int_value" | "double_value" | "bool_value" | "bytes_value" => inner.clone(),
        "array_value" => inner["values"].as_array().into_iter().flatten().map(plain_value).collect(),
        "kvlist_value" => match inner["values"].as_array().and_then(|items| attributes_of_list(items)) {
            Some(fields) => Value::Object(fields),
            None => json!({}),
        },
        _ => value.clone(),
    }
}

/// Calls in flat attributes: `gen_ai.completion.0.tool_calls.0.name`.
pub(super) fn indexed_attributes<'a>(fields: &'a Map<String, Value>) -> Vec<CallForm<'a>> {
    let mut calls: Vec<(String, CallForm<'a>)> = Vec::new();
    for (key, value) in fields {
        let Some((prefix, field)) = split_indexed(key) else { continue };
        let at = calls.iter().position(|(other, _)| other == prefix).unwrap_or_else(|| {
            let is_history = key.contains("input") || key.contains("prompt");
            let call = CallForm { certainty: Certainty::Possible, is_history, ..known_call("", None) };
            calls.push((prefix.to_owned(), call));
            calls.len() - 1
        });
        let call = &mut calls[at].1;
        call.consumed.push(key);
        match field.rsplit('.').next() {
            Some("name") => {
                value.as_str().unwrap_or_default().clone_into(&mut call.name);
                call.certainty = Certainty::Known;
            }
            Some("arguments" | "args" | "input") => call.arguments = Some(value.clone()),
            Some("id") => call.id = value.as_str().map(str::to_owned),
            _ => {}
        }
    }
    calls.into_iter().map(|(_, call)| call).collect()
}

/// The part of a key up to the number of a call, and the rest.
fn split_indexed(key: &str) -> Option<(&str, &str)> {
    let marker = ["tool_calls.", "function_call."].into_iter().find(|marker| key.contains(marker))?;
    let at = key.find(marker)? + marker.len();
    if marker == "function_call." {
        return Some((&key[..at], &key[at..]));
    }
    let digits = key[at..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { None } else { Some((&key[..at + digits], key[at + digits..].strip_prefix('.')?)) }
}
