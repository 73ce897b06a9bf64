//! The interface of a case: the module must declare the required names, and missing ones go back to the node that writes
//! it.

use crate::support::{Bench, Script, name, routes};
use serde_json::{Value, json};

/// Nothing answers what the script does not hold.
const NO_ANSWER: i32 = 5;
const INFORMAL: &str = "# Counter\n## Requirements\nR1 [docs/counter.md:1] It counts.\n";

fn module(declared: &str) -> String {
    format!(
        "```tla\n---- MODULE Spec ----\nEXTENDS Integers\n{declared}\n(* --algorithm Counter {{\n  variable n = 0;\n  {{ Count: while (n < 3) {{ n := n + 1; }} }}\n}} *)\n====\n```\n"
    )
}

fn forge(script: &Script, interface: &Value) -> Bench {
    let bench = Bench::without_tools();
    bench.write("case/docs/counter.md", "It counts to Max.\n");
    bench.write("case/checklist.json", json!({"interface": interface}).to_string());
    bench.write("script.jsonl", script.text());
    let args = ["run", "--case", "case", "--recording", "script.jsonl", "--out", "specs", "--checker", "embedded"];
    bench.run(&args).expect(NO_ANSWER);
    bench
}

fn script() -> Script {
    Script::default().answer("informal_spec", 0, 1, "draft", INFORMAL)
}

#[test]
fn a_module_without_a_required_name_goes_back_with_the_name() {
    let interface = json!({"constants": [{"name": "Max", "description": "the top"}], "variables": ["n", "m"]});
    let bench = forge(&script().answer("formalize", 0, 1, "draft", &module("")), &interface);
    assert_eq!(routes(&bench.journal("specs")).last().unwrap(), "validate->formalize");
    let feedback = bench.read("specs/workspace/feedback.md");
    assert!(feedback.contains("From: the interface of the specification"), "{feedback}");
    assert!(feedback.contains("the interface asks for CONSTANT Max; it is not declared"), "{feedback}");
    assert!(feedback.contains("the interface asks for VARIABLE m; it is not declared"), "{feedback}");
    assert!(!feedback.contains("VARIABLE n"), "{feedback}");
    let journal = bench.journal("specs");
    assert_eq!(journal[0]["data"]["interface_names"], interface);
    assert_eq!(journal[0]["data"]["interface"], "constants `Max` (the top); variables `n`, `m`");
}

#[test]
fn a_required_name_of_another_kind_does_not_count() {
    let interface = json!({"constants": ["n"], "variables": ["Max", "Top"]});
    let bench = forge(&script().answer("formalize", 0, 1, "draft", &module("CONSTANT Max\nTop == 3")), &interface);
    let feedback = bench.read("specs/workspace/feedback.md");
    for what in [
        "CONSTANT n; it is declared as a variable",
        "VARIABLE Max; it is declared as a constant",
        "VARIABLE Top; it is defined as an operator",
    ] {
        assert!(feedback.contains(what), "{feedback}");
    }
}

#[test]
fn a_module_with_all_required_names_is_accepted() {
    let interface = json!({"constants": ["Max"], "variables": ["n"]});
    let script = script().answer("formalize", 0, 1, "draft", &module("")).answer(
        "formalize",
        0,
        2,
        "repair",
        &module("CONSTANT Max"),
    );
    let bench = forge(&script, &interface);
    let journal = bench.journal("specs");
    assert_eq!(routes(&journal)[1..4], ["formalize->validate", "validate->formalize", "formalize->validate"]);
    assert!(journal.iter().any(|e| name(e) == "attempt_started" && e["lifeline"] == "generate_invariants"));
}
