//! Run folders that are in use, damaged, altered or on a full disk: a clear message, and nothing is lost.

use std::process::{Command, Stdio};

use crate::support::counter::{INFORMAL, bench, good, issue};
use crate::support::folder::{RUN, ready, snapshot};
use crate::support::handoff::Waiting;
use crate::support::{Bench, Done, name, routes};

#[test]
fn a_folder_with_an_unfinished_run_is_unchanged_and_the_error_says_resume() {
    let bench = ready();
    let waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
    waiting.kill();
    let before = snapshot(&bench.path("specs"));
    bench.run(&RUN).expect(2).says(&["specs contains an unfinished run", "tlaforge resume specs", "--out DIR"]);
    assert_eq!(snapshot(&bench.path("specs")), before);
}

#[test]
fn a_folder_without_a_run_cannot_be_resumed_or_reported() {
    let bench = ready();
    std::fs::create_dir(bench.path("empty")).unwrap();
    for folder in ["nowhere", "empty"] {
        bench.run(&["resume", folder]).expect(2).says(&["holds no run", "tlaforge run DOCS"]);
        bench.run(&["report", folder]).expect(2).says(&[folder]);
    }
    assert!(!bench.path("nowhere").exists());
    assert_eq!(std::fs::read_dir(bench.path("empty")).unwrap().count(), 0);
}

#[test]
fn a_second_process_in_a_run_folder_fails_with_the_first_ones_pid() {
    let bench = ready();
    let waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
    let pid = format!("process {}", waiting.pid());
    let before = snapshot(&bench.path("specs"));
    bench.run(&["resume", "specs"]).expect(2).says(&["in use by", &pid]);
    bench.run(&RUN).expect(2).says(&["in use by", &pid]);
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "review"]).expect(2).says(&["in use by", &pid]);
    assert_eq!(snapshot(&bench.path("specs")), before);
    // Looking is allowed.
    bench.run(&["report", "specs"]).expect(0).prints(&["not finished: at informal_spec"]);
    waiting.kill();
}

#[test]
fn a_lock_or_journal_removed_during_a_run_is_detected_before_the_next_write() {
    for (file, change) in [("run.lock", "removed"), ("journal.jsonl", "removed"), ("journal.jsonl", "replaced")] {
        let bench = ready();
        let mut waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
        let path = bench.path("specs").join(file);
        let before = bench.read("specs/journal.jsonl");
        std::fs::rename(&path, bench.path("kept")).unwrap();
        if change == "replaced" {
            std::fs::write(&path, &before).unwrap();
        }
        waiting.answer(INFORMAL);
        waiting.end().expect(2).says(&[file, &format!("was {change} while"), "then resume"]);
        let after = if path.exists() && file != "run.lock" { &path } else { &bench.path("kept") };
        assert!(file == "run.lock" || std::fs::read_to_string(after).unwrap() == before, "{file} {change}");
    }
}

#[test]
fn the_error_for_an_unknown_revision_or_node_lists_the_existing_ones() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let before = snapshot(&bench.path("specs"));
    let resume = |args: &[&str]| bench.run(&[&["resume", "specs"], args].concat()).expect(2);
    resume(&["--from", "rev_7"]).says(&["there is no revision \"rev_7\"", "its revisions are rev_0"]);
    resume(&["--from", "first", "--at", "review"]).says(&["there is no revision \"first\""]);
    resume(&["--from", "rev_0", "--at", "reviewing"]).says(&["there is no node \"reviewing\"", "formalize, validate"]);
    resume(&["--from", "rev_0"]).says(&["ended the run (approved)", "--at"]);
    resume(&["--at", "review"]).says(&["--from"]);
    assert_eq!(snapshot(&bench.path("specs")), before);
}

#[test]
fn one_flipped_bit_of_a_journal_is_detected_by_report_audit_and_resume() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let whole = bench.read("specs/journal.jsonl").into_bytes();
    // Each command starts a process, so these are some bits of the whole file, the first and the last among them.
    for at in (0..whole.len()).step_by(whole.len() / 12).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(bench.path("specs/journal.jsonl"), &damaged).unwrap();
        for args in [
            &["report", "specs"][..],
            &["resume", "specs"],
            &["audit", "specs", "--policy", "default"],
            &["audit", "specs/journal.jsonl", "--shape", "journal", "--formula", "G rev >= 0"],
        ] {
            bench.run(args).expect(2).says(&["journal.jsonl, line ", "is damaged"]);
        }
    }
}

#[test]
fn a_journal_damaged_in_the_middle_stops_with_its_line_and_changes_nothing() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let whole = bench.read("specs/journal.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    let without_third = [&lines[..2], &lines[3..]].concat().join("\n") + "\n";
    for (text, words) in [
        (whole.replacen(lines[4], "{\"v\":1,\"seq\":5", 1), "line 5, is damaged"),
        (without_third, "line 3, is damaged"),
        (whole.replacen("{\"v\":3,", "{\"v\":4,", 1), "a newer tlaforge wrote"),
        (whole.replacen(lines[2], "\u{0}\u{0}\u{0}", 1), "line 3, is damaged"),
    ] {
        bench.write("specs/journal.jsonl", &text);
        let before = snapshot(&bench.path("specs"));
        bench.run(&["resume", "specs"]).expect(2).says(&["journal.jsonl", words, "nothing was changed"]);
        bench.run(&RUN).expect(2).says(&[words]);
        bench.run(&["report", "specs"]).expect(2).says(&[words]);
        assert_eq!(snapshot(&bench.path("specs")), before);
    }
}

/// A run that was stopped for want of an answer, in its second revision.
fn stopped() -> Bench {
    let bench = bench();
    let script = good().answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "too much"));
    bench.forge(&script, &[]).expect(5);
    bench
}

#[test]
fn an_incomplete_end_of_the_journal_is_cut_off_and_reported() {
    let bench = stopped();
    let whole = bench.read("specs/journal.jsonl");
    let last = whole.lines().last().unwrap();
    bench.write("specs/journal.jsonl", format!("{whole}{}", &last[..last.len() / 2]));
    bench.run(&["report", "specs"]).expect(0);
    bench.run(&["resume", "specs"]).expect(5).says(&["which no step of the run used", "continues"]);
    assert!(bench.read("specs/journal.jsonl").starts_with(&whole));
    bench.journal("specs");
}

#[test]
fn empty_lines_at_the_end_of_the_journal_are_cut_off() {
    let bench = stopped();
    let journal = bench.read("specs/journal.jsonl");
    bench.write("specs/journal.jsonl", format!("{journal}\n \n"));
    bench.run(&["report", "specs"]).expect(0);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    bench.run(&["resume", "specs"]).expect(5).says(&["or empty lines"]);
    assert!(bench.read("specs/journal.jsonl").starts_with(&journal));
}

#[test]
fn a_file_in_place_of_a_folder_of_the_run_is_named() {
    for folder in ["history", "handoff", "candidates", "workspace", "artifacts"] {
        let bench = stopped();
        let _ = std::fs::remove_dir_all(bench.path(&format!("specs/{folder}")));
        bench.write(&format!("specs/{folder}"), "x");
        let journal = bench.read("specs/journal.jsonl");
        bench.run(&["resume", "specs"]).expect(2).says(&[&format!("specs/{folder} is a file"), "move the file away"]);
        assert_eq!(bench.read("specs/journal.jsonl"), journal);
    }
}

#[test]
fn an_altered_or_missing_artifact_is_an_error_and_never_wrong_data() {
    let bench = stopped();
    let started = bench.journal("specs")[0].clone();
    let exemplar = started["data"]["exemplars"][0]["sha"].as_str().unwrap().to_owned();
    let path = format!("specs/artifacts/{exemplar}");
    let content = bench.read(&path);
    bench.write(&path, content.replace("EXTENDS", "EXTENDZ"));
    bench.run(&["resume", "specs"]).expect(2).says(&[&exemplar, "was altered"]);
    std::fs::remove_file(bench.path(&path)).unwrap();
    bench.run(&["resume", "specs"]).expect(2).says(&[&exemplar, "No such file"]);
    bench.write(&path, content);
    bench.run(&["resume", "specs"]).expect(5);
}

#[test]
fn a_branch_from_an_edited_module_that_does_not_parse_is_rejected() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let spec = bench.read("specs/history/rev_0/Spec.tla");
    bench.write("specs/history/rev_0/Spec.tla", spec.replace("n <= Max", "n <= "));
    let before = bench.read("specs/journal.jsonl");
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check"]).expect(1).says(&["was rejected", "line"]);
    assert_eq!(bench.read("specs/journal.jsonl"), before);
}

// ---- a full disk

/// The program with every file limited to that many blocks of 512 bytes, as on a disk that is full.
fn with_little_room(bench: &Bench, blocks: usize, args: &[&str]) -> Done {
    let like = bench.command(args);
    let mut command = Command::new("sh");
    command.arg("-c").arg("trap '' XFSZ; ulimit -f $0; exec \"$@\"").arg(blocks.to_string());
    command.arg(like.get_program()).args(args).current_dir(bench.dir.path()).env_clear().stdin(Stdio::null());
    command.envs(like.get_envs().filter_map(|(k, v)| Some((k, v?))));
    Done::of(&command.output().unwrap())
}

#[test]
fn a_disk_that_is_full_from_the_start_leaves_no_obstacle() {
    let bench = ready();
    bench.write("docs/long.md", "A line of no meaning.\n".repeat(4000));
    with_little_room(&bench, 16, &RUN).expect(4).says(&["error: ", "File too large", "hint:", "full"]);
    assert!(!bench.path("specs/Spec.tla").exists());
    bench.run(&["resume", "specs"]).expect(2).says(&["holds no run"]);
    bench.run(&[&RUN[..], &["--max-revisions", "0"]].concat()).expect(1);
}

#[test]
fn a_disk_that_fills_up_during_a_run_loses_no_answer() {
    let undisturbed = crate::support::counter::bench_with_java();
    undisturbed.forge(&good(), &[]).expect(0);
    let bytes = undisturbed.read("specs/journal.jsonl").len();
    let mut stopped_at = Vec::new();
    for blocks in (bytes / 2 / 512..bytes / 512).step_by(3) {
        let bench = crate::support::counter::bench_with_java();
        bench.write("script.jsonl", undisturbed.read("script.jsonl"));
        let done = with_little_room(&bench, blocks, &[&RUN[..], &["--mutants", "off"]].concat());
        assert!(matches!(done.status, Some(2 | 4)), "{blocks}: {:?}\n{}", done.status, done.stderr);
        assert!(done.stderr.contains("File too large"), "{}", done.stderr);
        let events = bench.journal("specs");
        stopped_at.push(events.len());
        bench.run(&["resume", "specs"]).expect(0);
        let after = bench.journal("specs");
        assert_eq!(&after[..events.len()], &events[..]);
        let asked = |journal: &[serde_json::Value]| journal.iter().filter(|e| name(e) == "answer_received").count();
        assert_eq!(asked(&after), 4, "no answer is asked for twice");
        assert_eq!(routes(&after), routes(&undisturbed.journal("specs")));
        for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md", "tlc_output.txt"] {
            assert_eq!(bench.read(&format!("specs/{file}")), undisturbed.read(&format!("specs/{file}")), "{file}");
        }
    }
    stopped_at.dedup();
    assert!(stopped_at.len() > 3, "{stopped_at:?}");
}
