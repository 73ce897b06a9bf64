//! Files in another person's folder decide neither which program runs, nor which server gets a key, nor which file is
//! overwritten.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;

const KEY: [(&str, &str); 2] =
    [("ANTHROPIC_API_KEY", "sk-planted-0123456789"), ("OPENAI_API_KEY", "sk-planted-0123456789")];

type Plays = Box<dyn FnMut(&Seen) -> Reply + Send>;

/// A run that stopped, with these settings in its journal.
fn stopped(server: &ModelServer, settings: &Value) -> Bench {
    let bench = bench();
    forge(&bench, server, &["--max-tokens", "100"]).expect(3);
    let journal = bench.read("specs/journal.jsonl");
    let lines = journal.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if name(&event) == "run_started" {
            for (key, value) in settings.as_object().unwrap() {
                assert!(event["data"]["command_line"].is_object(), "{event}");
                event["data"]["command_line"][key] = value.clone();
            }
        }
        event.to_string() + "\n"
    });
    let text: String = lines.collect();
    bench.write("specs/journal.jsonl", text);
    bench
}

fn program(bench: &Bench) -> String {
    let path = bench.write("evil", format!("#!/bin/sh\ntouch {}\n", bench.path("ran").display()));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn settings_from_a_journal_must_be_given_again() {
    let server = ModelServer::start(|_| Reply::error(400, "invalid_request_error", "it was asked"));
    for (settings, words) in [
        (
            json!({"base_url": "https://elsewhere.example/v1"}),
            ["a server to call (elsewhere.example)", "--base-url https://elsewhere.example/v1"],
        ),
        (
            json!({"provider": "openai", "model": "m", "base_url": "https://elsewhere.example"}),
            ["a server to call", "--base-url https://elsewhere.example"],
        ),
        (
            json!({"tla_tools": "/tmp/a jar/x.jar"}),
            ["a jar to run (/tmp/a jar/x.jar)", "--tla-tools '/tmp/a jar/x.jar'"],
        ),
        (
            json!({"allow_modules": ["IOUtils"]}),
            ["a module that can reach outside (IOUtils)", "--allow-module IOUtils"],
        ),
        (
            json!({"record": "/tmp/nowhere/of-mine.jsonl"}),
            ["a file to write (/tmp/nowhere/of-mine.jsonl)", "--record /tmp/nowhere/of-mine.jsonl"],
        ),
    ] {
        let bench = stopped(&server, &settings);
        for more in [&[][..], &["--from", "rev_0", "--at", "formalize"]] {
            let args = [&["resume", "specs", "--max-tokens", "1000000"][..], more].concat();
            bench
                .run_with(&args, &KEY)
                .expect(2)
                .says(&["the journal names", "name it on the command line: add"])
                .says(&words);
        }
        assert!(server.posts().is_empty(), "{settings}");
    }
    let bench = stopped(&server, &json!({}));
    let evil = program(&bench);
    let bench = {
        let again = stopped(&server, &json!({"provider": "claude", "claude_path": evil}));
        assert!(again.path("specs").exists());
        drop(bench);
        again
    };
    let evil = program(&bench);
    let journal = bench.read("specs/journal.jsonl");
    let was = journal.split("\"claude_path\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    bench.write("specs/journal.jsonl", journal.replace(&was, &evil));
    let args = ["resume", "specs", "--max-tokens", "1000000"];
    bench.run_with(&args, &KEY).expect(2).says(&["a program to run", "--claude-path "]);
    assert!(!bench.path("ran").exists(), "the program ran");
}

#[test]
fn settings_given_again_or_in_ones_own_run_continue() {
    let bench_of = |settings: &Value| {
        let (send, scripts) = std::sync::mpsc::channel::<Plays>();
        let mut script: Option<Plays> = None;
        let server = ModelServer::start(move |seen| {
            let script = script.get_or_insert_with(|| scripts.recv().unwrap());
            script(seen)
        });
        let bench = stopped(&server, settings);
        send.send(Box::new(model(&bench, &good()))).unwrap();
        (bench, server)
    };
    let go_on = ["resume", "specs", "--max-tokens", "1000000"];
    // A server of this machine is nobody else's.
    let (bench, _server) = bench_of(&json!({}));
    bench.run_with(&go_on, &KEY).expect(0);
    let (bench, server) = bench_of(&json!({"base_url": "https://elsewhere.example"}));
    bench.run_with(&[&go_on[..], &["--base-url", &server.url()]].concat(), &KEY).expect(0);
    let (bench, _server) = bench_of(&json!({"allow_modules": ["IOUtils"]}));
    bench.run_with(&[&go_on[..], &["--allow-module", "IOUtils"]].concat(), &KEY).expect(0);
    // The jar that the environment names anyway.
    let (bench, _server) = bench_of(&json!({"tla_tools": "/nowhere/own.jar", "checker": "embedded"}));
    bench.run_with(&go_on, &[("TLA_TOOLS_JAR", "/nowhere/other.jar")]).expect(2).says(&["a jar to run"]);
    bench.run_with(&go_on, &[("TLA_TOOLS_JAR", "/nowhere/own.jar")]).expect(0);
}

#[test]
fn a_settings_file_names_no_jar_no_module_and_no_file_to_write() {
    let bench = bench();
    for (line, words) in [
        ("tla_tools = \"evil.jar\"", ["tlaforge.toml names a jar to run: evil.jar", "--tla-tools FILE"]),
        (
            "allow_modules = [\"IOUtils\"]",
            ["tlaforge.toml names modules that can reach outside: IOUtils", "--allow-module NAME"],
        ),
        ("record = \"../mine\"", ["tlaforge.toml names a file to write: ../mine", "--record FILE"]),
    ] {
        bench.write("tlaforge.toml", format!("{line}\n"));
        bench.run(&["run", "docs", "--provider", "handoff"]).expect(2).says(&words);
        assert!(!bench.path("specs").exists());
    }
    bench.write("tlaforge.toml", "allow_modules = [\"IOUtils\"]\n");
    bench.write(
        "S.tla",
        "---- MODULE S ----\nVARIABLE x\nInit == x = 0\nNext == x' = x\nSpec == Init /\\ [][Next]_x\n====\n",
    );
    bench.write("S.cfg", "SPECIFICATION Spec\n");
    let check = ["check", "S.tla", "--config", "S.cfg", "--checker", "embedded"];
    bench.run(&check).expect(2).says(&["tlaforge.toml names modules"]);
    bench.run(&[&check[..], &["--allow-module", "IOUtils"]].concat()).expect(0);
}

#[test]
fn only_a_recording_is_overwritten_by_a_recording() {
    let bench = bench();
    let server = counter(&bench);
    bench.write("mine.txt", "my notes\n");
    std::fs::create_dir(bench.path("folder")).unwrap();
    for (path, word) in [("mine.txt", "is not a recording"), ("folder", "is not a file")] {
        forge(&bench, &server, &["--record", path]).expect(2).says(&[path, word, "--record overwrites its file"]);
    }
    assert_eq!(bench.read("mine.txt"), "my notes\n");
    assert!(server.posts().is_empty());
    bench.write("empty.jsonl", "");
    forge(&bench, &server, &["--record", "empty.jsonl"]).expect(0);
    assert_eq!(bench.read("empty.jsonl").lines().count(), 4);
    // One that was begun and holds nothing yet goes on without being named again.
    let stopped = ["--record", "begun.jsonl", "--out", "stopped", "--max-tokens", "100"];
    forge(&bench, &server, &stopped).expect(3);
    let again = counter(&bench);
    bench.run(&["resume", "stopped", "--max-tokens", "1000000", "--base-url", &again.url()]).expect(0);
    assert_eq!(bench.read("begun.jsonl").lines().count(), 4);
    // An earlier recording is one.
    bench.write("script.jsonl", good().text());
    let again = ["run", "docs", "--recording", "empty.jsonl", "--record", "empty.jsonl", "--out", "again"];
    bench.run(&again).expect(0);
}
