//! A node without feedback whose inputs did not change keeps its answer and asks no model.

use crate::support::counter::{self, CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, fenced, good, issue, sections};
use crate::support::forged::genuine;
use crate::support::{Bench, Script, name, outcome};

/// Who was asked, in order, as `node/revision/purpose`.
fn asked(bench: &Bench) -> Vec<String> {
    let journal = bench.journal("specs");
    let answers = journal.iter().filter(|e| name(e) == "answer_received");
    let words = |e: &serde_json::Value| {
        format!("{}/{}/{}", e["lifeline"].as_str().unwrap(), e["rev"], e["data"]["purpose"].as_str().unwrap())
    };
    answers.map(words).collect()
}

/// A first revision that a review sends back to the informal specification, which becomes this.
fn revised(informal: &str) -> Script {
    good()
        .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "readers are not mentioned"))
        .having_read_all()
        .answer("informal_spec", 1, 1, "repair", informal)
        .answer("review", 1, 1, "draft", &counter::review("approved"))
        .having_read_all()
}

#[test]
fn what_is_only_declared_out_of_scope_asks_for_no_new_module_and_no_new_properties() {
    let bench = counter::bench();
    let informal = format!("{INFORMAL}## Out of scope\n- [docs/counter.md:2] Readers are another protocol.\n");
    bench.forge(&revised(&informal), &[]).expect(0);
    assert_eq!(outcome(&bench.journal("specs")), "approved");
    let first = ["informal_spec/0/draft", "formalize/0/draft", "generate_invariants/0/draft", "review/0/draft"];
    assert_eq!(asked(&bench)[..4], first);
    assert_eq!(asked(&bench)[4..], ["informal_spec/1/repair", "review/1/draft"]);
    let module = bench.read("specs/Spec.tla");
    assert!(module.contains("NeverAbove == n <= Max") && module.contains("BEGIN TRANSLATION"), "{module}");
    genuine(&bench);
}

#[test]
fn a_step_that_changes_asks_for_a_new_module_and_the_same_module_for_no_new_properties() {
    let bench = counter::bench();
    let informal =
        INFORMAL.replace("## Requirements", "## Steps\n- Add [docs/counter.md:3]: n grows.\n## Requirements");
    let script = revised(&informal).answer("formalize", 1, 1, "repair", &fenced(MODULE));
    bench.forge(&script, &[]).expect(0);
    assert_eq!(asked(&bench)[4..], ["informal_spec/1/repair", "formalize/1/repair", "review/1/draft"]);

    let bench = counter::bench();
    let slower = MODULE.replace("n := n + 1", "n := n + 1; \\* one");
    let script = revised(&informal).answer("formalize", 1, 1, "repair", &fenced(&slower));
    let script = script.answer("generate_invariants", 1, 1, "draft", &sections(INVARIANTS, "", WITNESSES, CFG));
    bench.forge(&script, &[]).expect(0);
    assert_eq!(
        asked(&bench)[4..],
        ["informal_spec/1/repair", "formalize/1/repair", "generate_invariants/1/draft", "review/1/draft"]
    );
}
