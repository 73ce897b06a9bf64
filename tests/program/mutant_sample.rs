//! A first sample of the mutants of a specification is judged before its review, which accepts the surviving ones by name. Other
//! mutants are judged before an approval, for the score.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeSet;

use crate::strengthen::stronger;
use crate::support::counter::{CFG, DOC, INVARIANTS, MODULE, WITNESSES, fenced, good, issue, review, sections};
use crate::support::{Bench, Done, Script, name, outcome};
use serde_json::{Value, json};

fn without_java() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    bench
}

/// The answers of a run whose properties notice every mutant.
fn strong() -> Script {
    good().answer("generate_invariants", 0, 1, "draft", &stronger())
}

/// The answers of a run whose review accepts these mutants.
fn accepting(names: &[String], reason: &str) -> Script {
    good().answer("review", 0, 1, "draft", &accepting_review(names, reason)).having_read_all()
}

fn accepting_review(names: &[String], reason: &str) -> String {
    let accepted: Vec<Value> = names.iter().map(|name| json!({"name": name, "reason": reason})).collect();
    json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_survivors": accepted}).to_string()
}

fn only(bench: &Bench, event: &str) -> Value {
    let journal = bench.journal("specs");
    let all: Vec<&Value> = journal.iter().filter(|e| name(e) == event).collect();
    assert_eq!(all.len(), 1, "one {event} a run");
    all[0]["data"].clone()
}

fn sampled(bench: &Bench) -> Value {
    only(bench, "mutants_sampled")
}

/// The names of these mutants.
fn names(mutants: &Value) -> Vec<String> {
    mutants.as_array().unwrap().iter().map(|mutant| mutant["name"].as_str().unwrap().to_owned()).collect()
}

/// The names of the mutants that survive in the first sample of a run.
fn survivors(bench: &Bench) -> Vec<String> {
    let judged = only(bench, "mutants_judged");
    let survived = judged["mutants"].as_array().unwrap().iter().filter(|mutant| mutant["outcome"] == "survived");
    names(&survived.cloned().collect())
}

/// Their places, in the same order.
fn places(bench: &Bench) -> Vec<String> {
    let judged = only(bench, "mutants_judged");
    let survived = judged["mutants"].as_array().unwrap().iter().filter(|mutant| mutant["outcome"] == "survived");
    survived.map(|mutant| mutant["place"].as_str().unwrap().to_owned()).collect()
}

/// The classes of all mutants by `tlaforge mutate`, as a run counts them.
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
fn a_review_accepts_every_surviving_mutant_by_name_or_there_is_no_approval() {
    let bench = without_java();
    let flags = ["--mutants", "1000", "--max-revisions", "0"];
    let done = bench.forge(&good(), &flags).expect(1);
    let survivors = survivors(&bench);
    assert!(survivors.len() > 1, "{survivors:?}");
    let judged = only(&bench, "mutants_judged");
    // All of them are in the sample, so the classes are those of `mutate`.
    assert_eq!(judged["counts"], classes_by_mutate(&bench));
    done.prints(&["Outcome: not approved", "mutants that no property notices", &survivors[0]]);
    let facts = bench.read("specs/workspace/facts.md");
    let places = places(&bench);
    assert!(facts.contains(&format!("- `{}` ({}): no property notices when", survivors[0], places[0])), "{facts}");
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);

    let accept = |names: &[String], reason: &str, status| {
        let bench = without_java();
        let done = bench.forge(&accepting(names, reason), &flags).expect(status);
        (bench, done)
    };
    let (all_but_one, last) = survivors.split_at(survivors.len() - 1);
    accept(all_but_one, "no line", 1).1.prints(&["Outcome: not approved", &last[0]]);
    for reason in ["docs/counter.md:3 leaves it free", "No line says it."] {
        let (bench, done) = accept(&survivors, reason, 0);
        let accepted = format!("({}); accepted by the review: {reason}", places[0]);
        done.prints(&["Outcome: approved", "  nothing notices if `Counter` ", &accepted]);
        bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
        // No other mutants are left, so there is no second sample.
        assert!(bench.journal("specs").iter().all(|event| name(event) != "mutants_sampled"));
        bench.run(&["report", "specs"]).expect(0).prints(&["mutants: ", " noticed; "]);
        // A journal whose review accepts one less is found to be forged.
        let mut forged = bench.events("specs");
        for event in &mut forged {
            if let Some(accepted) = event.pointer_mut("/data/facts/review/accepted_survivors") {
                accepted.as_array_mut().unwrap().pop();
            }
        }
        crate::support::forged::write(&bench, &forged);
        bench.run(&["audit", "forged", "--policy", "default"]).expect(1);
        for event in &mut forged {
            for item in event
                .pointer_mut("/data/facts/review/accepted_survivors")
                .into_iter()
                .flat_map(|v| v.as_array_mut().unwrap())
            {
                item["reason"] = json!("x");
            }
        }
        crate::support::forged::write(&bench, &forged);
        bench.run(&["audit", "forged", "--policy", "default"]).expect(1);
    }
    // A review before version 0.3 knows a mutant by its place and its change.
    let change = |name: &String| name.split_once(": ").unwrap().1.split(" #").next().unwrap().to_owned();
    let earlier: Vec<String> =
        survivors.iter().zip(&places).map(|(name, place)| format!("{place} {}", change(name))).collect();
    accept(&earlier, "no line", 0).1.prints(&["Outcome: approved", "; accepted by the review: no line"]);
    accept(&earlier[1..], "no line", 1).1.prints(&["Outcome: not approved", &survivors[0]]);
    // A reason that names no line, or a line that does not exist, goes back to the reviewer.
    for reason in [
        "it does not matter",
        "docs/counter.md:99 says so",
        "docs/other.md:1",
        "docs/counter.md:1 is a heading",
        "no linearizable order is promised",
    ] {
        let (bench, _) = accept(&survivors, reason, 5);
        let refused = bench.read("specs/workspace/feedback.md");
        assert!(refused.contains("neither cites a line of the documents"), "{refused}");
    }
}

#[test]
fn the_score_is_that_of_mutants_that_nobody_has_seen() {
    let bench = without_java();
    let done = bench.forge(&strong(), &["--mutants", "3"]).expect(0);
    let (first, sample) = (only(&bench, "mutants_judged"), sampled(&bench));
    assert_eq!(
        (first["mutants"].as_array().unwrap().len(), &sample["sampled"], &sample["seen"]),
        (3, &json!(3), &json!(3))
    );
    done.prints(&[
        "; 3 of ",
        " sampled, besides the 3 judged before the review; ",
        "; before the review: 3 of 3 noticed",
    ]);
    // The two samples together are the mutants of `mutate`, each once.
    let mut both = classes_by_mutate(&bench);
    for (class, count) in both.as_object_mut().unwrap() {
        let of = |counts: &Value| counts["counts"][class].as_u64().unwrap();
        *count = json!(count.as_u64().unwrap() - of(&first) - of(&sample));
    }
    assert!(both.as_object().unwrap().values().all(|left| left == 0), "{both}");
    let line = format!("Mutants: {} of ", sample["tally"]["killed"]);
    let example = sample["examples"].as_array().unwrap()[0].clone();
    let values = example["noticed_in"]["values"].as_str().unwrap();
    bench.run(&["report", "specs"]).expect(0).prints(&[
        &line,
        "mutants: ",
        &format!(", then state {} has {values}", example["noticed_in"]["step"]),
    ]);
    let report: Value = serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).stdout).unwrap();
    assert_eq!(report["revisions"][0]["mutant_sample"], sample);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
}

#[test]
fn a_property_that_notices_none_of_many_mutants_is_accepted_by_name() {
    let more = "n := n + 1;\n      a := a + 1;\n      b := b + 2;\n      c := c + 3;\n      d := d + 4;";
    let module = MODULE.replace("n := n + 1;", more).replace("n = 0;", "n = 0, a = 0, b = 0, c = 0, d = 0;");
    let formulas = "TypeOK == n \\in 0..10 /\\ {a, b, c, d} \\subseteq 0..40 /\\ pc \\in {\"Add\", \"Done\"}\n\\* covers R1\nNeverAbove == n <= Max\n\
                    \\* covers R1\nTogether == a = n /\\ b = 2 * n /\\ c = 3 * n /\\ d = 4 * n /\\ (pc = \"Done\" => n = Max)\n";
    let properties = "\\* covers R1\nOnlyUp == [][n' + 5 >= n]_n\n\\* covers R1\nOneByOne == [][n' = n + 1]_n\n";
    let cfg = CFG.replace("\\*", "PROPERTIES OnlyUp OneByOne\n\\*").replace("NeverAbove", "NeverAbove Together");
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&module)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &sections(formulas, properties, WITNESSES, &cfg),
    );
    let bench = without_java();
    let done = bench.forge(&script, &["--mutants", "1000", "--max-revisions", "0"]).expect(1);
    let done = done.prints(&["NOTICED NOTHING OnlyUp"]);
    assert!(!done.stdout.contains("NOTICED NOTHING Together") && !done.stdout.contains("NOTICED NOTHING OneByOne"));
    assert!(bench.read("specs/workspace/facts.md").contains("## Lines `NOTICED NOTHING`"));
    // A small sample says nothing of it.
    without_java().forge(&script, &["--mutants", "5"]).expect(0);
    let accepted = json!([{"name": "NOTICED NOTHING OnlyUp", "reason": "a step back would violate it"}]);
    let review = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_cfg": accepted});
    let script = script.answer("review", 0, 1, "draft", &review.to_string()).having_read_all();
    let bench = without_java();
    bench.forge(&script, &["--mutants", "1000"]).expect(0);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    // A journal whose review does not accept it is found to be forged.
    let mut forged = bench.events("specs");
    for event in &mut forged {
        if let Some(accepted) = event.pointer_mut("/data/facts/review/accepted_cfg") {
            *accepted = json!([]);
        }
    }
    crate::support::forged::write(&bench, &forged);
    bench.run(&["audit", "forged", "--policy", "default"]).expect(1);
}

#[test]
fn a_sample_has_the_size_that_was_asked_for_and_none_is_made_without_an_approval() {
    let none = |script: &Script, flags: &[&str], status| {
        let bench = without_java();
        bench.forge(script, flags).expect(status);
        assert!(bench.journal("specs").iter().all(|event| name(event) != "mutants_sampled"));
    };
    none(&good(), &["--mutants", "off"], 0);
    let revised = strong().answer("review", 0, 1, "draft", &issue("major", "wrong_invariant", "say more"));
    none(&revised, &["--mutants", "3", "--max-revisions", "0"], 1);
}

#[test]
fn forty_mutants_are_the_default_and_a_settings_file_can_change_it() {
    let bench = without_java();
    bench.forge(&strong(), &[]).expect(0);
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

/// The recording has an answer for a round, so its replay makes that round without a flag.
#[test]
fn a_run_strengthens_its_properties_unless_it_judges_no_mutants_or_its_recording_has_no_round() {
    let script = good().answer("generate_invariants", 0, 2, "strengthen", &stronger());
    let bench = without_java();
    let done = bench.forge(&script, &["--mutants", "1000"]).expect(0);
    done.prints(&["before stronger properties", "round 1: kept"]);
    assert_eq!(only(&bench, "run_started")["routing"]["strengthen"], 1);
    for flags in [["--mutants", "off", "--draft", "nodes"], ["--mutants", "1000", "--strengthen", "0"]] {
        let bench = without_java();
        let done = bench.forge(&script, &[&flags[..], &["--max-revisions", "0"]].concat());
        assert!(!done.stdout.contains("round 1"), "{}", done.stdout);
    }
    let bench = without_java();
    bench.forge(&good(), &["--mutants", "1000", "--max-revisions", "0"]).expect(1);
    assert!(only(&bench, "run_started")["routing"]["strengthen"].is_null());
}

#[test]
fn the_report_says_why_no_mutant_was_sampled() {
    let bench = without_java();
    bench.forge(&strong(), &["--record", "record.jsonl", "--mutants", "3"]).expect(0);
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
    bench.forge(&strong(), &["--record", "record.jsonl", "--mutants", "3"]).expect(0);
    let first = sampled(&bench);
    assert_eq!(sampled(&replayed(&bench.read("record.jsonl"))), first);
    let late = |names: Value| with_timing(&bench.read("record.jsonl"), |timing| timing["unjudged"] = names.clone());
    let listed = bench.run(&["mutate", "specs/Spec.tla", "--checker", "embedded", "--format", "json"]).stdout;
    let all = names(&serde_json::from_str::<Value>(&listed).unwrap()["mutants"]);
    let none = sampled(&replayed(&late(json!(all))));
    assert_eq!((&none["sampled"], none["unjudged"].as_array().unwrap().len()), (&json!(0), 3));
    let survivor = none["unjudged"][0].clone();
    // A name that is not in the sample has no effect.
    let recording = late(json!([survivor, "Other"]));
    let again = replayed(&recording);
    let sample = sampled(&again);
    assert_eq!((&sample["sampled"], &sample["unjudged"]), (&json!(2), &json!([survivor])));
    again.run(&["report", "specs"]).expect(0).prints(&["; 1 more drawn, not judged in time"]);
    assert_eq!(sampled(&replayed(&again.read("again.jsonl"))), sample);
}

#[test]
fn killed_around_the_sample_a_run_resumes_to_the_same_sample() {
    let reference = without_java();
    reference.forge(&strong(), &["--mutants", "3"]).expect(0);
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
    bench.forge(&good(), &["--mutants", "1000", "--max-revisions", "0"]).expect(1);
    let script = accepting(&survivors(&bench), "no line");

    let bench = without_java();
    bench.forge(&script, &["--mutants", "1000", "--min-score", "0.1"]).expect(0);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);

    let bench = without_java();
    let done = bench.forge(&script, &["--mutants", "1000", "--min-score", "1"]).expect(1);
    let killed = only(&bench, "mutants_judged")["tally"]["killed"].as_u64().unwrap();
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

/// A branch that begins with the review has the mutants of the revision that it comes from.
#[test]
fn a_branch_at_the_review_still_needs_the_mutants_accepted() {
    let bench = without_java();
    let flags = ["--mutants", "1000", "--max-revisions", "0"];
    bench.forge(&good(), &flags).expect(1);
    let survivors = survivors(&bench);
    let resumed = |review: &str, status| {
        let script = Script::default().answer("review", 0, 1, "repair", review).having_read_all();
        bench.write("review.jsonl", script.text());
        let args = ["resume", "specs", "--from", "rev_0", "--at", "review", "--provider", "replay"];
        bench.run(&[&args[..], &["--recording", "review.jsonl", "--max-revisions", "0"]].concat()).expect(status)
    };
    resumed(&review("approved"), 1).prints(&[
        "Outcome: not approved",
        "mutants that no property notices",
        &survivors[0],
    ]);
    let accepted = resumed(&accepting_review(&survivors, "no line"), 1);
    assert!(!accepted.stdout.contains("mutants that no property notices"), "{}", accepted.stdout);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
}

/// Stronger properties that notice one survivor: what they do to the others is not known if these are not judged again.
#[test]
fn a_survivor_that_is_not_judged_again_stays_one() {
    let bench = without_java();
    bench.forge(&good(), &["--mutants", "1000", "--max-revisions", "0"]).expect(1);
    let (survivors, places) = (survivors(&bench), places(&bench));
    let cfg = CFG.replace("\\*", "PROPERTIES FromZero\n\\*");
    let some = sections(INVARIANTS, "\\* covers R1\nFromZero == n = 0\n", WITNESSES, &cfg);
    let script = good().answer("generate_invariants", 0, 2, "strengthen", &some);
    let late: Vec<&String> = survivors.iter().filter(|name| !name.contains("constant 0 to 1")).collect();
    assert!(late.len() + 1 == survivors.len(), "{survivors:?}");
    let timing =
        |attempt: u32, late: &[&String]| json!({"node": "mutants", "place": 0, "attempt": attempt, "unjudged": late});
    let script = script.timing(json!([timing(1, &[]), timing(2, &late)]));
    let bench = without_java();
    let done =
        bench.forge(&script, &["--mutants", "1000", "--max-revisions", "0"]).expect(1).prints(&["round 1: kept"]);
    for (name, place) in survivors.iter().zip(&places) {
        let is_listed = done.stdout.contains(&format!("({place})"));
        assert_eq!(is_listed, late.contains(&name), "{name}: {}", done.stdout);
    }
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
}

/// If no mutant could be judged, the review accepts that by name.
#[test]
fn an_approval_without_mutants_is_accepted_by_name() {
    let timing = json!([{"node": "mutants", "place": 0, "attempt": 1, "check_timed_out": true}]);
    let flags = ["--mutants", "1000", "--max-revisions", "0"];
    let bench = without_java();
    let done = bench.forge(&good().timing(timing.clone()), &flags).expect(1);
    done.prints(&["Outcome: not approved", "no mutant was judged"]);
    assert!(bench.read("specs/workspace/facts.md").contains("Accept `no mutant was judged`"));
    let accepted = accepting(&["no mutant was judged".to_owned()], "the counter is small enough to read");
    without_java().forge(&accepted.timing(timing), &flags).expect(0);
}
