//! Formalizations side by side: the good one wins, nothing of the others is lost, a decision rests on what had been
//! received, and a run that is killed in the middle comes to the same.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::counter::{CFG, INFORMAL, MODULE, bench, fenced, good_sections, review, sections};
use support::model_server::{ModelServer, Reply, Seen};
use support::{Bench, Script, name, outcome};

/// A module that the translator takes and that cannot be evaluated.
fn not_evaluated() -> String {
    MODULE.replace("n := n + 1;", "n := Head(<<>>);").replace("EXTENDS Naturals", "EXTENDS Naturals, Sequences")
}

/// One that it does not take.
fn rejected() -> String {
    MODULE.replace("end while;", "")
}

fn drafts(modules: &[&str]) -> Script {
    let first = Script::default().answer("informal_spec", 0, 1, "draft", INFORMAL);
    (1..).zip(modules).fold(first, |script, (number, module)| {
        let answer = if module.is_empty() { "I could not do it.".to_owned() } else { fenced(module) };
        script.sample("formalize", 0, 1, ("draft", number), &answer)
    })
}

fn approved(script: Script) -> Script {
    script
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all()
}

fn of<'a>(journal: &'a [Value], event: &str) -> Vec<&'a Value> {
    journal.iter().filter(|e| name(e) == event).collect()
}

fn chosen(journal: &[Value]) -> &Value {
    let all = of(journal, "candidate_chosen");
    assert_eq!(all.len(), 1);
    &all[0]["data"]
}

#[test]
fn of_three_candidates_of_which_two_are_broken_the_good_one_goes_on_and_the_others_stay() {
    let bench = bench();
    let script = approved(drafts(&[&rejected(), "", MODULE]));
    bench.forge(&script, &["--candidates", "3"]).expect(0).prints(&["Outcome: approved", "candidate 3"]);
    let journal = bench.journal("specs");
    let told = chosen(&journal);
    assert_eq!((&told["chosen"], &told["by"]), (&json!(3), &json!("points")));
    assert_eq!(told["received"], json!({"1": 1, "2": 0, "3": 5}));
    assert_eq!(of(&journal, "leaders_named").len(), 0, "one leads alone: nothing more is paid for");
    let kept = bench.read("specs/history/rev_0/candidates/1.tla");
    assert!(kept.contains("while n < Max"), "{kept}");
    assert!(bench.read("specs/history/rev_0/candidates/2.md").contains("I could not do it."));
    assert!(bench.read("specs/history/rev_0/candidates/3.tla").contains("BEGIN TRANSLATION"));
    let meta: Value = serde_json::from_str(&bench.read("specs/history/rev_0/meta.json")).unwrap();
    assert_eq!(meta["candidates"]["chosen"]["chosen"], 3);
    bench.run(&["report", "specs"]).expect(0).prints(&["candidate 1", "candidate 2", "candidate 3", "goes on"]);
    bench.run(&["report", "specs", "--chart", "text"]).expect(0).prints(&["formalize_2", "chooses candidate 3"]);
}
