//! A decision rests on what the reviewer had received. Two branches of one recorded run, with one newer draft and one check:
//! where the newer draft is a candidate's that nobody received, the approval stands; where a person handed it to the review,
//! it is refused. Beside that, what was journaled is the same.

use crate::support::counter::{INFORMAL, MODULE, answers, bench_with_java, fenced, good_sections, review};
use crate::support::model_server::ModelServer;
use crate::support::{Bench, Done, Script, name, outcome};
use serde_json::{Value, json};

/// A draft that breaks the requirement.
fn newer() -> String {
    MODULE.replace("while n < Max do", "while n <= Max do")
}

/// A run from a recording: the first draft was checked and approved, the second one came too late for the choice.
fn recorded() -> Bench {
    let script = Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .sample("formalize", 0, 1, ("draft", 1), &fenced(MODULE))
        .sample("formalize", 0, 1, ("draft", 2), &fenced(&newer()))
        .late()
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    let bench = bench_with_java();
    bench.forge(&script, &["--candidates", "2"]).expect(0).prints(&["Outcome: approved", "too late"]);
    bench
}

/// A copy of it.
fn copied(from: &Bench) -> Bench {
    let to = bench_with_java();
    let copied = std::process::Command::new("cp").arg("-r").arg(from.path("specs")).arg(to.path("specs")).status();
    assert!(copied.unwrap().success());
    to
}

/// What stands between the first and the last words of the algorithm.
fn algorithm(module: &str) -> &str {
    let (_, text) = module.split_once("(* --algorithm").unwrap();
    text.split_once("end algorithm").unwrap().0
}

/// From its first revision on, reviewed once more by a reviewer that approves.
fn reviewed_again(bench: &Bench, at: &str) -> Done {
    let server = ModelServer::start(answers);
    let url = server.url();
    let mut args = vec!["resume", "specs", "--from", "rev_0", "--at", at, "--max-revisions", "0"];
    args.extend(["--provider", "openai", "--model", "m", "--base-url", &url]);
    let done = bench.run_with(&args, &[("OPENAI_API_KEY", "k")]);
    let read: Vec<String> = server.requests().last().unwrap().tool_results().into_iter().map(|r| r.text).collect();
    let module = bench.read("specs/history/rev_1/Spec.tla");
    let shown = |text: &String| algorithm(&module).lines().all(|line| text.contains(line));
    assert!(read.iter().any(shown), "it has read what it approves: {read:?}");
    done
}

fn last<'a>(journal: &'a [Value], event: &str, lifeline: &str) -> &'a Value {
    journal.iter().rfind(|e| name(e) == event && e["lifeline"] == lifeline).unwrap()
}

/// What happened since the branch: who did what, and what each could know.
fn since_the_branch(journal: &[Value]) -> Vec<[&Value; 4]> {
    let begins = journal.iter().rposition(|e| name(e) == "branch_started").unwrap();
    let until = journal.iter().rposition(|e| name(e) == "guard_evaluated").unwrap();
    journal[begins..=until].iter().map(|e| ["lifeline", "kind", "name", "vc"].map(|field| &e[field])).collect()
}

/// That only the sender of the newer draft knew of it, though it stands in the journal before the decision.
fn knows_nothing_of_candidate_2(journal: &[Value]) {
    let decision = last(journal, "guard_evaluated", "review");
    let draft = last(journal, "candidate_finished", "formalize_2");
    assert!(draft["seq"].as_u64() < decision["seq"].as_u64());
    assert!(decision["vc"]["formalize_2"].is_null(), "{}", decision["vc"]);
    assert!(
        decision["vc"]["model_check"].as_u64()
            >= last(journal, "check_finished", "model_check")["vc"]["model_check"].as_u64()
    );
}

#[test]
fn a_branch_whose_review_received_the_newer_draft_is_refused_and_the_other_is_approved() {
    let run = recorded();
    let (without, with) = (copied(&run), copied(&run));
    let draft = run.read("specs/history/rev_0/candidates/2.tla");
    assert_ne!(algorithm(&draft), algorithm(&run.read("specs/Spec.tla")));

    // Here the newer draft is in the run, and the reviewer has not received it.
    let approved = reviewed_again(&without, "review").expect(0);
    // Here a person hands it to the review, with the properties of the module that was checked.
    let checked = with.read("specs/history/rev_0/Spec.tla");
    with.write("specs/history/rev_0/Spec.tla", checked.replace(algorithm(&checked), algorithm(&draft)));
    let refused = reviewed_again(&with, "review").expect(1);

    // The same happened in both, everybody could know the same events, and the decisions differ.
    let (before, after) = (without.journal("specs"), with.journal("specs"));
    assert_eq!(since_the_branch(&before), since_the_branch(&after));
    assert_eq!((outcome(&before), outcome(&after)), ("approved", "not_approved"));
    for journal in [&before, &after] {
        knows_nothing_of_candidate_2(journal);
    }
    let edited = |journal: &[Value]| last(journal, "branch_started", "run")["data"]["edited"].clone();
    assert_eq!((edited(&before), edited(&after)), (json!([]), json!(["Spec.tla"])));
    let says = |journal: &[Value], who: &str| {
        let mut all = journal.iter().filter(|e| e["lifeline"] == who && !e["data"]["claims"]["module"].is_null());
        all.next_back().unwrap()["data"]["claims"]["module"].as_str().unwrap().to_owned()
    };
    let checked = says(&before, "model_check");
    assert_eq!((says(&before, "review"), says(&after, "model_check")), (checked.clone(), checked.clone()));
    let received = says(&after, "review");

    // What the approval rests on, and what the refusal names: the clause and both values.
    let guard = &last(&before, "guard_evaluated", "review")["data"];
    assert_eq!((&guard["guard"], &guard["holds"], &guard["clause"]), (&json!("approval"), &json!(true), &Value::Null));
    let guard = &last(&after, "guard_evaluated", "review")["data"];
    assert_eq!((&guard["holds"], &guard["clause"]), (&json!(false), &json!("check_is_fresh")));
    let values = &guard["values"];
    assert_eq!((&values["@model_check.claims.module"], &values["claims.module"]), (&json!(checked), &json!(received)));
    assert_eq!(values["@model_check.claims.cfg"], values["claims.cfg"]);
    assert_eq!(guard["facts"]["unread"], json!([]), "the reviewer has read the newer draft");

    // The lines that a person sees: while it goes on, when it ends, and in the report.
    let approval = "the reviewer agreed and all automatic conditions are met";
    let refusal = format!(
        "the module or its configuration is not the one that was checked last (check_is_fresh: @model_check.claims.module \
         is {}, claims.module is {})",
        &checked[..8],
        &received[..8]
    );
    let end = format!("the limit of 0 revisions is reached; still open: {refusal}");
    approved
        .says(&[&format!("review              -> approved: {approval}\n")])
        .prints(&["Outcome: approved (confirmed by SANY and TLC)\n", &format!("Why: {approval}\n")]);
    refused
        .says(&["with your Spec.tla", &format!("review              -> not_approved: {end}\n")])
        .prints(&["Outcome: not approved\n", &format!("Why: {end}\n")]);
    without.run(&["report", "specs"]).expect(0).prints(&[
        "Outcome: approved (confirmed by SANY and TLC)\n",
        &format!("rev_1, from rev_0: approved\n      why: {approval}\n"),
        "candidate 2: accepted, quick check holds, 5 states, too late",
    ]);
    with.run(&["report", "specs"]).expect(0).prints(&[
        "Outcome: not approved\n",
        &format!("Why: {end}\n"),
        &format!("rev_1, from rev_0: not_approved\n      why: {end}\n"),
        "edited by hand: Spec.tla",
    ]);
    with.run(&["report", "specs", "--chart", "text"]).expect(0).prints(&["check_is_fresh fails"]);
}

#[test]
fn after_the_newer_draft_is_checked_the_decision_rests_on_that_check() {
    let run = recorded();
    let draft = run.read("specs/history/rev_0/candidates/2.tla");
    let checked = run.read("specs/history/rev_0/Spec.tla");
    run.write("specs/history/rev_0/Spec.tla", checked.replace(algorithm(&checked), algorithm(&draft)));
    let done = reviewed_again(&run, "model_check").expect(1);
    let journal = run.journal("specs");
    let guard = &last(&journal, "guard_evaluated", "review")["data"];
    assert_eq!(guard["clause"], "nothing_violated");
    assert_eq!(guard["values"], json!({"@model_check.claims.verdict": "violated"}));
    done.prints(&[
        "Why: the limit of 0 revisions is reached; still open: the last check found a violation (nothing_violated)\n",
    ]);
}
