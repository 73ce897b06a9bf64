//! What cannot be evaluated in an initial state.

use crate::support::counter::{
    CFG, INVARIANTS, MODULE, WITNESSES, bench, bench_with_java, fenced, good, good_sections, sections,
};
use crate::support::{name, reasons};

/// An invariant that cannot be evaluated in an initial state goes back to its author, not through a check and a review.
#[test]
fn an_invariant_that_cannot_be_evaluated_goes_back_to_its_author() {
    let wrong = good_sections().replace("NeverAbove == n <= Max", "NeverAbove == [i \\in {5} |-> n][n] <= Max");
    let script = good().answer("generate_invariants", 0, 1, "draft", &wrong).answer(
        "generate_invariants",
        0,
        2,
        "repair",
        &good_sections(),
    );
    for bench in [bench(), bench_with_java()] {
        bench.forge(&script, &[]).expect(0);
        let journal = bench.journal("specs");
        let checks = journal.iter().filter(|e| name(e) == "check_finished").count();
        assert_eq!(checks, 1, "{:#?}", reasons(&journal));
        let rejected =
            journal.iter().find(|e| name(e) == "attempt_finished" && e["data"]["event"]["merged"] == "rejected");
        let feedback = rejected.expect("a rejected merge")["data"]["feedback"][0]["text"].to_string();
        assert!(feedback.contains("one of the invariants (TypeOK, NeverAbove) cannot be evaluated"), "{feedback}");
    }
}

/// What the module itself cannot evaluate is no fault of the properties: the check shows it to the review.
#[test]
fn an_initial_predicate_that_cannot_be_evaluated_is_left_to_the_check() {
    let module = MODULE.replace("variables n = 0;", "variables n = [i \\in {5} |-> 0][Max];");
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&module));
    let bench = bench();
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    let check = journal.iter().find(|e| name(e) == "check_finished").expect("a check");
    assert_eq!(check["data"]["outcome"]["verdict"], "invalid", "{:#?}", reasons(&journal));
}

/// A text that the checker refuses before it explores a state goes back to its author: the module if it is refused alone,
/// otherwise the properties.
#[test]
fn what_the_checker_refuses_goes_back_to_its_author_before_a_check() {
    let module = MODULE.replace("while n < Max do", "while n < Max /\\ n < 3000000000 do");
    let properties = good_sections().replace("NeverAbove == n <= Max", "NeverAbove == n <= Max /\\ n < 3000000000");
    let module = good().answer("formalize", 0, 1, "draft", &fenced(&module));
    let module = module.answer("formalize", 0, 2, "repair", &fenced(MODULE));
    let properties = good().answer("generate_invariants", 0, 1, "draft", &properties);
    let properties = properties.answer("generate_invariants", 0, 2, "repair", &good_sections());
    for (script, author) in [(module, "formalize"), (properties, "generate_invariants")] {
        let bench = bench();
        bench.forge(&script, &[]).expect(0);
        let journal = bench.journal("specs");
        let finished = |e: &&serde_json::Value| name(e) == "attempt_finished";
        let feedback: Vec<&serde_json::Value> =
            journal.iter().filter(finished).flat_map(|e| e["data"]["feedback"].as_array().unwrap()).collect();
        assert_eq!(feedback.len(), 1, "{feedback:#?}");
        assert_eq!(feedback[0]["node"], author);
        assert!(feedback[0]["text"].as_str().unwrap().contains("a number of more than 32 bits"), "{feedback:#?}");
        assert_eq!(journal.iter().filter(|e| name(e) == "check_finished").count(), 1);
        assert_eq!(journal.iter().filter(|e| name(e) == "guard_evaluated").count(), 1);
    }
    // A formula that is refused before any state is explored, and that no static check knows.
    let unsupported = counter_property("Settles == \\A i \\in {n} : <>(n >= i)");
    let bench = bench();
    let script = good().answer("generate_invariants", 0, 1, "draft", &unsupported);
    let script = script.answer("generate_invariants", 0, 2, "repair", &good_sections());
    bench.forge(&script, &[]).expect(0);
    let journal = bench.journal("specs");
    assert!(journal.iter().any(|e| e.to_string().contains("a set that depends on the state")));
    assert_eq!(journal.iter().filter(|e| name(e) == "check_finished").count(), 1);
    // Only one side of it is evaluated.
    let mixed = good_sections().replace("NeverAbove == n <= Max", "NeverAbove == n <= Max \\/ \"a\" = <<n>>");
    // In a state that only the types allow, it cannot be evaluated, which decides nothing.
    let accepted = serde_json::json!({"verdict": "approved", "summary": "s", "issues": [],
        "accepted_cfg": [{"name": "NOT FALSIFIED NeverAbove", "reason": "it would be false above the limit"}]});
    for bench in [bench_with_java(), self::bench()] {
        let script = good().answer("generate_invariants", 0, 1, "draft", &mixed);
        bench.forge(&script.answer("review", 0, 1, "draft", &accepted.to_string()).having_read_all(), &[]).expect(0);
    }
}

/// The correct sections with a temporal property.
fn counter_property(definition: &str) -> String {
    let name = definition.split(' ').next().unwrap();
    sections(INVARIANTS, &format!("{definition}\n"), WITNESSES, &format!("{CFG}PROPERTY {name}\n"))
}
