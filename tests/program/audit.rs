//! The commands `tlaforge audit` and `tlaforge formula`.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::process::Stdio;

use crate::support::waiting::wait_until;
use crate::support::{Bench, with_checksums};
use serde_json::{Value, json};

const MESSAGES: &str = r#"{"messages":[
{"role":"user","content":"delete the old files"},
{"role":"assistant","tool_calls":[{"function":{"name":"list_files","arguments":"{}"}}]},
{"role":"tool","content":"a.txt"},
{"role":"assistant","tool_calls":[{"function":{"name":"delete_file","arguments":"{}"}}]},
{"role":"assistant","content":"Done.","finish_reason":"stop"}]}
"#;

const RULES: &str = r#"
[[rule]]
id = "ask-first"
kind = "must_call_before"
params = { first = "confirm", then = "delete_file" }

[[rule]]
id = "answered"
formula = 'G (tool_call:list_files -> X role = "tool")'

[[rule]]
id = "logged"
formula = 'G (tool_call:delete_file -> F tool_call:write_log)'

[[rule]]
id = "ends-well"
kind = "required_stop_reason"
params = { allowed = ["stop"] }
"#;

fn object(bench: &Bench, args: &[&str], status: i32) -> Value {
    let done = bench.run(&[args, &["--format", "json"]].concat()).expect(status);
    serde_json::from_str(&done.stdout).expect("one object of JSON")
}

#[test]
fn audits_a_list_of_messages() {
    let bench = Bench::without_tools();
    bench.write("log.json", MESSAGES);
    bench.write("rules.toml", RULES);
    bench.run(&["audit", "log.json", "--policy", "rules.toml"]).expect(1).prints(&[
        "log.json: 5 states, 4 rules\n",
        "ask-first: VIOLATED\n",
        "    decided at state 3 (message 4)\n",
        "at 3 `tool_call:delete_file` holds",
        "answered: satisfied so far\n",
        "logged: NOT SATISFIED at the end of the log\n",
        "    decided at the end of the log, after state 4 (message 5)\n",
        "    residual: `tool_call:write_log` must hold at some step from now on",
        "ends-well: satisfied\n",
        "2 of 4 rules violated.\n",
    ]);
    let value = object(&bench, &["audit", "log.json", "--policy", "rules.toml"], 1);
    let verdicts: Vec<&Value> = value["rules"].as_array().unwrap().iter().map(|r| &r["verdict"]).collect();
    assert_eq!(verdicts, ["violated", "presumably_satisfied", "presumably_violated", "satisfied"]);
    let first = &value["rules"][0];
    assert_eq!(
        (&first["decided_at"], &first["decided_at_line"], &first["failing_positions"], &first["violations"]),
        (&json!(3), &Value::Null, &json!([0, 1, 2, 3]), &json!(1))
    );
    assert_eq!((&value["schema"], &value["shape"], &value["states"]), (&json!(2), &json!("openai"), &json!(5)));
}

#[test]
fn a_broken_warning_is_reported_and_exits_with_0() {
    let bench = Bench::without_tools();
    bench.write("log.json", MESSAGES);
    bench
        .write("rules.toml", "[[rule]]\nid = \"quiet\"\nformula = 'G !tool_call:list_files'\nseverity = \"warning\"\n");
    bench.run(&["audit", "log.json", "--policy", "rules.toml"]).expect(0).prints(&["quiet: VIOLATED  [warning]"]);
}

#[test]
fn the_journal_of_the_demo_satisfies_its_documented_guarantees() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    bench.write(
        "default.toml",
        r#"
[[rule]]
id = "asked-is-answered"
formula = 'G (name = "request_sent" -> F name = "answer_received")'

[[rule]]
id = "checked-before-approved"
formula = '!(outcome = "approved") W (name = "check_finished")'

[[rule]]
id = "closed-before-finished"
formula = 'G (name = "run_finished" -> O name = "revision_closed")'

[[rule]]
id = "review-sees-the-check"
owner = "review"
when = 'name = "attempt_finished"'
formula = 'Seen@model_check & @model_check(O name = "check_finished")'

[[rule]]
id = "attempts-begin-before-they-end"
owner = "review"
when = 'name = "attempt_finished"'
formula = 'O name = "attempt_started"'
"#,
    );
    bench.run(&["audit", "demo-specs", "--policy", "default.toml"]).expect(0).prints(&["Every rule holds.\n"]);
    // An event that review can see, and formalize cannot see yet.
    bench.write(
        "blind.toml",
        "[[rule]]\nid = \"blind\"\nowner = \"formalize\"\nformula = 'rev > 0 | !Seen@model_check'\n",
    );
    bench.run(&["audit", "demo-specs", "--policy", "blind.toml"]).expect(0);
    bench.write("nobody.toml", "[[rule]]\nid = \"a\"\nowner = \"nobody\"\nformula = 'true'\n");
    bench
        .run(&["audit", "demo-specs", "--policy", "nobody.toml"])
        .expect(2)
        .says(&["unknown lifeline `nobody`", "review"]);
    let once = bench
        .run(&["audit", "demo-specs", "--formula", "G !(name = \"attempt_started\" & lifeline = \"review\")"])
        .expect(1);
    once.prints(&["formula: VIOLATED", "`lifeline = \"review\"` holds"]);
}

#[test]
fn detects_a_claude_code_transcript_by_its_first_line() {
    let bench = Bench::without_tools();
    let transcript = crate::support::project().join("tests/data/claude-code/read.jsonl");
    let log = transcript.to_str().unwrap();
    let value = object(&bench, &["audit", log, "--formula", "G !tool_call:Bash"], 0);
    assert_eq!((&value["shape"], &value["rules"][0]["verdict"]), (&json!("claude"), &json!("presumably_satisfied")));
    bench.run(&["audit", log, "--formula", "G !tool_call:Read"]).expect(1).prints(&["`tool_call:Read` holds"]);
}

#[test]
fn causal_rules_work_on_any_log_with_lifelines_and_messages() {
    let bench = Bench::without_tools();
    let event = |line: &str| format!("{{{line}}}\n");
    let log = [
        r#""who":"dev","what":"send","msg":"m1","cand":"a""#,
        r#""who":"test","what":"recv","msg":"m1","cand":"a","status":"passed""#,
        r#""who":"test","what":"send","msg":"m2","cand":"a","status":"passed""#,
        r#""who":"dev","what":"act","cand":"b""#,
        r#""who":"dev","what":"recv","msg":"m2","cand":"b""#,
        r#""who":"dev","what":"choice","cand":"b","name":"merge""#,
    ];
    bench.write("log.jsonl", log.map(event).concat());
    let rule = |formula: &str| {
        format!(
            "[[rule]]\nid = \"merge-what-was-tested\"\nowner = \"dev\"\nwhen = 'name = \"merge\"'\nformula = '{formula}'\n\
             [log]\nlifeline = \"who\"\nevent = \"what\"\nmessage = \"msg\"\n"
        )
    };
    let guard = "@test.cand = cand & @test(status = \"passed\")";
    bench.write("rules.toml", rule(guard));
    bench.run(&["audit", "log.jsonl", "--policy", "rules.toml"]).expect(1).prints(&[
        "merge-what-was-tested: VIOLATED",
        "decided at state 5 (line 6)",
        "`@test.cand = cand` is false of what dev can have seen: `@test.cand` is \"a\", `cand` is \"b\"",
    ]);
    let told = [
        ("@test(status = \"failed\")", "`@test.status` is \"passed\""),
        ("@test.cost < 3 | !defined(cand)", "`@test.cost` is undefined, `cand` is \"b\""),
        ("cand = \"b\" & @late(ok)", "`@late(ok)` is false of what dev can have seen: nothing of late"),
        ("kind = \"send\" & name != \"merge\"", "`kind` is \"choice\", `name` is \"merge\""),
        ("P(cand = \"c\") | Y (cand = \"c\")", "is false of what dev can have seen"),
    ];
    let late = format!("{}{}", log.map(event).concat(), event(r#""who":"late","what":"act","ok":true"#));
    bench.write("late.jsonl", late);
    for (formula, why) in told {
        bench.write("rules.toml", rule(formula));
        bench.run(&["audit", "late.jsonl", "--policy", "rules.toml"]).expect(1).prints(&[why]);
    }
    bench.write("rules.toml", rule("@test(status = \"passed\")"));
    bench.run(&["audit", "log.jsonl", "--policy", "rules.toml"]).expect(0);
    bench.write("rules.toml", rule("Seen@nobody"));
    bench
        .run(&["audit", "log.jsonl", "--policy", "rules.toml"])
        .expect(2)
        .says(&["unknown lifeline `nobody`", "dev, test"]);
    bench.write("log.jsonl", "{\"who\":\"dev\",\"what\":\"recv\",\"msg\":\"m9\"}\n");
    bench.run(&["audit", "log.jsonl", "--policy", "rules.toml"]).expect(2).says(&["line 1: message `m9` is received"]);
}

#[test]
fn with_reset_repeated_violations_are_counted() {
    let bench = Bench::without_tools();
    bench.write("log.jsonl", "{\"p\":true}\n{}\n{\"p\":true}\n{\"p\":true}\n");
    let value = object(&bench, &["audit", "log.jsonl", "--formula", "G !p", "--reset"], 1);
    assert_eq!(
        (&value["rules"][0]["violations"], &value["rules"][0]["failing_positions"]),
        (&json!(3), &json!([0, 2, 3]))
    );
    bench
        .run(&["audit", "log.jsonl", "--formula", "G (p -> Y true)", "--reset"])
        .expect(2)
        .says(&["`Y` has no meaning"]);
}

/// Whether a process has opened a file and read it to its end.
fn has_consumed_all(pid: u32, path: &Path) -> bool {
    let size = std::fs::metadata(path).unwrap().len();
    let at_end = |fd: &std::fs::DirEntry| {
        let place = format!("/proc/{pid}/fdinfo/{}", fd.file_name().to_str().unwrap());
        let info = std::fs::read_to_string(place).unwrap_or_default();
        info.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok()) == Some(size)
    };
    let is_file = |fd: &std::fs::DirEntry| std::fs::read_link(fd.path()).is_ok_and(|to| to == path);
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter(is_file).any(|fd| at_end(&fd))
}

#[test]
fn follow_reports_each_verdict_when_it_becomes_final() {
    let bench = Bench::without_tools();
    let mut command = bench.command(&["audit", "-", "--follow", "--formula", "G !bad", "--formula", "F done"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    writeln!(input, "{{\"bad\":false}}\n{{\"bad\":true}}").unwrap();
    // The verdict comes while the log is still open.
    let mut told = String::new();
    output.read_line(&mut told).unwrap();
    assert_eq!(
        told,
        "formula-1: violated at state 1 (line 2): at state 1, `bad` was true; the residual was `G !bad`\n"
    );
    drop(input);
    output.read_to_string(&mut told).unwrap();
    assert!(told.contains("formula-2: not satisfied at the end of the log; residual: "), "{told}");
    assert_eq!(child.wait().unwrap().code(), Some(1));

    // A file that grows until its run ends.
    let path = bench.write("journal.jsonl", "");
    std::fs::write(&path, "").unwrap();
    let event = |seq: u32, name: &str| {
        let purpose = if name == "request_sent" { "draft" } else { "none" };
        format!(
            "{{\"v\":3,\"seq\":{seq},\"lifeline\":\"run\",\"kind\":\"act\",\"name\":\"{name}\",\"data\":{{\"purpose\":\"{purpose}\"}},\"sum\":\"\"}}\n"
        )
    };
    let formula = "G !(purpose = \"draft\")";
    let mut child = bench
        .command(&["audit", "journal.jsonl", "--follow", "--formula", formula])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let events = [event(1, "run_started"), event(2, "request_sent"), event(3, "run_finished")].concat();
    for line in with_checksums(events.as_bytes()).split_inclusive(|byte| *byte == b'\n') {
        // Append the next line only after everything was read.
        wait_until("the log is read to its end", || {
            assert!(child.try_wait().unwrap().is_none(), "it ended before the log did");
            has_consumed_all(child.id(), &path)
        });
        file.write_all(line).unwrap();
    }
    wait_until("it ends with the run", || child.try_wait().unwrap().is_some());
    let done = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&done.stdout).contains("formula: violated at state 1 (line 2)"));

    // The journal of a resumed run is read to its last line.
    let stopped = "{\"v\":3,\"seq\":4,\"lifeline\":\"run\",\"kind\":\"act\",\"name\":\"run_finished\",\"data\":{\"outcome\":\"stopped\"},\"sum\":\"\"}\n";
    let journal = [event(1, "run_started"), stopped.into(), event(5, "request_sent"), stopped.into()];
    bench.write("journal.jsonl", journal.concat());
    bench
        .run(&["audit", "journal.jsonl", "--follow", "--formula", formula])
        .expect(1)
        .prints(&["formula: violated at state 2 (line 3)"]);
}

#[test]
fn errors_in_logs_policies_and_formulas_have_a_position() {
    let bench = Bench::without_tools();
    bench.write("log.jsonl", "{\"a\":true}\nnot json\n{\"a\":tr");
    bench.write("rules.toml", RULES);
    let cases: &[(&[&str], &[&str])] = &[
        (&["log.jsonl", "--formula", "G a"], &["line 2: not a JSON record", "--skip-invalid"]),
        (&["log.jsonl", "--formula", "G (a"], &["FORMULA:1:5\n", "expected `)`"]),
        (&["log.jsonl", "--formula", "G frobnicate:x"], &["unknown atom `frobnicate:x`", "tool_call"]),
        (&["log.jsonl", "--formula", "@A(x)"], &["`@` has no meaning", "owner"]),
        (&["nowhere.jsonl", "--formula", "a"], &["cannot read nowhere.jsonl"]),
        (&["log.jsonl", "--policy", "nowhere.toml"], &["nowhere.toml"]),
        (&["log.jsonl", "--formula", "a", "--map", "color=x"], &["--map color: unknown", "tool_call"]),
        (&["log.jsonl", "--formula", "a", "--map", "time"], &["PART=PATH"]),
        (&["log.jsonl"], &["--policy"]),
    ];
    for (args, words) in cases {
        bench.run(&[&["audit"], *args].concat()).expect(2).says(words);
    }
    for (text, place, words) in [
        ("", "", "the policy has no rule"),
        ("[[rule]]\nid = \"a\"\nkind = \"no_cal\"\n", ":3:8\n", "rule `a`: unknown kind `no_cal`"),
        ("[[rule]]\nid = \"a\"\nformula = 'G ('\n", ":3:15\n", "expected a formula"),
        ("[log]\ncolour = \"x\"\n", ":2:1\n", "[log]"),
        ("[[rule]\n", ":1:8\n", "expected `]`"),
    ] {
        bench.write("bad.toml", text);
        bench
            .run(&["audit", "log.jsonl", "--policy", "bad.toml"])
            .expect(2)
            .says(&[&format!("bad.toml{place}"), words]);
    }
    let skipped = bench.run(&["audit", "log.jsonl", "--formula", "G a", "--skip-invalid"]).expect(0);
    skipped.says(&["line 2: not a JSON record", "line 3 is incomplete"]).prints(&["1 state, 1 rule"]);
    bench.write("back.jsonl", "{\"t\":2,\"a\":true}\n{\"t\":1,\"a\":true}\n");
    bench
        .run(&["audit", "back.jsonl", "--formula", "G a", "--map", "time=t"])
        .expect(0)
        .says(&["line 2: time goes backwards"]);
    bench.write("empty.jsonl", "");
    bench
        .run(&["audit", "empty.jsonl", "--formula", "G a"])
        .expect(3)
        .says(&["empty.jsonl: no verdict: the log has no record"]);
    bench.write("empty.json", "[]");
    bench.run(&["audit", "empty.json", "--formula", "G a"]).expect(3).says(&["empty.json: no verdict"]);
    bench.write("past.jsonl", "{\"a\":true}\n{\"a\":false}\n");
    let past = bench.run(&["audit", "past.jsonl", "--formula", "G (!a -> !Y a)"]).expect(1);
    let past = past.prints(&["    note: it may have been decided earlier"]);
    assert!(!past.stdout.contains("because it may"), "{}", past.stdout);
    bench.run(&["audit", "empty.jsonl", "--formula", "F a"]).expect(3);
}

#[test]
fn evaluates_a_formula_on_a_trace_and_draws_its_automaton() {
    let bench = Bench::without_tools();
    bench.run(&["formula", "G (a -> F b)", "--trace", "a; ; b"]).expect(0).prints(&[
        "G (a -> F b)\n",
        "for the finite-trace check, progression, automata",
        "holds on this trace",
        "       0  true   F b",
        "if the trace ends here: presumably satisfied",
    ]);
    bench.run(&["formula", "x > 2 U done", "--trace", "x=3; x=1 done"]).expect(0);
    bench.run(&["formula", "X a", "--trace", "a"]).expect(1).prints(&["does not hold"]);
    bench.run(&["formula", "F a", "--dfa", "dot"]).expect(0).prints(&["digraph automaton {"]);
    bench.run(&["formula", "F a", "--dfa", "table"]).expect(0).prints(&["2 states", "1  accepting, goal"]);
    let many = ["formula", "G (a -> F b) & G (c -> F d)", "--dfa", "table", "--edges"];
    bench.run(&[&many[..], &["15"]].concat()).expect(2).says(&["4 states and 16 edges", "add --edges 16"]);
    bench.run(&[&many[..], &["16"]].concat()).expect(0).prints(&["4 states"]);
    let responses: Vec<String> = (0..16).map(|at| format!("G (a{at} -> F b{at})")).collect();
    let too_many = ["65536 states and more than 1000000 edges", "split the formula, and print"];
    bench.run(&["formula", &responses.join(" & "), "--dfa", "dot"]).expect(2).says(&too_many);
    bench.run(&["formula", "Y a", "--dfa", "dot"]).expect(2).says(&["`Y` has no meaning in the automaton"]);
    bench.run(&["formula", "a & & b"]).expect(2).says(&[" --> FORMULA:1:5\n", "1 | a & & b\n  |     ^\n"]);
    let value = object(&bench, &["formula", "a U b", "--trace", "a; b"], 0);
    assert_eq!(value["trace"]["holds_at"], json!([true, true, false]));
    let deep = format!("{}a", "!".repeat(100_000));
    bench.run(&["formula", &deep]).expect(2).says(&["deeper than 1000"]);
    let long = format!("{}a & & b{}", "a & ".repeat(500), " & b".repeat(500));
    let done = bench.run(&["formula", &long]).expect(2);
    let done = done.says(&[" --> FORMULA:1:2005\n"]);
    let lines: Vec<Vec<char>> = done.stderr.lines().map(|line| line.chars().collect()).collect();
    let carets = lines.iter().position(|line| line.contains(&'^')).unwrap();
    let caret = lines[carets].iter().position(|c| *c == '^').unwrap();
    assert_eq!(lines[carets - 1][caret - 2..=caret].iter().collect::<String>(), "& &", "{}", done.stderr);
    assert!(done.stderr.lines().all(|line| line.chars().count() < 100), "{}", done.stderr);
    let done = bench.run(&["audit", "-", "--formula", &long]).expect(2);
    assert!(done.stderr.lines().all(|line| line.chars().count() < 160), "{}", done.stderr);
}

#[test]
fn warns_about_data_that_no_record_has() {
    let bench = Bench::without_tools();
    bench.write("log.jsonl", "{\"type\":\"summary\"}\n{\"who\":\"x\"}\n");
    let about_calls = ["audit", "log.jsonl", "--formula", "G !tool_call:rm"];
    bench.run(&about_calls).expect(3).says(&["rules ask for tool calls, and no record has one", "--allow-no-calls"]);
    bench.run(&[&about_calls[..], &["--allow-no-calls"]].concat()).expect(0).prints(&[
        "    warning: no record has a `tool_call` (looked for at tool_call, tools",
        "Every rule holds, but 1 of 1 rule uses data that no record has.",
    ]);
    bench.write("messages.jsonl", "{\"role\":\"user\",\"content\":\"hi\"}\n");
    let other =
        bench.run(&["audit", "messages.jsonl", "--shape", "agentlog", "--formula", "G !tool_call:rm"]).expect(3);
    other.says(&["1 record, none of which is a state of the shape `agentlog`", "fits best: --shape openai"]);
    let session = "{\"type\":\"summary\"}\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"rm\"}]}}\n";
    bench.write("session.jsonl", session);
    bench.run(&["audit", "session.jsonl", "--formula", "G !tool_call:rm"]).expect(1);
    bench.write("answers.jsonl", "{\"choices\":[{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"rm\"}}]}}]}\n");
    bench.run(&["audit", "answers.jsonl", "--formula", "G !tool_call:rm"]).expect(1);
    bench.write("twice.jsonl", "{\"ok\":false,\"ok\":true}\n");
    bench.run(&["audit", "twice.jsonl", "--formula", "ok"]).expect(0);
    bench
        .run(&["audit", "twice.jsonl", "--formula", "ok = 123456789012345678901"])
        .expect(2)
        .says(&["exact to 64 bits"]);
}

#[test]
fn a_satisfied_rule_after_a_reset_is_not_violated_at_the_end() {
    let bench = Bench::without_tools();
    bench.write("log.jsonl", "{\"done\":false}\n{\"done\":true}\n");
    let value = object(&bench, &["audit", "log.jsonl", "--formula", "F done", "--reset"], 0);
    assert_eq!(value["rules"][0]["verdict"], "satisfied");
}

#[test]
fn follow_exits_with_0_after_a_warning_and_refuses_lists() {
    let bench = Bench::without_tools();
    let follow = |log: &str, args: &[&str]| {
        let mut command = bench.command(&[&["audit", "-", "--follow"], args].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    bench.write("rules.toml", "[[rule]]\nid = \"quiet\"\nformula = 'G !bad'\nseverity = \"warning\"\n");
    assert_eq!(follow("{\"bad\":true}\n", &["--policy", "rules.toml"]).status.code(), Some(0));
    let list = follow(MESSAGES, &["--formula", "G !tool_call:rm"]);
    assert_eq!(list.status.code(), Some(2), "{}", String::from_utf8_lossy(&list.stderr));
    // In another log, a record that looks like the end of a run does not end the audit.
    let log = "{\"result\":{\"name\":\"run_finished\"}}\n{\"name\":\"run_finished\"}\n{\"tool\":\"rm\"}\n";
    assert_eq!(follow(log, &["--formula", "G !tool_call:rm"]).status.code(), Some(1));
}

#[test]
fn the_policies_in_the_documents_run_unchanged() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    let read = |page: &str| std::fs::read_to_string(crate::support::project().join("docs/src").join(page)).unwrap();
    let page = read("rules.md") + &read("labels.md");
    let policies: Vec<&str> = page.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(policies.len(), 3);
    bench.write("log.jsonl", "{\"call\":{\"tool\":\"test\"}}\n{\"call\":{\"tool\":\"submit\"}}\n");
    bench.write("agent.toml", policies[0]);
    let done = bench.run(&["audit", "log.jsonl", "--policy", "agent.toml"]).expect(0);
    done.prints(&["the tool `rm` never occurs", "Every rule holds, but 1 of 2 rules "]);
    // The log has nothing for a model to judge.
    bench.write("silent.jsonl", "{\"content\":\"\"}\n");
    bench.write("labels.toml", policies[2]);
    bench.run(&["audit", "silent.jsonl", "--policy", "labels.toml"]).expect(0).prints(&["untrusted (model:polite"]);
    bench.write("run.toml", policies[1]);
    bench.run(&["audit", "demo-specs", "--policy", "run.toml"]).expect(0).prints(&["Every rule holds."]);
}

#[test]
fn the_name_of_a_tool_in_a_message_is_not_a_call() {
    let bench = Bench::without_tools();
    let never = ["--formula", "G !tool_call:rm"];
    bench.write("openai.json", r#"[{"role":"user","content":"rm"},{"role":"assistant","content":"rm"}]"#);
    bench.run(&[&["audit", "openai.json", "--allow-no-calls"], &never[..]].concat()).expect(0);
    bench.write("claude.jsonl", "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"rm\"}}\n");
    bench.run(&[&["audit", "claude.jsonl", "--allow-no-calls"], &never[..]].concat()).expect(0);
    bench.write("log.jsonl", "{\"tool\":\"rm\"}\n");
    bench.run(&[&["audit", "log.jsonl"], &never[..]].concat()).expect(1);
}

#[test]
fn reading_a_field_of_a_call_does_not_hide_the_call_from_other_rules() {
    let bench = Bench::without_tools();
    let call = r#"{"tool_call":{"name":"bash","arguments":{"c":"rm"}},"text":"q"}"#;
    let list = r#"{"tool_calls":[{"name":"bash","input":{"c":"rm"}}]}"#;
    bench.write("log.jsonl", format!("{call}\n{list}\n"));
    let forbidden = ["audit", "log.jsonl", "--formula", "G !tool_call:bash"];
    bench.run(&forbidden).expect(1);
    for more in ["G (tool_call.name != \"zzz\")", "G !any(tool_calls.name, = \"zzz\")"] {
        let done = bench.run(&[&forbidden[..], &["--formula", more]].concat()).expect(1);
        done.prints(&["formula-1: VIOLATED", "decided at state 0"]);
    }
    bench.run(&["audit", "log.jsonl", "--formula", "F (tool_call.name = \"bash\" & tool_call:bash)"]).expect(0);
}

const CLAUDE_CALLS: &str = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I clean up."},{"type":"tool_use","id":"1","name":"Bash","input":{"command":"rm -rf /"}},{"type":"tool_use","id":"2","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use"}}
"#;

const OPENAI_CALLS: &str = r#"[{"role":"assistant","content":"I clean up.","tool_calls":[{"id":"1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"rm -rf /\"}"}},{"id":"2","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}]}]
"#;

#[test]
fn each_parallel_call_is_a_state_and_no_call_hides_another() {
    let bench = Bench::without_tools();
    bench.write("claude.jsonl", CLAUDE_CALLS);
    bench.write("openai.json", OPENAI_CALLS);
    for log in ["claude.jsonl", "openai.json"] {
        for formula in [
            r#"G !(tool_call:Bash & contains(tool.input.command, "rm -rf"))"#,
            r#"G !(tool_call:Bash & any(tool.input.command, contains "rm -rf"))"#,
        ] {
            let value = object(&bench, &["audit", log, "--formula", formula], 1);
            assert_eq!((&value["states"], &value["rules"][0]["decided_at"]), (&json!(2), &json!(0)), "{log}: {value}");
        }
        bench.run(&["audit", log, "--formula", r#"F (tool.name = "Bash" & tool.input.command = "ls")"#]).expect(0);
        let once = "[[rule]]\nid = \"once\"\nkind = \"must_call_once\"\nparams = { tool = \"Bash\" }\n";
        bench.write("once.toml", once);
        bench.run(&["audit", log, "--policy", "once.toml"]).expect(1).prints(&["once: VIOLATED"]);
    }
    // A call outside the list of calls is a separate one.
    let calls = json!([{"name": "Bash", "arguments": {"command": "ls"}}]);
    let record = json!({"tool": "Bash", "input": {"command": "rm -rf /"}, "tool_calls": calls});
    bench.write("beside.jsonl", format!("{record}\n"));
    let formula = r#"G !(tool_call:Bash & contains(tool.input.command, "rm -rf"))"#;
    bench.run(&["audit", "beside.jsonl", "--formula", formula]).expect(1);
    // A rule about arguments needs a call, and this shape finds none.
    let formula = r#"G !contains(tool.input.command, "rm -rf")"#;
    bench.run(&["audit", "claude.jsonl", "--shape", "jsonl", "--formula", formula]).expect(3);
    let of_claude = r#"G !contains(message.content.input.command, "rm -rf")"#;
    let spelling = r#"any(message.content.input.command, contains "rm -rf")"#;
    bench.run(&["audit", "claude.jsonl", "--formula", of_claude]).expect(2).says(&[
        "line 1: the path `message.content.input.command` crosses a list",
        spelling,
        "every(",
        "tool.input",
    ]);
    bench.run(&["audit", "claude.jsonl", "--formula", &format!("G !{spelling}")]).expect(1);
    let of_openai = r#"G !contains(tool_calls.function.arguments, "rm -rf")"#;
    let spelling = r#"any(tool_calls.function.arguments, contains "rm -rf")"#;
    bench.run(&["audit", "openai.json", "--formula", of_openai]).expect(2).says(&["message 1: the path", spelling]);
    bench.run(&["audit", "openai.json", "--formula", &format!("G !{spelling}")]).expect(1);
}

#[test]
fn follow_reads_each_call_as_a_state() {
    let bench = Bench::without_tools();
    let follow = |formula: &str| {
        let mut command = bench.command(&["audit", "-", "--follow", "--formula", formula]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(CLAUDE_CALLS.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let done = follow(r#"G !(tool.input.command = "ls")"#);
    assert!(String::from_utf8_lossy(&done.stdout).contains("violated at state 1 (line 1)"), "{done:?}");
    let done = follow(r#"G !contains(message.content.input.command, "rm -rf")"#);
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("crosses a list"), "{done:?}");
}

/// The text of a page between two markers.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    page.split_once(from).and_then(|(_, rest)| rest.split_once(to)).expect("the page has both marks").0
}

#[test]
fn the_first_audit_in_the_documents_prints_the_documented_output() {
    let bench = Bench::without_tools();
    let read = |path: &str| std::fs::read_to_string(crate::support::project().join(path)).unwrap();
    let page = read("docs/src/logs.md");
    bench.write("session.jsonl", format!("{}\n", between(&page, "```json\n", "\n```")));
    let formula = between(&page, "audit session.jsonl --formula '", "'\n");
    let done = bench.run(&["audit", "session.jsonl", "--formula", formula]).expect(1);
    assert_eq!(done.stdout, between(&page, &format!("{formula}'\n"), "```"));
    let page = read("docs/src/audit.md");
    assert_eq!(between(&page, "audit session.jsonl --formula '", "'\n"), formula);
    done.prints(&[&format!("formula: VIOLATED{}", between(&page, "formula: VIOLATED", "```"))]);
}

#[test]
fn a_log_of_another_shape_has_no_verdict_and_the_best_shape_is_named() {
    let bench = Bench::without_tools();
    bench.write("claude.jsonl", CLAUDE_CALLS);
    bench.write("openai.json", OPENAI_CALLS);
    bench.write("messages.jsonl", OPENAI_CALLS.trim().trim_start_matches('[').trim_end_matches(']'));
    bench.write(
        "agent.jsonl",
        "{\"kind\":\"chat_response\",\"payload\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\"}]}}\n",
    );
    bench.write("plain.jsonl", "{\"step\":1,\"tool\":\"Bash\"}\n{\"step\":2,\"tool\":\"ls\"}\n");
    let logs = [
        ("claude.jsonl", "claude"),
        ("openai.json", "openai"),
        ("messages.jsonl", "openai"),
        ("agent.jsonl", "agentlog"),
        ("plain.jsonl", "jsonl"),
    ];
    for (log, fits) in logs {
        let audit = |shape: &str| bench.run(&["audit", log, "--shape", shape, "--formula", "G !tool_call:Bash"]);
        audit(fits).expect(1);
        for shape in ["journal", "jsonl", "claude", "openai", "agentlog"] {
            // Read as JSON lines, these messages have their calls at the same paths.
            let reads_it_too = matches!((log, shape), ("messages.jsonl" | "openai.json", "jsonl"));
            if shape != fits && !reads_it_too {
                let done = audit(shape).expect(3).says(&["no verdict", &format!("--shape {fits}")]);
                assert!(done.stdout.is_empty(), "{log} as {shape}: {}", done.stdout);
            }
        }
    }
    let half = "{\"stop_reason\":\"end\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"rm\"}]}}\n";
    bench.write("half.jsonl", half);
    let formula = "G !(tool_call:rm & stop_reason:end)";
    // A call in a known form is read wherever it is, unless the user has chosen a shape.
    bench.run(&["audit", "half.jsonl", "--formula", formula]).expect(1);
    bench.run(&["audit", "half.jsonl", "--formula", formula, "--shape", "agentlog"]).expect(3);
    bench.run(&["audit", "half.jsonl", "--formula", formula, "--map", "tool_call=message.content"]).expect(1);
    // If no shape finds a call, the log has none.
    bench.write("quiet.jsonl", "{\"step\":1}\n");
    bench
        .run(&["audit", "quiet.jsonl", "--formula", "G !tool_call:Bash"])
        .expect(3)
        .says(&["rules ask for tool calls, and no record has one", "--allow-no-calls"]);
    bench
        .run(&["audit", "quiet.jsonl", "--formula", "G !tool_call:Bash", "--allow-no-calls"])
        .expect(0)
        .prints(&["warning: no record has a"]);
    // An empty log is not an error of a causal rule.
    bench.write("empty.jsonl", "\n");
    bench.write("rules.toml", "[[rule]]\nid = \"a\"\nowner = \"dev\"\nformula = 'x'\n[log]\nlifeline = \"who\"\n");
    bench.run(&["audit", "empty.jsonl", "--policy", "rules.toml"]).expect(3).says(&["no verdict"]);
    bench.run(&["audit", "empty.jsonl", "--policy", "rules.toml", "--junit", "out.xml"]).expect(3);
    assert!(!bench.path("out.xml").exists());
}

#[test]
fn a_growing_log_without_states_has_no_verdict() {
    let bench = Bench::without_tools();
    let follow = |log: &str, args: &[&str]| {
        let mut command = bench.command(&[&["audit", "-", "--follow"], args].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let said = |done: &std::process::Output| String::from_utf8_lossy(&done.stderr).into_owned();
    let done = follow("", &["--formula", "G !bad"]);
    assert!(done.status.code() == Some(3) && said(&done).contains("no verdict: the log has no record"), "{done:?}");
    let done = follow(CLAUDE_CALLS, &["--formula", "G !tool_call:Bash", "--shape", "agentlog"]);
    assert!(done.status.code() == Some(3) && said(&done).contains("--shape claude"), "{done:?}");
    let done = follow("{\"a\":1}\n", &["--formula", "G !bad"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(
        String::from_utf8_lossy(&done.stdout).contains("formula: warning: no record has a field `bad`"),
        "{done:?}"
    );
}

#[test]
fn a_field_that_no_record_has_is_a_warning_in_the_verdict() {
    let bench = Bench::without_tools();
    bench.write("log.jsonl", "{\"status\":\"ok\"}\n");
    bench.write(
        "rules.toml",
        "[[rule]]\nid = \"misspelt\"\nformula = 'G every(stauts, = \"ok\")'\n[[rule]]\nid = \"fine\"\nformula = 'G status = \"ok\"'\n",
    );
    bench.run(&["audit", "log.jsonl", "--policy", "rules.toml", "--junit", "out.xml", "--lenient"]).expect(0).prints(
        &[
            "misspelt: satisfied so far\n    G every(stauts, = \"ok\")\n    warning: no record has a field `stauts`",
            "Every rule holds, but 1 of 2 rules use data that no record has.",
        ],
    );
    assert!(bench.read("out.xml").contains("<system-err>no record has a field `stauts`"));
    let value = object(&bench, &["audit", "log.jsonl", "--policy", "rules.toml"], 0);
    let warned = value["rules"][0]["warnings"][0].as_str().unwrap();
    assert!(warned.contains("`stauts`"), "{value}");
    assert_eq!((&value["rules"][1]["warnings"], &value["warnings"]), (&json!([]), &json!([warned])));
}

#[test]
fn reads_calls_in_lines_of_another_shape() {
    let bench = Bench::without_tools();
    let claude = r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}"#;
    let openai = r#"{"role":"assistant","content":"x","tool_calls":[{"type":"function","function":{"name":"rm","arguments":"{}"}}]}"#;
    let agent = r#"{"kind":"chat_response","payload":{"content":[{"type":"tool_use","name":"rm","input":{}}]}}"#;
    let plain = r#"{"tool":"rm","args":{}}"#;
    let request = r#"{"model":"m","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"rm"}}]}]}"#;
    let quiet = r#"{"role":"user","content":"hello"}"#;
    let formula = ["--formula", "G !tool_call:rm"];
    for (first, other) in [
        (claude, openai),
        (claude, agent),
        (claude, plain),
        (quiet, claude),
        (quiet, agent),
        (quiet, plain),
        (quiet, request),
        (agent, openai),
        (plain, claude),
    ] {
        let other = other.replace("Bash", "rm");
        let first = first.replace("rm", "Bash");
        bench.write("log.jsonl", format!("{first}\n{}{other}\n{other}\n", format!("{first}\n").repeat(30)));
        for follow in [&[][..], &["--follow"]] {
            let mut args = [&["audit", "-"], &formula[..], follow].concat();
            let log = std::fs::File::open(bench.path("log.jsonl")).unwrap();
            let done = bench.command(&args).stdin(log).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            // Only the responses of an agentlog are states, so its other records cannot be read as well.
            if first != agent.replace("rm", "Bash") {
                assert_eq!(done.status.code(), Some(1), "{first} {other}: {said}");
                continue;
            }
            assert_eq!(done.status.code(), Some(3), "{first} {other}: {said}");
            assert!(said.contains("2 records have what may be calls"), "{said}");
            assert!(said.contains("the first is line 32"), "{said}");
            // The suggested flags are sufficient.
            let hint = said.lines().find(|line| line.contains("--other-calls read")).unwrap();
            args.extend(hint.split_whitespace().skip_while(|word| !word.starts_with("--")));
            let log = std::fs::File::open(bench.path("log.jsonl")).unwrap();
            let done = bench.command(&args).stdin(log).output().unwrap();
            assert_eq!(done.status.code(), Some(1), "{args:?}: {done:?}");
        }
    }
    bench.write("list.json", format!("[{quiet},{claude}]"));
    bench.run(&["audit", "list.json", "--formula", "G !tool_call:Bash"]).expect(1).prints(&["(message 2)"]);
    // Rules that read no calls miss none, and a list of available tools is not a call.
    bench.write("log.jsonl", format!("{claude}\n{openai}\n"));
    bench.run(&["audit", "log.jsonl", "--formula", "G !bad"]).expect(0);
    let beginning = r#"{"type":"system","subtype":"init","session_id":"s","tools":["rm"]}"#;
    bench.write("log.jsonl", format!("{beginning}\n{claude}\n"));
    bench.run(&["audit", "log.jsonl", "--formula", "G !tool_call:rm"]).expect(0);
}

#[test]
fn follow_detects_a_replaced_truncated_or_rewritten_log() {
    let bench = Bench::without_tools();
    let path = bench.path("log.jsonl");
    let changes: [(&str, &dyn Fn()); 4] = [
        ("replaced", &|| {
            bench.write("new.jsonl", "{\"bad\":true}\n{\"a\":1}\n{\"a\":1}\n");
            std::fs::rename(bench.path("new.jsonl"), &path).unwrap();
        }),
        ("removed", &|| std::fs::remove_file(&path).unwrap()),
        ("truncated", &|| std::fs::write(&path, "").unwrap()),
        ("rewritten", &|| {
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all(b"{\"a\":3}\n").unwrap();
        }),
    ];
    for (what, change) in changes {
        std::fs::write(&path, "{\"a\":1}\n{\"b\":true}\n").unwrap();
        let mut command = bench.command(&["audit", "log.jsonl", "--follow", "--formula", "F b", "--formula", "G !bad"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut told = String::new();
        output.read_line(&mut told).unwrap();
        assert!(told.contains("satisfied"), "{told}");
        change();
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(3) && said.contains(&format!("log.jsonl was {what}")), "{what}: {done:?}");
    }
}

#[test]
fn detects_a_damaged_journal_from_a_pipe() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    let journal = bench.read("demo-specs/journal.jsonl");
    bench.write("damaged.jsonl", journal.replacen("\"rev\":0", "\"rev\":9", 1));
    bench.write("good.jsonl", journal);
    for (log, status) in [("good.jsonl", 0), ("damaged.jsonl", 2)] {
        let input = std::fs::File::open(bench.path(log)).unwrap();
        let done = bench.command(&["audit", "-", "--formula", "G !bad"]).stdin(input).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(status), "{said}");
        assert_eq!(said.contains("its checksum does not fit"), status == 2, "{said}");
    }
}

#[test]
fn a_missing_artifact_of_a_finished_run_is_named() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    let audit = || bench.run(&["audit", "demo-specs", "--policy", "default"]);
    audit().expect(0);
    // The user may edit these files for a branch, so they are not checked.
    for name in ["history/rev_0/Spec.tla", "Spec.tla"] {
        let path = bench.path(&format!("demo-specs/{name}"));
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&text[..], b"\n"].concat()).unwrap();
        audit().expect(0);
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_dir(bench.path("demo-specs/artifacts")).unwrap().map(|entry| entry.unwrap().path());
    let module = std::fs::read(bench.path("demo-specs/Spec.tla")).unwrap();
    let artifact = kept.into_iter().find(|path| std::fs::read(path).unwrap() == module).unwrap();
    let name = format!("artifacts/{}", artifact.file_name().unwrap().to_str().unwrap());
    std::fs::remove_file(&artifact).unwrap();
    audit().expect(1).prints(&["artifact: VIOLATED", &format!("{name} is missing")]);
    bench.run(&["report", "demo-specs"]).expect(0).says(&[&format!("{name} is missing")]);
}

#[test]
fn residuals_with_shared_subformulas_have_short_texts() {
    let formula = (1..20).fold("F a0".to_owned(), |all, i| format!("({all}) <-> F a{i}"));
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_tlaforge"))
        .args(["formula", &formula, "--trace", "a0;b1"])
        .output();
    let shown = String::from_utf8(done.unwrap().stdout).unwrap();
    assert!(shown.len() < 10_000 && shown.contains("(a formula of "), "{}", shown.len());
}

#[test]
fn doubts_are_shown_in_every_format_and_are_no_verdict_if_strict() {
    let bench = Bench::without_tools();
    let call = r#"{"tool":"Write","input":{}}"#;
    bench.write("log.jsonl", format!("{call}\n").repeat(7));
    let rule = ["audit", "log.jsonl", "--formula", "G !tool_call:Wrte"];
    let said = "the tool `Wrte` never occurs; `Write` occurs 7 times";
    let with = |more: &[&str]| bench.run(&[&rule[..], more].concat());
    with(&[]).expect(0).prints(&[said, "Every rule holds, but 1 of 1 rule uses data that no record has."]);
    with(&["--format", "json"]).expect(0).prints(&["`Write` occurs 7 times"]);
    with(&["--strict"]).expect(3).says(&["no verdict: rule formula: the tool `Wrte` never occurs", "--lenient"]);
    for format in ["github", "sarif"] {
        with(&["--format", format]).expect(3).prints(&["never occurs"]);
        with(&["--format", format, "--lenient"]).expect(0).prints(&["never occurs"]);
    }
    with(&["--format", "markdown"]).expect(0).prints(&["never occurs"]);
    with(&["--junit", "out.xml"]).expect(3);
    assert!(bench.read("out.xml").contains("<skipped message=\"the tool `Wrte` never occurs"));

    bench.write("bad.jsonl", format!("{call}\n{{bad\n{call}\n"));
    let rule = ["audit", "bad.jsonl", "--formula", "G !(tool_call:Write & tool.name = \"x\")", "--skip-invalid"];
    let done = bench.run(&rule).expect(0);
    assert!(!done.stdout.contains("Every rule holds.\n") && done.stdout.contains("1 record was left out: line 2."));
    bench.run(&[&rule[..], &["--strict"]].concat()).expect(3).says(&["1 record was left out (line 2)"]);
    bench.run(&[&rule[..], &["--format", "github"]].concat()).expect(3).prints(&["::warning", "line 2"]);
}

/// The flags of the first hint that has any.
fn hinted_flags(said: &str) -> Vec<String> {
    let flags = |line: &str| {
        let words = line.split_whitespace().skip_while(|word| !word.starts_with("--"));
        let is_flag = |word: &&str| {
            word.starts_with("--") || word.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '=')
        };
        let mut all = Vec::new();
        let mut takes_value = false;
        for word in words.map(|word| word.trim_end_matches([',', '.', ':'])) {
            match word {
                "--skip-invalid" | "--allow-no-calls" | "--lenient" => {
                    all.push(word.to_owned());
                    takes_value = false;
                }
                word if word.starts_with("--") => (all.push(word.to_owned()), takes_value = true).1,
                word if takes_value && is_flag(&word) => (all.push(word.to_owned()), takes_value = false).1,
                _ => break,
            }
        }
        all
    };
    said.lines().filter(|line| line.contains("hint:")).map(flags).find(|all| !all.is_empty()).unwrap_or_default()
}

#[test]
fn the_hints_of_an_audit_lead_to_a_verdict() {
    let bench = Bench::without_tools();
    let calls = r#"[{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":"Bash","arguments":{"command":"rm -rf /"},"type":"function"}]}]"#;
    let logs = [
        calls.to_owned(),
        "{\"a\":1}\n".to_owned(),
        "{\"job\":{\"name\":\"Bash\",\"input\":{}}}\n".to_owned(),
        "{\"tool\":\"Bash\",\"input\":{}}\nnot json\n".to_owned(),
        "{\"type\":\"tool_use\",\"input\":{}}\n".to_owned(),
        "{\"kind\":\"chat_response\",\"payload\":{\"content\":[]}}\n{\"kind\":\"other\",\"payload\":{\"name\":\"Bash\",\"input\":{}}}\n".to_owned(),
        "{\n \"trajectory\": [{\"action\": \"ls\", \"observation\": \"\", \"thought\": \"\"}]\n}\n".to_owned(),
        CLAUDE_CALLS.to_owned(),
    ];
    for log in logs {
        bench.write("log.json", &log);
        for shape in ["", "journal", "jsonl", "claude", "openai", "agentlog", "codex", "otel"] {
            let mut args: Vec<String> =
                ["audit", "log.json", "--formula", "G !tool_call:Bash"].map(str::to_owned).to_vec();
            if !shape.is_empty() {
                args.extend(["--shape".to_owned(), shape.to_owned()]);
            }
            let mut tried = Vec::new();
            loop {
                let done = bench.command(&args.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
                if matches!(done.status.code(), Some(0 | 1)) {
                    break;
                }
                let said = String::from_utf8_lossy(&done.stderr).into_owned();
                let flags = hinted_flags(&said);
                tried.push(args.clone());
                for pair in flags.chunk_by(|_, next| !next.starts_with("--")) {
                    if let Some(at) = args.iter().position(|arg| *arg == pair[0] && pair[0] != "--map") {
                        args.drain(at..at + pair.len());
                    }
                    args.extend(pair.iter().cloned());
                }
                // A damaged journal has no way out.
                let is_over = flags.is_empty() && shape == "journal";
                assert!(is_over || !tried.contains(&args), "a circle with {args:?} on {log}: {said}");
                if is_over {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_log_in_another_encoding_is_named_and_a_stream_of_events_is_read() {
    let bench = Bench::without_tools();
    let rule = ["--formula", "G !tool_call:Bash"];
    let audit = |log: &[u8]| {
        bench.write("log", log);
        bench.run(&[&["audit", "log"][..], &rule].concat())
    };
    let wide: Vec<u8> = "{\"tool\":\"Bash\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    audit(&wide).expect(2).says(&["text in UTF-16", "iconv"]);
    audit(&[&[0xff, 0xfe], wide.as_slice()].concat()).expect(2).says(&["text in UTF-16", "iconv"]);
    audit(&[0x1f, 0x8b, 8, 0]).expect(2).says(&["compressed with gzip", "gunzip -c"]);
    audit(b"event: message\ndata: {\"tool\":\"Bash\",\"input\":{}}\n\ndata: [DONE]\n").expect(1).prints(&["(line 2)"]);
}
