//! Progression against the published vectors, and against the finite and infinite semantics written down naively.

use crate::naive::{Continuation, random_formula, random_letter, value};
use fastrand::Rng;
use serde_json::Value as Json;
use tlaforge_temporal::{
    Atom, Binary, FinalVerdict, Formulas, Letter, PrefixVerdict, Progression, Residual, ResidualCost,
};

fn campaign(full: usize, otherwise: usize) -> usize {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { full } else { otherwise }
}

fn vectors() -> Json {
    serde_json::from_str(include_str!("../data/progression.json")).unwrap()
}

/// The atoms with these names.
fn letter(progression: &Progression, names: &[&str]) -> Letter {
    let is_true = |atom: &Atom| matches!(atom, Atom::Name(name) if names.contains(&&**name));
    progression.formulas().atoms().filter(|(_, atom)| is_true(atom)).map(|(id, _)| id).collect()
}

fn begin(text: &str) -> (Progression, Residual) {
    let (mut source, mut progression) = (Formulas::new(), Progression::new());
    let formula = source.parse(text).unwrap();
    let residual = progression.begin(&source, formula).unwrap();
    (progression, residual)
}

/// What is owed after steps given as names between blanks, `-` for none.
fn after(text: &str, steps: &str) -> (Progression, Residual) {
    let (mut progression, mut residual) = begin(text);
    for step in steps.split(' ').filter(|step| !step.is_empty()) {
        let letter = letter(&progression, &step.split(',').collect::<Vec<_>>());
        residual = progression.step(residual, &letter);
    }
    (progression, residual)
}

fn score(verdict: PrefixVerdict) -> i64 {
    match verdict {
        PrefixVerdict::Satisfied => 1,
        PrefixVerdict::Violated => -1,
        PrefixVerdict::Undecided => 0,
    }
}

#[test]
fn published_rows_have_the_expected_scores_and_residuals() {
    let (mut rows, mut residuals) = (0, 0);
    for row in vectors()["rows"].as_array().unwrap() {
        let (id, expect) = (row["id"].as_str().unwrap(), &row["expect"]);
        if expect.get("error").is_some() {
            // Labels and parameters are read in the monitor; its tests have these two.
            assert!(["atom_none", "atmost0"].contains(&id), "{id}");
            continue;
        }
        let (mut progression, mut residual) =
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
            residual = progression.step(residual, &letter);
            scores.push(score(progression.prefix_verdict(residual)));
            residual_after.push(residual);
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
fn residuals_and_verdicts_are_right_for_random_continuations() {
    let count = campaign(100_000, 10_000);
    let mut rng = Rng::with_seed(0x7ac3);
    let (mut decided, mut continuations, mut largest) = (0, 0, 0);
    for case in 0..count {
        let mut source = Formulas::new();
        let depth = rng.usize(1..=5);
        let formula = random_formula(&mut source, &mut rng, depth, 3);
        let mut progression = Progression::new();
        let mut residual = progression.begin(&source, formula).unwrap();
        let prefix: Vec<u8> = (0..rng.usize(0..=5)).map(|_| random_letter(&mut rng, 3)).collect();
        for step in &prefix {
            let letter = crate::naive::as_letter(&progression, *step);
            residual = progression.step(residual, &letter);
        }
        let verdict = progression.prefix_verdict(residual);
        decided += usize::from(verdict != PrefixVerdict::Undecided);
        let residual_formula = progression.residual_formula(residual);
        largest = largest.max(progression.size(residual));
        let mut ways = vec![Continuation { steps: Vec::new(), back_to: None }];
        ways.extend((0..8).map(|_| Continuation::random(&mut rng, 3)));
        for way in ways {
            let whole = Continuation {
                steps: [prefix.as_slice(), &way.steps].concat(),
                back_to: way.back_to.map(|at| at + prefix.len()),
            };
            let truth = value(&source, formula, &whole);
            let shown = || format!("case {case}: {} over {prefix:?} then {way:?}", source.text(formula));
            if verdict != PrefixVerdict::Undecided {
                assert_eq!(truth, verdict == PrefixVerdict::Satisfied, "{verdict:?}, {}", shown());
            }
            let owed_value = value(progression.formulas(), residual_formula, &way);
            assert_eq!(owed_value, truth, "{}\nowed {}", shown(), progression.formulas().text(residual_formula));
            if whole.steps.len() == prefix.len() {
                assert_eq!(progression.final_verdict(residual).holds(), truth, "at the end, {}", shown());
            }
            continuations += 1;
        }
    }
    println!("{count} formulas and prefixes, {decided} decided, {continuations} continuations, largest {largest}");
    assert!(decided > count / 3);
}

#[test]
fn final_verdicts_agree_with_the_finite_semantics() {
    let count = campaign(100_000, 10_000);
    let mut rng = Rng::with_seed(0x51e9);
    for _ in 0..count {
        let mut source = Formulas::new();
        let formula = random_formula(&mut source, &mut rng, 4, 3);
        let mut progression = Progression::new();
        let mut residual = progression.begin(&source, formula).unwrap();
        let steps: Vec<u8> = (0..rng.usize(0..=12)).map(|_| random_letter(&mut rng, 3)).collect();
        for (i, step) in steps.iter().enumerate() {
            let so_far = Continuation { steps: steps[..i].to_vec(), back_to: None };
            assert_eq!(
                progression.final_verdict(residual).holds(),
                value(&source, formula, &so_far),
                "{}",
                source.text(formula)
            );
            let letter = crate::naive::as_letter(&progression, *step);
            let before = progression.prefix_verdict(residual);
            residual = progression.step(residual, &letter);
            assert!(
                before == PrefixVerdict::Undecided || before == progression.prefix_verdict(residual),
                "a decision is final"
            );
        }
        let whole = Continuation { steps, back_to: None };
        assert_eq!(
            progression.final_verdict(residual).holds(),
            value(&source, formula, &whole),
            "{}",
            source.text(formula)
        );
    }
    println!("{count} runs");
}

#[test]
fn residuals_distinguish_the_end_of_the_run() {
    let ends = |text: &str, steps: &str| {
        let (progression, residual) = after(text, steps);
        progression.final_verdict(residual)
    };
    for (formula, steps, ending) in [
        ("X true", "-", FinalVerdict::PresumablyViolated),
        ("X true", "- -", FinalVerdict::Satisfied),
        ("N false", "-", FinalVerdict::PresumablySatisfied),
        ("N false", "- -", FinalVerdict::Violated),
        ("F p", "-", FinalVerdict::PresumablyViolated),
        ("G p", "p", FinalVerdict::PresumablySatisfied),
        ("G (p -> F q)", "p", FinalVerdict::PresumablyViolated),
        ("G (p -> F q)", "p q", FinalVerdict::PresumablySatisfied),
        ("p W q", "p", FinalVerdict::PresumablySatisfied),
        ("p U q", "p", FinalVerdict::PresumablyViolated),
        ("G (p -> N G !p)", "p", FinalVerdict::PresumablySatisfied),
        ("G (p -> N G !p)", "p p", FinalVerdict::Violated),
        ("p M q", "q", FinalVerdict::PresumablyViolated),
        ("p R q", "q", FinalVerdict::PresumablySatisfied),
        ("p R q", "p,q", FinalVerdict::Satisfied),
        ("G X p", "p p", FinalVerdict::PresumablyViolated),
        ("X !p", "-", FinalVerdict::PresumablyViolated),
        ("F p", "", FinalVerdict::PresumablyViolated),
        ("true", "", FinalVerdict::Satisfied),
    ] {
        assert_eq!(ends(formula, steps), ending, "{formula} over {steps}");
    }
}

#[test]
fn past_and_causal_operators_are_named_in_the_error() {
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

/// The tree of alternatives: `a0 & X F (… | …)`, every path ending in `f`.
fn tree(node: usize, depth: usize) -> String {
    if depth == 0 {
        return format!("(n{node} & X F f)");
    }
    format!("(n{node} & X F ({} | {}))", tree(2 * node + 1, depth - 1), tree(2 * node + 2, depth - 1))
}

#[test]
fn residuals_stay_small_on_every_pattern_of_the_paper() {
    let patterns = [
        ("G p".to_owned(), 2),
        ("G !p".to_owned(), 3),
        ("G (p -> F s)".to_owned(), 8),
        ("G ((q & !r & F r) -> (!p U r))".to_owned(), 14),
        ("G (p -> (!q U r))".to_owned(), 9),
        (format!("F {}", tree(0, 1)), 24),
        (format!("F {}", tree(0, 4)), 250),
        ("F (p & X F q)".to_owned(), 7),
        ("G (p -> X q)".to_owned(), 8),
        ("G (p -> N G !p)".to_owned(), 9),
    ];
    for (formula, limit) in &patterns {
        let mut largest = 0;
        for seed in 0..20 {
            let (mut progression, mut residual) = begin(formula);
            let atoms: Vec<_> = progression.formulas().atoms().map(|(id, _)| id).collect();
            let mut rng = Rng::with_seed(seed);
            // What would end it stays away, so that the run goes on: for the tree that is `f`.
            let mut grown = 0;
            for step in 0..500 {
                let often = f64::from(rng.u8(0..10)) / 10.0;
                let mut letter: Letter = atoms.iter().copied().filter(|_| rng.f64() < often).collect();
                if formula.contains("X F") && step < 450 {
                    for (id, atom) in progression.formulas().atoms() {
                        if matches!(atom, Atom::Name(name) if matches!(&**name, "f" | "q")) {
                            letter.set(id, false);
                        }
                    }
                }
                residual = progression.step(residual, &letter);
                largest = largest.max(progression.size(residual));
                if step == 300 {
                    grown = progression.formulas().len();
                }
            }
            if *formula != format!("F {}", tree(0, 4)) {
                assert_eq!(progression.formulas().len(), grown, "{formula}: the arena still grows after 300 steps");
            }
        }
        println!("{formula:.40}: at most {largest} parts");
        assert!(largest <= *limit, "{formula}: {largest} parts");
    }
}

#[test]
fn the_residual_of_the_tree_reaches_a_fixed_point() {
    let (mut progression, mut residual) = begin(&format!("F {}", tree(0, 4)));
    let letter: Letter = progression
        .formulas()
        .atoms()
        .filter(|(_, atom)| !matches!(atom, Atom::Name(name) if &**name == "f"))
        .map(|(id, _)| id)
        .collect();
    let mut sizes = Vec::new();
    for _ in 0..1_000 {
        residual = progression.step(residual, &letter);
        sizes.push(progression.size(residual));
    }
    println!("sizes {:?}", &sizes[..8]);
    assert!(sizes[5..].iter().all(|size| *size == sizes[5]), "{:?}", &sizes[..20]);
    assert_eq!(progression.text(residual), "F f", "five events have been, so all that is owed is the last");
}

#[test]
fn repeated_responses_are_pending_once() {
    let (mut progression, mut residual) = begin("G (p -> F q)");
    let p = letter(&progression, &["p"]);
    for _ in 0..10_000 {
        residual = progression.step(residual, &p);
    }
    assert_eq!(progression.text(residual), "F q & G (p -> F q)");
    let q = letter(&progression, &["q"]);
    residual = progression.step(residual, &q);
    assert_eq!(progression.text(residual), "G (p -> F q)");
}

#[test]
fn normal_forms_of_equivalent_formulas_are_equal() {
    for (a, b) in [
        ("F q | F (p & X F q)", "F q"),
        ("G q & G (p | N G q)", "G q"),
        ("q | F q", "F q"),
        ("F F q", "F q"),
        ("G G q", "G q"),
        ("F (p | q)", "F p | F q"),
        ("p U (p U q)", "p U q"),
        ("true U q", "F q"),
        ("p W false", "G p"),
        ("p U q | G p", "p W q"),
        ("p W q & F q", "p U q"),
        ("!(p U q)", "!p R !q"),
        ("p R q & F p", "p M q"),
        ("p & (p | q)", "p"),
        ("p | (q & p)", "p"),
        ("p | (!p & q)", "p | q"),
        ("b | (a & (b | c))", "b | (a & c)"),
        ("p U F q", "F q"),
        ("q | X F q", "F q"),
        ("G q | q", "q"),
        ("F X q", "X F q"),
        ("G N q", "N G q"),
        ("p U q | F q", "F q"),
        ("p U q & F q", "p U q"),
        ("G p | F !p", "true"),
        ("G p & F !p", "false"),
    ] {
        // After a step that reads nothing, so that the law is used where the run goes on.
        let (mut progression, _) = begin("true");
        let mut residual = [a, b].map(|text| {
            let mut source = Formulas::new();
            let formula = source.parse(&format!("X ({text})")).unwrap();
            progression.begin(&source, formula).unwrap()
        });
        for residual in &mut residual {
            *residual = progression.step(*residual, &Letter::new());
        }
        let texts = residual.map(|residual| progression.text(residual));
        assert_eq!(residual[0], residual[1], "{a} is {}, {b} is {}", texts[0], texts[1]);
    }
}

#[test]
fn costs_rank_residuals() {
    let cost = |text: &str, steps: &str| {
        let (mut progression, residual) = after(text, steps);
        progression.cost(residual)
    };
    assert_eq!(cost("G p", "p"), ResidualCost { steps: 0, obligations: 0 });
    assert_eq!(cost("F p", "-"), ResidualCost { steps: 1, obligations: 1 });
    assert_eq!(cost("F p & F q", "-"), ResidualCost { steps: 1, obligations: 2 });
    assert_eq!(cost("F (p & X F q)", "-"), ResidualCost { steps: 2, obligations: 2 });
    assert_eq!(cost("F (p & X F q)", "p"), ResidualCost { steps: 1, obligations: 1 });
    assert_eq!(cost("X X true", "-"), ResidualCost { steps: 2, obligations: 1 });
    assert_eq!(cost("G p", "-").steps, u32::MAX);
    let mut owing = ["G p", "F p", "F p & F q", "F (p & X F q)", "G !p & p"].map(|text| (cost(text, "-"), text));
    owing.sort();
    assert_eq!(owing.map(|(_, text)| text), ["F p", "F p & F q", "F (p & X F q)", "G !p & p", "G p"]);
}

#[test]
fn the_cost_is_a_lower_bound() {
    let count = campaign(20_000, 2_000);
    let mut rng = Rng::with_seed(77);
    let mut exact = 0;
    for _ in 0..count {
        let mut source = Formulas::new();
        let formula = random_formula(&mut source, &mut rng, 4, 2);
        let mut progression = Progression::new();
        let residual = progression.begin(&source, formula).unwrap();
        let steps = progression.cost(residual).steps;
        // The shortest run that ends well, by breadth first.
        let mut open = std::collections::VecDeque::from([(residual, 0)]);
        let mut seen = std::collections::HashSet::from([residual]);
        let mut needed = u32::MAX;
        while let Some((residual, depth)) = open.pop_front() {
            if progression.final_verdict(residual).holds() {
                needed = depth;
                break;
            }
            for step in 0..4 {
                let letter = crate::naive::as_letter(&progression, step);
                let next = progression.step(residual, &letter);
                if seen.insert(next) {
                    open.push_back((next, depth + 1));
                }
            }
        }
        assert!(steps <= needed, "{}: {steps} > {needed}", source.text(formula));
        exact += usize::from(steps == needed);
    }
    println!("{count} formulas, {exact} exact");
}

#[test]
fn huge_formulas_can_be_progressed() {
    let chain = |operator: &str, n: usize| format!("{}p", format!("{operator} ").repeat(n));
    let iffs = (0..150).map(|i| format!("(p{i} <-> ")).collect::<Vec<_>>().concat() + "p" + &")".repeat(150);
    let untils = (0..150).map(|i| format!("(p{i} U ")).collect::<Vec<_>>().concat() + "p" + &")".repeat(150);
    let responses = (0..300).map(|i| format!("G (p{i} -> F q{i})")).collect::<Vec<_>>().join(" & ");
    for text in [chain("X", 200), chain("!", 200), chain("F X", 100), iffs, untils, responses] {
        // Unoptimised, the parser needs more stack for this than a test has.
        let read = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
            let mut source = Formulas::new();
            let formula = source.parse(&text).unwrap();
            (source, formula)
        });
        let (source, formula) = read.unwrap().join().unwrap();
        let mut progression = Progression::new();
        let mut residual = progression.begin(&source, formula).unwrap();
        for step in 0..20u8 {
            let atoms: Vec<_> = progression.formulas().atoms().map(|(id, _)| id).collect();
            let letter = atoms.into_iter().filter(|id| id.index() % 7 == usize::from(step % 7)).collect();
            residual = progression.step(residual, &letter);
        }
        assert!(!progression.in_words(residual).is_empty() && !progression.text(residual).is_empty());
    }
    // Deeper than any text may nest.
    let mut source = Formulas::new();
    let p = source.name("p");
    let deep = (0..100_000).fold(p, |a, i| {
        let q = source.name(if i % 2 == 0 { "q" } else { "r" });
        let operator = if i % 3 == 0 { Binary::Until } else { Binary::StrongRelease };
        source.binary(operator, q, a)
    });
    let mut progression = Progression::new();
    let residual = progression.begin(&source, deep).unwrap();
    assert!(!progression.in_words(residual).is_empty());
}

#[test]
fn retain_drops_other_formulas() {
    let (mut progression, mut residual) = begin("G (p -> X X X X X X q) | F (r & X s)");
    let mut rng = Rng::with_seed(3);
    for step in 0..2_000 {
        let atoms: Vec<_> = progression.formulas().atoms().map(|(id, _)| id).collect();
        let letter: Letter = atoms.into_iter().filter(|_| rng.bool()).collect();
        let mut kept = residual;
        residual = progression.step(residual, &letter);
        if step % 100 == 99 {
            let text = progression.text(kept);
            progression.retain([&mut kept, &mut residual]);
            assert_eq!(progression.text(kept).len(), text.len());
            assert_eq!(progression.step(kept, &letter), residual);
        }
    }
}

#[test]
fn rules_have_english_descriptions() {
    for (formula, words) in [
        ("G !p", "`p` must never hold"),
        ("G p", "`p` must hold at every step"),
        ("F p", "`p` must hold at some step"),
        ("G (p -> F q)", "whenever `p` holds, `q` must hold at that step or later"),
        ("G (p -> X q)", "whenever `p` holds, there must be a step right after that step, and `q` must hold there"),
        ("G (p -> N q)", "whenever `p` holds, `q` must hold at the step right after that step, if there is one"),
        ("G (p -> N G !p)", "whenever `p` holds, `p` must never hold after that step"),
        ("!p W q", "`p` must not hold at any step before the first at which `q` holds"),
        ("!p U q", "`q` must hold at some step, and `p` must not hold at any step before it"),
        ("p U q", "`q` must hold at some step, and `p` must hold at every step before it"),
        (
            "p R q",
            "`q` must hold at every step up to and including the first at which `p` holds, or at every step if there is no such step",
        ),
        (
            "p M q",
            "`q` must hold at every step up to and including the first at which `p` holds, and there must be such a step",
        ),
        ("F p & G !q", "`p` must hold at some step; `q` must never hold"),
        ("p | X (p | X p)", "`p` must hold at one of the first 3 steps"),
        ("G (p -> (q | X (q | X q)))", "whenever `p` holds, `q` must hold at that step or one of the next 2"),
        ("F (p & X F q)", "at some step `p` must hold, and at some step after that step, `q` must hold"),
        ("F G p", "from some step on, `p` must hold at every step"),
        ("G F p", "at every step, `p` must hold at that step or later"),
        ("G !(p & q)", "`p` and `q` must never hold together"),
        ("G (!p | !q)", "`p` and `q` must never hold together"),
        (
            "G (status = \"passed\" -> tool_call:tlc)",
            "whenever `status = \"passed\"` holds, `tool_call:tlc` must hold at that step",
        ),
        ("G (p -> O q)", "whenever `p` holds, `q` must have held at or before that step"),
        ("G !p | F q", "either `p` must never hold, or `q` must hold at some step"),
        ("X true", "there must be a step after the first step"),
        ("true", "nothing is required"),
        (
            "G (p -> (!q U r))",
            "whenever `p` holds, `r` must hold at that step or later, and `q` must not hold at any step before it",
        ),
    ] {
        let mut formulas = Formulas::new();
        let parsed = formulas.parse(formula).unwrap();
        assert_eq!(formulas.in_words(parsed), words, "{formula}");
    }
}

#[test]
fn residuals_have_english_descriptions() {
    for (formula, steps, text, words) in [
        (
            "G (edit -> F tlc_run)",
            "edit",
            "F tlc_run & G (edit -> F tlc_run)",
            "`tlc_run` must hold at some step from now on; whenever `edit` holds, `tlc_run` must hold at that step or later",
        ),
        ("F (p & X F q)", "p", "F q", "`q` must hold at some step from now on"),
        ("X p", "-", "p", "`p` must hold at the next step"),
        ("N p", "-", "G false | p", "if there is a next step, `p` must hold at the next step"),
        ("X !p", "-", "!p & F true", "there must be a next step; `p` must not hold at the next step"),
        ("X true", "-", "F true", "there must be a next step"),
        ("N false", "-", "G false", "the run must end here"),
        ("!p W q", "-", "!p W q", "`p` must not hold at any step from now on before the first at which `q` holds"),
        ("p & X F q | G r", "p", "F q", "`q` must hold at some step from now on"),
        ("G p", "-", "false", "the rule is violated, whatever happens next"),
        ("F p", "p", "true", "nothing: the rule is satisfied, whatever happens next"),
        ("p | X (p | X p)", "-", "p | X p", "`p` must hold at one of the next 2 steps"),
    ] {
        let (mut progression, residual) = after(formula, steps);
        assert_eq!(
            (progression.text(residual).as_str(), progression.in_words(residual).as_str()),
            (text, words),
            "{formula}"
        );
    }
}

#[test]
fn descriptions_are_never_empty_and_their_brackets_match() {
    let count = campaign(100_000, 10_000);
    let mut rng = Rng::with_seed(5);
    for _ in 0..count {
        let mut source = Formulas::new();
        let formula = random_formula(&mut source, &mut rng, 4, 3);
        let mut progression = Progression::new();
        let mut residual = progression.begin(&source, formula).unwrap();
        let letter = crate::naive::as_letter(&progression, random_letter(&mut rng, 3));
        let whole = source.in_words(formula);
        let before = progression.in_words(residual);
        residual = progression.step(residual, &letter);
        for words in [whole, before, progression.in_words(residual)] {
            let count = |c| words.matches(c).count();
            let shown = source.text(formula);
            assert!(!words.trim().is_empty(), "{shown}");
            assert!(count('[') == count(']') && count('`') % 2 == 0 && !words.contains("  "), "{shown}: {words}");
        }
    }
    println!("{count} formulas");
}

#[test]
fn a_bound_is_at_least_one() {
    let mut formulas = Formulas::new();
    let p = formulas.name("p");
    assert_eq!(formulas.finally_within(p, 0).unwrap_err().to_string(), "bound must be at least 1");
    assert!(formulas.finally_within(p, usize::MAX).is_err());
    let within = formulas.finally_within(p, 2).unwrap();
    assert_eq!(formulas.text(within), "p | X (p | X p)");
}
