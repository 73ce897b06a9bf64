//! `tlaforge doctor`: what it reports about providers, and that the report is true.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::model_server::ModelServer;
use crate::support::{Bench, jar, java};

const KEY: &str = "sk-ant-planted-0123456789";
const OTHER: &str = "sk-planted-of-another-server";

/// Without Java, the embedded tools are enough; the report about providers is the same.
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

fn provider<'a>(object: &'a Value, name: &str) -> &'a Value {
    object["providers"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap()
}

/// The line of a provider, and the advice below it, if any.
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

/// A fake Claude Code program with this version and this login status.
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
fn without_any_provider_each_one_has_advice() {
    let bench = Bench::without_tools();
    let said = text(&bench, &[], &[]);
    says(&said, "claude", "not ready: the Claude Code program was not found", Some("npm install -g"));
    says(&said, "anthropic", "not ready: no key", Some("set ANTHROPIC_API_KEY (calls are billed by token)"));
    says(&said, "openai", "not ready: no server", Some("--base-url or OPENAI_BASE_URL"));
    says(&said, "handoff", "ready:", None);
    says(&said, "replay", "ready:", None);
    assert!(said.contains("Default provider of `tlaforge run`: none is ready"), "{said}");
    assert!(said.contains("add --online to test them"), "{said}");
    let object = object(&bench, &[], &[]);
    assert_eq!((&object["schema"], &object["default_provider"]), (&2.into(), &Value::Null));
    assert_eq!(provider(&object, "anthropic")["key_set"], false);
    assert_eq!(provider(&object, "claude")["version"], Value::Null);
    assert!(object["providers"].as_array().unwrap().iter().all(|p| p["reachable"].is_null()), "no server was asked");
}

#[test]
fn the_last_line_names_the_default_provider_and_not_that_of_the_flag() {
    let bench = Bench::without_tools();
    let openai = ["--provider", "openai", "--base-url", "http://localhost:1", "--model", "m"];
    let said = text(&bench, &openai, &[]);
    says(&said, "openai", "ready:", None);
    assert!(said.contains("Default provider of `tlaforge run`: none is ready"), "{said}");
    let said = text(&bench, &openai, &[("ANTHROPIC_API_KEY", KEY)]);
    assert!(said.contains("Default provider of `tlaforge run`: anthropic"), "{said}");
    bench.write("tlaforge.toml", "provider = \"handoff\"\n");
    let said = text(&bench, &openai, &[]);
    assert!(said.contains("Default provider of `tlaforge run`: handoff"), "{said}");
}

#[test]
fn settings_are_shown_and_keys_are_not() {
    let bench = Bench::without_tools();
    let env = [("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "http://localhost:1")];
    let said = text(&bench, &[], &env);
    says(&said, "anthropic", "ready:     https://api.anthropic.com, key set", None);
    says(&said, "openai", "not ready: http://localhost:1, key set, no model is set", Some("--model NAME"));
    let named = text(&bench, &["--model", "m"], &env);
    says(&named, "openai", "ready:     http://localhost:1, key set", None);
    let of_claude = text(&bench, &[], &[&env[..], &[("CLAUDE_MODEL", "m")]].concat());
    says(&of_claude, "openai", "not ready: http://localhost:1, key set, no model is set", Some("--model NAME"));
    assert!(said.contains("`tlaforge run`: anthropic."), "{said}");
    let object = object(&bench, &[], &env);
    assert_eq!(
        (&provider(&object, "openai")["key_set"], &object["default_provider"]),
        (&true.into(), &"anthropic".into())
    );
    bench.write("tlaforge.toml", "provider = \"openai\"\n");
    assert!(text(&bench, &[], &env).contains("`tlaforge run`: openai."));
}

#[test]
fn unusable_settings_are_reported_like_in_a_run() {
    let bench = Bench::without_tools();
    let bad = format!("{KEY}\n");
    let said = text(&bench, &[], &[("ANTHROPIC_API_KEY", &bad), ("OPENAI_BASE_URL", "localhost:1")]);
    says(&said, "anthropic", "not ready: ANTHROPIC_API_KEY: the key contains a line break", None);
    says(&said, "openai", "not ready: the base URL \"localhost:1\" has no scheme", None);
    let said = text(&bench, &[], &[("OPENAI_BASE_URL", "http://me:sk-ant-planted-0123456789@localhost")]);
    says(&said, "openai", "not ready: the base URL \"http://localhost\" cannot be used: it contains a user", None);
}

#[test]
fn online_distinguishes_accepted_keys_refused_keys_and_unreachable_servers() {
    use std::io::{BufRead, BufReader, Write};
    let bench = Bench::without_tools();
    let server = ModelServer::replies(vec![crate::support::model_server::Reply::text("never asked")]);
    let url = server.url();
    let other = ModelServer::replies(vec![crate::support::model_server::Reply::text("never asked")]);
    let (keys, online) = ([("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", OTHER)], ["--online", "--model", "m"]);
    let at = |url| [("ANTHROPIC_BASE_URL", url), ("OPENAI_BASE_URL", url)];
    let env = [&keys[..], &at(&*url)].concat();
    // The server of one provider never receives the key of another.
    let named = ["--online", "--provider", "openai", "--base-url", &other.url()];
    text(&bench, &named, &env);
    let keys_sent = |server: &ModelServer| {
        let of = |r: &crate::support::model_server::Seen| {
            format!("{:?}{:?}", r.header("x-api-key"), r.header("authorization"))
        };
        server.requests().iter().map(of).collect::<String>()
    };
    assert!(keys_sent(&other).contains(OTHER) && !keys_sent(&other).contains(KEY), "{}", keys_sent(&other));
    assert!(keys_sent(&server).contains(KEY) && !keys_sent(&server).contains(OTHER), "{}", keys_sent(&server));
    let said = text(&bench, &online, &env);
    for name in ["anthropic", "openai"] {
        says(&said, name, &format!("ready:     {url}, key set, reachable"), None);
    }
    assert!(!said.contains("Servers were not tested"), "{said}");
    assert!(server.posts().is_empty() && server.requests().len() == 3, "no model was asked");
    assert!(server.requests().iter().all(|r| r.path == "/v1/models"));
    assert_eq!(provider(&object(&bench, &online, &env), "openai")["reachable"], true);

    // A server that answers every request with this status and echoes the key.
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
        ("401 Unauthorized", &keys[..], false, true, "to a key that this server accepts"),
        ("401 Unauthorized", &[][..], false, true, "this server needs a key"),
        ("404 Not Found", &keys[..], true, true, "if calls fail, check the base URL"),
        ("500 Oops", &keys[..], false, true, "try again later"),
        ("200 OK\r\ncontent-type: text/html\r\nx-page: 1", &keys[..], false, true, "check the base URL"),
    ] {
        for name in ["anthropic", "openai"] {
            // One answer for each of the two servers, in each format.
            (0..2).for_each(|_| status.send(line).unwrap());
            let object = object(&bench, &online, &[env, &at(&*url)].concat());
            let condition = provider(&object, name);
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
            Some("that the server is running"),
        );
    }
    assert_eq!(provider(&object(&bench, &online, &env), "openai")["reachable"], false);
}

#[test]
fn version_and_login_of_claude_code_are_shown_with_the_command_that_fixes_a_problem() {
    let bench = Bench::without_tools();
    claude(&bench, "2.1.329 (Claude Code)", LOGGED_IN);
    let said = text(&bench, &CLAUDE, &[]);
    says(&said, "claude", "ready: ", None);
    let (shown, _) = line(&said, "claude");
    assert!(shown.ends_with("bin/claude, version 2.1.329, logged in (claude.ai, max)"), "{said}");
    assert!(said.contains("`tlaforge run`: claude.") && !said.contains("me@example.com"), "{said}");
    let object = object(&bench, &CLAUDE, &[]);
    let condition = provider(&object, "claude");
    assert_eq!((&condition["version"], &condition["logged_in"]), (&"2.1.329".into(), &true.into()));

    claude(&bench, "2.1.329 (Claude Code)", LOGGED_OUT);
    let said = text(&bench, &CLAUDE, &[("ANTHROPIC_API_KEY", KEY)]);
    says(&said, "claude", "not ready: ", Some("log in: claude auth login"));
    assert!(line(&said, "claude").0.ends_with("version 2.1.329, not logged in"), "{said}");
    assert!(said.contains("none is ready"), "the program was named, so the key does not stand in for it: {said}");

    claude(&bench, "2.1.299 (Claude Code)", LOGGED_IN);
    let said = text(&bench, &CLAUDE, &[]);
    says(&said, "claude", "not ready: ", Some("install the current one: npm install -g"));
    assert!(line(&said, "claude").0.contains("is version 2.1.299; 2.1.300 or later is needed"), "{said}");

    claude(&bench, "2.1.329 (Claude Code)", "nonsense");
    says(&text(&bench, &CLAUDE, &[]), "claude", "not ready: ", Some("install the current one"));
    says(
        &text(&bench, &["--claude-path", "nowhere"], &[]),
        "claude",
        "not ready: nowhere does not exist",
        Some("npm install"),
    );
}

#[test]
fn working_tools_give_status_0_even_without_a_provider() {
    let mut bench = Bench::without_tools();
    let (jar, java) = (jar(), java());
    bench.set("TLA_TOOLS_JAR", jar.to_str().unwrap());
    bench.set("JAVA_HOME", java.parent().unwrap().parent().unwrap().to_str().unwrap());
    bench.run(&["doctor"]).expect(0).prints(&["Java tools: found", "Providers of models:", "none is ready"]);
}

/// `scripts/setup` uses this to find missing tools.
#[test]
fn a_selected_checker_that_is_missing_gives_status_4() {
    let bench = Bench::without_tools();
    for checker in ["tlc", "both"] {
        let said = ["Java tools: ", "was not found", "Checker: none"];
        bench.run(&["doctor", "--checker", checker]).expect(4).prints(&said);
        let told = bench.run(&["doctor", "--checker", checker, "--format", "json"]).expect(4).stdout;
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["can_check"], false);
    }
    for checker in ["auto", "embedded"] {
        bench.run(&["doctor", "--checker", checker]).expect(0);
    }
    let setup = std::fs::read_to_string(crate::support::project().join("scripts/setup")).unwrap();
    assert!(setup.ends_with(" doctor --checker tlc\n"), "{setup}");
}

#[test]
fn an_unknown_provider_is_refused_like_in_a_run() {
    let bench = Bench::without_tools();
    bench.run(&["doctor", "--provider", "nope"]).expect(2).says(&["unknown provider \"nope\"", "--provider claude"]);
}
