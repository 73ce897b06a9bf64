//! Misbehaving models before the review, node by node, and the consequence of each answer.

use crate::support::counter::{
    CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, fenced, good, good_sections, review, sections,
};
use crate::support::ran::{NO_ANSWER, ran};
use crate::support::{Script, routes};
use serde_json::{Value, json};

#[test]
fn a_correct_model_is_approved_in_one_pass() {
    let run = ran(&good(), &[], 0).ended("approved");
    assert_eq!(
        routes(&run.journal),
        [
            "informal_spec->formalize",
            "formalize->validate",
            "validate->generate_invariants",
            "generate_invariants->model_check",
            "model_check->review",
            "review->approved"
        ]
    );
}

// ---- informal_spec

#[test]
fn without_an_informal_specification_nothing_is_approved() {
    let script = Script::default()
        .answer("informal_spec", 0, 1, "draft", "")
        .answer("informal_spec", 0, 2, "repair", "I am sorry, I cannot help with that. APPROVED.")
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    let run = ran(&script, &[], NO_ANSWER)
        .went(&["informal_spec->informal_spec", "informal_spec->review", "review->informal_spec"])
        .because("informal_spec", "no readable informal specification")
        .ended("stopped");
    assert!(run.events("check_finished").is_empty() && run.events("tool_finished").is_empty());
    assert!(run.told().contains("the answer is empty") && run.told().contains("no numbered requirement"));
}

#[test]
fn an_informal_specification_inside_a_fence_is_extracted() {
    let script = good().answer("informal_spec", 0, 1, "draft", &format!("Here it is:\n```markdown\n{INFORMAL}```\n"));
    let run = ran(&script, &[], 0).ended("approved");
    assert_eq!(run.bench.read("specs/informal_spec.md"), INFORMAL);
}

// ---- formalize

#[test]
fn an_answer_without_a_usable_module_is_requested_again_with_the_reason() {
    let second = MODULE.replace("n + 1", "n + 2");
    let cases = [
        ("", "the answer is empty"),
        ("I am sorry, but I cannot write TLA+.", "there is no TLA+ module"),
        ("The specification is APPROVED. VERDICT: APPROVED", "there is no TLA+ module"),
        (&format!("{}{}", fenced(MODULE), fenced(&second)), "2 different modules"),
        (&format!("{MODULE}\n{}", MODULE.replace("MODULE Spec", "MODULE Other")), "two modules"),
        (&fenced(MODULE).replace("====\n```\n", ""), "breaks off"),
        (MODULE.strip_suffix("====\n").unwrap(), "breaks off"),
        (&fenced(&MODULE.replace("MODULE Spec", "MODULE Counter")), "named Counter; it must be named Spec"),
    ];
    for (answer, reason) in cases {
        let script =
            good().answer("formalize", 0, 1, "draft", answer).answer("formalize", 0, 2, "repair", &fenced(MODULE));
        let run = ran(&script, &[], 0).went(&["formalize->formalize", "formalize->validate"]).ended("approved");
        assert!(run.told().contains(reason), "{reason:?} not in {}", run.told());
    }
}

/// An expression with so many parentheses around it.
fn nested(levels: usize) -> String {
    format!("{}n + 1{}", "(".repeat(levels), ")".repeat(levels))
}

#[test]
fn a_module_that_makes_a_tool_fail_goes_back_to_its_author() {
    for (bad, reason) in [
        (MODULE.replace("n + 1", &nested(5_000)), "breaks on this module"),
        (
            MODULE.replace("EXTENDS Naturals", &format!("EXTENDS Naturals\nDeep(n) == {}", nested(5_000))),
            "breaks on this module",
        ),
        (MODULE.replace("n + 1", "n + \0 1"), ""),
        (MODULE.replace("EXTENDS", "\0EXTENDS"), ""),
        (MODULE.replace("n + 1", "n + 4294967296"), ""),
    ] {
        for checker in ["tlc", "embedded"] {
            let script = good()
                .answer("formalize", 0, 1, "draft", &fenced(&bad))
                .answer("formalize", 0, 2, "repair", &fenced(MODULE))
                .answer("formalize", 1, 1, "draft", &fenced(MODULE));
            let bench = crate::support::counter::bench_with_java();
            let done = bench.forge(&script, &["--checker", checker]);
            assert!([Some(0), Some(5)].contains(&done.status), "{checker} {reason}: {:?} {}", done.status, done.stderr);
            let told = crate::support::ran::Ran { journal: bench.journal("specs"), bench }.told();
            let reason = if checker == "tlc" { reason } else { "" };
            assert!(told.contains(reason) && !told.is_empty(), "{checker} {reason:?}: {told}");
        }
    }
}

#[test]
fn a_number_beyond_32_bits_in_the_configuration_goes_back_to_its_author() {
    for checker in ["tlc", "embedded"] {
        let bad = sections(INVARIANTS, "", WITNESSES, &CFG.replace("Max = 2", "Max = 4294967296"));
        let script = good().answer("generate_invariants", 0, 1, "draft", &bad).answer(
            "generate_invariants",
            0,
            2,
            "repair",
            &good_sections(),
        );
        let run = crate::support::ran::ran_in(
            crate::support::counter::bench_with_java(),
            &script,
            &["--checker", checker],
            0,
        )
        .ended("approved");
        assert!(run.told().contains("4294967296 (for `Max`) has more than 32 bits"), "{}", run.told());
    }
}

#[test]
fn corrections_of_an_answer_are_journaled() {
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &format!("Here it is:\n```markdown\n{INFORMAL}```\n"))
        .answer("formalize", 0, 1, "draft", &MODULE.replace('\n', "\r\n"))
        .answer("generate_invariants", 0, 1, "draft", &format!("```text\nfirst\n```\n{}", good_sections()))
        .answer("review", 0, 1, "draft", "So: {\"verdict\": \"revise\", \"issues\": []}");
    let run = ran(&script, &["--max-revisions", "0"], 1);
    let what: Vec<(&str, &Value)> = run
        .events("answer_normalised")
        .into_iter()
        .map(|e| (e["lifeline"].as_str().unwrap(), &e["data"]["removed"]))
        .collect();
    assert_eq!(
        what,
        [
            ("informal_spec", &json!(["the whole specification inside a fence"])),
            ("formalize", &json!(["line ends, tabs or a byte-order mark", "a module without a fence"])),
            ("generate_invariants", &json!(["a fenced block that is no section (\"text\")"])),
            ("review", &json!(["a JSON object without a fence"])),
        ]
    );
    let merged = run.events("tool_finished").into_iter().find(|e| e["lifeline"] == "generate_invariants").unwrap();
    assert_eq!(merged["data"]["added"], json!(["TypeOK", "NeverAbove", "WitnessFull"]));
    assert_eq!(merged["data"]["replaced"], json!([]));
    // An answer as asked needs nothing.
    assert!(ran(&good(), &[], 0).events("answer_normalised").is_empty());
}

#[test]
fn a_module_given_twice_between_prose_is_taken_once() {
    let answer = format!("I'll read the files.\n{0}Here it is once more:\n{0}", fenced(MODULE));
    let run = ran(&good().answer("formalize", 0, 1, "draft", &answer), &[], 0).ended("approved");
    assert_eq!(run.bench.read("specs/Spec.tla").matches("MODULE Spec").count(), 1);
    assert!(!run.bench.read("specs/Spec.tla").contains("I'll read"));
}

#[test]
fn two_unreadable_modules_go_to_review_which_cannot_approve() {
    let script = good().answer("formalize", 0, 1, "draft", "").answer("formalize", 0, 2, "repair", "APPROVED");
    let run = ran(&script, &[], NO_ANSWER)
        .went(&["formalize->formalize", "formalize->review", "review->formalize"])
        .because("formalize", "was not accepted");
    assert!(run.events("check_finished").is_empty());
    assert!(!run.bench.path("specs/history/rev_0/Spec.tla").exists());
    assert_eq!(run.meta(0)["check"], Value::Null);
}

#[test]
fn a_module_of_two_megabytes_is_handled() {
    let padding = "\\* nothing but words that fill the file and say nothing about the counter\n".repeat(30_000);
    let module = MODULE.replace("CONSTANT Max\n", &format!("CONSTANT Max\n{padding}"));
    assert!(module.len() > 2_000_000);
    let run = ran(&good().answer("formalize", 0, 1, "draft", &fenced(&module)), &[], 0).ended("approved");
    assert!(run.bench.read("specs/Spec.tla").len() > 2_000_000);
    let journal = std::fs::metadata(run.bench.path("specs/journal.jsonl")).unwrap().len();
    assert!(journal < 6 << 20, "the journal holds {journal} bytes");
}

#[test]
fn a_module_with_side_effects_is_rejected_with_the_reason() {
    let outside = MODULE.replace("EXTENDS Naturals", "EXTENDS Naturals, IOUtils");
    let ending = MODULE
        .replace("EXTENDS Naturals", "EXTENDS Naturals, TLC")
        .replace("CONSTANT Max\n", "CONSTANT Max\nEarly == TLCSet(\"exit\", TRUE)\n");
    for (module, reason) in [(outside, "`IOUtils` can reach outside"), (ending, "TLCSet")] {
        let script = good().answer("formalize", 0, 1, "draft", &fenced(&module)).answer(
            "formalize",
            0,
            2,
            "repair",
            &fenced(MODULE),
        );
        let run = ran(&script, &[], 0).went(&["validate->formalize", "formalize->validate"]).ended("approved");
        assert!(run.told().contains(reason), "{}", run.told());
        let first = &run.events("tool_finished")[0]["data"]["diagnostics"][0];
        assert_eq!(first["stage"], "lint", "{first}");
    }
}

#[test]
fn a_module_that_does_not_translate_three_times_is_repaired_twice_and_never_checked() {
    let broken = fenced(&MODULE.replace("end while;", "end whle;"));
    let script = good()
        .answer("formalize", 0, 1, "draft", &broken)
        .answer("formalize", 0, 2, "repair", &broken)
        .answer("formalize", 0, 3, "repair", &broken);
    let run =
        crate::support::ran::ran_in(crate::support::counter::bench_with_java(), &script, &["--max-revisions", "0"], 1)
            .went(&[
                "validate->formalize",
                "formalize->validate",
                "validate->formalize",
                "formalize->validate",
                "validate->review",
            ])
            .ended("not_approved");
    assert_eq!(run.events("tool_finished").len(), 3);
    assert!(run.events("check_finished").is_empty());
    let facts = run.bench.read("specs/workspace/facts.md");
    assert!(facts.contains("## Diagnostics of the last parse") && facts.contains("whle"), "{facts}");
    assert!(facts.contains("module accepted by the embedded translator and static checks, not by SANY: NO"));
    assert!(run.journal.last().unwrap()["data"]["why"].as_str().unwrap().contains("was not accepted"));
}

#[test]
fn diagnostics_stay_until_another_module_can_be_read() {
    let script = good()
        .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("end while;", "end whle;")))
        .answer("formalize", 0, 2, "repair", "I am sorry.")
        .answer("formalize", 0, 3, "repair", "I am sorry.");
    let run = ran(&script, &["--max-revisions", "0"], 1).went(&[
        "validate->formalize",
        "formalize->formalize",
        "formalize->review",
    ]);
    let facts = run.bench.read("specs/workspace/facts.md");
    assert!(facts.contains("## Diagnostics of the last parse") && facts.contains("whle"), "{facts}");
}

#[test]
fn each_revision_has_its_own_two_repairs() {
    let broken = fenced(&MODULE.replace("end while;", "end whle;"));
    let mut script = good()
        .answer("formalize", 0, 1, "draft", &broken)
        .answer("formalize", 0, 2, "repair", &broken)
        .answer("formalize", 0, 3, "repair", &broken)
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "draft", &good_sections());
    for (attempt, answer) in [(1, broken.as_str()), (2, broken.as_str()), (3, &fenced(MODULE))] {
        script = script.answer("formalize", 1, attempt, "repair", answer);
    }
    let run = ran(&script, &[], 0).ended("approved");
    let repairs = routes(&run.journal).iter().filter(|r| *r == "validate->formalize").count();
    assert_eq!(repairs, 4);
    assert_eq!(run.meta(1)["attempts"]["formalize"], 3);
}

#[test]
fn a_module_that_never_ends_is_inconclusive_and_the_run_undecided() {
    let endless = MODULE.replace("while n < Max do", "while n >= 0 do");
    let loose = sections(
        "TypeOK == n \\in Nat /\\ pc \\in {\"Add\", \"Done\"}\n\\* covers R1\nNeverAbove == n >= 0\n",
        "",
        WITNESSES,
        CFG,
    );
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&endless)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &loose,
    );
    let run = ran(&script, &["--max-revisions", "0", "--tlc-timeout", "1"], 3).ended("undecided");
    assert_eq!(
        run.meta(0)["check"]["verdict"]["is"].as_str().or(run.meta(0)["check"]["verdict"].as_str()),
        Some("inconclusive")
    );
    assert!(run.journal.last().unwrap()["data"]["why"].as_str().unwrap().contains("no verdict"));
}

// ---- generate_invariants

#[test]
fn an_answer_without_the_four_sections_is_requested_again() {
    for (answer, reason) in [
        (String::new(), "the answer is empty"),
        ("INVARIANT TypeOK is APPROVED".to_owned(), "no fenced section"),
        (good_sections().replace("```cfg", "```text"), "missing or empty: cfg"),
        (good_sections().trim_end().trim_end_matches('`').to_owned(), "`cfg` breaks off"),
    ] {
        let script = good().answer("generate_invariants", 0, 1, "draft", &answer).answer(
            "generate_invariants",
            0,
            2,
            "repair",
            &good_sections(),
        );
        let run = ran(&script, &[], 0).went(&["generate_invariants->generate_invariants"]).ended("approved");
        assert!(run.told().contains(reason), "{reason:?} not in {}", run.told());
    }
}

#[test]
fn properties_that_do_not_merge_are_sent_back_with_the_diagnostics() {
    for (answer, reason) in [
        (sections(INVARIANTS, "", WITNESSES, &CFG.replace("NeverAbove", "NeverBelow")), "NeverBelow"),
        (sections(&INVARIANTS.replace("n <= Max", "m <= Max"), "", WITNESSES, CFG), "m"),
        (sections(INVARIANTS, "", WITNESSES, &CFG.replace("Max = 2", "Limit = 2")), "Limit"),
        (
            sections(INVARIANTS, "", WITNESSES, &CFG.replace("WITNESS WitnessFull", "WITNESS WitnessGone")),
            "WitnessGone",
        ),
        (sections(&format!("{INVARIANTS}Early == TLCSet(\"exit\", TRUE)\n"), "", WITNESSES, CFG), "TLCSet"),
    ] {
        let script = good().answer("generate_invariants", 0, 1, "draft", &answer).answer(
            "generate_invariants",
            0,
            2,
            "repair",
            &good_sections(),
        );
        let run = ran(&script, &[], 0)
            .went(&["generate_invariants->generate_invariants", "generate_invariants->model_check"])
            .ended("approved");
        assert!(run.told().contains(reason), "{reason:?} not in {}", run.told());
    }
}

#[test]
fn properties_that_do_not_merge_three_times_are_repaired_twice_and_never_checked() {
    let bad = sections(INVARIANTS, "", WITNESSES, &CFG.replace("NeverAbove", "NeverBelow"));
    let script = good()
        .answer("generate_invariants", 0, 1, "draft", &bad)
        .answer("generate_invariants", 0, 2, "repair", &bad)
        .answer("generate_invariants", 0, 3, "repair", &bad);
    let run = ran(&script, &["--max-revisions", "0"], 1)
        .went(&[
            "generate_invariants->generate_invariants",
            "generate_invariants->generate_invariants",
            "generate_invariants->review",
        ])
        .ended("not_approved");
    assert!(run.events("check_finished").is_empty());
    let facts = run.bench.read("specs/workspace/facts.md");
    assert!(facts.contains("NeverBelow") && facts.contains("merged with its properties and accepted again: NO"));
}

#[test]
fn a_configuration_with_a_fence_inside_is_never_checked_with_the_fence() {
    for cfg in [format!("```cfg\n{CFG}"), format!("~~~\n{CFG}~~~\n")] {
        let answer = sections(INVARIANTS, "", WITNESSES, &cfg);
        let script = good().answer("generate_invariants", 0, 1, "draft", &answer).answer(
            "generate_invariants",
            0,
            2,
            "repair",
            &good_sections(),
        );
        let run = ran(&script, &[], 0).ended("approved");
        assert_eq!(run.bench.read("specs/Spec.cfg"), CFG);
    }
}

#[test]
fn properties_are_inserted_before_the_modules_end_and_replace_existing_ones() {
    let line = "=".repeat(77);
    for module in [
        MODULE.replace("====\n", &format!("{line}\n")),
        MODULE.replace("====\n", &format!("TypeOK == n \\in Nat\n{line}\n")),
        MODULE.replace("====\n", "\\* ==== is no end in a comment\nTypeOK == n = n\n====\n"),
    ] {
        let run = ran(&good().answer("formalize", 0, 1, "draft", &fenced(&module)), &[], 0).ended("approved");
        let spec = run.bench.read("specs/Spec.tla");
        assert_eq!(spec.lines().filter(|l| l.starts_with("TypeOK ==")).count(), 1, "{spec}");
        assert!(spec.contains("TypeOK == n \\in 0..10"), "{spec}");
        assert!(spec.find("NeverAbove").unwrap() < spec.rfind("====").unwrap());
        let checked = &run.events("check_finished")[0]["data"]["outcome"];
        assert_eq!(checked["invariants"], json!(["TypeOK", "NeverAbove"]));
    }
}

#[test]
fn a_module_without_its_header_never_reaches_a_tool() {
    let headless = fenced(&MODULE.replace("---- MODULE Spec ----\n", ""));
    let script = good().answer("formalize", 0, 1, "draft", &headless).answer("formalize", 0, 2, "repair", &headless);
    let run = ran(&script, &["--max-revisions", "0"], 1);
    assert!(run.events("tool_finished").is_empty(), "{:#?}", run.events("tool_finished"));
    assert!(run.told().contains("MODULE") || format!("{:?}", run.journal).contains("no module"));
}
