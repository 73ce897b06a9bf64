//! The laws of a run: all guards with their owners, as rules of a policy. They are compiled in; `policy show` prints them,
//! and an audit of a journal asks them again.

use std::fmt::Write as _;

use super::guard::{ApprovalClause, FlawClause};
use super::routes::Row;
use super::station::Station;

/// A formula of causal past logic that a lifeline's decision rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Law {
    /// Which decision it guards: `approval`, `flaw` or `routing`.
    pub guard: &'static str,
    /// Its name: a clause, or a row of the routing table.
    pub name: String,
    /// The lifelines that decide.
    pub owners: Vec<&'static str>,
    /// What has to hold.
    pub formula: &'static str,
    /// The same in words.
    pub words: &'static str,
}

/// The default policy, in the order in which it is looked at.
pub fn laws() -> Vec<Law> {
    let review = || vec![Station::Review.name()];
    let approval = ApprovalClause::ALL.into_iter().map(|clause| Law {
        guard: "approval",
        name: clause.name(),
        owners: review(),
        formula: clause.formula(),
        words: clause.demands(),
    });
    let flaw = FlawClause::ALL.into_iter().map(|clause| Law {
        guard: "flaw",
        name: clause.name(),
        owners: review(),
        formula: clause.formula(),
        words: clause.demands(),
    });
    let routing = Row::ALL.into_iter().map(|row| Law {
        guard: "routing",
        name: row.name(),
        owners: owners(row),
        formula: row.guard(),
        words: row.words(),
    });
    approval.chain(flaw).chain(routing).collect()
}

/// Whose decision a row is. To stop and to go on is the run's own.
fn owners(row: Row) -> Vec<&'static str> {
    match row {
        Row::Stopped | Row::Resumed => vec!["run"],
        row => row.owners(),
    }
}

/// The default policy as a file that `audit` takes: what a run was approved by or claimed a flaw by held at that decision,
/// and so did the formula of each row that was taken.
pub fn default_policy() -> String {
    let mut text = String::from(
        "# The laws of a run, as they are compiled into tlaforge. `tlaforge audit RUN --policy default` asks them of a\n\
         # journal; this file does the same.\n",
    );
    for law in laws() {
        let (row, formula) = match law.guard {
            "approval" => (Row::Approved, law.formula.to_owned()),
            "flaw" => (Row::FlawClaimed, law.formula.to_owned()),
            _ => {
                let Some(row) = Row::ALL.into_iter().find(|row| row.name() == law.name) else { continue };
                (row, law.formula.to_owned())
            }
        };
        // What the run itself decides, to stop and to go on, is no choice of a station and stands in other events.
        for owner in law.owners.iter().filter(|owner| **owner != "run") {
            let id = match law.owners.len() {
                1 => format!("{}/{}", law.guard, law.name),
                _ => format!("{}/{}/{owner}", law.guard, law.name),
            };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n[[rule]]\nid = \"{id}\"\nowner = \"{owner}\"\nwhen = 'name = \"routed\" & row = \"{}\"'\nformula = \
                 '{formula}'\ndescription = \"{}\"\n",
                row.name(),
                law.words.replace('\\', "\\\\").replace('"', "\\\"")
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::log::JOURNAL_LIFELINES;
    use crate::monitor::{Policy, Scope};
    use crate::temporal::Formulas;

    #[test]
    fn the_default_policy_is_one_that_an_audit_takes() {
        let policy = Policy::read(&default_policy(), &mut Formulas::new()).unwrap();
        assert!(policy.rules.len() > 60);
        for rule in &policy.rules {
            let Scope::Causal { owner, .. } = &rule.scope else { panic!("{} is not causal", rule.id) };
            assert!(JOURNAL_LIFELINES.contains(&owner.as_str()), "{owner}");
        }
        for law in laws() {
            assert!(!law.words.is_empty() && !law.owners.is_empty(), "{law:?}");
        }
    }
}
