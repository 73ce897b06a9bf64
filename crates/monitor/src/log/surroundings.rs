//! What a key or an object says of the values below it: whether they are calls, the answers of tools, definitions, or the words
//! of a person.

use serde_json::{Map, Value};

use super::call_form::text;
use super::call_words::normal;

/// What is known of the place of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Surroundings {
    /// Below a key such as `tool_calls`.
    pub(super) is_call_list: bool,
    /// In the answer of a tool: typed blocks are calls, other forms only possible calls.
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
    /// In the arguments of a call, where only calls in a known form count: a batch of them, for example.
    pub(super) is_argument: bool,
    /// In a part of such arguments that may be a batch: below a key such as `steps`.
    pub(super) is_batch: bool,
    /// In how many texts of JSON.
    pub(super) text_depth: u8,
}

impl Surroundings {
    pub(super) fn in_text(self) -> Self {
        Self { text_depth: self.text_depth + 1, ..self }
    }

    /// The surroundings of the arguments of a call.
    pub(super) fn in_arguments(self) -> Self {
        Self { is_argument: true, is_call_list: false, is_definition_list: false, is_piece: false, ..self }
    }

    /// The surroundings of the value of a key, in an object that is a call, or the result of one.
    pub(super) fn below(self, key: &str, value: &Value, is_call: bool, is_result: bool) -> Self {
        let word = normal(key);
        let holds_result = matches!(
            &*word,
            "result"
                | "results"
                | "output"
                | "outputs"
                | "response"
                | "content"
                | "structured_content"
                | "output.value"
        );
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
            is_argument: self.is_argument,
            is_batch: self.is_argument && is_batch_key(&word),
            text_depth: self.text_depth,
        }
    }
}

fn is_call_key(word: &str) -> bool {
    let last = word.rsplit('.').next().unwrap_or(word);
    matches!(last, "tool_calls" | "tool_call" | "function_call" | "function_calls" | "tool_use" | "tool_uses")
        || matches!(last, "tool_invocation" | "tool_invocations" | "invalid_tool_calls" | "tool_use_block")
        || last == "invocations"
}

/// Whether a key in the arguments of a call may hold a batch of calls.
fn is_batch_key(word: &str) -> bool {
    matches!(word, "calls" | "requests" | "steps" | "actions" | "operations" | "commands" | "tasks" | "items" | "batch")
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
            | "observations"
            | "result_display"
            | "detailed_content"
            | "gen_ai.tool.call.result"
            | "ai.tool_call.result"
            | "traceloop.entity.output"
    )
}

/// Keys below which nothing is a call: a tool's answer as the program shows it, or which tool a model has to use.
pub(super) fn is_skipped_key(key: &str) -> bool {
    let word = normal(key);
    matches!(
        &*word,
        "tool_use_result" | "tool_choice" | "tool_config" | "input_schema" | "json_schema" | "output_schema"
    ) || matches!(&*word, "response_format" | "usage" | "gen_ai.tool.definitions" | "serialized")
}

/// Whether a key holds prose. Prose is searched only for the markup of calls and for JSON that has calls.
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

/// Whether a field of a definition only describes: what it holds is no call.
pub(super) fn is_description(key: &str) -> bool {
    let word = normal(key);
    matches!(&*word, "parameters" | "input_schema" | "schema" | "description" | "examples" | "output_schema")
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
    let is_result_type =
        ["tool_result", "_output", "call_response", "function_response", "tool_message", "tool_return", "call_end"];
    let is_part = ["kind", "part_kind"].iter().any(|key| {
        let word = text(fields, key).map(normal).unwrap_or_default();
        matches!(&*word, "tool_return" | "tool_result")
    });
    is_part
        || is_result_type.iter().any(|end| kind.ends_with(end))
        || matches!(text(fields, "role"), Some("tool" | "function"))
        || kind == "tool" && fields.contains_key("tool_call_id")
        || fields.get("jsonrpc").is_some() && fields.get("result").is_some_and(is_answer)
}

/// Whether a field holds the words of a person or of a model: the last of them are the result of a session.
pub(super) fn is_prose(fields: &Map<String, Value>, key: &str) -> bool {
    match &*normal(text(fields, "type").unwrap_or_default()) {
        "result" => key == "result",
        "agent_message" | "user_message" => key == "message",
        _ => false,
    }
}

/// Whether an object holds what a model thinks before it answers.
pub(super) fn is_thought(fields: &Map<String, Value>) -> bool {
    matches!(&*normal(text(fields, "type").unwrap_or_default()), "reasoning" | "thinking")
}

/// Whether an object says that a tool has ended: its `data` are what it was given, which is known, and what it answered.
pub(super) fn is_end_of_tool(fields: &Map<String, Value>) -> bool {
    text(fields, "event") == Some("on_tool_end")
}

/// Whether the result of a request of JSON-RPC is the answer of a tool. Agents send messages as results, too.
fn is_answer(result: &Value) -> bool {
    ["choices", "message", "messages", "status", "parts", "artifacts", "kind", "tool_calls"]
        .iter()
        .all(|key| result.get(*key).is_none())
}

/// Whether a key ends with `reason`, such as `stop_reason`.
pub(super) fn is_reason_key(key: &str) -> bool {
    key.len() >= 6 && key.as_bytes()[key.len() - 6..].eq_ignore_ascii_case(b"reason")
}
