//! `tlaforge eval --suite`: evaluates every case with a run or a recording, and compares with earlier results.

use crate::support::case::{CFG, CounterCase, PROPERTIES, STEP, counter, specs};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Done, project};
use serde_json::Value;

/// Two good cases with their runs, `a` and `b`.
fn suite() -> Bench {
    let bench = Bench::without_tools();
    CounterCase::with_a_bug().write(&bench, "evals/a");
    CounterCase::with_a_bug().bug("harmless", STEP, "Bounded").write(&bench, "evals/b");
    for case in ["a", "b"] {
        specs(&bench, &format!("runs/{case}"), &counter("Spec", STEP, PROPERTIES), CFG);
    }
    bench
}

fn eval(bench: &Bench, more: &[&str]) -> Done {
    bench.run(&[&["eval", "--suite", "evals", "--runs", "runs", "--checker", "embedded"], more].concat())
}

#[test]
fn a_suite_prints_a_table_and_writes_results_without_times() {
    let bench = suite();
    let done = eval(&bench, &["--results", "results.csv"]).expect(0);
    let done = done.prints(&[
        "a     -    embedded  1.00   passed",
        "Score of the suite: 0.90",
        "missed: b: known_bugs/harmless.tla (survived)",
    ]);
    // As each case ends, in any order.
    let ends =
        ["a is done: score 1.00, 1 of 1 known bugs detected (", "b is done: score 0.80, 1 of 2 known bugs detected ("];
    done.says(&ends).says(&[" (1 of 2)\n", " (2 of 2)\n"]);
    let table = bench.read("results.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("case,outcome,score,tier1,"), "{table}");
    assert_eq!(lines[1], "a,,1.000,passed,,1.000,4,4,2,1,,1,1,1.000,too_far,,,", "{table}");
    assert_eq!(lines[2], "b,,0.800,passed,,1.000,4,4,2,1,,1,2,0.500,too_far,harmless,,", "{table}");
    for jobs in ["1", "7"] {
        eval(&bench, &["--results", "again.csv", "--jobs", jobs]).expect(0);
        assert_eq!(bench.read("again.csv"), table);
    }
    assert!(!bench.path("runs/a/eval_report.json").exists(), "a suite writes what it is asked to, and nothing else");
}

#[test]
fn regressions_and_improvements_are_reported() {
    let bench = suite();
    eval(&bench, &["--results", "results.csv"]).expect(0);
    eval(&bench, &["--compare", "results.csv"]).expect(0);
    specs(&bench, "runs/a", &counter("Spec", STEP, PROPERTIES), &CFG.replace(" Bounded", ""));
    let dropped = eval(&bench, &["--compare", "results.csv"]).expect(1);
    dropped.prints(&["REGRESSION: a: the score was 1.000 and is", "REGRESSION: a: too_far is no longer detected"]);
    eval(&bench, &["--results", "less.csv"]).expect(0);
    specs(&bench, "runs/a", &counter("Spec", STEP, PROPERTIES), CFG);
    eval(&bench, &["--compare", "less.csv"]).expect(0).prints(&["changed: a: too_far is detected now"]);
    std::fs::remove_dir_all(bench.path("runs/b")).unwrap();
    let gone = eval(&bench, &["--compare", "results.csv"]).expect(1);
    gone.prints(&["skipped: b: it has no recording", "REGRESSION: b: not evaluated"]);
    bench.write("odd.csv", "case\n");
    eval(&bench, &["--compare", "odd.csv"]).expect(2).says(&["odd.csv: its first line must be"]);
    eval(&bench, &["--compare", "none.csv"]).expect(2).says(&["cannot read none.csv"]);
}

#[test]
fn the_threshold_applies_to_the_mean() {
    let bench = suite();
    eval(&bench, &["--fail-under", "0.89"]).expect(0);
    eval(&bench, &["--fail-under", "0.91"]).expect(1);
}

#[test]
fn one_case_is_shown_in_full() {
    let bench = suite();
    eval(&bench, &["--results", "results.csv"]).expect(0);
    let done = eval(&bench, &["--show-one", "b", "--compare", "results.csv"]).expect(0);
    assert!(!done.stdout.contains("evals/a") && !done.stdout.contains("\na "), "{}", done.stdout);
    done.prints(&["Case b: score 0.80", "known_bugs/harmless.tla  survived        should violate Bounded"]);
    eval(&bench, &["--show-one", "c"]).expect(2).says(&["evals has no case c", "its cases are a, b"]);
}

#[test]
fn an_invalid_case_is_reported_and_the_others_still_run() {
    let bench = suite();
    CounterCase::with_a_bug().without("docs/counter.md").write(&bench, "evals/no_docs");
    CounterCase::new().write(&bench, "evals/no_bugs");
    CounterCase::with_a_bug().write(&bench, "evals/no_run");
    bench.write("evals/no_json/checklist.json", "{");
    CounterCase::with_a_bug()
        .file("known_bugs/too_far.cfg", "SPECIFICATION Spec\nCONSTANTS\n N = 3\n M = 4\n")
        .write(&bench, "evals/bad_cfg");
    CounterCase::with_a_bug().without("known_bugs/too_far.tla").write(&bench, "evals/no_file");
    specs(&bench, "runs/no_bugs", &counter("Spec", STEP, PROPERTIES), CFG);
    let done = eval(&bench, &["--junit", "junit.xml", "--results", "results.csv"]).expect(2);
    done.prints(&[
        "FAILED: no_docs: evals/no_docs/docs: contains no document",
        "FAILED: no_json: evals/no_json/checklist.json: EOF",
        "FAILED: bad_cfg: evals/bad_cfg/known_bugs/too_far.cfg: ",
        "FAILED: no_file: evals/no_file/known_bugs/too_far.tla: does not exist, but is listed as a known bug",
        "add the documents of the protocol there",
        "skipped: no_run: it has no recording, and runs has no run of it",
        "Score of the suite: 0.90",
        "note: no_bugs: evals/no_bugs/checklist.json: no known bugs are listed",
    ]);
    let cases: Vec<String> =
        bench.read("results.csv").lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect();
    assert_eq!(cases, ["a", "b", "no_bugs"]);
    assert_eq!(bench.read("junit.xml").matches("<error ").count(), 4);
    let done = eval(&bench, &["--format", "json"]).expect(2);
    let object: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((object["cases"].as_array().unwrap().len(), object["failed"].as_array().unwrap().len()), (3, 4));
    assert_eq!(object["skipped"][0]["case"], "no_run");
}

#[test]
fn an_empty_suite_is_an_error() {
    let bench = Bench::without_tools();
    std::fs::create_dir(bench.path("evals")).unwrap();
    eval(&bench, &[]).expect(2).says(&["the folder runs does not exist"]);
    std::fs::create_dir(bench.path("runs")).unwrap();
    eval(&bench, &[]).expect(2).says(&["evals: contains no case", "name a folder of cases"]);
    bench.run(&["eval", "--suite", "nowhere"]).expect(2).says(&["nowhere: cannot be read"]);
    bench.run(&["eval", "--suite", "evals", "specs", "case"]).expect(2);
    bench.run(&["eval"]).expect(2).says(&["--suite <DIR>"]);
    bench.run(&["eval", "specs", "case", "--compare", "x.csv"]).expect(2);
}

#[test]
fn a_recording_is_replayed_silently_in_a_temporary_folder() {
    let bench = Bench::without_tools();
    let suite = project().join("evals");
    let args = ["eval", "--suite", suite.to_str().unwrap(), "--show-one", "cache_aside", "--checker", "embedded"];
    let done = bench.run(&args).expect(0);
    done.prints(&["Case cache_aside: score 1.00", "The run ended: flaw found", "flaw_found  embedded  1.00   passed"]);
    let left: Vec<_> = std::fs::read_dir(bench.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["home"], "nothing is left behind");
}

#[test]
fn an_incomplete_recording_is_reported() {
    let bench = suite();
    bench.write("evals/c/recording/run.jsonl", "");
    CounterCase::with_a_bug().write(&bench, "evals/c");
    let done = eval(&bench, &[]);
    assert!(done.status == Some(2) || done.status == Some(5), "{:?}\n{}", done.status, done.stdout);
    done.prints(&["FAILED: c: ", "Score of the suite: 0.90"]);
}

#[test]
fn a_suite_that_is_killed_leaves_no_folder_and_no_process() {
    let mut bench = Bench::without_tools();
    let folder = bench.path("temporary");
    std::fs::create_dir(&folder).unwrap();
    bench.set("TMPDIR", folder.to_str().unwrap());
    let evals = project().join("evals");
    let args = ["eval", "--suite", evals.to_str().unwrap(), "--checker", "embedded"];
    let mut child =
        bench.command(&args).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let folders = || std::fs::read_dir(&folder).unwrap().count();
    // The folder of a replay, and one of a checker that works for it.
    wait_until("there are folders", || folders() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("no folder is left", || folders() == 0);
    // The processes that watch such a folder name it.
    let mentions = |entry: std::fs::DirEntry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(folder.to_str().unwrap()))
    };
    wait_until("no process is left", || !std::fs::read_dir("/proc").unwrap().flatten().any(mentions));
}
