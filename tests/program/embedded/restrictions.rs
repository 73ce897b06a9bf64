//! Specifications that assume more than actions and fairness. The oracle enumerates the behaviours of a clock with four
//! values, which stops in its first or second round, or never.

use tlaforge::tla::{CheckOutcome, Reached, Verdict};

use super::bench::{Bench, request};

const CLOCK: &str = "EXTENDS Integers
VARIABLE x
Init == x = 1
Next == x' = (x % 4) + 1
Inv == x < 4
Low == x < 2
Step == [][x' # 4]_x
StepLow == [][x' # 2]_x
Always == [](x < 4)
Last == <>(x = 4)
WitnessFour == x = 4
WitnessFirst == x = 1
";

/// The values of a behaviour, and those that occur again and again.
type Behaviour = (Vec<i32>, Vec<i32>);
type Test = fn(&Behaviour) -> bool;

fn behaviours() -> Vec<Behaviour> {
    let value = |step: usize| i32::try_from(step % 4).unwrap_or(0) + 1;
    let stopped = (0..8).map(|last| ((0..=last).map(value).collect(), vec![value(last)]));
    stopped.chain([((0..8).map(value).collect(), vec![1, 2, 3, 4])]).collect()
}

const ASSUMPTIONS: [(&str, Test); 6] = [
    ("[](x # 3)", |(all, _)| !all.contains(&3)),
    ("[]<>(x = 2)", |(_, again)| again.contains(&2)),
    ("<>[](x = 2)", |(_, again)| *again == [2]),
    ("<>(x = 3)", |(all, _)| all.contains(&3)),
    ("[](x < 3 \\/ <>(x = 1))", |(_, again)| *again != [3] && *again != [4]),
    ("(<>(x = 2) /\\ [](x # 4))", |(all, _)| all.contains(&2) && !all.contains(&4)),
];

const PROPERTIES: [(&str, &str, Test); 6] = [
    ("INVARIANT", "Inv", |(all, _)| !all.contains(&4)),
    ("INVARIANT", "Low", |(all, _)| *all == [1]),
    ("PROPERTY", "Step", |(all, _)| !all.contains(&4)),
    ("PROPERTY", "StepLow", |(all, _)| !all.contains(&2)),
    ("PROPERTY", "Always", |(all, _)| !all.contains(&4)),
    ("PROPERTY", "Last", |(all, _)| all.contains(&4)),
];

fn violated(outcome: &CheckOutcome) -> Option<&str> {
    match &outcome.verdict {
        Verdict::Violated { violated } => violated.name.as_deref(),
        _ => None,
    }
}

#[tokio::test]
async fn what_breaks_an_assumption_violates_nothing() {
    let bench = Bench::new();
    for (assumed, is_assumed) in ASSUMPTIONS {
        let all: Vec<Behaviour> = behaviours().into_iter().filter(is_assumed).collect();
        for (keyword, name, holds) in PROPERTIES {
            let module = format!("{CLOCK}Spec == Init /\\ [][Next]_x /\\ {assumed}\n");
            let cfg = format!("SPECIFICATION Spec\n{keyword} {name}\n\\* WITNESS WitnessFour, WitnessFirst\n");
            let request = request(&module, &cfg);
            let what = format!("{name} under {assumed}");
            let outcome = bench.check(&request).await;
            if all.iter().all(holds) {
                assert_eq!(outcome.verdict, Verdict::Holds, "{what}");
            } else {
                assert_eq!(violated(&outcome), Some(name), "{what}: {:?}", outcome.verdict);
            }
            // A path to a witness may break the assumption.
            let is_reached = all.iter().any(|(all, _)| all.contains(&4));
            let reached = &outcome.witnesses[0].reached;
            let agrees = matches!((reached, is_reached), (Reached::Yes { depth: 4 }, true) | (Reached::No, false));
            assert!(agrees, "{what}: {reached:?}");
            // No step is needed for what holds in the initial state.
            assert_eq!(outcome.witnesses[1].reached, Reached::Yes { depth: 1 }, "{what}");
            // The same by TLC, which decides less about properties of steps.
            let is_campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
            let is_compared = matches!(assumed, "[](x # 3)" | "[]<>(x = 2)") && matches!(name, "Inv" | "Step" | "Last");
            if is_compared && (is_campaign || name == "Inv") {
                let tlc = bench.check_with(&bench.java(), &request).await.unwrap().outcome;
                let agrees = match tlc.verdict {
                    Verdict::Holds => outcome.verdict == Verdict::Holds,
                    Verdict::Violated { .. } => violated(&outcome) == violated(&tlc),
                    _ => name == "Step",
                };
                assert!(agrees, "{what}: {:?}", tlc.verdict);
            }
        }
    }
}

/// A search meets states that no behaviour has, and what fails there shows nothing.
#[tokio::test]
async fn an_assertion_or_an_evaluation_that_fails_outside_of_every_behaviour_shows_nothing() {
    let bench = Bench::new();
    let module = |fails: &str| {
        format!(
            "EXTENDS Naturals, TLC\nVARIABLE x\nInit == x = 0\nNext == x' \\in {{1, 2}} /\\ {fails}\n\
             Spec == Init /\\ [][Next]_x /\\ [](x # 2)\nInv == x < 2\nLive == <>(x = 0)\nStep == [][x' # 2]_x\n"
        )
    };
    for fails in ["Assert(x # 2, \"two\")", "(x = 2 => <<1>>[x] = 1)"] {
        for property in ["INVARIANT Inv", "PROPERTY Step", "PROPERTY Live", "INVARIANT Inv PROPERTY Live"] {
            let request = request(&module(fails), &format!("SPECIFICATION Spec {property} CHECK_DEADLOCK FALSE"));
            let outcome = bench.check(&request).await;
            assert!(
                matches!(outcome.verdict, Verdict::Inconclusive { .. }),
                "{fails} {property}: {:?}",
                outcome.verdict
            );
        }
    }
}

#[tokio::test]
async fn each_invariant_and_a_deadlock_are_decided_under_an_assumption() {
    let bench = Bench::new();
    let rest = "Never == x # 3\nSpec == Init /\\ [][Next]_x /\\ [](x # 3)\nStops == Init /\\ [][x # 4 /\\ Next]_x /\\ [](x # 3)\n";
    let module = format!("{CLOCK}{rest}");
    for (cfg, expected) in [
        ("SPECIFICATION Spec INVARIANT Inv Never", "holds"),
        ("SPECIFICATION Spec INVARIANT Inv Low Never", "Low"),
        ("SPECIFICATION Spec INVARIANT Inv PROPERTY Last", "Last"),
        ("SPECIFICATION Spec INVARIANT Inv PROPERTY Step", "holds"),
        // The search stops at the violation, and later at the deadlock.
        ("SPECIFICATION Stops INVARIANT Inv", "inconclusive"),
        ("SPECIFICATION Stops INVARIANT Inv CHECK_DEADLOCK FALSE", "holds"),
    ] {
        let request = request(&module, cfg);
        for outcome in [bench.check(&request).await, bench.decide(&request).await] {
            let shown = match &outcome.verdict {
                Verdict::Holds => "holds",
                Verdict::Violated { .. } => violated(&outcome).unwrap_or("no name"),
                _ => "inconclusive",
            };
            assert_eq!(shown, expected, "{cfg}: {:?}", outcome.verdict);
        }
    }
}
