//! The forms in which agents and frameworks write a tool call: what one JSON object says of a call, and what an object or a
//! key says of the values below it.
//!
//! Knows nothing of paths and rules; `call_search` walks a record.

use serde_json::{Map, Value, json};

use super::call_arguments::{any_arguments, arguments_of, has_unknown_parts, is_schema};
use super::call_words::normal;

/// How sure it is that something is a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// A form that is only used for calls.
    Known,
    /// A form that other data has too, such as a name with an input.
    Possible,
}

/// What one object says of a call.
#[derive(Debug)]
pub(super) struct CallForm<'a> {
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) arguments: Option<Value>,
    pub(super) certainty: Certainty,
    pub(super) is_history: bool,
    /// The keys that hold the call, so that nothing below them is another one.
    pub(super) consumed: Vec<&'a str>,
}

/// What is known of the place of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Surroundings {
    /// Below a key such as `tool_calls`.
    pub(super) is_call_list: bool,
    /// In the answer of a tool, where only blocks of a type are calls.
    pub(super) is_result: bool,
    /// In a list of messages that a request repeats.
    pub(super) is_history: bool,
    /// In a list of the tools that a model can use.
    pub(super) is_definition_list: bool,
    /// In a piece of a streamed answer.
    pub(super) is_piece: bool,
    /// In a message of a person or of the program that runs the model.
    pub(super) is_by_others: bool,
    /// In a file that was given to the model, whose text is not searched.
    pub(super) is_attached: bool,
    /// In how many texts of JSON.
    pub(super) text_depth: u8,
}

impl Surroundings {
    pub(super) fn in_text(self) -> Self {
        Self { text_depth: self.text_depth + 1, ..self }
    }

    /// The surroundings of the value of a key, in an object that is a call, or the result of one.
    pub(super) fn below(self, key: &str, value: &Value, is_call: bool, is_result: bool) -> Self {
        let word = normal(key);
        let holds_result =
            matches!(&*word, "result" | "results" | "output" | "response" | "content" | "structured_content");
        let is_answer = (is_result || is_call && word != "content") && holds_result;
        let history = ["messages", "history", "query", "contents", "prompt", "prompts", "chat_history"];
        let is_messages = history.iter().any(|end| word.ends_with(end)) && !word.ends_with("output_messages")
            || word == "input" && value.is_array();
        Self {
            is_call_list: is_call_key(&word),
            is_result: self.is_result || is_answer || is_result_key(&word),
            is_history: self.is_history || is_messages,
            is_definition_list: is_definition_key(&word),
            is_piece: self.is_piece || matches!(&*word, "delta" | "chunk"),
            is_by_others: self.is_by_others || is_prompt_key(&word),
            is_attached: self.is_attached,
            text_depth: self.text_depth,
        }
    }
}

fn is_call_key(word: &str) -> bool {
    let last = word.rsplit('.').next().unwrap_or(word);
    matches!(last, "tool_calls" | "tool_call" | "function_call" | "function_calls" | "tool_use" | "tool_uses")
        || matches!(last, "tool_invocation" | "tool_invocations" | "invalid_tool_calls" | "tool_use_block")
}

fn is_definition_key(word: &str) -> bool {
    let last = word.rsplit('.').next().unwrap_or(word);
    matches!(
        last,
        "tools" | "functions" | "definitions" | "tool_definitions" | "available_tools" | "function_declarations"
    )
}

/// Whether a key holds a prompt or a summary, which only speaks of calls.
fn is_prompt_key(word: &str) -> bool {
    matches!(
        word,
        "system"
            | "instructions"
            | "base_instructions"
            | "user_instructions"
            | "prompt"
            | "summary"
            | "query"
            | "question"
    )
}

/// Keys whose values are what a tool answered.
fn is_result_key(word: &str) -> bool {
    matches!(
        word,
        "function_response"
            | "tool_response"
            | "tool_output"
            | "tool_result"
            | "tool_results"
            | "observation"
            | "aggregated_output"
            | "formatted_output"
            | "command_output"
            | "stdout"
            | "stderr"
    ) || word == "gen_ai.tool.call.result"
}

/// Keys below which nothing is a call: a tool's answer as the program shows it, or which tool a model has to use.
pub(super) fn is_skipped_key(key: &str) -> bool {
    let word = normal(key);
    matches!(
        &*word,
        "tool_use_result" | "tool_choice" | "tool_config" | "input_schema" | "json_schema" | "output_schema"
    ) || matches!(&*word, "response_format" | "usage" | "gen_ai.tool.definitions")
}

/// Keys of what a person or a model has written, which is never searched for JSON.
pub(super) fn is_text_key(key: &str) -> bool {
    matches!(
        &*normal(key),
        "text"
            | "content"
            | "thinking"
            | "reasoning"
            | "reasoning_content"
            | "summary"
            | "partial_json"
            | "signature"
            | "prompt"
            | "stdout"
            | "stderr"
            | "thought"
            | "observation"
            | "description"
            | "instructions"
            | "system"
    )
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

/// A call that is only possible if its arguments may be under a key that is not known.
fn doubted_if_unknown<'a>(call: CallForm<'a>, fields: &Map<String, Value>) -> CallForm<'a> {
    let inner = ["function", "custom"].iter().find_map(|key| fields.get(*key)?.as_object());
    let is_unknown = call.arguments.is_none() && (has_unknown_parts(fields) || inner.is_some_and(has_unknown_parts));
    CallForm { certainty: if is_unknown { Certainty::Possible } else { call.certainty }, ..call }
}

/// Whether a field of a definition only describes: what it holds is no call.
pub(super) fn is_description(key: &str) -> bool {
    let word = normal(key);
    matches!(&*word, "parameters" | "input_schema" | "schema" | "description" | "examples" | "output_schema")
}

/// Whether an object describes a tool that can be called.
pub(super) fn is_definition(fields: &Map<String, Value>, around: Surroundings) -> bool {
    let inner = fields.get("function").and_then(Value::as_object);
    let described = inner.unwrap_or(fields);
    if arguments_of(described).is_some() || arguments_of(fields).is_some() {
        return false;
    }
    let is_named = described.get("name").is_some_and(Value::is_string);
    let has_schema = described.get("parameters").is_some_and(is_schema)
        || ["input_schema", "inputSchema"].iter().any(|key| described.get(*key).is_some_and(Value::is_object));
    is_named && (around.is_definition_list || has_schema)
}

/// Whether an object is a message of a person or of the program that runs the model; `None` if it does not say.
pub(super) fn is_by_others(fields: &Map<String, Value>) -> Option<bool> {
    let by_role = match text(fields, "role") {
        Some("user" | "system" | "developer" | "human") => Some(true),
        Some("assistant" | "ai" | "model") => Some(false),
        _ => None,
    };
    by_role.or_else(|| match &*normal(text(fields, "type")?) {
        "user" | "human" | "user_message" | "queue_operation" | "summary" | "session_meta" => Some(true),
        "assistant" | "ai" => Some(false),
        _ => None,
    })
}

/// Whether an object is a file that was given to the model.
pub(super) fn is_attachment(fields: &Map<String, Value>) -> bool {
    let kind = text(fields, "type").map(normal).unwrap_or_default();
    matches!(&*kind, "document" | "file" | "input_file" | "attachment" | "resource" | "image")
}

/// Whether an object is the answer of a tool.
pub(super) fn is_result(fields: &Map<String, Value>) -> bool {
    let kind = text(fields, "type").map(normal).unwrap_or_default();
    let is_result_type = ["tool_result", "_output", "call_response", "function_response", "tool_message"];
    is_result_type.iter().any(|end| kind.ends_with(end))
        || matches!(text(fields, "role"), Some("tool" | "function"))
        || kind == "tool" && fields.contains_key("tool_call_id")
        || fields.get("jsonrpc").is_some() && fields.contains_key("result")
}

/// The calls that one object states itself; calls below it are not among them.
pub(super) fn calls_of(fields: &Map<String, Value>, around: Surroundings) -> Vec<CallForm<'_>> {
    let kind = text(fields, "type").map(normal).unwrap_or_default();
    if around.is_result {
        return typed_call(fields, &kind).filter(|call| !call.name.is_empty()).into_iter().collect();
    }
    let indexed = indexed_attributes(fields);
    if !indexed.is_empty() {
        return indexed;
    }
    let call = typed_call(fields, &kind)
        .or_else(|| call_of_function(fields, around))
        .or_else(|| listed_call(fields, around))
        .map(|call| doubted_if_unknown(call, fields))
        .or_else(|| call_of_attributes(fields))
        .or_else(|| call_of_framework(fields, &kind))
        .or_else(|| named_tool(fields))
        .or_else(|| action_text(fields));
    call.into_iter().collect()
}

pub(super) fn form<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
    certainty: Certainty,
    name_key: &'a str,
) -> CallForm<'a> {
    let (argument_key, arguments) = any_arguments(fields).unzip();
    CallForm {
        name: name.to_owned(),
        id: id_of(fields),
        arguments: arguments.cloned(),
        certainty,
        is_history: false,
        consumed: argument_key.into_iter().chain([name_key]).collect(),
    }
}

fn is_call_type(kind: &str) -> bool {
    let ends = ["tool_use", "call", "tool_invocation", "tool_request"];
    ends.iter().any(|end| kind.ends_with(end)) || kind.starts_with("tool_use") && kind.ends_with("block")
}

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
        call.arguments = call.arguments.or_else(|| any_arguments(fields).map(|(_, value)| value.clone()));
        call.consumed.extend(any_arguments(fields).map(|(key, _)| key));
        return Some(call);
    }
    let named = first_text(fields, &["name", "tool_name", "toolName", "tool", "function"]);
    if let Some((key, name)) = named {
        return Some(form(fields, name, Certainty::Known, key));
    }
    let tool = kind.strip_suffix("_call").filter(|tool| !matches!(*tool, "tool" | "function" | "custom_tool"));
    match tool {
        // The tools that a provider offers itself have no name but the type.
        Some(tool)
            if ["action", "query", "queries", "code", "actions", "operation"]
                .iter()
                .any(|key| fields.contains_key(*key)) =>
        {
            let mut call = form(fields, tool, Certainty::Known, "action");
            call.arguments = call
                .arguments
                .or_else(|| fields.get("action").cloned())
                .or_else(|| Some(Value::Object(fields.clone())));
            Some(call)
        }
        // A call without a name, or another thing whose type ends like that of a call.
        _ if fields.len() > 1 => Some(form(fields, "", Certainty::Possible, "type")),
        _ => None,
    }
}

/// `{"function":{"name":…,"arguments":…}}`, and `{"function":"name","arguments":…}`.
fn call_of_function(fields: &Map<String, Value>, around: Surroundings) -> Option<CallForm<'_>> {
    if let Some(name) = text(fields, "function") {
        let is_call = around.is_call_list || arguments_of(fields).is_some();
        return is_call.then(|| form(fields, name, Certainty::Known, "function"));
    }
    let (key, inner) = ["function", "custom"].into_iter().find_map(|key| Some((key, fields.get(key)?.as_object()?)))?;
    let name = text(inner, "name")?;
    let arguments = any_arguments(inner).or_else(|| any_arguments(fields));
    let is_known = around.is_call_list || arguments.is_some();
    let mut call = form(inner, name, if is_known { Certainty::Known } else { Certainty::Possible }, key);
    call.arguments = arguments.map(|(_, value)| value.clone());
    call.id = id_of(fields).or(call.id);
    call.consumed.extend(any_arguments(fields).map(|(key, _)| key));
    Some(call)
}

/// An object below a key such as `tool_calls` or `functionCall`.
fn listed_call(fields: &Map<String, Value>, around: Surroundings) -> Option<CallForm<'_>> {
    let names = ["name", "tool_name", "toolName", "tool", "function_name", "recipient_name"];
    let (key, name) = first_text(fields, &names).filter(|_| around.is_call_list)?;
    Some(form(fields, name, Certainty::Known, key))
}

/// The names under which instrumentation writes the tool, its identifier and its arguments into the attributes of a span.
const SPAN_ATTRIBUTES: [(&str, &[&str], &[&str]); 4] = [
    ("gen_ai.tool.name", &["gen_ai.tool.call.id"], &["gen_ai.tool.call.arguments", "gen_ai.tool.arguments"]),
    ("ai.toolCall.name", &["ai.toolCall.id"], &["ai.toolCall.args", "ai.toolCall.input"]),
    ("mcp.tool.name", &["mcp.request.id"], &["mcp.tool.arguments"]),
    ("tool.name", &["tool_call.id", "tool.id"], &["input.value", "tool.parameters", "tool.input"]),
];

/// The attributes of a span of a tool, or a span that is only named after one.
fn call_of_attributes(fields: &Map<String, Value>) -> Option<CallForm<'_>> {
    for (name_key, id_keys, argument_keys) in SPAN_ATTRIBUTES {
        let Some(name) = text(fields, name_key) else { continue };
        let id = id_keys.iter().find_map(|key| text(fields, key)).map(str::to_owned);
        let arguments = argument_keys.iter().find_map(|key| Some((*key, fields.get(*key)?)));
        let (argument_key, arguments) = arguments.unzip();
        let consumed = argument_key.into_iter().chain([name_key]).collect();
        let (name, arguments) = (name.to_owned(), arguments.cloned());
        return Some(CallForm { name, id, arguments, certainty: Certainty::Known, is_history: false, consumed });
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
fn indexed_attributes<'a>(fields: &'a Map<String, Value>) -> Vec<CallForm<'a>> {
    let mut calls: Vec<(String, CallForm<'a>)> = Vec::new();
    for (key, value) in fields {
        let Some((prefix, field)) = split_indexed(key) else { continue };
        let at = calls.iter().position(|(other, _)| other == prefix).unwrap_or_else(|| {
            let is_history = key.contains("input") || key.contains("prompt");
            let (name, certainty) = (String::new(), Certainty::Possible);
            let call = CallForm { name, id: None, arguments: None, certainty, is_history, consumed: Vec::new() };
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

/// Calls of frameworks whose names of keys are their own.
fn call_of_framework<'a>(fields: &'a Map<String, Value>, kind: &str) -> Option<CallForm<'a>> {
    let known = |name: &str, arguments: Option<&Value>, consumed: Vec<&'a str>| {
        let (name, arguments) = (name.to_owned(), arguments.cloned());
        let certainty = Certainty::Known;
        Some(CallForm { name, id: id_of(fields), arguments, certainty, is_history: false, consumed })
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
    if arguments_of(fields).is_some() {
        return Some(form(fields, name, Certainty::Known, key));
    }
    let params = fields.get("params").filter(|params| params.is_object())?;
    let mut call = form(fields, name, Certainty::Known, key);
    (call.arguments, call.consumed) = (Some(params.clone()), vec!["params", key]);
    Some(call)
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
    let mut call = form(fields, "bash", Certainty::Known, "action");
    call.arguments = Some(json!({ "command": action.trim_end() }));
    (is_step && !has_calls).then_some(call)
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

/// Whether a key ends with `reason`, such as `stop_reason`.
pub(super) fn is_reason_key(key: &str) -> bool {
    key.len() >= 6 && key.as_bytes()[key.len() - 6..].eq_ignore_ascii_case(b"reason")
}

/// Whether a value below a key such as `tool_calls` may be a call: it has a text, or something with parts.
pub(super) fn has_content(fields: &Map<String, Value>) -> bool {
    fields.values().any(|value| value.is_string() || value.is_object() || value.is_array())
}

/// Whether the value of `function_call` says how to call, such as `auto`, and names no tool.
pub(super) fn is_choice_mode(text: &str) -> bool {
    matches!(text.trim(), "auto" | "none" | "required" | "any")
}
