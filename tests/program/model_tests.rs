//! `tlaforge test` from outside: a folder of models, one verdict for each, and one for the suite.

use serde_json::{Value, json};

use crate::support::checking::{COUNTER, ENDLESS};
use crate::support::{Bench, Done};

/// A folder `models` with these files; only the embedded checker is there.
fn suite(files: &[(&str, &str)]) -> Bench {
    let bench = Bench::without_tools();
    for (name, text) in files {
        bench.write(&format!("models/{name}"), text);
    }
    bench
}

fn run(bench: &Bench, more: &[&str], status: i32) -> Done {
    bench.run(&[&["test", "models", "--checker", "embedded"], more].concat()).expect(status)
}

const VIOLATED: &str = "SPECIFICATION Spec\nINVARIANTS TypeOK Few\n";

#[test]
fn each_configuration_is_a_test_with_the_expected_verdict() {
    let bench = suite(&[
        ("M.tla", COUNTER),
        ("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n"),
        ("M.few.cfg", &format!("\\* EXPECT violated Few\n{VIOLATED}")),
        ("sub/M.tla", COUNTER),
        ("sub/M.cfg", "\\* EXPECT error\nSPECIFICATION Spec\nINVARIANT Missing\n"),
        (".hidden/M.cfg", "\\* EXPECT nonsense\n"),
    ]);
    let done = run(&bench, &[], 0);
    for name in ["M.cfg", "M.few.cfg", "sub/M.cfg"] {
        let line = done.stdout.lines().find(|line| line.contains(&format!(" {name}"))).expect(name);
        assert!(line.trim_start().starts_with("PASS ["), "{line}");
    }
    // An expected error is named, because it may be another one than the one that is meant.
    done.prints(&["sub/M.cfg: expected error; ", "Missing", "3 tests run: 3 passed\n"]);
    run(&bench, &["sub/"], 0).prints(&["1 test run: 1 passed, 2 skipped\n"]);
    run(&bench, &["other"], 2).says(&["no test in models: no configuration has such a name"]);
}

#[test]
fn another_verdict_than_the_expected_one_fails() {
    let bench = suite(&[("M.tla", COUNTER)]);
    let fails = |cfg: &str, words: &[&str]| {
        bench.write("models/M.cfg", cfg);
        run(&bench, &[], 1).prints(words).prints(&["        FAIL [", "1 test run: 0 passed, 1 failed\n"]);
    };
    // The counterexample follows.
    fails(VIOLATED, &["M.cfg: expected holds; violated: invariant Few", "# Verdict", "x = 2"]);
    fails(
        "\\* EXPECT violated TypeOK\nSPECIFICATION Spec\nINVARIANTS TypeOK Few\n",
        &["expected violated TypeOK; Few is violated, too or instead"],
    );
    fails(
        "\\* EXPECT violated Few, TypeOK\nSPECIFICATION Spec\nINVARIANTS TypeOK Few\n",
        &["expected violated Few, TypeOK; TypeOK holds"],
    );
    fails("\\* EXPECT violated Few, Other\nSPECIFICATION Spec\nINVARIANT Few\n", &["Other is not checked"]);
    fails("\\* EXPECT deadlock\nSPECIFICATION Spec\nINVARIANT TypeOK\n", &["expected deadlock; holds: TypeOK"]);
    fails("\\* EXPECT error\nSPECIFICATION Spec\nINVARIANT TypeOK\n", &["expected error; holds: TypeOK"]);
    // As for `check`: a witness that is not reached is no success.
    fails("SPECIFICATION Spec\nINVARIANT TypeOK\n\\* WITNESS WitnessFour\n", &["not reached: WitnessFour"]);
}

#[test]
fn a_check_without_a_verdict_never_passes() {
    let bench = suite(&[("M.tla", ENDLESS)]);
    for expected in ["holds", "violated TypeOK", "deadlock", "error"] {
        bench.write("models/M.cfg", format!("\\* EXPECT {expected}\nSPECIFICATION Spec\nINVARIANT TypeOK\n"));
        run(&bench, &["--tlc-timeout", "1"], 3).prints(&["     TIMEOUT [", "0 passed, 1 timed out\n"]);
    }
}

#[test]
fn a_wrong_test_is_an_error_and_the_others_still_run() {
    let bench = suite(&[
        ("M.tla", COUNTER),
        ("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n"),
        ("M.typo.cfg", "\\* EXPECT fails\nSPECIFICATION Spec\n"),
        ("Other.cfg", "SPECIFICATION Spec\n"),
    ]);
    run(&bench, &[], 2).prints(&[
        "       ERROR [",
        "models/M.typo.cfg:1: unknown expectation `fails`",
        "Other.tla",
        "3 tests run: 1 passed, 2 errors\n",
    ]);
    // A failed test is a result whatever the others would have shown.
    bench.write("models/M.cfg", VIOLATED);
    run(&bench, &[], 1).prints(&["0 passed, 1 failed, 2 errors\n"]);
}

#[test]
fn results_are_written_for_programs() {
    let bench =
        suite(&[("M.tla", COUNTER), ("M.cfg", VIOLATED), ("M.ok.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n")]);
    let done = run(&bench, &["--format", "json", "--junit", "out.xml", "--jobs", "1"], 1);
    let object: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        object["summary"],
        json!({"passed": 1, "failed": 1, "undecided": 0, "timed_out": 0, "errors": 0, "skipped": 0})
    );
    let [failed, passed] = object["tests"].as_array().unwrap().as_slice() else { panic!("{object}") };
    assert_eq!(
        (&failed["name"], &failed["result"], &failed["expected"]),
        (&json!("M.cfg"), &json!("fail"), &json!("holds"))
    );
    assert_eq!(failed["check"]["violated"]["name"], "Few");
    assert_eq!((&passed["result"], &passed["check"]["verdict"]), (&json!("pass"), &json!("holds")));
    let xml = bench.read("out.xml");
    for words in [
        "tests=\"2\" failures=\"1\" errors=\"0\"",
        "name=\"M.ok.cfg\"",
        "<failure message=\"FAIL: expected holds; violated: invariant Few",
    ] {
        assert!(xml.contains(words), "{words}: {xml}");
    }
}
