//! Assembles one turn of the Messages API from its events. Unknown events and deltas are skipped, as the API requires.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::failure::CallFailure;
use super::http::Events;
use super::read_tool::ReadTool;
use super::usage::Usage;

/// A turn of the model.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// By the number that the API gives them: it refers to blocks by number, and the numbers are their order.
    pub blocks: BTreeMap<u64, Block>,
    pub stop: Option<String>,
    pub stop_details: Option<String>,
    /// The counts as JSON, because a count of null and a missing count differ from 0.
    pub counts: Map<String, Value>,
    pub model: Option<String>,
    pub request_id: Option<String>,
}

/// A content block of a turn.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The block from `content_block_start`, with the deltas of its text.
    value: Value,
    /// The JSON text of a tool's input, as far as it arrived.
    input: String,
}

/// A tool call. `input` is null if it is not valid JSON.
#[derive(Debug, PartialEq)]
pub(super) struct ToolCall {
    id: String,
    name: String,
    input: Value,
}

impl ToolCall {
    /// Executes the call and returns the `tool_result` block.
    pub(super) fn execute(&self, read_tool: &mut ReadTool) -> Value {
        let shown = read_tool.call(&self.name, &self.input);
        let mut block = json!({"type": "tool_result", "tool_use_id": self.id, "content": shown.text});
        if shown.is_error {
            block["is_error"] = json!(true);
        }
        block
    }
}

impl Turn {
    pub(super) fn text(&self) -> String {
        self.blocks.values().filter(|b| b.value["type"] == "text").filter_map(|b| b.value["text"].as_str()).collect()
    }

    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        self.blocks
            .values()
            .filter(|b| b.value["type"] == "tool_use")
            .map(|b| ToolCall { id: text(&b.value["id"]), name: text(&b.value["name"]), input: b.tool_input() })
            .collect()
    }

    /// The turn as the next request sends it back. The API wants the blocks unchanged, including the thinking.
    pub(super) fn message(&self) -> Value {
        let blocks: Vec<Value> = self
            .blocks
            .values()
            // The API rejects an empty text block.
            .filter(|b| b.value["type"] != "text" || b.value["text"].as_str().is_some_and(|t| !t.is_empty()))
            .map(|b| {
                let mut value = b.value.clone();
                if value["type"] == "tool_use" {
                    let input = b.tool_input();
                    // The API rejects an input that is not an object. The model learns of its invalid JSON from the
                    // result of the call.
                    value["input"] = if input.is_object() { input } else { json!({}) };
                }
                value
            })
            .collect();
        json!({"role": "assistant", "content": blocks})
    }

    /// Merges usage counts. Later counts are cumulative, so they replace earlier ones; null or missing ones change nothing.
    fn merge_counts(&mut self, usage: &Value) {
        let counts = usage.as_object().into_iter().flatten().filter(|(_, count)| !count.is_null());
        self.counts.extend(counts.map(|(name, count)| (name.clone(), count.clone())));
    }

    /// Tokens of the turn, if the server counted them.
    pub(super) fn usage(&self) -> Option<Usage> {
        let count = |name: &str| self.counts.get(name).unwrap_or(&Value::Null);
        Usage::from_counts(
            count("input_tokens"),
            count("output_tokens"),
            count("cache_read_input_tokens"),
            count("cache_creation_input_tokens"),
        )
    }

    fn apply_delta(&mut self, index: u64, delta: &Value) {
        let Some(block) = self.blocks.get_mut(&index) else { return };
        let kind = delta["type"].as_str().unwrap_or("");
        let (field, more) = match kind {
            "text_delta" => ("text", &delta["text"]),
            "thinking_delta" => ("thinking", &delta["thinking"]),
            "signature_delta" => ("signature", &delta["signature"]),
            "input_json_delta" => {
                block.input.push_str(delta["partial_json"].as_str().unwrap_or(""));
                return;
            }
            // New kinds, and those that an answer does not need, such as `citations_delta`.
            _ => return,
        };
        let more = more.as_str().unwrap_or("");
        match &mut block.value[field] {
            Value::String(text) => text.push_str(more),
            other => *other = json!(more),
        }
    }
}

impl Block {
    /// The input from the start event, or from the deltas.
    fn tool_input(&self) -> Value {
        // A call without arguments has no deltas, or empty ones.
        if self.input.trim().is_empty() {
            return self.value["input"].clone();
        }
        serde_json::from_str(&self.input).unwrap_or(Value::Null)
    }
}

/// Reads a turn up to its last event. On a failure, `turn` keeps what arrived before it.
pub(super) async fn read_turn(events: &mut Events<'_>, turn: &mut Turn) -> Result<(), CallFailure> {
    loop {
        // After the stop reason the answer is complete, and only `message_stop` is missing.
        let event = if turn.stop.is_some() { events.next_after_answer().await } else { events.next().await? };
        let Some(event) = event else { break };
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else {
            return Err(events.malformed("an event of the answer is not JSON"));
        };
        let index = data["index"].as_u64();
        match data["type"].as_str().unwrap_or("") {
            "message_start" => {
                turn.model = data["message"]["model"].as_str().map(str::to_owned);
                turn.merge_counts(&data["message"]["usage"]);
            }
            "content_block_start" => {
                let Some(index) = index.filter(|_| data["content_block"].is_object()) else {
                    return Err(events.malformed("a block of the answer has no number or no content"));
                };
                turn.blocks.insert(index, Block { value: data["content_block"].clone(), input: String::new() });
            }
            // No block has the number `u64::MAX`, so a delta without a number is skipped.
            "content_block_delta" => turn.apply_delta(index.unwrap_or(u64::MAX), &data["delta"]),
            "message_delta" => {
                // The output count in `message_start` covers only the first token.
                turn.counts.remove("output_tokens");
                turn.merge_counts(&data["usage"]);
                if let Some(stop) = data["delta"]["stop_reason"].as_str() {
                    turn.stop = Some(stop.to_owned());
                }
                let details = &data["delta"]["stop_details"];
                if !details.is_null() {
                    let words = details["explanation"].as_str().map_or_else(|| details.to_string(), str::to_owned);
                    turn.stop_details = Some(words);
                }
            }
            "message_stop" => return Ok(()),
            // An error can come after HTTP status 200.
            "error" => return Err(events.error_event(&data)),
            _ => {}
        }
    }
    // A stream that ends without a stop reason was cut, even if the text looks complete.
    if turn.stop.is_some() { Ok(()) } else { Err(events.cut_stream()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(blocks: &[(Value, &[Value])]) -> Turn {
        let mut turn = Turn::default();
        for (i, (start, deltas)) in blocks.iter().enumerate() {
            turn.blocks.insert(i as u64, Block { value: start.clone(), input: String::new() });
            for delta in *deltas {
                turn.apply_delta(i as u64, delta);
            }
        }
        turn
    }

    #[test]
    fn a_turn_is_sent_back_unchanged_with_its_thinking() {
        let piece = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
        let turn = turn(&[
            (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                &[
                    json!({"type": "thinking_delta", "thinking": "hm"}),
                    json!({"type": "signature_delta", "signature": "c2ln"}),
                ],
            ),
            (json!({"type": "redacted_thinking", "data": "opaque"}), &[]),
            (json!({"type": "text", "text": ""}), &[]),
            (
                json!({"type": "text", "text": ""}),
                &[json!({"type": "text_delta", "text": "I look"}), json!({"type": "citations_delta"})],
            ),
            (
                json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {}}),
                &[piece("{\"file_"), piece("path\":\"a\"}")],
            ),
            (json!({"type": "tool_use", "id": "t2", "name": "Read", "input": {}}), &[piece("{\"file_path")]),
            (json!({"type": "tool_use", "id": "t3", "name": "Read", "input": {}}), &[]),
        ]);
        assert_eq!(
            turn.message()["content"],
            json!([
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "opaque"},
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}},
                {"type": "tool_use", "id": "t2", "name": "Read", "input": {}},
                {"type": "tool_use", "id": "t3", "name": "Read", "input": {}},
            ])
        );
        let inputs: Vec<Value> = turn.calls().into_iter().map(|c| c.input).collect();
        assert_eq!(inputs, [json!({"file_path": "a"}), Value::Null, json!({})]);
        assert_eq!(turn.text(), "I look");
    }

    #[test]
    fn later_counts_replace_earlier_ones_and_missing_counts_stay() {
        let mut turn = Turn::default();
        turn.merge_counts(&Value::Null);
        assert_eq!(turn.usage(), None);
        turn.merge_counts(&json!({"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7, "output_tokens": 1}));
        turn.merge_counts(&json!({"output_tokens": 40, "input_tokens": null}));
        assert_eq!(turn.usage(), Some(Usage { input: 5, output: 40, cache_read: 100, cache_write: 7 }));
    }
}
