//! Runs that are answered through files; the test plays the answerer.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::support::counter::{DOC, INFORMAL, MODULE, bench, fenced, good_sections, review};
use crate::support::handoff::Waiting;
use crate::support::{Bench, name, outcome};

const RUN: [&str; 6] = ["run", "docs", "--provider", "handoff", "--out", "specs"];

/// The number and the node in a request's folder name.
fn parts(waiting: &Waiting) -> (u64, String) {
    let name = waiting.folder.file_name().unwrap().to_str().unwrap();
    let (seq, node) = name.split_once('-').unwrap();
    assert_eq!(seq.len(), 4, "{name}");
    (seq.parse().unwrap(), node.to_owned())
}

fn requests(bench: &Bench) -> Vec<(u64, String)> {
    let sent = bench.journal("specs").into_iter().filter(|e| name(e) == "request_sent");
    sent.map(|e| (e["seq"].as_u64().unwrap(), e["data"]["key"]["node"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn a_run_answered_through_files_ends_approved() {
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &[&RUN[..], &["--record", "answers.jsonl"]].concat());
    let answers = [INFORMAL.to_owned(), fenced(MODULE), good_sections(), review("approved")];
    let mut asked = Vec::new();
    for (i, answer) in answers.iter().enumerate() {
        if i > 0 {
            waiting.next();
        }
        asked.push(parts(&waiting));
        let request = std::fs::read_to_string(waiting.folder.join("request.md")).unwrap();
        // Complete for a reader who has nothing else: role, task, files and where the answer goes.
        let goes_to = waiting.folder.join("answer.md");
        for part in ["## Your role", "## The task", "## Files", goes_to.to_str().unwrap()] {
            assert!(request.contains(part), "{part} is not in\n{request}");
        }
        let workspace = bench.path("specs/workspace");
        assert!(request.contains(workspace.to_str().unwrap()));
        for line in request.lines().filter(|l| l.starts_with("- `")) {
            let path = line.split('`').nth(1).unwrap();
            assert!(workspace.join(path).exists(), "{path} is named and not there");
        }
        match i {
            0 => assert!(request.contains("docs/counter.md") && !request.contains("It starts at zero")),
            1 => assert!(request.contains("R1 [docs/counter.md:4]") && request.contains("exemplars/")),
            2 => assert!(request.contains("--algorithm Counter")),
            _ => {
                assert!(request.contains("NeverAbove == n <= Max") && request.contains("INVARIANTS TypeOK NeverAbove"));
                assert!(request.contains("### File `check.md`") && request.contains("### File `facts.md`"));
                std::fs::write(waiting.folder.join("files_read.txt"), "docs/counter.md:1-4\n").unwrap();
            }
        }
        waiting.answer(answer);
    }
    let done = waiting.end().expect(0);
    assert!(done.stderr.contains("waiting for handoff/"));
    assert_eq!(outcome(&bench.journal("specs")), "approved");
    assert_eq!(asked, requests(&bench));
    let nodes: Vec<&str> = asked.iter().map(|(_, node)| node.as_str()).collect();
    assert_eq!(nodes, ["informal_spec", "formalize", "generate_invariants", "review"]);
    // What was read is on record, and the recording replays to the same end without anyone.
    let journal = bench.journal("specs");
    let last = journal.iter().rfind(|e| name(e) == "answer_received").unwrap();
    let reads: Vec<&str> =
        last["data"]["reads"].as_array().unwrap().iter().map(|r| r["path"].as_str().unwrap()).collect();
    assert!(reads.contains(&"Spec.tla") && reads.contains(&"docs/counter.md") && !reads.contains(&"docs/INDEX.md"));
    bench.run(&["run", "docs", "--recording", "answers.jsonl", "--strict-replay", "--out", "again"]).expect(0);
}

#[test]
fn a_slowly_written_answer_is_taken_completely() {
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &RUN);
    let mut file = std::fs::File::create(waiting.folder.join("answer.md")).unwrap();
    // What it takes of an answer that grows is tested without a clock, beside the provider.
    let size = INFORMAL.len() / 4 + 1;
    for piece in INFORMAL.as_bytes().chunks(size) {
        file.write_all(piece).unwrap();
        file.flush().unwrap();
    }
    let written = Instant::now();
    waiting.next();
    assert!(written.elapsed() > Duration::from_secs(1), "it did not wait until the answer was still");
    assert_eq!(parts(&waiting).1, "formalize");
    assert_eq!(bench.read("specs/informal_spec.md"), INFORMAL);
    waiting.kill();
}

#[test]
fn an_oversized_answer_is_rejected_unread_and_can_be_replaced() {
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &RUN);
    let answer = waiting.folder.join("answer.md");
    let file = std::fs::File::create(waiting.folder.join("draft")).unwrap();
    // Sparse: a file that was read whole would still take its size in memory.
    file.set_len(50 << 20).unwrap();
    std::fs::rename(waiting.folder.join("draft"), &answer).unwrap();
    waiting.end().expect(5).says(&["answer.md is longer than 8 MiB", "put a shorter one in its place"]);
    assert_eq!(bench.journal("specs").iter().filter(|e| name(e) == "answer_received").count(), 0);
    assert_eq!(outcome(&bench.journal("specs")), "stopped");
    std::fs::remove_file(answer).unwrap();
    let mut waiting = Waiting::start(&bench, &["resume", "specs"]);
    waiting.answer(INFORMAL);
    waiting.next();
    waiting.kill();
}

#[test]
fn an_empty_answer_is_no_answer_yet() {
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &RUN);
    let first = waiting.folder.clone();
    std::fs::write(first.join("answer.md"), "\n").unwrap();
    let old = std::time::SystemTime::now() - Duration::from_secs(60);
    std::fs::File::options().write(true).open(first.join("answer.md")).unwrap().set_modified(old).unwrap();
    waiting.answer(INFORMAL);
    assert_ne!(waiting.next(), first);
    assert_eq!(bench.journal("specs").iter().filter(|e| name(e) == "answer_received").count(), 1);
    waiting.kill();
}

#[test]
fn a_run_killed_while_waiting_resumes_with_the_same_request() {
    let bench = bench();
    let waiting = Waiting::start(&bench, &RUN);
    let folder = waiting.folder.clone();
    let request = std::fs::read_to_string(folder.join("request.md")).unwrap();
    waiting.kill();
    let again = Waiting::start(&bench, &["resume", "specs"]);
    assert_eq!(again.folder, folder);
    assert_eq!(std::fs::read_to_string(folder.join("request.md")).unwrap(), request);
    assert_eq!(requests(&bench).len(), 1);
    again.kill();
    // Answered while nobody waited: taken up at once, and never asked for again.
    std::fs::write(folder.join("draft"), INFORMAL).unwrap();
    std::fs::rename(folder.join("draft"), folder.join("answer.md")).unwrap();
    let mut third = Waiting::start(&bench, &["resume", "specs"]);
    assert_eq!(parts(&third).1, "formalize");
    assert_eq!(requests(&bench).len(), 2);
    let received = |bench: &Bench| bench.journal("specs").iter().filter(|e| name(e) == "answer_received").count();
    assert_eq!(received(&bench), 1);
    third.signal("INT");
    assert_eq!(third.end().status, Some(130));
    // The documents of today are not those of the run: it goes on with what it was started with.
    bench.write("docs/counter.md", "# Something else\n");
    let fourth = Waiting::start(&bench, &["resume", "specs"]);
    assert_eq!(parts(&fourth).1, "formalize");
    assert_eq!((requests(&bench).len(), received(&bench)), (2, 1));
    fourth.kill();
    assert!(!DOC.contains("Something else"));
}

#[test]
fn an_answer_that_is_not_text_stops_the_run_and_can_be_replaced() {
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &RUN);
    let folder = waiting.folder.clone();
    std::fs::write(folder.join("draft"), [0xff, 0xfe, 0x41]).unwrap();
    std::fs::rename(folder.join("draft"), folder.join("answer.md")).unwrap();
    waiting.end().expect(5).says(&["answer.md is not UTF-8 text", "tlaforge resume"]);
    std::fs::remove_file(folder.join("answer.md")).unwrap();
    let again = Waiting::start(&bench, &["resume", "specs"]);
    assert_eq!(again.folder, folder);
    again.answer(INFORMAL);
    let mut again = again;
    again.next();
    assert_eq!(requests(&bench).len(), 2);
    again.kill();
}

#[test]
fn another_provider_can_take_over_an_open_request() {
    let bench = bench();
    let waiting = Waiting::start(&bench, &RUN);
    waiting.kill();
    bench.write("script.jsonl", crate::support::counter::good().text());
    bench.run(&["resume", "specs", "--recording", "script.jsonl", "--max-revisions", "0"]).expect(1);
    let providers: Vec<String> = bench
        .journal("specs")
        .iter()
        .filter(|e| name(e) == "answer_received")
        .map(|e| e["data"]["provider"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(providers, ["replay"; 4]);
}

#[test]
fn an_answer_that_is_renamed_into_place_counts_at_once() {
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &RUN);
    let draft = waiting.folder.join("draft");
    let begun = std::time::Instant::now();
    std::fs::write(&draft, INFORMAL).unwrap();
    std::fs::rename(&draft, waiting.folder.join("answer.md")).unwrap();
    waiting.next();
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    waiting.kill();
}
