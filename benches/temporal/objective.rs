//! One step of an objective with its reward.

use std::time::Instant;

use tlaforge::temporal::{Objective, Predicate, Quantities, RewardConfig};

/// Steps of objectives of one to five predicates.
pub(crate) fn objective() {
    let names = ["a", "b", "c", "d", "e"];
    let predicates = names.map(|n| Predicate::new(n, format!("v_{n} > 0.5")));
    for spec in [
        "F a",
        "F (a & F b)",
        "(!b U a) & F c",
        "F (a & X F (b & X F (c & X F (d & X F e))))",
        "G (a -> F b) & G (c -> F d)",
    ] {
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
            println!("step of {spec}{dense}: {:.2} µs (rewards {sum:.0})", start.elapsed().as_secs_f64() * 1e6 / 1e5);
        }
    }
}
