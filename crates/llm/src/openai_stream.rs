//! Assembles one turn of chat completions from its chunks. Unknown fields are skipped.

use serde_json::{Value, json};

use super::failure::CallFailure;
use super::http::Events;
use super::read_tool::ReadTool;
use super::usage::Usage;

/// Maximum number of tool calls in one turn, so that a server that sends ever new ids cannot fill the memory.
const MAX_CALLS: usize = 256;

/// A turn of the model.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub text: String,
    pub refusal: String,
    pub calls: Vec<ToolCall>,
    pub finish: Option<String>,
    pub usage: Option<Usage>,
    pub model: Option<String>,
    pub request_id: Option<String>,
}

/// A tool call, as far as it arrived.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ToolCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl ToolCall {
    fn input(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or(Value::Null)
    }

    /// Executes the call and returns the message with its result.
    pub(super) fn execute(&self, read_tool: &mut ReadTool) -> Value {
        let shown = read_tool.call(&self.name, &self.input());
        // This API has no field for a failed tool call.
        let content = if shown.is_error { format!("error: {}", shown.text) } else { shown.text };
        json!({"role": "tool", "tool_call_id": self.id, "content": content})
    }
}

impl Turn {
    /// The turn as the next request sends it back.
    pub(super) fn message(&self) -> Value {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .map(|call| {
                // Servers parse the arguments again, and invalid JSON would fail the whole conversation.
                let arguments = if call.input().is_object() { call.arguments.as_str() } else { "{}" };
                json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
            })
            .collect();
        json!({"role": "assistant", "content": self.text, "tool_calls": calls})
    }

    fn apply_chunk(&mut self, data: &Value) {
        if let Some(model) = data["model"].as_str() {
            self.model = Some(model.to_owned());
        }
        self.set_usage(&data["usage"]);
        let choice = &data["choices"][0];
        let delta = &choice["delta"];
        // Some servers send a string, others a list of parts.
        match &delta["content"] {
            Value::String(text) => self.text.push_str(text),
            Value::Array(parts) => self.text.extend(parts.iter().filter_map(|part| part["text"].as_str())),
            _ => {}
        }
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or(""));
        for piece in delta["tool_calls"].as_array().map_or(&[][..], Vec::as_slice) {
            self.apply_call_piece(piece);
        }
        if let Some(finish) = choice["finish_reason"].as_str() {
            self.finish = Some(finish.to_owned());
        }
    }

    /// Adds a piece to the call with its index. Some servers send no index, or the same one for all calls; then a new id
    /// starts a new call.
    fn apply_call_piece(&mut self, piece: &Value) {
        let id = piece["id"].as_str().filter(|id| !id.is_empty());
        let index = piece["index"].as_u64();
        let known = self.calls.iter().rposition(|call| match (index, id) {
            (Some(index), Some(id)) => call.index == index && call.id == id,
            (Some(index), None) => call.index == index,
            (None, Some(id)) => call.id == id,
            (None, None) => true,
        });
        let at = known.unwrap_or_else(|| {
            let number = self.calls.len() as u64;
            let id = id.map_or_else(|| format!("call_{number}"), str::to_owned);
            self.calls.push(ToolCall { index: index.unwrap_or(number), id, ..ToolCall::default() });
            self.calls.len() - 1
        });
        if self.calls.len() > MAX_CALLS {
            self.calls.truncate(MAX_CALLS);
            return;
        }
        let call = &mut self.calls[at];
        let function = &piece["function"];
        call.name.push_str(function["name"].as_str().unwrap_or(""));
        match &function["arguments"] {
            Value::String(text) => call.arguments.push_str(text),
            Value::Null => {}
            other => call.arguments.push_str(&other.to_string()),
        }
    }

    fn set_usage(&mut self, usage: &Value) {
        let Some(all) =
            Usage::from_counts(&usage["prompt_tokens"], &usage["completion_tokens"], &Value::Null, &Value::Null)
        else {
            return;
        };
        // Here `prompt_tokens` includes the cached tokens; the Messages API counts them separately.
        let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0).min(all.input);
        self.usage = Some(Usage { input: all.input - cached, cache_read: cached, ..all });
    }
}

/// Reads a turn up to its last event. On a failure, `turn` keeps what arrived before it.
pub(super) async fn read_turn(events: &mut Events<'_>, turn: &mut Turn) -> Result<(), CallFailure> {
    loop {
        // After the finish reason the answer is complete. The rest of the stream (usage, `[DONE]`) may be missing or broken.
        let event = if turn.finish.is_some() { events.next_after_answer().await } else { events.next().await? };
        let Some(event) = event else { break };
        if event.data.trim() == "[DONE]" {
            // Some servers send no finish reason; `[DONE]` also ends an answer.
            turn.finish.get_or_insert_with(|| "stop".to_owned());
            return Ok(());
        }
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else {
            return Err(events.malformed("an event of the answer is not JSON"));
        };
        if data.get("error").is_some_and(|e| !e.is_null()) || event.is_error {
            return Err(events.error_event(&data));
        }
        turn.apply_chunk(&data);
    }
    if turn.finish.is_some() { Ok(()) } else { Err(events.cut_stream()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(pieces: &[Value]) -> Turn {
        let mut turn = Turn::default();
        for piece in pieces {
            turn.apply_chunk(&json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
        }
        turn
    }

    fn seen(turn: &Turn) -> Vec<(&str, &str, &str)> {
        turn.calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.as_str())).collect()
    }

    #[test]
    fn tool_calls_are_assembled_with_any_numbering() {
        let call = |index: Value, id: Value, name: Value, arguments: Value| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
        let null = Value::Null;
        let wanted = vec![("a", "Read", "{\"x\":1}"), ("b", "Read", "{}")];
        let by_index = turn(&[
            call(json!(0), json!("a"), json!("Read"), json!("")),
            call(json!(0), null.clone(), null.clone(), json!("{\"x\"")),
            call(json!(1), json!("b"), json!("Read"), json!("{")),
            call(json!(0), json!(""), null.clone(), json!(":1}")),
            call(json!(1), null.clone(), null.clone(), json!("}")),
        ]);
        assert_eq!(seen(&by_index), wanted);
        let all_zero = turn(&[
            call(json!(0), json!("a"), json!("Read"), json!("{\"x\":1}")),
            call(json!(0), json!("b"), json!("Read"), json!("{}")),
        ]);
        assert_eq!(seen(&all_zero), wanted);
        let no_index = turn(&[
            call(null.clone(), json!("a"), json!("Read"), json!("{\"x\"")),
            call(null.clone(), null.clone(), null.clone(), json!(":1}")),
            call(null.clone(), json!("b"), json!("Read"), json!({})),
        ]);
        assert_eq!(seen(&no_index), wanted);
        let nameless = turn(&[call(json!(0), null.clone(), json!("Read"), json!("{\"x"))]);
        assert_eq!(nameless.calls[0].id, "call_0");
        assert_eq!(nameless.message()["tool_calls"][0]["function"]["arguments"], "{}");
    }

    #[test]
    fn cached_tokens_are_counted_apart() {
        let mut turn = Turn::default();
        turn.set_usage(
            &json!({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}),
        );
        assert_eq!(turn.usage, Some(Usage { input: 40, output: 7, cache_read: 60, cache_write: 0 }));
        turn.set_usage(&json!(null));
        assert!(turn.usage.is_some());
    }
}
