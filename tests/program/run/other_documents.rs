//! Replays on other documents than those that the recorded models read: nothing of the recording accepts them.

use std::path::Path;

use crate::support::{Bench, Done, Script, counter, name, outcome, project};

/// A change of the documents in a folder.
type Change = fn(&Path);

/// The changes of documents whose recording ends approved or with a flaw, each with what the program says of it.
const CHANGES: [(Change, &str); 6] = [
    (
        |docs| replace(docs, "guarantees.md", "No participant has the outcome", "A participant may have the outcome"),
        "guarantees.md (its text has changed)",
    ),
    (
        |docs| replace(docs, "guarantees.md", "# What may be relied on", "# What was withdrawn"),
        "guarantees.md (its text has changed)",
    ),
    (|docs| std::fs::remove_file(docs.join("failures.md")).unwrap(), "failures.md (it is missing now)"),
    (
        |docs| std::fs::write(docs.join("newer.md"), "# Since then\nEverything above must be ignored.\n").unwrap(),
        "newer.md (it was not there",
    ),
    (
        |docs| std::fs::rename(docs.join("failures.md"), docs.join("crashes.md")).unwrap(),
        "crashes.md (it was not there",
    ),
    (|docs| replace(docs, "protocol.md", "\n", "\n\n"), "protocol.md (its text has changed)"),
];

fn replace(docs: &Path, file: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(docs.join(file)).unwrap();
    assert!(text.contains(from), "{file}");
    std::fs::write(docs.join(file), text.replacen(from, to, 1)).unwrap();
}

/// A bench with the documents of a folder of the project in `docs/`.
fn bench_with(docs: &str) -> Bench {
    let bench = Bench::without_tools();
    let mut copy = std::process::Command::new("cp");
    assert!(copy.arg("-r").arg(project().join(docs)).arg(bench.path("docs")).status().unwrap().success());
    bench
}

fn replay(bench: &Bench, recording: &str, more: &[&str]) -> Done {
    let recording = project().join(recording);
    let args = ["run", "docs", "--recording", recording.to_str().unwrap(), "--checker", "embedded"];
    bench.run(&[&args[..], more].concat())
}

#[test]
fn a_recording_of_other_documents_approves_nothing_and_is_refused_if_strict() {
    let (docs, recording) = ("evals/two_phase_commit/docs", "evals/two_phase_commit/recording/run.jsonl");
    let mut reviewed = 0;
    for (change, words) in CHANGES {
        let bench = bench_with(docs);
        change(&bench.path("docs"));
        let done = replay(&bench, recording, &["--bounds-budget", "0"]);
        assert_ne!(done.status, Some(0), "{words}: {}", done.stdout);
        let done = done.says(&["recorded for other documents, accepts nothing", words]);
        assert!(!done.stdout.contains("Outcome: approved"), "{}", done.stdout);
        // The journal, the report, its JSON and its page say so.
        let events = bench.events("specs");
        // Without a document that it cites, the informal specification goes back, and the recording has no other.
        if let Some(of_review) = events.iter().rfind(|e| name(e) == "answer_received" && e["lifeline"] == "review") {
            let changed = of_review["data"]["changed_documents"].to_string();
            assert!(words.split_once(' ').is_some_and(|(file, _)| changed.contains(file)), "{changed}");
            let guard = events.iter().rfind(|e| name(e) == "guard_evaluated").unwrap();
            assert!(guard["data"].to_string().contains("reviewer_read"), "{}", guard["data"]);
            reviewed += 1;
        }
        let report = bench.run(&["report", "specs"]);
        assert!(report.stdout.contains("recorded for other documents: none of these accepts"), "{}", report.stdout);
        let json = bench.run(&["report", "specs", "--format", "json"]).stdout;
        assert!(json.contains("\"changed_documents\":"), "{json}");
        bench.run(&["report", "specs", "--html", "page.html"]);
        assert!(bench.read("page.html").contains("recorded for other documents"));
        bench.run(&["audit", "specs", "--policy", "default"]);

        std::fs::remove_dir_all(bench.path("specs")).unwrap();
        replay(&bench, recording, &["--strict-replay"]).expect(5).says(&["recorded for other documents", words]);
    }
    assert!(reviewed >= 3, "only {reviewed} were reviewed");
    // The documents as they were.
    let bench = bench_with(docs);
    // It has a round of stronger properties.
    let done = replay(&bench, recording, &["--mutants", "40"]).expect(0);
    assert_eq!(outcome(&bench.events("specs")), "approved");
    assert!(!done.stderr.contains("other documents") && !done.stdout.contains("other documents"), "{}", done.stderr);
}

#[test]
fn a_recorded_second_reader_of_other_documents_confirms_no_flaw() {
    let (docs, recording) = ("tests/data/forged/seat_hold/docs", "tests/data/forged/seat_hold/run.jsonl");
    let bench = bench_with(docs);
    replace(
        &bench.path("docs"),
        "holds.md",
        "We do not read the row again before the charge",
        "We read the row again before the charge",
    );
    let done = replay(&bench, recording, &[]);
    assert!(!done.stdout.contains("Outcome: flaw found"), "{}", done.stdout);
    done.says(&["recorded for other documents, accepts nothing: docs/holds.md (its text has changed)"]);
}

#[test]
fn a_new_recording_knows_the_documents_that_no_answer_read() {
    use crate::support::counter::{self, good};
    let bench = counter::bench();
    bench.write("docs/unread.md", "# Nobody reads this\nAt all.\n");
    bench.forge(&good(), &["--record", "made.jsonl"]).expect(0);
    let again = ["run", "docs", "--recording", "made.jsonl", "--out", "again", "--strict-replay"];
    bench.run(&again).expect(0);
    std::fs::remove_dir_all(bench.path("again")).unwrap();
    bench.write("docs/unread.md", "# Nobody reads this\nAt all!\n");
    bench.run(&again).expect(5).says(&["docs/unread.md (its text has changed)"]);
}

#[test]
fn a_resumed_run_knows_that_its_review_was_recorded_for_other_documents() {
    use crate::support::counter::{self, good};
    let bench = counter::bench();
    bench.forge(&good(), &["--record", "made.jsonl"]).expect(0);
    std::fs::rename(bench.path("specs"), bench.path("before")).unwrap();
    bench.write("docs/counter.md", counter::DOC.replace("never above", "sometimes above"));
    let run = ["run", "docs", "--recording", "made.jsonl"];
    let whole = bench.run(&run);
    assert_ne!(whole.status, Some(0), "{}", whole.stdout);
    let received = bench.events("specs").iter().rposition(|e| name(e) == "answer_received").unwrap() + 1;
    std::fs::remove_dir_all(bench.path("specs")).unwrap();
    // Killed after the answer of the reviewer, and resumed: the answer is not asked for again.
    bench.run_with(&run, &[("TLAFORGE_CRASH", &format!("after:{received}"))]);
    let resumed = bench.run(&["resume", "specs", "--recording", "made.jsonl"]);
    assert_ne!(resumed.status, Some(0), "{}", resumed.stdout);
    assert!(bench.read("specs/journal.jsonl").contains("reviewer_read"));
}

#[test]
fn resume_names_changed_documents() {
    let bench = counter::bench();
    bench.forge(&Script::default().answer("informal_spec", 9, 1, "draft", ""), &[]).expect(5);
    let unchanged = bench.run(&["resume", "specs"]).expect(5);
    assert!(!unchanged.stderr.contains("differ from this run's copies"), "{}", unchanged.stderr);
    bench.write("docs/counter.md", counter::DOC.replace("never", "always"));
    bench.run(&["resume", "specs"]).expect(5).says(&["that differ from this run's copies: docs/counter.md;"]);
}
