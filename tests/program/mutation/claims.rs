//! What `mutate` claims of a mutant, and of itself: nothing that was not shown.

use crate::support::{Bench, Done};
use serde_json::Value;

fn bench(name: &str, module: &str, cfg: &str) -> Bench {
    let bench = Bench::without_tools();
    bench.write(&format!("{name}.tla"), module);
    bench.write(&format!("{name}.cfg"), cfg);
    bench
}

fn object(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr))
}

/// All that is said of the mutants, without Java.
fn judge(bench: &Bench, spec: &str, more: &[&str]) -> Value {
    let args = ["mutate", spec, "--format", "json", "--checker", "embedded"];
    object(&bench.run(&[&args[..], more].concat()).expect(0))
}

fn find_mutant<'a>(all: &'a Value, part: &str) -> &'a Value {
    let mutants = all["mutants"].as_array().unwrap();
    let is_it = |mutant: &&Value| {
        let name = mutant["name"].as_str().unwrap().split_once(": ").unwrap().1;
        format!("{} {name}", mutant["place"].as_str().unwrap()).contains(part)
    };
    mutants.iter().find(is_it).unwrap_or_else(|| panic!("{part}: {all:#}"))
}

/// The action is the same in both, and what its fairness is bound to is not.
#[test]
fn fairness_with_other_bounds_or_another_subscript_is_not_equivalent() {
    let cfg = "SPECIFICATION Spec\nINVARIANT TypeOK\n";
    let subscript = "---- MODULE Sub ----\nEXTENDS Integers\nVARIABLES x, y\nvars == <<x, y>>\nSum == x + y\nInit == x = 0 \
                     /\\ y = 0\nInc == Sum < 5 /\\ x' = 1 - x /\\ y' = 1 - y\nNext == Inc\nSpec == Init /\\ [][Next]_vars /\\ \
                     WF_Sum(Inc)\nTypeOK == x \\in {0, 1} /\\ y \\in {0, 1}\nLive == <>(x = 1)\n====\n";
    let all = judge(&bench("Sub", subscript, cfg), "Sub.tla", &[]);
    let found = find_mutant(&all, "5:10 arithmetic");
    assert_eq!(found["outcome"], "inconclusive", "{found:#}");
    assert!(found["reason"].as_str().unwrap().contains("`Sum`"), "{found:#}");

    let bounds = "---- MODULE Bnd ----\nEXTENDS Integers\nVARIABLES c\nFairs == {1, 2}\nInit == c = [p \\in {1, 2} |-> 0]\n\
                  A(p) == c' = [c EXCEPT ![p] = 1 - c[p]]\nNext == (\\E p \\in Fairs : A(p)) \\/ A(1) \\/ A(2)\nSpec == Init \
                  /\\ [][Next]_c /\\ \\A p \\in Fairs : WF_c(A(p))\nTypeOK == c[1] \\in {0, 1} /\\ c[2] \\in {0, 1}\nLive == \
                  <>(c[2] = 1)\n====\n";
    let all = judge(&bench("Bnd", bounds, cfg), "Bnd.tla", &[]);
    let equivalent = all["mutants"].as_array().unwrap().iter().filter(|m| m["outcome"] == "equivalent");
    let wrong: Vec<&Value> = equivalent.filter(|m| m["line"] == 4).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(find_mutant(&all, "4:14 constant 2 to 3")["reason"].as_str().unwrap().contains("`Fairs`"), "{all:#}");
}

/// Two processes that draw numbers.
fn tickets(more: &str) -> String {
    format!(
        "---- MODULE T ----
EXTENDS Integers
(* --algorithm T
variables total = 0, last = 0, got = [p \\in {{1, 2}} |-> 0];
process drawer \\in {{1, 2}}
begin
  Send:
    total := total + 1;
    got[self] := total;
  Serve:
    last := got[self];
end process;
end algorithm; *)

TypeOK == total \\in 0..2 /\\ last \\in 0..2 /\\ pc \\in [{{1, 2}} -> {{\"Send\", \"Serve\", \"Done\"}}]
{more}
====
"
    )
}

/// `TypeOK` lists the labels: the new one is in no such list, whatever it does.
#[test]
fn a_new_label_alone_is_not_a_violation() {
    let split = |more: &str, invariants: &str| {
        let cfg = format!("SPECIFICATION Spec\nINVARIANTS {invariants}\nCHECK_DEADLOCK FALSE\n");
        let all = judge(&bench("T", &tickets(more), &cfg), "T.tla", &["--operator", "split-label"]);
        assert_eq!(all["mutants"].as_array().unwrap().len(), 1);
        all["mutants"][0].clone()
    };
    let found = split("", "TypeOK");
    assert_eq!(found["outcome"], "survived", "{found:#}");
    let drawn = "Drawn == got[1] = got[2] => got[1] = 0";
    let found = split(drawn, "TypeOK Drawn");
    assert_eq!((&found["outcome"], &found["killed_by"][0]), (&"killed".into(), &"Drawn".into()), "{found:#}");
    // It speaks of labels, and is violated where no process is at the new one.
    let served = "Served == pc[1] = \"Serve\" /\\ pc[2] = \"Serve\" => got[1] # got[2]";
    let found = split(served, "TypeOK Served");
    assert_eq!((&found["outcome"], &found["killed_by"][0]), (&"killed".into(), &"Served".into()), "{found:#}");
    let labels = "Labels == \\A p \\in {1, 2} : pc[p] = \"Send\" \\/ pc[p] = \"Serve\" \\/ pc[p] = \"Done\"";
    let found = split(labels, "TypeOK Labels");
    assert_eq!(found["outcome"], "inconclusive", "{found:#}");
    assert!(found["reason"].as_str().unwrap().contains("`Labels`"), "{found:#}");
    let found = split(&format!("{labels}\n{drawn}"), "TypeOK Labels Drawn");
    assert_eq!((&found["outcome"], &found["killed_by"][0]), (&"killed".into(), &"Drawn".into()), "{found:#}");
}

#[test]
fn a_timed_out_mutant_is_retried_only_with_more_time() {
    let module = "---- MODULE E ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\nInc == x < 3 /\\ x' = x + 1\nReset == x = 3 \
                  /\\ x' = 0\nNext == Inc \\/ Reset\nSpec == Init /\\ [][Next]_x\nInv == x >= 0\n====\n";
    let bench = bench("E", module, "SPECIFICATION Spec\nINVARIANT Inv\n");
    let lines = || bench.read("mutants.out/outcomes.jsonl").lines().count();
    let run = |more: &[&str]| judge(&bench, "E.tla", &[&["--operator", "drop-guard"], more].concat());
    let all = run(&["--timeout", "2", "--stryker", "stryker.json"]);
    assert_eq!((&all["summary"]["timeout"], lines()), (&1.into(), 2), "{all:#}");
    let report: Value = serde_json::from_str(&bench.read("stryker.json")).unwrap();
    let mutants = report["files"]["E.tla"]["mutants"].as_array().unwrap();
    let late: Vec<&Value> = mutants.iter().filter(|m| m["statusReason"] == "timed out").collect();
    // `Timeout` would count as detected in every viewer.
    assert_eq!((late.len(), &late[0]["status"]), (1, &"Pending".into()), "{report:#}");
    run(&[]);
    assert_eq!(lines(), 2, "nobody gave it more time");
    run(&["--timeout", "4"]);
    assert_eq!(lines(), 3);
    run(&["--timeout", "4"]);
    run(&["--timeout", "3"]);
    assert_eq!(lines(), 3);
}

const LOCK: &str = "---- MODULE L ----
EXTENDS Integers
(* --algorithm L
variables lock = 0, count = 0;
process user \\in {1, 2}
begin
  enter:
    await lock = 0;
    lock := self;
  cs:
    count := count + 1;
  leave:
    lock := 0;
    count := count - 1;
end process;
end algorithm; *)

\\* BEGIN TRANSLATION
\\* END TRANSLATION
TypeOK == pc \\in [{1, 2} -> {\"enter\", \"cs\", \"leave\", \"Done\"}]
Exclusion == ~(pc[1] = \"cs\" /\\ pc[2] = \"cs\")
Owner == [][leave(1) => lock = 1]_lock
====
";

#[test]
fn labels_that_a_property_names_are_neither_merged_nor_split() {
    let listed = |cfg: &str| {
        let bench = bench("L", LOCK, &format!("SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n{cfg}"));
        let flags = ["--operator", "merge-labels", "--operator", "split-label"];
        let done = bench.run(&[&["mutate", "L.tla", "--list", "--format", "json"], &flags[..]].concat()).expect(0);
        let all = object(&done);
        let told = |m: &Value| format!("{} {}", m["operator"].as_str().unwrap(), m["definition"].as_str().unwrap());
        all["mutants"].as_array().unwrap().iter().map(told).collect::<Vec<_>>()
    };
    // What only says which labels there are is no less true where there are fewer.
    let types = listed("INVARIANT TypeOK\n");
    for wanted in ["merge-labels cs", "split-label leave", "split-label enter"] {
        assert!(types.iter().any(|told| told == wanted), "{wanted}: {types:?}");
    }
    let named = listed("INVARIANTS TypeOK Exclusion\n");
    assert!(!named.iter().any(|told| told == "merge-labels cs"), "{named:?}");
    assert!(named.iter().any(|told| told == "split-label leave"), "{named:?}");
    let action = listed("INVARIANT TypeOK\nPROPERTY Owner\n");
    assert!(!action.iter().any(|told| told.ends_with(" leave")), "{action:?}");
}

#[test]
fn a_failed_assertion_kills_under_one_name() {
    let module = "---- MODULE A ----
EXTENDS Integers, TLC
(* --algorithm A
variables x = 0;
begin
  Up:
    while x < 3 do
      x := x + 1;
      assert x \\in 1..3;
    end while;
end algorithm; *)
Inv == x \\in 0..9
====
";
    let bench = bench("A", module, "SPECIFICATION Spec\nINVARIANT Inv\n");
    let all = judge(&bench, "A.tla", &["--timeout", "5"]);
    let mutants = all["mutants"].as_array().unwrap().iter();
    let killed: Vec<&Value> = mutants.filter(|m| m["kind"] == "assertion").collect();
    assert!(killed.len() > 1, "{all:#}");
    for one in killed {
        assert_eq!(one["killed_by"], serde_json::json!(["Assertion"]), "{one:#}");
        assert!(one["reason"].as_str().unwrap().contains("line "), "{one:#}");
    }
}

const LADDER: &str = "---- MODULE W ----
EXTENDS Integers
VARIABLES a, b, c
Init == a = 0 /\\ b = 0 /\\ c = 0
IncA == a' = (a + 1) % 3 /\\ UNCHANGED <<b, c>>
IncB == b' = (b + 1) % 3 /\\ UNCHANGED <<a, c>>
IncC == c' = 1 - c /\\ UNCHANGED <<a, b>>
Next == IncA \\/ IncB \\/ IncC
Spec == Init /\\ [][Next]_<<a, b, c>>
\\* covers R10
A == a \\in 0..2
\\* covers R2
Both == a + b \\in 0..4
\\* covers R3
B == b \\in 0..2
\\* covers R1
C == c \\in 0..1
====
";
const LADDER_CFG: &str = "SPECIFICATION Spec\nINVARIANTS A Both B C\n";

#[test]
fn survivors_list_the_requirements_of_the_variables_they_write() {
    let bench = bench("W", LADDER, LADDER_CFG);
    let done = bench.run(&["mutate", "W.tla", "--checker", "embedded"]).expect(0);
    // By number, and not what it leaves unchanged.
    done.prints(&["\nIncA (touches R2, R10)\n", "\nIncB (touches R2, R3)\n"]);
}

#[test]
fn the_report_names_the_checker_and_the_selection() {
    let bench = bench("W", LADDER, LADDER_CFG);
    let flags = ["--operator", "constant", "--seed", "7", "--sample", "3"];
    let done = bench.run(&[&["mutate", "W.tla", "--checker", "embedded"], &flags[..]].concat()).expect(0);
    done.prints(&["Judged by: the embedded checker (checked without SANY and TLC)\n"]);
    let all = judge(&bench, "W.tla", &flags);
    let run = &all["run"];
    assert_eq!((&run["seed"], &run["sample"]), (&7.into(), &3.into()), "{run:#}");
    assert_eq!(run["operators"], serde_json::json!(["constant"]), "{run:#}");
    assert_eq!(run["versions"]["tlaforge"], env!("CARGO_PKG_VERSION"), "{run:#}");
    assert_eq!(run["judged_by"]["embedded"], 3, "{run:#}");
}

#[test]
fn the_headline_says_what_the_score_leaves_out() {
    let bench = bench("W", LADDER, LADDER_CFG);
    let run = |more: &[&str]| bench.run(&[&["mutate", "W.tla", "--checker", "embedded"], more].concat()).expect(0);
    let made = run(&["--list"]).stdout.lines().count();
    let sampled = run(&["--sample", "5"]);
    sampled.prints(&[
        &format!("# Mutants of W.tla: 5 of {made}\n"),
        &format!("not selected: {}", made - 5),
        "Witnesses: none: ",
    ]);
    let all = run(&[]);
    assert!(all.stdout.starts_with(&format!("# Mutants of W.tla: {made}\n")), "{}", all.stdout);
    let all = judge(&bench, "W.tla", &["--sample", "5"]);
    assert_eq!((&all["run"]["mutants"], &all["run"]["selected"]), (&made.into(), &5.into()), "{:#}", all["run"]);
    assert_eq!(all["summary"]["restricting_score"], Value::Null, "{:#}", all["summary"]);
    // What was not decided could have survived.
    let endless = LADDER.replace("a' = (a + 1) % 3", "a' = (IF a = 2 THEN 0 ELSE a + 1)");
    bench.write("W.tla", endless);
    bench.write("W.cfg", LADDER_CFG.replace("A Both B C", "B C"));
    let done = run(&["--timeout", "1"]);
    let counts = judge(&bench, "W.tla", &["--timeout", "1"])["summary"].clone();
    let undecided = counts["timeout"].as_u64().unwrap() + counts["inconclusive"].as_u64().unwrap();
    assert!(undecided > 0, "{counts}");
    let decided = counts["killed"].as_u64().unwrap() + counts["survived"].as_u64().unwrap();
    done.prints(&[
        &format!("of {decided} killed or survived"),
        &format!("{} timed out", counts["timeout"]),
        &format!("if the {undecided} undecided survived"),
    ]);
    assert!(counts["score_at_least"].as_f64() < counts["score"].as_f64(), "{counts}");
}

#[test]
fn a_checker_that_judged_no_mutant_is_not_named_as_judge() {
    let bench = Bench::real();
    bench.write("W.tla", LADDER);
    bench.write("W.cfg", LADDER_CFG);
    // Nothing is in this selection, so that only the specification itself is checked.
    let done = bench.run(&["mutate", "W.tla", "--checker", "tlc", "--operator", "weaken-fairness"]).expect(0);
    done.prints(&["Judged by: no checker; the specification itself was checked by TLC\n"]);
}

#[test]
fn an_undecided_baseline_is_not_a_bad_one() {
    let live = "Live == \\A i \\in {a} : <>(a = i)\n====";
    let bench = bench("W", &LADDER.replace("====\n", live), &format!("{LADDER_CFG}PROPERTY Live\n"));
    let done = bench.run(&["mutate", "W.tla", "--checker", "embedded"]).expect(3);
    let done = done.says(&["not decided", "a set that depends on the state", "--checker tlc", "Java"]);
    for noise in ["Quant(", "Bound {", "Temporal(", "mend it"] {
        assert!(!done.stderr.contains(noise), "{noise}: {}", done.stderr);
    }
}

#[test]
fn an_empty_selection_differs_from_nothing_to_mutate() {
    let bench = bench("W", LADDER, LADDER_CFG);
    let list = |more: &[&str]| bench.run(&[&["mutate", "W.tla", "--list"], more].concat()).expect(0);
    let count = list(&[]).stdout.lines().count();
    let none = format!("none of {count} mutants is selected");
    let empty = list(&["--operator", "weaken-fairness"]).says(&[&none]);
    assert!(!empty.stderr.contains("nothing to mutate"), "{}", empty.stderr);
    // A line that is gone is on no line; what stands beside it has changed its company.
    let line = LADDER.lines().position(|l| l.starts_with("IncB")).unwrap() + 1;
    let text: Vec<&str> = LADDER.lines().skip(line - 2).take(2).collect();
    let hunk = format!("@@ -{0},3 +{0},2 @@\n {1}\n-Gone == a' = 2\n {2}\n", line - 1, text[0], text[1]);
    bench.write("gone.diff", format!("--- a/W.tla\n+++ b/W.tla\n{hunk}"));
    let touched = list(&["--in-diff", "gone.diff"]).stdout;
    for name in [format!("W.tla:{}:", line - 1), format!("W.tla:{line}:")] {
        assert!(touched.contains(&name), "{name}: {touched}");
    }
    assert!(!touched.contains(&format!("W.tla:{}:", line + 1)), "{touched}");
}
