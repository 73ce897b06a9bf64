//! Runs that are answered through files; the test plays the answerer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crate::support::counter::{DOC, INFORMAL, MODULE, bench, fenced, good_sections, review};
use crate::support::handoff::Waiting;
use crate::support::waiting::wait_until;
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
    assert!(done.stderr.contains("waiting for specs/handoff/"));
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
fn an_answer_that_is_not_renamed_counts_once_it_has_not_changed_for_two_seconds() {
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &RUN);
    let answer = waiting.folder.join("answer.md");
    // How it waits while an answer grows is tested with another clock, beside the provider.
    std::fs::write(&answer, INFORMAL).unwrap();
    set_written(&answer, SystemTime::now() - Duration::from_secs(2));
    waiting.next();
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
    waiting.end().expect(5).says(&["answer.md is longer than 8 MiB", "replace it by a shorter one"]);
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
    set_written(&first.join("answer.md"), SystemTime::now() - Duration::from_secs(60));
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
fn an_interrupted_run_writes_its_page_and_explores_nothing_for_it() {
    let bench = bench();
    let revise = crate::support::counter::issue("major", "extra_behavior", "It must stop.");
    let script = crate::support::counter::good().answer("review", 0, 1, "draft", &revise).having_read_all();
    // The recording ends with the first revision.
    bench.forge(&script, &[]);
    bench.run(&["report", "specs", "--html", "page.html"]).expect(0);
    let is_without = |page: &str| page.contains("not shown: it was interrupted before");
    assert!(!is_without(&bench.read("page.html")));
    let mut waiting = Waiting::start(&bench, &["resume", "specs", "--provider", "handoff", "--html", "page.html"]);
    waiting.signal("INT");
    waiting.end().expect(130).says(&["the page is page.html"]);
    let page = bench.read("page.html");
    assert!(is_without(&page), "{page}");
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
    let answer = waiting.folder.join("answer.md");
    let is_taken = Arc::new(AtomicBool::new(false));
    // While the program waits, the answer never gets two seconds old, so only the rename can complete it.
    waiting.answer(INFORMAL);
    let (path, stop) = (answer, is_taken.clone());
    let keeps_it_new = std::thread::spawn(move || {
        wait_until("the answer is taken", || {
            set_written(&path, SystemTime::now());
            stop.load(Ordering::SeqCst)
        });
    });
    waiting.next();
    is_taken.store(true, Ordering::SeqCst);
    keeps_it_new.join().unwrap();
    waiting.kill();
}

/// Sets the time at which a file was last written.
fn set_written(path: &Path, at: SystemTime) {
    // Both times: to Linux, a new time of the last write alone is a write.
    let times = std::fs::FileTimes::new().set_accessed(at).set_modified(at);
    std::fs::File::open(path).unwrap().set_times(times).unwrap();
}
