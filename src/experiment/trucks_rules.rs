//! The rules of a truck task, each in words and as a formula over the actions, and an action as a record for them.

use super::trucks::Action;
use super::trucks_task::Task;
use crate::monitor::trac::{Decision, Monitor, Reset};
use crate::temporal::{Formulas, Record, ResidualCost, Value};

/// A rule over the order of actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// As the driver is told.
    pub words: String,
    /// As it is watched.
    pub formula: String,
}

impl Rule {
    fn new(name: impl Into<String>, words: impl Into<String>, formula: impl Into<String>) -> Self {
        Self { name: name.into(), words: words.into(), formula: formula.into() }
    }

    /// The rules of a task.
    pub(super) fn all(task: &Task) -> Vec<Self> {
        let of = |action: &str, package: usize| format!("(action = \"{action}\" & package = \"p{}\")", package + 1);
        let mut rules = Vec::new();
        for package in 0..task.packages.len() {
            rules.push(Self::new(
                format!("once-p{}", package + 1),
                format!("p{} is loaded at most once.", package + 1),
                format!("G ({load} -> N G !{load})", load = of("load", package)),
            ));
        }
        for pair in task.order().chunks_exact(2) {
            let (first, second) = (pair[0], pair[1]);
            rules.push(Self::new(
                format!("p{}-before-p{}", first + 1, second + 1),
                format!("p{} is delivered before p{} is.", first + 1, second + 1),
                format!("!{} W {}", of("deliver", second), of("deliver", first)),
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
                format!("!(action = \"drive\" & to = \"{wait}\") W {}", of("load", 1)),
            ),
            Self::new(
                "p1-comes-out",
                "Whenever p1 has been loaded, it is unloaded later on.",
                format!("G ({} -> F {})", of("load", 0), of("unload", 0)),
            ),
        ]);
        rules
    }
}

/// The rules of a task, watched action by action. A rule that was broken is watched again (TRAC with reset); one that no
/// way to go on can break any more is not: what it asked for once is not asked for twice.
#[derive(Debug, Clone)]
pub struct Watch<'a> {
    task: &'a Task,
    monitor: Monitor,
}

impl<'a> Watch<'a> {
    /// Before the first action.
    pub fn new(task: &'a Task) -> Self {
        let mut monitor = Monitor::new(Reset::AfterVerdict);
        for rule in &task.rules {
            let mut formulas = Formulas::new();
            let formula = formulas.parse(&rule.formula).expect("the rules are written here");
            monitor.add(&rule.name, &formulas, formula).expect("their names differ, and all look ahead");
        }
        Self { task, monitor }
    }

    /// Takes the next action: the rules that it breaks, by name.
    pub fn step(&mut self, action: Action) -> Vec<String> {
        let mut broken = Vec::new();
        for report in self.monitor.step_record(&Step::of(action, self.task)) {
            match report.decision {
                Some(Decision::Violated) => broken.push(report.rule.to_string()),
                Some(Decision::Satisfied) => drop(self.monitor.remove(&report.rule)),
                None => {}
            }
        }
        broken
    }

    /// The rules that are owed something where the trip ends now, by name.
    pub fn unmet(&self) -> Vec<String> {
        let names = self.monitor.rules().iter().map(|rule| rule.name().to_owned());
        names.filter(|name| self.monitor.ending(name).is_some_and(|ending| !ending.holds())).collect()
    }

    /// How much is owed under all rules together.
    pub fn debt(&mut self) -> (usize, ResidualCost) {
        self.monitor.debt()
    }

    /// What is owed under a rule, in words.
    pub fn owed_in_words(&mut self, rule: &str) -> String {
        self.monitor.owed_in_words(rule).unwrap_or_default()
    }
}

/// An action that was done, as formulas read it: `action`, and `package`, `area`, `to` where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    action: &'static str,
    package: Option<String>,
    area: Option<String>,
    to: Option<&'static str>,
}

impl Step {
    /// The record of an action.
    pub fn of(action: Action, task: &Task) -> Self {
        let p = |package: usize| Some(format!("p{}", package + 1));
        let plain = |action| Self { action, package: None, area: None, to: None };
        match action {
            Action::Load { package, area } => {
                Self { package: p(package), area: Some(format!("a{}", area + 1)), ..plain("load") }
            }
            Action::Unload { package } => Self { package: p(package), ..plain("unload") },
            Action::Drive { to } => Self { to: task.places.get(to).copied(), ..plain("drive") },
            Action::Deliver { package } => Self { package: p(package), ..plain("deliver") },
            Action::Done => plain("done"),
        }
    }
}

impl Record for Step {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        let text = match name {
            "action" => Some(self.action),
            "package" => self.package.as_deref(),
            "area" => self.area.as_deref(),
            "to" => self.to,
            _ => None,
        };
        text.map(|text| Value::Text(text.into()))
    }
}
