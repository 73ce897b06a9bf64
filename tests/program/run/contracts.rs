//! Contracts of the steps: an author who has not seen the algorithm says what each step does, and the check compares.

use crate::support::counter::{self, CFG, DOC, INVARIANTS, MODULE, WITNESSES, fenced, good, review, sections};
use crate::support::forged::{forged, genuine};
use crate::support::{Bench, Script, name, outcome};
use serde_json::{Value, json};

const CONTRACTS: &str = "\
```tla contracts
\\* docs/counter.md:2
Initially == n = 0
\\* docs/counter.md:3
Guard_Add == n < Max
\\* docs/counter.md:3
Effect_Add == n' = n + 1
```
";

fn with_contracts(contracts: &str) -> Script {
    good().answer("step_contracts", 0, 1, "contracts", contracts)
}

fn report(bench: &Bench) -> String {
    bench.run(&["report", "specs"]).expect(0).stdout
}

fn guard(bench: &Bench) -> Value {
    let journal = bench.journal("specs");
    journal.iter().rfind(|e| name(e) == "guard_evaluated").unwrap()["data"].clone()
}

/// A review that sends a contract, or what it contradicts, back.
fn blaming(blame: &str) -> String {
    json!({"verdict": "revise", "summary": "s", "issues": [{"severity": "major", "category": "counterexample_issue",
           "blame": blame, "description": "Contract_at_the_same_label: see docs/counter.md:3", "suggestion": ""}]})
    .to_string()
}

#[test]
fn contracts_that_hold_are_part_of_the_specification_and_of_the_report() {
    let bench = counter::bench();
    bench
        .forge(&with_contracts(CONTRACTS), &[])
        .expect(0)
        .prints(&["What each step does: 1 of 1 steps and the initial state agree with an independent reading"]);
    let cfg = bench.read("specs/Spec.cfg");
    for property in ["Contract_at_the_start", "Contract_Add", "Contract_at_the_same_label"] {
        assert!(cfg.contains(property), "{property} in {cfg}");
        assert!(report(&bench).contains(property));
    }
    // The author knows the label, and neither the algorithm nor the properties.
    let journal = bench.journal("specs");
    let asked = journal.iter().find(|e| name(e) == "request_sent" && e["lifeline"] == "step_contracts").unwrap();
    let offered = asked["data"]["offered"].as_array().unwrap();
    let shas = offered.iter().map(|file| file["sha"].as_str().unwrap());
    let shown: String = shas.map(|sha| bench.read(&format!("specs/artifacts/{sha}"))).collect();
    assert!(shown.contains("- Add: then `pc` is Add or Done") && shown.contains(DOC), "{shown}");
    for word in ["n + 1", "while", "NeverAbove", "WitnessFull"] {
        assert!(!shown.contains(word), "{word} in {shown}");
    }
    // The reviewer does not read what holds.
    assert!(!bench.read("specs/workspace/Spec.tla").contains("Effect_Add"));
    assert!(bench.read("specs/workspace/facts.md").contains("1 of 1 steps and the initial state agree"));
    let json: Value =
        serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap();
    assert_eq!(
        json["revisions"][0]["contracts"][1],
        json!({"step": "Add", "process": "Counter", "agreement": "agrees"})
    );
    genuine(&bench);
}

#[test]
fn a_documented_case_that_the_algorithm_leaves_out_is_named() {
    let bench = counter::bench();
    // The counter only goes up. That it may also be set back would change something, if not in the first state; that it may stay as it
    // is changes nothing, so no step shows it. `Bad` cannot be evaluated, which hides no other case.
    let text = "C_Bad == <<1>>[n + 2] = 1\nEffect_Add ==\n    \\/ n' = n + 1\n    \\/ n' = 0\n    \\/ UNCHANGED n\n    \\/ C_Bad /\\ n' = 7\n";
    bench.forge(&with_contracts(&CONTRACTS.replace("Effect_Add == n' = n + 1\n", text)), &[]).expect(0).prints(&[
        "What each step does: 1 of 1 steps and the initial state agree with an independent reading of the documents; with a \
         documented case that no step is known to take: Add",
    ]);
    let module = bench.read("specs/Spec.tla");
    let line = module.lines().position(|line| line == "    \\/ n' = 0").unwrap() + 1;
    let case = format!("`n' = 0` (line {line})");
    assert!(report(&bench).contains(&format!("  Add: no step is known to take the documented case {case}\n")));
    assert!(bench.read("specs/workspace/facts.md").contains(&format!("Add: no step is known to take the case {case}")));
    let json: Value =
        serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap();
    let untaken = json["revisions"][0]["contracts"][1]["untaken_cases"].as_array().unwrap();
    assert_eq!((untaken.len(), &untaken[0]), (2, &json!(case)), "{untaken:?}");
    assert!(untaken[1].as_str().unwrap().contains("; not decided: "), "{untaken:?}");
    // `check` says so as well.
    bench.run(&["check", "specs/Spec.tla", "--checker", "embedded"]).expect(0).prints(&[&format!("Add {case}")]);
    genuine(&bench);
}

#[test]
fn without_contracts_nothing_of_them_is_said() {
    let bench = counter::bench();
    bench.forge(&with_contracts(CONTRACTS), &["--contracts", "off"]).expect(0);
    assert!(!report(&bench).contains("What each step does"));
    assert!(!bench.journal("specs").iter().any(|e| e["lifeline"] == "step_contracts"));
    let bench = counter::bench();
    // A recording without contracts is of a run that had none.
    bench.forge(&good(), &["--contracts", "on"]).expect(0);
    assert!(!bench.journal("specs").iter().any(|e| e["lifeline"] == "step_contracts"));
    genuine(&bench);
}

#[test]
fn a_variable_that_a_contract_leaves_free_is_not_called_compared() {
    let open = "n' = n + 1 \\/ n' > n \\/ TRUE";
    let free = CONTRACTS.replace("n' = n + 1", open).replace(
        "\\* docs/counter.md:3\nEffect",
        "\\* docs/counter.md:3\n\\* free: n: nothing says by how much\nEffect",
    );
    let bench = counter::bench();
    bench.forge(&with_contracts(&free), &[]).expect(0);
    assert!(report(&bench).contains("Add is not compared in n: its contract leaves that free"), "{}", report(&bench));
    assert!(bench.read("specs/workspace/facts.md").contains("the contract of Add leaves free: n"));
    // Without the comment it goes back.
    let bench = counter::bench();
    let script = with_contracts(&CONTRACTS.replace("n' = n + 1", open))
        .answer("step_contracts", 0, 1, "contracts_repair", CONTRACTS)
        .answer("step_contracts", 0, 2, "contracts_repair", CONTRACTS);
    bench.forge(&script, &[]).expect(0);
    assert!(!report(&bench).contains("not compared"));
    genuine(&bench);
}

#[test]
fn the_review_reads_a_violated_contract_of_the_initial_states() {
    let bench = counter::bench();
    bench.forge(&with_contracts(&CONTRACTS.replace("n = 0", "n = 1")), &["--max-revisions", "0"]).expect(1);
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("disagree: Initially") && facts.contains("Initially == n = 1"), "{facts}");
    genuine(&bench);
}

#[test]
fn a_violated_contract_is_a_disagreement_that_the_review_decides() {
    let wrong = CONTRACTS.replace("n + 1", "n + 2");
    // Even an approving review cannot approve it.
    let bench = counter::bench();
    bench.forge(&with_contracts(&wrong), &["--max-revisions", "0"]).expect(1);
    assert_eq!(guard(&bench)["clause"], "nothing_violated");
    let facts = bench.read("specs/workspace/facts.md");
    for part in ["0 of 1 steps and the initial state agree", "disagree: Add", "Effect_Add == n' = n + 2"] {
        assert!(facts.contains(part), "{part}\n{facts}");
    }
    assert!(bench.read("specs/workspace/Spec.tla").contains("Effect_Add"));
    genuine(&bench);

    let script = with_contracts(&wrong)
        .answer("review", 0, 1, "draft", &blaming("contract"))
        .answer("step_contracts", 1, 1, "contracts_repair", CONTRACTS)
        .answer(
            "review",
            1,
            1,
            "draft",
            &json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_changes":
                [{"name": "Contract_at_the_same_label", "reason": "the document says one"},
                 {"name": "Contract_Add", "reason": "the document says one"}]})
            .to_string(),
        )
        .having_read_all();
    let bench = counter::bench();
    bench.forge(&script, &[]).expect(0);
    assert_eq!(outcome(&bench.journal("specs")), "approved");
    genuine(&bench);
    // A change of the contract needs the review.
    let silent = script.answer("review", 1, 1, "draft", &review("approved")).having_read_all();
    let bench = counter::bench();
    bench.forge(&silent, &["--max-revisions", "1"]).expect(1);
    assert_eq!(guard(&bench)["clause"], "changes_named");

    // The specification is wrong, or the documents allow both.
    for (blame, node) in [("spec", "formalize"), ("documents", "informal_spec")] {
        let bench = counter::bench();
        bench.forge(&with_contracts(&wrong).answer("review", 0, 1, "draft", &blaming(blame)).having_read_all(), &[]);
        let journal = bench.journal("specs");
        let routed = journal.iter().rfind(|e| name(e) == "revision_closed").unwrap();
        assert_eq!(routed["data"]["routed_to"], node);
    }
}

#[test]
fn a_second_reader_confirms_that_the_documents_allow_both_readings() {
    let wrong = with_contracts(&CONTRACTS.replace("n + 1", "n + 2"))
        .answer("review", 0, 1, "draft", &blaming("documents"))
        .having_read_all();
    let confirmed = "mark it: `O1 [docs/file.md:12] (disagreement) <the question>? Taken: …`. A second reader confirms it: line 3 says one";
    for (agrees, told) in [
        ("true", confirmed),
        (
            "false",
            "A second reader does not: line 3 says one\nRead the lines again, and follow the reading that the documents decide.",
        ),
        (
            "\"perhaps\"",
            "with both readings. No second reader confirms it: the second reader's answer could not be read",
        ),
    ] {
        let opinion = format!("{{\"agrees\": {agrees}, \"why\": \"line 3 says one\"}}");
        let bench = counter::bench();
        bench.forge(&wrong.clone().answer("review", 0, 1, "disagreement", &opinion), &[]);
        let journal = bench.journal("specs");
        let feedback = bench.read("specs/workspace/feedback.md");
        assert!(feedback.contains(told), "{feedback}");
        assert!(bench.read("specs/history/rev_0/review.md").contains("## A disagreement, read a second time"));
        // The reader sees the contract and the step, and not the module.
        let asked = journal.iter().find(|e| name(e) == "request_sent" && e["data"]["key"]["purpose"] == "disagreement");
        let offered = asked.unwrap()["data"]["offered"].as_array().unwrap();
        let paths: Vec<&str> = offered.iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["disagreement.md", "docs/INDEX.md", "docs/counter.md"]);
        let shown = bench.read(&format!("specs/artifacts/{}", offered[0]["sha"].as_str().unwrap()));
        for part in ["Effect_Add == n' = n + 2", "2  Add", "see docs/counter.md:3"] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        genuine(&bench);
    }
}

#[test]
fn an_approval_needs_a_contract_for_each_step() {
    let free = "\\* free: the document says nothing about it\n";
    let open = CONTRACTS
        .replace("\\* docs/counter.md:3\nGuard_Add == n < Max", &format!("{free}Guard_Add == TRUE"))
        .replace("\\* docs/counter.md:3\nEffect_Add == n' = n + 1", &format!("{free}Effect_Add == TRUE"));
    let bench = counter::bench();
    bench.forge(&with_contracts(&open), &["--max-revisions", "0"]).expect(1);
    assert_eq!(guard(&bench)["clause"], "steps_have_contracts");
    assert_eq!(guard(&bench)["facts"]["steps_without_contract"], json!(["Add"]));
    let accepted = json!([{"name": "Add", "reason": "what a worker does is no concern"}]);
    let accepting = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_without_contract": accepted});
    let script = with_contracts(&open).answer("review", 0, 1, "draft", &accepting.to_string()).having_read_all();
    let bench = counter::bench();
    bench.forge(&script, &[]).expect(0).prints(&["that no contract was checked for the step Add"]);
    genuine(&bench);
    // A journal in which the step has a contract is found to be forged.
    let checked = json!(["Contract_at_the_start"]);
    let event = ("attempt_finished", "step_contracts");
    forged(&bench, event, "/facts/contracts/1/checked_by", &checked).expect(1).prints(&["are not those of the answer"]);
    forged(&bench, event, "/facts/contracts", &json!([])).expect(1).prints(&["are not those of the answer"]);
    let event = ("attempt_finished", "review");
    forged(&bench, event, "/facts/review/accepted_without_contract", &json!([])).expect(1);
}

#[test]
fn contracts_that_cannot_be_used_prevent_an_approval_and_nothing_else() {
    for unusable in
        ["I know of no step.", &fenced("---- MODULE Spec ----\nx == 1\n===="), &CONTRACTS.replace("_Add", "_Sub")]
    {
        let script = with_contracts(unusable).answer("step_contracts", 0, 2, "contracts_repair", unusable);
        let bench = counter::bench();
        bench.forge(&script, &["--max-revisions", "0"]);
        let journal = bench.journal("specs");
        let rows: Vec<&str> = journal
            .iter()
            .filter(|e| name(e) == "routed" && e["lifeline"] == "step_contracts")
            .map(|e| e["data"]["row"].as_str().unwrap())
            .collect();
        assert_eq!(rows, ["unreadable_once", "contracts_left_out"], "{unusable}");
        assert_eq!(guard(&bench)["clause"], "steps_have_contracts");
        genuine(&bench);
    }
}

#[test]
fn without_pc_a_step_agrees_if_the_action_of_its_process_or_next_was_taken() {
    let module = MODULE
        .replace("while n < Max do", "while TRUE do")
        .replace("n := n + 1;", "await WHEN;\n      n := (n + 1) % (Max + 1);");
    let process = "process worker \\in 1..2\nbegin\n  Add:";
    let workers = module.replace("begin\n  Add:", process).replace("end while;", "end while;\nend process;");
    let contracts = CONTRACTS.replace("n' = n + 1", "n' = (n + 1) % (Max + 1)").replace("n < Max", "n <= Max");
    let of_workers = contracts.replace("_Add", "_Add(self)");
    let sections = sections(
        &INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", ""),
        "",
        WITNESSES,
        &format!("{CFG}CHECK_DEADLOCK FALSE\n"),
    );
    for (module, contracts) in [(&module, &contracts), (&workers, &of_workers)] {
        for (when, line) in [("TRUE", "1 of 1 steps and the initial state agree"), ("n > Max", "never taken: Add")] {
            let script = with_contracts(contracts)
                .answer("formalize", 0, 1, "draft", &fenced(&module.replace("WHEN", when)))
                .answer("generate_invariants", 0, 1, "draft", &sections);
            let bench = counter::bench();
            bench.forge(&script, &["--max-revisions", "0"]);
            assert!(bench.read("specs/Spec.cfg").contains("Contract_of_any_step"));
            assert!(report(&bench).contains(line), "{}", report(&bench));
            genuine(&bench);
        }
    }
}
