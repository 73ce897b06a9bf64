//! Forgeries that are visible only in the parsed and resolved module.

use crate::forged::{Answers, BOTH, TLC, approved, checkers_to_run, refused, sent_back};
use crate::support::counter::{CFG, INFORMAL, INVARIANTS, MODULE, bench_with_java as bench};
use crate::support::reasons;

/// The counter without an algorithm, with these lines before its actions and this guard on its step.
fn plain(extends: &str, before: &str, guard: &str) -> Answers {
    Answers {
        module: format!(
            "---- MODULE Spec ----\nEXTENDS {extends}\nCONSTANT Max\nVARIABLE n\n{before}Init == n = 0\n\
             Inc == {guard} /\\ n < Max /\\ n' = n + 1\nReset == n = Max /\\ n' = 0\nNext == Inc \\/ Reset\n\
             Spec == Init /\\ [][Next]_n\n====\n"
        ),
        invariants: INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", ""),
        ..Answers::default()
    }
}

#[test]
fn what_the_checker_knows_of_its_own_run_is_seen_in_every_spelling() {
    let level = |operator: &str| format!("{operator}(\"level\") < 9");
    for (extends, before, operator) in [
        ("Naturals", "T == INSTANCE TLC\n", "T ! TLCGet"),
        ("Naturals", "T == INSTANCE TLC\n", "T!(* x *)TLCGet"),
        ("Naturals", "T == INSTANCE TLC\n", "T!\\* x\n        TLCGet"),
        ("Naturals, TLC", "Level(x) == TLCGet(x)\n", "Level"),
        ("Naturals", "Get(x) == LET T == INSTANCE TLC IN T!TLCGet(x)\n", "Get"),
    ] {
        refused(&plain(extends, before, &level(operator)), &TLC, "cfg_accepted", "TLCGet");
    }
}

#[test]
fn an_operator_handed_on_as_an_argument_is_seen() {
    let applied = plain("Naturals, TLC", "Apply(F(_), x) == F(x)\n", "Apply(TLCGet, \"level\") < 9");
    refused(&applied, &TLC, "cfg_accepted", "TLCGet");
}

#[test]
fn an_operator_with_such_a_name_of_ones_own_is_no_bound() {
    let own = plain("Naturals", "RandomSubset == 3\nM == [TLCGet |-> 1]\n", "RandomSubset = 3 /\\ M.TLCGet = 1");
    approved(&own, &BOTH);
}

#[test]
fn chance_in_an_algorithm_is_seen() {
    let module = MODULE
        .replace("CONSTANT Max\n", "CONSTANT Max\nT == INSTANCE TLC\n")
        .replace("n := n + 1", "n := T ! (* x *) RandomElement({n + 1})");
    refused(&Answers { module, ..Answers::default() }, &TLC, "cfg_accepted", "RandomElement");
}

/// The counter with this text before its end.
fn ending(text: &str) -> Answers {
    Answers { module: MODULE.replace("====", &format!("{text}====")), ..Answers::default() }
}

#[test]
fn a_second_algorithm_block_is_refused() {
    for second in [
        "(* --algorithm Shown\nbegin\n  Sub: skip;\nend algorithm; *)\n",
        "(* --fair algorithm Shown\nbegin\n  Sub: skip;\nend algorithm; *)\n",
        "\\* -- algorithm Shown begin Sub: skip; end algorithm\n",
    ] {
        sent_back(&ending(second), "formalize", "2 algorithms");
    }
    let first = MODULE.replace("CONSTANT Max\n", "CONSTANT Max\n\\* --algorithm Shown\n");
    sent_back(&Answers { module: first, ..Answers::default() }, "formalize", "2 algorithms");
    let invariants = format!("(* --algorithm Shown begin Sub: skip; end algorithm *)\n{INVARIANTS}");
    sent_back(&Answers { invariants, ..Answers::default() }, "generate_invariants", "algorithm");
}

#[test]
fn an_algorithm_that_is_only_shown_is_refused() {
    let mut answers = plain("Naturals", "(* -- algorithm Shown begin Add: skip; end algorithm *)\n", "TRUE");
    answers.review["accepted_changes"] = serde_json::json!(["TypeOK"]);
    sent_back(&answers, "formalize", "this is not how an algorithm begins");
    answers.module = answers.module.replace("-- algorithm", "the algorithm of");
    approved(&answers, &BOTH);
}

#[test]
fn a_translation_that_is_not_the_translators_is_refused() {
    let hidden = "Hidden == TRUE\n";
    for marked in [
        format!("\\* BEGIN TRANSLATION\n{hidden}\\* END TRANSLATION\n"),
        format!("\\* BEGIN  TRANSLATION\n{hidden}\\* END\tTRANSLATION\n"),
        format!("(* BEGIN TRANSLATION *)\n{hidden}(* END TRANSLATION *)\n"),
        format!("\\* BEGIN TRANSLATION\n\\* END TRANSLATION\n\\* BEGIN TRANSLATION\n{hidden}\\* END TRANSLATION\n"),
    ] {
        sent_back(&ending(&marked), "formalize", "TRANSLATION");
        let invariants = format!("{marked}{INVARIANTS}");
        let line = format!("\\* BEGIN TRANSLATION\n{INVARIANTS}");
        for invariants in [invariants, line] {
            if invariants.starts_with("(*") {
                sent_back(&Answers { invariants, ..Answers::default() }, "generate_invariants", "TRANSLATION");
            }
        }
    }
}

#[test]
fn the_translators_own_output_and_an_empty_block_are_no_forgery() {
    let empty = ending("\\* BEGIN TRANSLATION\n\n\\* END TRANSLATION\n");
    approved(&empty, &BOTH);
    let of = bench();
    of.write("Spec.tla", MODULE);
    let translated = of.run(&["translate", "Spec.tla"]).expect(0).stdout;
    assert!(translated.contains("BEGIN TRANSLATION"), "{translated}");
    approved(&Answers { module: translated.clone(), ..Answers::default() }, &BOTH);
    let changed = translated.replace("n' = n + 1", "n' = n + 2");
    assert_ne!(changed, translated);
    sent_back(&Answers { module: changed, ..Answers::default() }, "formalize", "TRANSLATION");
}

#[test]
fn a_standard_operator_that_the_module_defines_itself_must_be_accepted_by_name() {
    let own = "Cardinality(S) == IF 9 \\in S THEN 9 ELSE 0\n";
    let invariants = format!("{}Few == Cardinality(0..n) <= Max\n", INVARIANTS.replace("NeverAbove == n <= Max\n", ""));
    let forged = |module: &str, invariants: &str| Answers {
        module: module.to_owned(),
        invariants: invariants.to_owned(),
        cfg: CFG.replace("NeverAbove", "Few"),
        ..Answers::default()
    };
    let module = MODULE.replace("CONSTANT Max\n", &format!("CONSTANT Max\n{own}"));
    let mut answers = forged(&module, &invariants);
    refused(&answers, &BOTH, "cfg_accepted", "REDEFINED Cardinality");
    answers.review["accepted_cfg"] = serde_json::json!(["REDEFINED Cardinality: the documents count so"]);
    approved(&answers, &BOTH);
    let inside = invariants.replace("Few == ", "Few == LET Cardinality(S) == IF 9 \\in S THEN 9 ELSE 0 IN ");
    refused(&forged(MODULE, &inside), &BOTH, "cfg_accepted", "REDEFINED Cardinality");
}

#[test]
fn a_name_that_stands_twice_in_a_review_makes_it_unreadable() {
    let twice = "{\"verdict\": \"revise\", \"summary\": \"s\", \"issues\": [], \"verdict\": \"approved\"}";
    for script in [Answers::default().first(), Answers::default().repair()] {
        let place = u32::from(script.text().contains("a step is missing"));
        let script = script.answer("review", place, 1, "draft", twice).having_read_all();
        let script = script.answer("review", place, 2, "repair", twice).having_read_all();
        let bench = bench();
        bench.forge(&script, &["--max-revisions", &place.to_string(), "--checker", "embedded"]).expect(1);
        let told = reasons(&bench.journal("specs"));
        assert!(told.iter().any(|why| why.contains("duplicate key `verdict`")), "{told:#?}");
    }
}

/// The counter with a covering property of the forger's: its definition, and its role in the configuration.
fn covering(before: &str, definition: &str, role: &str) -> Answers {
    let definition = format!("{before}\\* covers R1\nNeverAbove == {definition}\n");
    let type_ok = INVARIANTS.split_inclusive('\n').next().unwrap();
    let (invariants, properties, cfg) = match role {
        "INVARIANT" => (format!("{type_ok}{definition}"), String::new(), CFG.to_owned()),
        _ => (type_ok.to_owned(), definition, CFG.replace(" NeverAbove\n", "\nPROPERTY NeverAbove\n")),
    };
    let mut answers = Answers { invariants, properties, cfg, ..Answers::default() };
    answers.review["accepted_changes"] = serde_json::json!(["NeverAbove: as before"]);
    answers
}

#[test]
fn a_property_that_is_true_by_definition_covers_nothing() {
    for (before, definition, role) in [
        ("", "Spec", "PROPERTY"),
        ("", "Init", "PROPERTY"),
        ("", "[][Next]_vars", "PROPERTY"),
        ("", "[][vars' # vars]_vars", "PROPERTY"),
        ("", "IF n > Max THEN n >= 0 \\/ n < 0 ELSE n = n", "INVARIANT"),
        ("", "LET x == n IN x = n", "INVARIANT"),
        ("Same(a) == a\n", "n <= Same(n)", "INVARIANT"),
        ("Next1(a) == a + 1\n", "n <= Next1(n)", "INVARIANT"),
        ("", "<<n, Max>>[1] = n", "INVARIANT"),
        ("", "[](n = 1 => <>(n = 1))", "PROPERTY"),
    ] {
        let checkers: &[&str] = if role == "PROPERTY" { &TLC } else { &["embedded"] };
        // A state predicate under PROPERTY is refused before, because it was checked in the initial states only.
        let (clause, named) = match definition {
            "Init" => ("property_covers", "no property other than TypeOK"),
            _ => ("no_tautology", "NeverAbove ("),
        };
        refused(&covering(before, definition, role), checkers, clause, named);
    }
}

#[test]
fn a_predicate_over_variables_that_no_action_changes_covers_nothing() {
    let mut answers = covering("", "limit <= 10", "INVARIANT");
    answers.module = MODULE.replace("variables n = 0;", "variables n = 0, limit = 3;");
    refused(&answers, &BOTH, "no_tautology", "no action changes a variable");
}

/// A counter whose absence of deadlocks is to cover a second requirement, with this process beside the worker.
fn with_process(process: &str) -> Answers {
    let module = MODULE.replace(
        "begin\n  Add:\n    while n < Max do\n      n := n + 1;\n    end while;\n",
        &format!(
            "process worker = 1\nbegin\n  Add:\n    while TRUE do\n      await n < Max;\n      n := n + 1;\n    end while;\n\
             end process;\nprocess other = 2\n{process}end process;\n"
        ),
    );
    Answers {
        informal: format!("{INFORMAL}R2 [docs/counter.md:3] It never gets stuck below the limit.\n"),
        module,
        invariants: INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", ""),
        cfg: format!("{CFG}\\* Deadlock covers R2\n"),
        review: serde_json::json!({
            "verdict": "approved", "issues": [], "accepted_changes": ["TypeOK: as before", "R2: as the document says"],
        }),
        ..Answers::default()
    }
}

#[test]
fn the_absence_of_deadlocks_covers_nothing_if_none_can_occur() {
    let idle = "begin\n  Idle:\n    skip;\n    goto Idle;\n";
    refused(&with_process(idle), &BOTH, "requirements_covered", "R2");
    for process in [
        "begin\n  One:\n    skip;\n  Two:\n    goto One;\n",
        "begin\n  Idle:\n    while TRUE do\n      either skip; or await n = 0; end either;\n    end while;\n",
    ] {
        refused(&with_process(process), &["embedded"], "requirements_covered", "R2");
    }
    let reset = "begin\n  Reset:\n    while TRUE do\n      await n = Max;\n      n := 0;\n    end while;\n";
    approved(&with_process(reset), &BOTH);
}

#[test]
fn one_process_of_a_set_that_never_waits_takes_the_worth_of_deadlock_freedom() {
    let set = |first: &str| {
        let reset = "while TRUE do\n        await n = Max;\n        n := 0;\n      end while;\n";
        let mut answers = with_process(&format!(
            "begin\n  Which:\n    if self = 3 then\n  First:\n      {first}    else\n  Reset:\n      {reset}    end if;\n"
        ));
        answers.module = answers.module.replace("process other = 2", "process other \\in {2, 3}");
        answers
    };
    refused(&set("while TRUE do\n        skip;\n      end while;\n"), &BOTH, "requirements_covered", "R2");
    let waiting = "while TRUE do\n        await n = Max;\n      end while;\n";
    approved(&set(waiting), &["embedded"]);
}

#[test]
fn processes_that_take_turns_beside_the_protocol_take_the_worth_of_deadlock_freedom() {
    let turns = |second: &str| {
        let mut answers = with_process(&format!(
            "begin\n  Ping:\n    while TRUE do\n      await turn = 0;\n      turn := 1;\n    end while;\nend process;\n\
             process third = 3\nbegin\n  Pong:\n    while TRUE do\n      await turn = 1{second};\n      turn := 0;\n    \
             end while;\n"
        ));
        answers.module = answers.module.replace("variables n = 0;", "variables n = 0, turn = 0;");
        answers
    };
    refused(&turns(""), &BOTH, "requirements_covered", "R2");
    // One of them waits for the worker.
    approved(&turns(" /\\ n = Max;\n      n := 0"), &["embedded"]);
    let mut answers =
        plain("Naturals", "Ping == t = 0 /\\ t' = 1 /\\ UNCHANGED n\nPong == t = 1 /\\ t' = 0 /\\ n' = n\n", "t' = t");
    answers.module =
        answers.module.replace("VARIABLE n", "VARIABLES n, t").replace("n' = 0", "n' = 0 /\\ UNCHANGED <<t>>");
    answers.module = answers.module.replace("Init == n = 0", "Init == n = 0 /\\ t = 0").replace("]_n", "]_<<n, t>>");
    answers.module = answers.module.replace("Inc \\/ Reset", "Inc \\/ Reset \\/ Ping \\/ Pong");
    let more = with_process("");
    let answers = Answers { informal: more.informal, cfg: more.cfg, review: more.review, ..answers };
    refused(&answers, &["embedded"], "requirements_covered", "R2");
}

#[test]
fn a_step_that_no_state_disables_takes_the_worth_of_deadlock_freedom() {
    let more = with_process("");
    for next in [
        "n' = IF n < Max THEN n + 1 ELSE 0",
        "\\E i \\in {0, 1, 2} : n' = i",
        "IF n < Max THEN n' = n + 1 ELSE n' \\in {0, 1}",
    ] {
        let mut answers = plain("Naturals", "", "TRUE");
        answers.module = answers.module.replace("Next == Inc \\/ Reset", &format!("Next == {next}"));
        let more = more.clone();
        let answers = Answers { informal: more.informal, cfg: more.cfg, review: more.review, ..answers };
        refused(&answers, &["embedded"], "requirements_covered", "R2");
    }
}

#[test]
fn a_step_that_changes_nothing_takes_the_worth_of_deadlock_freedom() {
    let mut answers = plain("Naturals", "Even == n % 2 = 0 /\\ UNCHANGED n\nOdd == n % 2 = 1 /\\ n' = n\n", "TRUE");
    answers.module = answers.module.replace("Inc \\/ Reset", "Inc \\/ Reset \\/ Even \\/ Odd");
    let more = with_process("");
    answers.informal = more.informal;
    answers.cfg = more.cfg;
    answers.review = more.review;
    refused(&answers, &["embedded"], "requirements_covered", "R2");
}

#[test]
fn a_premise_is_found_in_every_form() {
    for checker in checkers_to_run(&BOTH) {
        let bench = bench();
        let invariants = format!(
            "Above(a, b) == a > b => n = 7\nNot(a) == ~(n = a) \\/ n > 8\nBelow == n > 4 => n = 3\n{}",
            INVARIANTS.replace(
                "n <= Max\n",
                "/\\ \\A i \\in {5, 6} : Above(n, i) /\\ Below\n              /\\ Not(9)\n              \
                 /\\ IF n = 8 THEN n = 1 ELSE n <= Max\n"
            )
        );
        let answers = Answers { invariants, ..Answers::default() };
        bench
            .forge(&answers.first(), &["--checker", checker, "--max-revisions", "0"])
            .expect(1)
            .prints(&["cfg_accepted"]);
        let check = bench.read("specs/workspace/check.md");
        for premise in ["a > b", "n > 4", "n = a", "n = 8"] {
            assert!(check.contains(&format!("NeverAbove: `{premise}` (never satisfied)")), "{premise}: {check}");
        }
        assert!(!check.contains("not decided") && !check.contains("~(n = 8)"), "{check}");
    }
}

#[test]
fn a_premise_that_no_reachable_state_satisfies_is_listed() {
    for checker in checkers_to_run(&BOTH) {
        let bench = bench();
        let invariants =
            INVARIANTS.replace("n <= Max\n", "/\\ n > Max => n = 7\n              /\\ n = Max => n <= Max\n");
        let answers = Answers { invariants, ..Answers::default() };
        let done = bench.forge(&answers.first(), &["--checker", checker, "--max-revisions", "0"]).expect(1);
        done.prints(&["NeverAbove: `n > Max`", "cfg_accepted"]);
        let check = bench.read("specs/workspace/check.md");
        assert!(check.contains("NeverAbove: `n > Max` (never satisfied)"), "{check}");
        assert!(!check.contains("`n = Max`"), "{check}");
    }
}

#[test]
fn a_property_that_the_specification_itself_enforces_must_be_accepted_by_name() {
    let step = "Next == Inc \\/ Reset";
    for forged in ["Next == (Inc \\/ Reset) /\\ n' <= Max", "Next == (Inc \\/ Reset) /\\ ~(n' > Max)"] {
        let mut answers = plain("Naturals", "", "TRUE");
        answers.module = answers.module.replace(step, forged);
        refused(&answers, &BOTH, "cfg_accepted", "ENFORCED NeverAbove");
        answers.review["accepted_cfg"] = serde_json::json!(["ENFORCED NeverAbove: the documents demand this check"]);
        approved(&answers, &BOTH);
    }
    let module = MODULE.replace("n := n + 1;", "n := n + 1; await n <= Max;");
    assert_ne!(module, MODULE);
    refused(&Answers { module, ..Answers::default() }, &BOTH, "cfg_accepted", "ENFORCED NeverAbove");
}
