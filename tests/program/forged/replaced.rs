//! Forgeries in parts of a specification that its text does not show: definitions that the configuration replaces,
//! modules inside the module, and requirements that are not counted.

use crate::forged::{Answers, BOTH, approved, checkers_to_run, last_clause, refused};
use crate::support::counter::{self, CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, fenced, good, sections};
use crate::support::{Bench, reasons};

/// The clause that lists the bounds which a review has to accept by name.
const CFG_CLAUSE: &str = "cfg_accepted";

/// The invariants with a definition of their own below the property.
fn over(over: &str) -> String {
    let property = "\\* covers R1\nNeverAbove == n <= Max";
    INVARIANTS.replace(property, &format!("Over == {over}\n\\* covers R1\nNeverAbove == ~Over"))
}

#[test]
fn a_definition_that_the_configuration_replaces_by_a_value_is_accepted_by_name() {
    // The counter overshoots; the limit of the configuration is not the one of the module.
    let module = MODULE.replace("CONSTANT Max\n", "Max == 2\n");
    let answers = Answers { module, cfg: CFG.replace("Max = 2", "Max = 1"), ..Answers::default() };
    refused(&answers, &BOTH, CFG_CLAUSE, "Max = 1");
    // A property that rests on what was replaced.
    let invariants = over("n > 1");
    let cfg = CFG.replace("Max = 2", "Max = 2\nCONSTANT Over = FALSE");
    refused(&Answers { invariants, cfg, ..Answers::default() }, &BOTH, "property_covers", "R1");
    // The same word for word, accepted.
    let module = MODULE.replace("CONSTANT Max\n", "Max == 2\n");
    let review = serde_json::json!({"verdict": "approved", "summary": "s", "issues": [],
        "accepted_cfg": ["Max = 1: the documents name no number"]});
    approved(&Answers { module, cfg: CFG.replace("Max = 2", "Max = 1"), review, ..Answers::default() }, &["embedded"]);
}

#[test]
fn a_constant_without_elements_makes_a_property_a_tautology() {
    let module = MODULE.replace("CONSTANT Max\n", "CONSTANTS Max, Observers\n");
    let invariants = INVARIANTS.replace("n <= Max", "\\A o \\in Observers : n <= 1");
    let cfg = CFG.replace("Max = 2", "Max = 2\nCONSTANT Observers = {}");
    let answers = Answers { module, invariants, cfg, ..Answers::default() };
    refused(&answers, &BOTH, "no_tautology", "NeverAbove");
    // Behind the name of a definition.
    let invariants = format!("Nobody == {{}}\n{}", answers.invariants);
    let cfg = CFG.replace("Max = 2", "Max = 2\nCONSTANT Observers <- Nobody");
    refused(&Answers { invariants, cfg, ..answers }, &["embedded"], "no_tautology", "NeverAbove");
}

/// Forges `first`, then `later` as its repair, and expects a refusal because this key of the baseline has changed.
#[track_caller]
fn refused_as_changed(first: &Answers, later: &Answers, key: &str) {
    let bench = counter::bench_with_java();
    let script = later
        .repair()
        .answer("formalize", 0, 1, "draft", &fenced(&first.module))
        .answer("generate_invariants", 0, 1, "draft", &first.sections())
        .answer("generate_invariants", 1, 1, "repair", &later.sections());
    bench.forge(&script, &["--max-revisions", "1", "--checker", "tlc"]).expect(1);
    last_clause(&bench, "changes_named", key);
}

/// The counter with a module inside it that says how large a number may be.
fn with_inner(limit: &str) -> Answers {
    let inner =
        format!("---- MODULE Limits ----\nEXTENDS Naturals\nWithin(v) == {limit}\n====\nL == INSTANCE Limits\n");
    let module = MODULE.replace("CONSTANT Max\n", &format!("CONSTANT Max\n{inner}"));
    Answers { module, invariants: INVARIANTS.replace("n <= Max", "L!Within(n)"), ..Answers::default() }
}

#[test]
fn a_module_inside_the_module_is_accepted_by_name_and_its_text_is_part_of_the_baseline() {
    refused(&with_inner("TRUE"), &["tlc"], CFG_CLAUSE, "MODULE Limits inside Spec");
    let review = serde_json::json!({"verdict": "approved", "summary": "s", "issues": [],
        "accepted_cfg": ["MODULE Limits inside Spec: read"]});
    let (first, later) = (with_inner("v <= 2"), Answers { review, ..with_inner("v <= 3") });
    approved(&Answers { review: later.review.clone(), ..first.clone() }, &["tlc"]);
    // What it says changes in a repair.
    refused_as_changed(&first, &later, "INSTANCE");
}

#[test]
fn a_definition_that_is_replaced_in_a_later_revision_is_a_change() {
    let invariants = format!("Higher == n > Max + 1\n{}", over("n > Max"));
    let cfg = CFG.replace("Max = 2", "Max = 2\nCONSTANT Over <- Higher");
    let review = serde_json::json!({"verdict": "approved", "summary": "s", "issues": [],
        "accepted_cfg": ["Over <- Higher: accepted"]});
    let later = Answers { invariants: invariants.clone(), cfg, review, ..Answers::default() };
    for checker in checkers_to_run(&BOTH) {
        let bench = counter::bench_with_java();
        let script = later
            .repair()
            .answer("generate_invariants", 0, 1, "draft", &sections(&invariants, "", WITNESSES, CFG))
            .answer("generate_invariants", 1, 1, "repair", &later.sections());
        bench.forge(&script, &["--max-revisions", "1", "--checker", checker]).expect(1);
        last_clause(&bench, "changes_named", "replaced Over");
    }
}

#[test]
fn a_requirement_that_would_not_be_counted_is_asked_for_again() {
    let more = "R1 [docs/counter.md:3] A worker adds one.\nR2, [docs/counter.md:3] it adds one only.\n";
    let script = good().answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}{more}")).answer(
        "informal_spec",
        0,
        2,
        "repair",
        INFORMAL,
    );
    let bench = counter::bench_with_java();
    bench.forge(&script, &["--checker", "embedded"]).expect(0);
    let told = reasons(&bench.journal("specs"));
    let named = |why: &String| {
        why.contains("are not counted") && why.contains("`R1 [docs/counter.md:3]") && why.contains("`R2, ")
    };
    assert!(told.iter().any(named), "{told:#?}");
}

/// Whatever form the second requirement has, an approval without it needs an answer that leaves it out.
#[test]
fn a_requirement_in_any_other_form_goes_back_to_its_author() {
    for line in [
        "L1 [docs/counter.md:3] A worker adds one. (liveness)",
        "- [docs/counter.md:3] A worker adds one. (liveness)",
        "(R2) A worker adds one.\nR2 [docs/counter.md:3] It adds. (liveness)",
        "\u{420}2 [docs/counter.md:3] A worker adds one. (liveness)",
        "R\u{200b}2 [docs/counter.md:3] A worker adds one. (liveness)",
        "<!-- R2 [docs/counter.md:3] A worker adds one. -->",
        "## Steps\nR2 [docs/counter.md:3] A worker adds one. (liveness)",
    ] {
        let script = good().answer("informal_spec", 0, 1, "draft", &format!("{INFORMAL}{line}\n")).answer(
            "informal_spec",
            0,
            2,
            "repair",
            INFORMAL,
        );
        let bench = counter::bench();
        bench.forge(&script, &[]).expect(0);
        let told = reasons(&bench.journal("specs"));
        assert!(told.iter().any(|why| why.contains("are not counted")), "{line}: {told:#?}");
    }
}

/// The line exists and says something else. The author is asked once, and the reviewer sees what stays.
#[test]
fn a_citation_of_an_unrelated_line_is_asked_about_once() {
    let informal = INFORMAL.replace("counter.md:4", "counter.md:2") + "\nAll of them hold in every state.\n";
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("informal_spec", 0, 2, "repair", &informal)
        .having_read_all();
    let bench = counter::bench();
    bench.forge(&script, &["--normative-words", ""]).expect(0);
    let told = reasons(&bench.journal("specs"));
    let asked = told.iter().filter(|why| why.contains("no word in common")).count();
    assert_eq!(asked, 1, "{told:#?}");
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("- R1 cites [docs/counter.md:2], which says \"It starts at zero.\""), "{facts}");
    assert!(facts.contains("count for nothing (does one demand something?)\n\n- All of them hold"), "{facts}");
}

#[test]
fn check_warns_of_replaced_definitions_and_of_values_that_chance_decides() {
    let bench = Bench::real();
    let module = "---- MODULE M ----\nEXTENDS Naturals, TLC\nVARIABLE x\nBad == x > 0\nInit == x = 0\nNext == x' = 1 - x\n\
                  Spec == Init /\\ [][Next]_x\nSafe == ~Bad\nEarly == TLCGet(\"level\") < 9\n====\n";
    bench.write("M.tla", module);
    bench.write("M.cfg", "SPECIFICATION Spec\nCONSTANT Bad = FALSE\nINVARIANTS Safe Early\n");
    let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(0);
    let printed = done.stdout.clone() + &done.stderr;
    assert!(
        printed.contains("Bad is a definition of the module, which the configuration replaces by FALSE"),
        "{printed}"
    );
    assert!(printed.contains("the module uses TLCGet"), "{printed}");
}

#[test]
fn a_lone_carriage_return_ends_a_comment_for_both_checkers() {
    let bench = Bench::real();
    let module = "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = 1 - x\n\
                  Spec == Init /\\ [][Next]_x\nSafe == \\* always \rTRUE \\/ \n x < 1\n====\n";
    bench.write("M.tla", module);
    bench.write("M.cfg", "SPECIFICATION Spec\n\\* note\rINVARIANT Safe\n");
    for checker in checkers_to_run(&BOTH) {
        bench.run(&["check", "M.tla", "--checker", checker]).expect(0).prints(&["holds: Safe"]);
    }
}

/// A counter that starts again, with fairness of the action `Go`, which is none of its steps.
fn fair_of(go: &str) -> Answers {
    let module = format!(
        "---- MODULE Spec ----\nEXTENDS Naturals\nVARIABLE n\nvars == <<n>>\nInit == n = 0\nInc == n < 3 /\\ n' = n + 1\n\
         Reset == n = 3 /\\ n' = 0\nNext == Inc \\/ Reset\nGo == {go}\nSpec == Init /\\ [][Next]_vars /\\ WF_vars(Go)\n====\n"
    );
    Answers {
        module,
        invariants: "TypeOK == n \\in 0..3\n".to_owned(),
        properties: "\\* covers R1\nLive == []<>(n = 3)\n".to_owned(),
        witnesses: "WitnessOne == n = 1\n".to_owned(),
        cfg: "SPECIFICATION Spec\nINVARIANT TypeOK\nPROPERTY Live\n\\* WITNESS WitnessOne\n".to_owned(),
        ..Answers::default()
    }
}

#[test]
fn fairness_that_grows_behind_a_name_is_a_change() {
    let (first, later) = (fair_of("Inc /\\ n > 9"), fair_of("Inc \\/ Reset"));
    refused_as_changed(&first, &later, "FAIRNESS");
}

#[test]
fn an_assertion_behind_a_premise_covers_nothing() {
    let with = |step: &str| {
        let module = format!(
            "---- MODULE Spec ----\nEXTENDS Naturals, TLC\nVARIABLE n\nBelow == Assert(n <= 2, \"above\")\nInit == n = 0\n\
             Inc == n < 2 /\\ ({step}) /\\ n' = n + 1\nReset == n = 2 /\\ n' = 0\nNext == Inc \\/ Reset\n\
             Spec == Init /\\ [][Next]_n\n====\n"
        );
        Answers {
            informal: format!("{INFORMAL}R2 [docs/counter.md:2] It starts at zero.\n"),
            module,
            invariants: "TypeOK == n \\in 0..4\n\\* covers R2\nLow == n <= 3\n".to_owned(),
            witnesses: "WitnessOne == n = 1\n".to_owned(),
            cfg: "SPECIFICATION Spec\nINVARIANTS TypeOK Low\n\\* WITNESS WitnessOne\n\\* Assertion covers R1\n"
                .to_owned(),
            ..Answers::default()
        }
    };
    for premise in ["n > 7 => Below", "n < 8 \\/ Below", "\\A k \\in {} : Below"] {
        refused(&with(premise), &["tlc"], "requirements_covered", "R1");
    }
    approved(&with("Below"), &["tlc"]);
}
