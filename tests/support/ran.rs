//! Runs a script and offers assertions on the result.

use std::fmt::Write as _;

use serde_json::Value;

use super::counter::bench;
use super::{Bench, Script, name, outcome, reasons, routes};

/// The result of a run of a script.
pub struct Ran {
    pub bench: Bench,
    pub journal: Vec<Value>,
}

impl Ran {
    pub fn events(&self, wanted: &str) -> Vec<&Value> {
        self.journal.iter().filter(|e| name(e) == wanted).collect()
    }

    /// Asserts that these routes were taken consecutively.
    #[track_caller]
    pub fn went(self, wanted: &[&str]) -> Self {
        let taken = routes(&self.journal);
        assert!(
            taken.windows(wanted.len()).any(|w| w == wanted),
            "{wanted:?} not in {taken:?}\n{:#?}",
            reasons(&self.journal)
        );
        self
    }

    /// Asserts that the reason of a route to this node contains these words.
    #[track_caller]
    pub fn because(self, to: &str, words: &str) -> Self {
        let reasons = reasons(&self.journal);
        let found = reasons.iter().any(|r| r.starts_with(&format!("{to}: ")) && r.contains(words));
        assert!(found, "{to}, {words:?} not in {reasons:#?}");
        self
    }

    #[track_caller]
    pub fn ended(self, wanted: &str) -> Self {
        assert_eq!(outcome(&self.journal), wanted, "{:#?}", reasons(&self.journal));
        self
    }

    /// All feedback to nodes, in order.
    pub fn told(&self) -> String {
        let all = self.events("attempt_finished").into_iter().filter_map(|e| e["data"]["feedback"].as_array().cloned());
        all.flatten().fold(String::new(), |mut text, f| {
            let _ = writeln!(text, "{}: {}", f["node"].as_str().unwrap(), f["text"].as_str().unwrap());
            text
        })
    }

    pub fn meta(&self, revision: u32) -> Value {
        serde_json::from_str(&self.bench.read(&format!("specs/history/rev_{revision}/meta.json"))).unwrap()
    }
}

#[track_caller]
pub fn ran(script: &Script, more: &[&str], status: i32) -> Ran {
    ran_in(bench(), script, more, status)
}

#[track_caller]
pub fn ran_in(bench: Bench, script: &Script, more: &[&str], status: i32) -> Ran {
    bench.forge(script, more).expect(status);
    let journal = bench.journal("specs");
    Ran { bench, journal }
}

/// Exit status of a run whose recording ends early: the test needs no more answers.
pub const NO_ANSWER: i32 = 5;
