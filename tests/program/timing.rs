//! A replay decides nothing by the clock: what did not end in time when it was recorded is not waited for, and what ended
//! is given the time that it needs.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::time::Duration;

use crate::support::counter::{CFG, DOC, INVARIANTS, MODULE, WITNESSES, fenced, good, sections};
use crate::support::in_process::{CheckLimits, EventClock, InProcess, ObservedTools, record_limits, recorded_in};
use crate::support::{Bench, Script, name, routes};
use serde_json::{Value, json};
use tlaforge::toolchain::Limits;

fn without_java() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    bench
}

/// A run of the script, recorded.
fn recorded(script: &Script, more: &[&str]) -> Bench {
    let bench = without_java();
    bench.forge(script, &[&["--record", "record.jsonl"], more].concat());
    bench
}

/// The recording's replay, recorded once more.
fn replayed(recording: &str, more: &[&str]) -> Bench {
    let bench = without_java();
    bench.write("record.jsonl", recording);
    let args = ["run", "docs", "--out", "specs", "--recording", "record.jsonl", "--record", "again.jsonl"];
    let done = bench.run(&[&args[..], more].concat());
    assert!(bench.path("specs").exists(), "{}", done.stderr);
    bench
}

fn of<'a>(journal: &'a [Value], wanted: &str) -> Vec<&'a Value> {
    journal.iter().filter(|e| name(e) == wanted).map(|e| &e["data"]).collect()
}

/// What the clock decided, as a recording says.
fn timing(recording: &str) -> Vec<Value> {
    let lines = recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line["timing"].as_array().cloned()).flatten().collect()
}

/// The recording with another of these for that node.
fn with_timing(recording: &str, node: &str, change: impl Fn(&mut Value)) -> String {
    let mut changed = 0;
    let lines: Vec<String> = recording
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            for entry in
                line.get_mut("timing").and_then(Value::as_array_mut).into_iter().flatten().filter(|e| e["node"] == node)
            {
                change(entry);
                changed += 1;
            }
            line.to_string() + "\n"
        })
        .collect();
    assert!(changed > 0, "{recording}");
    lines.concat()
}

fn verdicts(bench: &Bench) -> Vec<Value> {
    of(&bench.journal("specs"), "check_finished").iter().map(|data| data["outcome"]["verdict"].clone()).collect()
}

fn stronger() -> Script {
    let properties = "\\* covers R1\nFromZero == n = 0\n\\* covers R1\nOneByOne == [][n' = n + 1]_n\n";
    let cfg = CFG.replace("\\*", "PROPERTIES FromZero OneByOne\n\\*");
    let answer = sections(INVARIANTS, properties, WITNESSES, &cfg);
    good().answer("generate_invariants", 0, 2, "strengthen", &answer)
}

#[test]
fn a_check_that_did_not_end_in_time_does_not_end_in_its_replay_either() {
    let endless = fenced(&MODULE.replace("n < Max", "TRUE"));
    let properties = sections("TypeOK == n \\in Nat\n\\* covers R1\nNeverAbove == n >= 0\n", "", WITNESSES, CFG);
    let script =
        good().answer("formalize", 0, 1, "draft", &endless).answer("generate_invariants", 0, 1, "draft", &properties);
    let bench = recorded(&script, &["--tlc-timeout", "1", "--max-revisions", "0"]);
    assert_eq!(verdicts(&bench), ["inconclusive"]);
    let entries = timing(&bench.read("record.jsonl"));
    assert_eq!((entries.len(), &entries[0]["check_timed_out"]), (1, &json!(true)), "{entries:?}");
    // There is more time now, and it is not used.
    let again = replayed(&bench.read("record.jsonl"), &["--max-revisions", "0"]);
    let journal = again.journal("specs");
    let reason = &of(&journal, "check_finished")[0]["outcome"]["reason"];
    assert!(reason.as_str().unwrap().contains("did not end within 0 s"), "{reason}");
    assert_eq!(routes(&journal), routes(&bench.journal("specs")));
    assert_eq!(timing(&again.read("again.jsonl"))[0]["check_timed_out"], true);
}

/// Replays the recording in this process with a limit of one second for checks. Returns the limits that the checks had.
fn replay_limits(recording: &str) -> (Bench, Vec<Duration>) {
    let bench = without_java();
    bench.write("record.jsonl", recording);
    let limits = CheckLimits::default();
    let tools = ObservedTools { before_check: record_limits(&limits), ..ObservedTools::new() };
    // A replay that waited by this clock would panic.
    let replay = InProcess::new(recorded_in(&bench, "record.jsonl"), EventClock::new(&bench, &[]), 1);
    let limits_of_run = Limits { check: Duration::from_secs(1), ..Limits::default() };
    InProcess { toolchain: Box::new(tools), limits: limits_of_run, ..replay }.run(&bench);
    let limits = limits.lock().unwrap().clone();
    (bench, limits)
}

#[test]
fn a_check_that_ended_in_time_has_the_time_that_it_needs_in_a_replay() {
    let bench = recorded(&good(), &[]);
    let recording = bench.read("record.jsonl");
    let (slow, limits) = replay_limits(&recording);
    // Of the initial states, and of all.
    assert_eq!(limits, [Duration::from_secs(600); 2]);
    assert_eq!((verdicts(&bench), verdicts(&slow)), (vec![json!("holds")], vec![json!("holds")]));
    assert_eq!(routes(&slow.journal("specs")), routes(&bench.journal("specs")));
    // An older recording does not say that it ended: then the limit of the run holds.
    let (_, limits) = replay_limits(&without_timing(&recording));
    assert_eq!(limits[1], Duration::from_secs(1));
}

fn without_timing(recording: &str) -> String {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("timing");
        line.to_string() + "\n"
    };
    recording.lines().map(line).collect()
}

#[test]
fn a_witness_that_was_not_decided_in_time_is_not_decided_in_a_replay() {
    let bench = recorded(&good(), &[]);
    let recording = with_timing(&bench.read("record.jsonl"), "model_check", |entry| {
        entry["timed_out"] = json!(["WitnessFull", "Unheard"]);
    });
    let again = replayed(&recording, &["--max-revisions", "0"]);
    let checks = again.journal("specs");
    let witnesses = &of(&checks, "check_finished")[0]["outcome"]["witnesses"];
    assert_eq!(witnesses[0]["name"], "WitnessFull");
    assert!(witnesses[0]["reached"]["unknown"].is_string(), "{witnesses}");
    assert_eq!(timing(&again.read("again.jsonl"))[0]["timed_out"], json!(["WitnessFull"]));
}

#[test]
fn mutants_that_were_not_judged_in_time_are_not_judged_in_a_replay() {
    let bench = recorded(&stronger(), &["--strengthen"]);
    let journal = bench.journal("specs");
    let before = of(&journal, "mutants_judged")[0];
    let names: Vec<&Value> =
        before["mutants"].as_array().unwrap().iter().filter(|m| m["outcome"] == "killed").map(|m| &m["name"]).collect();
    let (late, slow) = (names[0], names[1]);
    let recording = with_timing(&bench.read("record.jsonl"), "mutants", |entry| {
        entry["unjudged"] = json!([late]);
        entry["timed_out"] = json!([slow]);
    });
    let again = replayed(&recording, &["--strengthen"]);
    let journal = again.journal("specs");
    let after = of(&journal, "mutants_judged")[0];
    assert_eq!(after["unjudged_count"], 1);
    let mutants = after["mutants"].as_array().unwrap();
    assert_eq!(mutants.len() + 1, before["mutants"].as_array().unwrap().len());
    assert!(mutants.iter().all(|m| m["name"] != *late));
    assert_eq!(mutants.iter().find(|m| m["name"] == *slow).unwrap()["outcome"], "timeout");
    let entries = timing(&again.read("again.jsonl"));
    let entry = entries.iter().find(|e| e["node"] == "mutants").unwrap();
    assert_eq!((&entry["unjudged"], &entry["timed_out"]), (&json!([late]), &json!([slow])));
}

#[test]
fn mutants_that_could_not_be_judged_in_time_at_all_are_not_judged_in_a_replay() {
    let bench = recorded(&stronger(), &["--strengthen"]);
    let recording = with_timing(&bench.read("record.jsonl"), "mutants", |entry| entry["check_timed_out"] = json!(true));
    let again = replayed(&recording, &["--strengthen"]);
    let journal = again.journal("specs");
    let judged = of(&journal, "mutants_judged")[0];
    assert!(judged["skipped_reason"].is_string() && judged["mutants"] == json!([]), "{judged}");
    assert!(routes(&journal).contains(&"mutants->review".to_owned()), "{:?}", routes(&journal));
    let entries = timing(&again.read("again.jsonl"));
    assert_eq!(entries.iter().find(|e| e["node"] == "mutants").unwrap()["check_timed_out"], true);
}
