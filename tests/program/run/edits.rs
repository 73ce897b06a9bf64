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

/// The file that the request of this attempt in revision 1 offered.
fn offered(bench: &Bench, node: &str, attempt: u32, path: &str) -> String {
    let journal = bench.journal("specs");
    let key = |e: &Value| {
        (e["data"]["key"]["node"] == node, e["data"]["key"]["place"] == 1, e["data"]["key"]["attempt"] == attempt)
    };
    let sent = journal.iter().find(|e| name(e) == "request_sent" && key(e) == (true, true, true)).unwrap();
    let files = sent["data"]["offered"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("{path} was not offered"));
    bench.read(&format!("specs/artifacts/{}", file["sha"].as_str().unwrap()))
}

/// An edit of each node's text, and what it makes of it.
const GOOD_EDITS: [(&str, &str, &str, &str); 3] = [
    ("abstraction", "informal_spec", "The limit.", "The limit, and no more."),
    ("extra_behavior", "formalize", "      n := n + 1;", "      n := 1 + n;"),
    (
        "wrong_invariant",
        "generate_invariants",
        "WitnessFull == n = Max",
        "WitnessFull == n = Max\nWitnessEmpty == n = 1",
    ),
];

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap()
}

/// A script in which these answers repair the text of a node, and what follows is right.
fn repaired_by(category: &str, node: &str, answers: &[String]) -> Script {
    let mut script = with_issue(category);
    for (attempt, answer) in (1..).zip(answers) {
        script = script.answer(node, 1, attempt, "repair", answer);
    }
    if node == "informal_spec" {
        script = script.answer("formalize", 1, 1, "repair", &fenced(MODULE));
    }
    if node != "generate_invariants" {
        script = script.answer("generate_invariants", 1, 1, "draft", &good_sections());
    }
    script
}

fn text_of(bench: &Bench, node: &str) -> String {
    match node {
        "informal_spec" => bench.read("specs/informal_spec.md"),
        _ => bench.read("specs/Spec.tla"),
    }
}

/// Whichever of two edits fits is applied, and only the other one is asked for; a repeated edit changes nothing.
#[test]
fn edits_that_fit_are_applied_and_only_the_others_are_asked_for() {
    for (category, node, search, replace) in GOOD_EDITS {
        let good = edit(search, replace);
        for first in [format!("{good}{}", edit("no such line", "x")), format!("{}{good}", edit("no such line", "x"))] {
            for second in [good.clone(), edit(replace, &format!("{replace} "))] {
                let bench = ending_approved(repaired_by(category, node, &[first.clone(), second]));
                assert!(text_of(&bench, node).contains(last_line(replace)), "{node}");
                let feedback = offered(&bench, node, 2, "feedback.md");
                assert!(feedback.contains("1 edit was applied") && feedback.contains("occur nowhere"), "{feedback}");
                assert!(!feedback.contains("mend it") && !feedback.contains("could not be read"), "{feedback}");
                assert!(offered(&bench, node, 2, "previous.md").contains(last_line(replace)), "{node}");
            }
        }
    }
}

#[test]
fn after_two_answers_with_mistakes_the_edits_that_fitted_are_kept() {
    for (category, node, search, replace) in GOOD_EDITS {
        let first = format!("{}{}", edit(search, replace), edit("no such line", "x"));
        for second in
            ["I cannot do this.".to_owned(), edit("no such line either", "x"), "<<<<<<< SEARCH\nx\n".to_owned()]
        {
            let bench = ending_approved(repaired_by(category, node, &[first.clone(), second]));
            assert!(text_of(&bench, node).contains(last_line(replace)), "{node}");
            bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
        }
    }
}

/// The edits are right but for the place of a new requirement.
#[test]
fn a_wrong_place_among_good_edits_costs_only_its_correction() {
    let line = "R1 [docs/counter.md:4] The counter is never above the limit.";
    let added = |place: &str| format!("{line}\nR2 [docs/counter.md:{place}] It starts at zero.");
    let covered = good_sections().replace("\\* covers R1\n", "\\* covers R1 R2\n");
    let first = format!("{}{}", edit("The limit.", "The limit, and no more."), edit(line, &added("99")));
    let corrected = edit("R2 [docs/counter.md:99] It starts at zero.", "R2 [docs/counter.md:2] It starts at zero.");
    let again = format!("{}{}", edit("The limit.", "The limit, and no more."), edit(line, &added("2")));
    for (second, place) in [(corrected, "2"), (first.clone(), "99"), ("no".to_owned(), "99"), (again, "99")] {
        let script = repaired_by("abstraction", "informal_spec", &[first.clone(), second.clone()]).answer(
            "generate_invariants",
            1,
            1,
            "draft",
            &covered,
        );
        let review =
            serde_json::json!({"verdict": "approved", "issues": [], "accepted_changes": ["covers NeverAbove", "R2"]});
        let script = script.answer("review", 1, 1, "draft", &review.to_string()).having_read_all();
        let bench = bench();
        bench.forge(&script, &[]).expect(0);
        let informal = bench.read("specs/informal_spec.md");
        assert_eq!(
            informal,
            INFORMAL.replace("The limit.", "The limit, and no more.").replace(line, &added(place)),
            "{second}"
        );
        let feedback = offered(&bench, "informal_spec", 2, "feedback.md");
        assert!(feedback.contains("Only this is left") && feedback.contains("99"), "{feedback}");
        assert!(!feedback.contains("mend it") && !feedback.contains("could not be read"), "{feedback}");
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
