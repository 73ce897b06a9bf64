//! Robustness, rewards and the wrapper: the rows of `robustness.json`, and what must hold of every objective.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::Value as Json;
use tlaforge_temporal::{
    Dfa, EarlyTermination, Environment, Info, Objective, ObjectiveError, ObjectiveReward, OnReset, Predicate,
    Quantities, Record, RewardConfig, Robustness, RobustnessError, Step, TieBreak, Value, file_name,
    replace_special_characters, robustness,
};

fn rows(section: &str) -> Vec<Json> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/robustness.json"))
        .unwrap()
        .replace("-Infinity", "\"-inf\"");
    let all: Json = serde_json::from_str(&text).unwrap();
    all[section].as_array().unwrap().clone()
}

fn float(value: &Json) -> f64 {
    value.as_f64().or_else(|| value.as_str().and_then(|s| s.parse().ok())).unwrap()
}

fn quantities(values: &Json) -> Quantities {
    values.as_object().unwrap().iter().map(|(name, value)| (name.clone(), float(value))).collect()
}

#[test]
fn every_row_of_predicates_has_its_expected_robustness() {
    let rows = rows("parser");
    for row in &rows {
        let (id, spec) = (&row["id"], row["spec"].as_str().unwrap());
        let found = robustness(spec, &quantities(&row["vars"]));
        if row["expect"]["error"] == true {
            assert!(found.is_err(), "{id}: {found:?}");
        } else {
            assert_eq!(found.as_ref().ok(), Some(&float(&row["expect"]["robustness"])), "{id} {spec}: {found:?}");
        }
    }
    println!("{} rows", rows.len());
    assert_eq!(rows.len(), 58);
}

fn predicates(row: &Json) -> Vec<Predicate> {
    let all = row["predicates"].as_object().unwrap();
    all.iter().map(|(name, formula)| Predicate::new(name, formula.as_str().unwrap())).collect()
}

fn config(row: &Json) -> RewardConfig {
    let mut config = RewardConfig::default();
    for (key, value) in row["config"].as_object().unwrap() {
        match key.as_str() {
            "terminal_state_reward" => config.terminal_state_reward = float(value),
            "state_trans_reward_scale" => config.state_trans_reward_scale = float(value),
            "dense_reward" => config.dense_reward = value.as_bool().unwrap(),
            "dense_reward_scale" => config.dense_reward_scale = float(value),
            other => panic!("{other}"),
        }
    }
    config
}

fn status(objective: &Objective) -> &'static str {
    match (objective.is_goaled(), objective.is_trapped()) {
        (true, false) => "goal",
        (false, true) => "trap",
        (false, false) => "intermediate",
        (true, true) => panic!("goal and trap"),
    }
}

/// The values that give `v_x > 0` this robustness.
fn values(step: &Json) -> Quantities {
    step["robustness"].as_object().unwrap().iter().map(|(name, r)| (format!("v_{name}"), float(r))).collect()
}

fn step(objective: &mut Objective, config: &RewardConfig, values: &[(&str, f64)]) -> (f64, &'static str) {
    let values: Quantities = values.iter().map(|(name, r)| (format!("v_{name}"), *r)).collect();
    let (reward, state) = objective.step(&values, config).unwrap();
    assert_eq!(state, objective.state());
    (reward, status(objective))
}

#[test]
fn every_row_of_automata_steps_as_expected() {
    let mut judged = BTreeSet::new();
    for row in rows("automaton") {
        let id = row["id"].as_str().unwrap().to_owned();
        let mut objective = Objective::new(row["tl_spec"].as_str().unwrap(), &predicates(&row)).unwrap();
        let config = config(&row);
        judged.insert(id.clone());
        let Some(steps) = row["expect"]["steps"].as_array() else {
            seen(&id, &mut objective, &config);
            continue;
        };
        // The rows number states in their own way; the numbers must correspond one to one.
        let mut numbers = BTreeMap::from([(row["start"].as_u64().unwrap(), Dfa::INITIAL)]);
        for expected in steps {
            let (reward, state) = objective.step(&values(expected), &config).unwrap();
            assert!((reward - float(&expected["reward"])).abs() < 1e-9, "{id}: {reward}, {expected}");
            assert_eq!(*numbers.entry(expected["state"].as_u64().unwrap()).or_insert(state), state, "{id}");
            assert_eq!(status(&objective), expected["status"], "{id}");
        }
        assert_eq!(numbers.values().collect::<BTreeSet<_>>().len(), numbers.len(), "{id}");
        assert_eq!(objective.dfa().states(), usize::try_from(row["states"].as_u64().unwrap()).unwrap(), "{id}");
    }
    println!("{} rows", judged.len());
    assert_eq!(judged.len(), 26);
}

/// The rows that say in words what must be.
fn seen(id: &str, objective: &mut Objective, config: &RewardConfig) {
    let mut go = |values: &[(&str, f64)]| step(objective, config, values);
    match id {
        "reach_avoid_after_goal" => {
            assert_eq!(go(&[("a", 1.0), ("b", -1.0)]), (100.0, "goal"));
            assert_eq!(go(&[("a", 1.0), ("b", 1.0)]), (-100.0, "trap"));
        }
        "G_goal_at_start" => {
            assert_eq!(go(&[("a", 1.0)]), (5.0, "goal"));
            assert_eq!(go(&[("a", -1.0)]), (-100.0, "trap"));
            assert_eq!(go(&[("a", 1.0)]), (-5.0, "trap"));
        }
        "atom_goal_at_start" => assert_eq!(go(&[("a", -1.0)]), (-100.0, "trap")),
        "next_crash" => {
            assert_eq!(go(&[("a", -2.0)]), (100.0, "intermediate"));
            assert_eq!(go(&[("a", 2.0)]), (200.0, "goal"));
        }
        "next_in_F" => {
            assert_eq!(go(&[("a", 1.0), ("b", -1.0)]), (100.0, "intermediate"));
            assert_eq!(go(&[("a", -1.0), ("b", -1.0)]), (0.0, "intermediate"));
            assert_eq!(go(&[("a", 1.0), ("b", -1.0)]), (100.0, "intermediate"));
            assert_eq!(go(&[("a", -1.0), ("b", 1.0)]), (100.0, "goal"));
        }
        "GF" => {
            assert_eq!(go(&[("a", 1.0)]), (0.0, "intermediate"));
            assert_eq!(go(&[("a", -1.0)]), (0.0, "intermediate"));
            assert_eq!(go(&[("a", 1.0)]), (100.0, "intermediate"));
            assert!(objective.is_accepting());
        }
        "FG_trap" => {
            assert_eq!(go(&[("a", 1.0)]), (100.0, "intermediate"));
            assert_eq!(go(&[("a", 1.0)]), (0.0, "intermediate"));
            assert!(objective.is_accepting());
        }
        "FG_or_nondet" => {
            assert_eq!(go(&[("a", 1.0), ("b", 1.0)]), (100.0, "intermediate"));
            assert!(objective.is_accepting());
        }
        "resp_next" => {
            assert_eq!(go(&[("a", 1.0), ("b", -1.0)]).1, "intermediate");
            assert_eq!(go(&[("a", -1.0), ("b", -1.0)]), (-100.0, "trap"));
        }
        "tie_zero" => {
            assert_eq!(go(&[("a", 0.0)]), (0.0, "goal"));
            assert_eq!(go(&[("a", 0.0)]), (5.0, "goal"));
        }
        "true_formula" | "tautology" => {
            assert_eq!(go(&[("a", -1.0)]), (5.0, "goal"));
            assert_eq!(objective.dfa().states(), 1);
        }
        "name_digit_bad" => assert_eq!(go(&[("a", 1.0), ("b0", 1.0)]), (100.0, "goal")),
        "ten_states" => {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
            assert_eq!(go(&names.map(|n| (n, -1.0))), (0.0, "intermediate"));
            for name in names {
                let reached = if name == "k" { "goal" } else { "intermediate" };
                assert_eq!(go(&names.map(|n| (n, if n == name { 1.0 } else { -1.0 }))), (100.0, reached));
            }
            assert_eq!(objective.dfa().states(), 12);
        }
        other => panic!("no judgement of {other}"),
    }
}

#[test]
fn guard_robustness_is_that_of_its_best_implicant() {
    let mut rng = Rng::with_seed(63);
    let specs =
        ["F (a & b | !a & c)", "(a | b) U (c & !d)", "G (a -> F b) & G (c -> X d)", "F ((a <-> b) & X (c | d))"];
    let names = ["a", "b", "c", "d"];
    let mut tried = 0;
    for spec in specs {
        let objective = Objective::new(spec, &names.map(|n| Predicate::new(n, format!("v_{n} > 0")))).unwrap();
        let dfa = objective.dfa();
        let atoms: Vec<_> = dfa.atoms().to_vec();
        for _ in 0..200 {
            let rho: Vec<f64> = atoms.iter().map(|_| f64::from(rng.i32(-4..=4))).collect();
            let by_name = |rho: &[f64]| -> Vec<(&str, f64)> {
                objective.predicates().map(|(name, _)| name).zip(rho.iter().copied()).collect()
            };
            for state in 0..dfa.states() {
                let groups = objective.transition_robustness(by_name(&rho), state).unwrap();
                for transition in &groups.non_trap {
                    tried += 1;
                    assert_eq!(transition.robustness, best_implicant(dfa, state, transition.next, &rho), "{spec}");
                }
                let positive = groups.positive_trap.len() + groups.positive_non_trap.len();
                let zero = groups.zero_trap.len() + groups.zero_non_trap.len();
                // A deterministic automaton has one transition that holds, or several on the border.
                assert!(positive == 1 && zero == 0 || positive == 0 && zero >= 1, "{groups:?}");
            }
        }
    }
    println!("{tried} guards");
}

/// By trying all 3^n partial letters.
fn best_implicant(dfa: &Dfa, state: usize, next: usize, rho: &[f64]) -> f64 {
    let n = rho.len();
    let mut best = f64::NEG_INFINITY;
    for code in 0..3_usize.pow(u32::try_from(n).unwrap()) {
        let of = |i: usize| code / 3_usize.pow(u32::try_from(i).unwrap()) % 3;
        let implied = (0..1_usize << n).filter(|l| (0..n).all(|i| of(i) == 2 || of(i) == l >> i & 1)).all(|letter| {
            dfa.next(state, |atom| letter >> dfa.atoms().iter().position(|a| *a == atom).unwrap() & 1 == 1) == next
        });
        if implied {
            let least = (0..n).map(|i| match of(i) {
                0 => -rho[i],
                1 => rho[i],
                _ => f64::INFINITY,
            });
            best = best.max(least.fold(f64::INFINITY, f64::min));
        }
    }
    best
}

#[test]
fn only_progress_is_rewarded_and_rewards_are_finite() {
    let mut rng = Rng::with_seed(64);
    let names = ["a", "b", "c"];
    let specs = [
        "F (a & F (b & F c))",
        "F (a & X b)",
        "(!c U a) & F b",
        "F a & F b & F c",
        "G (a -> X b) & F c",
        "F (a & X (!b & X c))",
        "G !c & F (a & X X b)",
        "X (a | N b) R c",
    ];
    let mut rewarded = 0;
    for spec in specs {
        let mut objective = Objective::new(spec, &names.map(|n| Predicate::new(n, format!("v_{n}")))).unwrap();
        for dense in [false, true] {
            let config = RewardConfig { dense_reward: dense, ..RewardConfig::default() };
            for seed in 0..200 {
                objective.reset(Some(seed));
                for _ in 0..12 {
                    let from = objective.state();
                    let values: Quantities = names
                        .iter()
                        .map(|n| {
                            let value = *rng.choice(&[-1.0, 1.0, 0.5, -0.25, 0.0, f64::INFINITY, f64::MAX]).unwrap();
                            (format!("v_{n}"), value)
                        })
                        .collect();
                    let (reward, to) = objective.step(&values, &config).unwrap();
                    assert!(reward.is_finite());
                    let dfa = objective.dfa();
                    if dfa.is_trap(to) {
                        assert!(reward <= 0.0);
                    } else if reward > 0.0 && !dfa.is_goal(from) && dfa.distance(from).is_some() {
                        rewarded += 1;
                        assert!(dfa.distance(to).unwrap() <= dfa.distance(from).unwrap(), "{spec}");
                        // Never back and forth: nothing is rewarded in both directions.
                        assert!(objective.is_progress(from, to) && !objective.is_progress(to, from), "{spec}");
                    }
                }
            }
        }
    }
    println!("{rewarded} rewarded steps");
    assert!(rewarded > 100);
}

#[test]
fn a_seed_reproduces_random_tie_breaks_and_affects_nothing_else() {
    let predicates = ["a", "b"].map(|n| Predicate::new(n, format!("v_{n}")));
    let mut drawn = Objective::new("F (a & X F b)", &predicates).unwrap().with_tie_break(TieBreak::Random);
    let config = RewardConfig::default();
    let zero: Quantities = [("v_a", 0.0), ("v_b", 0.0)].into_iter().collect();
    let mut run = |seed| -> Vec<usize> {
        drawn.reset(Some(seed));
        (0..6).map(|_| drawn.step(&zero, &config).unwrap().1).collect()
    };
    let runs: BTreeSet<Vec<usize>> = (0..20).map(&mut run).collect();
    assert!(runs.len() > 1);
    assert_eq!(run(7), run(7));
    let mut fixed = Objective::new("F (a & X F b)", &predicates).unwrap();
    for seed in [None, Some(1), Some(2)] {
        fixed.reset(seed);
        assert_eq!(fixed.step(&zero, &config).unwrap(), (0.0, 1));
        assert!(!fixed.is_terminated() && fixed.distance() == Some(1));
    }
    let mut avoid = Objective::new("G !a", &predicates).unwrap().with_tie_break(TieBreak::Random);
    avoid.reset(Some(3));
    avoid.step(&zero, &config).unwrap();
    assert!(avoid.is_trapped(), "a trap on the border comes first");
}

#[test]
fn objective_errors_are_typed_and_leave_the_state_unchanged() {
    let a = || Predicate::new("a", "x < 1");
    let new = Objective::new;
    assert!(matches!(new("F (a", &[a()]), Err(ObjectiveError::Specification(_))));
    assert!(matches!(new("F b", &[a()]), Err(ObjectiveError::Unknown { name }) if name == "b"));
    assert!(matches!(new("F a", &[a(), a()]), Err(ObjectiveError::DuplicatePredicate { .. })));
    assert!(matches!(new("F a", &[Predicate::new("G", "x")]), Err(ObjectiveError::Reserved { .. })));
    assert!(matches!(new("F a", &[Predicate::new("a", "F x")]), Err(ObjectiveError::Predicate { .. })));
    assert!(matches!(new("F a", &[Predicate::new("a", "x = \"s\"")]), Err(ObjectiveError::Predicate { .. })));
    assert!(matches!(new("O a", &[a()]), Err(ObjectiveError::Automaton(_))));
    assert!(matches!(new("F tool_call:x", &[a()]), Err(ObjectiveError::Unknown { .. })));
    let mut objective = new("F (a & X x >= 2)", &[a()]).unwrap();
    let config = RewardConfig::default();
    let one = |x: f64| -> Quantities { [("x", x)].into_iter().collect() };
    assert_eq!(objective.step(&one(0.5), &config).unwrap(), (50.0, 1));
    for error in [objective.step(&one(f64::NAN), &config), objective.step(&Quantities::default(), &config)] {
        assert!(matches!(&error, Err(ObjectiveError::Predicate { predicate, .. }) if predicate == "a"), "{error:?}");
    }
    assert_eq!(objective.state(), 1);
    assert_eq!(objective.step(&one(3.0), &config).unwrap().0, 100.0);
    assert!(objective.is_goaled());
    assert!(
        matches!(objective.tl_reward([("a", 1.0)], 0, &config), Err(ObjectiveError::Unknown { name }) if name == "x >= 2")
    );
    assert!(matches!(
        objective.tl_reward([("a", f64::NAN), ("x >= 2", 1.0)], 0, &config),
        Err(ObjectiveError::NotANumber { .. })
    ));
    assert!(matches!(objective.tl_reward([], 99, &config), Err(ObjectiveError::State { state: 99, .. })));
    assert_eq!(objective.tl_reward([("a", 2.0), ("x >= 2", -1.0)], 0, &config).unwrap(), (200.0, 1));
    assert!(objective.is_goaled(), "a reward alone moves nothing");
}

#[test]
fn equalities_are_exact_at_zero_and_no_predicate_holds_with_its_negation() {
    let mut objective = Objective::new(
        "F (same & X (other & X !near))",
        &[Predicate::new("same", "x = 1"), Predicate::new("other", "x != 1"), Predicate::new("near", "x <= 1")],
    )
    .unwrap();
    let config = RewardConfig::default();
    let mut go = |x: f64| objective.step(&[("x", x)].into_iter().collect::<Quantities>(), &config).unwrap();
    let (start, asked) = (Dfa::INITIAL, 1);
    assert_eq!(go(2.0).1, start);
    assert_eq!(go(1.0), (0.0, asked));
    assert_eq!(go(1.0).1, asked, "1 != 1 does not hold");
    assert_ne!(go(3.0).1, asked);
    assert_eq!(go(1.0).1, asked, "1 <= 1 is not broken");
    go(3.0);
    go(4.0);
    assert!(objective.is_goaled());
    for text in ["x < 1", "x >= 1", "x = 1", "x != 1", "x", "x - 1", "x < 1 & x = 1", "x != 1 | x < 2 -> x = 1"] {
        for x in [0.0, 1.0, 2.0] {
            let values: Quantities = [("x", x)].into_iter().collect();
            let (rho, holds) = Robustness::parse(text).unwrap().evaluate_with_truth(&values).unwrap();
            let (opposite, fails) =
                Robustness::parse(&format!("!({text})")).unwrap().evaluate_with_truth(&values).unwrap();
            assert!(rho == -opposite && holds != fails, "{text} at {x}");
            assert!(rho == 0.0 || holds == (rho > 0.0), "{text} at {x}");
        }
    }
}

#[test]
fn absurd_predicates_end_in_an_error() {
    let one: Quantities = [("x", 1.0)].into_iter().collect();
    for text in [
        "(".repeat(100_000),
        "!".repeat(100_000) + "x",
        "-".repeat(100_000) + "x",
        (0..50_000).map(|i| format!("x > {i}")).collect::<Vec<_>>().join(" & "),
        "x ".repeat(10_000),
        "x + ".repeat(10_000) + "x",
        "(".repeat(300) + "x" + &(" + x".repeat(900) + ")").repeat(300),
    ] {
        assert!(robustness(&text, &one).is_err());
    }
    assert!(matches!(robustness("0 / 0", &one), Err(RobustnessError::Undefined { .. })));
    assert!(matches!(robustness("inf < 1", &one), Err(RobustnessError::Unknown { .. })));
    assert_eq!(robustness("true | x", &one), Ok(f64::INFINITY));
    let twice = Robustness::parse("x & y & x").unwrap();
    assert_eq!(twice.quantities(), ["x", "y"]);
}

/// A corridor of five cells with a pit at the left end and a door at the right one.
#[derive(Debug, Clone, Default)]
struct Corridor {
    at: i32,
    steps: u32,
    closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell(i32);

impl Record for Cell {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        (name == "cell").then(|| Value::Number(f64::from(self.0)))
    }
}

impl Environment for Corridor {
    type Observation = Cell;
    type Action = i32;

    fn reset(&mut self, seed: Option<u64>) -> (Cell, Info) {
        (self.at, self.steps) = (if seed == Some(4) { 4 } else { 2 }, 0);
        (Cell(self.at), Info::new())
    }

    fn step(&mut self, action: i32) -> Step<Cell> {
        self.at = (self.at + action).clamp(0, 5);
        self.steps += 1;
        let info = Info::from([("steps".to_owned(), Value::Number(f64::from(self.steps)))]);
        Step { observation: Cell(self.at), reward: -1.0, terminated: false, truncated: self.steps >= 10, info }
    }

    fn render(&self) -> Option<String> {
        Some((0..=5).map(|i| if i == self.at { 'x' } else { '.' }).collect())
    }

    fn close(&mut self) {
        self.closed = true;
    }
}

type Variables = fn(&Corridor, &Cell, &Info) -> Quantities;

fn wrapped(spec: &str) -> ObjectiveReward<Corridor, Variables> {
    let predicates = [Predicate::new("door", "d_door < 0.5"), Predicate::new("pit", "d_pit < 0.5")];
    let variables: Variables =
        |_, cell, _| [("d_door", f64::from(5 - cell.0)), ("d_pit", f64::from(cell.0))].into_iter().collect();
    ObjectiveReward::new(Corridor::default(), Objective::new(spec, &predicates).unwrap(), variables)
}

#[test]
fn an_episode_in_the_corridor_is_rewarded_by_the_objective_and_ends_at_the_door_or_in_the_pit() {
    let mut corridor = wrapped("F(door) & G(!pit)").with_key("mode");
    let (first, info) = corridor.reset(None).unwrap();
    assert_eq!((first.observation, first.aut_state, &*first.key), (Cell(2), 0, "mode"));
    assert_eq!(first.field("mode"), Some(Value::Number(0.0)));
    assert_eq!(first.field("cell"), Some(Value::Number(2.0)));
    assert_eq!(info["is_success"], Value::Bool(false));
    for _ in 0..2 {
        let step = corridor.step(1).unwrap();
        assert_eq!((step.reward, step.terminated), (0.0, false));
        assert_eq!(step.info["original_reward"], Value::Number(-1.0));
        assert!(step.info.contains_key("steps"));
    }
    let step = corridor.step(1).unwrap();
    assert_eq!((step.reward, step.terminated, step.truncated), (50.0, true, false));
    for (key, value) in [("is_success", true), ("is_failure", false), ("is_aut_terminated", true)] {
        assert_eq!(step.info[key], Value::Bool(value), "{key}");
    }
    assert_eq!(corridor.render().unwrap(), format!(".....x\nmode: {}", step.observation.aut_state));

    corridor.reset(None).unwrap();
    corridor.step(-1).unwrap();
    let step = corridor.step(-1).unwrap();
    assert_eq!((step.reward, step.terminated), (-50.0, true));
    assert_eq!(step.info["is_failure"], Value::Bool(true));
    corridor.close();
    assert!(corridor.into_environment().closed);
}

#[test]
fn a_reset_reads_the_first_observation_once_or_not_at_all() {
    // In the peer this never came back: the automaton was stepped until it stood still.
    let mut corridor = wrapped("G F(pit & X pit) | F(!pit & X(!pit & X door))");
    let (first, _) = corridor.reset(Some(4)).unwrap();
    assert_ne!(first.aut_state, Dfa::INITIAL);
    let (first, info) = corridor.reset_with(Some(4), OnReset::Stay).unwrap();
    assert_eq!(first.aut_state, Dfa::INITIAL);
    assert_eq!(info["is_aut_terminated"], Value::Bool(false));
    corridor.forward_aut(&Cell(4), &info).unwrap();
    let observed = corridor.observation(Cell(4));
    assert_ne!(observed.aut_state, Dfa::INITIAL);
}

#[test]
fn a_safety_task_continues_without_early_termination() {
    let mut corridor = wrapped("G !pit").with_early_termination(EarlyTermination::Never);
    corridor.reset(None).unwrap();
    for _ in 0..4 {
        let step = corridor.step(1).unwrap();
        assert_eq!((step.reward, step.terminated, &step.info["is_success"]), (5.0, false, &Value::Bool(true)));
    }
    let last = (0..6).map(|_| corridor.step(-1).unwrap()).last().unwrap();
    assert_eq!((last.reward, last.terminated, last.truncated), (-5.0, false, true));
    assert!(corridor.is_aut_terminated() && corridor.objective().is_trapped());
    corridor.environment_mut().at = 3;
    assert_eq!(corridor.environment().at, 3);
    let mut ends = wrapped("G !pit");
    ends.reset(None).unwrap();
    assert!(ends.step(1).unwrap().terminated);
}

#[test]
fn a_missing_variable_is_an_error_of_the_step() {
    let objective = Objective::new("F a", &[Predicate::new("a", "missing > 0")]).unwrap();
    let nothing = |_: &Corridor, _: &Cell, _: &Info| Quantities::default();
    let mut corridor = ObjectiveReward::new(Corridor::default(), objective, nothing);
    assert!(matches!(corridor.reset(None), Err(ObjectiveError::Predicate { .. })));
    let error = corridor.step(1).unwrap_err();
    assert_eq!(error.to_string(), "predicate `a`: unknown quantity `missing`");
    assert_eq!(corridor.objective().state(), Dfa::INITIAL);
}

#[test]
fn file_names_of_different_formulas_differ() {
    assert_eq!(replace_special_characters("F(psi_1 | psi_2) & G(!psi_3)"), "F(psi_1_or_psi_2)_and_G(!psi_3)");
    assert_eq!(replace_special_characters(" a->b <-> x <= -3 "), "a_implies_b_iff_x_le_minus_3");
    assert_eq!(replace_special_characters("F ( a )"), "F_(a)");
    assert_eq!(
        replace_special_characters("text_contains:\"../../etc\" && b"),
        "text_contains_is_.._over_.._over_etc_and_b"
    );
    let specs = ["a|b", "a | b", "a_or_b", "a  |  b", "", "ä", "ö", &"G a & ".repeat(1_000)];
    let names: BTreeSet<String> = specs.iter().map(|s| file_name(s)).collect();
    assert_eq!(names.len(), specs.len());
    for name in names {
        assert!(name.len() <= 113 && name.is_ascii() && !name.contains(['/', '\\', '.', ' ', '\0']), "{name}");
    }
}
