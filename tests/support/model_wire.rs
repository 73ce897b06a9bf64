//! The wire format of scripted turns: the Messages API and chat completions, as events or in one piece.

use serde_json::{Value, json};

use super::model_server::{Block, Reply, Seen};

/// The turn as server-sent events, in the wire format of the requested API.
pub fn events(chat: bool, blocks: &[Block], reply: &Reply, seen: &Seen) -> Vec<String> {
    if chat { chat_events(blocks, reply, seen) } else { message_events(blocks, reply, seen) }
}

/// The turn in one piece.
pub fn whole(chat: bool, blocks: &[Block], reply: &Reply, seen: &Seen) -> Value {
    if chat { chat_completion(blocks, reply, seen) } else { message(blocks, reply, seen) }
}

fn tool_id(seen: &Seen, index: usize) -> String {
    format!("toolu_{}_{index}", seen.number)
}

fn calls_tools(blocks: &[Block]) -> bool {
    blocks.iter().any(|b| matches!(b, Block::Tool(..)))
}

/// Splits a text at character boundaries, so that clients have to join the pieces.
fn pieces(text: &str) -> Vec<&str> {
    let Some((middle, _)) = text.char_indices().nth(text.chars().count() / 2) else { return vec![text] };
    let (a, b) = text.split_at(middle);
    [a, b].into_iter().filter(|p| !p.is_empty()).collect()
}

/// A tool's input as JSON text. A string is used as it is, so that a test can send broken JSON.
fn arguments(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        other => other.to_string(),
    }
}

fn model_of(seen: &Seen) -> Value {
    seen.body["model"].clone()
}

fn usage(reply: &Reply, output: u64) -> Value {
    if let Some(usage) = reply.written_usage() {
        return usage.clone();
    }
    let used = reply.used();
    json!({
        "input_tokens": used.input, "output_tokens": output,
        "cache_read_input_tokens": used.cache_read, "cache_creation_input_tokens": used.cache_write,
    })
}

fn stop_of(blocks: &[Block], reply: &Reply) -> String {
    let own = if calls_tools(blocks) { "tool_use" } else { "end_turn" };
    reply.stop_reason().unwrap_or(own).to_owned()
}

fn message(blocks: &[Block], reply: &Reply, seen: &Seen) -> Value {
    let content: Vec<Value> = blocks
        .iter()
        .enumerate()
        .map(|(i, block)| match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}),
            Block::Tool(name, input) => {
                json!({"type": "tool_use", "id": tool_id(seen, i), "name": name, "input": input})
            }
        })
        .collect();
    json!({
        "id": format!("msg_{}", seen.number), "type": "message", "role": "assistant", "model": model_of(seen),
        "content": content, "stop_reason": stop_of(blocks, reply), "stop_sequence": null,
        "usage": usage(reply, reply.used().output),
    })
}

fn message_events(blocks: &[Block], reply: &Reply, seen: &Seen) -> Vec<String> {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or(""));
    let mut start = message(&[], reply, seen);
    start["stop_reason"] = Value::Null;
    start["usage"] = usage(reply, 1);
    let mut events = vec![event(json!({"type": "message_start", "message": start})), event(json!({"type": "ping"}))];
    for (i, block) in blocks.iter().enumerate() {
        let (start, deltas) = match block {
            Block::Text(text) => (
                json!({"type": "text", "text": ""}),
                pieces(text).into_iter().map(|p| json!({"type": "text_delta", "text": p})).collect::<Vec<_>>(),
            ),
            Block::Thinking(text) => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                pieces(text)
                    .into_iter()
                    .map(|p| json!({"type": "thinking_delta", "thinking": p}))
                    .chain([json!({"type": "signature_delta", "signature": "c2lnbmVk"})])
                    .collect(),
            ),
            Block::Tool(name, input) => (
                json!({"type": "tool_use", "id": tool_id(seen, i), "name": name, "input": {}}),
                pieces(&arguments(input))
                    .into_iter()
                    .map(|p| json!({"type": "input_json_delta", "partial_json": p}))
                    .collect(),
            ),
        };
        events.push(event(json!({"type": "content_block_start", "index": i, "content_block": start})));
        for delta in deltas {
            events.push(event(json!({"type": "content_block_delta", "index": i, "delta": delta})));
        }
        events.push(event(json!({"type": "content_block_stop", "index": i})));
    }
    let stop = stop_of(blocks, reply);
    events.push(event(json!({
        "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": usage(reply, reply.used().output),
    })));
    events.push(event(json!({"type": "message_stop"})));
    events
}

fn chat_usage(reply: &Reply) -> Value {
    if let Some(usage) = reply.written_usage() {
        return usage.clone();
    }
    let used = reply.used();
    let prompt = used.input.saturating_add(used.cache_read);
    json!({
        "prompt_tokens": prompt, "completion_tokens": used.output,
        "total_tokens": prompt.saturating_add(used.output),
        "prompt_tokens_details": {"cached_tokens": used.cache_read},
    })
}

fn finish_of(blocks: &[Block], reply: &Reply) -> String {
    let own = if calls_tools(blocks) { "tool_calls" } else { "stop" };
    reply.stop_reason().unwrap_or(own).to_owned()
}

fn chat_completion(blocks: &[Block], reply: &Reply, seen: &Seen) -> Value {
    let text: String =
        blocks.iter().filter_map(|b| if let Block::Text(t) = b { Some(t.as_str()) } else { None }).collect();
    let calls: Vec<Value> = blocks
        .iter()
        .enumerate()
        .filter_map(|(i, b)| match b {
            Block::Tool(name, input) => Some(json!({
                "id": tool_id(seen, i), "type": "function",
                "function": {"name": name, "arguments": arguments(input)},
            })),
            _ => None,
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": format!("chatcmpl-{}", seen.number), "object": "chat.completion", "model": model_of(seen),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_of(blocks, reply)}],
        "usage": chat_usage(reply),
    })
}

fn chat_events(blocks: &[Block], reply: &Reply, seen: &Seen) -> Vec<String> {
    let chunk = |choices: Value, more: Value| {
        let mut data = json!({
            "id": format!("chatcmpl-{}", seen.number), "object": "chat.completion.chunk", "model": model_of(seen),
            "choices": choices,
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            data[name] = value.clone();
        }
        format!("data: {data}\n\n")
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null);
    let mut events = vec![delta(json!({"role": "assistant", "content": null}))];
    let mut call = 0;
    for (i, block) in blocks.iter().enumerate() {
        match block {
            Block::Text(text) => events.extend(pieces(text).into_iter().map(|p| delta(json!({ "content": p })))),
            Block::Thinking(text) => events.push(delta(json!({ "reasoning_content": text }))),
            Block::Tool(name, input) => {
                events.push(delta(json!({"tool_calls": [{
                    "index": call, "id": tool_id(seen, i), "type": "function",
                    "function": {"name": name, "arguments": ""},
                }]})));
                for piece in pieces(&arguments(input)) {
                    events.push(delta(json!({"tool_calls": [{"index": call, "function": {"arguments": piece}}]})));
                }
                call += 1;
            }
        }
    }
    let finish = json!([{"index": 0, "delta": {}, "finish_reason": finish_of(blocks, reply)}]);
    events.push(chunk(finish, Value::Null));
    if seen.body["stream_options"]["include_usage"] == true {
        events.push(chunk(json!([]), json!({ "usage": chat_usage(reply) })));
    }
    events.push("data: [DONE]\n\n".into());
    events
}
