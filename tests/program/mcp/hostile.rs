//! Clients that send nonsense, or reach for what they may not have: each gets a clear error, and the server goes on.

use std::os::unix::fs::symlink;

use super::client::Client;
use super::commands::put_model;
use crate::support::counter;
use serde_json::{Value, json};

#[test]
fn lines_that_are_no_messages_are_answered_with_an_error() {
    let bench = counter::bench();
    let mut client = Client::raw(&bench, &[]);
    // Before the handshake.
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert!(client.request("ping", &json!({}))["result"].is_object());
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send_line(b"");
    for (line, code) in [
        (&b"{not json"[..], -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 5}", -32600),
        (&b"[".repeat(100_000), -32700),
        (&b"x".repeat(21 << 20), -32600),
    ] {
        client.send_line(line);
        assert_eq!(client.receive()["error"]["code"], code, "{:?}", &line[..line.len().min(40)]);
    }
    let early = client.request("tools/list", &json!({}));
    assert_eq!(early["error"]["code"], -32602, "{early}");
    let who = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who });
    assert!(client.request("initialize", &hello)["result"].is_object());
    client.send_line(b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\"");
    assert_eq!(client.receive()["error"]["code"], -32700);
    assert_eq!(client.request("no/such/method", &json!({}))["error"]["code"], -32601);
    assert_eq!(client.call_raw("no_such_tool", &json!({}))["error"]["code"], -32602);
    assert_eq!(client.request("tools/call", &json!({ "name": 7 }))["error"]["code"], -32602);
    assert_eq!(client.request("resources/read", &json!({ "uri": ["a"] }))["error"]["code"], -32602);
    assert_eq!(client.call("formula", &json!({ "formula": "G a" }))["formula"], "G a");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_link_beside_a_module_does_not_lead_out_of_the_allowed_folder() {
    let bench = counter::bench();
    put_model(&bench, ("", ""));
    bench.write("secret/Keys.tla", "---- MODULE Keys ----\nSecret == \"hidden\"\n====\n");
    bench.write("secret/Other.cfg", "INVARIANT hidden\n");
    for (target, link) in [("secret/Keys.tla", "model/Keys.tla"), ("secret/Other.cfg", "model/Other.cfg")] {
        symlink(bench.path(target), bench.path(link)).unwrap();
        let mut client = Client::with(&bench, &["--allow", "model"], &json!({}));
        for tool in ["check", "mutate", "explain_trace"] {
            let message = client.refused(tool, &json!({ "spec": "Spec.tla" }));
            assert!(message.contains("this link leads outside of the allowed folders"), "{message}");
            assert!(!message.contains("hidden"), "{message}");
        }
        assert_eq!(client.end(), Some(0));
        std::fs::remove_file(bench.path(link)).unwrap();
    }
}

#[test]
fn no_path_leads_out_of_the_allowed_folder() {
    let bench = counter::bench();
    put_model(&bench, ("", ""));
    bench.write("secret/Spec.tla", "---- MODULE Spec ----\n====\n");
    bench.write("secret/Spec.cfg", "");
    symlink(bench.path("secret"), bench.path("model/linked")).unwrap();
    symlink(bench.path("secret/Spec.tla"), bench.path("model/Linked.tla")).unwrap();
    symlink(bench.path("secret/new"), bench.path("model/broken")).unwrap();
    symlink(bench.path("secret"), bench.path("model/mutants.out")).unwrap();
    let mut client = Client::with(&bench, &["--allow", "model"], &json!({}));
    let absolute = bench.path("secret/Spec.tla");
    let outside = [
        "../secret/Spec.tla",
        absolute.to_str().unwrap(),
        "linked/Spec.tla",
        "Linked.tla",
        "/etc/passwd",
        "a/../../secret",
    ];
    for path in outside {
        for (tool, arguments) in [
            ("check", json!({ "spec": path })),
            ("check", json!({ "spec": "Spec.tla", "config": path })),
            ("translate", json!({ "spec": path, "write": true })),
            ("explain_trace", json!({ "job": path })),
            ("mutate", json!({ "spec": "Spec.tla", "out": path })),
            ("check", json!({ "spec": "Spec.tla", "libraries": [path] })),
            ("audit", json!({ "log": path, "policy": "default" })),
            ("audit", json!({ "log": "Spec.tla", "policy": path })),
            ("forge_start", json!({ "docs": path, "out": "run" })),
            ("forge_start", json!({ "docs": "Spec.tla", "out": path })),
            ("forge_start", json!({ "docs": "Spec.tla", "out": "run", "recording": path })),
            ("forge_status", json!({ "job": path })),
            ("next_request", json!({ "job": path })),
        ] {
            let why = client.refused(tool, &arguments);
            assert!(why.contains("outside of the allowed folders"), "{tool} {arguments}: {why}");
        }
        let read = client.request("resources/read", &json!({ "uri": format!("tlaforge:report?job={path}") }));
        assert!(read["error"]["message"].as_str().unwrap().contains("outside"), "{read}");
    }
    for (tool, arguments) in [
        ("mutate", json!({ "spec": "Spec.tla" })),
        ("forge_start", json!({ "docs": "Spec.tla", "out": "broken" })),
        ("forge_start", json!({ "docs": "Spec.tla", "out": "linked/run" })),
    ] {
        assert!(client.refused(tool, &arguments).contains("outside of the allowed folders"), "{tool}");
    }
    assert_eq!(std::fs::read_dir(bench.path("secret")).unwrap().count(), 2, "nothing was written");
}

#[test]
fn no_argument_is_taken_for_a_flag_or_grows_without_limit() {
    let bench = counter::bench();
    put_model(&bench, ("", ""));
    let mut client = Client::start(&bench);
    let huge = "a".repeat(1 << 20);
    for (tool, arguments, words) in [
        ("check", json!({ "spec": "--help" }), "like a flag"),
        ("check", json!({ "spec": huge }), "too long"),
        ("check", json!({ "spec": "a\nb" }), "control characters"),
        ("check", json!({ "spec": "model/Spec.tla", "tla_tools": "evil.jar" }), "unknown field `tla_tools`"),
        ("check", json!({ "spec": 7 }), "invalid type"),
        ("check", json!({}), "missing field `spec`"),
        ("check", json!({ "spec": "model/Spec.tla", "checker": "/bin/sh" }), "unknown variant"),
        ("formula", json!({ "formula": "--trace" }), "like a flag"),
        ("formula", json!({ "formula": huge }), "longer than 64 KiB"),
        ("audit", json!({ "log": "docs", "formulas": vec!["a"; 1000] }), "at most 100"),
        ("forge_start", json!({ "docs": "docs", "out": "run", "model": "--claude-path=/bin/sh" }), "like a flag"),
        ("forge_start", json!({ "docs": "docs", "out": "run", "claude_path": "/bin/sh" }), "unknown field"),
        ("forge_start", json!({ "out": "run" }), "either docs or case"),
        (
            "forge_start",
            json!({ "docs": "docs", "out": "run" }),
            "with `provider` \"mcp\" you answer the requests yourself",
        ),
        ("forge_start", json!({ "docs": "docs", "out": "model", "provider": "mcp" }), "is no empty folder"),
        ("forge_status", json!({ "job": "docs" }), "holds no run"),
    ] {
        let why = client.refused(tool, &arguments);
        assert!(why.contains(words), "{tool}: {why}");
        assert!(why.len() < 5000, "{tool}: {} bytes", why.len());
    }
    assert!(!bench.path("run").exists(), "a run that did not start leaves nothing");
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let bench = counter::bench();
    let mut client = Client::start(&bench);
    let calls: Vec<u64> = (0..1000)
        .map(|_| client.begin("tools/call", &json!({ "name": "job_status", "arguments": { "job": "check-1" } })))
        .collect();
    let mut answered: Vec<u64> = calls.iter().map(|_| client.receive()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, calls);
    let list: Value = client.request("tools/list", &json!({}));
    assert!(list["result"]["tools"].is_array());
}
