//! Forgeries in what a configuration lists and what a specification assumes.

use serde_json::{Value, json};

use crate::support::counter::{
    self, CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, fenced, good, issue, review, sections,
};
use crate::support::ran::{NO_ANSWER, Ran, ran_in};
use crate::support::{Bench, Script};

#[track_caller]
fn ran(script: &Script, more: &[&str], status: i32) -> Ran {
    ran_in(counter::bench_with_java(), script, more, status)
}

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
fn refused(script: &Script, checker: &[&str], node: &str, why: &str) -> Ran {
    ran(script, checker, NO_ANSWER).went(&[&format!("review->{node}")]).because(node, why).ended("stopped")
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
        assert_eq!(
            (&check["verdict"], &check["bounds"]["initial_state_properties"]),
            (&json!("holds"), &json!(["NeverAbove"]))
        );
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
    let uncovering = two.replacen("\\* covers R1\n", "", 1);
    let script = repaired_by(&sections(&uncovering, "", WITNESSES, &moved)).answer(
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
    let invariants = INVARIANTS.replace("\\* covers R1\n", "");
    let mixed = format!("{invariants}Low == n <= 9\n\\* covers R1\nMixed == LET P == NeverAbove IN []Low /\\ P\n");
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
        assert_eq!(value["bounds"]["initial_state_properties"], json!(["Bad"]));
    }
}

/// The counter with what its specification assumes, behind two names.
fn assuming(assumed: &str) -> String {
    let spec = format!("Assumed == {assumed}\nMore == TRUE /\\ Assumed\nWhole == Spec /\\ More\n");
    format!("{INVARIANTS}{spec}")
}

/// The counter with an owner: who is not the boss overshoots. The boss is any of them, as CHOOSE will have it.
fn bossed(boss: &str) -> String {
    let constants = format!("CONSTANTS Max, Clients, NoOne\nBoss == {boss}\nPerms == Permutations(Clients)\n");
    let text = MODULE.replace("CONSTANT Max\n", &constants).replace("Naturals", "Naturals, TLC");
    let text = text.replace("n = 0;", "n = 0, holder = NoOne;");
    let text = text.replace("  Add:\n", "  Pick:\n    with c \\in Clients do holder := c; end with;\n  Add:\n");
    text.replace("    end while;\n", "    end while;\n    if holder # Boss then n := Max + 1; end if;\n")
}

/// Its properties, with what the configuration has beside its constants.
fn with_clients(cfg: &str) -> String {
    let more = format!("CONSTANTS Max = 2\n Clients = {{c1, c2}}\n NoOne = NoOne\n{cfg}\n");
    let cfg = CFG.replace("CONSTANT Max = 2\n", &more);
    sections(&INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", ""), "", WITNESSES, &cfg)
}

#[test]
fn symmetry_that_is_not_sound_is_left_out() {
    for checker in CHECKERS {
        let chosen = bossed("CHOOSE x \\in Clients : TRUE");
        let run = refused(&pass(&chosen, &with_clients("SYMMETRY Perms")), checker, "formalize", "found a violation");
        let check = &run.events("check_finished")[0]["data"]["outcome"];
        assert!(check["warnings"].to_string().contains("without SYMMETRY Perms, which is not shown to be sound"));
        assert_eq!(check["bounds"]["symmetry"], json!([]));
        // Behind a name and a parameter, in a repair.
        let hidden = bossed("LET Pick(S) == CHOOSE x \\in S : TRUE IN Pick(Clients)");
        let script = pass(&hidden, &with_clients(""))
            .answer("review", 0, 1, "draft", &issue("major", "cfg_mismatch", "another configuration"))
            .having_read_all()
            .answer("generate_invariants", 1, 1, "repair", &with_clients("SYMMETRY Perms"))
            .answer("review", 1, 1, "draft", &review("approved"))
            .having_read_all();
        refused(&script, checker, "formalize", "found a violation");
        // Its member is named by the configuration.
        let named = bossed("TheBoss").replace("NoOne\nBoss", "NoOne, TheBoss\nBoss");
        let answer = with_clients("SYMMETRY Perms").replace("NoOne = NoOne", "NoOne = NoOne\n TheBoss = c1");
        refused(&pass(&named, &answer), checker, "formalize", "found a violation");
    }
}

/// Answers with another specification than `Spec`, which the review accepts, and what else it accepts.
fn with_specification(definitions: &str, accepted: &[&str]) -> Script {
    let cfg = CFG.replace("SPECIFICATION Spec", "SPECIFICATION Whole");
    let entries: Vec<String> = accepted.iter().map(|line| format!("{line}: the documents say so")).collect();
    let entries = [vec!["SPECIFICATION Whole: it is Spec".to_owned()], entries].concat();
    let approval = json!({"verdict": "approved", "issues": [], "accepted_cfg": entries}).to_string();
    pass(MODULE, &sections(definitions, "", WITNESSES, &cfg))
        .answer("review", 0, 1, "draft", &approval)
        .having_read_all()
}

#[test]
fn what_a_specification_assumes_is_accepted_by_name() {
    for (assumed, line) in [
        ("\\A x \\in 0..Max : []<>(n = x) \\/ <>(n = Max)", "Whole assumes \\A x \\in 0 .. Max"),
        ("[](n < 5)", "Whole assumes [] ( n < 5 )"),
        ("WF_vars(n' = n /\\ pc' = \"Add\")", "Whole assumes WF_vars ( n ' = n"),
    ] {
        refused(&with_specification(&assuming(assumed), &[]), &[], "generate_invariants", line);
    }
    let line = "Whole assumes [](n < 5)";
    ran(&with_specification(&assuming("[](n < 5)"), &[line]), &[], 0).ended("approved");
    // Fairness of what Next does assumes nothing.
    ran(&with_specification(&assuming("WF_vars(Next) /\\ SF_vars(Add)"), &[]), &[], 0).ended("approved");
    // The embedded checker decides, too, whether such a behaviour exists.
    ran(&with_specification(&assuming("[](n < 5)"), &[line]), CHECKERS[1], 0).ended("approved");
}

#[test]
fn a_specification_without_a_behaviour_is_violated() {
    for assumed in ["[]<>FALSE", "<>(n > Max)", "[](n = 0) /\\ <>(n = Max)"] {
        let script = with_specification(&assuming(assumed), &[]);
        let run = refused(&script, &[], "formalize", "found a violation");
        let check = &run.events("check_finished")[0]["data"]["outcome"];
        assert_eq!(check["violated"], json!({"kind": "no_behaviour", "name": null}), "{assumed}");
    }
    let script = with_specification(&assuming("WF_vars(n' = 7 /\\ pc' = pc)"), &[]);
    refused(&script, &[], "formalize", "found a violation");
    refused(&script, CHECKERS[1], "formalize", "found a violation");
    // In a repair.
    let cfg = CFG.replace("SPECIFICATION Spec", "SPECIFICATION Whole");
    let script = repaired_by(&sections(&assuming("[]<>FALSE"), "", WITNESSES, &cfg));
    refused(&script, &[], "formalize", "found a violation");
}

/// The counter without an algorithm. `Idle` makes a deadlock impossible, so its absence shows nothing.
fn idling(idle: &str) -> String {
    format!(
        "---- MODULE Spec ----\nEXTENDS Naturals\nCONSTANT Max\nVARIABLE n\nvars == <<n>>\nInit == n = 0\n\
         Add == n < Max /\\ n' = n + 1\nIdle == {idle}\nNext == Add \\/ Idle\nSpec == Init /\\ [][Next]_vars\n====\n"
    )
}

#[test]
fn a_deadlock_that_cannot_occur_covers_nothing() {
    let invariants = INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", "");
    let answer = sections(&invariants, "", WITNESSES, &format!("{CFG}\\* Deadlock covers R2\n"));
    let informal = format!("{INFORMAL}R2 [docs/counter.md:3] A worker never gets stuck.\n");
    for checker in CHECKERS {
        for idle in ["UNCHANGED vars", "TRUE /\\ n' = n", "\\E i \\in {1, 2} : n' = n"] {
            let script = pass(&idling(idle), &answer).answer("informal_spec", 0, 1, "draft", &informal);
            refused(&script, checker, "generate_invariants", "no checked property covers: R2");
        }
        // In a repair, the idle step takes the place of a true one.
        let script = pass(&idling("n = Max /\\ n' = 0"), &answer)
            .answer("informal_spec", 0, 1, "draft", &informal)
            .answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "it never starts again"))
            .having_read_all()
            .answer("formalize", 1, 1, "repair", &fenced(&idling("UNCHANGED n")))
            .answer("generate_invariants", 1, 1, "draft", &answer)
            .answer("review", 1, 1, "draft", &review("approved"))
            .having_read_all();
        refused(&script, checker, "generate_invariants", "no checked property covers: R2");
        // What can get stuck is checked.
        let script =
            pass(&idling("n = Max /\\ UNCHANGED vars"), &answer).answer("informal_spec", 0, 1, "draft", &informal);
        ran(&script, checker, 0).ended("approved");
    }
}

#[test]
fn check_says_that_a_deadlock_cannot_occur() {
    let bench = Bench::real();
    bench.write("Spec.tla", idling("UNCHANGED n"));
    bench.write("Spec.cfg", "SPECIFICATION Spec\nCONSTANT Max = 2\n");
    for checker in CHECKERS {
        let words = "; deadlock cannot occur: step `Idle` is always enabled";
        bench.run(&[&["check", "Spec.tla"], checker].concat()).expect(0).prints(&[words]);
        let done = bench.run(&[&["check", "Spec.tla", "--format", "json"], checker].concat()).expect(0);
        let value: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(
            (&value["bounds"]["deadlock_checked"], &value["bounds"]["always_enabled"]),
            (&json!(true), &json!(["Idle (possible in any state)"]))
        );
    }
}
