//! Forgeries in what a configuration lists and what a specification assumes.

use serde_json::{Value, json};

use crate::support::counter::{CFG, INVARIANTS, MODULE, WITNESSES, fenced, good, issue, review, sections};
use crate::support::ran::{NO_ANSWER, Ran, ran};
use crate::support::{Bench, Script};

/// With TLC, and with the embedded checker.
const CHECKERS: [&[&str]; 2] = [&[], &["--checker", "embedded"]];

/// One pass with these pieces, and a review that approves after it has read everything.
fn pass(module: &str, answer: &str) -> Script {
    good().answer("formalize", 0, 1, "draft", &fenced(module)).answer("generate_invariants", 0, 1, "draft", answer)
}

/// The review of the first pass asks for another configuration, and approves what comes.
fn repaired_by(answer: &str) -> Script {
    good()
        .answer("review", 0, 1, "draft", &issue("major", "cfg_mismatch", "another configuration"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", answer)
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all()
}

/// An approval that accepts this.
fn accepting(list: &str, entry: &str) -> String {
    json!({"verdict": "approved", "issues": [], list: [entry]}).to_string()
}

#[track_caller]
fn refused(script: &Script, checker: &[&str], station: &str, why: &str) -> Ran {
    ran(script, checker, NO_ANSWER).went(&[&format!("review->{station}")]).because(station, why).ended("stopped")
}

/// Without the await the counter overshoots, which the initial state does not show.
fn overshoots() -> String {
    MODULE.replace("while n < Max", "while n <= Max")
}

fn as_property() -> String {
    sections(INVARIANTS, "", WITNESSES, &CFG.replace("TypeOK NeverAbove", "TypeOK\nPROPERTY NeverAbove"))
}

#[test]
fn a_state_predicate_listed_as_property_covers_nothing() {
    for checker in CHECKERS {
        let run =
            refused(&pass(&overshoots(), &as_property()), checker, "generate_invariants", "no property other than");
        let check = &run.events("check_finished")[0]["data"]["outcome"];
        assert_eq!((&check["verdict"], &check["bounds"]["initial_only"]), (&json!("holds"), &json!(["NeverAbove"])));
        // Neither does TypeOK count as checked.
        let answer = as_property().replace("INVARIANTS TypeOK\n", "PROPERTY TypeOK\n");
        refused(&pass(&overshoots(), &answer), checker, "generate_invariants", "TypeOK was not among");
        // Beside another property the requirement is still not covered.
        let beside = format!("{INVARIANTS}\\* covers R1\nLow == n <= 9\n");
        let cfg = CFG.replace("TypeOK NeverAbove", "TypeOK Low\nPROPERTY NeverAbove").replace("R1", "R2");
        let beside = sections(&beside.replace("R1\nLow", "R9\nLow"), "", WITNESSES, &cfg);
        refused(&pass(&overshoots(), &beside), checker, "generate_invariants", "no property other than");
    }
}

#[test]
fn an_invariant_that_becomes_a_property_is_a_change() {
    for checker in CHECKERS {
        let script = repaired_by(&as_property());
        refused(&script, checker, "generate_invariants", "no property other than");
        // Another property keeps the requirement covered: the change of the role remains.
        let two = format!("{INVARIANTS}\\* covers R1\nNotAbove == n < Max + 1\n");
        let both = CFG.replace("NeverAbove", "NeverAbove NotAbove");
        let moved = CFG.replace("TypeOK NeverAbove", "TypeOK NotAbove\nPROPERTY NeverAbove");
        let script = repaired_by(&sections(&two, "", WITNESSES, &moved)).answer(
            "generate_invariants",
            0,
            1,
            "draft",
            &sections(&two, "", WITNESSES, &both),
        );
        refused(&script, checker, "review", "not accepted by name: role NeverAbove");
        let accepted = script
            .answer("review", 1, 1, "draft", &accepting("accepted_changes", "role NeverAbove: of the start"))
            .having_read_all();
        ran(&accepted, checker, 0).ended("approved");
    }
}

#[test]
fn an_invariant_that_becomes_a_witness_is_a_change() {
    let two = format!("{INVARIANTS}\\* covers R1\nNotAbove == n < Max + 1\n");
    let moved = format!("{}\\* WITNESS NeverAbove\n", CFG.replace("NeverAbove", "NotAbove"));
    let script = repaired_by(&sections(&two, "", WITNESSES, &moved)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &sections(&two, "", WITNESSES, &CFG.replace("NeverAbove", "NeverAbove NotAbove")),
    );
    refused(&script, &[], "review", "not accepted by name: covers NeverAbove, role NeverAbove");
}

#[test]
fn a_part_of_a_property_outside_its_temporal_operators_is_accepted_by_name() {
    let mixed = format!("{INVARIANTS}Low == n <= 9\n\\* covers R1\nMixed == LET P == NeverAbove IN []Low /\\ P\n");
    let cfg = CFG.replace("TypeOK NeverAbove", "TypeOK\nPROPERTY Mixed");
    let script = pass(&overshoots(), &sections(&mixed, "", WITNESSES, &cfg));
    refused(&script, &[], "generate_invariants", "PROPERTY Mixed (initial states only: P)");
    let accepted = accepting("accepted_cfg", "PROPERTY Mixed (initial states only: P): R1 is about the start");
    ran(&script.answer("review", 0, 1, "draft", &accepted).having_read_all(), &[], 0).ended("approved");
}

#[test]
fn check_says_which_properties_hold_in_the_initial_states_only() {
    let bench = Bench::real();
    let module = "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = 1 - x\n\
                  Spec == Init /\\ [][Next]_x\nBad == x = 0\nMixed == Bad /\\ [](x < 3)\nGood == [](x < 2)\n====\n";
    bench.write("M.tla", module);
    bench.write("M.cfg", "SPECIFICATION Spec\nPROPERTIES Bad Good Mixed\n");
    for checker in CHECKERS {
        bench.run(&[&["check", "M.tla"], checker].concat()).expect(0).prints(&[
            "holds: Bad (initial states only), Good, Mixed",
            "checked in the initial states only: Bad",
            "PROPERTY Mixed (initial states only: Bad)",
        ]);
        let done = bench.run(&[&["check", "M.tla", "--format", "json"], checker].concat()).expect(0);
        let value: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(value["bounds"]["initial_only"], json!(["Bad"]));
    }
}
