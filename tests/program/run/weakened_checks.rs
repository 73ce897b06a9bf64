//! Approvals with a weaker basis than they seem to have: replaced or restricted definitions, trivial witnesses, outdated
//! inputs.

use crate::support::counter::{
    CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, bench_with_java, fenced, good, good_sections, issue, review,
    sections,
};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Script, name, outcome, reasons};

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
    refused_in(&bench(), script, clause);
}

#[track_caller]
fn refused_in(bench: &Bench, script: &Script, clause: &str) {
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
fn an_action_of_an_empty_process_set_is_dead() {
    let module = MODULE.replace("CONSTANT Max", "CONSTANTS Max, Thieves").replace(
        "begin\n  Add:\n    while n < Max do\n      n := n + 1;\n    end while;\n",
        "process worker = \"w\"\nbegin\n  Add:\n    while n < Max do\n      n := n + 1;\n    end while;\nend process;\n\
         process thief \\in Thieves\nbegin\n  Steal:\n    n := 0;\nend process;\n",
    );
    let invariants = INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", "");
    let cfg = CFG.replace("CONSTANT Max = 2", "CONSTANTS Max = 2\n  Thieves = {}");
    refused(&pass(&module, &invariants, WITNESSES, &cfg), "actions_taken");
}

/// The counter without an algorithm; `Next` stands in line 8.
fn plain(next: &str) -> String {
    format!(
        "---- MODULE Spec ----\nEXTENDS Naturals, TLC\nCONSTANTS Max, P\nVARIABLE n\nInit == n = 0\n\
         Inc == n < Max /\\ n' = n + 1\nSend(p) == n = 0 /\\ n' = p\nNext == {next}\nSpec == Init /\\ [][Next]_n\n====\n"
    )
}

fn plain_pass(next: &str, processes: &str, review: &str) -> Script {
    let invariants = INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", "");
    let cfg = CFG.replace("CONSTANT Max = 2", &format!("CONSTANTS Max = 2\n  P = {processes}\nCHECK_DEADLOCK FALSE"));
    pass(&plain(next), &invariants, WITNESSES, &cfg).answer("review", 0, 1, "draft", review).having_read_all()
}

fn approving(intended_dead: &[&str]) -> String {
    let deadlock = "CHECK_DEADLOCK FALSE: it stops at the limit";
    serde_json::json!({"verdict": "approved", "issues": [], "intended_dead": intended_dead, "accepted_cfg": [deadlock]})
        .to_string()
}

#[test]
fn an_unnamed_disjunct_of_next_that_is_never_taken_is_dead() {
    let next = "Inc \\/ (n = Max /\\ n' = 0) \\/ (n = 99 /\\ n' = 7)";
    refused(&plain_pass(next, "{1}", &approving(&[])), "actions_taken");
    // Another part, and the whole, are not what is dead.
    refused(&plain_pass(next, "{1}", &approving(&["Next", "Next (line 8, column 17)"])), "actions_taken");
    let bench = bench();
    bench.forge(&plain_pass(next, "{1}", &approving(&["Next (line 8, column 40): a guard"])), &[]).expect(0);
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("actions that are never taken: Next (line 8, column 40)"), "{facts}");
    let list = "\n  \\/ Inc\n  \\/ n = 99 /\\ n' = 7\n  \\/ n = Max /\\ n' = 0";
    refused(&plain_pass(list, "{1}", &approving(&["Next (line 11)"])), "actions_taken");
    crate::support::counter::bench().forge(&plain_pass(list, "{1}", &approving(&["Next (line 10)"])), &[]).expect(0);
}

#[test]
fn an_action_of_an_empty_set_is_dead_in_a_plain_module_too() {
    let next = "Inc \\/ \\E p \\in P : Send(p)";
    crate::support::counter::bench().forge(&plain_pass(next, "{1}", &approving(&[])), &[]).expect(0);
    refused(&plain_pass(next, "{}", &approving(&[])), "actions_taken");
    let accepted = approving(&["Send"]).replace("]}", ",\"P = {}: nobody sends\"]}");
    crate::support::counter::bench().forge(&plain_pass(next, "{}", &accepted), &[]).expect(0);
    let unnamed = "Inc \\/ (n = Max /\\ n' = 0) \\/ (\\E p \\in P : n = 0 /\\ n' = p)";
    refused(&plain_pass(unnamed, "{}", &approving(&[])), "actions_taken");
}

#[test]
fn operators_that_read_the_checkers_state_are_bounds_to_accept() {
    let script = |step: &str, accepted: &str| {
        let review = approving(&[]).replace("]}", &format!("{accepted}]}}"));
        let module = plain("Inc \\/ (n = Max /\\ n' = 0)").replace("n < Max", &format!("{step} /\\ n < Max"));
        let invariants = INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", "");
        let cfg = CFG.replace("CONSTANT Max = 2", "CONSTANTS Max = 2\n  P = {1}\nCHECK_DEADLOCK FALSE");
        pass(&module, &invariants, WITNESSES, &cfg).answer("review", 0, 1, "draft", &review).having_read_all()
    };
    let level = "TLCGet(\"level\") < 4";
    refused_in(&bench_with_java(), &script(level, ""), "cfg_accepted");
    refused_in(&bench_with_java(), &script(level, ",\"TLCGet\""), "cfg_accepted");
    bench_with_java().forge(&script(level, ",\"TLCGet: three steps show it all\""), &[]).expect(0);
    refused_in(&bench_with_java(), &script("TLCSet(1, n)", ""), "cfg_accepted");
    refused_in(&bench_with_java(), &script("JavaTime > 0", ""), "cfg_accepted");
    // It computes the same value earlier.
    bench_with_java().forge(&script("TLCEval(TRUE)", ""), &[]).expect(0);
}

#[test]
fn randomness_through_an_instance_is_detected() {
    let module = MODULE
        .replace("CONSTANT Max\n", "CONSTANT Max\nT == INSTANCE TLC\n")
        .replace("n := n + 1", "n := T!RandomElement({n + 1})");
    refused_in(&bench_with_java(), &pass(&module, INVARIANTS, WITNESSES, CFG), "cfg_accepted");
}

#[test]
fn randomness_in_a_definition_is_detected() {
    let extended = MODULE.replace("EXTENDS Naturals", "EXTENDS Naturals, TLC");
    let step = extended.replace("n := n + 1", "n := RandomElement({n + 1})");
    refused_in(&bench_with_java(), &pass(&step, INVARIANTS, WITNESSES, CFG), "cfg_accepted");
    let invariants = format!("Some == RandomElement({{0, 0}})\n{}", INVARIANTS.replace("n <= Max", "n <= Max + Some"));
    refused_in(&bench_with_java(), &pass(&extended, &invariants, WITNESSES, CFG), "cfg_accepted");
}

#[test]
fn a_bound_is_accepted_with_a_reason_only() {
    let constrained = |acceptance: &str| {
        let review = format!("{{\"verdict\":\"approved\",\"issues\":[],\"accepted_cfg\":[\"{acceptance}\"]}}");
        pass(MODULE, &format!("{INVARIANTS}Small == n < 5\n"), WITNESSES, &format!("{CFG}CONSTRAINT Small\n"))
            .answer("review", 0, 1, "draft", &review)
            .having_read_all()
    };
    refused(&constrained("CONSTRAINT Small"), "cfg_accepted");
    bench().forge(&constrained("CONSTRAINT Small: no worker adds more"), &[]).expect(0);
}

/// A second requirement, of progress.
fn two_requirements() -> String {
    format!("{INFORMAL}R2 [docs/counter.md:3] It never\n  gets   stuck below the limit.\n")
}

/// Runs the script, then asserts the last word of the approval guard.
#[track_caller]
fn last_clause(bench: &Bench, clause: &str, named: &str) {
    let journal = bench.journal("specs");
    let last = journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap();
    assert_eq!(last["data"]["clause"], clause, "{:#?}", reasons(&journal));
    assert!(reasons(&journal).last().unwrap().contains(named), "{:#?}", reasons(&journal));
}

#[test]
fn a_weakened_requirement_must_be_accepted_by_name() {
    let revised = |requirement: &str| {
        good()
            .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "a step is missing"))
            .having_read_all()
            .answer("informal_spec", 1, 1, "repair", &INFORMAL.replace("is never above the limit", requirement))
            .answer("formalize", 1, 1, "repair", &fenced(MODULE))
            .answer("generate_invariants", 1, 1, "draft", &good_sections())
            .answer("review", 1, 1, "draft", &review("approved"))
            .having_read_all()
    };
    let soft = revised("is rarely above the limit");
    let refused = bench();
    refused.forge(&soft, &["--max-revisions", "1"]).expect(1);
    last_clause(&refused, "changes_named", "R1");
    let naming = "{\"verdict\":\"approved\",\"issues\":[],\"accepted_changes\":[\"R01: the document says so\"]}";
    let accepted = bench();
    accepted.forge(&soft.answer("review", 2, 1, "repair", naming).having_read_all(), &[]).expect(0);
    let facts = accepted.read("specs/workspace/facts.md");
    let shown = "`R1` CHANGED from `The counter is never above the limit. [docs/counter.md:4]` to `The counter is rarely \
                 above the limit. [docs/counter.md:4]`";
    assert!(facts.contains(shown), "{facts}");
    // The same words about another passage are another requirement.
    let moved = good()
        .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "a step is missing"))
        .having_read_all()
        .answer("informal_spec", 1, 1, "repair", &INFORMAL.replace("counter.md:4]", "counter.md:3-4]"))
        .answer("formalize", 1, 1, "repair", &fenced(MODULE))
        .answer("generate_invariants", 1, 1, "draft", &good_sections())
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all();
    let refused = self::bench();
    refused.forge(&moved, &["--max-revisions", "1"]).expect(1);
    last_clause(&refused, "changes_named", "R1");
    // White space is no change.
    bench().forge(&revised("is  never above  the limit"), &["--max-revisions", "1"]).expect(0);
}

#[test]
fn a_requirement_whose_place_does_not_exist_must_be_accepted_by_name() {
    let text = format!("{INFORMAL}R2 [docs/counter.md:400] It is small.\n");
    let script =
        good().answer("informal_spec", 0, 1, "draft", &text).answer("informal_spec", 0, 2, "repair", &text).answer(
            "generate_invariants",
            0,
            1,
            "draft",
            &sections(&INVARIANTS.replace("R1", "R1, R2"), "", WITNESSES, CFG),
        );
    let refused = bench();
    refused.forge(&script, &["--max-revisions", "0"]).expect(1);
    last_clause(&refused, "changes_named", "R2");
    let naming = "{\"verdict\":\"approved\",\"issues\":[],\"accepted_changes\":[\"R2: the place is a slip\"]}";
    bench().forge(&script.answer("review", 0, 1, "draft", naming).having_read_all(), &[]).expect(0);
}

#[test]
fn an_action_that_only_has_the_name_of_the_translators_last_step_must_be_taken() {
    let next = "Inc \\/ Terminating";
    let by_hand = |text: &str| text.replace("Next ==", "Terminating == n = 99 /\\ n' = 7\nNext ==");
    let invariants = INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", "");
    let cfg = CFG.replace("CONSTANT Max = 2", "CONSTANTS Max = 2\n  P = {1}\nCHECK_DEADLOCK FALSE");
    let script = |review: &str| {
        pass(&by_hand(&plain(next)), &invariants, WITNESSES, &cfg)
            .answer("review", 0, 1, "draft", review)
            .having_read_all()
    };
    refused(&script(&approving(&[])), "actions_taken");
    bench().forge(&script(&approving(&["Terminating: a guard"])), &[]).expect(0);
    // A label of that name: the algorithm never ends, so the translator adds no step.
    let module = MODULE.replace(
        "    while n < Max do\n      n := n + 1;\n    end while;\n",
        "    while TRUE do\n      if n < Max then\n        n := n + 1;\n      elsif n > Max then\n        Terminating:\n          \
         n := 0;\n      end if;\n    end while;\n",
    );
    let invariants = INVARIANTS.replace("\"Done\"", "\"Terminating\"");
    refused(&pass(&module, &invariants, WITNESSES, CFG), "actions_taken");
}

#[test]
fn coverage_that_moves_to_another_property_must_be_accepted_by_name() {
    let cfg = CFG.replace("NeverAbove", "NeverAbove Weak");
    let covering = |first: &str, second: &str| {
        sections(
            &format!("{}\\* covers {second}\nWeak == n < 9\n", INVARIANTS.replace("R1", first)),
            "",
            WITNESSES,
            &cfg,
        )
    };
    let script = good()
        .answer("informal_spec", 0, 1, "draft", &two_requirements())
        .answer("generate_invariants", 0, 1, "draft", &covering("R1, R2", "R1"))
        .answer("review", 0, 1, "draft", &issue("major", "cfg_mismatch", "split it"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", &covering("R1", "R1, R2"))
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all();
    let bench = bench();
    bench.forge(&script, &["--max-revisions", "1"]).expect(1);
    last_clause(&bench, "changes_named", "covers NeverAbove, covers Weak");
}

#[test]
fn a_branch_is_compared_with_the_baseline() {
    for (file, first, edited, named) in [
        ("Spec.tla", "n <= Max", "n <= Max + 1", "NeverAbove"),
        ("Spec.cfg", "Max = 2", "Max = 1", "Max"),
        ("informal_spec.md", "never above", "rarely above", "R1"),
    ] {
        let bench = bench();
        bench.forge(&good(), &[]).expect(0);
        let path = format!("specs/history/rev_0/{file}");
        let text = bench.read(&path);
        assert!(text.contains(first), "{text}");
        bench.write(&path, text.replace(first, edited));
        bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check", "--max-revisions", "0"]).expect(1);
        last_clause(&bench, "changes_named", named);
    }
}

#[test]
fn a_branch_does_not_inherit_acceptances_of_later_revisions() {
    let weak = sections(&INVARIANTS.replace("n <= Max", "n <= Max + 1"), "", WITNESSES, CFG);
    let naming = "{\"verdict\":\"approved\",\"issues\":[],\"accepted_changes\":[\"NeverAbove\"]}";
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "wrong_invariant", "too strong"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", &weak)
        .answer("review", 1, 1, "draft", naming)
        .having_read_all();
    let bench = bench();
    bench.forge(&script, &[]).expect(0);
    let spec = "specs/history/rev_0/Spec.tla";
    bench.write(spec, bench.read(spec).replace("n <= Max", "n <= Max + 1"));
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check", "--max-revisions", "0"]).expect(1);
    let journal = bench.journal("specs");
    let last = journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap();
    assert_eq!((&last["rev"], &last["data"]["clause"]), (&2.into(), &"changes_named".into()), "{last}");
}

#[test]
fn coverage_by_deadlock_freedom_is_kept_on_a_branch() {
    let cfg = format!("{CFG}\\* Deadlock covers R2\n");
    let script = good().answer("informal_spec", 0, 1, "draft", &two_requirements()).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &sections(INVARIANTS, "", WITNESSES, &cfg),
    );
    for (first, edited, clause, named) in [
        ("Deadlock covers R2", "Deadlock", "requirements_covered", "R2"),
        ("Max = 2", "Max = 1", "changes_named", "Max"),
        ("Deadlock covers R2", "Deadlock covers R2, R1", "changes_named", "covers Deadlock"),
    ] {
        let bench = bench();
        bench.forge(&script, &[]).expect(0);
        bench.write("specs/history/rev_0/Spec.cfg", cfg.replace(first, edited));
        bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check", "--max-revisions", "0"]).expect(1);
        last_clause(&bench, clause, named);
    }
}

#[test]
fn a_module_made_from_an_older_informal_specification_is_not_approved() {
    let script = good()
        .answer(
            "review",
            0,
            1,
            "draft",
            &crate::support::counter::issue("major", "missing_behavior", "a step is missing"),
        )
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
fn a_folder_with_user_files_named_like_run_files_is_rejected_before_the_first_call() {
    for name in ["Spec.tla", "Spec.cfg", "review.md", "informal_spec.md", "tlc_output.txt"] {
        let bench = bench();
        bench.write(&format!("specs/{name}"), "mine");
        bench.write("rec.jsonl", good().text());
        let run = ["run", "docs", "--recording", "rec.jsonl"];
        bench.run(&run).expect(2).says(&[name, "not written by a run of tlaforge", "--out DIR"]);
        // An empty journal is no run, either.
        bench.write("specs/journal.jsonl", "");
        bench.run(&run).expect(2).says(&[name]);
        bench.write("specs/journal.jsonl", "{\"v\":1,");
        bench.run(&run).expect(2).says(&[name]);
        assert_eq!(bench.read(&format!("specs/{name}")), "mine");
        assert!(!bench.path("specs/workspace").exists());
    }
}

#[test]
fn a_workspace_folder_that_is_not_ours_is_not_cleared() {
    let bench = bench();
    bench.write("specs/workspace/precious.txt", "mine");
    bench.write("rec.jsonl", good().text());
    bench.run(&["run", "docs", "--recording", "rec.jsonl"]).expect(2).says(&["workspace", "--out"]);
    assert_eq!(bench.read("specs/workspace/precious.txt"), "mine");
    assert!(!bench.path("specs/journal.jsonl").exists());
}

#[test]
fn a_run_of_another_provider_never_uses_the_built_in_recording() {
    let bench = bench();
    let mut waiting = bench.command(&["run", "docs", "--provider", "handoff"]).spawn().unwrap();
    let request = bench.path("specs/handoff/0003-informal_spec/request.md");
    wait_until("it asks", || request.exists());
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    bench.run(&["resume", "specs", "--provider", "replay"]).expect(2).says(&["--recording"]);
}
