//! Genuine runs on documents that are no evaluation cases: a question with both answers, several flaws at once, and names
//! that the documents fix. A language model answered each request, and saw nothing else.

use crate::support::{Bench, Done, name, outcome, project};
use serde_json::Value;

/// Replays a run of `tests/data/forged` with the embedded checker. Prompts have changed since it was recorded.
fn replayed(bench: &Bench, of: &str, status: i32) -> Done {
    let folder = project().join("tests/data/forged").join(of);
    let (docs, recording) = (folder.join("docs"), folder.join("run.jsonl"));
    let args = ["run", docs.to_str().unwrap(), "--recording", recording.to_str().unwrap()];
    // Their reviews are older than the question what bounds that were not decided mean.
    bench.run(&[&args[..], &["--checker", "embedded", "--bounds-budget", "off"]].concat()).expect(status)
}

fn revisions(bench: &Bench) -> Vec<Value> {
    let report = bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout;
    serde_json::from_str::<Value>(&report).unwrap()["revisions"].as_array().unwrap().clone()
}

#[test]
fn two_requirements_break_at_once_and_the_module_has_the_name_that_the_documents_fix() {
    let bench = Bench::without_tools();
    replayed(&bench, "seat_hold", 1).prints(&[
        "Outcome: flaw found",
        "BROKEN by AtMostOneTicket\n        AtMostOneTicket: a flaw of the protocol, as a second reader confirms\n",
        "BROKEN by ChargeOnlyUnderOwnHold\n        ChargeOnlyUnderOwnHold: a flaw of the protocol, as a second reader confirms: ",
    ]);
    let violations = &revisions(&bench)[0]["violations"];
    assert!(violations.as_array().unwrap().iter().all(|violation| violation["judgement"] == "flaw"), "{violations}");
    let module = bench.read("specs/SeatHolds.tla");
    assert!(module.contains("MODULE SeatHolds") && bench.path("specs/SeatHolds.cfg").exists());
    for name in ["Look", "Hold", "Charge", "Confirm", "Sweep", "row", "who", "charged", "tickets"] {
        assert!(module.split(|c: char| !c.is_alphanumeric()).any(|word| word == name), "{name}");
    }
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
}

#[test]
fn a_recording_whose_path_has_as_many_characters_as_a_digest_is_no_artifact() {
    // The path of a recording is in the journal, and 64 characters long in some folders.
    let bench = Bench::without_tools();
    let folder = project().join("tests/data/forged/seat_hold");
    let (length, ending) = (64, ".jsonl");
    let begin = format!("{}/", bench.path("").display().to_string().trim_end_matches('/'));
    // In a temporary folder with a long path, the path relative to it has this length.
    let begin = if begin.len() + ending.len() < length { begin } else { String::new() };
    let shown = format!("{begin}{}{ending}", "r".repeat(length - begin.len() - ending.len()));
    assert_eq!(shown.len(), length, "{shown}");
    std::fs::copy(folder.join("run.jsonl"), bench.path("").join(&shown)).unwrap();
    let docs = folder.join("docs");
    let run = ["run", docs.to_str().unwrap(), "--recording", &shown, "--checker", "embedded"];
    bench.run(&run).expect(1);
    assert!(bench.read("specs/journal.jsonl").contains(&shown), "the journal does not name it");
    let done = bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    assert_eq!(done.stderr, "");
}

#[test]
fn an_ambiguity_ends_with_one_question_and_both_answers_and_an_answer_leads_to_the_next() {
    let bench = Bench::without_tools();
    replayed(&bench, "webhook_dedupe", 1).prints(&[
        "Outcome: ambiguity found",
        "Question O1 [docs/webhooks.md:17-18, docs/webhooks.md:22-23]: Are applying the event and putting the identifier into",
        "  a. two steps, and a crash can come between them.\n      R1 BROKEN by NeverAppliedTwice, in 13 states (rev_0)\n",
        "  b. one step.\n      R1 holds, checked by NeverAppliedTwice (rev_1)\n",
    ]);
    // Both broken requirements of the first revision were claimed, and each claim was read on its own.
    let violations = &revisions(&bench)[0]["violations"];
    let judged = violations
        .as_array()
        .unwrap()
        .iter()
        .map(|v| (v["property"].as_str().unwrap(), v["judgement"].as_str().unwrap()));
    assert_eq!(judged.collect::<Vec<_>>(), [("NeverAppliedTwice", "ambiguity"), ("AckedOnlyIfApplied", "ambiguity")]);
    let answers = project().join("tests/data/forged/webhook_dedupe/answer.jsonl");
    let recording = answers.to_str().unwrap();
    // The review of the answered revision finds that it promises more than the documents, and the next one leads to another
    // question. The recording has the answers of this branch alone, numbered from its first revision.
    bench.run(&["resume", "specs", "--answer", "O1=b", "--recording", recording]).expect(1).prints(&[
        "Outcome: ambiguity found",
        "Question O9 [docs/webhooks.md:7-8, docs/webhooks.md:10-11, docs/webhooks.md:13]: May or must the sender",
        "      R3 BROKEN by EventuallyAcked, in 11 states (rev_3)\n",
        "      R3 holds, checked by EventuallyAcked (rev_4)\n",
        "Decided by the owner of the protocol:",
        "one step.",
    ]);
    assert_eq!(outcome(&bench.journal("specs")), "ambiguity_found");
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    assert!(bench.journal("specs").iter().any(|event| name(event) == "branch_started"));
}
