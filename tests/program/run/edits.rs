//! A repair can name the lines that it changes instead of repeating a text.

use crate::support::counter::{INFORMAL, MODULE, bench, fenced, good, good_sections, issue, review};
use crate::support::{Bench, Script, name};
use serde_json::Value;

fn edit(search: &str, replace: &str) -> String {
    format!("I change one place.\n\n```\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n")
}

/// A first pass whose review has an issue of this category.
fn with_issue(category: &str) -> Script {
    good().answer("review", 0, 1, "draft", &issue("major", category, "mend it")).having_read_all()
}

fn ending_approved(script: Script) -> Bench {
    let script = script.answer("review", 1, 1, "draft", &review("approved")).having_read_all();
    let bench = bench();
    bench.forge(&script, &[]).expect(0);
    bench
}

#[test]
fn every_repair_can_be_made_of_edits() {
    let bench = ending_approved(
        with_issue("abstraction")
            .answer("informal_spec", 1, 1, "repair", &edit("The limit.", "The limit, and no more."))
            .answer("formalize", 1, 1, "repair", &edit("    while n < Max do", "    while n < Max do \\* below"))
            .answer("generate_invariants", 1, 1, "draft", &good_sections()),
    );
    assert_eq!(bench.read("specs/informal_spec.md"), INFORMAL.replace("The limit.", "The limit, and no more."));
    assert!(bench.read("specs/Spec.tla").contains("while n < Max do \\* below\n      n := n + 1;"));
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);

    let bench = ending_approved(with_issue("wrong_invariant").answer(
        "generate_invariants",
        1,
        1,
        "repair",
        &edit("WitnessFull == n = Max", "WitnessFull == n = Max\nWitnessEmpty == n = 1"),
    ));
    let module = bench.read("specs/Spec.tla");
    assert!(module.contains("WitnessEmpty == n = 1") && module.contains("NeverAbove == n <= Max"), "{module}");
}

#[test]
fn edits_that_do_not_fit_change_nothing_and_are_asked_for_again() {
    for (category, node, original) in [
        ("abstraction", "informal_spec", "The limit."),
        ("extra_behavior", "formalize", "      n := n + 1;"),
        ("wrong_invariant", "generate_invariants", "WitnessFull == n = Max"),
    ] {
        let script = with_issue(category).answer(node, 1, 1, "repair", &edit("no such line", "x")).answer(
            node,
            1,
            2,
            "repair",
            &edit(original, original),
        );
        let script = match node {
            "informal_spec" => script.answer("formalize", 1, 1, "repair", &fenced(MODULE)),
            _ => script,
        };
        let script = match node {
            "generate_invariants" => script,
            _ => script.answer("generate_invariants", 1, 1, "draft", &good_sections()),
        };
        let bench = ending_approved(script);
        let journal = bench.journal("specs");
        let asked: Vec<String> =
            journal.iter().filter(|e| name(e) == "attempt_finished").map(Value::to_string).collect();
        assert!(asked.iter().any(|event| event.contains("its lines occur nowhere in `previous.md`")), "{node}");
        assert_eq!(bench.read("specs/informal_spec.md"), INFORMAL, "{node}");
        let edits = "edits, applied to the previous version";
        assert_eq!(journal.iter().filter(|e| e.to_string().contains(edits)).count(), 1, "{node}");
    }
}

/// An edit block holds a requirement line, so the block alone would be read as an informal specification.
#[test]
fn an_edit_of_a_requirement_that_does_not_fit_is_not_taken_for_the_specification() {
    let line = "R1 [docs/counter.md:4] The counter is never above the limit.";
    let script = with_issue("abstraction")
        .answer("informal_spec", 1, 1, "repair", &edit("R1 no such line", line))
        .answer("informal_spec", 1, 2, "repair", &edit(line, &format!("{line} (safety)")))
        .answer("formalize", 1, 1, "repair", &fenced(MODULE))
        .answer("generate_invariants", 1, 1, "draft", &good_sections());
    let review = serde_json::json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_changes": ["R1"]});
    let script = script.answer("review", 1, 1, "draft", &review.to_string()).having_read_all();
    let bench = bench();
    bench.forge(&script, &[]).expect(0);
    assert_eq!(bench.read("specs/informal_spec.md"), INFORMAL.replace(line, &format!("{line} (safety)")));
}

#[test]
fn no_request_repeats_what_another_file_of_it_has() {
    let informal = format!("{INFORMAL}## Open points\n- none\n## Out of scope\n- [docs/counter.md:1] Titles.\n");
    let bench = bench();
    bench.forge(&good().answer("informal_spec", 0, 1, "draft", &informal), &[]).expect(0);
    let offered = |node: &str| {
        let journal = bench.journal("specs");
        let sent = journal.iter().find(|e| name(e) == "request_sent" && e["lifeline"] == node).unwrap();
        let files = sent["data"]["offered"].as_array().unwrap();
        let file = files.iter().find(|file| file["path"] == "informal_spec.md").unwrap();
        bench.read(&format!("specs/artifacts/{}", file["sha"].as_str().unwrap()))
    };
    for node in ["formalize", "generate_invariants"] {
        let text = offered(node);
        assert!(text.contains("R1 [") && !text.contains("Out of scope") && !text.contains("Other concerns"), "{text}");
    }
    let text = offered("review");
    assert!(text.contains("## Concern") && !text.contains("R1 [") && !text.contains("Out of scope"), "{text}");
    assert!(bench.read("specs/workspace/facts.md").contains("- R1 ["));
}
