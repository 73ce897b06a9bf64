//! `tlaforge resume --drift`: a new run on changed documents starts from the specification of an earlier run.

mod citations;
mod swap;

use serde_json::{Value, json};

use crate::support::counter::{CFG, INVARIANTS, MODULE, WITNESSES, fenced, issue, review, sections};
use crate::support::{Bench, Script, forged, name, outcome, routes};

const DOC: &str = "# The counter\nIt starts at zero.\nWhile it is below the limit, a worker adds one.\nIt is never above the \
                   limit.\n";
/// The document after the change: everything has moved, and the last sentence says something else.
const NEW: &str = "# The counter\n\nA note first.\n\nIt starts at zero.\nWhile it is below the limit, a worker adds one.\nIt \
                   must not exceed the limit.\n";

const INFORMAL: &str = "# The counter\n## Concern\nThe limit.\n## Other concerns\n- none\n## Steps\n- `Add`: enabled below the \
                        limit [docs/counter.md:3]\n## Requirements\nR1 [docs/counter.md:4] The counter is never above the \
                        limit. (safety)\nR2 [docs/counter.md:2] The counter starts at zero. (safety)\n";
/// What the new run starts from.
const MOVED: &str = "# The counter\n## Concern\nThe limit.\n## Other concerns\n- none\n## Steps\n- `Add`: enabled below the \
                     limit [docs/counter.md:6]\n## Requirements\nR1 [earlier-docs/counter.md:4] The counter is never above \
                     the limit. (safety)\nR2 [docs/counter.md:5] The counter starts at zero. (safety)\n";

const EDIT: &str = "```\n<<<<<<< SEARCH\nR1 [earlier-docs/counter.md:4] The counter is never above the limit. (safety)\n=======\n\
                    R1 [docs/counter.md:7] The counter does not exceed the limit. (safety)\n>>>>>>> REPLACE\n```\n";

fn module() -> String {
    fenced(&MODULE.replace("      n := n + 1;", "      n := n + 1; \\* docs/counter.md:3-4"))
}

fn properties() -> String {
    let invariants = format!("{INVARIANTS}\\* covers R2\nNotNegative == n \\in 0..9\n");
    sections(&invariants, "", WITNESSES, &CFG.replace("NeverAbove", "NeverAbove NotNegative"))
}

/// An approved run in `old/`, and its document.
fn bench() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    let script = Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .answer("formalize", 0, 1, "draft", &module())
        .answer("generate_invariants", 0, 1, "draft", &properties())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    bench.forge(&script, &["--concern", "The limit"]).expect(0);
    std::fs::rename(bench.path("specs"), bench.path("old")).unwrap();
    bench
}

/// The answers of the new run.
fn answers() -> Script {
    Script::default()
        .answer("informal_spec", 0, 1, "repair", EDIT)
        .answer("formalize", 0, 1, "repair", &module())
        .answer("generate_invariants", 0, 1, "draft", &properties())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all()
}

const AGAIN: [&str; 5] = ["resume", "old", "--drift", "--docs", "docs"];

/// The files of the requests to a node.
fn offered(bench: &Bench, node: &str, file: &str) -> Vec<String> {
    let sent = bench.events("specs").into_iter().filter(|e| name(e) == "request_sent" && e["lifeline"] == node);
    let text = |event: Value| {
        let offered = event["data"]["offered"].as_array().unwrap().clone();
        let sha = offered.iter().find(|offered| offered["path"] == file).map(|offered| offered["sha"].clone())?;
        Some(bench.read(&format!("specs/artifacts/{}", sha.as_str().unwrap())))
    };
    sent.filter_map(text).collect()
}

fn without_numbers(text: &str) -> String {
    text.lines().map(|line| line.split_once("| ").map_or("", |(_, line)| line).to_owned() + "\n").collect()
}

#[test]
fn the_new_run_starts_from_the_earlier_specification() {
    let bench = bench();
    let before = bench.read("old/journal.jsonl");
    bench.write("docs/counter.md", NEW);
    let done = bench.begin(&AGAIN, &answers(), &[]).expect(0);
    done.clone().says(&["drift: 1 change of the documents concerns rev_0 (approved): R1; forging it again in "]);
    assert_eq!(bench.read("old/journal.jsonl"), before);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "approved");
    let started = &journal[0]["data"];
    assert_eq!((&started["concern"], &started["draft"]), (&json!("The limit"), &json!("nodes")));
    let made_from = &started["made_from"];
    assert_eq!(
        (&made_from["folder"], &made_from["revision"], &made_from["concerned"]),
        (&json!("old"), &json!(0), &json!(["R1"]))
    );
    let first = before.split_inclusive('\n').next().unwrap();
    assert_eq!(made_from["run"], json!(tlaforge::journal::Sha::digest(first).as_str()));
    // What the model sees: everything with its new lines, and what has changed.
    assert_eq!(without_numbers(&offered(&bench, "informal_spec", "previous.md")[0]), MOVED);
    let feedback = offered(&bench, "informal_spec", "feedback.md").remove(0);
    let change = "- docs/counter.md:7 has changed (before: earlier-docs/counter.md:4)\n  was: It is never above the limit.\n  now: It \
                  must not exceed the limit.\n  concerns: R1 (checked by NeverAbove)\n";
    assert!(feedback.contains(change), "{feedback}");
    let feedback = offered(&bench, "formalize", "feedback.md").remove(0);
    assert!(feedback.contains("-R1 [earlier-docs/counter.md:4]") && feedback.contains("+R1 [docs/counter.md:7]"));
    assert!(!feedback.contains("-R2"), "{feedback}");
    // The citation of text that is gone is left out.
    assert!(offered(&bench, "formalize", "previous.md")[0].contains("\\* docs/counter.md:6\n"));
    assert!(offered(&bench, "generate_invariants", "previous.md")[0].contains("NotNegative == n \\in 0..9"));
    let from = "Made from rev_0 (approved) of old, whose documents have changed since; the changes concern R1\n  its 2 \
                requirements in rev_0 of this run: 1 kept word for word, 1 forged again (R1)\n";
    done.prints(&[from]);
    // Nothing needs the earlier run any more.
    std::fs::remove_dir_all(bench.path("old")).unwrap();
    bench.run(&["report", "specs"]).expect(0).prints(&[from]);
    let report: Value =
        serde_json::from_str(&bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout).unwrap();
    assert_eq!(report["made_from"]["concerned"], json!(["R1"]));
    bench.run(&["report", "specs", "--html", "page.html"]).expect(0);
    assert!(bench.read("page.html").contains("rev_0 (approved) of old"));
    assert_eq!(bench.run(&["audit", "specs", "--policy", "default"]).expect(0).stderr, "");
    bench.run(&["drift", "specs", "--docs", "docs"]).expect(0);
    bench.run(&["resume", "specs"]).expect(0);
}

/// A module and properties whose input stays the same are not asked for again, and are checked and reviewed anew.
#[test]
fn what_rests_on_moved_text_alone_is_kept() {
    let bench = bench();
    // A requirement is taken out again: its sentence is the only text that changes.
    bench.write("docs/counter.md", DOC.replace("It starts at zero.\n", ""));
    let feedback_and_edit = "```\n<<<<<<< SEARCH\nR2 [earlier-docs/counter.md:2] The counter starts at zero. (safety)\n=======\n\
                             >>>>>>> REPLACE\n```\n";
    let script = answers().answer("informal_spec", 0, 1, "repair", feedback_and_edit);
    bench.begin(&AGAIN, &script, &[]).expect(0).prints(&["1 kept word for word, 1 gone (R2)"]);
    let feedback = offered(&bench, "informal_spec", "feedback.md").remove(0);
    assert!(feedback.contains("- earlier-docs/counter.md:2 is gone\n  was: It starts at zero.\n"), "{feedback}");
    assert_eq!(bench.read("specs/informal_spec.md").matches("docs/counter.md").count(), 2);
}

#[test]
fn a_place_of_the_earlier_documents_is_sent_back_and_the_task_stays() {
    let bench = bench();
    bench.write("docs/counter.md", NEW);
    let left = MOVED.replace("(safety)", "(safety).");
    let once = answers().answer("informal_spec", 0, 1, "repair", &left).answer(
        "informal_spec",
        0,
        2,
        "repair",
        &MOVED.replace("earlier-docs/counter.md:4", "docs/counter.md:7"),
    );
    let done = bench.begin(&AGAIN, &once, &[]).expect(0);
    done.prints(&["1 kept word for word, 1 kept, although the text that they cite has changed (R1)\n"]);
    assert_eq!(routes(&bench.journal("specs"))[0], "informal_spec->informal_spec");
    let feedback = offered(&bench, "informal_spec", "feedback.md").pop().unwrap();
    assert!(feedback.contains("places of the earlier documents are left in it"), "{feedback}");
    assert!(feedback.contains("was: It is never above the limit."), "{feedback}");
    std::fs::remove_dir_all(bench.path("specs")).unwrap();
    // Twice: the review sees it, and the next revision has the task again.
    let twice = answers()
        .answer("informal_spec", 0, 1, "repair", &left)
        .answer("informal_spec", 0, 2, "repair", &left)
        .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "It cites earlier documents."))
        .answer("informal_spec", 1, 1, "repair", EDIT)
        .answer("formalize", 1, 1, "repair", &module())
        .answer("generate_invariants", 1, 1, "draft", &properties())
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all();
    bench.begin(&AGAIN, &twice, &[]).expect(0);
    let feedback = offered(&bench, "informal_spec", "feedback.md").pop().unwrap();
    assert!(feedback.contains("was: It is never above the limit."), "{feedback}");
}

#[test]
fn without_drift_nothing_begins() {
    let bench = bench();
    let nothing = |more: &[&str]| bench.run(&[&AGAIN[..], &["--provider", "handoff"], more].concat());
    nothing(&[]).expect(0).prints(&["No drift: the text that 2 requirements of rev_0 (approved) cite is unchanged"]);
    bench.write("docs/counter.md", NEW.replace("It must not exceed the limit.", "It is never above the limit."));
    nothing(&[]).expect(0).prints(&["No drift: "]);
    // Text that nothing cites.
    bench.write("docs/counter.md", format!("{DOC}\n\nIt must be logged.\n"));
    nothing(&[]).expect(0).prints(&["1 new normative sentence, which no specification accounts for"]);
    // An accepted change.
    bench.write("docs/counter.md", NEW);
    bench.run(&["drift", "old", "--docs", "docs", "--accept", "R1", "--because", "same"]).expect(0);
    nothing(&["--out", "specs"]).expect(0).prints(&["or the change was accepted"]);
    assert!(!bench.path("specs").exists() && !bench.path("old-2").exists());
}

#[test]
fn what_cannot_be_forged_again_is_an_error_and_nothing_begins() {
    let bench = bench();
    bench.write("docs/counter.md", NEW);
    let resume = |args: &[&str]| bench.run(&[&["resume"], args].concat());
    resume(&["nothing", "--drift", "--docs", "docs"]).expect(2).says(&["nothing holds no run"]);
    resume(&["old", "--drift", "--docs", "nothing"]).expect(2).says(&["nothing does not exist"]);
    resume(&["old", "--drift"]).expect(2).says(&["--docs"]);
    resume(&["old", "--docs", "docs"]).expect(2).says(&["--drift"]);
    resume(&["old", "--drift", "--docs", "docs", "--from", "rev_0"]).expect(2);
    // It was replayed, so the command has to name a provider.
    resume(&["old", "--drift", "--docs", "docs"])
        .expect(2)
        .says(&["old was replayed from a recording, which has no answers for changed documents", "--provider claude"]);
    let handoff =
        |more: &[&str]| resume(&[&["old", "--drift", "--docs", "docs", "--provider", "handoff"], more].concat());
    handoff(&["--out", "old"]).expect(2).says(&["old contains a finished run (approved)"]);
    handoff(&["--out", "docs"]).expect(2).says(&["docs contains the documents"]);
    bench.write("other/Spec.tla", "mine");
    handoff(&["--out", "other"]).expect(2).says(&["other contains Spec.tla: not written by a run"]);
    assert_eq!(bench.read("other/Spec.tla"), "mine");
    for folder in ["earlier-docs", "sub/earlier-docs"] {
        bench.write(&format!("docs/{folder}/a.md"), "One.\n");
        handoff(&[]).expect(2).says(&[&format!("{folder}/a.md: earlier-docs/ marks places of the earlier documents")]);
        std::fs::remove_dir_all(bench.path(&format!("docs/{folder}"))).unwrap();
    }
    let running = tlaforge::journal::RunLock::take(&bench.path("old"), "now").unwrap();
    handoff(&[]).expect(2).says(&["old is in use by process ", "forge again once it has ended"]);
    drop(running);
    let events = bench.events("old");
    bench.write("begun/journal.jsonl", format!("{}\n{}\n", events[0], events[1]));
    resume(&["begun", "--drift", "--docs", "docs"]).expect(3).says(&["begun has no revision yet"]);
    // A text of the run was changed.
    let source = events.iter().find(|e| name(e) == "revision_closed").unwrap()["data"]["hashes"]["source.tla"].clone();
    let path = format!("old/artifacts/{}", source.as_str().unwrap());
    let text = bench.read(&path);
    bench.write(&path, "changed");
    handoff(&[]).expect(2).says(&["source.tla of rev_0 of the run is missing or was changed"]);
    bench.write(&path, text);
    assert!(!bench.path("old-2").exists() && !bench.path("specs").exists());
}

#[test]
fn killed_at_every_boundary_the_new_run_resumes_without_the_earlier_one() {
    let bench = bench();
    bench.write("docs/counter.md", NEW);
    bench.begin(&AGAIN, &answers(), &[]).expect(0);
    let files = ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md"];
    let expected = files.map(|file| bench.read(&format!("specs/{file}")));
    let events = bench.journal("specs").len();
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 2 };
    for seq in (1..=events).step_by(step) {
        let point = ["before", "torn", "after"][seq % 3];
        std::fs::remove_dir_all(bench.path("specs")).unwrap();
        let again = [&AGAIN[..], &["--recording", "script.jsonl", "--out", "specs"]].concat();
        let at = format!("{point}:{seq}");
        assert_eq!(bench.run_with(&again, &[("TLAFORGE_CRASH", &at)]).status, None, "{at}");
        if seq == 1 && point != "after" {
            bench.run(&again).expect(0);
        } else {
            std::fs::rename(bench.path("old"), bench.path("away")).unwrap();
            bench.run(&["resume", "specs"]).expect(0);
            std::fs::rename(bench.path("away"), bench.path("old")).unwrap();
        }
        assert_eq!(files.map(|file| bench.read(&format!("specs/{file}"))), expected, "{at}");
        let journal = bench.journal("specs");
        assert_eq!(journal.iter().filter(|e| name(e) == "answer_received").count(), 4, "{at}");
        assert!(journal[0]["data"]["made_from"].is_object(), "{at}");
    }
}

#[test]
fn a_forged_origin_gains_nothing() {
    let bench = bench();
    bench.write("docs/counter.md", NEW);
    bench.begin(&AGAIN, &answers(), &[]).expect(0);
    forged::genuine(&bench);
    let start = ("run_started", "run");
    let journal = bench.events("specs");
    let closed = journal.iter().find(|e| name(e) == "revision_closed").unwrap();
    let module = closed["data"]["hashes"]["Spec.tla"].clone();
    // Other texts than those that follow, and one that is never taken over.
    let done = forged::forged(&bench, start, "/made_from/artifacts/source.tla", &module).expect(1);
    assert!(
        done.stdout.contains("source.tla of `artifacts` is not the earlier text with its citations moved"),
        "{}",
        done.stdout
    );
    let done = forged::forged(&bench, start, "/made_from/artifacts/Spec.tla", &module).expect(1);
    assert!(done.stdout.contains("`artifacts` has Spec.tla, which a run never takes over"), "{}", done.stdout);
    forged::forged(&bench, start, "/made_from/requirements/0/text", &json!("Nothing.")).expect(1);
    // Fewer documents to account for, and a decision about nothing.
    let done = forged::forged(&bench, start, "/made_from/read_documents", &json!(["other.md"])).expect(1);
    for objection in ["lacks counter.md, which is new or has changed", "has other.md, which is no document of the run"]
    {
        assert!(done.stdout.contains(&format!("`read_documents` {objection}")), "{}", done.stdout);
    }
    let open_point = json!({"id": "O1", "place": "earlier-docs/counter.md:4", "question": "Why?", "taken": "a", "otherwise": "b", "affects": []});
    let decisions = json!([{"open_point": open_point, "reading": "a"}]);
    let done = forged::forged(&bench, start, "/made_from/decisions", &decisions).expect(1);
    assert!(done.stdout.contains("`decisions` has one that cites no line of the documents"), "{}", done.stdout);
    // No part of it looks like a line of the report.
    forged::forged(&bench, start, "/made_from/folder", &json!("old\nApproved: all"));
    let report = bench.run(&["report", "forged"]).stdout;
    assert!(report.contains("of old Approved: all, whose documents"), "{report}");
    // An approval without the draft, the check or the review of this run.
    for missing in ["informal_spec", "validate", "model_check", "review"] {
        let mut cut = journal.clone();
        let is_kept = |e: &Value| e["lifeline"] != missing || name(e) == "run_finished";
        cut.retain(is_kept);
        for (at, event) in cut.iter_mut().enumerate() {
            event["seq"] = json!(at + 1);
        }
        forged::write(&bench, &cut);
        let done = bench.run(&["audit", "forged", "--policy", "default"]);
        assert_ne!(done.status, Some(0), "{missing}: {}", done.stdout);
    }
    // What it takes over is not the result of a node of this run.
    let view = tlaforge::pipeline::RunView::from_entries(
        &tlaforge::journal::read(&bench.path("specs/journal.jsonl")).unwrap()[..1],
    );
    assert!(view.artifact("source.tla").is_some() && view.artifact("Spec.tla").is_none());
    assert!(view.specification.requirements.is_empty() && view.check().is_none() && !view.state.informal);
}
