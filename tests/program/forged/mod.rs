//! Approvals that a forger tries to get: the answers of a model that specifies less than it seems to, in the first
//! revision and in a repair, with each checker.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod replaced;
mod roles;
mod tree;

use crate::support::counter::{self, CFG, INFORMAL, INVARIANTS, MODULE, WITNESSES, fenced, good, issue, sections};
use crate::support::{Bench, Script, name, outcome, reasons};

/// Both checkers. [`checkers_to_run`] leaves out TLC except in a campaign, because it takes ten times as long.
const BOTH: [&str; 2] = ["tlc", "embedded"];
/// Only what the Java tools can evaluate.
const TLC: [&str; 1] = ["tlc"];

/// The answers of one revision; by default those of an honest model.
#[derive(Clone)]
struct Answers {
    informal: String,
    module: String,
    invariants: String,
    properties: String,
    witnesses: String,
    cfg: String,
    /// The review, which the forger also writes: a JSON object.
    review: serde_json::Value,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            informal: INFORMAL.to_owned(),
            module: MODULE.to_owned(),
            invariants: INVARIANTS.to_owned(),
            properties: String::new(),
            witnesses: WITNESSES.to_owned(),
            cfg: CFG.to_owned(),
            review: serde_json::json!({"verdict": "approved", "summary": "s", "issues": []}),
        }
    }
}

impl Answers {
    fn sections(&self) -> String {
        sections(&self.invariants, &self.properties, &self.witnesses, &self.cfg)
    }

    /// These answers in the first revision.
    fn first(&self) -> Script {
        // Nothing can have changed, so that an accepted change would be sent back.
        let mut review = self.review.clone();
        review["accepted_changes"] = serde_json::json!([]);
        Script::default()
            .answer("informal_spec", 0, 1, "draft", &self.informal)
            .answer("formalize", 0, 1, "draft", &fenced(&self.module))
            .answer("generate_invariants", 0, 1, "draft", &self.sections())
            .answer("review", 0, 1, "draft", &review.to_string())
            .having_read_all()
    }

    /// An honest first revision, then these answers in its repair.
    fn repair(&self) -> Script {
        // With the same text, `formalize` would not be asked again.
        let informal = self.informal.replace("The limit.", "The limit, and each step.");
        assert_ne!(informal, self.informal);
        good()
            .answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "a step is missing"))
            .having_read_all()
            .answer("informal_spec", 1, 1, "repair", &informal)
            .answer("formalize", 1, 1, "repair", &fenced(&self.module))
            .answer("generate_invariants", 1, 1, "draft", &self.sections())
            .answer("review", 1, 1, "draft", &self.review.to_string())
            .having_read_all()
    }
}

/// The checkers that a test runs: in a campaign all of them, otherwise only the embedded one. A single checker always runs.
fn checkers_to_run<'a>(checkers: &'a [&'a str]) -> impl Iterator<Item = &'a &'a str> {
    let all = std::env::var_os("TLAFORGE_CAMPAIGN").is_some() || checkers.len() == 1;
    checkers.iter().filter(move |checker| all || **checker == "embedded")
}

/// Runs the answers in the first revision and as a repair, with each of these checkers, and expects that this clause of
/// the guard refuses each approval and names `named`.
#[track_caller]
fn refused(answers: &Answers, checkers: &[&str], clause: &str, named: &str) {
    for checker in checkers_to_run(checkers) {
        for (script, revisions) in [(answers.first(), "0"), (answers.repair(), "1")] {
            let bench = counter::bench_with_java();
            bench.forge(&script, &["--max-revisions", revisions, "--checker", checker]).expect(1);
            last_clause(&bench, clause, named);
            assert_eq!(outcome(&bench.journal("specs")), "not_approved");
        }
    }
}

/// Runs a forger whose answer of this node is refused before any check, in the first revision and as a repair, and who then
/// answers honestly. Expects that the refusal goes back to the author with these words.
#[track_caller]
fn sent_back(answers: &Answers, node: &str, words: &str) {
    let honest = if node == "formalize" { fenced(MODULE) } else { counter::good_sections() };
    for (script, place) in [(answers.first(), 0), (answers.repair(), 1)] {
        let bench = counter::bench_with_java();
        let script = script.answer(node, place, 2, "repair", &honest).answer(
            "generate_invariants",
            place,
            1,
            "draft",
            &answers.sections(),
        );
        bench.forge(&script, &["--checker", "embedded"]).expect(0);
        let told = reasons(&bench.journal("specs"));
        assert!(
            told.iter().any(|why| why.starts_with(&format!("{node}: ")) && why.contains(words)),
            "{words}: {told:#?}"
        );
    }
}

/// Runs the answers in the first revision with each of these checkers, and expects an approval.
#[track_caller]
fn approved(answers: &Answers, checkers: &[&str]) {
    for checker in checkers_to_run(checkers) {
        let bench = counter::bench_with_java();
        bench.forge(&answers.first(), &["--max-revisions", "0", "--checker", checker]).expect(0);
    }
}

/// Expects that the last evaluation of the approval guard failed at this clause, with these words in its reason.
#[track_caller]
fn last_clause(bench: &Bench, clause: &str, named: &str) {
    let journal = bench.journal("specs");
    let last = journal.iter().rfind(|e| name(e) == "guard_evaluated").expect("the guard was evaluated");
    assert_eq!(last["data"]["clause"], clause, "{:#?}", reasons(&journal));
    assert!(reasons(&journal).last().unwrap().contains(named), "{named}: {:#?}", reasons(&journal));
}
