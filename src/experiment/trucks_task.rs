//! Tasks for the truck: packages, places, hours, and the rules that the driver is given.

use super::trucks::Package;
use super::trucks_rules::Rule;

/// Places by name.
const PLACES: [&str; 8] = ["depot", "harbour", "mill", "quarry", "market", "station", "orchard", "airfield"];
/// The most packages and areas that a task may have.
const MOST: (usize, usize) = (9, 4);

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The places; from each of them there is a road to each other.
    pub places: Vec<&'static str>,
    /// Areas of the truck in a row; a package gets to the second only past the first.
    pub areas: usize,
    /// The packages.
    pub packages: Vec<Package>,
    /// Where the truck is at first.
    pub start: usize,
    /// What the driver is to keep.
    pub rules: Vec<Rule>,
}

impl Task {
    /// A task of so many packages (2 to 9), places (3 to 8) and areas (2 to 4); `Err` says what is not so. The same seed
    /// makes the same task. All of it can be delivered in time with every rule kept: one package at a time, in the order
    /// of [`Task::order`].
    pub fn random(seed: u64, packages: usize, places: usize, areas: usize) -> Result<Self, String> {
        let within = |what: &str, n: usize, least: usize, most: usize| {
            let fine = (least..=most).contains(&n);
            if fine { Ok(()) } else { Err(format!("{n} {what}: it must be from {least} to {most}")) }
        };
        within("packages", packages, 2, MOST.0)?;
        within("places", places, 3, PLACES.len())?;
        within("areas", areas, 2, MOST.1)?;
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut another = |not: &[usize]| loop {
            let place = rng.usize(0..places);
            if !not.contains(&place) {
                return place;
            }
        };
        let mut all = Vec::new();
        for _ in 0..packages {
            let from = another(&[]);
            all.push(Package { from, to: another(&[from]), by: 0 });
        }
        // The rule that the truck waits with p1's goal until p2 is loaded must leave a way to p2.
        if all[1].from == all[0].to {
            all[1].from = another(&[all[0].to, all[1].to]);
        }
        let start = another(&[]);
        let mut task = Self { places: PLACES[..places].to_vec(), areas, packages: all, start, rules: Vec::new() };
        let (mut at, mut hour) = (start, 0);
        for package in task.order() {
            let Package { from, to, .. } = task.packages[package];
            hour += u32::from(at != from) + 1;
            at = to;
            task.packages[package].by = hour + 1;
        }
        task.rules = Rule::all(&task);
        Ok(task)
    }

    /// The packages in an order that the rules allow.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.packages.len()).collect();
        for pair in order.chunks_exact_mut(2) {
            pair.swap(0, 1);
        }
        order
    }

    /// What has to be done, in words.
    pub fn goal_in_words(&self) -> String {
        let goal = |(i, package): (usize, &Package)| {
            format!("Deliver p{} at {}, in hour {} at the latest.", i + 1, self.places[package.to], package.by)
        };
        self.packages.iter().enumerate().map(goal).collect::<Vec<_>>().join("\n")
    }

    /// What a driver can do, in words.
    pub fn actions_in_words(&self) -> String {
        let areas = (1..=self.areas).map(|area| format!("a{area}")).collect::<Vec<_>>().join(", ");
        format!(
            "The places are {}; a road leads from each to each. The truck has the areas {areas} in a row, a1 next to its \
             only door: an area can be filled or emptied only while every area before it is free.\n\n\
             The actions:\n\
             - `load p1 into a1`: p1 lies where the truck is; that area and every one before it are free.\n\
             - `unload p1`: p1 is in the truck, and every area before its own is free. It lies at the place then.\n\
             - `drive to {}`: any other place. It takes one hour; nothing else takes time.\n\
             - `deliver p1`: p1 lies, unloaded, at the place where it goes, and the truck is there.\n\
             - `done`: nothing more is to be done.",
            self.places.join(", "),
            self.places[1],
        )
    }

    /// The rules, in words.
    pub fn rules_in_words(&self) -> String {
        self.rules.iter().map(|rule| format!("- {}", rule.words)).collect::<Vec<_>>().join("\n")
    }
}
