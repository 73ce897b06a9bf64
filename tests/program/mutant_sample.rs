//! Before an approval, a sample of the mutants of the specification is judged and reported. The outcome does not depend
//! on it.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeSet;

use crate::support::counter::{CFG, DOC, INVARIANTS, WITNESSES, good, issue, sections};
use crate::support::{Bench, Done, Script, name, outcome};
use serde_json::{Value, json};

fn without_java() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    bench
}

fn sampled(bench: &Bench) -> Value {
    let journal = bench.journal("specs");
    let all: Vec<&Value> = journal.iter().filter(|e| name(e) == "mutants_sampled").collect();
    assert_eq!(all.len(), 1, "one sample a run");
    all[0]["data"].clone()
}

/// The classes of all mutants by `tlaforge mutate`, as the sample counts them.
fn classes_by_mutate(bench: &Bench) -> Value {
    let out = bench.run(&[
        "mutate",
        "specs/Spec.tla",
        "--config",
        "specs/Spec.cfg",
        "--checker",
        "embedded",
        "--format",
        "json",
    ]);
    let judged: Value = serde_json::from_str(&out.expect(0).stdout).unwrap();
    let mut counts = json!({"killed": 0, "survived": 0, "restricting": 0, "fairness_only": 0, "equivalent": 0, "invalid": 0, "inconclusive": 0, "timed_out": 0});
    for mutant in judged["mutants"].as_array().unwrap() {
        let class = mutant["outcome"].as_str().unwrap().replace("timeout", "timed_out");
        counts[&class] = json!(counts[&class].as_u64().unwrap() + 1);
    }
    counts
}

#[test]
fn an_approved_run_reports_how_many_mutants_its_properties_notice() {
    let bench = without_java();
    let done = bench.forge(&good(), &["--mutants", "1000"]).expect(0);
    let sample = sampled(&bench);
    // All of them are in the sample, so the classes are those of `mutate`.
    assert_eq!(sample["counts"], classes_by_mutate(&bench));
    let (killed, survived) = (&sample["tally"]["killed"], &sample["tally"]["survived"]);
    let all = killed.as_u64().unwrap() + survived.as_u64().unwrap();
    let made = &sample["generated"];
    assert!(survived.as_u64().unwrap() > 0 && sample["sampled"] == *made, "{sample}");
    let line = format!("Mutants: {killed} of {all} noticed; {made} of {made} sampled");
    let survivor = sample["surviving"][0]["name"].as_str().unwrap();
    let example = sample["examples"].as_array().unwrap().iter().find(|e| e["property"] == "NeverAbove").unwrap();
    let values = example["noticed_in"]["values"].as_str().unwrap();
    assert!(values.contains("n = 3"), "Max is 2: {example}");
    done.prints(&["Outcome: approved", &line, "  not noticed:", survivor, "    NeverAbove: if `Add` "])
        .prints(&[&format!(", then state {} has {values}", example["noticed_in"]["step"])]);
    bench.run(&["report", "specs"]).expect(0).prints(&[&line, "mutants: "]);
    let report: Value = serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).stdout).unwrap();
    assert_eq!(report["revisions"][0]["mutant_sample"], sample);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
}

#[test]
fn a_sample_has_the_size_that_was_asked_for_and_none_is_made_without_an_approval() {
    let bench = without_java();
    bench.forge(&good(), &["--mutants", "3"]).expect(0).prints(&["; 3 of "]);
    assert_eq!(sampled(&bench)["sampled"], 3);
    let none = |script: &Script, flags: &[&str], status| {
        let bench = without_java();
        bench.forge(script, flags).expect(status);
        assert!(bench.journal("specs").iter().all(|event| name(event) != "mutants_sampled"));
    };
    none(&good(), &["--mutants", "off"], 0);
    let revised = good().answer("review", 0, 1, "draft", &issue("major", "wrong_invariant", "say more"));
    none(&revised, &["--mutants", "40", "--max-revisions", "0"], 1);
    // It has judged mutants already.
    let properties = "\\* covers R1\nFromZero == n = 0\n\\* covers R1\nOneByOne == [][n' = n + 1]_n\n";
    let invariants = format!("{INVARIANTS}\\* covers R1\nFullAtTheEnd == pc = \"Done\" => n = Max\n");
    let cfg = CFG.replace("\\*", "PROPERTIES FromZero OneByOne\n\\*").replace("NeverAbove", "NeverAbove FullAtTheEnd");
    let strong =
        good().answer("generate_invariants", 0, 1, "draft", &sections(&invariants, properties, WITNESSES, &cfg));
    none(&strong, &["--mutants", "40", "--strengthen"], 0);
}

#[test]
fn forty_mutants_are_the_default_and_a_settings_file_can_change_it() {
    let bench = without_java();
    bench.forge(&good(), &[]).expect(0);
    let again = |out: &str| {
        let args = ["run", "docs", "--recording", "script.jsonl", "--out", out];
        // Not by `Bench::run`, which turns the sample off.
        let mut command = bench.command(&[]);
        Done::of(&command.args(args).output().unwrap()).expect(0)
    };
    let made = again("by_default");
    let line = made
        .stdout
        .lines()
        .find(|line| line.starts_with("Mutants: "))
        .unwrap_or_else(|| panic!("{}", made.stdout))
        .to_owned();
    let number = |line: &str| line.split("; ").nth(1).unwrap().split(' ').next().unwrap().parse::<u32>().unwrap();
    assert!((4..=40).contains(&number(&line)), "{line}");
    bench.write("tlaforge.toml", "mutants = 2\n");
    again("by_file").prints(&["; 2 of "]);
    bench.write("tlaforge.toml", "mutants = 0\n");
    assert!(!again("none").stdout.contains("Mutants: "));
    bench.run(&["run", "docs", "--mutants", "many"]).expect(2).says(&["must be a number of mutants, or off"]);
}

#[test]
fn the_report_says_why_no_mutant_was_sampled() {
    let bench = without_java();
    bench.forge(&good(), &["--record", "record.jsonl", "--mutants", "3"]).expect(0);
    let recording = with_timing(&bench.read("record.jsonl"), |timing| timing["check_timed_out"] = json!(true));
    let again = replayed(&recording);
    let sample = sampled(&again);
    assert!(sample["skipped_reason"].is_string() && sample["sampled"] == 0, "{sample}");
    again
        .run(&["report", "specs"])
        .expect(0)
        .prints(&["Mutants: not sampled: the specification was not decided in time"]);
}

/// The recording with another decision of the clock about the sample.
fn with_timing(recording: &str, change: impl Fn(&mut Value)) -> String {
    let mut changed = 0;
    let mut lines = String::new();
    for line in recording.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let timing = line.get_mut("timing").and_then(Value::as_array_mut);
        for entry in timing.into_iter().flatten().filter(|entry| entry["node"] == "review") {
            change(entry);
            changed += 1;
        }
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    assert_eq!(changed, 1, "{recording}");
    lines
}

fn replayed(recording: &str) -> Bench {
    let bench = without_java();
    bench.write("record.jsonl", recording);
    let args = ["run", "docs", "--recording", "record.jsonl", "--record", "again.jsonl", "--mutants", "3"];
    bench.run(&[&args[..], &["--out", "specs"]].concat()).expect(0);
    bench
}

#[test]
fn a_replay_leaves_out_the_mutants_that_came_too_late_in_the_recording() {
    let bench = without_java();
    bench.forge(&good(), &["--record", "record.jsonl", "--mutants", "3"]).expect(0);
    let first = sampled(&bench);
    assert_eq!(sampled(&replayed(&bench.read("record.jsonl"))), first);
    // A name that is not in the sample has no effect.
    let survivor = first["surviving"][0]["name"].clone();
    let recording = with_timing(&bench.read("record.jsonl"), |timing| timing["unjudged"] = json!([survivor, "Other"]));
    let again = replayed(&recording);
    let sample = sampled(&again);
    assert_eq!((&sample["sampled"], &sample["unjudged"]), (&json!(2), &json!([survivor])));
    again.run(&["report", "specs"]).expect(0).prints(&["; 1 more drawn, not judged in time"]);
    assert_eq!(sampled(&replayed(&again.read("again.jsonl"))), sample);
}

#[test]
fn killed_around_the_sample_a_run_resumes_to_the_same_sample() {
    let reference = without_java();
    reference.forge(&good(), &["--mutants", "3"]).expect(0);
    let journal = reference.journal("specs");
    let at = journal.iter().position(|e| name(e) == "mutants_sampled").unwrap() + 1;
    let names: Vec<&str> = journal[at - 1..].iter().map(name).collect();
    assert_eq!(names[..2], ["mutants_sampled", "attempt_finished"]);
    assert_eq!(names.last(), Some(&"run_finished"));
    for point in [format!("before:{at}"), format!("torn:{at}"), format!("after:{at}"), format!("before:{}", at + 1)] {
        let bench = without_java();
        bench.write("script.jsonl", reference.read("script.jsonl"));
        let args = ["run", "docs", "--recording", "script.jsonl", "--out", "specs", "--mutants", "3"];
        let done = bench.run_with(&args, &[("TLAFORGE_CRASH", &point)]);
        assert_eq!(done.status, None, "{point} is no crash: {}", done.stderr);
        bench.run(&["resume", "specs"]).expect(0).prints(&["; 3 of "]);
        assert_eq!(sampled(&bench), sampled(&reference), "{point}");
        assert_eq!(outcome(&bench.journal("specs")), "approved");
        let closed = |bench: &Bench| -> BTreeSet<String> {
            let journal = bench.journal("specs");
            let closed = journal.iter().filter(|event| name(event) == "revision_closed");
            closed.map(|event| event["data"]["mutant_sample"].to_string()).collect()
        };
        assert_eq!(closed(&bench), closed(&reference), "{point}");
    }
}

#[test]
fn an_approval_can_need_a_mutation_score() {
    let bench = without_java();
    bench.forge(&good(), &["--mutants", "1000", "--min-score", "0.1"]).expect(0);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);

    let bench = without_java();
    let done = bench.forge(&good(), &["--mutants", "1000", "--min-score", "1"]).expect(1);
    let sample = sampled(&bench);
    let killed = sample["tally"]["killed"].as_u64().unwrap();
    done.prints(&["Outcome: not approved", &format!("the properties notice only {killed} of "), "requires 100 %"]);
    let journal = bench.journal("specs");
    let routed = journal.iter().rfind(|e| name(e) == "routed").unwrap();
    assert_eq!((&routed["data"]["row"], outcome(&journal)), (&json!("policy_violated"), "not_approved"));
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    // A journal that approves in spite of it, or without a sample, is found to be forged.
    let mut forged = bench.events("specs");
    for event in &mut forged {
        if name(event) == "run_started" {
            event["data"]["routing"]["min_score"] = json!(100);
        }
    }
    crate::support::forged::write(&bench, &forged);
    bench.run(&["audit", "forged", "--policy", "default"]).expect(1);

    for (value, said) in [("2", "must be from 0 to 1"), ("x", "must be from 0 to 1")] {
        bench.run(&["run", "docs", "--min-score", value]).expect(2).says(&[said]);
    }
    bench.write("tlaforge.toml", "min_score = 7\n");
    bench.run(&["run", "docs", "--recording", "script.jsonl", "--out", "x"]).expect(2).says(&["min_score is 7"]);
    bench.write("tlaforge.toml", "min_score = 0.5\nmutants = 0\n");
    let out = ["run", "docs", "--recording", "script.jsonl", "--out", "x", "--mutants", "off"];
    bench.run(&out).expect(2).says(&["--min-score asks for mutants"]);
}
