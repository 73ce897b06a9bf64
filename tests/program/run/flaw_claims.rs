//! Claims of a flaw with a weak basis: missing fairness, a bound, an unknown name.

use crate::support::counter::{INFORMAL, bench, fenced, sections};
use crate::support::{Bench, Script, name, outcome, reasons};
use serde_json::{Value, json};

/// A counter whose worker's body is this.
fn module(body: &str) -> String {
    format!(
        "---- MODULE Spec ----\nEXTENDS Naturals, TLC\nCONSTANT Max\n\n(* --algorithm Counter\nvariables n = 0;\nbegin\n  \
         Add:\n{body}end algorithm; *)\n====\n"
    )
}

const TYPE: &str = "TypeOK == n \\in 0..10\n";
const CFG: &str = "SPECIFICATION Spec\nCONSTANT Max = 1\nINVARIANT TypeOK\n\\* WITNESS WitnessOne\n";

/// One pass that ends in this claim, and a second reader who agrees with whatever he is shown.
fn claimed(body: &str, property: &str, cfg: &str, flaw: &Value) -> Script {
    claimed_of(&module(body), property, cfg, flaw)
}

fn claimed_of(module: &str, property: &str, cfg: &str, flaw: &Value) -> Script {
    let review = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": flaw});
    Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .answer("formalize", 0, 1, "draft", &fenced(module))
        .answer(
            "generate_invariants",
            0,
            1,
            "draft",
            &sections(TYPE, property, "WitnessOne == n = 1\n", &format!("{CFG}{cfg}")),
        )
        .answer("review", 0, 1, "draft", &review.to_string())
        .having_read_all()
        // What the reviewer can mend is asked for once more.
        .answer("review", 0, 2, "repair", &review.to_string())
        .having_read_all()
        .answer("review", 0, 1, "second_reading", "{\"agrees\": true, \"why\": \"so it is\"}")
}

/// A flaw in R1 with that many steps, each mapped to the document.
fn flaw(property: &str, steps: usize) -> Value {
    let step = |n| json!({"step": n, "file": "docs/counter.md", "line": 3, "why": "it says so"});
    json!({"requirement": "R1", "property": property, "steps": (1..=steps).map(step).collect::<Vec<_>>()})
}

fn with(mut flaw: Value, field: &str, line: usize) -> Value {
    flaw[field] = json!({"file": "docs/counter.md", "line": line, "why": "it may"});
    flaw
}

#[track_caller]
fn found(script: &Script) -> Bench {
    let bench = bench();
    bench.forge(script, &["--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "flaw_found", "{:#?}", reasons(&journal));
    bench
}

#[track_caller]
fn refused(script: &Script, clause: &str) {
    let bench = bench();
    bench.forge(script, &["--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    let guard = journal.iter().find(|e| name(e) == "guard_evaluated" && e["data"]["guard"] == "flaw");
    assert_eq!(guard.expect("a guard")["data"]["clause"], clause, "{:#?}", reasons(&journal));
    assert_eq!(outcome(&journal), "not_approved");
}

/// The last file of that name that was offered.
fn offered(bench: &Bench, path: &str) -> String {
    let journal = bench.journal("specs");
    let sent = journal.iter().filter(|e| name(e) == "request_sent");
    let mut files = sent.flat_map(|e| e["data"]["offered"].as_array().unwrap().clone());
    let last = files.rfind(|file| file["path"] == path).expect("it was offered");
    bench.read(&format!("specs/artifacts/{}", last["sha"].as_str().unwrap()))
}

const RAISE: &str = "    while n < Max do\n      n := n + 1;\n    end while;\n";
const FULL: &str = "\\* covers R1\nGetsFull == <>(n = Max)\n";

#[test]
fn a_lasso_that_fairness_excludes_is_a_flaw_only_with_a_citation() {
    let cfg = "PROPERTY GetsFull\n";
    let claim = flaw("GetsFull", 1);
    refused(&claimed(RAISE, FULL, cfg, &claim), "not_unfair");
    refused(&claimed(RAISE, FULL, cfg, &with(claim.clone(), "unfair", 99)), "not_unfair");
    refused(&claimed(RAISE, FULL, cfg, &with(claim.clone(), "bound", 3)), "not_unfair");
    let bench = found(&claimed(RAISE, FULL, cfg, &with(claim, "unfair", 3)));
    let facts = offered(&bench, "facts.md");
    assert!(facts.contains("`GetsFull` (temporal property GetsFull); it covers R1"), "{facts}");
    assert!(facts.contains("HOLDS") && facts.contains("\"unfair\""), "{facts}");
    let claim = offered(&bench, "claim.md");
    assert!(claim.contains("cites docs/counter.md, line 3") && claim.contains("HOLDS"), "{claim}");
    bench.run(&["report", "specs"]).expect(0).prints(&["under weak fairness of every action", "HOLDS"]);
}

#[test]
fn a_loop_that_fairness_does_not_exclude_is_a_flaw() {
    let turn = "    while TRUE do\n      n := 1 - n;\n    end while;\n";
    let never = "\\* covers R1\nEnds == <>(n = Max + 4)\n";
    let script = claimed(turn, never, "PROPERTY Ends\n", &flaw("Ends", 2));
    let bench = found(&script);
    let facts = offered(&bench, "facts.md");
    assert!(facts.contains("still violated") && !facts.contains("\"unfair\""), "{facts}");
}

#[test]
fn a_lasso_that_is_undecided_under_fairness_is_no_flaw() {
    let hidden = "---- MODULE Spec ----\nEXTENDS Naturals\nCONSTANT Max\nVARIABLE n\nInit == n = 0\n\
        LOCAL Next == n' = IF n < Max THEN n + 1 ELSE n\nSpec == Init /\\ [][Next]_n\n====\n";
    let claim = flaw("GetsFull", 1);
    let script = |claim: &Value| claimed_of(hidden, FULL, "PROPERTY GetsFull\n", claim);
    refused(&script(&claim), "not_unfair");
    let facts = offered(&found(&script(&with(claim, "unfair", 3))), "facts.md");
    assert!(facts.contains("not decided (`Next` is LOCAL to the module)"), "{facts}");
}

#[test]
fn an_undecided_larger_bound_is_shown_to_the_second_reader() {
    let turn = module("    while TRUE do\n      n := 1 - n;\n    end while;\n");
    let bounded = turn.replace("CONSTANT Max\n", "CONSTANT Max\nASSUME Max < 2\n");
    let never = "\\* covers R1\nEnds == <>(n = Max + 4)\n";
    let bench = found(&claimed_of(&bounded, never, "PROPERTY Ends\n", &flaw("Ends", 2)));
    let claim = offered(&bench, "claim.md");
    assert!(claim.contains("with Max = 2: not decided"), "{claim}");
    bench.run(&["report", "specs"]).expect(0).prints(&["with Max = 2: not decided"]);
}

#[test]
fn a_deadlock_that_gives_way_to_a_larger_bound_needs_a_document_that_grants_the_bound() {
    let wait = "    while TRUE do\n      await n < Max;\n      n := n + 1;\n    end while;\n";
    let cfg = "\\* Deadlock covers R01\n";
    let claim = flaw("Deadlock", 2);
    refused(&claimed(wait, "", cfg, &claim), "not_only_bounds");
    let bench = found(&claimed(wait, "", cfg, &with(claim, "bound", 3)));
    let facts = offered(&bench, "facts.md");
    assert!(facts.contains("`flaw.property` is `Deadlock`") && facts.contains("3 states instead of 2"), "{facts}");
}

#[test]
fn a_violation_that_vanishes_with_a_larger_constant_is_no_flaw() {
    let wait = "    while TRUE do\n      await n < Max \\/ Max > 1;\n      n := 1 - n;\n    end while;\n";
    let claim = with(flaw("Deadlock", 2), "bound", 3);
    refused(&claimed(wait, "", "\\* Deadlock covers R1\n", &claim), "not_only_bounds");
}

#[test]
fn a_failed_assertion_is_a_flaw_of_the_requirement_that_it_covers() {
    let checks = "    n := n + 1;\n    assert n < Max;\n    if n < 5 then\n      goto Add;\n    end if;\n";
    let claim = flaw("Assertion", 1);
    refused(&claimed(checks, "", "", &claim), "covers_requirement");
    let bench = found(&claimed(checks, "", "\\* Assertion covers R1\n", &claim));
    let facts = offered(&bench, "facts.md");
    assert!(facts.contains("`flaw.property` is `Assertion`") && facts.contains("it covers R1"), "{facts}");
}

/// Two revisions on one violation: the first review asks for other properties, the second claims a flaw.
fn fitted(informal: [&str; 2], properties: [&str; 2], accepted: &[&str], first: &str, claim: &Value) -> Script {
    let cfg = "PROPERTY Ends\n";
    let turn = fenced(&module("    while TRUE do\n      n := 1 - n;\n    end while;\n"));
    let sections = |p| sections(TYPE, p, "WitnessOne == n = 1\n", &format!("{CFG}{cfg}"));
    let review = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": claim,
        "accepted_changes": accepted});
    Script::default()
        .answer("informal_spec", 0, 1, "draft", informal[0])
        .answer("formalize", 0, 1, "draft", &turn)
        .answer("generate_invariants", 0, 1, "draft", &sections(properties[0]))
        .answer("review", 0, 1, "draft", first)
        .having_read_all()
        .answer("informal_spec", 1, 1, "repair", informal[1])
        .answer("formalize", 1, 1, "repair", &turn)
        .answer("generate_invariants", 1, 1, "draft", &sections(properties[1]))
        .answer("generate_invariants", 1, 1, "repair", &sections(properties[1]))
        .answer("review", 1, 1, "draft", &review.to_string())
        .having_read_all()
        .answer("review", 1, 1, "second_reading", "{\"agrees\": true, \"why\": \"so it is\"}")
}

#[test]
fn a_property_cannot_be_fitted_to_a_known_violation() {
    let two = format!("{INFORMAL}R2 [docs/counter.md:2] The counter starts at zero.\n");
    let soft = two.replace("is never above the limit", "is at some time above the limit");
    let (never, other) = ("\\* covers R1\nEnds == <>(n = Max + 4)\n", "\\* covers R2\nEnds == <>(n = Max + 4)\n");
    let claim = flaw("Ends", 2);
    let revise = |category: &str| crate::support::counter::issue("major", category, "again");
    let ends = |script: &Script, found: bool, clause: &str| {
        let bench = bench();
        bench.forge(script, &["--max-revisions", "1"]).expect(1);
        let journal = bench.journal("specs");
        let guard = journal.iter().rfind(|e| name(e) == "guard_evaluated" && e["data"]["guard"] == "flaw").unwrap();
        assert_eq!(outcome(&journal) == "flaw_found", found, "{:#?}", reasons(&journal));
        let expected = if found { Value::Null } else { json!("property_unchanged") };
        assert_eq!(guard["data"]["clause"], expected, "{guard:#}");
        if !found {
            assert!(guard["data"]["why"].as_str().unwrap().contains(clause), "{guard:#}");
        }
    };
    // Nothing was changed.
    ends(&fitted([&two, &two], [never, never], &[], &revise("wrong_invariant"), &claim), true, "");
    // What it covers; the claim's own acceptance does not count.
    ends(
        &fitted([&two, &two], [other, never], &["covers Ends"], &revise("wrong_invariant"), &claim),
        false,
        "covers Ends",
    );
    // The wording of what it covers.
    ends(&fitted([&two, &soft], [never, never], &["R1"], &revise("missing_behavior"), &claim), false, ": R1");
    // The property itself.
    let weaker = never.replace("Max + 4", "Max + 5");
    ends(&fitted([&two, &two], [never, &weaker], &[], &revise("wrong_invariant"), &claim), false, ": Ends");
}

#[test]
fn a_change_that_an_earlier_review_accepted_by_name_may_carry_a_flaw() {
    let two = format!("{INFORMAL}R2 [docs/counter.md:2] The counter starts at zero.\n");
    let (never, other) = ("\\* covers R1\nEnds == <>(n = Max + 4)\n", "\\* covers R2\nEnds == <>(n = Max + 4)\n");
    let first = crate::support::counter::issue("major", "wrong_invariant", "again");
    let claim = flaw("Ends", 2);
    let again = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": claim});
    let turn = fenced(&module("    while TRUE do\n      n := 1 - n;\n    end while;\n"));
    let properties = sections(TYPE, never, "WitnessOne == n = 1\n", &format!("{CFG}PROPERTY Ends\n"));
    let script = fitted([&two, &two], [other, never], &["covers Ends"], &first, &claim)
        .answer("formalize", 2, 1, "repair", &turn)
        .answer("generate_invariants", 2, 1, "draft", &properties)
        .answer("generate_invariants", 2, 1, "repair", &properties)
        .answer("review", 2, 1, "draft", &again.to_string())
        .having_read_all()
        .answer("review", 2, 1, "second_reading", "{\"agrees\": true, \"why\": \"so it is\"}");
    let bench = bench();
    bench.forge(&script, &["--max-revisions", "2"]).expect(1);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "flaw_found", "{:#?}", reasons(&journal));
}

#[test]
fn bounds_that_were_not_enlarged_are_shown_to_both_reviewers() {
    let wait = "---- MODULE Spec ----\nEXTENDS Naturals, TLC\nCONSTANTS Max, Procs\nLimit == 1\n\n(* --algorithm Counter\nvariables n = 0;\n\
        process w \\in Procs\nbegin\n  Add:\n    while TRUE do\n      n := IF n < Limit THEN 1 - n ELSE 0;\n    end while;\nend process;\nend algorithm; *)\n====\n";
    let never = "\\* covers R1\nEnds == <>(n = Max + 4)\n";
    let cfg = "CONSTANT Procs = {1}\nPROPERTY Ends\n";
    let bench = found(&claimed_of(wait, never, cfg, &flaw("Ends", 2)));
    let line = "not checked with more: Procs = {1}; Limit == 1";
    for file in ["facts.md", "claim.md"] {
        let text = offered(&bench, file);
        assert_eq!(text.matches(line).count(), 1, "{file}: {text}");
    }
    bench.run(&["report", "specs"]).expect(0).prints(&[line]);
}

#[test]
fn every_file_that_was_offered_is_kept() {
    let bench = found(&claimed(RAISE, FULL, "PROPERTY GetsFull\n", &with(flaw("GetsFull", 1), "unfair", 3)));
    let mut files = 0;
    for event in bench.journal("specs").iter().filter(|e| name(e) == "request_sent") {
        for file in event["data"]["offered"].as_array().unwrap() {
            let artifact = bench.path(&format!("specs/artifacts/{}", file["sha"].as_str().unwrap()));
            assert!(artifact.is_file(), "{file}");
            files += 1;
        }
    }
    assert!(files > 10);
}

/// A run whose first violation is of another property than the claim.
fn two_broken(claim: &Value) -> Script {
    two_broken_with(TYPE, claim)
}

fn two_broken_with(types: &str, claim: &Value) -> Script {
    let informal = format!("{INFORMAL}R2 [docs/counter.md:2] The counter starts at zero and is never one.\n");
    let review = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": claim});
    let invariants = format!("{types}\\* covers R2\nNotOne == n # 1\n\\* covers R1\nBelow == n <= Max\n");
    let cfg = CFG.replace("INVARIANT TypeOK", "INVARIANTS TypeOK NotOne Below");
    Script::default()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("formalize", 0, 1, "draft", &fenced(&module(&RAISE.replace("n < Max", "n <= Max"))))
        .answer("generate_invariants", 0, 1, "draft", &sections(&invariants, "", "WitnessOne == n = 1\n", &cfg))
        .answer("review", 0, 1, "draft", &review.to_string())
        .having_read_all()
        .answer("review", 0, 2, "repair", &review.to_string())
        .having_read_all()
        .answer("review", 0, 1, "second_reading", "{\"agrees\": true, \"why\": \"so it is\"}")
}

#[test]
fn a_flaw_can_name_any_violated_property_with_its_own_counterexample() {
    let bench = found(&two_broken(&flaw("below", 3)));
    let facts = offered(&bench, "facts.md");
    for line in ["`flaw.property` is `NotOne` (invariant NotOne); it covers R2", "`flaw.property` is `Below`"] {
        assert!(facts.contains(line), "{facts}");
    }
    let claim = offered(&bench, "claim.md");
    assert!(
        claim.contains("  3  Add  ")
            && claim.contains("     n: 1 -> 2\n")
            && claim.contains("with Max = 2: still violated"),
        "{claim}"
    );
    let report = bench.run(&["report", "specs"]).expect(0);
    report.prints(&["Flaw: R1 is violated", "shown by Below", "  3  Add  ", "     n: 1 -> 2\n", "BROKEN by NotOne"]);
    bench.run(&["audit", "--policy", "default", "specs"]).expect(0);
    // Its own steps have to be mapped, and it has to cover the requirement.
    refused(&two_broken(&flaw("Below", 2)), "steps_mapped");
    refused(&two_broken(&flaw("NotOne", 2)), "covers_requirement");
    refused(&two_broken(&flaw("NotTwo", 3)), "names_the_violated");
    // A violated TypeOK is a defect of the specification, also where another property is violated first.
    let types = "\\* covers R1\nTypeOK == n \\in 0..1\n";
    refused(&two_broken_with(types, &flaw("TypeOK", 3)), "not_type_ok");
}
