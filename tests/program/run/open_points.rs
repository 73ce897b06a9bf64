//! Questions that the documents leave open: an approval needs the reading of each accepted by its number.

use crate::support::counter::{CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, sections};
use crate::support::{Bench, Script, name, outcome, reasons};
use serde_json::{Value, json};

const POINT: &str = "O1 [docs/counter.md:3] May the worker stop early? Taken: no. Otherwise: yes. Affects: R1, Add.\n";

fn with_points(points: &str) -> String {
    format!("{INFORMAL}## Open points\n{points}")
}

/// An approving review that accepts the reading of these.
fn accepting(points: &[&str]) -> String {
    json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_open_points": points}).to_string()
}

fn reviewed(points: &str, accepted: &[&str]) -> Script {
    good()
        .answer("informal_spec", 0, 1, "draft", &with_points(points))
        .answer("review", 0, 1, "draft", &accepting(accepted))
        .having_read_all()
}

fn last_guard(bench: &Bench) -> Value {
    let journal = bench.journal("specs");
    journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap()["data"].clone()
}

#[test]
fn an_open_point_is_accepted_by_its_number_only() {
    for accepted in [&[][..], &["O10"], &["O2"], &["R1"]] {
        let bench = bench();
        bench.forge(&reviewed(POINT, accepted), &["--max-revisions", "0"]).expect(1);
        assert_eq!(last_guard(&bench)["clause"], "open_points_accepted", "{accepted:?}");
        assert_eq!(outcome(&bench.journal("specs")), "not_approved");
        assert!(bench.read("specs/workspace/facts.md").contains("O1 [docs/counter.md:3] May the worker stop early?"));
    }
    let bench = bench();
    let done = bench.forge(&reviewed(POINT, &["O1: the documents say `adds one`"]), &[]).expect(0);
    done.prints(&[
        "O1 [docs/counter.md:3] May the worker stop early?\n",
        "taken: no.\n",
        "otherwise: yes.\n",
        "affects: R1, Add\n",
        "the reading of open point O1",
    ]);
    let report: Value =
        serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap();
    assert_eq!(report["revisions"][0]["open_points"][0]["taken"], "no.");
}

#[test]
fn an_open_point_that_cannot_be_counted_or_lacks_a_reading_goes_back_to_its_author() {
    for (points, words) in [
        ("O1 [docs/counter.md:3] May it stop?\n", "O1 lacks `Taken:` and `Otherwise:`"),
        ("O1 [docs/counter.md:99] May it stop? Taken: no. Otherwise: yes.\n", "O1 [docs/counter.md:99]"),
        (&format!("{POINT}O1 [docs/counter.md:2] Is it zero? Taken: yes. Otherwise: no.\n"), "its number is taken"),
        (&format!("- none\n## Notes\n{POINT}"), "below the heading `## Open points`"),
    ] {
        let script =
            reviewed(points, &["O1"]).answer("informal_spec", 0, 2, "repair", &with_points(POINT)).having_read_all();
        let bench = bench();
        bench.forge(&script, &[]).expect(0);
        let journal = bench.journal("specs");
        let sent: Vec<String> = journal
            .iter()
            .filter(|e| name(e) == "attempt_finished")
            .flat_map(|e| e["data"]["feedback"].as_array().cloned().unwrap_or_default())
            .map(|feedback| feedback["text"].to_string())
            .collect();
        assert!(sent.iter().any(|text| text.contains(words)), "{words}: {sent:#?} {:#?}", reasons(&journal));
    }
}

#[test]
fn a_reading_that_is_not_given_cannot_be_accepted() {
    let point = "O1 [docs/counter.md:3] May it stop?\n";
    // The second answer is taken as it is.
    let script =
        reviewed(point, &["O1"]).answer("informal_spec", 0, 2, "repair", &with_points(point)).having_read_all();
    let bench = bench();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    assert_eq!(last_guard(&bench)["clause"], "open_points_accepted");
}

#[test]
fn a_liveness_property_beside_a_violated_invariant_has_a_verdict() {
    let informal = format!("{INFORMAL}R2 [docs/counter.md:3] The counter reaches the limit. (liveness)\n");
    let module = MODULE.replace("n < Max", "n <= Max").replace("--algorithm", "--fair algorithm");
    let properties = "\\* covers R2\nFills == <>(n = Max)\n";
    let cfg = format!("{CFG}PROPERTY Fills\n");
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("formalize", 0, 1, "draft", &fenced(&module))
        .answer("generate_invariants", 0, 1, "draft", &sections(INVARIANTS, properties, WITNESSES, &cfg))
        .having_read_all();
    let bench = bench();
    let done = bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    done.prints(&["BROKEN by NeverAbove", "holds, checked by Fills"]);
}
