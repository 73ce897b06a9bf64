//! Tests of objectives of runs: parsing, refused goals, steps along a line of revisions, and reachability.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use super::*;
use crate::metric_domain::Trend;
use tlaforge_temporal::Quantities;

const fn metric(name: &'static str, range: Range) -> MetricDomain {
    MetricDomain { name, range, implies: &[], trend: Trend::Free }
}

const METRICS: [MetricDomain; 3] =
    [metric("holds", Range::Truth), metric("states", Range::Count), metric("score", Range::Share)];

/// Metrics that depend on each other and on earlier revisions.
const DEPENDENT: [MetricDomain; 5] = [
    MetricDomain { trend: Trend::RevisionNumber, ..metric("number", Range::Count) },
    MetricDomain {
        implies: &[("good", true), ("bad", false)],
        trend: Trend::LastRevision,
        ..metric("done", Range::Truth)
    },
    MetricDomain { implies: &[("bad", false)], ..metric("good", Range::Truth) },
    MetricDomain { implies: &[("good", false)], ..metric("bad", Range::Truth) },
    MetricDomain { trend: Trend::NonDecreasing, ..metric("cost", Range::Amount) },
];

fn objective(text: &str) -> Result<RunObjective, GoalError> {
    RunObjective::from_text(text, Format::Toml, &METRICS)
}

/// The least number of revisions from the beginning of a line.
fn min_revisions(objective: &RunObjective, metrics: &[MetricDomain], max_revision: Option<u32>) -> Option<u32> {
    objective.min_revisions(metrics, &Continuation { last_step: None, current_values: &record([]), max_revision })
}

fn record<const N: usize>(values: [(&str, f64); N]) -> Quantities {
    values.into_iter().collect()
}

#[test]
fn an_objective_survives_a_round_trip_through_json() {
    let text = "goal = \"F good & G !large\"\nearly_end = false\n[predicates]\nlarge = \"states > 9\"\ngood = \"score >= 0.5\"\n[rewards]\ndense_reward = true\n";
    let read = objective(text).unwrap();
    let json = serde_json::to_string(&read).unwrap();
    assert_eq!(RunObjective::from_text(&json, Format::Json, &METRICS).unwrap(), read);
    assert_eq!(read.meanings(), "`good` is `score >= 0.5`, `large` is `states > 9`");
    assert_eq!(read.metrics_read(&METRICS), ["score", "states"]);
    assert!(objective("goal = \"F holds\"\n").unwrap().early_end);
}

#[test]
fn steps_lead_to_the_goal_or_into_the_trap() {
    let read = objective("goal = \"G (states <= 9) & F good\"\n[predicates]\ngood = \"score >= 0.5\"\n").unwrap();
    let trace = [
        record([("states", 4.0), ("score", 0.25)]),
        record([("states", 7.0)]),
        record([("states", 9.0), ("score", 0.75)]),
        record([("states", 10.0), ("score", 1.0)]),
    ];
    let steps = read.steps(&METRICS, &trace);
    let all = |f: fn(&GoalStep) -> (bool, bool, Option<u32>)| steps.iter().map(f).collect::<Vec<_>>();
    assert_eq!(
        all(|s| (s.goal, s.trap, s.distance)),
        [(false, false, Some(1)), (false, false, Some(1)), (true, false, Some(0)), (false, true, None)]
    );
    // Undefined is false, and no number.
    assert_eq!(steps[1].predicates["good"], PredicateValue { holds: false, robustness: None });
    assert_eq!(steps[1].nearness, None);
    assert_eq!(steps[0].nearness, Some(-0.25));
    // On the border `<=` holds, by nothing, and `<` does not.
    let strict = objective("goal = \"F (states < 9)\"\n").unwrap();
    assert!(!strict.steps(&METRICS, &trace[2..3])[0].met && strict.steps(&METRICS, &trace[1..2])[0].met);
    assert_eq!(
        (steps[2].predicates["states <= 9"], steps[2].reward),
        (PredicateValue { holds: true, robustness: Some(0.0) }, 0.0)
    );
    assert!((steps[3].total_reward - (steps[2].total_reward + steps[3].reward)).abs() < 1e-9);
    assert!(read.residual(&steps[..1]).contains("`good`") && read.residual(&[]).contains("`good`"));
    assert_eq!(read.residual(&steps), "the goal cannot be reached any more");
    assert_eq!((read.distance_at_start(&METRICS), min_revisions(&read, &METRICS, None)), (Some(1), Some(1)));
}

#[test]
fn after_the_goal_the_revision_that_meets_it_alone_is_better() {
    let read = objective("goal = \"F (score >= 0.5)\"\n").unwrap();
    let trace = [record([("score", 0.6)]), record([("score", 0.1)]), record([("score", 0.9)]), record([])];
    let steps = read.steps(&METRICS, &trace);
    assert!(steps.iter().all(|s| s.goal));
    let mut order: Vec<usize> = (0..4).collect();
    order.sort_by(|a, b| steps[*b].compare(&steps[*a]));
    assert_eq!(order, [2, 0, 1, 3]);
    // A trap comes last, however good the revision is alone.
    let read = objective("goal = \"G (states < 5) & F holds\"\n").unwrap();
    let trace = [record([("states", 1.0), ("holds", -1.0)]), record([("states", 6.0), ("holds", 1.0)])];
    let steps = read.steps(&METRICS, &trace);
    assert!(steps[0].compare(&steps[1]).is_gt());
}

#[test]
fn the_distance_of_a_goal_without_goal_state_is_that_to_an_accepting_state() {
    let read = objective("goal = \"G (holds -> F (score > 0.5))\"\n").unwrap();
    let trace = [record([("holds", 1.0), ("score", 0.1)]), record([("holds", -1.0), ("score", 0.9)])];
    let steps = read.steps(&METRICS, &trace);
    assert_eq!(
        steps.iter().map(|s| (s.met, s.goal, s.distance)).collect::<Vec<_>>(),
        [(false, false, Some(1)), (true, false, Some(0))]
    );
}

#[test]
fn refuses_objectives_with_the_matching_error() {
    let goal = |goal: &str| objective(&format!("goal = \"{goal}\"\n")).unwrap_err();
    assert!(matches!(goal("F (holds & !holds)"), GoalError::Unreachable { .. }));
    assert!(matches!(goal("false"), GoalError::Unreachable { .. }));
    // No revision can satisfy these.
    for never in [
        "F (score > 1.5)",
        "F (states < 0)",
        "F (states < 5 & states > 9)",
        "F (states > 4 & states < 5)",
        "F (score < 0.2 & holds) & G (score > 0.3)",
        "F (holds = 0)",
    ] {
        assert!(matches!(goal(never), GoalError::Unreachable { .. }), "{never}");
    }
    for possible in [
        "F (score >= 1)",
        "F (states <= 0)",
        "F (states > 4 & states < 6)",
        "F (score > 0.2 & score < 0.3)",
        "F (states - 5 > score)",
        "F (states < 5) & F (states > 9)",
        "F (holds = true)",
        "F (!(states > 0) & !(states <= 0))",
    ] {
        assert!(objective(&format!("goal = \"{possible}\"\n")).is_ok(), "{possible}");
    }
    assert_eq!(
        min_revisions(&objective("goal = \"F (states < 5) & F (states > 9)\"\n").unwrap(), &METRICS, None),
        Some(2)
    );
    for trivial in ["true", "G holds | F !holds", "F (holds | !holds)"] {
        assert!(matches!(goal(trivial), GoalError::Trivial { .. }), "{trivial}");
    }
    assert!(matches!(goal("F (size < 3)"), GoalError::Metric { name, .. } if name == "size"));
    assert!(matches!(goal("F (score < 1 / 0)"), GoalError::Constant { .. }));
    assert!(matches!(goal("F (states < 0 / 0)"), GoalError::Constant { .. }));
    assert!(objective("goal = \"G holds\"\n").is_ok(), "a goal that can be lost ranks revisions");
    let shadows = objective("goal = \"F states\"\n[predicates]\nstates = \"score > 1\"\n").unwrap_err();
    assert!(matches!(shadows, GoalError::Shadows { .. }));
    // Predicates that the goal does not use are checked too.
    assert!(objective("goal = \"F holds\"\n[predicates]\nunused = \"size < 3\"\n").is_err());
}

#[test]
fn the_sum_of_rewards_stays_finite_so_that_json_can_represent_it() {
    let huge = "goal = \"F G holds\"\n[rewards]\nterminal_state_reward = 1e308\nstate_trans_reward_scale = 1e308\n";
    let trace = vec![record([("holds", 1.0)]); 5];
    for step in objective(huge).unwrap().steps(&METRICS, &trace) {
        let json = serde_json::to_string(&step).unwrap();
        assert_eq!(serde_json::from_str::<GoalStep>(&json).unwrap(), step, "{json}");
    }
}

#[test]
fn opening_an_obligation_makes_no_revision_better() {
    let rounds = "goal = \"G (lots -> F few)\"\n[predicates]\nlots = \"states >= 9\"\nfew = \"states < 9\"\n";
    let read = objective(rounds).unwrap();
    let step = |states| read.steps(&METRICS, &[record([("states", states)])]).remove(0);
    assert_eq!(step(40.0).compare(&step(2.0)), std::cmp::Ordering::Less);
    assert_eq!(step(1.0).compare(&step(2.0)), std::cmp::Ordering::Equal);
}

fn dependent(goal: &str) -> Result<RunObjective, GoalError> {
    RunObjective::from_text(&format!("goal = \"{goal}\"\n"), Format::Toml, &DEPENDENT)
}

#[test]
fn dependencies_between_metrics_decide_which_goals_can_be_reached() {
    for never in [
        "F (good & bad)",
        "F (done & !good)",
        "F (done & bad)",
        "G !good & F done",
        "F (good & bad & cost + number > 3)",
    ] {
        assert!(matches!(dependent(never), Err(GoalError::Unreachable { .. })), "{never}");
    }
    let least = |goal: &str, max| min_revisions(&dependent(goal).unwrap(), &DEPENDENT, max);
    // Without a limit, branches can follow each other; a run ends with its first `done`.
    assert_eq!((least("F (done & X done)", None), least("F (done & X done)", Some(3))), (Some(2), None));
    assert_eq!((least("F (number > 9)", None), least("F (number > 9)", Some(3))), (Some(1), None));
    assert_eq!(least("F (number > 9)", Some(10)), Some(1));
    assert_eq!(least("F (cost + number > 9 & good) & F bad", Some(3)), Some(2));
    // A predicate that is no comparison with a number counts as possibly true and possibly false.
    assert!(dependent("F (good & cost - number > 3)").is_ok());
    assert!(matches!(dependent("G (done -> good)"), Err(GoalError::Trivial { .. })));
    assert!(matches!(dependent("F (number >= 0)"), Err(GoalError::Trivial { .. })), "every revision has a number");
}

#[test]
fn non_decreasing_metrics_make_goals_unreachable() {
    let least_after = |goal: &str, trace: &[Quantities], now: &Quantities| {
        let read = dependent(goal).unwrap();
        let steps = read.steps(&DEPENDENT, trace);
        assert!(steps.iter().all(|step| !step.trap), "the automaton alone cannot tell");
        read.min_revisions(
            &DEPENDENT,
            &Continuation { last_step: steps.last(), current_values: now, max_revision: None },
        )
    };
    let at = |number: f64, cost: f64| record([("number", number), ("good", -1.0), ("bad", 1.0), ("cost", cost)]);
    let here = |goal: &str, now: &Quantities| least_after(goal, std::slice::from_ref(now), now);
    assert_eq!(here("F (good & cost < 5)", &at(0.0, 4.9)), Some(1));
    assert_eq!(here("F (good & cost < 5)", &at(0.0, 5.0)), None);
    // At the threshold: the current value is still possible.
    assert_eq!(here("F (good & cost <= 5)", &at(0.0, 5.0)), Some(1));
    assert_eq!(here("F (good & cost <= 5)", &at(0.0, 5.5)), None);
    assert_eq!(here("F (good & number < 2)", &at(0.0, 0.0)), Some(1));
    assert_eq!(here("F (good & number < 2)", &at(1.0, 0.0)), None);
    // Costs of other branches count too.
    assert_eq!(least_after("F (good & cost < 5)", &[at(0.0, 1.0)], &record([("number", 3.0), ("cost", 7.0)])), None);
    // An unknown value can become anything, and a goal that is met stays met.
    assert_eq!(here("F (good & cost < 5)", &record([("number", 0.0), ("good", -1.0)])), Some(1));
    assert_eq!(here("F good & G (cost < 10)", &record([("number", 7.0), ("good", 1.0), ("cost", 9.0)])), Some(0));
}

#[test]
fn samples_large_numbers_between_and_above_thresholds() {
    for possible in ["F (states > 9007199254740992)", "F (states > 1e17)", "F (score > 0.5 & states > 1e300)"] {
        assert!(objective(&format!("goal = \"{possible}\"\n")).is_ok(), "{possible}");
    }
    assert!(dependent("F (cost > 1e16)").is_ok());
}

#[test]
fn independent_metrics_are_enumerated_separately() {
    // Together, these would be far more than `MAX_COMBINATIONS`.
    let goal =
        "F (states < 5 & states > 9) & F (score > 0.1) & F (score > 0.2) & F (score > 0.3) & F (score > 0.4) & F holds";
    assert!(matches!(objective(&format!("goal = \"{goal}\"\n")), Err(GoalError::Unreachable { .. })));
    let reachable = goal.replace("states > 9", "states > 3");
    let read = objective(&format!("goal = \"{reachable}\"\n")).unwrap();
    assert_eq!(min_revisions(&read, &METRICS, None), Some(1));
}

/// All possible revisions with numbers at, between and outside all thresholds used below.
fn revisions() -> Vec<Quantities> {
    let truths = |name: &'static str| [None, Some((name, -1.0)), Some((name, 1.0))];
    let numbers = |name: &'static str, to: u8| (0..=to).map(move |n| Some((name, f64::from(n) / 2.0)));
    let mut all = Vec::new();
    for number in (0..=3).map(|n| Some(("number", f64::from(n)))) {
        for cost in numbers("cost", 6).chain([None]) {
            for done in truths("done") {
                for good in truths("good") {
                    for bad in truths("bad") {
                        let values = [number, cost, done, good, bad];
                        let is = |name: &str, value: f64| values.contains(&Some((name, value)));
                        let is_consistent = DEPENDENT.iter().all(|k| {
                            let fits = |(n, v): &(&str, bool)| is(n, if *v { 1.0 } else { -1.0 });
                            !is(k.name, 1.0) || k.implies.iter().all(fits)
                        });
                        if is_consistent {
                            all.push(
                                values
                                    .into_iter()
                                    .flatten()
                                    .map(|(n, v)| (n.to_owned(), v))
                                    .collect::<BTreeMap<_, _>>(),
                            );
                        }
                    }
                }
            }
        }
    }
    all.into_iter().map(Quantities).collect()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 60, ..Default::default() })]

    /// Enumerates all lines of two revisions: none reaches a goal that is called lost or unreachable.
    #[test]
    fn no_enumerated_line_reaches_a_goal_that_is_called_unreachable(
        (left, right, atoms) in (0..4usize, 0..4usize, proptest::array::uniform3(0..9usize)),
        first in 0..600usize,
    ) {
        const ATOMS: [&str; 9] = [
            "done", "good", "bad", "cost < 1", "cost >= 2", "number > 1", "number <= 2", "cost + number > 2", "!good",
        ];
        let [a, b, c] = atoms.map(|at| ATOMS[at]);
        let parts = |kind: usize, a: &str, b: &str| match kind {
            0 => format!("F ({a} & {b})"),
            1 => format!("G ({a} -> X {b})"),
            2 => format!("(({a}) U ({b}))"),
            _ => format!("F ({a} & X ({b}))"),
        };
        let goal = format!("{} & {}", parts(left, a, b), parts(right, b, c));
        let all = revisions();
        let step = |line: &[&Quantities], read: &RunObjective| read.steps(&DEPENDENT, line.iter().copied()).pop().unwrap();
        let follows = |a: &Quantities, b: &Quantities| {
            let grows = |name: &str| a.0.get(name).zip(b.0.get(name)).is_none_or(|(a, b)| a <= b);
            b.0["number"] > a.0["number"] && grows("cost")
        };
        match dependent(&goal) {
            Err(GoalError::Unreachable { .. }) => {
                let whole = Objective::new(&goal, &DEPENDENT.map(|k| Predicate::new(k.name, k.name)));
                for one in &all {
                    for two in all.iter().filter(|two| follows(one, two)).step_by(7) {
                        let mut run = whole.clone().unwrap();
                        for revision in [one, two] {
                            run.step_with_missing(revision, &RewardSettings::default().into());
                            proptest::prop_assert!(!run.is_accepting(), "{goal}: {one:?} {two:?}");
                        }
                    }
                }
            }
            Err(GoalError::Trivial { .. }) => {}
            Err(other) => proptest::prop_assert!(false, "{goal}: {other}"),
            Ok(read) => {
                let one = &all[first % all.len()];
                let last_step = step(&[one], &read);
                let from = Continuation { last_step: Some(&last_step), current_values: one, max_revision: None };
                let least = read.min_revisions(&DEPENDENT, &from);
                proptest::prop_assert!(!last_step.trap || least.is_none());
                for two in all.iter().filter(|two| follows(one, two)) {
                    let met = step(&[one, two], &read).met;
                    proptest::prop_assert!(!met || least.is_some_and(|least| least <= 1), "{goal}: {one:?} {two:?}");
                }
            }
        }
    }
}
