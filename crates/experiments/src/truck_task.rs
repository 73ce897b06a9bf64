//! Random tasks for the truck: packages, places, deadlines, and the rules for the driver. The texts of tasks and rules go
//! into prompts, and recordings depend on them.

const PLACES: [&str; 8] = ["depot", "harbour", "mill", "quarry", "market", "station", "orchard", "airfield"];
/// Maximum number of packages of a task.
const MAX_PACKAGES: usize = 9;
/// Maximum number of areas of the truck.
const MAX_AREAS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    /// The place where it is at first.
    pub from: usize,
    pub to: usize,
    /// The last hour in which a delivery is in time.
    pub by: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// All places are connected with each other.
    pub places: Vec<&'static str>,
    /// The number of areas of the truck. They are in a row: a package gets into the second one only through the first.
    pub areas: usize,
    pub packages: Vec<Package>,
    /// The place where the truck is at first.
    pub start: usize,
    pub rules: Vec<Rule>,
}

impl Task {
    /// A random task with a number of packages (2 to 9), places (3 to 8) and areas (2 to 4); `Err` describes a number out of
    /// range. The same seed makes the same task. All packages can be delivered in time without breaking a rule: one at a
    /// time, in the order of [`Task::order`].
    pub fn random(seed: u64, packages: usize, places: usize, areas: usize) -> Result<Self, String> {
        let check_range = |what: &str, n: usize, least: usize, most: usize| {
            let in_range = (least..=most).contains(&n);
            if in_range { Ok(()) } else { Err(format!("{n} {what}: it must be from {least} to {most}")) }
        };
        check_range("packages", packages, 2, MAX_PACKAGES)?;
        check_range("places", places, 3, PLACES.len())?;
        check_range("areas", areas, 2, MAX_AREAS)?;
        let mut rng = fastrand::Rng::with_seed(seed);
        // Ends, because there are at least three places and at most two are excluded.
        let mut random_place = |excluded: &[usize]| loop {
            let place = rng.usize(0..places);
            if !excluded.contains(&place) {
                return place;
            }
        };
        let mut all = Vec::new();
        for _ in 0..packages {
            let from = random_place(&[]);
            all.push(Package { from, to: random_place(&[from]), by: 0 });
        }
        // Rule `wait-for-p2` keeps the truck from the destination of p1 until p2 is loaded, so p2 must not be there.
        if all[1].from == all[0].to {
            all[1].from = random_place(&[all[0].to, all[1].to]);
        }
        let start = random_place(&[]);
        let mut task = Self { places: PLACES[..places].to_vec(), areas, packages: all, start, rules: Vec::new() };
        let (mut at, mut hour) = (start, 0);
        for package in task.order() {
            let Package { from, to, .. } = task.packages[package];
            // One drive to the package, if the truck is elsewhere, and one to its destination.
            hour += u32::from(at != from) + 1;
            at = to;
            // An hour more than needed.
            task.packages[package].by = hour + 1;
        }
        task.rules = Rule::all(&task);
        Ok(task)
    }

    /// An order of deliveries that the rules allow.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.packages.len()).collect();
        for pair in order.chunks_exact_mut(2) {
            pair.swap(0, 1);
        }
        order
    }

    /// The deliveries in words.
    pub fn describe_goal(&self) -> String {
        let goal = |(i, package): (usize, &Package)| {
            format!("Deliver p{} at {}, in hour {} at the latest.", i + 1, self.places[package.to], package.by)
        };
        self.packages.iter().enumerate().map(goal).collect::<Vec<_>>().join("\n")
    }

    /// The world and the actions in words.
    pub fn describe_actions(&self) -> String {
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

    /// The rules in words.
    pub fn describe_rules(&self) -> String {
        self.rules.iter().map(|rule| format!("- {}", rule.words)).collect::<Vec<_>>().join("\n")
    }
}

/// A rule about the order of actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub name: String,
    /// The rule in words, for the prompt of the driver.
    pub words: String,
    pub formula: String,
}

impl Rule {
    fn new(name: impl Into<String>, words: impl Into<String>, formula: impl Into<String>) -> Self {
        Self { name: name.into(), words: words.into(), formula: formula.into() }
    }

    fn all(task: &Task) -> Vec<Self> {
        let action_on =
            |action: &str, package: usize| format!("(action = \"{action}\" & package = \"p{}\")", package + 1);
        let mut rules = Vec::new();
        for package in 0..task.packages.len() {
            rules.push(Self::new(
                format!("once-p{}", package + 1),
                format!("p{} is loaded at most once.", package + 1),
                format!("G ({load} -> N G !{load})", load = action_on("load", package)),
            ));
        }
        // `order` swaps each pair, so the rule contradicts the order in which the task names the packages.
        for pair in task.order().chunks_exact(2) {
            let (first, second) = (pair[0], pair[1]);
            rules.push(Self::new(
                format!("p{}-before-p{}", first + 1, second + 1),
                format!("p{} is delivered before p{} is.", first + 1, second + 1),
                format!("!{} W {}", action_on("deliver", second), action_on("deliver", first)),
            ));
        }
        let (deepest, wait) = (task.areas, task.places[task.packages[0].to]);
        rules.extend([
            Self::new(
                "deepest-area",
                format!("Nothing is ever loaded into a{deepest}."),
                format!("G !(action = \"load\" & area = \"a{deepest}\")"),
            ),
            Self::new(
                "no-two-drives",
                "The truck does not drive twice in a row: between two drives something else is done.",
                "G (action = \"drive\" -> N !(action = \"drive\"))",
            ),
            Self::new(
                "at-once",
                "Right after an unloading, the next action is a delivery.",
                "G (action = \"unload\" -> X action = \"deliver\")",
            ),
            Self::new(
                "wait-for-p2",
                format!("The truck does not drive to {wait} before p2 has been loaded."),
                format!("!(action = \"drive\" & to = \"{wait}\") W {}", action_on("load", 1)),
            ),
            Self::new(
                "p1-comes-out",
                "Whenever p1 has been loaded, it is unloaded later on.",
                format!("G ({} -> F {})", action_on("load", 0), action_on("unload", 0)),
            ),
        ]);
        rules
    }
}
