//! Progression against the published vectors, and against the finite and infinite semantics written down naively.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where its own preparation does, and says how much it tried"
)]

#[path = "support/temporal_naive.rs"]
mod naive;

use fastrand::Rng;
use naive::{Continuation, random_formula, random_letter, value};
use serde_json::Value as Json;
use tlaforge::temporal::{Atom, Ending, Formula, Formulas, Letter, Owed, Progression, Standing};

fn campaign(full: usize, otherwise: usize) -> usize {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { full } else { otherwise }
}

fn vectors() -> Json {
    serde_json::from_str(include_str!("data/temporal/progression.json")).unwrap()
}

/// The atoms with these names.
fn letter(progression: &Progression, names: &[&str]) -> Letter {
    let is_true = |atom: &Atom| matches!(atom, Atom::Name(name) if names.contains(&&**name));
    progression.formulas().atoms().filter(|(_, atom)| is_true(atom)).map(|(id, _)| id).collect()
}

fn begin(text: &str) -> (Progression, Owed) {
    let (mut source, mut progression) = (Formulas::new(), Progression::new());
    let formula = source.parse(text).unwrap();
    let owed = progression.begin(&source, formula).unwrap();
    (progression, owed)
}

/// What is owed after steps given as names between blanks, `-` for none.
fn after(text: &str, steps: &str) -> (Progression, Owed) {
    let (mut progression, mut owed) = begin(text);
    for step in steps.split(' ').filter(|step| !step.is_empty()) {
        let letter = letter(&progression, &step.split(',').collect::<Vec<_>>());
        owed = progression.step(owed, &letter);
    }
    (progression, owed)
}

fn score(standing: Standing) -> i64 {
    match standing {
        Standing::Satisfied => 1,
        Standing::Violated => -1,
        Standing::Undecided => 0,
    }
}

#[test]
fn every_published_row_of_formulas_comes_out_as_expected() {
    let (mut rows, mut residuals) = (0, 0);
    for row in vectors()["rows"].as_array().unwrap() {
        let (id, expect) = (row["id"].as_str().unwrap(), &row["expect"]);
        if expect.get("error").is_some() {
            // Labels and parameters are read in the monitor; its tests have these two.
            assert!(["atom_none", "atmost0"].contains(&id), "{id}");
            continue;
        }
        let (mut progression, mut owed) =
            begin(row["formula_code"].as_str().unwrap().replace("WU\u{64e}", "W").as_str());
        let mut residual_after = Vec::new();
        let mut scores = Vec::new();
        for step in row["steps"].as_array().unwrap() {
            let names: Vec<&str> = match &step["state"] {
                Json::Array(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
                Json::Object(labels) => {
                    let truthy = |v: &Json| !matches!(v, Json::Bool(false)) && v.as_i64() != Some(0);
                    labels.iter().filter(|(_, v)| truthy(v)).map(|(k, _)| k.as_str()).collect()
                }
                other => panic!("{other}"),
            };
            let letter = letter(&progression, &names);
            owed = progression.step(owed, &letter);
            scores.push(score(progression.standing(owed)));
            residual_after.push(owed);
        }
        let list = |key: &str| -> Vec<i64> {
            expect.get(key).map_or(Vec::new(), |v| v.as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect())
        };
        assert!(scores == list("scores") || scores == list("or"), "{id}: {scores:?}, expected {expect}");
        rows += 1;
        if let Some(text) = expect.get("residual").and_then(Json::as_str) {
            let text = text.split(" until q").next().unwrap().split(" after ").next().unwrap();
            let text = text.split(" (").next().unwrap().split(" whatever").next().unwrap();
            let mut source = Formulas::new();
            let formula = source.parse(text).unwrap();
            let wanted = progression.begin(&source, formula).unwrap();
            assert_eq!(residual_after[0], wanted, "{id}: {text}");
            residuals += 1;
        }
    }
    println!("{rows} rows, {residuals} residuals");
    assert_eq!((rows, residuals), (47, 7));
}

#[test]
fn what_is_owed_and_every_decision_are_right_for_every_way_to_go_on() {
    let count = campaign(100_000, 10_000);
    let mut rng = Rng::with_seed(0x7ac3);
    let (mut decided, mut continuations, mut largest) = (0, 0, 0);
    for case in 0..count {
        let mut source = Formulas::new();
        let depth = rng.usize(1..=5);
        let formula = random_formula(&mut source, &mut rng, depth, 3);
        let mut progression = Progression::new();
        let mut owed = progression.begin(&source, formula).unwrap();
        let prefix: Vec<u8> = (0..rng.usize(0..=5)).map(|_| random_letter(&mut rng, 3)).collect();
        for step in &prefix {
            let letter = naive::as_letter(&progression, *step);
            owed = progression.step(owed, &letter);
        }
        let standing = progression.standing(owed);
        decided += usize::from(standing != Standing::Undecided);
        let residual = progression.residual(owed);
        largest = largest.max(progression.size(owed));
        let mut ways = vec![Continuation { steps: Vec::new(), back_to: None }];
        ways.extend((0..8).map(|_| Continuation::random(&mut rng, 3)));
        for way in ways {
            let whole = Continuation {
                steps: [prefix.as_slice(), &way.steps].concat(),
                back_to: way.back_to.map(|at| at + prefix.len()),
            };
            let truth = value(&source, formula, &whole);
            let shown = || format!("case {case}: {} over {prefix:?} then {way:?}", source.text(formula));
            if standing != Standing::Undecided {
                assert_eq!(truth, standing == Standing::Satisfied, "{standing:?}, {}", shown());
            }
            let owed_value = value(progression.formulas(), residual, &way);
            assert_eq!(owed_value, truth, "{}\nowed {}", shown(), progression.formulas().text(residual));
            if whole.steps.len() == prefix.len() {
                assert_eq!(progression.ending(owed).holds(), truth, "at the end, {}", shown());
            }
            continuations += 1;
        }
    }
    println!("{count} formulas and prefixes, {decided} decided, {continuations} continuations, largest {largest}");
    assert!(decided > count / 3);
}

#[test]
fn the_whole_of_a_finite_run_is_judged_as_the_finite_semantics_does() {
    let count = campaign(100_000, 10_000);
    let mut rng = Rng::with_seed(0x51e9);
    for _ in 0..count {
        let mut source = Formulas::new();
        let formula = random_formula(&mut source, &mut rng, 4, 3);
        let mut progression = Progression::new();
        let mut owed = progression.begin(&source, formula).unwrap();
        let steps: Vec<u8> = (0..rng.usize(0..=12)).map(|_| random_letter(&mut rng, 3)).collect();
        for (i, step) in steps.iter().enumerate() {
            let so_far = Continuation { steps: steps[..i].to_vec(), back_to: None };
            assert_eq!(progression.ending(owed).holds(), value(&source, formula, &so_far), "{}", source.text(formula));
            let letter = naive::as_letter(&progression, *step);
            let before = progression.standing(owed);
            owed = progression.step(owed, &letter);
            assert!(before == Standing::Undecided || before == progression.standing(owed), "a decision is final");
        }
        let whole = Continuation { steps, back_to: None };
        assert_eq!(progression.ending(owed).holds(), value(&source, formula, &whole), "{}", source.text(formula));
    }
    println!("{count} runs");
}

#[test]
fn a_run_may_end_now_so_the_last_position_is_told_from_the_others() {
    let ends = |text: &str, steps: &str| {
        let (progression, owed) = after(text, steps);
        progression.ending(owed)
    };
    for (formula, steps, ending) in [
        ("X true", "-", Ending::PresumablyViolated),
        ("X true", "- -", Ending::Satisfied),
        ("N false", "-", Ending::PresumablySatisfied),
        ("N false", "- -", Ending::Violated),
        ("F p", "-", Ending::PresumablyViolated),
        ("G p", "p", Ending::PresumablySatisfied),
        ("G (p -> F q)", "p", Ending::PresumablyViolated),
        ("G (p -> F q)", "p q", Ending::PresumablySatisfied),
        ("p W q", "p", Ending::PresumablySatisfied),
        ("p U q", "p", Ending::PresumablyViolated),
        ("G (p -> N G !p)", "p", Ending::PresumablySatisfied),
        ("G (p -> N G !p)", "p p", Ending::Violated),
        ("p M q", "q", Ending::PresumablyViolated),
        ("p R q", "q", Ending::PresumablySatisfied),
        ("p R q", "p,q", Ending::Satisfied),
        ("G X p", "p p", Ending::PresumablyViolated),
        ("X !p", "-", Ending::PresumablyViolated),
        ("F p", "", Ending::PresumablyViolated),
        ("true", "", Ending::Satisfied),
    ] {
        assert_eq!(ends(formula, steps), ending, "{formula} over {steps}");
    }
}

#[test]
fn operators_of_the_past_and_of_lifelines_are_refused_by_name() {
    for (text, message) in [
        ("F (p & Y q)", "`Y` has no meaning in progression"),
        ("G (p -> O q)", "`O` has no meaning in progression"),
        ("p S q", "`S` has no meaning in progression"),
        ("@A(p)", "`@` has no meaning in progression"),
    ] {
        let mut source = Formulas::new();
        let formula = source.parse(text).unwrap();
        let refused = Progression::new().begin(&source, formula).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
}
