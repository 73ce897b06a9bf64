//! Results of experiments: with a simulated model, from a recording, and after the program was killed.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::support::model_server::{ModelServer, Reply};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Done};
use serde_json::Value;
use tlaforge_experiments::{Complexity, JudgeKind, JudgePlan};

/// Arguments for the small setting with a server.
fn small<'a>(server: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["--small", "--provider", "openai", "--base-url", server, "--model", "played"];
    args.extend(more);
    args
}

fn object(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.stdout))
}

/// The row of a table with these values.
fn row<'a>(table: &'a Value, of: &[(&str, &str)]) -> &'a Value {
    let all = table["rows"].as_array().unwrap();
    all.iter().find(|row| of.iter().all(|(key, value)| row[key] == *value)).unwrap()
}

fn mean(of: &Value) -> f64 {
    of["mean"].as_f64().unwrap_or(f64::NAN)
}

fn near(of: &Value, value: f64) -> bool {
    (mean(of) - value).abs() < 1e-9
}

#[test]
fn monitors_are_exact_and_a_credulous_judge_finds_no_violation() {
    let bench = Bench::without_tools();
    let server = crate::model::server();
    let url = server.url();
    let more = ["--only", "judge", "--samples", "12", "--gaps", "2,6", "--format", "json"];
    let found = object(&bench.run(&small(&url, &more)).expect(0));
    for size in [2, 6] {
        let all = found["judge"]["rows"].as_array().unwrap();
        let of = |way: &str| {
            all.iter().find(|row| row["dimension"] == "gap" && row["size"] == size && row["judge"] == way).unwrap()
        };
        for way in ["monitor", "labeler", "few-shot-labels"] {
            assert!(near(&of(way)["accuracy"], 1.0) && near(&of(way)["f1"], 1.0), "{way}: {}", of(way));
        }
        let few = of("few-shot");
        // Half of the traces are satisfied; a judge that calls all valid finds no violation.
        let read = few["traces"].as_u64().unwrap() - few["unreadable"].as_u64().unwrap();
        assert!(read > 1 && few["accuracy"]["n"] == read && near(&few["f1"], 0.0), "{few}");
        let (low, high) = (few["accuracy"]["low"].as_f64().unwrap(), few["accuracy"]["high"].as_f64().unwrap());
        assert!(0.0 <= low && low < mean(&few["accuracy"]) && mean(&few["accuracy"]) < high && high <= 1.0, "{few}");
        assert_eq!(of("labeler")["labels"]["missed"], 0);
        assert_eq!(of("labeler")["labels"]["invented"], 0);
        assert!(of("labeler")["labels"]["true_labels"].as_u64().unwrap() > 0);
        // The server reports 110 tokens per answer, and the price of its model is unknown.
        assert!(near(&of("few-shot")["tokens_per_verdict"], 110.0));
        assert!(of("few-shot")["cost_per_verdict_usd"].is_null());
        assert!(near(&of("monitor")["tokens_per_verdict"], 0.0));
    }
    // With two constraints on a trace, one request gives two verdicts.
    let two = row(&found["judge"], &[("dimension", "constraints"), ("judge", "few-shot-labels")]);
    assert!(two["verdicts"] == 24 && near(&two["tokens_per_verdict"], 55.0), "{two}");
    assert_eq!(found["interventions"], Value::Null);
    // A refusal counts as unreadable, not as wrong.
    let unread: u64 =
        found["judge"]["rows"].as_array().unwrap().iter().map(|r| r["unreadable"].as_u64().unwrap()).sum();
    let shy = server.posts().iter().filter(|seen| crate::model::answer(seen).contains("rather not")).count();
    assert!(shy > 0 && unread >= shy as u64, "{unread} {shy}");
}

#[test]
fn each_intervention_prevents_violations_of_a_hasty_driver() {
    let bench = Bench::without_tools();
    let server = crate::model::server();
    let url = server.url();
    let more = ["--only", "interventions", "--episodes", "4", "--packages", "3", "--places", "4", "--format", "json"];
    let found = object(&bench.run(&small(&url, &more)).expect(0));
    let of = |method: &str| row(&found["interventions"], &[("method", method)]).clone();
    let none = of("none");
    assert!(near(&none["violations"], 3.0) && none["interventions"] == 0, "{none}");
    assert!(near(&none["delivered"], 1.0) && none["broken"]["deepest-area"] == 4, "{none}");
    assert_eq!(
        none["episode_results"][0]["story"].as_array().unwrap().len() as u64,
        none["episode_results"][0]["answers"],
        "{none}"
    );
    for method in ["resample", "inject"] {
        let row = of(method);
        assert!(near(&row["violations"], 0.0) && near(&row["delivered"], 1.0), "{row}");
        assert!(row["interventions"].as_u64().unwrap() > 0);
        assert!(mean(&row["calls"]) > mean(&row["answers"]));
        // Four episodes without a violation leave a wide interval.
        assert!(row["rules_broken"]["high"].as_f64().unwrap() > 0.3, "{row}");
    }
    // With the rules only, the driver gives up: nothing broken, nothing delivered.
    let switch = of("switch");
    assert!(near(&switch["violations"], 0.0) && mean(&switch["delivered"]) < 1.0, "{switch}");
    // `inject` states what is owed in words, and `switch` leaves the goal out.
    let prompts: Vec<String> = server.posts().iter().map(crate::support::model_server::Seen::prompt).collect();
    let held = prompts.iter().find(|p| p.contains("It was held back")).unwrap();
    assert!(held.contains("Nothing is ever loaded into a2.") && held.contains("As it stands: "), "{held}");
    let alone = prompts.iter().find(|p| p.contains("Your one concern")).unwrap();
    assert!(!alone.contains("The task:") && alone.contains("p2 is delivered before p1 is."), "{alone}");
    // A question that several methods share is asked once.
    let once: BTreeSet<String> = server.posts().iter().map(|seen| seen.body.to_string()).collect();
    let resampled = server.posts().iter().filter(|seen| seen.body["temperature"] == 0.8).count();
    assert!(server.posts().len() - once.len() <= resampled, "{} of {}", once.len(), server.posts().len());
}

#[test]
fn unreadable_and_impossible_actions_are_counted_and_change_nothing() {
    let bench = Bench::without_tools();
    let server = ModelServer::start(|seen| match seen.number {
        0 => Reply::text("Let me think about p1 and p2."),
        1 => Reply::text("drive to the moon"),
        2 => Reply::text("Action: unload p1"),
        _ => Reply::text(crate::model::answer(seen)),
    });
    let url = server.url();
    let more =
        ["--only", "interventions", "--episodes", "1", "--methods", "none", "--parallel", "1", "--format", "json"];
    let found = object(&bench.run(&small(&url, &more)).expect(0));
    let row = &found["interventions"]["rows"][0];
    assert!(row["unreadable"] == 2 && row["impossible"] == 1, "{row}");
    let prompts: Vec<String> = server.posts().iter().map(crate::support::model_server::Seen::prompt).collect();
    assert!(prompts[2].contains("1. An answer that named no action, or several.\n2. An answer that"), "{}", prompts[2]);
    assert!(prompts[3].contains("3. unload p1: not done, p1 is not in the truck."), "{}", prompts[3]);
    let state = |prompt: &str| prompt.split_once("How it stands:").unwrap().1.to_owned();
    assert!(prompts[1..4].iter().all(|prompt| state(prompt) == state(&prompts[0])));
    // They are answers but not actions, so only the two hasty loads break a rule.
    let told = &row["episode_results"][0];
    assert_eq!(told["answers"].as_u64().unwrap(), told["story"].as_array().unwrap().len() as u64);
    assert!(near(&row["violations"], 2.0) && near(&row["delivered"], 1.0), "{row}");
}

#[test]
fn lookahead_intervenes_before_predicted_violations() {
    // This driver announces two drives in a row but does not perform them.
    let server = ModelServer::start(|seen| {
        if seen.prompt().contains("Name the next") {
            Reply::text("drive to depot\ndrive to harbour\ndrive to depot\ndrive to mill")
        } else {
            Reply::text(crate::model::answer(seen))
        }
    });
    let url = server.url();
    let common = ["--only", "interventions", "--episodes", "1", "--methods", "inject", "--format", "json"];
    let met = |more: &[&str]| {
        let bench = Bench::without_tools();
        let found = object(&bench.run(&small(&url, &[&common[..], more].concat())).expect(0));
        found["interventions"]["rows"][0]["interventions"].as_u64().unwrap()
    };
    let (without, with) = (met(&[]), met(&["--ahead", "3", "--futures", "2"]));
    assert!(with > without, "{with} {without}");
    let said = server.posts().iter().any(|seen| seen.prompt().contains("is likely to lead to breaking"));
    assert!(said, "the driver is told that it was foreseen");
}

#[test]
fn a_recording_reproduces_the_tables() {
    let bench = Bench::without_tools();
    let server = crate::model::server();
    let url = server.url();
    let asked = bench.run(&small(&url, &["--record", "answers.jsonl"])).expect(0);
    let questions = server.posts().len();
    assert!((40..=80).contains(&questions), "the small setting takes {questions} questions");
    // No question is repeated, whatever the concurrency.
    let again = bench.run(&small(&url, &["--record", "answers.jsonl", "--parallel", "1"])).expect(0);
    assert_eq!((again.stdout.as_str(), server.posts().len()), (asked.stdout.as_str(), questions));
    again.says(&["which are not requested again"]);
    let replayed = bench.run(&["--small", "--recording", "answers.jsonl"]).expect(0);
    assert_eq!(replayed.stdout, asked.stdout);
    // The recording can answer a part of the questions.
    let part = bench.run(&["--small", "--recording", "answers.jsonl", "--only", "judge"]).expect(0);
    assert!(asked.stdout.contains(part.stdout.trim_end()), "{}", part.stdout);
    let other = bench.run(&["--small", "--recording", "answers.jsonl", "--seed", "1"]);
    other.expect(5).says(&["has no answer to this request", "the seed, the sizes and the methods"]);
    // Another seed makes other traces, for which no answer is reused.
    assert!(bench.run(&small(&url, &["--record", "answers.jsonl", "--seed", "1"])).expect(0).stdout != asked.stdout);
    let twice = Bench::without_tools();
    let second = twice.run(&small(&url, &["--parallel", "1"])).expect(0);
    assert_eq!(second.stdout, asked.stdout, "the same seed makes the same traces and tasks");
}

#[test]
fn a_killed_experiment_continues_without_repeated_questions() {
    let bench = Bench::without_tools();
    let server = ModelServer::start(|seen| Reply::text(crate::model::answer(seen)).delay(Duration::from_millis(15)));
    let url = server.url();
    let whole = Bench::without_tools();
    let wanted = whole.run(&small(&url, &["--parallel", "2"])).expect(0).stdout;
    let all = server.posts().len();
    let mut child = bench
        .command(&small(&url, &["--parallel", "2"]))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let path = bench.path("experiments/answers.jsonl");
    let kept = || std::fs::read_to_string(&path).unwrap_or_default().lines().filter(|l| l.starts_with('{')).count();
    wait_until("nine answers are recorded", || kept() >= 9);
    child.kill().unwrap();
    child.wait().unwrap();
    // Simulate a power failure in the middle of a line.
    let mut text = std::fs::read(&path).unwrap();
    text.extend(b"{\"v\":1,\"node\":\"ju");
    std::fs::write(&path, text).unwrap();
    let (kept, before) = (kept() - 1, server.posts().len());
    let done = bench.run(&small(&url, &["--parallel", "2"])).expect(0);
    assert_eq!(done.stdout, wanted);
    assert_eq!(server.posts().len() - before, all - kept, "each answer that was kept is one question less");
}

#[test]
fn answers_before_a_failure_are_kept() {
    let bench = Bench::without_tools();
    let server = ModelServer::start(|seen| match seen.number {
        0..12 => Reply::text(crate::model::answer(seen)),
        12 => Reply::error(401, "authentication_error", "no"),
        _ => Reply::text(crate::model::answer(seen)).delay(Duration::from_millis(50)),
    });
    let url = server.url();
    let failed = bench.run(&small(&url, &["--parallel", "3"])).expect(5);
    failed.says(&["every answer so far is in", "answers.jsonl", "run the same command again to continue"]);
    let answered = server.posts().len() - 1;
    let kept = bench.read("experiments/answers.jsonl").lines().filter(|l| l.starts_with('{')).count();
    assert_eq!(kept, answered, "what was under way is waited for");
    bench.run(&small(&url, &["--max-tokens", "5000"])).expect(3).says(&["--max-tokens"]);
    bench.run(&small(&url, &[])).expect(0);
}

#[test]
fn a_refused_question_is_unreadable_and_the_others_continue() {
    let bench = Bench::without_tools();
    let server = ModelServer::start(|seen| match seen.number {
        0 => Reply::text("I cannot").stop("content_filter"),
        1 => Reply::error(400, "invalid_request_error", "This model's maximum context length is 10 tokens"),
        _ => Reply::text("VALID"),
    });
    let url = server.url();
    let more =
        ["--only", "judge", "--judges", "zero-shot", "--parallel", "1", "--constraints", "none", "--format", "json"];
    let done = bench.run(&small(&url, &more)).expect(0).says(&["the call failed"]);
    let rows = object(&done)["judge"]["rows"].clone();
    let unreadable: Vec<u64> = rows.as_array().unwrap().iter().map(|r| r["unreadable"].as_u64().unwrap()).collect();
    assert_eq!(unreadable, [2, 0]);
    assert_eq!(rows[0]["accuracy"], Value::Null, "nothing that was read is no accuracy");
    assert!(near(&rows[1]["accuracy"], 0.5));
    let kept = bench.read("experiments/answers.jsonl");
    assert!(kept.contains("\"stop_reason\":\"refusal\"") && kept.contains("prompt_too_long"), "{kept}");
    // The refused question is not repeated.
    let posts = server.posts().len();
    bench.run(&small(&url, &more)).expect(0);
    assert_eq!(server.posts().len(), posts);
}

#[test]
fn reports_invalid_settings_before_the_first_question() {
    let bench = Bench::without_tools();
    let server = crate::model::server();
    let url = server.url();
    for (more, words) in [
        (&["--samples", "0"][..], &["--samples is 0", "from 1 to"][..]),
        (&["--gaps", "0"], &["--gaps is 0", "from 1 to 1000"]),
        (&["--gaps", "2000"], &["--gaps is 2000"]),
        (&["--gaps", "many"], &["numbers separated by commas"]),
        (&["--constraints", "41"], &["--constraints is 41", "from 1 to 40"]),
        (&["--constraints", "3"], &["--length is 32", "at least 48 for 3 constraints of the simple kind"]),
        (&["--entities", "1001"], &["--entities is 1001", "from 1 to 1000"]),
        (&["--length", "0"], &["--length is 0"]),
        (&["--label-steps", "0"], &["--label-steps is 0"]),
        (&["--gaps", "none", "--constraints", "none", "--entities", "none"], &["no trace to judge"]),
        (&["--only", "labels"], &["invalid value 'labels'", "judge, interventions"]),
        (&["--methods", "bribe"], &["invalid value 'bribe'"]),
        (&["--judges", "jury"], &["invalid value 'jury'"]),
        (&["--episodes", "0"], &["--episodes is 0", "from 1 to"]),
        (&["--packages", "1"], &["1 packages: it must be from 2 to 9"]),
        (&["--places", "12"], &["12 places: it must be from 3 to 8"]),
        (&["--ahead", "21"], &["--ahead is 21"]),
        (&["--ahead", "2", "--futures", "0"], &["--futures is 0"]),
        (&["--threshold", "0"], &["--threshold is 0"]),
        (&["--parallel", "0"], &["--parallel"]),
        (&["--max-cost", "1"], &["--max-cost cannot be enforced", "played"]),
        (&["--record", "no/such/folder/a.jsonl"], &["cannot open the recording no/such/folder/a.jsonl"]),
        (&["--record", "notes.txt"], &["notes.txt", "new file"]),
    ] {
        bench.write("notes.txt", "mine\n");
        bench.run(&small(&url, more)).expect(2).says(words);
    }
    assert_eq!(bench.read("notes.txt"), "mine\n");
    bench.run(&["--small", "--provider", "nobody"]).expect(2).says(&["unknown provider"]);
    bench.run(&["--small"]).expect(2).says(&["no provider was chosen"]);
    bench.run(&["--provider", "replay"]).expect(2).says(&["add --recording FILE"]);
    let both = ["--recording", "notes.txt", "--record", "b.jsonl"];
    bench.run(&both).expect(2).says(&["--provider replay sends no requests"]);
    assert!(server.posts().is_empty());
    // Answers of two models are not mixed.
    bench.run(&small(&url, &["--only", "judge", "--record", "a.jsonl"])).expect(0);
    let mut other = small(&url, &["--only", "judge", "--record", "a.jsonl"]);
    *other.iter_mut().find(|arg| **arg == "played").unwrap() = "another";
    bench
        .run(&other)
        .expect(2)
        .says(&["contains answers of openai (played), and this experiment uses openai (another)"]);
    // --plan asks no question and needs no provider.
    let before = server.posts().len();
    bench.run(&["--small", "--plan"]).expect(0).prints(&["judge, zero-shot: 6 questions on 6 traces"]);
    assert_eq!(server.posts().len(), before);
}

#[test]
fn examples_are_not_judged_and_truth_values_are_balanced() {
    let plan = JudgePlan {
        seed: 7,
        samples: 6,
        gaps: vec![1, 3],
        constraints: vec![2],
        entities: vec![1, 3],
        formulas: vec![Complexity::Simple, Complexity::Complex],
        length: Some(100),
        judges: JudgeKind::ALL.to_vec(),
        label_steps: 30,
    };
    let all = plan.traces().unwrap();
    assert_eq!(all.len(), 5 * 2 * 6);
    for judging in &all {
        let [kept, broken] = &judging.examples;
        assert_eq!((&kept.truths[..], &broken.truths[..]), (&[true][..], &[false][..]));
        for example in &judging.examples {
            assert!(all.iter().all(|other| other.subject.trace != example.trace), "{:?}", judging.setting);
        }
    }
    let single = all.iter().filter(|judging| judging.subject.truths.len() == 1);
    let (yes, no): (Vec<_>, Vec<_>) = single.partition(|judging| judging.subject.truths[0]);
    assert_eq!(yes.len(), no.len());
    assert_eq!(plan.traces().unwrap(), all);
    assert_ne!(JudgePlan { seed: 8, ..plan }.traces().unwrap(), all);
}

#[test]
fn the_recording_in_the_repository_reproduces_its_tables() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let recording = data.join("small.jsonl");
    let bench = Bench::without_tools();
    let done = bench.run(&["--small", "--recording", recording.to_str().unwrap()]).expect(0);
    assert_eq!(done.stdout, std::fs::read_to_string(data.join("small.txt")).unwrap());
    assert!(!bench.path("experiments").exists(), "a replay leaves nothing behind");
}
