//! Killed at any instant, a run resumes to the same result, and no answer that was received is asked for again.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::HashMap;
use std::time::Duration;

use crate::support::counter::{bench_with_java, good};
use crate::support::waiting::holds_within;
use crate::support::{Bench, name, project, runs_of};
use serde_json::Value;

const FILES: [&str; 5] = ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md", "tlc_output.txt"];

/// A case, as arguments.
fn arguments(case: &str) -> Vec<String> {
    let case = project().join("evals").join(case);
    let recording = case.join("recording/run.jsonl");
    // Mutants and larger bounds take most of the time, and what is judged in time depends on the load of the machine. The
    // sample of mutants has crash tests of its own. A check that takes longer than some seconds begins again with all workers.
    let recording =
        ["--recording", recording.to_str().unwrap(), "--mutants", "0", "--bounds-budget", "0", "--workers", "1"];
    [&["run", "--case", case.to_str().unwrap(), "--out", "specs"][..], &recording]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// What an undisturbed run leaves.
struct Reference {
    files: HashMap<&'static str, String>,
    events: u64,
    status: i32,
}

fn reference(case: &str) -> Reference {
    let bench = Bench::remembering();
    let args = arguments(case);
    let done = bench.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let files = FILES.iter().map(|f| (*f, bench.read(&format!("specs/{f}")))).collect();
    Reference { files, events: bench.journal("specs").len() as u64, status: done.status.unwrap() }
}

/// Everything that must hold of a run that was killed and resumed.
fn assert_same(bench: &Bench, reference: &Reference, what: &str) {
    for file in FILES {
        let (is, was) = (bench.read(&format!("specs/{file}")), &reference.files[file]);
        // On a slow machine a check is made in several runs instead of one.
        if file == "tlc_output.txt" && runs_of(&is) != runs_of(was) {
            continue;
        }
        // Not `assert_eq`: a whole output in the message helps nobody.
        let differing = is.lines().zip(was.lines()).find(|(is, was)| is != was);
        assert!(is == *was, "{file} differs after {what}: {differing:?}");
    }
    let journal = bench.journal("specs");
    for (i, event) in journal.iter().enumerate() {
        assert_eq!(event["seq"], i as u64 + 1, "{what}");
    }
    let mut seen: HashMap<String, u32> = HashMap::new();
    for event in &journal {
        let key = |fields: &[&str]| -> String {
            let of = |f: &&str| event.pointer(f).unwrap_or(&Value::Null).to_string();
            fields.iter().map(of).collect::<Vec<_>>().join(" ")
        };
        let place = match name(event) {
            "answer_received" | "request_sent" => {
                key(&["/name", "/lifeline", "/rev", "/attempt", "/data/purpose", "/data/sample"])
            }
            "check_finished" | "tool_finished" | "attempt_started" | "attempt_finished" => {
                key(&["/name", "/lifeline", "/rev", "/attempt"])
            }
            "revision_closed" => key(&["/name", "/rev"]),
            _ => continue,
        };
        let count = seen.entry(place.clone()).or_default();
        *count += 1;
        assert_eq!(*count, 1, "twice after {what}: {place}");
    }
    let finished = journal.iter().filter(|e| name(e) == "run_finished").count();
    assert_eq!(finished, 1, "{what}");
}

fn killed(done: &crate::support::Done, what: &str) {
    assert_eq!(done.status, None, "{what} was not killed:\n{}\n{}", done.stdout, done.stderr);
}

#[test]
fn killed_at_every_journal_boundary_a_run_resumes_to_the_same_files() {
    let reference = reference("rw_lock");
    let args = arguments("rw_lock");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut kills = 0;
    // All three points of each boundary in a campaign, else one of them in turn at every second boundary.
    let campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
    let all = ["before", "torn", "after"];
    for seq in (1..=reference.events).step_by(if campaign { 1 } else { 2 }) {
        let turn = usize::try_from(seq).unwrap() % all.len();
        for point in if campaign { &all[..] } else { &all[turn..=turn] } {
            let at = format!("{point}:{seq}");
            let bench = Bench::remembering();
            killed(&bench.run_with(&args, &[("TLAFORGE_CRASH", &at)]), &at);
            kills += 1;
            if seq == 1 && *point != "after" {
                // Nothing was begun: the run is begun again in the same folder.
                bench.run(&args).expect(reference.status);
            } else {
                bench.run(&["resume", "specs"]).expect(reference.status);
            }
            assert_same(&bench, &reference, &at);
        }
    }
    println!("killed at {kills} points of {} events", reference.events);
}

#[test]
fn killed_again_and_again_after_each_few_events_a_run_still_ends_the_same() {
    for (case, step) in [("rw_lock", 2), ("rw_lock", 5), ("cache_aside", 3)] {
        let reference = reference(case);
        let args = arguments(case);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let bench = Bench::remembering();
        killed(&bench.run_with(&args, &[("TLAFORGE_CRASH", "after:1")]), "the beginning");
        let mut kills = 1;
        loop {
            // A resumed run journals that it goes on, so each round needs more events than that one.
            let at = format!("after:{}", bench.journal("specs").len() + step);
            let done = bench.run_with(&["resume", "specs"], &[("TLAFORGE_CRASH", &at)]);
            match done.status {
                None => kills += 1,
                Some(status) => {
                    assert_eq!(status, reference.status, "{}", done.stderr);
                    break;
                }
            }
            assert!(kills < 500, "it makes no progress");
        }
        println!("{case}: killed {kills} times in a row");
        assert_same(&bench, &reference, "many kills");
    }
}

/// A small generator, so that a failure can be repeated by its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

#[test]
fn killed_at_random_times_a_run_resumes_to_the_same_files() {
    let rounds: u64 = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 200 } else { 6 };
    let reference = reference("rw_lock");
    let args = arguments("rw_lock");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut kills = 0;
    for seed in 1..=rounds {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let bench = Bench::remembering();
        let mut began = false;
        let mut lives = 0u32;
        loop {
            let now = if began { vec!["resume", "specs"] } else { args.clone() };
            let mut command = bench.command(&now);
            let said = std::fs::File::create(bench.path("said.txt")).unwrap();
            command.stdout(std::process::Stdio::null()).stderr(said);
            let mut child = command.spawn().unwrap();
            // The more it was killed, the longer it may live: a slow machine must get on as well.
            let time = Duration::from_micros(500 + random.below(150_000 + 150_000 * u64::from(lives)));
            lives += 1;
            if holds_within(time, || child.try_wait().unwrap().is_some()) {
                let status = child.wait().unwrap();
                assert_eq!(status.code(), Some(reference.status), "seed {seed}: {}", bench.read("said.txt"));
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            began = bench.path("specs/journal.jsonl").metadata().is_ok_and(|m| m.len() > 0)
                && bench.read("specs/journal.jsonl").contains('\n');
        }
        assert_same(&bench, &reference, &format!("seed {seed}"));
    }
    println!("{rounds} runs, killed {kills} times at random");
}

#[test]
fn a_hand_edit_of_a_revision_is_taken_by_a_branch_and_nothing_older_is_lost() {
    let (bench, script) = (bench_with_java(), good());
    bench.forge(&script, &[]).expect(0);
    let closed = bench.journal("specs").iter().filter(|e| name(e) == "revision_closed").count();
    let older: Vec<(String, String)> = (0..closed)
        .flat_map(|n| FILES.iter().map(move |f| format!("specs/history/rev_{n}/{f}")))
        .map(|path| (path.clone(), bench.read(&path)))
        .collect();
    let spec = "specs/history/rev_0/Spec.tla";
    let edited = bench.read(spec).replace("---- MODULE Spec", "\\* edited by a person\n---- MODULE Spec");
    let edited = edited.replacen("EXTENDS", "\\* and here\nEXTENDS", 1);
    bench.write(spec, &edited);

    // Every later request of the branch is one that the script answers as well.
    let done = bench.branch(&script, &["--from", "rev_0", "--at", "validate"]);
    done.expect(0).prints(&["Outcome: approved"]);
    let journal = bench.journal("specs");
    let branch = journal.iter().find(|e| name(e) == "branch_started").expect("a branch");
    assert_eq!(branch["data"]["edited"], serde_json::json!(["Spec.tla"]));
    assert_eq!(branch["rev"], closed as u64, "the next free number");
    let after: Vec<&Value> = journal.iter().filter(|e| e["seq"].as_u64() > branch["seq"].as_u64()).collect();
    let first = after.iter().find(|e| name(e) == "tool_finished").expect("it is parsed before anything else sees it");
    assert_eq!(first["lifeline"], "validate");
    let module = bench.read(&format!("specs/artifacts/{}", first["data"]["module"].as_str().unwrap()));
    assert!(module.contains("and here"), "the edit goes on");
    for (path, text) in older.iter().filter(|(path, _)| path != spec) {
        assert_eq!(bench.read(path), *text, "{path}");
    }
    assert_eq!(bench.read(spec), edited, "a person's edit is never overwritten");
}

#[test]
fn a_recording_that_a_kill_broke_off_is_completed_on_resume() {
    let recorded = [arguments("cache_aside"), vec!["--record".into(), "recorded.jsonl".into()]].concat();
    let args: Vec<&str> = recorded.iter().map(String::as_str).collect();
    let unbroken = Bench::remembering();
    unbroken.run(&args).expect(1);
    let whole = unbroken.read("recorded.jsonl");
    let journal = unbroken.journal("specs");
    let answers: Vec<u64> =
        journal.iter().filter(|e| name(e) == "answer_received").map(|e| e["seq"].as_u64().unwrap()).collect();
    assert!(answers.len() > 3 && answers.len() == whole.lines().count());
    let all = [answers[0], answers[answers.len() - 1], answers[2]];
    let some = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 3 } else { 2 };
    for seq in &all[..some] {
        for point in ["before", "torn", "after"] {
            let at = format!("{point}:{seq}");
            let bench = Bench::remembering();
            killed(&bench.run_with(&args, &[("TLAFORGE_CRASH", &at)]), &at);
            // Durable in the journal, the answer is not in the recording yet.
            let before = std::fs::read_to_string(bench.path("recorded.jsonl")).unwrap_or_default();
            // A recording that was begun is a blank line. What the clock decided since goes to the first answer.
            let answers = |text: &str| -> Vec<serde_json::Value> {
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                let answer = |line: &str| {
                    let mut answer: serde_json::Value = serde_json::from_str(line).unwrap();
                    answer.as_object_mut().unwrap().remove("timing");
                    answer
                };
                lines.map(answer).collect()
            };
            let (begun, all) = (answers(&before), answers(&whole));
            assert!(begun.len() < all.len() && all.starts_with(&begun), "{at}");
            bench.run(&["resume", "specs"]).expect(1);
            assert!(bench.read("recorded.jsonl") == whole, "the recording differs after {at}");
        }
    }
}

#[test]
fn a_branch_from_an_edit_that_does_not_parse_changes_nothing() {
    let bench = Bench::remembering();
    let args = arguments("uniswap_swap");
    bench.run(&args.iter().map(String::as_str).collect::<Vec<_>>()).expect(0);
    let before = bench.read("specs/journal.jsonl");
    let spec = "specs/history/rev_0/Spec.tla";
    bench.write(spec, bench.read(spec).replacen("process request", "proccess request", 1));
    let recording = project().join("evals/uniswap_swap/recording/run.jsonl");
    bench
        .run(&["resume", "specs", "--from", "rev_0", "--at", "model_check", "--recording", recording.to_str().unwrap()])
        .expect(1)
        .says(&["rejected", "line", "hint:"]);
    assert_eq!(bench.read("specs/journal.jsonl"), before);
}
