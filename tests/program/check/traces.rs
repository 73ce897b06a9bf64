//! Counterexamples as a user sees them: what changed, in which step of which process, at every width; and as files.

use serde_json::Value;

use crate::support::Bench;

const PUZZLE: &str = include_str!("../../data/traces/SlidingPuzzle.tla");
const PUZZLE_CFG: &str = include_str!("../../data/traces/SlidingPuzzle.cfg");
const MESSAGES: &str = include_str!("../../data/traces/Messages.tla");
const MESSAGES_CFG: &str = include_str!("../../data/traces/Messages.cfg");

fn bench() -> Bench {
    let bench = Bench::without_tools();
    bench.write("SlidingPuzzle.tla", PUZZLE);
    bench.write("SlidingPuzzle.cfg", PUZZLE_CFG);
    bench.write("Messages.tla", MESSAGES);
    bench.write("Messages.cfg", MESSAGES_CFG);
    bench
}

fn check(bench: &Bench, spec: &str, more: &[&str]) -> String {
    let args = [&["check", spec, "--checker", "embedded"], more].concat();
    bench.run(&args).expect(1).stdout
}

/// The counterexample alone, without counts and times.
fn counterexample(text: &str) -> &str {
    let (_, rest) = text.split_once("## Counterexample\n\n").unwrap_or_else(|| panic!("{text}"));
    rest.split_once("\n\n").map_or(rest, |(table, _)| table)
}

#[test]
fn a_trace_at_each_width_and_in_a_pipe() {
    let bench = bench();
    for spec in ["SlidingPuzzle", "Messages"] {
        for width in ["80", "100", "200", "pipe"] {
            let more: &[&str] = if width == "pipe" { &[] } else { &["--width", width] };
            let text = check(&bench, &format!("{spec}.tla"), more);
            let table = counterexample(&text);
            if let Ok(width) = width.parse::<usize>() {
                assert!(table.lines().all(|line| line.chars().count() <= width), "{table}");
            } else {
                assert!(spec == "Messages" || !table.contains(" ... "), "{table}");
                assert_eq!(table, counterexample(&check(&bench, &format!("{spec}.tla"), &["--full"])));
            }
            insta::assert_snapshot!(format!("{spec}_{width}"), table);
        }
    }
}

#[test]
fn every_step_of_a_puzzle_shows_one_piece_at_two_places() {
    let text = check(&bench(), "SlidingPuzzle.tla", &["--width", "80"]);
    let lines: Vec<&str> = counterexample(&text).lines().collect();
    let heads: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].starts_with("     ")).collect();
    assert!(heads.len() > 2, "{text}");
    for (at, head) in heads.iter().enumerate().skip(1) {
        let end = heads.get(at + 1).copied().unwrap_or(lines.len());
        let changes = lines[head + 1..end].iter().filter(|line| line.starts_with("     board: ")).count();
        assert_eq!(changes, 2, "{text}");
    }
}

#[test]
fn a_step_names_process_branch_and_line_and_the_last_one_the_false_conjunct() {
    let bench = bench();
    let args = ["check", "Messages.tla", "--checker", "embedded", "--format", "json"];
    let value: Value = serde_json::from_str(&bench.run(&args).expect(1).stdout).unwrap();
    let steps = value["trace"].as_array().unwrap();
    let line_of = |words: &str| MESSAGES.lines().position(|line| line.contains(words)).unwrap() + 1;
    for step in &steps[1..] {
        let arguments = step["arguments"].as_str().unwrap_or("");
        let (line, source) = match step["action"].as_str().unwrap() {
            "Ask" => (line_of("  Ask:"), arguments.starts_with('c')),
            "Wait" => (line_of("  Wait:"), arguments.starts_with('c')),
            "Serve" if step["branch"].as_str().unwrap().starts_with("await") => (line_of("await queue"), true),
            "Serve" => (line_of("m.to = \"server\""), true),
            other => panic!("{other}"),
        };
        assert!(source, "{step}");
        assert_eq!(
            (&step["source"]["file"], &step["source"]["line"]),
            (&"Messages.tla".into(), &line.into()),
            "{step}"
        );
    }
    let found = &steps.last().unwrap()["false_conjuncts"];
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{value}");
    assert!(found[0]["formula"].as_str().unwrap().starts_with("\\A c, d \\in Clients"), "{found}");
    assert_eq!(found[0]["elements"], serde_json::json!(["c = c1, d = c2", "c = c2, d = c1"]));
    assert_eq!(found[0]["variables"], serde_json::json!(["granted"]));
    assert!(steps[..steps.len() - 1].iter().all(|step| step["false_conjuncts"].is_null()), "{value}");
}

#[test]
fn the_counterexample_in_sentences_names_processes_and_values() {
    let text = check(&bench(), "Messages.tla", &["--explain"]);
    for words in [
        "1. At the start granted is (c1 :> FALSE @@ c2 :> FALSE)",
        " does Ask: ",
        "network gains [",
        "queue[1] is new, with the value c1",
        "queue[1], which was c1, is gone",
        "granted[c",
        " changes from FALSE to TRUE",
        "So Safe is false in state ",
        "does not hold for c = c1, d = c2; c = c2, d = c1, with granted = ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("## "), "{text}");
}

#[test]
fn colours_are_written_only_if_asked_for() {
    let bench = bench();
    let plain = check(&bench, "Messages.tla", &[]);
    assert!(!plain.contains('\u{1b}'));
    assert_eq!(counterexample(&check(&bench, "Messages.tla", &["--color", "never"])), counterexample(&plain));
    let colored = check(&bench, "Messages.tla", &["--color", "always"]);
    assert!(colored.contains("\u{1b}[32m+ ["), "{colored}");
    let done = bench.run_with(&["check", "Messages.tla", "--checker", "embedded"], &[("NO_COLOR", "1")]);
    assert!(!done.stdout.contains('\u{1b}'));
}

#[test]
fn a_check_ends_with_the_next_command() {
    let bench = bench();
    let next = |args: &[&str]| {
        let args = [&["check", "--checker", "embedded"], args].concat();
        let stderr = bench.run(&args).stderr;
        stderr.lines().find_map(|line| line.strip_prefix("next: ")).map(str::to_owned)
    };
    assert_eq!(next(&["Messages.tla"]).as_deref(), Some("tlaforge check Messages.tla --explain"));
    assert_eq!(next(&["Messages.tla", "--explain"]), None);
    bench.write(
        "Other one.cfg",
        "SPECIFICATION Spec\nCONSTANT Clients = {c1}\nCHECK_DEADLOCK FALSE\nINVARIANT AtMostOne\n",
    );
    let held = next(&["Messages.tla", "--config", "Other one.cfg"]).expect("a command");
    assert!(held.starts_with("tlaforge mutate Messages.tla --config 'Other one.cfg'"), "{held}");
}

#[test]
fn a_counterexample_is_written_in_the_format_of_the_name() {
    let bench = bench();
    for (name, words) in [
        ("T.itf.json", "\"format\": \"ITF\""),
        ("T.json", "\"false_conjuncts\""),
        ("T.md", "# Counterexample to Safe\n\n1. At the start "),
        ("T.mmd", "sequenceDiagram\n    participant p0 as c"),
        ("T.puml", "@startuml\nparticipant \"c"),
        ("T.tla", "EXTENDS Messages, Naturals, TLC\nCONSTANTS c1, c2\n"),
    ] {
        check(&bench, "Messages.tla", &["--trace-out", name]);
        assert!(bench.read(name).contains(words), "{}", bench.read(name));
    }
    let itf: Value = serde_json::from_str(&bench.read("T.itf.json")).unwrap();
    let last = itf["states"].as_array().unwrap().last().unwrap();
    assert_eq!(last["granted"]["#map"], serde_json::json!([["c1_OF_MODEL_VALUE", true], ["c2_OF_MODEL_VALUE", true]]));
    let refused = bench.run(&["check", "Messages.tla", "--trace-out", "T.txt"]).expect(2);
    assert!(refused.stderr.contains("must end with .itf.json"), "{}", refused.stderr);
    let refused =
        bench.run(&["check", "Messages.tla", "--checker", "embedded", "--trace-out", "Messages.tla"]).expect(2);
    assert!(refused.stderr.contains("is no counterexample that was written before"), "{}", refused.stderr);
    assert_eq!(bench.read("Messages.tla"), MESSAGES);
}

#[test]
fn tlc_replays_the_module_of_a_trace_and_finds_the_violation_again() {
    let bench = bench();
    let translated = bench.run(&["translate", "Messages.tla"]).expect(0).stdout;
    bench.write("Messages.tla", translated);
    for (spec, invariant) in [("SlidingPuzzle", "Goal"), ("Messages", "Safe")] {
        let text = check(&bench, &format!("{spec}.tla"), &["--trace-out", "Replay.tla"]);
        let states =
            counterexample(&text).lines().filter(|line| line[..3.min(line.len())].trim().parse::<u32>().is_ok());
        let jar = crate::support::jar();
        let mut tlc = std::process::Command::new(crate::support::java());
        tlc.args(["-cp", jar.to_str().unwrap(), "tlc2.TLC", "-workers", "1", "-config", "Replay.cfg", "Replay.tla"]);
        let ended = tlc.current_dir(bench.path("")).output().unwrap();
        let output = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(output.contains(&format!("Invariant {invariant} is violated")), "{output}");
        let states = states.count();
        assert!(output.contains(&format!("State {states}:")), "{states} {output}");
        // TLC is held to the trace: it never sees another state.
        let found = output.lines().find_map(|line| line.split_once(" distinct states found")).expect("counts").0;
        let distinct: usize = found.rsplit(' ').next().unwrap().replace(',', "").parse().expect("a number");
        assert_eq!(distinct, states, "{output}");
    }
}
