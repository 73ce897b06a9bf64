//! Random modules, evaluated by the embedded checker, by TLC, and by a naive evaluator.

mod language;
mod writer;

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

use tlaforge::tla::{Cfg, Verdict, ViolationKind};
use tlaforge::toolchain::{CheckRequest, SpecText};

use self::language::{Expr, State, Step, Value, World};
use self::writer::{ACTION, Kind, Model, STATE};
use super::bench::{Bench, verdict};

/// Expressions in one module: the start of a checker costs more than their evaluation.
const EXPRESSIONS: usize = 60;
const CFG: &str = "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n";

fn number(number: i64) -> Value {
    Value::Number(number)
}

fn state(x: i64, s: impl IntoIterator<Item = i64>, g: [i64; 2]) -> State {
    let s = Value::Set(s.into_iter().map(number).collect());
    [("x", number(x)), ("s", s), ("g[0]", number(g[0])), ("g[1]", number(g[1]))].into()
}

/// The states of a walk in which `x` counts to 3.
fn walk() -> Vec<State> {
    let mut g = [0, 1];
    let mut states = vec![state(0, [0], g)];
    for x in 0..3 {
        g[usize::try_from(x % 2).unwrap()] = x + 2;
        states.push(state(x + 1, [x, x + 1], g));
    }
    states
}

const WALK: &str =
    "Next == /\\ x < 3 /\\ x' = x + 1 /\\ s' = {x, x + 1}\n        /\\ g' = [g EXCEPT ![x % 2] = x + 2]\n";

fn request(text: String, inner: String, cfg_text: String) -> CheckRequest {
    let spec = SpecText { name: "S".into(), text, local_modules: vec![("C".into(), inner)] };
    let cfg = Cfg::parse(&cfg_text).unwrap();
    CheckRequest { spec, cfg_text, cfg }
}

fn printed(output: &str) -> BTreeSet<String> {
    output.lines().map(str::trim).filter(|line| line.starts_with("<<\"v\", ")).map(str::to_owned).collect()
}

fn count(default: u64, campaign: u64) -> u64 {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { campaign } else { default }
}

fn show(request: &CheckRequest) -> String {
    format!("{}\n{}\n{}", request.spec.text, request.spec.local_modules[0].1, request.cfg_text)
}

/// A module that prints each of its expressions in each step of the walk, and what it has to print.
fn printing(seed: u64) -> (CheckRequest, BTreeSet<String>) {
    let Model { mut text, inner, overrides, world, mut writer } = Model::new(seed);
    text += WALK;
    let (states, mut expected) = (walk(), BTreeSet::new());
    for place in 0..EXPRESSIONS {
        let kind = if writer.random.bool() { Kind::Number } else { Kind::Truth };
        let expression = writer.closed(kind, ACTION, 4);
        writeln!(text, "        /\\ PrintT(<<\"v\", {place}, {expression}>>)").unwrap();
        for pair in states.windows(2) {
            let value = world.evaluate(&expression, Step { now: &pair[0], next: &pair[1], primed: false });
            expected.insert(format!("<<\"v\", {place}, {value}>>"));
        }
    }
    (request(text + "====\n", inner, format!("{CFG}{overrides}")), expected)
}

#[tokio::test]
async fn random_expressions_have_their_values() {
    let bench = Bench::new();
    for seed in 0..count(25, 3_000) {
        let (request, expected) = printing(seed);
        let embedded = bench.check_with(&bench.embedded(), &request).await.unwrap();
        assert_eq!(
            verdict(&embedded.outcome),
            "holds",
            "seed {seed}: {:?}\n{}",
            embedded.outcome.verdict,
            show(&request)
        );
        let own = printed(&embedded.output);
        let different: Vec<_> = own.symmetric_difference(&expected).collect();
        assert!(different.is_empty(), "seed {seed}: {different:#?}\n{}", show(&request));
        // Where values of different kinds might be compared, another engine evaluates.
        let mut mixed = request.clone();
        mixed.spec.text = mixed.spec.text.replace("\nInit ==", "\nMixed == TRUE \\/ 1 = \"a\"\nInit ==");
        mixed.cfg_text += "INVARIANT Mixed\n";
        mixed.cfg = Cfg::parse(&mixed.cfg_text).unwrap();
        let mixed = bench.check_with(&bench.embedded(), &mixed).await.unwrap();
        let own = printed(&mixed.output);
        let different: Vec<_> = own.symmetric_difference(&expected).collect();
        assert!(different.is_empty(), "seed {seed}: {different:#?}\n{}", show(&request));
        assert!(mixed.outcome.warnings.iter().any(|warning| warning.contains("type error")), "{}", mixed.output);
    }
}

/// The naive evaluator is right where TLC agrees with it.
#[tokio::test]
async fn tlc_computes_the_same_values() {
    let bench = Bench::new();
    for seed in 0..count(3, 60) {
        let (request, expected) = printing(seed);
        let tlc = bench.check_with(&bench.java(), &request).await.unwrap();
        let own = printed(&tlc.output);
        let different: Vec<_> = own.symmetric_difference(&expected).collect();
        assert!(different.is_empty(), "seed {seed}: {different:#?}\n{}", show(&request));
    }
}

fn binary(sign: &'static str, one: Expr, other: Expr) -> Expr {
    Expr::Binary(sign, Box::new(one), Box::new(other))
}

fn name(name: &str) -> Expr {
    Expr::Name(name.to_owned())
}

/// A next-state relation: for each element of a set that satisfies the guard, the new values.
struct Next {
    choices: Expr,
    guard: Expr,
    x: Expr,
    s: Expr,
    g: Expr,
}

impl Next {
    fn text(&self) -> String {
        let Self { choices, guard, x, s, g } = self;
        format!(
            "Next == \\E k0 \\in {choices} :\n    /\\ {guard}\n    /\\ x' = {x}\n    /\\ s' = {s}\n    /\\ g' = [g EXCEPT ![x % 2] = {g}]\n"
        )
    }

    fn successors(&self, world: &World, now: &State) -> Vec<State> {
        let step = Step { now, next: now, primed: false };
        let Value::Set(choices) = world.evaluate(&self.choices, step) else { panic!("no set: {}", self.choices) };
        let mut all = Vec::new();
        for choice in choices {
            let mut here = now.clone();
            // A variable that no expression can change is the same as a bound variable.
            here.insert("k0", choice);
            let step = Step { now: &here, next: &here, primed: false };
            if !world.is_true(&self.guard, step) {
                continue;
            }
            let mut next = now.clone();
            next.insert("x", world.evaluate(&self.x, step));
            next.insert("s", world.evaluate(&self.s, step));
            let place = if matches!(now["x"], Value::Number(x) if x % 2 == 0) { "g[0]" } else { "g[1]" };
            next.insert(place, world.evaluate(&self.g, step));
            all.push(next);
        }
        all
    }
}

/// More states than this are not explored.
const MOST_STATES: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    Invariant,
    ActionProperty,
}

/// Explores all states. `None` if there are too many; otherwise whether the property holds, and the number of states.
fn explore(world: &World, next: &Next, property: &Expr, listed: Listed) -> Option<(bool, usize)> {
    let first = state(0, [0], [0, 1]);
    let mut seen = BTreeSet::from([first.clone()]);
    let mut open = VecDeque::from([first]);
    let mut holds = true;
    while let Some(now) = open.pop_front() {
        if listed == Listed::Invariant {
            holds &= world.is_true(property, Step { now: &now, next: &now, primed: false });
        }
        for next in next.successors(world, &now) {
            if listed == Listed::ActionProperty && next != now {
                holds &= world.is_true(property, Step { now: &now, next: &next, primed: false });
            }
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some((holds, seen.len()))
}

#[tokio::test]
async fn random_models_have_their_states_and_verdicts() {
    let bench = Bench::new();
    let (mut compared, mut states, mut violated) = (0, 0, 0);
    let wanted = count(80, 5_000);
    for seed in 0..wanted {
        let Model { mut text, inner, overrides, world, mut writer } = Model::new(seed);
        let next = Next {
            // Enough choices, and a guard that is true often enough, for more than a few states.
            choices: binary("\\cup", writer.closed(Kind::Set, STATE, 3), Expr::Range(0, 2)),
            guard: binary("\\/", writer.of_one(Kind::Truth, STATE, 3), binary("#", name("k0"), name("x"))),
            x: writer.of_one(Kind::Number, STATE, 3),
            s: writer.of_one(Kind::Set, STATE, 2),
            g: writer.of_one(Kind::Number, STATE, 3),
        };
        let listed = if writer.random.bool() { Listed::Invariant } else { Listed::ActionProperty };
        let level = if listed == Listed::Invariant { STATE } else { ACTION };
        // Two of them, so that it holds often enough.
        let one = writer.closed(Kind::Truth, level, 3);
        let other = writer.closed(Kind::Truth, level, 3);
        let property = binary("\\/", one, other);
        text += &next.text();
        let (keyword, name) = match listed {
            Listed::Invariant => ("INVARIANT", "Inv"),
            Listed::ActionProperty => ("PROPERTY", "Stepwise"),
        };
        let spec = "Spec == Init /\\ [][Next]_<<x, s, g>>\n";
        writeln!(text, "{spec}Inv == {property}\nStepwise == [][{property}]_<<x, s, g>>\n====").unwrap();
        if listed == Listed::ActionProperty {
            text = text.replace(&format!("Inv == {property}\n"), "");
        }
        let cfg = format!("SPECIFICATION Spec\n{keyword} {name}\nCHECK_DEADLOCK FALSE\n{overrides}");
        let request = request(text, inner, cfg);
        let Some((holds, distinct)) = explore(&world, &next, &property, listed) else { continue };
        let outcome = bench.check(&request).await;
        let what = || format!("seed {seed}: {holds}, {distinct} states: {:?}\n{}", outcome.verdict, show(&request));
        match &outcome.verdict {
            Verdict::Holds => {
                assert!(holds, "{}", what());
                assert_eq!(outcome.statistics.distinct, Some(distinct as u64), "{}", what());
            }
            Verdict::Violated { violated: found } => {
                assert!(!holds, "{}", what());
                assert!(matches!(found.kind, ViolationKind::Invariant | ViolationKind::ActionProperty), "{}", what());
                violated += 1;
            }
            _ => panic!("{}", what()),
        }
        compared += 1;
        states += distinct;
    }
    println!("{compared} models, {violated} violated, {states} states");
    assert!(compared > wanted * 3 / 4 && violated > compared / 5, "{compared} compared, {violated} violated");
}
