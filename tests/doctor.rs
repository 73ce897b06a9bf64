//! `tlaforge doctor`: what a newcomer is told of models, and that it is true.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod support;

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use support::model_server::ModelServer;
use support::{Bench, jar, java};

const KEY: &str = "sk-ant-planted-0123456789";
const OTHER: &str = "sk-planted-of-another-server";

/// Without Java the embedded tools do; what it says of models is the same.
const NO_TOOLS: i32 = 0;

fn text(bench: &Bench, more: &[&str], env: &[(&str, &str)]) -> String {
    let done = bench.run_with(&[&["doctor"][..], more].concat(), env).expect(NO_TOOLS);
    assert!(!done.stdout.contains(KEY) && !done.stderr.contains(KEY), "{}{}", done.stdout, done.stderr);
    done.stdout
}

fn object(bench: &Bench, more: &[&str], env: &[(&str, &str)]) -> Value {
    let text = text(bench, &[&["--format", "json"][..], more].concat(), env);
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

fn of<'a>(object: &'a Value, name: &str) -> &'a Value {
    object["providers"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap()
}

/// The line of a provider, and the advice below it where there is some.
#[track_caller]
fn line(text: &str, name: &str) -> (String, Option<String>) {
    let mut lines = text.lines().skip_while(|l| !l.starts_with(&format!("  {name} ")));
    let line = lines.next().unwrap_or_else(|| panic!("{name}: {text}"));
    let advice = lines.next().and_then(|l| l.trim_start().strip_prefix("-> ")).map(str::to_owned);
    (line.split_once(name).unwrap().1.trim().to_owned(), advice)
}

#[track_caller]
fn says(text: &str, name: &str, state: &str, advice: Option<&str>) {
    let (line, told) = line(text, name);
    assert!(line.starts_with(state), "{text}");
    match (advice, told) {
        (None, None) => {}
        (Some(words), Some(told)) if told.contains(words) => {}
        (wanted, told) => panic!("{name}: {wanted:?}, {told:?}\n{text}"),
    }
}

/// A program that says this version, and this of its login.
fn claude(bench: &Bench, version: &str, login: &str) {
    let script = format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit; fi\necho '{login}'\n");
    let program = bench.write("bin/claude", script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

const CLAUDE: [&str; 2] = ["--claude-path", "bin/claude"];
const LOGGED_IN: &str =
    r#"{"loggedIn":true,"authMethod":"claude.ai","email":"me@example.com","subscriptionType":"max"}"#;
const LOGGED_OUT: &str = r#"{"loggedIn":false,"authMethod":"none"}"#;

#[test]
fn with_nothing_there_each_provider_names_what_mends_it() {
    let bench = Bench::without_tools();
    let said = text(&bench, &[], &[]);
    says(&said, "claude", "not ready: the Claude Code program was not found", Some("npm install -g"));
    says(&said, "anthropic", "not ready: no key", Some("set ANTHROPIC_API_KEY (calls are paid by token)"));
    says(&said, "openai", "not ready: no server", Some("--base-url or OPENAI_BASE_URL"));
    says(&said, "handoff", "ready:", None);
    says(&said, "replay", "ready:", None);
    assert!(said.contains("Without --provider, `tlaforge run` has nobody to ask"), "{said}");
    assert!(said.contains("--online does"), "{said}");
    let object = object(&bench, &[], &[]);
    assert_eq!((&object["schema"], &object["default_provider"]), (&1.into(), &Value::Null));
    assert_eq!(of(&object, "anthropic")["key_set"], false);
    assert_eq!(of(&object, "claude")["version"], Value::Null);
    assert!(object["providers"].as_array().unwrap().iter().all(|p| p["reachable"].is_null()), "no server was asked");
}

#[test]
fn the_last_line_is_about_a_run_without_the_provider_that_is_named_here() {
    let bench = Bench::without_tools();
    let openai = ["--provider", "openai", "--base-url", "http://localhost:1", "--model", "m"];
    let said = text(&bench, &openai, &[]);
    says(&said, "openai", "ready:", None);
    assert!(said.contains("Without --provider, `tlaforge run` has nobody to ask"), "{said}");
    let said = text(&bench, &openai, &[("ANTHROPIC_API_KEY", KEY)]);
    assert!(said.contains("Without --provider, `tlaforge run` asks anthropic"), "{said}");
    bench.write("tlaforge.toml", "provider = \"handoff\"\n");
    let said = text(&bench, &openai, &[]);
    assert!(said.contains("Without --provider, `tlaforge run` asks handoff"), "{said}");
}

#[test]
fn what_is_set_is_shown_and_a_key_is_not() {
    let bench = Bench::without_tools();
    let env = [("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "http://localhost:1")];
    let said = text(&bench, &[], &env);
    says(&said, "anthropic", "ready:     https://api.anthropic.com, key set", None);
    says(&said, "openai", "not ready: http://localhost:1, key set, no model is named", Some("--model NAME"));
    let named = text(&bench, &["--model", "m"], &env);
    says(&named, "openai", "ready:     http://localhost:1, key set", None);
    let of_claude = text(&bench, &[], &[&env[..], &[("CLAUDE_MODEL", "m")]].concat());
    says(&of_claude, "openai", "not ready: http://localhost:1, key set, no model is named", Some("--model NAME"));
    assert!(said.contains("`tlaforge run` asks anthropic."), "{said}");
    let object = object(&bench, &[], &env);
    assert_eq!((&of(&object, "openai")["key_set"], &object["default_provider"]), (&true.into(), &"anthropic".into()));
    bench.write("tlaforge.toml", "provider = \"openai\"\n");
    assert!(text(&bench, &[], &env).contains("`tlaforge run` asks openai."));
}

#[test]
fn what_cannot_be_used_is_told_as_a_run_would_tell_it() {
    let bench = Bench::without_tools();
    let bad = format!("{KEY}\n");
    let said = text(&bench, &[], &[("ANTHROPIC_API_KEY", &bad), ("OPENAI_BASE_URL", "localhost:1")]);
    says(&said, "anthropic", "not ready: ANTHROPIC_API_KEY: the key holds a line break", None);
    says(&said, "openai", "not ready: the base URL \"localhost:1\" has no scheme", None);
    let said = text(&bench, &[], &[("OPENAI_BASE_URL", "http://me:sk-ant-planted-0123456789@localhost")]);
    says(&said, "openai", "not ready: the base URL \"http://localhost\" cannot be used: it holds a user", None);
}

#[test]
fn online_tells_a_server_that_takes_the_key_from_one_that_does_not_and_from_none() {
    use std::io::{BufRead, BufReader, Write};
    let bench = Bench::without_tools();
    let server = ModelServer::replies(vec![support::model_server::Reply::text("never asked")]);
    let url = server.url();
    let other = ModelServer::replies(vec![support::model_server::Reply::text("never asked")]);
    let (keys, online) = ([("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", OTHER)], ["--online", "--model", "m"]);
    let at = |url| [("ANTHROPIC_BASE_URL", url), ("OPENAI_BASE_URL", url)];
    let env = [&keys[..], &at(&*url)].concat();
    // A server that is named for one provider gets no key of the other.
    let named = ["--online", "--provider", "openai", "--base-url", &other.url()];
    text(&bench, &named, &env);
    let keys_sent = |server: &ModelServer| {
        let of =
            |r: &support::model_server::Seen| format!("{:?}{:?}", r.header("x-api-key"), r.header("authorization"));
        server.requests().iter().map(of).collect::<String>()
    };
    assert!(keys_sent(&other).contains(OTHER) && !keys_sent(&other).contains(KEY), "{}", keys_sent(&other));
    assert!(keys_sent(&server).contains(KEY) && !keys_sent(&server).contains(OTHER), "{}", keys_sent(&server));
    let said = text(&bench, &online, &env);
    for name in ["anthropic", "openai"] {
        says(&said, name, &format!("ready:     {url}, key set, reachable"), None);
    }
    assert!(!said.contains("No server was asked"), "{said}");
    assert!(server.posts().is_empty() && server.requests().len() == 3, "no model was asked");
    assert!(server.requests().iter().all(|r| r.path == "/v1/models"));
    assert_eq!(of(&object(&bench, &online, &env), "openai")["reachable"], true);

    // A server that answers every request with this status, and repeats the key.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (status, answers) = std::sync::mpsc::channel::<&str>();
    std::thread::spawn(move || {
        while let Ok(line) = answers.recv() {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while reader.read_line(&mut head).unwrap() > 2 {}
            let sent = head.lines().find(|l| l.contains(KEY)).unwrap_or("without a key");
            let page = line.contains("x-page");
            let body = if page {
                "<html>hello</html>".into()
            } else {
                format!("{{\"error\":{{\"message\":\"no: {sent}\"}}}}")
            };
            write!(stream, "HTTP/1.1 {line}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
                .unwrap();
        }
    });
    for (line, env, ready, reachable, advice) in [
        ("401 Unauthorized", &keys[..], false, true, "to a key that this server takes"),
        ("401 Unauthorized", &[][..], false, true, "this server wants a key"),
        ("404 Not Found", &keys[..], true, true, "if calls fail, look at the base URL"),
        ("500 Oops", &keys[..], false, true, "try again later"),
        ("200 OK\r\ncontent-type: text/html\r\nx-page: 1", &keys[..], false, true, "look at the base URL"),
    ] {
        for name in ["anthropic", "openai"] {
            // One answer for each of the two servers, in each format.
            (0..2).for_each(|_| status.send(line).unwrap());
            let object = object(&bench, &online, &[env, &at(&*url)].concat());
            let condition = of(&object, name);
            assert_eq!(
                (&condition["ready"], &condition["reachable"]),
                (&ready.into(), &reachable.into()),
                "{condition}"
            );
            assert!(condition["advice"].as_str().unwrap().contains(advice), "{condition}");
            assert!(!object.to_string().contains("resume"), "there is no run: {object}");
        }
    }
    let env = [&keys[..], &at("http://127.0.0.1:9")].concat();
    let said = text(&bench, &online, &env);
    for name in ["anthropic", "openai"] {
        says(
            &said,
            name,
            "not ready: http://127.0.0.1:9, key set; 127.0.0.1 cannot be reached",
            Some("is the server running?"),
        );
    }
    assert_eq!(of(&object(&bench, &online, &env), "openai")["reachable"], false);
}

#[test]
fn of_claude_code_version_and_login_are_shown_and_the_one_command_that_mends_it() {
    let bench = Bench::without_tools();
    claude(&bench, "2.1.329 (Claude Code)", LOGGED_IN);
    let said = text(&bench, &CLAUDE, &[]);
    says(&said, "claude", "ready: ", None);
    let (shown, _) = line(&said, "claude");
    assert!(shown.ends_with("bin/claude, version 2.1.329, logged in (claude.ai, max)"), "{said}");
    assert!(said.contains("`tlaforge run` asks claude.") && !said.contains("me@example.com"), "{said}");
    let object = object(&bench, &CLAUDE, &[]);
    let condition = of(&object, "claude");
    assert_eq!((&condition["version"], &condition["logged_in"]), (&"2.1.329".into(), &true.into()));

    claude(&bench, "2.1.329 (Claude Code)", LOGGED_OUT);
    let said = text(&bench, &CLAUDE, &[("ANTHROPIC_API_KEY", KEY)]);
    says(&said, "claude", "not ready: ", Some("log in: claude auth login"));
    assert!(line(&said, "claude").0.ends_with("version 2.1.329, not logged in"), "{said}");
    assert!(said.contains("has nobody to ask"), "the program was named, so the key does not stand in for it: {said}");

    claude(&bench, "2.1.299 (Claude Code)", LOGGED_IN);
    let said = text(&bench, &CLAUDE, &[]);
    says(&said, "claude", "not ready: ", Some("install the current one: npm install -g"));
    assert!(line(&said, "claude").0.contains("is version 2.1.299; 2.1.300 or later is needed"), "{said}");

    claude(&bench, "2.1.329 (Claude Code)", "nonsense");
    says(&text(&bench, &CLAUDE, &[]), "claude", "not ready: ", Some("install the current one"));
    says(
        &text(&bench, &["--claude-path", "nowhere"], &[]),
        "claude",
        "not ready: there is no program at",
        Some("npm install"),
    );
}

#[test]
fn tools_that_are_there_are_status_0_whatever_is_with_the_models() {
    let mut bench = Bench::without_tools();
    let (jar, java) = (jar(), java());
    bench.set("TLA_TOOLS_JAR", jar.to_str().unwrap());
    bench.set("JAVA_HOME", java.parent().unwrap().parent().unwrap().to_str().unwrap());
    bench.run(&["doctor"]).expect(0).prints(&["Java tools: found", "Models, by provider:", "nobody to ask"]);
}

/// `scripts/setup` asks in this way for what the tests need.
#[test]
fn a_checker_that_is_asked_for_and_is_not_there_is_a_failure_of_the_tools() {
    let bench = Bench::without_tools();
    for checker in ["tlc", "both"] {
        let said = ["Java tools: ", "was not found", "nothing checks"];
        bench.run(&["doctor", "--checker", checker]).expect(4).prints(&said);
        let told = bench.run(&["doctor", "--checker", checker, "--format", "json"]).expect(4).stdout;
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["can_check"], false);
    }
    for checker in ["auto", "embedded"] {
        bench.run(&["doctor", "--checker", checker]).expect(0);
    }
    let setup = std::fs::read_to_string(support::project().join("scripts/setup")).unwrap();
    assert!(setup.ends_with("tlaforge doctor --checker tlc\n"), "{setup}");
}

#[test]
fn a_server_that_hangs_is_told_with_the_time_that_was_waited() {
    let bench = Bench::without_tools();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let begin = std::time::Instant::now();
    let env = [("OPENAI_BASE_URL", url.as_str())];
    let said = text(&bench, &["--online", "--model", "m"], &env);
    let waited = begin.elapsed().as_secs();
    says(
        &said,
        "openai",
        &format!("not ready: {url}, no key; nothing came from 127.0.0.1 for 15 s"),
        Some("again later"),
    );
    assert!((14..30).contains(&waited), "{waited}");
}

#[test]
fn a_provider_that_there_is_not_is_refused_as_a_run_refuses_it() {
    let bench = Bench::without_tools();
    bench.run(&["doctor", "--provider", "nope"]).expect(2).says(&["unknown provider \"nope\"", "--provider claude"]);
}
