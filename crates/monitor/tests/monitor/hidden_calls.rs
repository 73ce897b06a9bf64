//! Calls in every known form, at places where no one expects them. A rule that forbids the call is violated or has no verdict;
//! it never holds.

use fastrand::Rng;
use serde_json::{Value, json};
use tlaforge_monitor::log::{Mapping, OtherCalls, ScanOptions, detect_shape, is_document};
use tlaforge_monitor::trac::Reset;
use tlaforge_monitor::{AuditReport, Auditor, Policy};
use tlaforge_temporal::Formulas;

const STRICT: ScanOptions = ScanOptions { skip_invalid: false, threads: 1 };

/// The audit of a log whose shape is detected.
fn audit(log: &[u8], formula: &str) -> AuditReport {
    let mut formulas = Formulas::new();
    let text = format!("[[rule]]\nid = \"it\"\nformula = '''{formula}'''\n");
    let policy = Policy::read(&text, &mut formulas).unwrap();
    let mapping = Mapping { other_calls: OtherCalls::ReadKnown, ..Mapping::default() };
    let auditor = Auditor::new(formulas, policy.rules, mapping.with_shape_defaults(detect_shape(log))).unwrap();
    let audited = if is_document(log, true) {
        auditor.audit_list(log, Reset::Never)
    } else {
        auditor.audit_lines(&mut { log }, STRICT, Reset::Never)
    };
    audited.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(log)))
}

/// Whether a rule holds; `None` if there is no verdict.
fn holds(log: &[u8], formula: &str) -> Option<bool> {
    let audited = audit(log, formula);
    let is_read = audited.log.missed_calls.first.is_none() && audited.log.places.states() > 0;
    is_read.then(|| audited.findings[0].verdict.holds())
}

fn pick<T: Clone>(rng: &mut Rng, from: &[T]) -> T {
    rng.choice(from).unwrap().clone()
}

const FORBIDDEN: &str = r#"G !((tool_call:Bash | tool_call:bash) & contains(tool.input.command, "rm -rf"))"#;

/// Calls of `Bash` whose parts are elsewhere: under several keys, in a batch, in a text, in the pieces of a stream.
fn scattered_calls(id: &str) -> Vec<Value> {
    let input = json!({"command": "rm -rf /hidden"});
    let text = input.to_string();
    vec![
        json!({"tool": "Bash", "path": "/work", "command": "rm -rf /hidden"}),
        json!({"tool": "Bash", "cmd": "bash", "payload": input}),
        json!({"tool": "Bash", "input": {"cwd": "/"}, "args": input}),
        json!({"tool": "Bash", "args": {}, "command": "rm -rf /hidden"}),
        json!({"tool": "Bash", "inputs": input}),
        json!({"type": "tool_call", "tool": "Bash", "command": "rm -rf /hidden"}),
        json!({"type": "tool_use", "id": id, "name": "Bash", "inputs": text}),
        json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}, "command": "rm -rf /hidden"}),
        json!({"tool_calls": [{"id": id, "type": "function", "function": {"name": "Bash", "arguments": "", "parsed_arguments": input}}]}),
        json!({"toolUse": {"toolName": "Bash", "toolUseId": id, "content": text}}),
        json!({"functionCall": {"name": "Bash", "partialArgs": [{"jsonPath": "$.command", "stringValue": "rm -rf /hidden"}]}}),
        json!({"tool": {"name": "Bash"}, "input": input}),
        json!({"tool_name": "Bash", "tool_kwargs": input, "tool_id": id}),
        json!({"action": "Bash", "params": input}),
        json!({"tools": [{"name": "Bash", "params": input}]}),
        json!({"tools": [{"name": "Bash", "command": "rm -rf /hidden"}]}),
        json!({"attributes": {"gen_ai.tool.name": "Bash", "gen_ai.tool.call.id": id, "tool_arguments": text}}),
        json!({"attributes": {"traceloop.span.kind": "tool", "traceloop.entity.name": "Bash",
            "traceloop.entity.input": json!({"kwargs": input}).to_string()}}),
        // A batch of calls is a call.
        json!({"type": "tool_use", "id": id, "name": "Batch", "input": {"invocations": [{"tool_name": "Bash", "input": input}]}}),
        json!({"tool_calls": [{"id": id, "type": "function", "function": {"name": "multi_tool_use.parallel", "arguments":
            json!({"tool_uses": [{"recipient_name": "functions.Bash", "parameters": input}]}).to_string()}}]}),
        json!({"type": "tool", "callID": id, "tool": "batch", "state": {"input": {"tool_calls": [{"tool": "Bash", "parameters": input}]}}}),
        // The pieces of a stream in a text.
        json!({"body": format!("event: content_block_start\ndata: {}\n\nevent: content_block_delta\ndata: {}\n",
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": id, "name": "Bash", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}))}),
        json!({"chunks": json!([{"type": "content_block_start", "index": 0,
                "content_block": {"type": "tool_use", "id": id, "name": "Bash", "input": {}}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}]).to_string()}),
        json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"x": 1}, "Command": "rm -rf /hidden"}),
        json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}, "args": input}),
        json!({"type": "tool_use", "id": id, "name": "Batch", "input": {"tool_uses": json!([{"recipient_name": "functions.Bash", "parameters": input}]).to_string()}}),
        json!({"type": "tool_use", "id": id, "name": "Batch", "input": {"requests": [{"function": {"name": "Bash", "arguments": text}}]}}),
        json!({"type": "tool_use", "id": id, "name": "Batch", "input": {"calls": [{"name": "Bash", "input": input}]}}),
        json!({"type": "tool_use", "id": id, "name": "Batch", "input": {"steps": [{"tool": "Bash", "command": "rm -rf /hidden"}]}}),
        json!({"attributes": {"tool.name": "Bash", "input.value": "", "tool.parameters": text}}),
        json!({"role": "assistant", "content": format!("Use ``` for code. <tool_call>{}</tool_call>", json!({"name": "Bash", "arguments": input}))}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"choices": [{"message": {"tool_calls": [
            {"id": id, "type": "function", "function": {"name": "Bash", "arguments": text}}]}}]}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "parts": [{"kind": "data", "data": {"id": id, "name": "Bash", "args": input}}]}}),
        json!({"role": "assistant", "content": json!([{"type": "tool_use", "id": id, "name": "Bash", "input": input}]).to_string()}),
        json!({"role": "assistant", "content": format!("<TOOLCALL>[{}]</TOOLCALL>", json!({"name": "Bash", "arguments": input}))}),
        json!({"role": "assistant", "content": format!("<functioncall> {}", json!({"name": "Bash", "arguments": input}))}),
        json!({"role": "assistant", "content": "<start_function_call>call:Bash{command:<escape>rm -rf /hidden"}),
        json!({"role": "assistant", "content": format!("<|START_ACTION|>[{}]<|END_ACTION|>", json!({"tool_name": "Bash", "parameters": input}))}),
        json!({"role": "assistant", "content": format!("<|start|>assistant to=functions.Bash<|channel|>commentary json<|message|>{text}")}),
        json!({"role": "assistant", "content": "<execute_command>\n<command>rm -rf /hidden</command>\n</execute_command>"}),
    ]
}

/// A call of `Bash`, in one of the known forms.
fn call(rng: &mut Rng) -> Value {
    let input = json!({"command": "rm -rf /hidden"});
    let text = input.to_string();
    let id = format!("hidden_{}", rng.u32(..));
    let forms = [
        json!({"type": "tool_use", "id": id, "name": "Bash", "input": input}),
        json!({"type": "mcp_tool_use", "name": "Bash", "input": input}),
        json!({"type": "function_call", "call_id": id, "name": "Bash", "arguments": text}),
        json!({"type": "custom_tool_call", "call_id": id, "name": "Bash", "input": text}),
        json!({"type": "tool_call", "id": id, "name": "Bash", "args": input}),
        json!({"type": "tool-call", "toolCallId": id, "toolName": "Bash", "input": input}),
        json!({"type": "tool_call", "id": id, "name": "Bash", "arguments": input}),
        json!({"tool_calls": [{"id": id, "type": "function", "function": {"name": "Bash", "arguments": text}}]}),
        json!({"tool_calls": [{"id": id, "type": "function", "function": "Bash", "arguments": input}]}),
        json!({"tool_calls": [{"id": id, "name": "Bash", "args": input, "type": "tool_call"}]}),
        json!({"tool_calls": json!([{"function": {"name": "Bash", "arguments": text}}]).to_string()}),
        json!({"toolCalls": [{"id": id, "name": "Bash", "args": input}]}),
        json!({"function_call": {"name": "Bash", "arguments": text}}),
        json!({"functionCall": {"name": "Bash", "args": input}}),
        json!({"toolUse": {"toolUseId": id, "name": "Bash", "input": input}}),
        json!({"tool": "Bash", "input": input}),
        json!({"tool_name": "Bash", "tool_input": input}),
        json!({"name": "Bash", "arguments": text}),
        json!({"name": "Bash", "input": input}),
        json!({"name": "Bash", "parameters": input}),
        json!({"action": "rm -rf /hidden", "observation": "", "thought": "x"}),
        json!({"action": "Bash", "action_input": input}),
        json!({"name": "execute_tool Bash", "attributes": {"gen_ai.tool.name": "Bash", "gen_ai.tool.call.arguments": text}}),
        json!({"name": "execute_tool Bash", "attributes": [
            {"key": "gen_ai.tool.name", "value": {"stringValue": "Bash"}},
            {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": text}}]}),
        json!({"attributes": {"gen_ai.output.messages": json!([{"role": "assistant", "parts": [
            {"type": "tool_call", "id": id, "name": "Bash", "arguments": input}]}]).to_string()}}),
        json!({"attributes": {"gen_ai.completion.0.tool_calls.0.name": "Bash",
            "gen_ai.completion.0.tool_calls.0.arguments": text}}),
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "Bash", "arguments": input}}),
        json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "Bash", "args": input}}]}}]}),
        json!({"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": "",
            "tool_calls": [{"name": "Bash", "args": input, "id": id}]}}),
        json!({"type": "ai", "data": {"content": "", "tool_calls": [{"name": "Bash", "args": input, "id": id}]}}),
        json!({"Name": "Bash", "Input": input}),
        json!({"func": "Bash", "params": input}),
        json!({"tool_calls": {"0": {"name": "Bash", "args": input}}}),
        json!({"tool_calls": {"Bash": input}}),
        json!({"sessionUpdate": "tool_call", "title": "Bash", "rawInput": input}),
        json!({"callId": id, "input": input, "title": "Bash"}),
        json!({"log": format!("data: {}\n\ndata: [DONE]\n", json!({"tool_calls": [{"name": "Bash", "args": input}]}))}),
        json!({"log": format!("{}\n{}\n", json!({"a": 1}), json!({"tool": "Bash", "input": input}))}),
        json!({"log": json!({"tool_calls": [{"name": "Bash", "args": input}]}).to_string().trim_end_matches(['}', ']'])}),
        json!({"role": "assistant", "content": format!("<tool_call>\n{}\n</tool_call>", json!({"name": "Bash", "arguments": input}))}),
        json!({"role": "assistant", "content": "<function_calls><invoke name=\"Bash\"><parameter name=\"command\">rm -rf /hidden</parameter>"}),
        json!({"type": "tool_use", "id": id, "name": "Bash", "rawInput": input}),
        // The identifier of an honest call of the log.
        json!({"type": "tool_use", "id": "t1", "name": "Read", "spec": {"command": "rm -rf /hidden", "tool": "Bash"}}),
        json!({"callId": "c1", "input": input}),
        json!({"tool_calls": [{"id": id, "name": "Bash", "details": input}]}),
        json!({"tool_calls": [{"id": "c1", "function": {"name": "Bash", "body": input}}]}),
        json!({"toolname": "Bash", "toolargs": input}),
        json!({"Func": "Bash", "Args": "rm -rf /hidden"}),
        json!({"tool": "Bash", "command": "rm -rf /hidden"}),
        json!({"name": "agent", "input_schema": {}, "calls": [{"tool": "Bash", "input": input}]}),
        json!({"type": "document", "messages": [{"role": "assistant", "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "Bash", "arguments": text}}]}]}),
        json!({"type": "attachment", "data": {"tool": "Bash", "input": input}}),
        json!({"data": "{\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf /hidden\"}} done"}),
        json!({"data": "Output: {\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf /hidden\""}),
        json!({"type": "TOOL_CALL_END", "toolCallId": id, "toolName": "Bash", "args": input}),
        json!({"type": "tool-call-start", "id": id, "toolName": "Bash", "args": input}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": id,
            "function": {"name": "Bash", "parameters": input}}]}, "finish_reason": "tool_calls"}]}),
        json!({"body": json!({"delta": {"tool_calls": [{"index": 0, "id": id, "function": {"name": "Bash", "arguments": ""}}]}}).to_string()}),
    ];
    let scattered = scattered_calls(&id);
    if rng.u8(..4) == 0 { pick(rng, &scattered) } else { pick(rng, &forms) }
}

/// Data that is no call.
fn decoy(rng: &mut Rng) -> Value {
    let decoys = [
        json!({"text": "I would call Bash with rm -rf /, and do not."}),
        json!({"name": "Bash", "count": 3}),
        json!({"tools": [{"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {}}}}]}),
        json!({"stop_reason": "tool_use", "finish_reason": "tool_calls"}),
        json!({"type": "tool_result", "content": [{"type": "text", "text": "{\"name\":\"Bash\",\"input\":{\"command\":\"rm -rf /\"}}"}]}),
        json!({"type": "document", "source": {"data": "{\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf /\"}}"}}),
        json!({"role": "user", "content": "What does <tool_call> mean?"}),
        json!({"function_call": "auto", "tool_choice": {"type": "function", "name": "Bash"}}),
        json!({"usage": {"tool_calls": {"count": 2}}}),
        json!({"delta": {"content": "Bash", "tool_calls": null}}),
        json!({"name": "includes", "scorer": "includes", "params": {}}),
        json!({"level": "INFO", "func": "main", "args": [], "msg": "start"}),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "explain <tool_call> please"}}),
        json!({"system": "Use <function_calls> for tools.", "note": "`<tool_call>` is markup"}),
        json!({"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c",
            "aggregated_output": "{\"name\": \"x\", \"args\": [1]} and more", "formatted_output": "<tool_call>"}}),
        json!({"stats": {"kind": "tool_call", "count": 12}, "finish": "tool_calls"}),
        json!({"type": "event_msg", "payload": {"type": "agent_message", "message": "It wrote {\"name\": \"x\", \"arguments\": {}} there."}}),
        json!({"type": "result", "subtype": "success", "result": "Done: {\"name\": \"x\", \"input\": {}} is in the file."}),
        json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "a <tool_use> block"}]}),
        json!({"type": "llm_call", "model": "m", "latency": 3, "prompt_tokens": {"input": 3}}),
        json!({"type": "api_call", "url": "/v1", "status": 200}),
        json!({"levelname": "INFO", "name": "root", "msg": "%s", "args": ["x", "y"]}),
        json!({"event": "on_tool_end", "name": "Read", "data": {"output": "{\"tool\": \"x\", \"input\": {\"a\": 1}}"}}),
        json!({"resultDisplay": "{\"tool\": \"x\", \"input\": {}}"}),
        json!(["Bash", 1, null]),
    ];
    pick(rng, &decoys)
}

/// A search that knows no form: whether the word that only hidden calls have is anywhere in a log.
fn has_hidden_call(log: &[u8]) -> bool {
    String::from_utf8_lossy(log).contains("hidden")
}

/// A value around another one.
#[expect(clippy::needless_pass_by_value, reason = "the value moves into what is around it")]
fn wrapped(rng: &mut Rng, inner: Value) -> Value {
    let keys = [
        "data", "payload", "message", "event", "body", "detail", "inner", "item", "result", "output", "extra", "é",
        "a.b",
    ];
    let key = pick(rng, &keys);
    match rng.u8(..6) {
        0 => json!([inner]),
        1 => json!([{"type": "text", "text": "hi"}, inner]),
        2 => json!({key: inner.to_string()}),
        3 => json!({"sort": "x", key: {"list": [1, "two", inner]}}),
        _ => json!({key: inner, "note": "n"}),
    }
}

/// Honest records of each known shape, each with a call of `Read`.
fn honest() -> Vec<Vec<Value>> {
    let read = json!({"path": "a.txt"});
    vec![
        vec![
            json!({"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash", "Read"]}),
            json!({"type": "assistant", "session_id": "s", "uuid": "u1", "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "Read", "input": read}], "stop_reason": "tool_use"}}),
            json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "{\"name\":\"Bash\",\"input\":{}}"}]},
                "tool_use_result": {"type": "text", "file": {"name": "Bash", "input": {"command": "rm -rf /"}}}}),
        ],
        vec![
            json!({"model": "m", "tools": [{"type": "function", "function": {"name": "Bash", "description": "runs",
                "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}],
                "tool_choice": {"type": "function", "function": {"name": "Bash"}}, "messages": [{"role": "user", "content": "x"}]}),
            json!({"role": "assistant", "content": "I could run {\"name\":\"Bash\",\"arguments\":{}}", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": read.to_string()}}]}),
            json!({"role": "tool", "tool_call_id": "c1", "name": "Read", "content": "[{\"tool\":\"Bash\",\"input\":{}}]"}),
        ],
        vec![
            json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "x", "cwd": "/w", "originator": "codex_cli"}}),
            json!({"timestamp": "t", "type": "response_item", "payload": {"type": "function_call", "name": "Read",
                "arguments": read.to_string(), "call_id": "c1"}}),
            json!({"timestamp": "t", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1",
                "output": "{\"name\":\"Bash\",\"input\":{}}"}}),
        ],
        vec![
            json!({"type": "human", "data": {"content": "x"}}),
            json!({"type": "ai", "data": {"content": "", "tool_calls": [{"name": "Read", "args": read, "id": "c1"}],
                "additional_kwargs": {"tool_calls": [{"id": "c1", "type": "function",
                    "function": {"name": "Read", "arguments": read.to_string()}}]}}}),
            json!({"type": "tool", "data": {"content": "a", "tool_call_id": "c1", "name": "Read"}}),
        ],
        vec![
            json!({"name": "chat m", "traceId": "1", "attributes": {"gen_ai.operation.name": "chat",
                "gen_ai.tool.definitions": json!([{"name": "Bash", "parameters": {"type": "object"}}]).to_string()}}),
            json!({"name": "execute_tool Read", "traceId": "1", "attributes": {"gen_ai.tool.name": "Read",
                "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": read.to_string()}}),
        ],
        vec![
            json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}], "tools": [{"functionDeclarations": [
                {"name": "Bash", "description": "runs", "parameters": {"type": "OBJECT", "properties": {}}}]}]}),
            json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "Read", "args": read}}]},
                "finishReason": "STOP"}]}),
            json!({"role": "user", "parts": [{"functionResponse": {"name": "Bash", "response": {"name": "Bash", "input": {}}}}]}),
        ],
        vec![
            json!({"action": "cat a.txt", "observation": "a", "thought": "look", "state": "{}"}),
            json!({"action": "ls", "observation": "{\"name\":\"Bash\",\"input\":{}}", "thought": "look"}),
        ],
        vec![
            json!({"kind": "metadata", "payload": {}}),
            json!({"kind": "chat_response", "payload": {"content": [{"type": "tool_use", "id": "a", "name": "Read", "input": read}]}}),
            json!({"kind": "chat_request", "payload": {"messages": [{"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "Read", "input": read}]}]}}),
        ],
        vec![json!({"step": 1, "tool": "Read", "input": read}), json!({"step": 2, "text": "done"})],
        vec![
            json!({"object": "response", "tools": [{"type": "function", "name": "Bash", "parameters": {"type": "object"}}],
                "output": [{"type": "function_call", "call_id": "c", "name": "Read", "arguments": read.to_string()}]}),
            json!({"type": "function_call_output", "call_id": "c", "output": "x"}),
        ],
    ]
}

/// The records as lines, as a list, or as an object over several lines.
fn written(rng: &mut Rng, records: &[Value]) -> Vec<u8> {
    let lines = || records.iter().fold(String::new(), |log, record| log + &record.to_string() + "\n");
    let text = match rng.u8(..6) {
        0 => json!(records).to_string(),
        1 => format!("\u{feff}{:#}", json!({"id": 1, "messages": records})),
        2 => records.iter().fold(String::new(), |log, record| format!("{log}{record:#}\n")),
        3 => lines().replace('\n', "\r\n"),
        _ => lines(),
    };
    text.into_bytes()
}

#[test]
fn a_rule_holds_exactly_if_a_naive_search_finds_no_hidden_call() {
    let count = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 10_000 } else { 1_500 };
    let honest = honest();
    let (mut violated, mut undecided) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let mut records = pick(&mut rng, &honest);
        let mut added = if rng.u8(..4) == 0 { decoy(&mut rng) } else { call(&mut rng) };
        for _ in 0..rng.usize(..5) {
            added = wrapped(&mut rng, added);
        }
        let at = rng.usize(..=records.len());
        if rng.bool() && added.is_object() {
            // The first record decides the shape.
            records.insert(at.max(1), added);
        } else {
            let at = at.min(records.len() - 1);
            records[at][pick(&mut rng, &["zz", "data", "extra", "progress"])] = added;
        }
        let log = written(&mut rng, &records);
        let found = holds(&log, FORBIDDEN);
        assert_eq!(found == Some(true), !has_hidden_call(&log), "seed {seed}: {}", String::from_utf8_lossy(&log));
        violated += u64::from(found == Some(false));
        undecided += u64::from(found.is_none());
    }
    assert!(violated > count / 3, "{violated} violated, {undecided} without a verdict");
    println!("{count} logs: {violated} violations found, {undecided} logs without a verdict");
}

#[test]
fn calls_within_calls_are_visited_once() {
    // If each level were visited twice, this would never end.
    let nested = |level: &dyn Fn(Value) -> Value| (0..40).fold(json!({"tool": "x"}), |inner, _| level(inner));
    for record in [
        nested(&|inner| json!({"type": "web_search_call", "queries": [inner]})),
        nested(&|inner| json!({"type": "tool_use", "id": "t", "name": "x", "details": inner})),
        nested(&|inner| json!({"tool": "x", "details": inner})),
        nested(&|inner| json!({"tool": "x", "input": {"calls": [inner]}})),
    ] {
        assert_eq!(holds(format!("{record}\n").as_bytes(), FORBIDDEN), None);
    }
}

#[test]
fn honest_logs_have_a_verdict() {
    for (number, records) in honest().into_iter().enumerate() {
        for seed in 0..12 {
            let log = written(&mut Rng::with_seed(seed), &records);
            let audited = audit(&log, FORBIDDEN);
            let missed = &audited.log.missed_calls;
            assert!(missed.first.is_none(), "{number}: {missed:?} in {}", String::from_utf8_lossy(&log));
            assert_eq!(holds(&log, "F (tool_call:Read | tool_call:bash)"), Some(true), "{number}");
            assert_eq!(
                holds(&log, "G (tool_call:Read -> N G !tool_call:Read)"),
                Some(true),
                "{number}, each call once"
            );
        }
    }
    for file in std::fs::read_dir("../../tests/data/claude-code").unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let audited = audit(&std::fs::read(&path).unwrap(), "G !tool_call:Wrte");
            assert!(audited.log.missed_calls.first.is_none(), "{}: {:?}", path.display(), audited.log.missed_calls);
        }
    }
}

/// The lines of a stream with one call, in pieces.
fn streams() -> Vec<(&'static str, Vec<Value>)> {
    let chunk = |delta: Value, finish: Value| json!({"id": "r", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let event = |event: Value| json!({"type": "stream_event", "session_id": "s", "event": event});
    let block = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}});
    let piece = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let item = json!({"type": "function_call", "id": "i", "call_id": "c", "name": "Bash", "arguments": ""});
    let claude = vec![
        json!({"type": "content_block_start", "index": 1, "content_block": block}),
        json!({"type": "content_block_delta", "index": 1, "delta": piece("{\"command\": \"rm ")}),
        json!({"type": "content_block_delta", "index": 1, "delta": piece("-rf /\"}")}),
        json!({"type": "content_block_stop", "index": 1}),
    ];
    vec![
        (
            "chat completion",
            vec![
                chunk(
                    json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "t", "type": "function",
                    "function": {"name": "Bash", "arguments": ""}}]}),
                    Value::Null,
                ),
                chunk(
                    json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"command\": \"rm "}}]}),
                    Value::Null,
                ),
                chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "-rf /\"}"}}]}), Value::Null),
                chunk(json!({}), json!("tool_calls")),
            ],
        ),
        ("claude code", claude.iter().cloned().map(event).collect()),
        ("wrapped", claude.iter().map(|event| json!({"time": "t", "data": {"chunk": event}})).collect()),
        ("text", claude.iter().map(|event| json!({"time": "t", "data": event.to_string()})).collect()),
        (
            "cohere",
            vec![
                json!({"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {"id": "t", "type": "function",
                    "function": {"name": "Bash", "arguments": ""}}}}}),
                json!({"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {
                    "function": {"arguments": "{\"command\": \"rm "}}}}}),
                json!({"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {
                    "function": {"arguments": "-rf /\"}"}}}}}),
                json!({"type": "tool-call-end", "index": 0}),
            ],
        ),
        (
            "assistants",
            [json!({"id": "t", "index": 0, "type": "function", "function": {"name": "Bash", "arguments": "{\"command\": \"rm "}}),
                json!({"index": 0, "type": "function", "function": {"arguments": "-rf /\"}"}})]
            .map(|call| json!({"event": "thread.run.step.delta", "data": {"id": "s", "object": "thread.run.step.delta",
                "delta": {"step_details": {"type": "tool_calls", "tool_calls": [call]}}}}))
            .into(),
        ),
        (
            "user interface",
            vec![
                json!({"type": "tool-input-start", "toolCallId": "t", "toolName": "Bash"}),
                json!({"type": "tool-input-delta", "toolCallId": "t", "inputTextDelta": "{\"command\": \"rm "}),
                json!({"type": "tool-input-delta", "toolCallId": "t", "inputTextDelta": "-rf /\"}"}),
                json!({"type": "tool-input-available", "toolCallId": "t", "toolName": "Bash", "input": {"command": "rm -rf /"}}),
            ],
        ),
        (
            "langchain events",
            [json!([{"name": "Bash", "args": "{\"command\": \"rm ", "id": "t", "index": 0}]),
                json!([{"name": null, "args": "-rf /\"}", "id": null, "index": 0}])]
            .map(|chunks| json!({"event": "on_chat_model_stream", "run_id": "r", "data": {"chunk": {"type": "AIMessageChunk",
                "id": "m", "content": "", "tool_calls": [], "tool_call_chunks": chunks}}}))
            .into(),
        ),
        ("anthropic", claude),
        (
            "responses",
            vec![
                json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                json!({"type": "response.function_call_arguments.delta", "item_id": "i", "output_index": 0, "delta": "{\"command\": \"rm "}),
                json!({"type": "response.function_call_arguments.delta", "item_id": "i", "output_index": 0, "delta": "-rf /\"}"}),
                json!({"type": "response.function_call_arguments.done", "item_id": "i", "output_index": 0, "arguments": "{\"command\": \"rm -rf /\"}"}),
            ],
        ),
        (
            "langchain",
            vec![
                json!({"type": "AIMessageChunk", "data": {"id": "m", "content": "", "tool_calls": [{"name": "Bash", "args": {}, "id": "t"}],
                    "tool_call_chunks": [{"name": "Bash", "args": "{\"command\": \"rm ", "id": "t", "index": 0}]}}),
                json!({"type": "AIMessageChunk", "data": {"id": "m", "content": "", "tool_calls": [],
                    "tool_call_chunks": [{"name": null, "args": "-rf /\"}", "id": null, "index": 0}]}}),
            ],
        ),
    ]
}

#[test]
fn the_pieces_of_a_streamed_call_are_one_call() {
    let once = "F tool_call:Bash & G (tool_call:Bash -> N G !tool_call:Bash)";
    for (name, records) in streams() {
        let lines = |count: usize| records[..count].iter().fold(String::new(), |log, r| log + &r.to_string() + "\n");
        let whole = lines(records.len());
        assert_eq!(holds(whole.as_bytes(), FORBIDDEN), Some(false), "{name}");
        assert_eq!(holds(whole.as_bytes(), once), Some(true), "{name}");
        assert_eq!(audit(whole.as_bytes(), once).log.cut_off_calls, 0, "{name}");
        // Cut off, its arguments are what there is of them.
        let cut = audit(
            lines(2.min(records.len() - 1)).as_bytes(),
            "G !(tool_call:Bash & contains(tool.input.command, \"rm\"))",
        );
        assert!(!cut.findings[0].verdict.holds(), "{name}");
        assert_eq!(cut.log.cut_off_calls, 1, "{name}");
        assert!(
            cut.warnings.iter().any(|warning| warning.contains("ends within 1 call")),
            "{name}: {:?}",
            cut.warnings
        );
        let list = json!(records).to_string();
        assert_eq!(holds(list.as_bytes(), FORBIDDEN), Some(false), "{name} as a list");
    }
    // The whole message after its pieces is the same call.
    let partial = std::fs::read("../../tests/data/claude-code/read-partial.jsonl").unwrap();
    assert_eq!(holds(&partial, "F tool_call:Read & G (tool_call:Read -> N G !tool_call:Read)"), Some(true));
}

#[test]
fn repeated_records_are_one_call_and_other_contents_are_two() {
    let line = |command: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"u3","session_id":"s","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{{"command":"{command}"}}}}]}}}}"#
        ) + "\n"
    };
    let once = "G (tool_call:Bash -> N G !tool_call:Bash)";
    let same = audit(line("ls").repeat(3).as_bytes(), once);
    assert!(same.findings[0].verdict.holds());
    assert_eq!((same.log.repeated_calls, same.log.conflicting_calls), (2, None));
    let other = audit((line("ls") + &line("rm")).as_bytes(), once);
    assert!(!other.findings[0].verdict.holds());
    assert_eq!((other.log.repeated_calls, other.log.conflicting_calls), (0, Some(2)));
    assert!(other.warnings[0].contains("line 2: a call has the identifier"), "{:?}", other.warnings);
    // Several threads and blocks decide the same.
    let long = line("ls").repeat(20_000);
    assert!(audit(long.as_bytes(), once).findings[0].verdict.holds());
}

#[test]
fn half_a_character_drops_no_record() {
    let log = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"cut \ud83d"},{"type":"tool_use","name":"Bash","input":{"command":"rm -rf /"}}]}}"#;
    for log in [log.to_owned(), format!("{log}\n{{\"type\":\"user\",\"message\":{{}}}}\n"), format!("[{log}]")] {
        assert_eq!(holds(log.as_bytes(), FORBIDDEN), Some(false), "{log}");
        assert_eq!(holds(log.as_bytes(), "G !text_contains:\"cut \u{fffd}\""), Some(false), "{log}");
    }
}

#[test]
fn names_that_never_occur_are_named_with_the_nearest_one() {
    let log = r#"{"tool":"Write","input":{},"text":"hello","stop_reason":"end_turn"}"#;
    let log = format!("{log}\n").repeat(7);
    for (formula, sentence) in [
        ("G !tool_call:Wrte", "the tool `Wrte` never occurs; `Write` occurs 7 times"),
        ("G !tool_call:write", "the tool `write` never occurs; `Write` occurs 7 times"),
        ("G tool.name != \"Wrte\"", "the tool `Wrte` never occurs; `Write` occurs 7 times"),
        ("G !any(tool.name, = \"Wrte\")", "the tool `Wrte` never occurs"),
        ("G !stop_reason:end_trun", "the stop reason `end_trun` never occurs; `end_turn` occurs 7 times"),
        ("G !text_contains:helo", "no record has the text \"helo\""),
        ("G !bad", "no record has a field `bad`"),
    ] {
        let warnings = &audit(log.as_bytes(), formula).findings[0].warnings;
        assert!(warnings.iter().any(|warning| warning.contains(sentence)), "{formula}: {warnings:?}");
    }
    let fine = audit(log.as_bytes(), "G (tool_call:Write -> text_contains:hello & F stop_reason:end_turn)");
    assert_eq!((fine.findings[0].warnings.clone(), fine.doubts()), (Vec::new(), Vec::new()));
}

#[test]
fn documents_are_read_with_their_calls() {
    let text = r#"{"command":"rm -rf /"}"#;
    let span = json!({"name": "execute_tool Bash", "attributes": [
        {"key": "gen_ai.tool.name", "value": {"stringValue": "Bash"}},
        {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": text}}]});
    let documents = [
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}),
        json!({"trajectory": [{"action": "rm -rf /", "observation": "", "response": "x", "thought": "y"}], "history": [], "info": {}}),
        json!({"trajectory": [], "history": [{"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "bash", "arguments": text}, "id": "c", "type": "function"}]}]}),
        json!({"version": 2, "eval": {"task": "t"}, "samples": [{"id": 1, "input": "x", "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c", "function": "Bash", "arguments": {"command": "rm -rf /"}, "type": "function"}]}]}]}),
        json!({"samples": [{"messages": [{"role": "user", "content": "x"}], "events": [
            {"event": "tool", "type": "function", "id": "c", "function": "Bash", "arguments": {"command": "rm -rf /"}}]}]}),
        json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": [
            {"id": "c", "function": "Bash", "arguments": {"command": "rm -rf /"}, "type": "function"}]}]),
    ];
    for document in documents {
        for log in [document.to_string(), format!("{document:#}"), format!("{document}\n")] {
            assert_eq!(holds(log.as_bytes(), FORBIDDEN), Some(false), "{log}");
        }
    }
}
