//! What is read from the lines of Claude Code: from recorded transcripts, and from lines made here where there is no
//! recording.

use serde_json::{Value, json};

use super::*;
use crate::FailureKind as Kind;

fn recorded(name: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/data/claude-code/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn expected(schema: bool) -> ExpectedCall {
    ExpectedCall { workspace: "/ws".into(), schema }
}

fn play(lines: &[Value], schema: bool) -> Result<Finished, CallFailure> {
    let mut transcript = Transcript::new(expected(schema));
    for line in lines {
        transcript.take(line)?;
    }
    transcript.finish()
}

fn kind(lines: &[Value]) -> Kind {
    play(lines, false).unwrap_err().kind
}

/// A transcript that is in order up to what comes after `init`.
fn begun(more: &[Value]) -> Vec<Value> {
    let mut lines = recorded("read");
    lines.truncate(2);
    assert_eq!(lines[1]["subtype"], "init");
    lines.extend_from_slice(more);
    lines
}

fn says(text: &str) -> Value {
    json!({"type": "assistant", "message": {"id": "m", "model": "claude-x", "content": [{"type": "text", "text": text}]},
        "parent_tool_use_id": null})
}

fn asks(id: &str, tool: &str, path: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {"file_path": path}});
    json!({"type": "assistant", "message": {"id": "m", "model": "claude-x", "content": [block]},
        "parent_tool_use_id": null})
}

fn gets(id: &str, path: &str, content: &str) -> Value {
    let lines = content.split('\n').count();
    json!({"type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]},
        "tool_use_result": {"type": "text", "file": {"filePath": path, "content": content, "numLines": lines,
            "startLine": 1, "totalLines": lines}}})
}

fn told(text: &str) -> Value {
    json!({"type": "user", "isSynthetic": true,
        "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
}

fn ends(text: &str) -> Value {
    json!({"is_error": false, "subtype": "success", "terminal_reason": "completed", "stop_reason": "end_turn",
        "result": text, "modelUsage": {}, "usage": {}, "permission_denials": [], "type": "result"})
}

/// What the program writes where the server refuses.
fn fails(tag: &str, status: Option<u16>, text: &str) -> Vec<Value> {
    begun(&[
        json!({"type": "assistant", "error": tag, "is_api_error_message": true, "api_error_status": status,
            "timestamp": "2026-11-20T10:00:00.000Z",
            "message": {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}}),
        json!({"is_error": true, "subtype": "success", "terminal_reason": "api_error", "stop_reason": "stop_sequence",
            "api_error_status": status, "result": text, "modelUsage": {}, "type": "result"}),
    ])
}

#[test]
fn every_recorded_failure_has_its_kind() {
    let all = [
        ("auth-401", Kind::Auth, Some(401)),
        ("billing-400", Kind::Billing, Some(400)),
        ("budget", Kind::SpendCap, None),
        ("empty", Kind::Empty, None),
        ("max-tokens", Kind::Truncated, None),
        ("max-turns", Kind::ToolLoop, None),
        ("overloaded-exhausted", Kind::Overloaded, Some(529)),
        ("prompt-too-long", Kind::PromptTooLong, Some(400)),
        ("rate-limit-exhausted", Kind::RateLimit, Some(429)),
        ("refusal", Kind::Refusal, None),
        ("timeout", Kind::Idle, None),
    ];
    for (name, kind, status) in all {
        let failure = play(&recorded(name), false).expect_err(name);
        assert_eq!((failure.kind, failure.status), (kind, status), "{name}: {failure}");
        assert!(failure.message.starts_with("Claude Code: ") && failure.message.len() > 25, "{name}: {failure}");
    }
}

#[test]
fn every_recorded_answer_is_read() {
    for (name, text) in [
        ("read", "FINAL ANSWER from fake model (read)"),
        ("read-partial", "FINAL ANSWER from fake model (read)"),
        ("rate-limit-then-ok", "FINAL ANSWER from fake model (rl1)"),
        ("outside-restricted", "FINAL ANSWER from fake model (outside)"),
        ("symlink-dontask", "FINAL ANSWER from fake model (symlink)"),
        ("bash-not-available", "FINAL ANSWER from fake model (bash)"),
    ] {
        let finished = play(&recorded(name), false).expect(name);
        assert_eq!(finished.text, text, "{name}");
        assert_eq!(finished.model.as_deref(), Some("claude-sonnet-4-6"), "{name}");
        assert_eq!(finished.request_ids, ["req_fake1"], "{name}");
        let turns = if name == "rate-limit-then-ok" { 1 } else { 2 };
        let usage = Usage { input: 100 * turns, output: 20 * turns, cache_read: 11 * turns, cache_write: 7 * turns };
        assert_eq!(finished.usage, Some(usage), "{name}");
    }
}

#[test]
fn reads_and_refusals_of_the_recordings() {
    let read = play(&recorded("read"), false).unwrap();
    let piece = ShownLines { start: 1, content: "line one of spec\nline two\n".into(), total: 3 };
    assert_eq!(read.shown, [ShownPart { path: "spec.txt".into(), lines: Some(piece) }]);
    assert!(read.refused.is_empty());
    let outside = play(&recorded("outside-restricted"), false).unwrap();
    assert_eq!((outside.refused, outside.shown), (vec!["/outside/outside.txt".to_owned()], Vec::new()));
    assert_eq!(play(&recorded("symlink-dontask"), false).unwrap().refused, ["/ws/link.txt"]);
    let bash = play(&recorded("bash-not-available"), false).unwrap();
    assert!(bash.shown.is_empty() && bash.refused.is_empty());
}

/// Measured with `/dev/zero`: the program objects to the file itself, and its list of denials is empty.
#[test]
fn a_read_outside_counts_as_refused_whatever_the_program_objects_to() {
    let mut error = gets("a", "", "Cannot read: this device file would block");
    error["message"]["content"][0]["is_error"] = json!(true);
    let end =
        |path: &str| play(&begun(&[asks("a", "Read", path), error.clone(), says("x"), ends("x")]), false).unwrap();
    assert_eq!(end("/dev/zero").refused, ["/dev/zero"]);
    assert!(end("missing.md").refused.is_empty(), "a file that is not there is no attempt to leave");
}

#[test]
fn an_answer_held_to_a_schema_is_the_object_and_otherwise_the_text() {
    let ok = play(&recorded("schema-ok"), true).unwrap();
    assert_eq!(ok.text, r#"{"verdict":"ok","score":3}"#);
    let ignored = play(&recorded("schema-ignored-by-model"), true).unwrap();
    assert_eq!(ignored.text, "FINAL ANSWER from fake model (text)", "asked twice, and answered once");
    assert_eq!(play(&recorded("schema-invalid"), true).unwrap_err().kind, Kind::ToolLoop);
    assert_eq!(kind(&recorded("schema-ok")), Kind::NotConfined, "a tool that was not asked for");
}

#[test]
fn an_answer_is_never_taken_from_a_program_that_let_the_model_out() {
    // An old version read outside of the workspace: first its version tells, then the read itself.
    let mut leak = recorded("read-outside-by-2.1.197");
    assert_eq!(kind(&leak), Kind::NotConfined);
    leak[0]["claude_code_version"] = json!("2.1.329");
    let failure = play(&leak, false).unwrap_err();
    assert_eq!(failure.kind, Kind::NotConfined);
    assert!(failure.message.contains("/outside/outside.txt"), "{failure}");
    let ran = begun(&[asks("a", "Bash", ""), gets("a", "", "root"), says("x"), ends("x")]);
    assert!(play(&ran, false).unwrap_err().message.contains("Bash"));
    let agent =
        begun(&[json!({"type": "assistant", "parent_tool_use_id": "t", "message": {"content": []}}), ends("x")]);
    assert_eq!(kind(&agent), Kind::NotConfined);
    let hook = begun(&[json!({"type": "system", "subtype": "hook_response"}), says("x"), ends("x")]);
    assert_eq!(kind(&hook), Kind::NotConfined);
}

#[test]
fn init_must_confirm_the_confinement_before_anything_else() {
    let good = recorded("read");
    let at = good.iter().position(|line| line["subtype"] == "init").unwrap();
    let with = |name: &str, value: Value| {
        let mut lines = good.clone();
        lines[at][name] = value;
        lines
    };
    for (name, value) in [
        ("tools", json!(["Read", "Bash"])),
        ("tools", json!([])),
        ("tools", json!("Read")),
        ("tools", Value::Null),
        ("mcp_servers", json!([{"name": "x", "status": "connected"}])),
        ("mcp_servers", Value::Null),
        ("skills", json!(["planted"])),
        ("slash_commands", json!(["planted"])),
        ("additional_directories", json!(["/"])),
        ("plugins", json!([{"name": "planted", "path": "/p", "source": "x"}])),
        ("permissionMode", json!("bypassPermissions")),
        ("permissionMode", Value::Null),
        ("claude_code_version", json!("2.1.197")),
        ("claude_code_version", Value::Null),
        ("cwd", json!("/elsewhere")),
    ] {
        assert_eq!(kind(&with(name, value.clone())), Kind::NotConfined, "{name} = {value}");
    }
    let mut without = good.clone();
    without.remove(at);
    assert_eq!(kind(&without), Kind::NotConfined);
    let mut late = good.clone();
    let init = late.remove(at);
    late.insert(at + 1, init);
    assert_eq!(kind(&late), Kind::NotConfined, "too late");
    assert_eq!(kind(&[]), Kind::NotConfined);
}

#[test]
fn every_refusal_of_the_server_has_its_kind() {
    for (tag, status, text, kind) in [
        ("authentication_failed", Some(403), "Failed to authenticate. API Error: 403", Kind::Permission),
        ("authentication_failed", None, "Not logged in · Please run /login", Kind::Auth),
        ("oauth_org_not_allowed", None, "", Kind::Permission),
        ("account_on_hold", None, "", Kind::Permission),
        ("verification_required", None, "", Kind::Permission),
        ("cloud_credential_error", None, "", Kind::Auth),
        ("model_not_found", Some(404), "There's an issue with the selected model", Kind::ModelNotFound),
        ("overloaded", None, "", Kind::Overloaded),
        ("server_error", Some(500), "API Error: 500 boom", Kind::Server),
        ("server_error", Some(529), "API Error: 529 Overloaded", Kind::Overloaded),
        ("server_error", None, "API Error: Connection refused (ECONNREFUSED)", Kind::Connect),
        ("server_error", None, "API Error: Unable to connect to API (EPROTO)", Kind::Tls),
        ("server_error", None, "API Error: self-signed certificate", Kind::Tls),
        ("server_error", None, "API Error: Connection closed mid-response", Kind::CutStream),
        ("unknown", None, "API Error: API returned an empty or malformed response (HTTP 200)", Kind::Malformed),
        ("server_error", None, "something else", Kind::Server),
        ("unknown", Some(400), "API Error: 400 effort not supported", Kind::BadRequest),
        ("unknown", Some(402), "API Error: 402 pay", Kind::Billing),
        ("unknown", Some(504), "", Kind::Server),
        ("invalid_request", Some(413), "Request too large", Kind::PromptTooLong),
        ("invalid_request", Some(400), "", Kind::BadRequest),
        ("rate_limit", Some(429), "This organization has reached its monthly spend limit", Kind::SpendCap),
        ("max_output_tokens", None, "", Kind::Truncated),
    ] {
        let failure = play(&fails(tag, status, text), false).unwrap_err();
        assert_eq!((failure.kind, failure.status), (kind, status), "{tag} {text}");
        assert_eq!(failure.retry_after, None);
    }
    let mut full = fails("max_output_tokens", None, "The model has reached its context window limit.");
    full[2]["api_error_params"] = json!({"cut": "context_window"});
    assert_eq!(kind(&full), Kind::PromptTooLong);
}

#[test]
fn the_limit_of_a_subscription_says_how_long_to_wait() {
    let limited = |info: Value| {
        let mut lines = fails("rate_limit", Some(429), "You've hit your 5-hour limit · resets 10:26pm (UTC)");
        lines.insert(2, json!({"type": "rate_limit_event", "rate_limit_info": info}));
        play(&lines, false).unwrap_err()
    };
    // 2026-11-20T10:00:00Z is 1795168800.
    let failure = limited(json!({"status": "rejected", "resetsAt": 1_795_169_100, "rateLimitType": "five_hour"}));
    assert_eq!((failure.kind, failure.retry_after), (Kind::RateLimit, Some(std::time::Duration::from_secs(300))));
    assert_eq!(limited(json!({"status": "rejected", "resetsAt": 1_795_168_800})).retry_after, None);
    assert_eq!(limited(json!({"status": "rejected", "resetsAt": i64::MIN})).retry_after, None);
    assert_eq!(limited(json!({"status": "allowed", "resetsAt": 1_795_169_100})).retry_after, None);
    assert_eq!(limited(json!({"status": "rejected"})).retry_after, None);
}

#[test]
fn a_result_is_an_answer_only_where_it_says_so() {
    let with = |name: &str, value: Value| {
        let mut end = ends("x");
        end[name] = value;
        begun(&[says("x"), end])
    };
    assert_eq!(play(&begun(&[says("x"), ends("x")]), false).unwrap().text, "x");
    for (name, value, wanted) in [
        ("is_error", Value::Null, Kind::Server),
        ("is_error", json!(true), Kind::Server),
        ("subtype", json!("error_during_execution"), Kind::Server),
        ("subtype", json!("error_max_structured_output_retries"), Kind::Malformed),
        ("subtype", json!("something_new"), Kind::Server),
        ("stop_reason", json!("refusal"), Kind::Refusal),
        ("stop_reason", json!("max_tokens"), Kind::Truncated),
    ] {
        assert_eq!(kind(&with(name, value.clone())), wanted, "{name} = {value}");
    }
    assert_eq!(kind(&begun(&[says("half an ans")])), Kind::Killed, "no result");
    assert_eq!(kind(&begun(&[says(" \n"), ends(" ")])), Kind::Empty);
    let own = play(&begun(&[ends("/help isn't available in this environment.")]), false).unwrap_err();
    assert_eq!(own.kind, Kind::Malformed, "the model was never asked");
}

#[test]
fn an_answer_beyond_all_measure_is_none() {
    let long = "x".repeat(usize::try_from(MAX_ANSWER_BYTES).unwrap() + 1);
    assert_eq!(kind(&begun(&[says(&long), ends(&long)])), Kind::Malformed);
    assert_eq!(play(&begun(&[says(&long[1..]), ends("x")]), false).unwrap().text.len() as u64, MAX_ANSWER_BYTES);
}

/// Measured: `result` holds the last block of text only.
#[test]
fn an_answer_in_pieces_is_put_together() {
    let cut = "Output token limit hit. Resume directly — no apology, no recap.";
    let pieces = begun(&[says("MODULE one"), told(cut), says(" and two"), ends(" and two")]);
    assert_eq!(play(&pieces, false).unwrap().text, "MODULE one and two");
    let blocks = begun(&[says("one "), says("two"), ends("two")]);
    assert_eq!(play(&blocks, false).unwrap().text, "one two");
    let before =
        begun(&[says("I will read."), asks("a", "Read", "a"), gets("a", "a", "x"), says("done"), ends("done")]);
    assert_eq!(play(&before, false).unwrap().text, "done");
    let mut withheld = told("Your response above was stopped by a safety classifier");
    withheld["refused_message_id"] = json!("m");
    let again = begun(&[says("bad"), withheld, says("good"), ends("good")]);
    assert_eq!(play(&again, false).unwrap().text, "good");
    let unseen = begun(&[says("a"), ends("another")]);
    assert_eq!(play(&unseen, false).unwrap().text, "another", "the program's own word, where no line holds it");
}

#[test]
fn reads_of_several_files_at_once_come_in_any_order() {
    let lines = begun(&[
        asks("a", "Read", "a.md"),
        asks("b", "Read", "/ws/docs/../b.md"),
        gets("b", "/ws/docs/../b.md", "bb\n"),
        gets("a", "a.md", "a\n"),
        says("done"),
        ends("done"),
    ]);
    let shown = play(&lines, false).unwrap().shown;
    assert_eq!(shown.iter().map(|s| s.path.as_str()).collect::<Vec<_>>(), ["b.md", "a.md"]);
    let mut image = gets("a", "a.md", "");
    image["tool_use_result"] = json!({"type": "image", "file": {"filePath": "a.md"}});
    let shown = play(&begun(&[asks("a", "Read", "a.md"), image, says("x"), ends("x")]), false).unwrap().shown;
    assert_eq!(shown, [ShownPart { path: "a.md".into(), lines: None }]);
}

#[test]
fn tokens_of_all_models_count_and_where_there_is_no_result_those_that_messages_began_with() {
    let mut end = ends("x");
    end["modelUsage"] =
        json!({"a": {"inputTokens": 5, "outputTokens": 1}, "b": {"outputTokens": 2, "cacheReadInputTokens": 7}});
    end["usage"] = json!({"input_tokens": 1});
    let usage = play(&begun(&[says("x"), end]), false).unwrap().usage.unwrap();
    assert_eq!(usage, Usage { input: 5, output: 3, cache_read: 7, cache_write: 0 });
    let mut one = says("x");
    one["message"]["usage"] = json!({"input_tokens": 9, "output_tokens": 1});
    let failure = play(&begun(&[one.clone(), one]), false).unwrap_err();
    assert_eq!(failure.usage.map(|u| (u.input, u.output)), Some((9, 1)), "one message in two lines");
    assert_eq!(play(&recorded("auth-401"), false).unwrap_err().usage, None);
}

#[test]
fn unknown_lines_and_any_order_of_fields_change_nothing() {
    let mut lines = recorded("read");
    let wanted = play(&lines, false).unwrap().text;
    for at in (0..=lines.len()).rev() {
        lines.insert(at, json!({"type": "something_new", "message": 7, "content": {"tool_use": []}}));
        lines.insert(at, json!({"subtype": "news", "type": "system"}));
        lines.insert(at, json!({}));
    }
    for line in &mut lines {
        let reversed: serde_json::Map<String, Value> =
            line.as_object().unwrap().iter().rev().map(|(k, v)| (k.clone(), v.clone())).collect();
        *line = Value::Object(reversed);
    }
    assert_eq!(play(&lines, false).unwrap().text, wanted);
}

/// A line in which anything is replaced by anything else is no reason to end with a panic, and never makes an answer
/// out of a failure.
#[test]
fn no_field_of_any_recording_is_relied_upon_blindly() {
    let replacements = [Value::Null, json!(-1), json!("x"), json!([[]]), json!({"a": 1}), json!(u64::MAX)];
    for name in ["read", "outside-restricted", "schema-ok", "rate-limit-exhausted", "max-tokens", "refusal"] {
        let lines = recorded(name);
        let good = play(&lines, name == "schema-ok").is_ok();
        for (at, line) in lines.iter().enumerate() {
            for key in line.as_object().unwrap().keys() {
                for replacement in &replacements {
                    let mut changed = lines.clone();
                    changed[at][key] = replacement.clone();
                    let ended = play(&changed, name == "schema-ok");
                    assert!(good || ended.is_err(), "{name}: line {at} with {key} = {replacement} became an answer");
                }
            }
        }
    }
}
