//! Branches: where they can start, what they inherit, and their messages.

use crate::support::counter::{CFG, INFORMAL, MODULE, bench, fenced, good, good_sections, issue, review};
use crate::support::{Bench, Script, name};
use serde_json::{Value, json};

/// The recording ends where the test has seen enough: the run is stopped for want of an answer.
const NO_ANSWER: i32 = 5;

/// Asserts that a branch is refused with these words, and that nothing has begun.
#[track_caller]
fn refused(bench: &Bench, args: &[&str], status: i32, words: &[&str]) {
    let before = bench.read("specs/journal.jsonl");
    bench.run(&[&["resume", "specs"], args].concat()).expect(status).says(words);
    assert_eq!(bench.read("specs/journal.jsonl"), before, "something was begun");
}

fn last<'a>(journal: &'a [Value], wanted: &str) -> &'a Value {
    journal.iter().rfind(|e| name(e) == wanted).unwrap_or_else(|| panic!("no {wanted}"))
}

/// A first revision whose module is never accepted, and one whose properties never merge.
fn rejected_module() -> Script {
    let broken = fenced(&MODULE.replace("end while;", "end whle;"));
    good().answer("formalize", 0, 1, "draft", &broken).answer("formalize", 0, 2, "repair", &broken).answer(
        "formalize",
        0,
        3,
        "repair",
        &broken,
    )
}

fn rejected_merge() -> Script {
    let broken = good_sections().replace("n <= Max", "m <= Max");
    good()
        .answer("generate_invariants", 0, 1, "draft", &broken)
        .answer("generate_invariants", 0, 2, "repair", &broken)
        .answer("generate_invariants", 0, 3, "repair", &broken)
}

#[test]
fn the_error_for_a_missing_prerequisite_names_a_possible_node() {
    let bench = bench();
    bench.forge(&rejected_merge(), &["--max-revisions", "0"]).expect(1);
    let at = |node: &'static str| ["--from", "rev_0", "--at", node];
    refused(
        &bench,
        &at("model_check"),
        2,
        &["rev_0 has no merged module and configuration that were accepted", "--at generate_invariants"],
    );
    bench.run(&[&["resume", "specs"], &at("generate_invariants")[..]].concat()).expect(NO_ANSWER);
    assert_eq!(last(&bench.journal("specs"), "attempt_started")["lifeline"], "generate_invariants");

    let bench = crate::support::counter::bench();
    bench.forge(&rejected_module(), &["--max-revisions", "0"]).expect(1);
    refused(&bench, &at("generate_invariants"), 2, &["rev_0 has no module that was accepted", "--at validate"]);
    refused(&bench, &at("model_check"), 2, &["--at validate"]);
    bench.run(&[&["resume", "specs"], &at("validate")[..]].concat()).expect(NO_ANSWER);

    let bench = crate::support::counter::bench();
    let nothing = Script::default()
        .answer("informal_spec", 0, 1, "draft", "I am sorry.")
        .answer("informal_spec", 0, 2, "repair", "I am sorry.")
        .answer("review", 0, 1, "draft", &review("revise"));
    bench.forge(&nothing, &["--max-revisions", "0"]).expect(1);
    refused(&bench, &at("formalize"), 2, &["rev_0 has no informal specification", "--at informal_spec"]);
    refused(&bench, &at("validate"), 2, &["rev_0 has no module", "begin at"]);
}

#[test]
fn a_configuration_without_a_module_is_rejected() {
    let bench = bench();
    let nothing = good().answer("formalize", 0, 1, "draft", "").answer("formalize", 0, 2, "repair", "");
    bench.forge(&nothing, &["--max-revisions", "0"]).expect(1);
    bench.write("specs/history/rev_0/Spec.cfg", CFG);
    for node in ["formalize", "validate", "generate_invariants", "model_check", "review"] {
        refused(
            &bench,
            &["--from", "rev_0", "--at", node],
            2,
            &["rev_0 has no module", "no module for its edited Spec.cfg", "add a Spec.tla in the same folder"],
        );
    }
    // With a module of the person's own it goes on.
    bench.write("specs/history/rev_0/Spec.tla", MODULE);
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "validate"]).expect(1);
    let journal = bench.journal("specs");
    assert_eq!(last(&journal, "tool_finished")["data"]["accepted"], true);
}

#[test]
fn a_branch_does_not_inherit_the_coverage_of_another_module() {
    let bench = bench();
    let script = good()
        .answer("formalize", 0, 1, "draft", "")
        .answer("formalize", 0, 2, "repair", "")
        .answer("formalize", 1, 1, "repair", &fenced(MODULE))
        .answer("generate_invariants", 1, 1, "draft", &good_sections())
        .answer("review", 1, 1, "draft", &review("revise"));
    bench.forge(&script, &["--max-revisions", "1"]).expect(1);
    let of = |n: u32| -> Value {
        let meta: Value = serde_json::from_str(&bench.read(&format!("specs/history/rev_{n}/meta.json"))).unwrap();
        meta["requirements"][0]["by"].clone()
    };
    assert_eq!((of(0), of(1)), (Value::Null, json!(["NeverAbove"])));
    for (from, covers) in [("rev_0", json!({})), ("rev_1", json!({"NeverAbove": ["R1"]}))] {
        bench.run(&["resume", "specs", "--from", from, "--at", "formalize"]).expect(NO_ANSWER);
        assert_eq!(last(&bench.journal("specs"), "branch_started")["data"]["covers"], covers, "{from}");
    }
}

#[test]
fn an_edited_informal_specification_without_a_requirement_is_refused() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let informal = "specs/history/rev_0/informal_spec.md";
    for edit in ["", "# The counter\n\nIt counts.\n", &INFORMAL.replace("R1 [", "R [")] {
        bench.write(informal, edit);
        for node in ["informal_spec", "formalize", "review"] {
            let words = ["the edited informal_spec.md has no numbered requirement", "R1 [docs/file.md:12-14]"];
            refused(&bench, &["--from", "rev_0", "--at", node], 1, &words);
        }
        assert_eq!(bench.read(informal), edit, "a person's edit is left as it is");
    }
    bench.write(informal, format!("{INFORMAL}- [docs/counter.md:3] It adds. (liveness)\n"));
    let words = ["lines of the edited informal_spec.md are not counted", "`- [docs/counter.md:3] It adds. (liveness)`"];
    refused(&bench, &["--from", "rev_0", "--at", "formalize"], 1, &words);
    bench.write(informal, INFORMAL.replace("never above", "at no time above"));
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "formalize"]).expect(NO_ANSWER);
    let journal = bench.journal("specs");
    let branch = last(&journal, "branch_started");
    assert_eq!(branch["data"]["edited"], json!(["informal_spec.md"]));
    assert_eq!(branch["data"]["requirements"][0]["id"], "R1");
}

#[test]
fn a_resume_reports_prompts_that_differ_from_the_recorded_ones() {
    let bench = bench();
    let own = "You formalize.\n";
    bench.write("prompts/formalize/role.md.hbs", own);
    let script = good().answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "too much"));
    bench.forge(&script, &[]).expect(NO_ANSWER);
    let journal = bench.journal("specs");
    let prompts = journal[0]["data"]["prompts"].as_object().unwrap();
    let templates = walkdir::WalkDir::new(crate::support::project().join("prompts")).into_iter().map(Result::unwrap);
    assert_eq!(prompts.len(), templates.filter(|e| e.path().extension().is_some_and(|x| x == "hbs")).count());
    assert_eq!(prompts["formalize/role"]["own"], true);
    assert_eq!(prompts["formalize/draft"]["own"], false);
    assert_eq!(prompts["formalize/draft"]["sha"].as_str().unwrap().len(), 64);

    // Unchanged: nothing to say.
    let done = bench.run(&["resume", "specs"]).expect(NO_ANSWER);
    assert!(!done.stderr.contains("prompts"), "{}", done.stderr);
    assert_eq!(last(&bench.journal("specs"), "run_resumed")["data"].get("prompts"), None);

    // One changed, one new, one gone.
    bench.write("prompts/formalize/repair.md.hbs", "Mend the module: see `feedback.md`.\n");
    std::fs::remove_file(bench.path("prompts/formalize/role.md.hbs")).unwrap();
    bench.run(&["resume", "specs"]).expect(NO_ANSWER).says(&[
        "prompts have changed since the run started",
        "formalize/repair (now your own)",
        "formalize/role (now the built-in one)",
    ]);
    let journal = bench.journal("specs");
    let resumed = &last(&journal, "run_resumed")["data"]["prompts"];
    let names: Vec<&String> = resumed.as_object().unwrap().keys().collect();
    assert_eq!(names, ["formalize/repair", "formalize/role"]);
    let sent = last(&journal, "request_sent");
    assert_eq!(sent["data"]["prompt_start"], "Mend the module: see `feedback.md`.\n", "they are used");

    // A branch says so too, and what was journaled then is what counts from then on.
    bench.write("prompts/formalize/role.md.hbs", own);
    let done = bench.run(&["resume", "specs", "--from", "rev_0", "--at", "formalize"]).expect(NO_ANSWER);
    assert!(done.stderr.contains("formalize/role (now your own)") && !done.stderr.contains("formalize/repair (now"));
    let journal = bench.journal("specs");
    assert_eq!(last(&journal, "branch_started")["data"]["prompts"]["formalize/role"]["own"], true);
}

#[test]
fn a_text_without_a_module_is_rejected_before_any_tool_runs() {
    let said = "no module: the text has no line `---- MODULE Name ----`";
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let headless = bench.read("specs/history/rev_0/Spec.tla").replace("---- MODULE Spec ----\n", "");
    bench.write("specs/history/rev_0/Spec.tla", headless);
    for node in ["model_check", "generate_invariants"] {
        refused(&bench, &["--from", "rev_0", "--at", node], 1, &["rejected", said, "line 1,"]);
    }
    // It goes to the model instead, which nobody plays here.
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "validate"]).expect(NO_ANSWER);
    let journal = bench.journal("specs");
    assert_eq!(last(&journal, "attempt_started")["lifeline"], "formalize");
    assert!(last(&journal, "tool_finished").to_string().contains("no module"), "{}", last(&journal, "tool_finished"));
}

#[test]
fn resuming_a_finished_run_names_changed_files() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let done = bench.run(&["resume", "specs"]).expect(0);
    assert!(!done.stderr.contains("edited by hand"), "{}", done.stderr);
    let edited = MODULE.replace("n < Max", "n < Max + 1");
    bench.write("specs/Spec.tla", &edited);
    for format in ["text", "json"] {
        let done = bench.run(&["resume", "specs", "--format", format]).expect(0);
        done.says(&["Spec.tla was edited by hand", "not the approved version"]);
    }
    assert_eq!(bench.read("specs/Spec.tla"), edited);
}
