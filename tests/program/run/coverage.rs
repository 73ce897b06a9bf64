//! The status of each requirement: decided by the last check, as opposed to properties that only claim to cover it.

use crate::support::counter::{
    CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, good_sections, issue, review, sections,
};
use crate::support::{Bench, Script};
use serde_json::{Value, json};

/// The recording ends where the test has seen enough.
const NO_ANSWER: i32 = 5;

fn requirements(bench: &Bench, revision: u32) -> Vec<Value> {
    let meta: Value = serde_json::from_str(&bench.read(&format!("specs/history/rev_{revision}/meta.json"))).unwrap();
    let all = meta["requirements"].as_array().unwrap();
    assert!(all.iter().all(|r| r.get("covered_by").is_none() && r.get("claimed_by").is_none()), "{all:?}");
    // The report shows the same list.
    let report = bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(&report["revisions"][revision as usize]["requirements"], &meta["requirements"]);
    all.iter().map(|r| json!([r["id"], r["status"], r["by"]])).collect()
}

fn ran(script: &Script, status: i32) -> Bench {
    let bench = bench();
    bench.forge(script, &[]).expect(status);
    bench
}

/// A counter that overshoots, with a second requirement that holds.
fn overshooting() -> Script {
    let informal = format!("{INFORMAL}R2 [docs/counter.md:2] The counter starts at zero and is never negative.\n");
    let invariants = format!("{INVARIANTS}\\* covers R2\nNeverBelow == n >= 0\n");
    good()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("n < Max", "n <= Max")))
        .answer(
            "generate_invariants",
            0,
            1,
            "draft",
            &sections(&invariants, "", WITNESSES, &CFG.replace("NeverAbove", "NeverAbove NeverBelow")),
        )
        .answer("review", 0, 1, "draft", &issue("major", "counterexample_issue", "it overshoots"))
}

#[test]
fn a_property_that_holds_covers_its_requirements() {
    let bench = ran(&good(), 0);
    assert_eq!(requirements(&bench, 0), [json!(["R1", "holds", ["NeverAbove"]])]);
    bench.run(&["report", "specs"]).expect(0).prints(&["holds, checked by NeverAbove"]);
}

#[test]
fn each_requirement_has_its_own_verdict_after_a_violation() {
    let bench = ran(&overshooting(), NO_ANSWER);
    assert_eq!(
        requirements(&bench, 0),
        [json!(["R1", "broken", ["NeverAbove"]]), json!(["R2", "holds", ["NeverBelow"]])]
    );
    let each = "each property: violated: NeverAbove; holds: TypeOK, NeverBelow, Deadlock";
    let shown = ["BROKEN by NeverAbove", "holds, checked by NeverBelow", each];
    bench.run(&["report", "specs"]).expect(0).prints(&shown);
}

#[test]
fn a_requirement_is_broken_if_one_of_its_properties_is() {
    let invariants = format!("{INVARIANTS}\\* covers R1, R2\nNeverBelow == n >= 0\n");
    let cfg = CFG.replace("NeverAbove", "NeverBelow NeverAbove");
    let informal =
        INFORMAL.replace("R1 [", "R1 [docs/counter.md:2] The counter starts at zero and is never negative.\nR2 [");
    let script = overshooting().answer("informal_spec", 0, 1, "draft", &informal).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &sections(&invariants.replace("covers R1\n", "covers R2\n"), "", WITNESSES, &cfg),
    );
    let bench = ran(&script, NO_ANSWER);
    // The broken one comes first, although its number is higher.
    assert_eq!(requirements(&bench, 0)[0], json!(["R2", "broken", ["NeverAbove"]]));
    let text = bench.run(&["report", "specs"]).expect(0).stdout;
    assert!(text.find("R2 [").unwrap() < text.find("R1 [").unwrap(), "{text}");
    assert!(text.find("BROKEN by NeverAbove").unwrap() < text.find("\nCheck (").unwrap(), "{text}");
}

#[test]
fn a_property_that_changed_since_the_check_covers_nothing() {
    let broken = fenced(&MODULE.replace("n := n + 1;", "n := n + ;"));
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "it adds too much"))
        .answer("formalize", 1, 1, "repair", &broken)
        .answer("formalize", 1, 2, "repair", &broken)
        .answer("formalize", 1, 3, "repair", &broken)
        .answer("review", 1, 1, "draft", &review("revise"));
    let bench = ran(&script, NO_ANSWER);
    assert_eq!(requirements(&bench, 0), [json!(["R1", "holds", ["NeverAbove"]])]);
    assert_eq!(requirements(&bench, 1), [json!(["R1", "not_checked", ["NeverAbove"]])]);
}

#[test]
fn a_branch_inherits_the_coverage_of_its_parent() {
    let bench = ran(&overshooting(), NO_ANSWER);
    // The script has no review.
    bench.write("script.jsonl", Script::default().answer("formalize", 9, 1, "draft", "").text());
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "review"]).expect(NO_ANSWER);
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("never above the limit.: BROKEN by NeverAbove"), "{facts}");
    assert!(facts.contains("never negative.: holds, checked by NeverBelow"), "{facts}");
}

#[test]
fn a_requirement_that_no_property_names_is_not_covered() {
    let uncovered = good_sections().replace("\\* covers R1\n", "");
    let script = good().answer("generate_invariants", 0, 1, "draft", &uncovered).answer(
        "review",
        0,
        1,
        "draft",
        &issue("major", "missing_invariant", "R1"),
    );
    let bench = ran(&script, NO_ANSWER);
    assert_eq!(requirements(&bench, 0), [json!(["R1", "uncovered", null])]);
    bench.run(&["report", "specs"]).expect(0).prints(&["NOT COVERED"]);
}

#[test]
fn assertions_cover_requirements() {
    let sections = good_sections().replace("\\* WITNESS", "\\* Assertion covers R1\n\\* WITNESS");
    let script = good().answer("generate_invariants", 0, 1, "draft", &sections);
    assert_eq!(requirements(&ran(&script, 0), 0), [json!(["R1", "holds", ["NeverAbove"]])]);
    let asserts = MODULE.replace("n := n + 1;", "n := n + 1; assert n <= Max;").replace("Naturals", "Naturals, TLC");
    let script = script.answer("formalize", 0, 1, "draft", &fenced(&asserts));
    assert_eq!(requirements(&ran(&script, 0), 0), [json!(["R1", "holds", ["Assertion", "NeverAbove"]])]);
}

#[test]
fn an_assertion_that_cannot_fail_or_is_never_reached_covers_nothing() {
    let sections = sections(
        &INVARIANTS.replace("\\* covers R1\n", "\\* covers R2\n").replace(" /\\ pc \\in {\"Add\", \"Done\"}", ""),
        "",
        WITNESSES,
        &format!("{CFG}\\* Assertion covers R1\n"),
    );
    let informal = format!("{INFORMAL}R2 [docs/counter.md:2] The counter starts at zero and is never negative.\n");
    let module = MODULE.replace("Naturals", "Naturals, TLC");
    let never = "n := n + 1;\n    end while;\n  Ends:\n    await n > Max;\n    assert n > Max;\n    if FALSE then goto Add; end if;\n  Over:\n    skip;\n    goto Over;\n";
    for (asserts, covers) in [
        ("n := n + 1; assert TRUE;", false),
        ("n := n + 1; assert n = n \\/ n > Max;", false),
        ("n := n + 1; assert n <= 1 \\/ n > 1;", false),
        ("n := n + 1; assert Max > 0;", false),
        ("n := n + 1; assert TRUE; assert n > 0;", true),
        (never, false),
    ] {
        let mut module = module.replace("n := n + 1;\n", &format!("{asserts}\n"));
        if asserts == never {
            module = module.replacen("    goto Over;\n\n    end while;\n", "    goto Over;\n", 1);
        }
        let approval = "{\"verdict\":\"approved\",\"issues\":[],\"accepted_cfg\":[\"CHECK_DEADLOCK FALSE: it ends\"],\"intended_dead\":[\"Ends\",\"Over\"]}";
        let sections = if asserts == never {
            sections.replace("CONSTANT Max", "CHECK_DEADLOCK FALSE\nCONSTANT Max")
        } else {
            sections.clone()
        };
        let script = good()
            .answer("informal_spec", 0, 1, "draft", &informal)
            .answer("formalize", 0, 1, "draft", &fenced(&module))
            .answer("generate_invariants", 0, 1, "draft", &sections)
            .answer("review", 0, 1, "draft", approval)
            .having_read_all();
        let bench = bench();
        bench.forge(&script, &["--max-revisions", "0"]).expect(i32::from(!covers));
        let expected = json!(["R1", if covers { "holds" } else { "not_checked" }, ["Assertion"]]);
        assert!(requirements(&bench, 0).contains(&expected), "{asserts}");
        let journal = bench.journal("specs");
        let clause = &journal.iter().find(|e| crate::support::name(e) == "guard_evaluated").unwrap()["data"]["clause"];
        assert_eq!(clause, &if covers { Value::Null } else { json!("requirements_covered") }, "{asserts}");
    }
}
