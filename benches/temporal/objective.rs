//! One step of an objective with its reward.

use std::ffi::OsStr;
use std::time::Instant;

use tlaforge::temporal::{Objective, Predicate, Quantities, RewardConfig};

use super::peers::python;

const SPECS: [&str; 5] = [
    "F a",
    "F (a & F b)",
    "(!b U a) & F c",
    "F (a & X F (b & X F (c & X F (d & X F e))))",
    "G (a -> F b) & G (c -> F d)",
];

/// Constructs and steps as the loop below does, with the predicates that the formula has, as its wrapper hands them over.
const GYM: &str = r#"
import sys, time
from gym_tl_tools import Automaton, Predicate
letters = [{"v_" + n: float(i >> k & 1) for k, n in enumerate("abcde")} for i in range(32)]
for spec in sys.argv[1:]:
    predicates = [Predicate(name=n, formula=f"v_{n} > 0.5") for n in "abcde" if n in spec]
    try:
        built = 1e9
        for _ in range(20):
            start = time.perf_counter()
            automaton = Automaton(spec, predicates)
            built = min(built, time.perf_counter() - start)
        automaton.reset(seed=0)
        start = time.perf_counter()
        for i in range(2000):
            if automaton.status != "intermediate":
                automaton.reset(seed=0)
            automaton.step(letters[i * 7 % 32])
        print(built * 1e6, (time.perf_counter() - start) / 2000 * 1e6)
    except Exception as error:
        print(type(error).__name__)
"#;

/// Steps of objectives of one to five predicates, beside gym-tl-tools where there is one.
pub(crate) fn objective() {
    let names = ["a", "b", "c", "d", "e"];
    let predicates = names.map(|n| Predicate::new(n, format!("v_{n} > 0.5")));
    let specs: Vec<&OsStr> = SPECS.iter().map(AsRef::as_ref).collect();
    let gym = python("gym-tl-tools", GYM, &specs).unwrap_or_default();
    for (number, spec) in SPECS.into_iter().enumerate() {
        let built = (0..50).map(|_| {
            let start = Instant::now();
            std::hint::black_box(Objective::new(spec, &predicates).expect("an objective"));
            start.elapsed().as_secs_f64() * 1e6
        });
        let built = built.fold(f64::INFINITY, f64::min);
        for dense_reward in [false, true] {
            let config = RewardConfig { dense_reward, ..RewardConfig::default() };
            let mut objective = Objective::new(spec, &predicates).expect("an objective");
            let letters: Vec<Quantities> = (0..32_u32)
                .map(|i| {
                    let value = |k: usize| f64::from(i >> k & 1);
                    names.iter().enumerate().map(|(k, n)| (format!("v_{n}"), value(k))).collect()
                })
                .collect();
            let start = Instant::now();
            let (rounds, mut sum) = (100_000_usize, 0.0);
            for i in 0..rounds {
                if objective.is_terminated() {
                    objective.reset(None);
                }
                sum += objective.step(&letters[i * 7 % 32], &config).expect("all quantities").0;
            }
            let dense = if dense_reward { ", dense" } else { "" };
            let step = start.elapsed().as_secs_f64() * 1e6 / 1e5;
            print!("{spec}{dense}: built in {built:.1} us, a step {step:.2} us (rewards {sum:.0})");
            match gym.get(number).map(|line| line.split(' ').map(str::parse::<f64>).collect::<Vec<_>>()) {
                Some(told) if !dense_reward => match told[..] {
                    [Ok(their_built), Ok(their_step)] => println!(
                        "; gym-tl-tools {their_built:.0} us, {:.0} times, and {their_step:.1} us, {:.0} times",
                        their_built / built,
                        their_step / step
                    ),
                    _ => println!("; gym-tl-tools cannot: {}", gym[number]),
                },
                _ => println!(),
            }
        }
    }
}
