//! `tlaforge check` when a tool fails without a message, runs out of stack, or has nothing to check: an error never
//! becomes a verdict, and a specification's fault never an error.

use std::process::Stdio;

use crate::support::Bench;
use crate::support::checking::{COUNTER, bench_with, object, text};
use serde_json::Value;

fn module(more: &str) -> String {
    format!(
        "---- MODULE M ----\nEXTENDS Integers, TLC\nVARIABLE x\nInit == x = 0\nNext == x' = (x + 1) % 3\n\
         Spec == Init /\\ [][Next]_x\n{more}\n====\n"
    )
}

#[test]
fn symmetry_over_anything_but_model_values_is_left_out_with_a_warning() {
    for set in ["Permutations({1, 2})", "3", "{}"] {
        let spec = module(&format!("Inv == x \\in 0..2\nS == {set}"));
        let bench = bench_with(&spec, "SPECIFICATION Spec\nSYMMETRY S\nINVARIANT Inv\n");
        text(&bench, 0).prints(&["holds: Inv", "no symmetry", "it was checked without SYMMETRY S"]);
    }
}

#[test]
fn a_stack_that_overflows_at_the_initial_state_decides_nothing() {
    let deep = "RECURSIVE Sum(_)\nSum(n) == IF n = 0 THEN 0 ELSE 1 + Sum(n - 1)";
    for at in ["x = 0", "x = 1"] {
        let spec = module(&format!("{deep}\nInv == {at} => Sum(30000) = 30000"));
        let bench = bench_with(&spec, "SPECIFICATION Spec\nINVARIANT Inv\n");
        let value = object(&bench, 3);
        assert_eq!(value["verdict"], "inconclusive", "{value}");
        assert!(value["reason"].as_str().unwrap().contains("ran out of memory or stack"), "{value}");
    }
}

#[test]
fn a_specification_without_an_initial_state_is_no_success() {
    let spec = module("Inv == x \\in 0..2").replace("Init == x = 0", "Init == x = 0 /\\ x = 1");
    for checker in ["tlc", "embedded"] {
        let bench = bench_with(&spec, "SPECIFICATION Spec\nINVARIANT Inv\n");
        let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(1);
        done.prints(&["holds trivially: there is no initial state, so there is no behaviour; checked: Inv"]);
    }
}

#[test]
fn counts_of_actions_are_lower_bounds_after_a_violation() {
    let bench = bench_with(&COUNTER.replace("x < 2", "x < 3"), "SPECIFICATION Spec\nINVARIANT Few\n");
    let value = object(&bench, 1);
    let inc = value["coverage"].as_array().unwrap().iter().find(|a| a["action"] == "Inc").unwrap();
    assert_eq!((&inc["taken"], &inc["is_lower_bound"]), (&Value::from(1), &Value::from(true)), "{value}");
    text(&bench, 1).prints(&["- Inc: at least 1\n"]);
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    for args in [&["check", "M.tla"][..], &["check", "M.tla", "--format", "json"], &["doctor"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = bench.command(args);
        let output = command.stdout(Stdio::from(full)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{args:?}: {said}");
        assert!(said.contains("error: cannot write the result to stdout: No space left on device"), "{said}");
    }
}

#[test]
fn the_document_folder_is_refused_as_run_folder() {
    let bench = Bench::remembering();
    bench.write("docs/a.md", "# A protocol\n");
    for docs in ["docs", "docs/a.md"] {
        let done = bench.run(&["run", docs, "--provider", "handoff", "--out", "docs"]).expect(2);
        done.says(&["docs contains the documents", "--out DIR"]);
    }
    assert_eq!(std::fs::read_dir(bench.path("docs")).unwrap().count(), 1);
}

#[test]
fn a_malformed_custom_prompt_is_reported_with_its_file() {
    let bench = Bench::remembering();
    bench.write("docs/a.md", "# A protocol\n");
    bench.write("prompts/formalize/draft.md.hbs", "{{#if}}\n");
    let done = bench.run(&["run", "docs", "--provider", "handoff"]).expect(2);
    done.says(&["prompts/formalize/draft.md.hbs is not a well-formed Handlebars template"]);
}
