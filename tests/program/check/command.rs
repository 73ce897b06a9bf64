//! `tlaforge check` as a user runs it: one specification, one verdict, and the report of it.

use std::collections::BTreeMap;

use crate::support::Bench;
use crate::support::checking::{ASSERTS, COUNTER, ENDLESS, WAITING, bench_with, object, put, shape, steps, text};
use serde_json::{Value, json};

#[test]
fn a_passing_check_reports_bounds_witnesses_and_dead_actions() {
    let bench = bench_with(
        COUNTER,
        "SPECIFICATION Spec\nINVARIANTS TypeOK\nPROPERTIES Reaches\n\\* WITNESS WitnessThree\n\\* WITNESS WitnessFour\n",
    );
    // The properties hold, but a witness cannot be reached: that is no success.
    text(&bench, 1).prints(&[
        "holds, but not reached: WitnessFour; checked: TypeOK, Reaches\n",
        "9 states generated, 8 distinct, depth 8, none left on the queue",
        "Bounds: no constants; no constraint; no symmetry; deadlock checked; probability of a fingerprint collision ",
        "- WitnessThree: reached after 4 states\n",
        "- WitnessFour: NOT reached by any behaviour\n",
        "- Never: 0  NEVER TAKEN\n",
    ]);
    let value = object(&bench, 1);
    assert_eq!(
        (&value["verdict"], &value["violated"], &value["reason"]),
        (&json!("holds"), &Value::Null, &json!("not reached: WitnessFour"))
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
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK\nPROPERTIES Reaches\n\\* WITNESS WitnessThree\n");
    text(&bench, 0).prints(&["holds: TypeOK, Reaches\n"]).says(&["checking M.tla with M.cfg"]);
    assert_eq!(object(&bench, 0)["reason"], Value::Null);
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
fn a_verdict_without_properties_says_so() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\n");
    text(&bench, 0).prints(&["holds: no invariant and no property was checked, only the absence of errors"]);
}

#[test]
fn a_violated_invariant_is_named_and_its_trace_shows_only_what_changed() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK NoReset\n");
    let done = text(&bench, 1).prints(&["violated: invariant NoReset\n"]);
    let table = "  1  initial state\n     log = <<>>\n     x   = 0\n  2  Inc  M.tla:6\n     x: 0 -> 1\n  3  Inc  M.tla:6\n     x: 1 -> 2\n  \
                 4  Inc  M.tla:6\n     x: 2 -> 3\n  5  Reset  M.tla:7\n     log[1]: + \"reset\"\n     log[2]: + [at |-> 3]\n     \
                 x:      3 -> 0\n     false: log = <<>>\n            log = <<\"reset\", [at |-> 3]>>\n";
    let done = done.prints(&[table]);
    // The run ended at the violation: an action that was not taken by then is not dead.
    assert!(!done.stdout.contains("NEVER TAKEN"), "{}", done.stdout);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "invariant", "name": "NoReset"}));
    let expected = ["-: log=<<>> x=0", "Inc: x=1", "Inc: x=2", "Inc: x=3", "Reset: log=<<\"reset\", [at |-> 3]>> x=0"];
    assert_eq!(steps(&value), expected);
    assert_eq!(value["trace"][1]["state"], json!({"log": "<<>>", "x": "1"}));
    assert_eq!(value["lasso"], Value::Null);
}

#[test]
fn a_deadlock_is_found_and_the_trace_shows_only_changed_entries() {
    let bench = bench_with(WAITING, "SPECIFICATION Spec\nCONSTANT Procs = {p, q}\n");
    let done = text(&bench, 1).prints(&["violated: deadlock (a reachable state has no successor)\n"]);
    let (_, table) = done.stdout.split_once("## Counterexample\n\n").expect("a table");
    let lines: Vec<&str> = table.lines().take_while(|l| !l.is_empty()).collect();
    let expected = [
        "  1  initial state",
        "     log     = <<>>",
        "     message = [type |-> \"none\", from |-> 0, body |-> <<1, 2>>]",
        "     pc      = (p :> \"Send\" @@ q :> \"Send\")",
    ];
    assert_eq!(lines[..expected.len()], expected);
    // TLC chooses which of the two processes goes first.
    let first = if lines[4].starts_with("  2  Send(p)") { "p" } else { "q" };
    let second = if first == "p" { "q" } else { "p" };
    let rest = [
        format!("  2  Send({first})  M.tla:8"),
        "     message.type: \"none\" -> \"request (a, b |-> c)\"".to_owned(),
        "     message.from: 0 -> 1".to_owned(),
        format!("     pc[{first}]:        \"Send\" -> \"Wait\""),
        format!("  3  Send({second})  M.tla:8"),
        format!("     pc[{second}]: \"Send\" -> \"Wait\""),
    ];
    assert_eq!(lines[expected.len()..], rest);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "deadlock", "name": null}));
    assert_eq!(value["bounds"]["deadlock_checked"], true);
    // Such an algorithm may also be intended.
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
    // All states were explored, so an action that was not taken is dead.
    text(&bench, 1).prints(&["- Never: 0  NEVER TAKEN\n"]);
}

#[test]
fn a_violated_liveness_property_shows_stuttering() {
    let bench = bench_with(COUNTER, "SPECIFICATION Unfair\nPROPERTY Reaches\n");
    text(&bench, 1)
        .prints(&["violated: temporal property Reaches\n", "then nothing ever happens again (stuttering)\n"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "property", "name": "Reaches"}));
    assert_eq!(value["lasso"], json!({"stuttering": true}));
}

#[test]
fn a_violated_action_property_is_reported_as_such() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nPROPERTIES Reaches NeverBack\n");
    text(&bench, 1).prints(&["violated: action property NeverBack\n"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "action_property", "name": "NeverBack"}));
    assert_eq!(steps(&value).last().unwrap(), "Reset: log=<<\"reset\", [at |-> 3]>> x=0");
    assert_eq!(value["lasso"], Value::Null);
}

#[test]
fn a_module_with_only_assumptions_is_checked_and_the_verdict_says_so() {
    let bench = bench_with("---- MODULE M ----\nEXTENDS Naturals\nASSUME 1 + 1 = 2\n====\n", "");
    for checker in ["tlc", "embedded"] {
        let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(0);
        let done = done.prints(&["holds: only assumptions were checked"]);
        done.prints(&["deadlock not checked; no behaviour"]);
    }
    put(&bench, "---- MODULE M ----\nEXTENDS Naturals\nASSUME 1 + 1 = 3\n====\n", "");
    for checker in ["tlc", "embedded"] {
        let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(1);
        done.prints(&["violated: assumption at line 3, col 8 to line 3, col 16 of module M"]);
    }
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

#[test]
fn a_failed_assertion_of_an_algorithm_is_a_violation_with_its_line() {
    let bench = bench_with(ASSERTS, "SPECIFICATION Spec\n");
    text(&bench, 1).prints(&["violated: assertion: Failure of assertion at line 7, column 5.\n", "     x: 1 -> 2\n"]);
    let value = object(&bench, 1);
    assert_eq!(value["violated"], json!({"kind": "assertion", "name": "Failure of assertion at line 7, column 5."}));
    let xs: Vec<&str> = value["trace"].as_array().unwrap().iter().map(|s| s["state"]["x"].as_str().unwrap()).collect();
    assert_eq!(xs, ["0", "1", "2"]);
    // TLC names no action in the run that derives this trace.
    let taken: Vec<&str> =
        value["trace"].as_array().unwrap().iter().skip(1).filter_map(|s| s["action"].as_str()).collect();
    assert_eq!(taken.len(), 2, "{value}");
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
    // It was never checked, so counts and bounds would say nothing.
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
fn positions_after_a_translation_refer_to_the_users_file() {
    // The copy that the tools read is longer than this file.
    let behind = ASSERTS.replace("====", "\nBroken == nowhere\n====");
    let bench = bench_with(&behind, "SPECIFICATION Spec\n");
    let line = behind.lines().position(|l| l.starts_with("Broken")).unwrap() + 1;
    text(&bench, 1)
        .prints(&[&format!("invalid: it does not parse (line {line}, column 11): Unknown operator: `nowhere'")]);
    // An error in the algorithm has its position there.
    put(&bench, &ASSERTS.replace("x < 2", "y < 2"), "SPECIFICATION Spec\n");
    text(&bench, 1).prints(&["invalid: it does not parse (line 7, column 12): Unknown operator: `y'"]);
    assert_eq!(object(&bench, 1)["diagnostics"][0]["line"], 7);
}

#[test]
fn a_configuration_that_does_not_match_the_module_is_invalid_and_quoted() {
    let bench = Bench::remembering();
    for (cfg, says) in [
        ("SPECIFICATON Spec\n", "line 1, column 1): not a keyword of a configuration: `SPECIFICATON`"),
        ("SPECIFICATION Spec\nINVARIANTS Missing\n", "Missing"),
        ("SPECIFICATION Missing\n", "Missing"),
    ] {
        put(&bench, COUNTER, cfg);
        text(&bench, 1).prints(&["invalid: its configuration does not fit", says]);
        let value = object(&bench, 1);
        assert_eq!(value["violated"]["kind"], "parse", "{cfg}");
        assert_eq!(value["diagnostics"][0]["stage"], "config", "{cfg}");
    }
    // An action is neither.
    for (listed, says) in [
        ("INVARIANT Next", "the invariant Next is not a state predicate"),
        ("PROPERTY Next", "the property Next is an action: `[][Next]_v`"),
    ] {
        put(&bench, COUNTER, &format!("SPECIFICATION Spec\n{listed}\n"));
        bench.run(&["check", "M.tla"]).expect(1).prints(&["invalid: its configuration does not fit", says]);
    }
    put(&bench, &COUNTER.replace("VARIABLES", "CONSTANT N\nVARIABLES"), "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    text(&bench, 1).prints(&["invalid: its configuration does not fit", "N is not assigned a value"]);
    // TLC accepts a value without effect, and a line that is repeated.
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\nCONSTANT N = 3\nINVARIANT TypeOK\nCONSTANT N = 3\n");
    text(&bench, 0).prints(&[
        "Bounds: no constants;",
        "- a value is given to the constant N, which the module does not declare: it has no effect\n",
        "- TypeOK is given twice in the configuration (line 4)\n",
        "- N is given twice in the configuration (line 5)\n",
    ]);
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\nCONSTANT N = 3\nCONSTANT N = 4\n");
    text(&bench, 1).prints(&["(line 4, column 10): `N` is assigned twice: 3, and here 4"]);
    // Operators replace others, those of standard modules, too.
    let module = COUNTER.replace("EXTENDS ", "EXTENDS Sequences, ").replacen(
        "VARIABLE",
        "CONSTANT Plus(_, _), Long(_)\nVARIABLE",
        1,
    );
    let module = module.replace(
        "Few ==",
        "a ++ b == a\nSum(a, b) == a + b\nAll == 1 ++ 2 = 3 /\\ Plus(1, 2) = 3 /\\ Long(<<1>>) = x - x + 1\nFew ==",
    );
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANT All\nCONSTANTS\n  ++ <- Sum\n  Plus <- +\n  Long <- Len\n");
    text(&bench, 0).prints(&["holds: All"]);
    bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(0).prints(&["holds: All"]);
    // Conditions of newer versions of TLC excuse no violation, and nothing holds with them.
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n_POSSIBLE Never\n");
    text(&bench, 3).prints(&["conditions of the configuration were not checked: _POSSIBLE Never"]);
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT NoReset\nPOSTCONDITIONS Never\n");
    text(&bench, 1).prints(&["violated: invariant NoReset"]);
    // A model value that only names itself is no bound and is harmless.
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
    // Not a constraint that no state breaks.
    put(&bench, COUNTER, "SPECIFICATION Spec\nCONSTRAINT TypeOK\nPROPERTY Reaches\n");
    bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(0).prints(&["holds: Reaches (checked without"]);
    put(&bench, COUNTER, "SPECIFICATION Spec\nCONSTRAINT TypeOK Few\nPROPERTY Reaches\n");
    bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(3);
}

#[test]
fn symmetry_gives_no_false_counterexample_of_a_temporal_property() {
    // Plain TLC reports a violation here (tests/toolchain_java.rs has the control).
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
    bench.run(&["check", "M.tla", "--checker", "tlc", "--tlc-timeout", "1"]).expect(3).prints(&[
        "inconclusive: TLC did not end within 1 s\n",
        "Counts: ",
        "Bounds: ",
    ]);
    let done = bench.run(&["check", "M.tla", "--checker", "tlc", "--tlc-timeout", "1", "--format", "json"]).expect(3);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    shape(&value);
    assert_eq!(value["reason"], "TLC did not end within 1 s");
    bench.run(&["check", "M.tla", "--tlc-timeout", "0"]).expect(2);
}

#[test]
fn a_misspelt_keyword_is_reported_even_if_it_looks_like_a_listed_name() {
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
fn the_checker_that_was_chosen_is_in_the_outcome_and_others_are_refused() {
    let bench = Bench::remembering();
    for cfg in ["SPECIFICATION Spec\nINVARIANT TypeOK\n", "SPECIFICATON Spec\n"] {
        put(&bench, COUNTER, cfg);
        for (choice, checker) in [("tlc", "tlc"), ("auto", "embedded"), ("embedded", "embedded"), ("both", "tlc")] {
            let done = bench.run(&["check", "M.tla", "--checker", choice, "--format", "json"]);
            let value: Value = serde_json::from_str(&done.stdout).expect("one object of JSON");
            assert_eq!(value["checker"], checker, "{value}");
        }
    }
    let done = bench.run(&["check", "M.tla", "--checker", "apalache"]).expect(2);
    done.says(&["apalache", "auto, tlc, embedded, both"]);
}

#[test]
fn an_undefined_witness_is_invalid_and_not_ignored() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK\n\\* WITNESS WitnessMisspelt\n");
    text(&bench, 1).prints(&["invalid: its configuration does not fit (line 3", "WitnessMisspelt is not defined"]);
}
