//! The page of a mutation run.

use serde_json::Value;

use super::{check_page, inside, traces};
use crate::support::Bench;

/// A counter that goes up to 3 and that no property keeps from going further.
const MODULE: &str = "---- MODULE Up ----
EXTENDS Integers
(* --algorithm Up {
variables n = 0, parity = 0;
{
  Count: while (n < 3) { \\* <img src=x onerror=alert(1)>
    n := n + 1;
    parity := 1 - parity;
  }
}
} *)
TypeOK == n \\in 0..9 /\\ parity \\in {0, 1}
====
";

pub(super) fn bench() -> Bench {
    let bench = Bench::without_tools();
    bench.write("Up.tla", MODULE);
    bench.write("Up.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench
}

pub(super) fn page(bench: &Bench, out: &str) -> String {
    bench.run(&["mutate", "Up.tla", "--checker", "embedded", "--out", out, "--html", "page.html"]).expect(0);
    let page = bench.read("page.html");
    check_page(&page);
    page
}

#[test]
fn a_survivor_has_its_diff_and_a_behaviour_that_the_original_does_not_have() {
    let bench = bench();
    let page = page(&bench, "mutants.out");
    let lines = bench.read("mutants.out/outcomes.jsonl");
    let judged: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let survivors: Vec<&Value> = judged.iter().filter(|mutant| mutant["outcome"] == "survived").collect();
    assert!(!survivors.is_empty());
    let counted = inside(&page, "<h1>", "</h1>");
    assert!(counted.starts_with(&format!("{} of ", survivors.len())), "{counted}");
    assert_eq!(page.matches("No property notices when").count(), survivors.len());
    // `n` stops at 3 in the original, so a survivor that counts further needs 5 states to show it.
    let further = judged.iter().find(|mutant| mutant["replacement"] == "4").expect("a mutant counts to 4");
    assert_eq!(further["outcome"], "survived");
    let steps = further["trace"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5, "{further:#}");
    assert_eq!(steps[4]["state"]["n"], "4");
    let shown = traces(&page);
    let shown: Vec<&Value> = shown.as_object().unwrap().values().collect();
    assert!(shown.iter().any(|trace| trace["steps"].as_array().unwrap().len() == 5));
    assert!(!page.contains("<img"));
}

#[test]
fn a_value_that_is_cut_is_in_full_in_the_behaviour_below() {
    let bench = bench();
    let long = "\"a value that is much longer than what the line of a survivor shows\"";
    let module = MODULE.replace("parity = 0;", "parity = 0, label = \"\";");
    let module =
        module.replace("n := n + 1;", &format!("n := n + 1;\n    label := IF n = 4 THEN {long} ELSE \"short\";"));
    bench.write("Up.tla", module);
    let page = page(&bench, "mutants.out");
    assert!(page.contains(" (in full in the behaviour below)"), "{page}");
    assert!(traces(&page).to_string().contains("than what the line of a survivor shows"));
}

#[test]
fn each_line_says_what_happened_to_its_mutants() {
    let bench = bench();
    let page = page(&bench, "mutants.out");
    let lines = bench.read("mutants.out/outcomes.jsonl");
    let judged: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (line, text) in MODULE.lines().enumerate().map(|(at, text)| (at + 1, text)) {
        let mutants = judged.iter().filter(|mutant| mutant["line"] == line).count();
        let marker = format!("id=\"source-text-L{line}\">");
        let (before, rest) = page.split_once(&marker).unwrap_or_else(|| panic!("line {line} ({text}) is not shown"));
        if mutants == 0 {
            assert!(before.ends_with("<div class=\"line\" "), "line {line} has no mutants");
            continue;
        }
        let (row, _) = rest.split_once("</details>").unwrap();
        assert_eq!(row.matches("<li>").count(), mutants, "line {line}: {row}");
    }
}

#[test]
fn a_property_that_notices_no_mutant_is_named() {
    let bench = bench();
    bench.write("Up.tla", MODULE.replace("====", "Idle == parity = parity\n===="));
    bench.write("Up.cfg", "SPECIFICATION Spec\nINVARIANTS TypeOK Idle\n");
    let page = page(&bench, "mutants.out");
    let lines = bench.read("mutants.out/outcomes.jsonl");
    assert!(lines.contains("\"TypeOK\"") && !lines.contains("\"Idle\""), "only TypeOK kills");
    let killers = inside(&page, "<section id=\"killers\"", "</section>");
    assert!(killers.contains("One property notices no mutant"), "{killers}");
    let row = inside(killers, "<code>Idle</code>", "</tr>");
    assert!(row.contains("<td>0</td><td>0</td>") && !row.contains("<svg"), "{row}");
    assert!(inside(killers, "<code>TypeOK</code>", "</tr>").contains("<svg class=\"bar\""), "{killers}");
}

#[test]
fn the_same_mutants_give_the_same_bytes() {
    let bench = bench();
    assert_eq!(page(&bench, "first"), page(&bench, "second"));
}
