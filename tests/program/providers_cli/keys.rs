//! A key appears in the header of a request and nowhere else.

use std::os::unix::fs::PermissionsExt;

use crate::support::checking::faking_all;
use crate::support::java;
use serde_json::json;

use super::*;

const ANTHROPIC: &str = "sk-ant-planted-a-0123456789abcdef";
const OPENAI: &str = "sk-planted-o-0123456789abcdef";
const TOKEN: &str = "sk-ant-oat01-planted-t-0123456789";

/// All three in the environment.
const PLANTED: [(&str, &str); 3] =
    [("ANTHROPIC_API_KEY", ANTHROPIC), ("OPENAI_API_KEY", OPENAI), ("CLAUDE_CODE_OAUTH_TOKEN", TOKEN)];

/// No output and no file below the folder holds a key.
#[track_caller]
fn nowhere(bench: &Bench, outputs: &[Done]) {
    let holds = |bytes: &[u8]| PLANTED.iter().find(|(_, key)| bytes.windows(key.len()).any(|w| w == key.as_bytes()));
    for done in outputs {
        assert_eq!(holds(done.stdout.as_bytes()), None, "stdout:\n{}", done.stdout);
        assert_eq!(holds(done.stderr.as_bytes()), None, "stderr:\n{}", done.stderr);
    }
    let mut files = 0;
    for entry in walkdir::WalkDir::new(bench.dir.path()).into_iter().map(Result::unwrap) {
        assert_eq!(holds(entry.file_name().as_encoded_bytes()), None, "{}", entry.path().display());
        if entry.file_type().is_file() {
            files += 1;
            assert_eq!(holds(&std::fs::read(entry.path()).unwrap()), None, "{}", entry.path().display());
        }
    }
    assert!(files > 10, "there is something to look at");
}

#[test]
fn no_file_or_output_of_a_failed_and_resumed_run_contains_a_key() {
    for (who, key) in BOTH.into_iter().zip([ANTHROPIC, OPENAI]) {
        let bench = bench();
        let mut plays = model(&bench, &good());
        let echo = |status, kind| {
            Reply::error(status, kind, &format!("the key {key} of yours: {}…", &key[..20]))
                .header("request-id", key)
                .header("x-echo", key)
                .header("retry-after", "0")
        };
        let mut script = vec![
            echo(429, "rate_limit_error"),
            Reply::status(500, format!("<html>{key}</html>")).header("location", key).header("retry-after", "0"),
            Reply::text("x").error_event_after(1, json!({"type": "overloaded_error", "message": key})),
            echo(401, "authentication_error"),
            Reply::reads(&[&format!("../{key}"), &format!("docs/{key}.md")]).header("request-id", key),
        ]
        .into_iter();
        let server = ModelServer::start(move |seen| match (seen.method.as_str(), script.next()) {
            ("POST", Some(reply)) => reply,
            _ => plays(seen),
        });
        let url = server.url();
        let env = [&PLANTED[..], &[("CLAUDE_RETRY_DELAY", "0")]].concat();
        let args = ["--base-url", &url, "--record", "recording.jsonl"];
        let mut outputs = vec![bench.run_with(&[&["run", "docs"], &who[..], &args].concat(), &env).expect(5)];
        assert_eq!(events(&bench, "call_failed").len(), 4);
        outputs.push(bench.run_with(&["resume", "specs", "--record", "recording.jsonl"], &env).expect(0));
        for format in ["text", "json"] {
            outputs.push(bench.run_with(&["report", "specs", "--format", format], &env).expect(0));
            outputs.push(bench.run_with(&["resume", "specs", "--format", format], &env).expect(0));
            let (whose, at) = (who[1], url.as_str());
            for more in
                [&["--provider", whose, "--base-url", at][..], &["--online", "--provider", whose, "--base-url", at]]
            {
                let args = [&["doctor", "--format", format][..], more].concat();
                outputs.push(bench.run_with(&args, &env).expect(0));
            }
        }
        let sent = server.requests();
        let header = |s: &Seen| s.header("x-api-key").or(s.header("authorization")).unwrap_or("").contains(key);
        assert!(sent.iter().filter(|s| s.method == "POST").all(header), "the key is sent to its own server");
        assert!(bench.read("recording.jsonl").lines().count() == 4);
        nowhere(&bench, &outputs);
    }
}

#[test]
fn no_key_is_in_the_environment_of_java() {
    let dump = format!("env >>\"$(dirname \"$0\")/../environment\"\nexec {} \"$@\"", java().to_str().unwrap());
    let mut bench = faking_all(&dump);
    let jar = crate::support::jar();
    bench.set("TLA_TOOLS_JAR", jar.to_str().unwrap());
    bench.write("docs/counter.md", crate::support::counter::DOC);
    let server = counter(&bench);
    let args = run_args("", &[]);
    let url = server.url();
    let args: Vec<&str> = args.into_iter().map(|a| if a.is_empty() { url.as_str() } else { a }).collect();
    let done = bench.run_with(&args, &PLANTED).expect(0);
    let seen = bench.read("jre/environment");
    assert!(seen.contains("PWD="), "{seen}");
    for name in ["ANTHROPIC", "OPENAI", "CLAUDE"] {
        assert!(!seen.contains(name), "{seen}");
    }
    nowhere(&bench, &[done]);
}

/// A program in the place of Claude Code that shows what it was given.
#[test]
fn claude_code_receives_only_its_own_key() {
    let bench = bench();
    let program =
        bench.write("bin/claude", "#!/bin/sh\nenv >>\"$(dirname \"$0\")/seen\"\necho '2.1.329 (Claude Code)'\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["run", "docs", "--provider", "claude", "--claude-path", "bin/claude"];
    let env = [&PLANTED[..], &[("CLAUDE_MAX_RETRIES", "0")]].concat();
    bench.run_with(&args, &env).expect(5);
    let seen = bench.read("bin/seen");
    assert!(seen.contains(TOKEN) && !seen.contains(ANTHROPIC) && !seen.contains(OPENAI), "{seen}");
    std::fs::remove_file(bench.path("bin/seen")).unwrap();
    let args = ["run", "docs", "--provider", "claude", "--claude-path", "bin/claude", "--claude-api-key", "--out", "b"];
    bench.run_with(&args, &env).expect(5);
    let seen = bench.read("bin/seen");
    assert!(seen.contains(ANTHROPIC) && !seen.contains(TOKEN) && !seen.contains(OPENAI), "{seen}");
    std::fs::remove_file(bench.path("bin/seen")).unwrap();
    nowhere(&bench, &[]);
}

#[test]
fn the_login_of_a_container_reaches_claude_code_and_no_key_does() {
    let bench = bench();
    let program =
        bench.write("bin/claude", "#!/bin/sh\nenv >>\"$(dirname \"$0\")/seen\"\necho '2.1.329 (Claude Code)'\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bench.path("bin").display());
    let env = [("ANTHROPIC_API_KEY", ANTHROPIC), ("CLAUDE_CONFIG_DIR", "/home/forge/.claude"), ("PATH", &path)];
    bench.run_with(&["run", "docs", "--provider", "claude"], &env).expect(5);
    let seen = bench.read("bin/seen");
    for line in ["CLAUDE_CONFIG_DIR=/home/forge/.claude", &format!("HOME={}", bench.path("home").display())] {
        assert!(seen.lines().any(|l| l == line), "{line}: {seen}");
    }
    assert!(!seen.contains(ANTHROPIC), "{seen}");
}

/// Claude Code may repeat what it was given in any field.
#[test]
fn a_key_that_claude_code_repeats_is_in_no_file() {
    let bench = bench();
    let script = r#"#!/bin/sh
case "$1" in --version) echo '2.1.329 (Claude Code)'; exit 0;; esac
cat >/dev/null
k=$ANTHROPIC_API_KEY
echo "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"$PWD\",\"tools\":[\"Read\"],\"mcp_servers\":[],\"model\":\"m\",\"permissionMode\":\"dontAsk\",\"slash_commands\":[],\"agents\":[],\"skills\":[],\"plugins\":[],\"claude_code_version\":\"2.1.329\"}"
echo "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"$k\",\"content\":[{\"type\":\"text\",\"text\":\"Concern $k\"}],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}},\"request_id\":\"$k\"}"
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Concern $k\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1},\"permission_denials\":[]}"
"#;
    let program = bench.write("bin/claude", script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["run", "docs", "--provider", "claude", "--claude-path", "bin/claude", "--claude-api-key"];
    let env = [&PLANTED[..], &[("CLAUDE_MAX_RETRIES", "0")]].concat();
    let done = bench.run_with(&args, &env);
    let answers = events(&bench, "answer_received");
    assert!(!answers.is_empty(), "{}", done.stderr);
    assert_eq!(answers[0]["data"]["request_ids"][0], "[key]");
    nowhere(&bench, &[done]);
}

#[test]
fn refused_reads_are_journaled_even_if_the_call_fails() {
    for who in BOTH {
        let bench = bench();
        let server = ModelServer::start(|seen| match seen.tool_results().len() {
            0 => Reply::reads(&["../../etc/shadow"]),
            _ => Reply::error(401, "authentication_error", "no"),
        });
        let url = server.url();
        bench.run(&[&["run", "docs", "--base-url", &url][..], &who[..]].concat()).expect(5);
        let refused = events(&bench, "read_refused");
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0]["data"]["path"], "../../etc/shadow");
        bench.run(&["report", "specs"]).expect(0).prints(&["1 read outside the workspace refused"]);
    }
}
