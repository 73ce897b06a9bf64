//! The truck task: possible and impossible actions, and a comparison of its monitored rules with direct counts.

use proptest::prelude::*;
use tlaforge_experiments::{Action, ActionError, Package, PackageLocation, RuleMonitor, Task, Truck};

/// Three places, two areas; p1 from depot to harbour, p2 from depot to mill.
fn task() -> Task {
    let package = |to, by| Package { from: 0, to, by };
    Task {
        places: vec!["depot", "harbour", "mill"],
        areas: 2,
        packages: vec![package(1, 1), package(2, 1)],
        start: 0,
        rules: Vec::new(),
    }
}

#[test]
fn packages_nearer_to_the_door_block_others() {
    let task = task();
    let mut truck = Truck::new(&task);
    let (p1, p2) = (0, 1);
    truck.perform(Action::Load { package: p1, area: 1 }).unwrap();
    truck.perform(Action::Load { package: p2, area: 0 }).unwrap();
    let blocked = Err(ActionError::Blocked { by: p2, area: 0 });
    assert_eq!(truck.perform(Action::Unload { package: p1 }), blocked);
    truck.perform(Action::Unload { package: p2 }).unwrap();
    truck.perform(Action::Unload { package: p1 }).unwrap();
    truck.perform(Action::Load { package: p2, area: 0 }).unwrap();
    assert_eq!(truck.perform(Action::Load { package: p1, area: 1 }), blocked, "nor gets anything in past it");
    assert_eq!(truck.perform(Action::Load { package: p1, area: 0 }), blocked, "nor onto it");
    assert_eq!(truck.in_area(0), Some(p2));
}

#[test]
fn delivers_at_the_destination_and_counts_packages_in_time() {
    let task = task();
    let mut truck = Truck::new(&task);
    let (p1, p2) = (0, 1);
    assert_eq!(truck.perform(Action::Deliver { package: p1 }), Err(ActionError::WrongPlace(p1)));
    assert_eq!(truck.perform(Action::Drive { to: 0 }), Err(ActionError::AlreadyThere(0)));
    truck.perform(Action::Load { package: p1, area: 1 }).unwrap();
    truck.perform(Action::Load { package: p2, area: 0 }).unwrap();
    truck.perform(Action::Drive { to: 2 }).unwrap();
    assert_eq!(
        truck.perform(Action::Deliver { package: p2 }),
        Err(ActionError::NotHere(p2)),
        "it is still in the truck"
    );
    truck.perform(Action::Unload { package: p2 }).unwrap();
    truck.perform(Action::Deliver { package: p2 }).unwrap();
    assert_eq!(truck.perform(Action::Load { package: p2, area: 0 }), Err(ActionError::NotHere(p2)), "it is gone");
    truck.perform(Action::Drive { to: 1 }).unwrap();
    truck.perform(Action::Unload { package: p1 }).unwrap();
    truck.perform(Action::Deliver { package: p1 }).unwrap();
    assert_eq!((truck.delivered(), truck.in_time(), truck.hour()), (2, 1, 2), "p1 came an hour late");
    assert!(truck.is_finished());
    for unknown in [
        Action::Load { package: 7, area: 0 },
        Action::Load { package: 0, area: 2 },
        Action::Unload { package: 7 },
        Action::Deliver { package: 7 },
        Action::Drive { to: 3 },
    ] {
        assert_eq!(truck.perform(unknown), Err(ActionError::Unknown), "{unknown:?}");
    }
}

#[test]
fn refuses_sizes_out_of_range() {
    for (packages, places, areas, words) in [
        (1, 3, 2, "1 packages: it must be from 2 to 9"),
        (10, 3, 2, "10 packages"),
        (2, 2, 2, "2 places: it must be from 3 to 8"),
        (2, 9, 2, "9 places"),
        (2, 3, 1, "1 areas: it must be from 2 to 4"),
    ] {
        let refused = Task::random(0, packages, places, areas).unwrap_err();
        assert!(refused.contains(words), "{refused}");
    }
    assert_eq!(Task::random(5, 4, 4, 3), Task::random(5, 4, 4, 3));
    assert_ne!(Task::random(5, 4, 4, 3), Task::random(6, 4, 4, 3));
}

/// The number of violations of a rule, counted without formulas.
fn count_violations(name: &str, task: &Task, done: &[Action]) -> usize {
    let package = |text: &str| text[1..].parse::<usize>().unwrap() - 1;
    let at = |wanted: Action| done.iter().position(|action| *action == wanted);
    let loads = |p: usize| -> Vec<usize> {
        let is = |action: &Action| matches!(action, Action::Load { package, .. } if *package == p);
        (0..done.len()).filter(|i| is(&done[*i])).collect()
    };
    match name {
        "deepest-area" => {
            let deepest = |action: &&Action| matches!(action, Action::Load { area, .. } if *area + 1 == task.areas);
            done.iter().filter(deepest).count()
        }
        "no-two-drives" => {
            let drives = |two: &&[Action]| two.iter().all(|action| matches!(action, Action::Drive { .. }));
            done.windows(2).filter(drives).count()
        }
        "at-once" => {
            let late = |i: &usize| {
                matches!(done[*i], Action::Unload { .. }) && !matches!(done.get(i + 1), Some(Action::Deliver { .. }))
            };
            (0..done.len()).filter(late).count()
        }
        "wait-for-p2" => {
            let until = loads(1).first().copied().unwrap_or(done.len());
            done[..until].iter().filter(|action| **action == Action::Drive { to: task.packages[0].to }).count()
        }
        "p1-comes-out" => {
            let left_in = |load: &usize| !done[*load..].contains(&Action::Unload { package: 0 });
            usize::from(loads(0).last().is_some_and(left_in))
        }
        _ => match name.split_once("-before-") {
            Some((first, second)) => {
                let first = at(Action::Deliver { package: package(first) });
                let second = at(Action::Deliver { package: package(second) });
                usize::from(second.is_some_and(|second| first.is_none_or(|first| second < first)))
            }
            None => loads(package(name.strip_prefix("once-").unwrap())).len().saturating_sub(1),
        },
    }
}

/// The number of violations of each rule, by its monitor.
fn monitored_violations(task: &Task, done: &[Action]) -> Vec<(String, usize)> {
    let mut monitor = RuleMonitor::new(task);
    let mut broken: Vec<String> = done.iter().flat_map(|action| monitor.step(*action)).collect();
    broken.extend(monitor.unmet());
    let of = |name: &str| broken.iter().filter(|rule| *rule == name).count();
    task.rules.iter().map(|rule| (rule.name.clone(), of(&rule.name))).collect()
}

/// A solution: delivers one package after the other.
fn solution(task: &Task) -> Vec<Action> {
    let mut truck = Truck::new(task);
    let mut done = Vec::new();
    for package in task.order() {
        let Package { from, to, .. } = task.packages[package];
        let drive = (truck.current_place() != from).then_some(Action::Drive { to: from });
        let rest = [
            Action::Load { package, area: 0 },
            Action::Drive { to },
            Action::Unload { package },
            Action::Deliver { package },
        ];
        for action in drive.into_iter().chain(rest) {
            truck.perform(action).unwrap();
            done.push(action);
        }
    }
    assert_eq!(truck.in_time(), task.packages.len(), "everything comes in time");
    done
}

#[test]
fn every_task_has_a_solution_that_keeps_all_rules() {
    let mut rules = 0;
    for (seed, n) in (0..400).zip(0usize..) {
        let (packages, places, areas) = (2 + n % 8, 3 + n % 6, 2 + n % 3);
        let task = Task::random(seed, packages, places, areas).unwrap();
        let done = solution(&task);
        for (rule, broken) in monitored_violations(&task, &done) {
            assert_eq!((broken, count_violations(&rule, &task, &done)), (0, 0), "seed {seed}: {rule}");
            rules += 1;
        }
    }
    assert!(rules > 3_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_monitor_agrees_with_a_direct_count_of_violations(
        (seed, packages, places, areas) in (0u64..1_000, 2usize..5, 3usize..5, 2usize..4),
        choices in prop::collection::vec(0usize..1_000, 0..60),
    ) {
        let task = Task::random(seed, packages, places, areas).unwrap();
        let mut truck = Truck::new(&task);
        let mut done = Vec::new();
        let mut drives = 0;
        for choice in choices {
            let possible = truck.possible_actions();
            let action = possible[choice % possible.len()];
            let before = truck.clone();
            truck.perform(action).unwrap();
            done.push(action);
            drives += u32::from(matches!(action, Action::Drive { .. }));
            prop_assert_eq!(truck.hour(), drives);
            prop_assert_eq!(truck.packages().len(), packages);
            for area in 0..areas {
                let held = truck.packages().iter().filter(|at| **at == PackageLocation::In(area)).count();
                prop_assert!(held <= 1);
            }
            // An action moves at most one package, and never a delivered one.
            let moved = before.packages().iter().zip(truck.packages()).filter(|(a, b)| a != b);
            let moved: Vec<_> = moved.collect();
            prop_assert!(moved.len() <= 1);
            prop_assert!(!moved.iter().any(|(from, _)| matches!(from, PackageLocation::Delivered(_))));
            prop_assert!(truck.in_time() <= truck.delivered());
            if let Action::Deliver { package } = action {
                prop_assert_eq!(truck.current_place(), task.packages[package].to);
            }
        }
        // An impossible action changes nothing.
        let before = truck.clone();
        for action in [Action::Drive { to: truck.current_place() }, Action::Unload { package: 99 }] {
            prop_assert!(truck.perform(action).is_err());
        }
        prop_assert_eq!(&before, &truck);
        for (rule, broken) in monitored_violations(&task, &done) {
            prop_assert_eq!(broken, count_violations(&rule, &task, &done), "{} of {:?}", rule, done);
        }
    }
}
