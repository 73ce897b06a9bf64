//! Counterexamples without the steps that rest on open points.

use crate::support::counter::{self, INFORMAL, fenced, good, issue, sections};
use crate::support::{Bench, Script, name};
use serde_json::{Value, json};

/// It exceeds the limit by one jump, or by two steps.
const TWO_WAYS: &str = r"---- MODULE Spec ----
EXTENDS Naturals
CONSTANT Max

(* --algorithm Counter
variables n = 0;
process w \in {1}
begin
  Start: either goto Jump; or goto Add; end either;
  Jump: n := 2;
        goto Done;
  Add: n := n + 1;
  More: if n < 2 then n := n + 1; end if;
end process;
end algorithm; *)
====
";

fn script(points: &str, timing: &Value) -> Script {
    let cfg = "SPECIFICATION Spec\nCONSTANT Max = 1\nINVARIANTS TypeOK NeverAbove\n\\* WITNESS WitnessFull\n";
    let properties = "TypeOK == n \\in 0..10\n\\* covers R1\nNeverAbove == n <= Max\n";
    good()
        .answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}## Open points\n{points}"))
        .answer("formalize", 0, 1, "draft", &fenced(TWO_WAYS))
        .answer("generate_invariants", 0, 1, "draft", &sections(properties, "", "WitnessFull == n = 1\n", cfg))
        .answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "it jumps"))
        .timing(timing.clone())
}

fn recorded(late: &[&str]) -> Value {
    json!([{"node": "model_check", "place": 0, "attempt": 1, "open_points": true, "timed_out": late}])
}

fn point(number: usize, affects: &str) -> String {
    format!(
        "O{number} [docs/counter.md:{}] May the limit be zero? Taken: yes. Otherwise: no. Affects: R1, {affects}.\n",
        number + 2
    )
}

/// The check of a run.
fn checked(script: &Script) -> Value {
    let bench: Bench = counter::bench();
    bench.forge(script, &["--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    journal.iter().rfind(|e| name(e) == "check_finished").unwrap()["data"].clone()
}

#[test]
fn a_counterexample_without_the_steps_of_open_points_is_preferred() {
    let shortest = ["Start", "Jump"];
    for (points, late, actions, said) in [
        (
            point(1, "Jump"),
            &[][..],
            &["Start", "Add", "More"][..],
            "avoids the steps Jump, which depend on O1; the one found first, of 3 states, takes at least one of them",
        ),
        // No other way is left.
        (
            point(1, "Jump, More"),
            &[],
            &shortest,
            "NeverAbove is not violated if the steps that these open points affect are left out: {O1}",
        ),
        // Together they leave no way, and one of them does.
        (
            point(1, "Jump") + &point(2, "Start, More"),
            &[],
            &["Start", "Add", "More"],
            "avoids the steps Jump, which depend on O1",
        ),
        (point(1, "More"), &[], &shortest, ""),
        (
            point(1, "Jump"),
            &["NeverAbove without O1"],
            &shortest,
            "whether NeverAbove is violated without the steps that open points affect was not decided for {O1}",
        ),
    ] {
        let check = checked(&script(&points, &recorded(late)));
        let steps = check["outcome"]["trace"]["steps"].as_array().unwrap();
        let taken: Vec<&str> = steps.iter().filter_map(|step| step["action"].as_str()).collect();
        let warnings = check["outcome"]["warnings"].to_string();
        assert_eq!(taken, actions, "{points}: {warnings}");
        assert!(
            warnings.contains(said) && (!said.is_empty() || !warnings.contains("depend on")),
            "{points}: {warnings}"
        );
    }
    // A recording of an earlier version is about the counterexample that it had.
    let check = checked(&script(&point(1, "Jump"), &json!([])));
    assert_eq!(check["outcome"]["trace"]["steps"].as_array().unwrap().len(), 3);
    assert_eq!(check["open_point_searches"], Value::Null);
}
