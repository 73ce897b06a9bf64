//! The forms in which agents and frameworks write a tool call.
//!
//! Knows nothing of paths and rules; `call_search` walks a record.

use serde_json::{Map, Value, json};

use super::call_arguments::{Arguments, arguments_of, is_empty, is_schema, joined_payload, unknown_parts};
use super::call_form::{
    CallForm, Certainty, TOOL_KEYS, first_text, form, id_of, known_call, text, with_arguments, with_unknown_parts,
};
use super::call_words::normal;
use super::span_calls::{call_of_attributes, indexed_attributes};
use super::surroundings::Surroundings;

/// Whether an object describes a tool that can be called.
pub(super) fn is_definition(fields: &Map<String, Value>, around: Surroundings) -> bool {
    let inner = fields.get("function").and_then(Value::as_object);
    let described = inner.unwrap_or(fields);
    if arguments_of(described).is_some() || arguments_of(fields).is_some() {
        return false;
    }
    let has_input = |(key, value): (&String, &Value)| {
        let is_typed = |part: &Value| part.get("type").is_some_and(Value::is_string);
        let is_filled = match value {
            Value::String(_) => true,
            // A schema of each parameter describes.
            Value::Object(parts) => !parts.is_empty() && !parts.values().all(is_typed),
            _ => false,
        };
        is_filled && !is_schema(value) && matches!(&*normal(key), "command" | "cmd" | "params" | "inputs" | "payload")
    };
    if fields.iter().any(has_input) {
        return false;
    }
    let is_named = described.get("name").is_some_and(Value::is_string);
    let has_schema = described.get("parameters").is_some_and(is_schema)
        || ["input_schema", "inputSchema"].iter().any(|key| described.get(*key).is_some_and(Value::is_object));
    is_named && (around.is_definition_list || has_schema)
}

/// The calls that one object states itself; calls below it are not among them.
pub(super) fn calls_of(fields: &Map<String, Value>, around: Surroundings) -> Vec<CallForm<'_>> {
    let kind = text(fields, "type").map(normal).unwrap_or_default();
    if around.is_result {
        let typed = typed_call(fields, &kind).filter(|call| !call.name.is_empty());
        // The answer of a sub-agent may hold its calls, and that of a tool may show those of others.
        let other =
            || listed_call(fields, around).or_else(|| call_of_function(fields, around)).or_else(|| named_tool(fields));
        let is_filled = |call: &CallForm<'_>| call.arguments.as_ref().is_some_and(|all| !is_empty(all));
        let shown = || other().filter(is_filled).map(|call| CallForm { certainty: Certainty::Possible, ..call });
        return typed.or_else(shown).into_iter().collect();
    }
    if around.is_argument {
        let call = typed_call(fields, &kind)
            .or_else(|| listed_call(fields, around))
            .or_else(|| call_of_function(fields, around))
            .or_else(|| call_of_framework(fields, &kind))
            .or_else(|| named_tool(fields));
        let is_call = |call: &CallForm<'_>| !call.name.is_empty() && (call.arguments.is_some() || around.is_call_list);
        // Data about a call looks the same, except below a key that is only used for calls.
        let certainty = if around.is_call_list { Certainty::Known } else { Certainty::Possible };
        return call.filter(is_call).map(|call| CallForm { certainty, ..call }).into_iter().collect();
    }
    let indexed = indexed_attributes(fields);
    if !indexed.is_empty() {
        return indexed;
    }
    let call = typed_call(fields, &kind)
        .or_else(|| call_of_function(fields, around))
        .or_else(|| listed_call(fields, around))
        .map(|call| with_unknown_parts(call, fields))
        .or_else(|| call_of_attributes(fields))
        .or_else(|| call_of_framework(fields, &kind))
        .or_else(|| named_tool(fields))
        .or_else(|| action_text(fields));
    call.into_iter().collect()
}

fn is_call_type(kind: &str) -> bool {
    let ends = ["tool_use", "tool_invocation", "tool_request"];
    ends.iter().any(|end| kind.ends_with(end))
        || kind.starts_with("tool_use") && kind.ends_with("block")
        || kind.strip_suffix("call").is_some_and(|what| !is_other_call(what.trim_end_matches('_')))
}

/// Whether a type such as `llm_call` means a call of something other than a tool. `re` is for `recall`.
fn is_other_call(what: &str) -> bool {
    const OTHERS: [&str; 12] =
        ["llm", "api", "model", "rpc", "http", "chat", "agent", "phone", "video", "system", "re", "chat_model"];
    OTHERS.contains(&what)
}

/// Tools that a provider offers itself, and the keys of their inputs.
const OFFERED_TOOLS: [&str; 7] =
    ["web_search", "file_search", "image_generation", "tool_search", "computer", "code_interpreter", "local_shell"];
const OFFERED_INPUTS: [&str; 6] = ["action", "query", "queries", "code", "actions", "operation"];

/// `{"type":"tool_use","name":…,"input":…}`, `{"type":"function_call",…}`, `{"type":"local_shell_call","action":…}`.
fn typed_call<'a>(fields: &'a Map<String, Value>, kind: &str) -> Option<CallForm<'a>> {
    if !is_call_type(kind) {
        return None;
    }
    let inner = ["function", "custom", "toolInvocation", "tool_invocation"]
        .into_iter()
        .find_map(|key| Some((key, fields.get(key)?.as_object()?)));
    if let Some((key, inner)) = inner {
        let (_, name) = first_text(inner, &["name", "toolName", "tool_name"])?;
        let mut call = form(inner, name, Certainty::Known, key);
        call.id = call.id.or_else(|| id_of(fields));
        return Some(if call.arguments.is_none() { with_arguments(call, fields) } else { call });
    }
    let named = first_text(fields, &["name", "tool_name", "toolName", "tool", "function"]);
    if let Some((key, name)) = named {
        return Some(form(fields, name, Certainty::Known, key));
    }
    let tool = kind.strip_suffix("_call").filter(|tool| !matches!(*tool, "tool" | "function" | "custom_tool" | "mcp"));
    match tool {
        // The tools that a provider offers itself have no name but the type.
        Some(tool) if OFFERED_TOOLS.contains(&tool) || OFFERED_INPUTS.iter().any(|key| fields.contains_key(*key)) => {
            let inputs: Map<String, Value> = OFFERED_INPUTS
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), fields.get(*key).filter(|value| !is_empty(value))?.clone())))
                .collect();
            let usual = arguments_of(fields);
            let all = match inputs.get("action") {
                Some(action) if inputs.len() == 1 => action.clone(),
                _ => Value::Object(inputs),
            };
            let arguments = usual.map(|(_, value)| value).or_else(|| Some(&all).filter(|all| !is_empty(all)));
            let consumed = usual.map(|(key, _)| key).into_iter().chain(OFFERED_INPUTS).collect();
            Some(CallForm { id: id_of(fields), consumed, ..known_call(tool, arguments) })
        }
        // A call without a name, or another thing whose type ends like that of a call.
        _ if fields.len() > 1 => Some(form(fields, "", Certainty::Possible, "type")),
        _ => None,
    }
}

/// `{"function":{"name":…,"arguments":…}}`, `{"function":"name","arguments":…}`, and `{"tool":{"name":…},"input":…}`.
fn call_of_function(fields: &Map<String, Value>, around: Surroundings) -> Option<CallForm<'_>> {
    if let Some(name) = text(fields, "function") {
        let is_call = around.is_call_list || arguments_of(fields).is_some();
        return is_call.then(|| form(fields, name, Certainty::Known, "function"));
    }
    let (key, inner) =
        ["function", "custom", "tool"].into_iter().find_map(|key| Some((key, fields.get(key)?.as_object()?)))?;
    let name = text(inner, "name")?;
    let mut call = form(inner, name, Certainty::Known, key);
    call.id = id_of(fields).or(call.id);
    if call.arguments.is_none() {
        call = with_arguments(call, fields);
    }
    // A tool without an input is described, not called.
    if call.arguments.is_none() && !around.is_call_list {
        if key == "tool" {
            return None;
        }
        call.certainty = Certainty::Possible;
    }
    Some(call)
}

/// An object below a key such as `tool_calls` or `functionCall`.
fn listed_call(fields: &Map<String, Value>, around: Surroundings) -> Option<CallForm<'_>> {
    let names = ["name", "tool_name", "toolName", "tool", "function_name", "recipient_name"];
    let (key, name) = first_text(fields, &names).filter(|_| around.is_call_list)?;
    let name = if key == "recipient_name" { name.strip_prefix("functions.").unwrap_or(name) } else { name };
    let call = form(fields, name, Certainty::Known, key);
    let content = text(fields, "content").filter(|text| call.arguments.is_none() && text.trim_start().starts_with('{'));
    Some(CallForm { arguments: content.map(|text| json!(text)).or(call.arguments), ..call })
}

/// Calls of frameworks whose names of keys are their own.
fn call_of_framework<'a>(fields: &'a Map<String, Value>, kind: &str) -> Option<CallForm<'a>> {
    let known = |name: &str, arguments: Option<&Value>, consumed: Vec<&'a str>| {
        Some(CallForm { id: id_of(fields), consumed, ..known_call(name, arguments) })
    };
    let word = |key: &str| text(fields, key);
    match () {
        () if word("method") == Some("tools/call") => {
            let params = fields.get("params")?;
            known(params.get("name")?.as_str()?, params.get("arguments"), vec!["params"])
        }
        () if word("run_type") == Some("tool") => known(word("name")?, fields.get("inputs"), vec!["inputs", "name"]),
        () if word("event") == Some("on_tool_start") => {
            known(word("name")?, fields.get("data").and_then(|data| data.get("input")), vec!["data", "name"])
        }
        () if kind == "tool" && fields.contains_key("state") => {
            let state = fields.get("state")?;
            known(word("tool")?, state.get("input"), vec!["state", "tool"])
        }
        // A tool part of a message: `tool-Bash`.
        () if text(fields, "type").is_some_and(|kind| kind.starts_with("tool-"))
            && fields.contains_key("toolCallId")
            && first_text(fields, &TOOL_KEYS).is_none() =>
        {
            let name = text(fields, "type")?.strip_prefix("tool-")?;
            // Events of the stream, not names of tools.
            let is_event =
                ["input-", "output-", "result", "error", "call", "approval-"].iter().any(|kind| name.starts_with(kind));
            if is_event {
                return None;
            }
            known(name, fields.get("input").or_else(|| fields.get("args")), vec!["input", "args", "output"])
        }
        () if kind == "command_execution" && fields.contains_key("command") => {
            known(kind, Some(&json!({ "command": fields["command"] })), vec!["command"])
        }
        () if kind == "file_change" && fields.contains_key("changes") => {
            known(kind, Some(&json!({ "changes": fields["changes"] })), vec!["changes"])
        }
        () if kind == "function" && fields.contains_key("input") => {
            known(word("name")?, fields.get("input"), vec!["input", "name"])
        }
        () if fields.contains_key("executableCode") || fields.contains_key("executable_code") => {
            let code = fields.get("executableCode").or_else(|| fields.get("executable_code"));
            known("executable_code", code, vec!["executableCode", "executable_code"])
        }
        () => None,
    }
}

/// A key that names a tool, beside its arguments: `{"tool":"Bash","input":{…}}`.
fn named_tool(fields: &Map<String, Value>) -> Option<CallForm<'_>> {
    let (key, name) = first_text(fields, &TOOL_KEYS)?;
    let is_whole = arguments_of(fields).is_some() || fields.get("params").is_some_and(Value::is_object);
    is_whole.then(|| form(fields, name, Certainty::Known, key))
}

/// Returns a possible call if an object names a tool and has a payload or unknown parts.
pub(super) fn payload_call<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
    name_key: &'a str,
    is_listed_tool: bool,
) -> Option<CallForm<'a>> {
    let is_tool = first_text(fields, &TOOL_KEYS).is_some() || text(fields, "type") == Some("tool") || is_listed_tool;
    let (id, certainty) = (id_of(fields), Certainty::Possible);
    let Some(found) = joined_payload(fields).filter(|_| is_tool) else {
        // The arguments may be under an unknown key.
        let unknown = unknown_parts(fields).filter(|_| TOOL_KEYS.contains(&name_key))?;
        let consumed = unknown.keys.into_iter().chain([name_key]).collect();
        return Some(CallForm {
            id,
            are_uncertain: true,
            certainty,
            consumed,
            ..known_call(name, Some(&unknown.value))
        });
    };
    let Arguments { keys, value, are_joined, are_uncertain } = found;
    let consumed = keys.into_iter().chain([name_key]).collect();
    Some(CallForm { id, are_joined, are_uncertain, certainty, consumed, ..known_call(name, Some(&value)) })
}

/// An action as a text. With arguments it names the tool; without, it is the command that an agent of one shell gives, so
/// that the tool is `bash` and its input is the command.
fn action_text(fields: &Map<String, Value>) -> Option<CallForm<'_>> {
    let action = text(fields, "action")?;
    if arguments_of(fields).is_some() {
        return Some(form(fields, action, Certainty::Known, "action"));
    }
    let is_step = ["observation", "thought", "response"].iter().any(|key| fields.contains_key(*key));
    let has_calls = fields.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
    let command = json!({ "command": action.trim_end() });
    let call = CallForm { id: id_of(fields), consumed: vec!["action"], ..known_call("bash", Some(&command)) };
    (is_step && !has_calls).then_some(call)
}

/// Whether a value below a key such as `tool_calls` may be a call: it has a text, or something with parts.
pub(super) fn has_content(fields: &Map<String, Value>) -> bool {
    fields.values().any(|value| value.is_string() || value.is_object() || value.is_array())
}

/// Whether the value of `function_call` says how to call, such as `auto`, and names no tool.
pub(super) fn is_choice_mode(text: &str) -> bool {
    matches!(text.trim(), "auto" | "none" | "required" | "any")
}
