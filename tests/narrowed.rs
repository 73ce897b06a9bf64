//! Approvals that rest on less than they seem to: what a configuration replaces or narrows, what a witness does not
//! show, what was made from something else.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod support;

use support::counter::{CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, review, sections};
use support::{Script, name, outcome, reasons};

/// One pass with these answers and a review that approves.
fn pass(module: &str, invariants: &str, witnesses: &str, cfg: &str) -> Script {
    Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .answer("formalize", 0, 1, "draft", &fenced(module))
        .answer("generate_invariants", 0, 1, "draft", &sections(invariants, "", witnesses, cfg))
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all()
}

/// Runs one pass, and asserts that it is not approved, with this clause of the guard.
#[track_caller]
fn refused(script: &Script, clause: &str) {
    let bench = bench();
    bench.forge(script, &["--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    let guard = journal.iter().find(|e| name(e) == "guard_evaluated").expect("the guard was evaluated");
    assert_eq!(guard["data"]["clause"], clause, "{:#?}", reasons(&journal));
    assert_eq!(outcome(&journal), "not_approved");
}

#[test]
fn a_property_that_the_configuration_replaces_is_not_checked() {
    let invariants = format!("{}Yes == TRUE\n", INVARIANTS.replace("n <= Max", "n < Max"));
    let cfg = CFG.replace("CONSTANT Max = 2", "CONSTANTS Max = 2\n  NeverAbove <- Yes");
    refused(&pass(MODULE, &invariants, WITNESSES, &cfg), "no_tautology");
}

#[test]
fn a_configuration_that_explores_less_than_the_specification_must_be_accepted_by_name() {
    let invariants = format!("{INVARIANTS}SmallSpec == Init /\\ [][Next]_vars\n");
    refused(&pass(MODULE, &invariants, WITNESSES, &CFG.replace("Spec\n", "SmallSpec\n")), "cfg_accepted");
    let replaced = CFG.replace("CONSTANT Max = 2", "CONSTANTS Max = 2\n  Limit <- Four");
    let invariants = format!("{INVARIANTS}Limit == 3\nFour == 4\n");
    refused(&pass(MODULE, &invariants, WITNESSES, &replaced), "cfg_accepted");
}

#[test]
fn a_witness_that_holds_from_the_start_shows_nothing() {
    refused(&pass(MODULE, INVARIANTS, "WitnessFull == n >= 0\n", CFG), "witness_exists");
}

#[test]
fn an_action_of_a_set_without_processes_is_dead() {
    let module = MODULE.replace("CONSTANT Max", "CONSTANTS Max, Thieves").replace(
        "begin\n  Add:\n    while n < Max do\n      n := n + 1;\n    end while;\n",
        "process worker = \"w\"\nbegin\n  Add:\n    while n < Max do\n      n := n + 1;\n    end while;\nend process;\n\
         process thief \\in Thieves\nbegin\n  Steal:\n    n := 0;\nend process;\n",
    );
    let invariants = INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", "");
    let cfg = CFG.replace("CONSTANT Max = 2", "CONSTANTS Max = 2\n  Thieves = {}");
    refused(&pass(&module, &invariants, WITNESSES, &cfg), "actions_taken");
}

#[test]
fn randomness_through_an_instance_is_seen() {
    let module = MODULE
        .replace("CONSTANT Max\n", "CONSTANT Max\nT == INSTANCE TLC\n")
        .replace("n := n + 1", "n := T!RandomElement({n + 1})");
    refused(&pass(&module, INVARIANTS, WITNESSES, CFG), "cfg_accepted");
}

#[test]
fn a_module_made_from_an_older_informal_specification_is_not_approved() {
    let script = good()
        .answer("review", 0, 1, "draft", &support::counter::issue("major", "missing_behavior", "a step is missing"))
        .answer("informal_spec", 1, 1, "repair", &INFORMAL.replace("The limit.", "The limit, and resetting."))
        .answer("formalize", 1, 1, "repair", "I am sorry.")
        .answer("formalize", 1, 2, "repair", "I am sorry again.")
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all();
    let bench = bench();
    bench.forge(&script, &["--max-revisions", "1"]).expect(1);
    let journal = bench.journal("specs");
    let last = journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap();
    assert_eq!(last["data"]["clause"], "module_accepted", "{:#?}", reasons(&journal));
}

#[test]
fn a_folder_of_somebody_elses_workspace_is_not_cleared() {
    let bench = bench();
    bench.write("specs/workspace/precious.txt", "mine");
    bench.write("rec.jsonl", good().text());
    bench.run(&["run", "docs", "--recording", "rec.jsonl"]).expect(2).says(&["workspace", "--out"]);
    assert_eq!(bench.read("specs/workspace/precious.txt"), "mine");
    assert!(!bench.path("specs/journal.jsonl").exists());
}

#[test]
fn a_run_of_another_provider_is_never_answered_from_the_built_in_recording() {
    let bench = bench();
    let mut waiting = bench.command(&["run", "docs", "--provider", "handoff"]).spawn().unwrap();
    while !bench.path("specs/handoff/0003-informal_spec/request.md").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    bench.run(&["resume", "specs", "--provider", "replay"]).expect(2).says(&["--recording"]);
}
