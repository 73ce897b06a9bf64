//! Whole runs from the outside: documents in, verdict and files out.

use crate::support::{Bench, name, project, routes, runs_of};

/// Replays a case with its genuine recording.
fn replay(bench: &Bench, case: &str, status: i32) -> crate::support::Done {
    replay_of(bench, case, "run.jsonl", &[], status)
}

fn replay_of(bench: &Bench, case: &str, recording: &str, more: &[&str], status: i32) -> crate::support::Done {
    let case = project().join("evals").join(case);
    let recording = case.join("recording").join(recording);
    let recording = recording.to_str().unwrap();
    // Without `--strict-replay`: prompts have changed since the answers were recorded.
    let args = ["run", "--case", case.to_str().unwrap(), "--recording", recording, "--out", "specs"];
    bench.run(&[&args[..], more].concat()).expect(status)
}

#[test]
fn the_demo_ends_approved_with_every_file_in_place() {
    let bench = Bench::remembering();
    // As many mutants as without the flag, which `Bench` would turn off.
    let done = bench.run(&["demo", "--mutants", "8"]).expect(0).prints(&[
        "Outcome: approved (confirmed by SANY and TLC)",
        ", within InitBalanceX = ",
        "Requirements: 10 of 10 hold\n",
        "Mutants: ",
        "Open points, with the reading taken:",
        "Next:\n  Full report: tlaforge report demo-specs\n",
    ]);
    assert!(done.stdout.lines().count() <= 24, "one screen: {}", done.stdout);
    for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md", "tlc_output.txt"] {
        assert!(!bench.read(&format!("demo-specs/{file}")).is_empty());
    }
    let last = bench.journal("demo-specs").last().unwrap().clone();
    assert_eq!((name(&last), last["data"]["outcome"].as_str()), ("run_finished", Some("approved")));
    let best = last["data"]["best"].as_u64().unwrap();
    for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md", "tlc_output.txt"] {
        let in_history = bench.read(&format!("demo-specs/history/rev_{best}/{file}"));
        assert_eq!(bench.read(&format!("demo-specs/{file}")), in_history);
    }
    let meta: serde_json::Value =
        serde_json::from_str(&bench.read(&format!("demo-specs/history/rev_{best}/meta.json"))).unwrap();
    assert_eq!(meta["check"]["verdict"], "holds");
    assert!(meta["check"]["bounds"]["constants"].as_object().is_some_and(|c| !c.is_empty()));
    bench.run(&["report", "demo-specs"]).expect(0).prints(&["Outcome: approved", "Revisions:", "Answers by node"]);
    // A second demo takes a fresh folder.
    bench.run(&["demo"]).expect(0);
    assert!(bench.path("demo-specs-2/Spec.tla").exists());
}

#[test]
fn a_flaw_of_the_documented_protocol_is_reported_in_the_documents_words() {
    let bench = Bench::remembering();
    replay(&bench, "cache_aside", 1).prints(&["Outcome: flaw found", "documents: docs/", "The second reader agrees"]);
    let journal = bench.journal("specs");
    let guards: Vec<&serde_json::Value> = journal.iter().filter(|e| name(e) == "guard_evaluated").collect();
    assert!(guards.iter().any(|g| g["data"]["guard"] == "flaw" && g["data"]["holds"] == true));
    assert!(routes(&journal).contains(&"second_reading->flaw_found".to_owned()));
}

#[test]
fn with_repair_a_confirmed_flaw_leads_to_an_approval_as_repaired() {
    let bench = Bench::remembering();
    replay_of(&bench, "cache_aside", "repair.jsonl", &["--repair"], 0).prints(&["approved as repaired"]);
    let journal = bench.journal("specs");
    assert!(routes(&journal).contains(&"second_reading->informal_spec".to_owned()));
    assert_eq!(journal.last().unwrap()["data"]["outcome"], "approved_repaired");
    let meta = |n: u32| -> serde_json::Value {
        serde_json::from_str(&bench.read(&format!("specs/history/rev_{n}/meta.json"))).unwrap()
    };
    assert_eq!(meta(0)["check"]["verdict"], "violated");
    assert_eq!((&meta(1)["check"]["verdict"], &meta(1)["repaired"]), (&"holds".into(), &true.into()));
    assert!(bench.read("specs/informal_spec.md").contains("CHANGED:"));
    let findings = bench.run(&["resume", "specs", "--format", "github"]).expect(0).stdout;
    assert!(!findings.contains("::error"), "{findings}");
}

/// The review finds that an assumption narrows what the documents promise, and it becomes a requirement.
#[test]
fn a_promise_that_was_first_left_out_becomes_a_requirement() {
    let bench = Bench::remembering();
    // A recording from before contracts, which is replayed without them. Its review accepts no property that says what
    // TypeOK says.
    replay_of(&bench, "ring_election", "without_contracts.jsonl", &["--max-revisions", "1"], 1)
        .prints(&["Outcome: not approved", "NOT FALSIFIED WellFormed"]);
    assert!(routes(&bench.journal("specs")).contains(&"review->informal_spec".to_owned()));
    let (before, after) = (bench.read("specs/history/rev_0/informal_spec.md"), bench.read("specs/informal_spec.md"));
    assert!(before.contains("\nA8 [docs/election.md:51-52] (narrowed)") && !before.contains("\nR12 ["), "{before}");
    assert!(after.contains("\nR12 [docs/election.md:51-52]") && !after.contains("\nA8 ["), "{after}");
}

#[test]
fn a_run_with_one_concern_ends_approved_on_a_large_folder_after_a_property_was_repaired_by_an_edit() {
    let bench = Bench::remembering();
    let concern = ["--concern", "the lease grant protocol with fencing tokens"];
    replay_of(&bench, "lockbox", "run.jsonl", &concern, 0).prints(&["Outcome: approved", "Other concerns"]);
    let journal = bench.journal("specs");
    let docs = journal[0]["data"]["docs"].as_array().unwrap();
    let bytes: u64 = docs.iter().map(|d| d["bytes"].as_u64().unwrap()).sum();
    assert!(docs.len() >= 30 && bytes >= 250_000, "{} files, {bytes} bytes", docs.len());
    let read_by = |lifeline: &str| {
        let is_draft = |e: &&serde_json::Value| e["lifeline"] == lifeline && e["data"]["purpose"] == "draft";
        let answer = journal.iter().filter(|e| name(e) == "answer_received").find(is_draft).unwrap();
        let reads = answer["data"]["reads"].as_array().unwrap();
        reads.iter().filter(|r| r["path"].as_str().unwrap().starts_with("docs/")).count()
    };
    assert!(routes(&journal).contains(&"review->generate_invariants".to_owned()));
    assert!(journal.iter().any(|event| event.to_string().contains("edits, applied to the previous version")));
    // Both looked words up in all files and read a few.
    assert!(read_by("informal_spec") >= 3, "{}", read_by("informal_spec"));
    assert!(read_by("review") >= 1, "{}", read_by("review"));
}

#[test]
fn a_finished_run_is_not_overwritten_and_resume_repeats_its_outcome() {
    let bench = Bench::remembering();
    let first = replay_of(&bench, "rw_lock", "run.jsonl", &["--workers", "1"], 0);
    replay(&bench, "rw_lock", 2).says(&["contains a finished run (approved)", "hint:", "--out"]);
    let again = bench.run(&["resume", "specs"]).expect(0);
    assert_eq!(first.stdout.lines().next(), again.stdout.lines().next());
}

#[test]
fn events_are_printed_one_a_line_as_json() {
    let bench = Bench::remembering();
    let done = replay_of(&bench, "rw_lock", "run.jsonl", &["--format", "json"], 0);
    let printed: Vec<serde_json::Value> =
        done.stdout.lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect();
    let mut journal = bench.journal("specs");
    for event in &mut journal {
        // The checksum belongs to the line of the file.
        event.as_object_mut().unwrap().remove("sum");
    }
    assert_eq!(printed, journal);
}

#[test]
fn two_replays_of_a_recording_write_the_same_files() {
    let (a, b) = (Bench::remembering(), Bench::remembering());
    for bench in [&a, &b] {
        replay(bench, "rw_lock", 0);
    }
    for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md", "tlc_output.txt"] {
        let [one, other] = [&a, &b].map(|bench| bench.read(&format!("specs/{file}")));
        // On a slow machine a check is made in several runs instead of one.
        if file != "tlc_output.txt" || runs_of(&one) == runs_of(&other) {
            assert_eq!(one, other, "{file}");
        }
    }
}

#[test]
fn a_recording_of_a_replay_equals_the_recording() {
    let bench = Bench::remembering();
    let recording = project().join("evals/rw_lock/recording/run.jsonl");
    replay_of(&bench, "rw_lock", "run.jsonl", &["--record", "again.jsonl"], 0);
    let answers = |text: &str| -> Vec<(String, String)> {
        text.lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap())
            .map(|v| (v["node"].to_string(), v["answer"].to_string()))
            .collect()
    };
    assert_eq!(answers(&bench.read("again.jsonl")), answers(&std::fs::read_to_string(recording).unwrap()));
}
