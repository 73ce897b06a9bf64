//! Random records: the fast reader finds each call that the search finds, or gives up.

use std::hash::Hash as _;

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::super::call_search::find_calls;
use super::super::value_hash::hash;
use super::*;

/// Keys that say something of calls in some form, and others.
const KEYS: [&str; 68] = [
    "Name",
    "Input",
    "func",
    "delta",
    "chunk",
    "finish_reason",
    "toolCallId",
    "sessionUpdate",
    "type",
    "name",
    "id",
    "input",
    "tool_calls",
    "content",
    "message",
    "payload",
    "text",
    "arguments",
    "args",
    "function",
    "tool",
    "action",
    "messages",
    "prompt",
    "usage",
    "toolCalls",
    "functionCall",
    "function_call",
    "tool_use",
    "tool_use_id",
    "call_id",
    "params",
    "method",
    "event",
    "run_type",
    "key",
    "value",
    "attributes",
    "gen_ai.tool.name",
    "gen_ai.tool.call.arguments",
    "tool_result",
    "output",
    "result",
    "tools",
    "parameters",
    "kwargs",
    "data",
    "state",
    "custom",
    "recipient_name",
    "executableCode",
    "command",
    "changes",
    "history",
    "action_input",
    "observation",
    "thought",
    "gen_ai.completion.0.tool_calls.0.name",
    "span_name",
    "role",
    "x",
    "toolName",
    "TOOL_CALLS",
    "Tool-Call",
    "inputs",
    "properties",
    "$schema",
    "invalid_tool_calls",
];

const TEXTS: [&str; 29] = [
    "toolCall",
    "tool_use_error",
    "<tool_call>{}</tool_call>",
    "data: {\"name\":\"Bash\",\"args\":{}}",
    "user",
    "tool_use",
    "tool_result",
    "function",
    "tool_call",
    "text",
    "Bash",
    "c1",
    "c2",
    "c3",
    "tools/call",
    "tool",
    "on_tool_start",
    "execute_tool Bash",
    "",
    " ",
    "{\"name\":\"Bash\",\"arguments\":{}}",
    "object",
    "[{\"type\":\"tool_use\",\"name\":\"Bash\"}]",
    "toolUse",
    "FunctionCall",
    "command_execution",
    "file_change",
    "local_shell_call",
    "function_call_output",
];

fn usual_call(rng: &mut Rng) -> Value {
    let id = format!("c{}", rng.u8(..12));
    let name = *rng.choice(&["Bash", "Read"]).unwrap();
    match rng.u8(..3) {
        0 => json!({"tool_calls": [{"id": id, "type": "function",
            "function": {"name": name, "arguments": *rng.choice(&["{\"a\": [1, 2.5]}", "", "x", "{", "3"]).unwrap()}}]}),
        1 => json!({"tool_calls": []}),
        _ => {
            json!({"type": "tool_use", "id": id, "name": name, "input": {"command": "ls", "n": {"b": null, "a": -1}}})
        }
    }
}

fn any_value(rng: &mut Rng, depth: u8) -> Value {
    match rng.u8(..if depth == 0 { 4 } else { 10 }) {
        0 => json!(rng.u8(..3)),
        1 => [json!(null), json!(true), json!(0.5)][rng.usize(..3)].clone(),
        2 | 3 => json!(*rng.choice(&TEXTS).unwrap()),
        4 | 5 => (0..rng.u8(..3)).map(|_| any_value(rng, depth - 1)).collect(),
        6 => usual_call(rng),
        _ => {
            let entry = |rng: &mut Rng| ((*rng.choice(&KEYS).unwrap()).to_owned(), any_value(rng, depth - 1));
            let mut fields: Map<String, Value> = (0..rng.u8(..4)).map(|_| entry(rng)).collect();
            if rng.u8(..4) == 0 {
                fields.extend(usual_call(rng).as_object().unwrap().clone());
            }
            Value::Object(fields)
        }
    }
}

#[test]
fn nothing_is_missing_that_the_search_finds() {
    let count = 300_000_u32;
    let (mut simple, mut with_calls) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed.into());
        let record = any_value(&mut rng, 4);
        let text = record.to_string();
        let Some(calls) = simple_calls(text.as_bytes()) else { continue };
        simple += 1;
        with_calls += u32::from(!calls.is_empty());
        let calls: Vec<_> =
            calls.iter().map(|call| (call.id.to_string(), call.name.to_string(), Some(call.arguments))).collect();
        let found = find_calls(&record);
        assert!(found.iter().all(|call| !call.is_history), "{text}: {found:?}");
        let hash_of = |value: &Value| ValueHash::default().deserialize(value).unwrap();
        // In what a tool answered, the search finds fewer calls, or possible ones: they differ from those of the plan.
        for call in found {
            let call = (call.id.unwrap_or_default(), call.name, call.arguments.as_ref().map(hash_of));
            assert!(calls.contains(&call), "seed {seed}: {call:?} is not among {calls:?} of {text}");
        }
    }
    assert!(simple > count / 10 && with_calls > count / 100, "{simple} simple, {with_calls} with calls");
    assert_eq!(hash(|state| "a".hash(state)), hash(|state| "a".to_owned().hash(state)));
}
