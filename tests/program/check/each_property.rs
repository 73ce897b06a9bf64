//! After a violation each property has a verdict of its own.

use serde_json::{Value, json};

use crate::support::Bench;
use crate::support::checking::{put, shape, steps};

/// Counts to three and ends. The invariants name the counts that they forbid.
const STAIRS: &str = "---- MODULE M ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Up == x < 3 /\\ x' = x + 1
Spec == Init /\\ [][Up]_x /\\ WF_x(Up)
TypeOK == x \\in 0..3
NotTwo == x # 2
NotThree == x # 3
Reaches == <>(x = 3)
Returns == []<>(x = 0)
Grows == [][x' > x]_x
Jumps == [][x' > x + 1]_x
Partial == <>([i \\in {0} |-> TRUE][x])
====
";

fn check(bench: &Bench, checker: &str, more: &[&str]) -> Value {
    let args = [&["check", "M.tla", "--checker", checker, "--format", "json"], more].concat();
    let value: Value = serde_json::from_str(&bench.run(&args).expect(1).stdout).expect("one object of JSON");
    shape(&value);
    value
}

/// The further properties as `name: verdict, number of states of the counterexample`.
fn further(value: &Value) -> Vec<String> {
    let further = value["further"].as_array().expect("a list");
    let verdict = |entry: &Value| match entry["trace"]["steps"].as_array() {
        Some(trace) => format!("{}: {}, {}", entry["name"], entry["verdict"], trace.len()),
        None => format!("{}: {}", entry["name"], entry["verdict"]),
    };
    further.iter().map(|entry| verdict(entry).replace('"', "")).collect()
}

#[test]
fn both_checkers_decide_each_property_after_a_violation() {
    let bench = Bench::remembering();
    let cfg = "SPECIFICATION Spec\nINVARIANTS TypeOK NotThree NotTwo\nPROPERTIES Reaches Returns Grows Jumps\n";
    put(&bench, STAIRS, cfg);
    let sentence =
        "Each property: violated: NotTwo, NotThree, Deadlock, Returns, Jumps; holds: TypeOK, Reaches, Grows\n";
    for checker in ["tlc", "embedded"] {
        let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(1);
        let shortened = "## Counterexample to NotThree\n\n  1 to 3  as in the counterexample above\n  4  Up  M.tla:5\n     x: 2 -> 3\n     false: x # 3\n            x = 3\n";
        done.prints(&["violated: invariant NotTwo", sentence, shortened]);
        let value = check(&bench, checker, &[]);
        assert_eq!(steps(&value), ["-: x=0", "Up: x=1", "Up: x=2"], "{checker}");
        let mut found = further(&value);
        // The counterexample to a temporal property has an end of its own.
        assert!(found[4].starts_with("Returns: violated, "), "{found:?}");
        found.remove(4);
        let expected = [
            "TypeOK: holds",
            "NotThree: violated, 4",
            "Deadlock: violated, 4",
            "Reaches: holds",
            "Grows: holds",
            "Jumps: violated, 2",
        ];
        assert_eq!(found, expected, "{checker}");
        assert_eq!(value["further"][1]["trace"]["steps"][3]["action"], "Up", "{checker}");
    }
}

#[test]
fn the_properties_beside_a_violated_temporal_one_have_verdicts() {
    let bench = Bench::remembering();
    let cfg = "SPECIFICATION Spec\nINVARIANT TypeOK\nPROPERTIES Returns Reaches Jumps\nCHECK_DEADLOCK FALSE\n";
    put(&bench, STAIRS, cfg);
    for checker in ["tlc", "embedded"] {
        let value = check(&bench, checker, &[]);
        assert_eq!(value["violated"]["name"], "Returns", "{checker}");
        assert_eq!(further(&value), ["TypeOK: holds", "Reaches: holds", "Jumps: violated, 2"], "{checker}");
    }
}

#[test]
fn what_the_further_runs_do_not_decide_is_undecided_with_the_reason() {
    let bench = Bench::remembering();
    // The property cannot be evaluated in every state.
    put(&bench, STAIRS, "SPECIFICATION Spec\nINVARIANTS NotTwo\nPROPERTIES Partial Reaches\nCHECK_DEADLOCK FALSE\n");
    for checker in ["tlc", "embedded"] {
        let value = check(&bench, checker, &[]);
        assert_eq!(value["violated"], json!({"kind": "invariant", "name": "NotTwo"}), "{checker}");
        assert_eq!(further(&value), ["Partial: undecided", "Reaches: holds"], "{checker}");
    }
    // A state space without an end.
    put(
        &bench,
        &STAIRS.replace("x < 3 /\\", "").replace("TypeOK ==", "Low == x >= 0\nTypeOK =="),
        "SPECIFICATION Spec\nINVARIANTS NotTwo NotThree Low\nPROPERTY Reaches\n",
    );
    let value = check(&bench, "embedded", &["--tlc-timeout", "3"]);
    let found = further(&value);
    assert_eq!(found[..2], ["NotThree: violated, 4", "Low: undecided"]);
    let reason = value["further"][1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("did not end within"), "{reason}");
    assert_eq!(value["further"][2]["name"], "Reaches");
    assert_eq!(value["further"][2]["reason"], "no time was left for it");
}

#[test]
fn a_temporal_violation_decides_no_invariant_if_the_states_were_not_all_explored() {
    let bench = Bench::remembering();
    let module = STAIRS.replace("x < 3 /\\", "").replace("TypeOK ==", "Low == x < 2000000000\nTypeOK ==");
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANT Low\nPROPERTY Jumps\n");
    let value = check(&bench, "embedded", &["--tlc-timeout", "1"]);
    assert_eq!(value["violated"]["name"], "Jumps");
    assert_eq!(further(&value), ["Low: undecided"], "{value}");
}

#[test]
fn what_is_listed_as_invariant_and_as_property_is_checked_in_every_state() {
    let bench = Bench::remembering();
    put(&bench, STAIRS, "SPECIFICATION Spec\nINVARIANTS NotTwo NotThree\nPROPERTY NotThree\nCHECK_DEADLOCK FALSE\n");
    for checker in ["tlc", "embedded"] {
        assert_eq!(further(&check(&bench, checker, &[])), ["NotThree: violated, 4"], "{checker}");
    }
}

#[test]
fn an_invariant_that_cannot_be_evaluated_leaves_the_others_decided() {
    let bench = Bench::remembering();
    let module = STAIRS.replace("TypeOK ==", "Part == [i \\in 0..2 |-> TRUE][x]\nTypeOK ==");
    let cfg = "SPECIFICATION Spec\nINVARIANTS NotTwo Part TypeOK NotThree\nPROPERTY Reaches\n";
    put(&bench, &module, cfg);
    let expected =
        ["Part: undecided", "TypeOK: holds", "NotThree: violated, 4", "Deadlock: violated, 4", "Reaches: holds"];
    for checker in ["tlc", "embedded"] {
        assert_eq!(further(&check(&bench, checker, &[])), expected, "{checker}");
    }
}

#[test]
fn a_failed_assertion_beside_a_violated_invariant_has_its_own_counterexample() {
    let bench = Bench::remembering();
    let module = STAIRS
        .replace("EXTENDS Naturals", "EXTENDS Naturals, TLC")
        .replace("Up == x < 3", "Up == Assert(x # 2, \"two\") /\\ x < 3")
        .replace("TypeOK ==", "NotOne == x # 1\nTypeOK ==");
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANTS NotOne TypeOK\nCHECK_DEADLOCK FALSE\n");
    for checker in ["tlc", "embedded"] {
        let value = check(&bench, checker, &[]);
        let found = further(&value);
        assert_eq!(found[0], "TypeOK: undecided", "{checker}");
        assert!(found[1].starts_with("Assertion: violated"), "{checker}: {found:?}");
    }
}

/// Pairs of invariants that no state of the types satisfies, and pairs that one does, reachable or not.
#[test]
fn two_requirements_that_no_state_satisfies_together_contradict_each_other() {
    let warned = |low: &str, high: &str, covers: &str| {
        let bench = Bench::remembering();
        let module = format!(
            "---- MODULE M ----\nEXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 0\nNext == x < 2 /\\ x' = x + 1 /\\ y' = y\n\
             Spec == Init /\\ [][Next]_<<x, y>>\nTypeOK == x \\in 0..3 /\\ y \\in 0..3\n\\* covers R1\nLow == {low}\n{covers}High == {high}\n====\n"
        );
        put(&bench, &module, "SPECIFICATION Spec\nINVARIANTS TypeOK Low High\nCHECK_DEADLOCK FALSE\n");
        check(&bench, "embedded", &[])["warnings"].to_string()
    };
    let r2 = "\\* covers R2\n";
    let found = warned("x <= 1", "x >= 2", r2);
    assert!(
        found.contains("High (R2) and Low (R1) contradict each other: no state that TypeOK allows satisfies both"),
        "{found}"
    );
    // Over two variables of which each invariant reads one, with a state that no behaviour reaches.
    for (low, high, covers) in [("x <= 1", "y >= 2", r2), ("x <= 1", "x = 3 \\/ y = 1", r2), ("x <= 1", "x >= 2", "")] {
        let found = warned(low, high, covers);
        assert!(!found.contains("contradict"), "{low}, {high}: {found}");
    }
    let found = warned("x + y <= 2", "y >= 2 /\\ x >= 1", r2);
    assert!(found.contains("contradict each other"), "{found}");
}
