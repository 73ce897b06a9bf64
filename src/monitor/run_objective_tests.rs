//! Objectives of runs: what is read, what is refused, and what a line of revisions comes to.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use super::*;
use crate::temporal::Quantities;

const KNOWN: [Known; 3] = [
    Known { name: "holds", range: Range::Truth },
    Known { name: "states", range: Range::Count },
    Known { name: "score", range: Range::Share },
];

fn objective(text: &str) -> Result<RunObjective, GoalError> {
    RunObjective::from_text(text, Format::Toml, &KNOWN)
}

fn record<const N: usize>(values: [(&str, f64); N]) -> Quantities {
    values.into_iter().collect()
}

#[test]
fn a_document_says_the_same_after_it_was_written() {
    let text = "goal = \"F good & G !large\"\nearly_end = false\n[predicates]\nlarge = \"states > 9\"\ngood = \"score >= 0.5\"\n[rewards]\ndense_reward = true\n";
    let read = objective(text).unwrap();
    let json = serde_json::to_string(&read).unwrap();
    assert_eq!(RunObjective::from_text(&json, Format::Json, &KNOWN).unwrap(), read);
    assert_eq!(read.meanings(), "`good` is `score >= 0.5`, `large` is `states > 9`");
    assert_eq!(read.quantities(&KNOWN), ["score", "states"]);
    assert!(objective("goal = \"F holds\"\n").unwrap().early_end);
}

#[test]
fn a_line_of_revisions_is_followed_to_the_goal_or_into_the_trap() {
    let read = objective("goal = \"G (states <= 9) & F good\"\n[predicates]\ngood = \"score >= 0.5\"\n").unwrap();
    let trace = [
        record([("states", 4.0), ("score", 0.25)]),
        record([("states", 7.0)]),
        record([("states", 9.0), ("score", 0.75)]),
        record([("states", 10.0), ("score", 1.0)]),
    ];
    let steps = read.steps(&KNOWN, &trace);
    let all = |f: fn(&GoalStep) -> (bool, bool, Option<u32>)| steps.iter().map(f).collect::<Vec<_>>();
    assert_eq!(
        all(|s| (s.goal, s.trap, s.distance)),
        [(false, false, Some(1)), (false, false, Some(1)), (true, false, Some(0)), (false, true, None)]
    );
    // Undefined is false, and no number.
    assert_eq!(steps[1].predicates["good"], Held { holds: false, robustness: None });
    assert_eq!(steps[1].nearness, None);
    assert_eq!(steps[0].nearness, Some(-0.25));
    // On the border `<=` holds, by nothing, and `<` does not.
    let strict = objective("goal = \"F (states < 9)\"\n").unwrap();
    assert!(!strict.steps(&KNOWN, &trace[2..3])[0].met && strict.steps(&KNOWN, &trace[1..2])[0].met);
    assert_eq!(
        (steps[2].predicates["states <= 9"], steps[2].reward),
        (Held { holds: true, robustness: Some(0.0) }, 0.0)
    );
    assert!((steps[3].total_reward - (steps[2].total_reward + steps[3].reward)).abs() < 1e-9);
    assert!(read.owed(&steps[..1]).contains("`good`") && read.owed(&[]).contains("`good`"));
    assert_eq!(read.owed(&steps), "the goal cannot be reached any more");
    assert_eq!((read.distance_at_start(&KNOWN), read.least_revisions(&KNOWN)), (Some(1), Some(1)));
}

#[test]
fn of_two_revisions_behind_the_goal_the_one_that_meets_it_by_itself_is_the_better() {
    let read = objective("goal = \"F (score >= 0.5)\"\n").unwrap();
    let trace = [record([("score", 0.6)]), record([("score", 0.1)]), record([("score", 0.9)]), record([])];
    let steps = read.steps(&KNOWN, &trace);
    assert!(steps.iter().all(|s| s.goal));
    let mut order: Vec<usize> = (0..4).collect();
    order.sort_by(|a, b| steps[*b].compare(&steps[*a]));
    assert_eq!(order, [2, 0, 1, 3]);
    // A trap comes last, whatever the revision is like.
    let read = objective("goal = \"G (states < 5) & F holds\"\n").unwrap();
    let trace = [record([("states", 1.0), ("holds", -1.0)]), record([("states", 6.0), ("holds", 1.0)])];
    let steps = read.steps(&KNOWN, &trace);
    assert!(steps[0].compare(&steps[1]).is_gt());
}

#[test]
fn a_goal_that_is_never_met_for_good_is_measured_by_how_far_it_is_from_being_met() {
    let read = objective("goal = \"G (holds -> F (score > 0.5))\"\n").unwrap();
    let trace = [record([("holds", 1.0), ("score", 0.1)]), record([("holds", -1.0), ("score", 0.9)])];
    let steps = read.steps(&KNOWN, &trace);
    assert_eq!(
        steps.iter().map(|s| (s.met, s.goal, s.distance)).collect::<Vec<_>>(),
        [(false, false, Some(1)), (true, false, Some(0))]
    );
}

#[test]
fn what_is_wrong_is_told_by_its_kind() {
    let goal = |goal: &str| objective(&format!("goal = \"{goal}\"\n")).unwrap_err();
    assert!(matches!(goal("F (holds & !holds)"), GoalError::Unreachable { .. }));
    assert!(matches!(goal("false"), GoalError::Unreachable { .. }));
    // No revision is like that.
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
    assert_eq!(objective("goal = \"F (states < 5) & F (states > 9)\"\n").unwrap().least_revisions(&KNOWN), Some(2));
    for trivial in ["true", "G holds | F !holds", "F (holds | !holds)"] {
        assert!(matches!(goal(trivial), GoalError::Trivial { .. }), "{trivial}");
    }
    assert!(matches!(goal("F (size < 3)"), GoalError::Metric { name, .. } if name == "size"));
    assert!(matches!(goal("F (score < 1 / 0)"), GoalError::Constant { .. }));
    assert!(matches!(goal("F (states < 0 / 0)"), GoalError::Constant { .. }));
    assert!(objective("goal = \"G holds\"\n").is_ok(), "what can still be lost ranks");
    let shadows = objective("goal = \"F states\"\n[predicates]\nstates = \"score > 1\"\n").unwrap_err();
    assert!(matches!(shadows, GoalError::Shadows { .. }));
    // What the goal does not use is read all the same.
    assert!(objective("goal = \"F holds\"\n[predicates]\nunused = \"size < 3\"\n").is_err());
}

#[test]
fn the_sum_of_rewards_stays_a_number_of_json() {
    let huge = "goal = \"F G holds\"\n[rewards]\nterminal_state_reward = 1e308\nstate_trans_reward_scale = 1e308\n";
    let trace = vec![record([("holds", 1.0)]); 5];
    for step in objective(huge).unwrap().steps(&KNOWN, &trace) {
        let json = serde_json::to_string(&step).unwrap();
        assert_eq!(serde_json::from_str::<GoalStep>(&json).unwrap(), step, "{json}");
    }
}

#[test]
fn a_round_that_begins_makes_no_revision_the_better_one() {
    let rounds = "goal = \"G (lots -> F few)\"\n[predicates]\nlots = \"states >= 9\"\nfew = \"states < 9\"\n";
    let read = objective(rounds).unwrap();
    let step = |states| read.steps(&KNOWN, &[record([("states", states)])]).remove(0);
    assert_eq!(step(40.0).compare(&step(2.0)), std::cmp::Ordering::Less);
    assert_eq!(step(1.0).compare(&step(2.0)), std::cmp::Ordering::Equal);
}
