//! Diagnostics: off by default, on stderr, without keys, and without prompts and answers except at `trace`.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use crate::support::checking::{COUNTER, put};
use crate::support::counter::{DOC, good};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::recorded_model::RecordedModel;
use crate::support::{Bench, Done};

const KEY: &str = "sk-planted-0123456789";
/// A part of the role that a request begins with, of the prompt, and of an answer.
const TEXTS: [&str; 3] = ["You write informal", "the greatest concern", "NeverAbove == n <= Max"];

fn is_diagnostic(line: &str) -> bool {
    let level = line.split_whitespace().nth(1);
    matches!(level, Some("ERROR" | "WARN" | "INFO" | "DEBUG" | "TRACE")) && line.starts_with("20")
}

/// The diagnostics of a run of the program.
fn diagnostics(done: &Done) -> Vec<&str> {
    done.stderr.lines().filter(|line| is_diagnostic(line)).collect()
}

#[track_caller]
fn has(done: &Done, words: &[&str]) {
    let all = diagnostics(done);
    assert!(
        all.iter().any(|line| words.iter().all(|word| line.contains(word))),
        "no line with {words:?}:\n{}",
        all.join("\n")
    );
}

fn checked(more: &[&str]) -> (Bench, Done) {
    let bench = Bench::without_tools();
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let done = bench.run(&[&["check", "M.tla", "--checker", "embedded"], more].concat()).expect(0);
    (bench, done)
}

/// Runs the counter case with a server that is overloaded once and echoes the key in its refusal.
fn forged(more: &[&str], env: &[(&str, &str)]) -> Done {
    let mut bench = Bench::without_tools();
    bench.set("ANTHROPIC_API_KEY", KEY);
    bench.set("CLAUDE_RETRY_DELAY", "0");
    bench.write("docs/counter.md", DOC);
    bench.write("tlaforge.toml", "max_revisions = 2\n");
    let mut plays = RecordedModel::load(&bench.write("answers.jsonl", good().text())).script();
    let mut first = true;
    let server = ModelServer::start(move |seen| {
        if std::mem::take(&mut first) {
            return Reply::error(529, "overloaded_error", &format!("Overloaded; your key is {KEY}"));
        }
        plays(seen)
    });
    let url = server.url();
    let args = ["run", "docs", "--provider", "anthropic", "--base-url", &url, "--checker", "embedded"];
    let concern = ["--concern", "the greatest concern: sk-ant-foreign-abcdef stays secret"];
    bench.run_with(&[&args[..], &concern, more].concat(), env).expect(0)
}

#[test]
fn diagnostics_are_off_by_default() {
    let (_, silent) = checked(&[]);
    assert!(diagnostics(&silent).is_empty(), "{}", silent.stderr);
    let (bench, verbose) = checked(&["-v"]);
    assert!(!diagnostics(&verbose).is_empty());
    // The line of counts ends with the time that the check took.
    let result =
        |done: &Done| done.stdout.lines().filter(|l| !l.starts_with("Counts: ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(result(&verbose), result(&silent));
    // Diagnostics do not change the other output.
    let rest: Vec<&str> = verbose.stderr.lines().filter(|line| !is_diagnostic(line)).collect();
    assert_eq!(rest, silent.stderr.lines().collect::<Vec<_>>());
    for off in ["", "off", "warn"] {
        let done = bench.run_with(&["check", "M.tla", "--checker", "embedded"], &[("TLAFORGE_LOG", off)]).expect(0);
        assert_eq!(done.stderr, silent.stderr, "{off:?}");
    }
}

#[test]
fn a_check_shows_its_tools_and_processes_and_arguments_only_with_vv() {
    let (_, done) = checked(&["-v"]);
    has(&done, &["tlaforge started", "version="]);
    has(&done, &["tools chosen", "checker=Embedded"]);
    for call in ["translate", "parse", "check"] {
        has(&done, &["tool call started", &format!("call=\"{call}\""), "module=\"M\""]);
        has(&done, &["tool call ended", &format!("call=\"{call}\""), "result=", "took="]);
    }
    has(&done, &["tool{", "process started", "program=", "pid=", "arguments="]);
    has(&done, &["process ended", "status=Exited(0)", "took="]);
    has(&done, &["tlaforge ended", "status=0", "took="]);
    assert!(!done.stderr.contains(" DEBUG "), "{}", done.stderr);
    let (_, more) = checked(&["-v", "-v"]);
    has(&more, &["DEBUG", "arguments=[", "deadline="]);
    has(&more, &["DEBUG", "settings", "flags=[\"checker\"]"]);
}

#[test]
fn the_variable_accepts_levels_and_every_command_accepts_the_flag() {
    let bench = Bench::without_tools();
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let check = ["check", "M.tla", "--checker", "embedded"];
    let done = bench.run_with(&check, &[("TLAFORGE_LOG", "off,tlaforge_process=debug")]).expect(0);
    assert!(diagnostics(&done).iter().all(|line| line.contains("tlaforge_process")), "{}", done.stderr);
    has(&done, &["process started"]);
    // The flag wins over the variable.
    let done = bench.run_with(&[&check[..], &["-v"]].concat(), &[("TLAFORGE_LOG", "trace")]).expect(0);
    assert!(!done.stderr.contains(" DEBUG "), "{}", done.stderr);
    for args in [&["-v", "formula", "G a"][..], &["formula", "G a", "--verbose"], &["policy", "show", "-v"]] {
        let done = bench.run(args).expect(0);
        has(&done, &["tlaforge ended"]);
    }
}

#[test]
fn an_unknown_level_is_refused_before_anything_else() {
    let bench = Bench::without_tools();
    for (filter, part) in [("inof", "\"inof\" is not a level"), ("info,tlaforge_llm=loud", "\"loud\" is not a level")] {
        let done = bench.run_with(&["formula", "G a"], &[("TLAFORGE_LOG", filter)]).expect(2);
        assert_eq!(done.stdout, "");
        done.says(&["error: TLAFORGE_LOG is", filter, part, "hint: write off, error, warn, info, debug or trace"]);
    }
}

#[test]
fn a_run_shows_its_calls_retries_and_routes() {
    let done = forged(&["-v"], &[]);
    has(&done, &["provider chosen", "provider=\"anthropic\""]);
    has(&done, &["lock taken", "run.lock"]);
    has(&done, &["journal opened", "events=0"]);
    has(&done, &["model_call{", "node=\"informal_spec\"", "model call started", "attempt=1"]);
    has(&done, &["model call failed", "kind=Overloaded", "status=529", "retry_after="]);
    has(&done, &["model answered", "attempt=2", "input=", "output=", "took="]);
    has(&done, &["routed", "from=\"review\"", "to=\"approved\"", "row="]);
    has(&done, &["run finished", "outcome=\"approved\""]);
    has(&forged(&["-vv"], &[]), &["DEBUG", "settings file", "max_revisions"]);
}

#[test]
fn prompts_and_answers_are_shown_only_at_trace_and_keys_never() {
    for (more, env, shown) in [
        (&["-v"][..], &[][..], false),
        (&["-vv"], &[], false),
        (&["-vvvv"], &[], false),
        (&[], &[("TLAFORGE_LOG", "debug,h2=debug,hyper_util=debug,reqwest=debug")], false),
        (&[], &[("TLAFORGE_LOG", "trace,h2=trace,hyper_util=trace,reqwest=trace,rustls=trace")], true),
    ] {
        let done = forged(more, env);
        let all = diagnostics(&done).join("\n");
        for text in TEXTS {
            assert_eq!(all.contains(text), shown, "{more:?} {env:?}, {text:?}:\n{all}");
        }
        assert!(!done.stderr.contains("planted"), "{more:?} {env:?}:\n{}", done.stderr);
        assert!(!done.stderr.contains("sk-ant-foreign"), "{more:?} {env:?}:\n{}", done.stderr);
        assert_eq!(all.contains("the greatest concern: [key] stays secret"), shown, "{more:?} {env:?}");
    }
}
