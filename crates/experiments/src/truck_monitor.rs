//! Monitoring of the rules of a truck task, action by action. Knows the actions, and not the state of the truck.

use super::truck::Action;
use super::truck_task::Task;
use tlaforge_monitor::trac::{Decision, Monitor, Reset};
use tlaforge_temporal::{Formulas, Record, ResidualCost, Value};

/// Monitors the rules of a task. A broken rule is reset (TRAC with reset). A satisfied rule is removed: what it required
/// once must not be required a second time.
#[derive(Debug, Clone)]
pub struct RuleMonitor<'a> {
    task: &'a Task,
    monitor: Monitor,
}

impl<'a> RuleMonitor<'a> {
    pub fn new(task: &'a Task) -> Self {
        let mut monitor = Monitor::new(Reset::AfterVerdict);
        for rule in &task.rules {
            let mut formulas = Formulas::new();
            let formula = formulas.parse(&rule.formula).expect("formulas of rules are valid");
            monitor
                .add(&rule.name, &formulas, formula)
                .expect("names of rules differ, and their formulas are about the future");
        }
        Self { task, monitor }
    }

    /// Evaluates the next action; returns the names of the rules that it breaks.
    pub fn step(&mut self, action: Action) -> Vec<String> {
        let mut broken = Vec::new();
        for report in self.monitor.step_record(&ActionRecord::new(action, self.task)) {
            match report.decision {
                Some(Decision::Violated) => broken.push(report.rule.to_string()),
                Some(Decision::Satisfied) => drop(self.monitor.remove(&report.rule)),
                None => {}
            }
        }
        broken
    }

    /// The names of the rules that are violated if the episode ends now.
    pub fn unmet(&self) -> Vec<String> {
        let names = self.monitor.rules().iter().map(|rule| rule.name().to_owned());
        names.filter(|name| self.monitor.ending(name).is_some_and(|ending| !ending.holds())).collect()
    }

    /// The residual cost of all rules together.
    pub fn residual_cost(&mut self) -> (usize, ResidualCost) {
        self.monitor.residual_cost()
    }

    /// What a rule still requires, in words.
    pub fn residual_in_words(&mut self, rule: &str) -> String {
        self.monitor.residual_in_words(rule).unwrap_or_default()
    }
}

/// An action as a record for formulas: `action`, and `package`, `area` and `to` if it has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRecord {
    action: &'static str,
    package: Option<String>,
    area: Option<String>,
    to: Option<&'static str>,
}

impl ActionRecord {
    pub fn new(action: Action, task: &Task) -> Self {
        let package_name = |package: usize| Some(format!("p{}", package + 1));
        let without_arguments = |action| Self { action, package: None, area: None, to: None };
        match action {
            Action::Load { package, area } => Self {
                package: package_name(package),
                area: Some(format!("a{}", area + 1)),
                ..without_arguments("load")
            },
            Action::Unload { package } => Self { package: package_name(package), ..without_arguments("unload") },
            Action::Drive { to } => Self { to: task.places.get(to).copied(), ..without_arguments("drive") },
            Action::Deliver { package } => Self { package: package_name(package), ..without_arguments("deliver") },
            Action::Done => without_arguments("done"),
        }
    }
}

impl Record for ActionRecord {
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
