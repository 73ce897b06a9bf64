//! Rules that are refused before a run begins, held against runs that are there: what is called impossible no run
//! satisfies, what is called never asked is never asked, and what is said to prevent an approval every approved run breaks.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use crate::support::counter::{INFORMAL, MODULE, bench, fenced, good_sections, review};
use crate::support::{Bench, Script, name, outcome, project};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::Value;
use tlaforge::monitor::{Auditor, KnownLabels, LiveAudit, Policy};
use tlaforge::pipeline::{AdmissionError, admit, journal_mapping};
use tlaforge::temporal::Formulas;

static RUNS: LazyLock<Vec<Vec<Value>>> = LazyLock::new(|| {
    let recorded = |case: &str, recording: &str, more: &[&str]| {
        let bench = Bench::without_tools();
        let case = project().join("evals").join(case);
        let recording = case.join("recording").join(recording);
        let (case, recording) = (case.to_str().unwrap(), recording.to_str().unwrap());
        let args = ["run", "--case", case, "--recording", recording, "--checker", "embedded", "--out", "specs"];
        bench.run(&[&args, more].concat());
        bench.journal("specs")
    };
    let side_by_side = || {
        let bench = bench();
        let script = Script::default()
            .answer("informal_spec", 0, 1, "draft", INFORMAL)
            .sample("formalize", 0, 1, ("draft", 1), &fenced(MODULE))
            .sample("formalize", 0, 1, ("draft", 2), &fenced(&MODULE.replace("variables", "\\* another\nvariables")))
            .sample("generate_invariants", 0, 1, ("draft", 1), &good_sections())
            .sample("generate_invariants", 0, 1, ("draft", 2), &good_sections())
            .answer("review", 0, 1, "draft", &review("approved"))
            .having_read_all();
        bench.forge(&script, &["--candidates", "2"]).expect(0);
        let journal = bench.journal("specs");
        assert!(journal.iter().any(|e| name(e) == "check_finished" && e["lifeline"] == "formalize_2"));
        journal
    };
    let mut runs = vec![
        recorded("ring_election", "run.jsonl", &[]),
        recorded("cache_aside", "run.jsonl", &[]),
        recorded("cache_aside", "repair.jsonl", &["--repair"]),
        crate::strengthen::kept_round(),
        side_by_side(),
    ];
    // Their checks take half a minute each.
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() {
        runs.push(recorded("lockbox", "run.jsonl", &[]));
        runs.push(recorded("alternating_bit", "strengthen.jsonl", &["--strengthen"]));
    }
    runs
});

/// What some event says: whose it is, its name, a field of it and the value there.
type Said = (String, String, String, Value);

static SAID: LazyLock<Vec<Said>> = LazyLock::new(|| {
    fn fields(path: &str, value: &Value, found: &mut impl FnMut(&str, &Value)) {
        match value {
            Value::Object(all) => all.iter().for_each(|(key, value)| fields(&format!("{path}.{key}"), value, found)),
            Value::Array(_) => {}
            value => found(path.trim_start_matches('.'), value),
        }
    }
    let mut all = BTreeMap::new();
    for event in RUNS.iter().flatten() {
        let lifeline = event["lifeline"].as_str().unwrap().to_owned();
        fields("", &event["data"], &mut |field, value| {
            let short = value.as_str().is_none_or(|text| text.len() < 20 && text.bytes().all(|b| b.is_ascii_graphic()));
            let named = field.split('.').all(|part| part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            if short && named && !value.is_null() {
                let said = (lifeline.clone(), name(event).to_owned(), field.to_owned());
                all.insert((said.clone(), value.to_string()), (said.0, said.1, said.2, value.clone()));
            }
        });
    }
    all.into_values().collect()
});

fn said() -> impl Strategy<Value = Said> {
    select(&**SAID)
}

/// An atom over one event.
fn here() -> impl Strategy<Value = String> {
    (said(), said(), 0..8, select(&["=", "!=", "<", ">="])).prop_map(|(one, other, which, than)| match which {
        0 => format!("name = \"{}\"", one.1),
        1 => format!("lifeline = \"{}\"", one.0),
        2 => format!("(name = \"{}\" & lifeline = \"{}\")", one.1, other.0),
        3 => format!("(name = \"{}\" & {} = {})", one.1, other.2, other.3),
        4 => format!("(lifeline = \"{}\" & {} {than} {})", one.0, other.2, other.3),
        5 => format!("defined({})", one.2),
        6 => "rev > 0".to_owned(),
        _ => format!("{} {than} {}", one.2, one.3),
    })
}

fn some(atom: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> + Clone {
    (atom.clone(), atom, 0..5).prop_map(|(a, b, which)| match which {
        0 => format!("({a} & {b})"),
        1 => format!("({a} | {b})"),
        2 => format!("!({a})"),
        _ => a,
    })
}

fn of_trace() -> impl Strategy<Value = String> {
    let atom = some(here().boxed());
    (atom.clone(), atom, 0..9).prop_map(|(a, b, which)| {
        let formula = match which {
            0 => format!("F {a}"),
            1 => format!("G !({a})"),
            2 => format!("G ({a} -> {b})"),
            3 => format!("G ({a} -> F ({b}))"),
            4 => format!("(!({a})) U ({b})"),
            5 => format!("F (({a}) & X F ({b}))"),
            6 => format!("F (({a}) & X ({b}))"),
            7 => format!("(F {a}) & G !({b})"),
            _ => format!("G ({a})"),
        };
        format!("formula = '{formula}'")
    })
}

/// An atom over what a node has seen.
fn behind() -> impl Strategy<Value = String> {
    (said(), here(), 0..6).prop_map(|(one, atom, which)| match which {
        0 => format!("Seen@{}", one.0),
        1 => format!("@{}(name = \"{}\")", one.0, one.1),
        2 => format!("O ({atom})"),
        3 => format!("@{}.{} = {}", one.0, one.2, one.3),
        _ => atom,
    })
}

fn causal() -> impl Strategy<Value = String> {
    let formula = some(behind().boxed());
    let when = proptest::option::weighted(0.7, some(here().boxed()));
    (said(), when, formula).prop_map(|(owner, when, formula)| {
        let when = when.map_or(String::new(), |when| format!("when = '{when}'\n"));
        format!("owner = \"{}\"\n{when}formula = '{formula}'", owner.0)
    })
}

/// How the rule stands at the end of a journal: whether it is kept, and whether it was asked.
fn stands(policy: &str, journal: &[Value]) -> (bool, bool) {
    let mut formulas = Formulas::new();
    let Policy { rules, log, labels, .. } = Policy::read(policy, &mut formulas).unwrap();
    let known = KnownLabels::new(&labels, HashMap::new());
    let auditor = Auditor::new_with_labels(formulas, rules, journal_mapping(log), known).unwrap();
    let mut follower = LiveAudit::new(Arc::new(auditor)).unwrap();
    for (line, event) in (1..).zip(journal) {
        follower.add_record(event.to_string().as_bytes(), line).unwrap();
    }
    (follower.verdict("r").holds(), follower.was_evaluated("r").unwrap_or(true))
}

/// That a refusal is right of this run; of what kind it is.
fn is_right(refused: &AdmissionError, policy: &str, journal: &[Value]) -> Result<&'static str, TestCaseError> {
    let approved = outcome(journal).starts_with("approved");
    let words = || format!("{refused}\n{policy}");
    let (kept, asked) = stands(policy, journal);
    Ok(match refused {
        AdmissionError::NotItsOwn { lifeline, field, .. } => {
            let path = format!("/data/{}", field.replace('.', "/"));
            // An object is no value of a field.
            let is_there = |event: &Value| event.pointer(&path).is_some_and(|value| !value.is_object());
            let has = |event: &Value| event["lifeline"] == **lifeline && is_there(event);
            prop_assert!(!journal.iter().any(has), "{}", words());
            "not its own"
        }
        AdmissionError::Impossible { .. } => {
            prop_assert!(!kept || (!asked && !approved), "{}", words());
            "impossible"
        }
        AdmissionError::NeverEvaluated { .. } => {
            prop_assert!(!asked, "{}", words());
            "never asked"
        }
        AdmissionError::NeverHolds { .. } | AdmissionError::Contradicts { .. } => {
            prop_assert!(!approved || !kept, "{}", words());
            "contradicts"
        }
        // A value that a field never has.
        AdmissionError::Unknown { .. } => "unknown",
        other => return Err(TestCaseError::fail(format!("{other}\n{policy}"))),
    })
}

#[test]
fn a_refused_rule_fails_on_every_recorded_run() {
    let all = || RUNS.iter();
    assert!(all().filter(|journal| outcome(journal).starts_with("approved")).count() >= 3);
    // How often each kind of refusal came up.
    let told: RefCell<BTreeMap<&str, usize>> = RefCell::default();
    let rule = prop_oneof![of_trace(), causal()];
    let campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
    let cases = if campaign { 10_000 } else { 60 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = if campaign {
        TestRunner::new(config)
    } else {
        // Always the same rules, so that each kind of refusal always comes up.
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    };
    let done = runner.run(&rule, |rule| {
        let policy = format!("[[rule]]\nid = \"r\"\n{rule}\n");
        let mut kind = "taken";
        if let Err(refused) = admit(&policy) {
            for journal in RUNS.iter() {
                kind = is_right(&refused, &policy, journal)?;
            }
        }
        *told.borrow_mut().entry(kind).or_default() += 1;
        Ok(())
    });
    done.unwrap();
    let told = told.into_inner();
    for kind in ["taken", "not its own", "impossible", "never asked", "contradicts"] {
        assert!(told.contains_key(kind), "{kind} was not tried: {told:?}");
    }
}
