//! The verdict of each property of a check. The verdict of the whole check names only the first violation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outcome::{ASSERTION, CheckOutcome, DEADLOCK, Trace, Verdict, ViolationKind};

/// What a check found of a property after another one was violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherProperty {
    /// As [`Violation::property`](super::outcome::Violation::property) names it.
    pub name: String,
    #[serde(flatten)]
    pub verdict: FurtherVerdict,
}

impl FurtherProperty {
    /// Whether it has no verdict for lack of time.
    pub fn is_timed_out(&self) -> bool {
        matches!(self.verdict, FurtherVerdict::Undecided { timed_out: true, .. })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum FurtherVerdict {
    Holds,
    Violated {
        kind: ViolationKind,
        /// Its counterexample, if one was derived in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<Trace>,
    },
    Undecided {
        reason: String,
        /// Whether its run did not end in time, or was not started for lack of time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        timed_out: bool,
    },
}

/// What a check found of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyStatus<'a> {
    Holds,
    Violated,
    /// With the reason.
    Undecided(&'a str),
    /// The check did not check it, or only in the initial states.
    NotChecked,
}

impl CheckOutcome {
    /// What this check found, within its bounds, of the named property; [`DEADLOCK`] is the absence of deadlock,
    /// [`ASSERTION`] all assertions together.
    pub fn property_status(&self, name: &str) -> PropertyStatus<'_> {
        if let Verdict::Violated { violated } = &self.verdict
            && violated.property() == Some(name)
        {
            return PropertyStatus::Violated;
        }
        match self.further.iter().find(|further| further.name == name).map(|further| &further.verdict) {
            Some(FurtherVerdict::Violated { .. }) => return PropertyStatus::Violated,
            Some(FurtherVerdict::Undecided { reason, .. }) => return PropertyStatus::Undecided(reason),
            // What a step that is always enabled decides, or the initial states alone, was not checked.
            Some(FurtherVerdict::Holds) if self.is_initial_only(name) || self.cannot_deadlock(name) => {
                return PropertyStatus::NotChecked;
            }
            Some(FurtherVerdict::Holds) => return PropertyStatus::Holds,
            None => {}
        }
        let is_listed = self.invariants.iter().chain(&self.properties).any(|listed| listed == name);
        match &self.verdict {
            _ if self.holds_by_verdict(name) => PropertyStatus::Holds,
            Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } if is_listed => {
                PropertyStatus::Undecided(reason)
            }
            Verdict::Violated { .. } if is_listed => {
                PropertyStatus::Undecided("the check ended at the first violation")
            }
            _ => PropertyStatus::NotChecked,
        }
    }

    /// Whether the name is that of the absence of deadlock, which nothing could violate.
    fn cannot_deadlock(&self, name: &str) -> bool {
        name == DEADLOCK && !self.bounds.always_enabled.is_empty()
    }

    /// The counterexample to this property, if it is violated and has one.
    pub fn counterexample_to(&self, name: &str) -> Option<&Trace> {
        if let Verdict::Violated { violated } = &self.verdict
            && violated.property() == Some(name)
        {
            return self.trace.as_ref();
        }
        let further = self.further.iter().find(|further| further.name == name)?;
        if let FurtherVerdict::Violated { trace, .. } = &further.verdict { trace.as_ref() } else { None }
    }

    /// The names of the properties that the check found violated, the first violation first.
    pub fn violated_names(&self) -> impl Iterator<Item = &str> {
        let first = match &self.verdict {
            Verdict::Violated { violated } => violated.property(),
            _ => None,
        };
        let further = self.further.iter().filter(|f| matches!(f.verdict, FurtherVerdict::Violated { .. }));
        first.into_iter().chain(further.map(|further| further.name.as_str()))
    }

    /// Whether this check decided, within its bounds, if the named property holds.
    pub fn decided(&self, name: &str) -> bool {
        matches!(self.property_status(name), PropertyStatus::Holds | PropertyStatus::Violated)
    }

    /// Whether the verdict of the whole check implies that the named property holds.
    fn holds_by_verdict(&self, name: &str) -> bool {
        let is_listed = |names: &[String]| names.iter().any(|n| n == name);
        let violated = match &self.verdict {
            Verdict::Violated { violated } => Some(violated.kind),
            _ => None,
        };
        // Temporal properties have a run of their own, which gives the first violation only if the run for invariants
        // found none: a temporal property that is violated first implies that all invariants hold.
        let invariants_hold = match (&self.verdict, violated) {
            (Verdict::Holds, _) | (_, Some(ViolationKind::Property | ViolationKind::ActionProperty)) => true,
            (_, Some(_)) => false,
            (_, None) => !self.invariants.is_empty(),
        };
        let is_safety = is_listed(&self.invariants)
            || name == ASSERTION
            || (name == DEADLOCK && self.bounds.deadlock_checked && !self.cannot_deadlock(name));
        (invariants_hold && is_safety)
            || (violated.is_none() && is_listed(&self.properties) && !self.is_initial_only(name))
    }
}

/// What a check found of each property, in one line: `violated: A, B; holds: C; undecided: D (no time was left for it)`.
/// `None` unless it checked more than the property that is violated first.
pub fn status_sentence(outcome: &CheckOutcome) -> Option<String> {
    let Verdict::Violated { violated } = &outcome.verdict else { return None };
    if outcome.further.is_empty() {
        return None;
    }
    let (mut broken, mut holding, mut open) = (Vec::from_iter(violated.property().map(str::to_owned)), vec![], vec![]);
    for further in &outcome.further {
        let name = further.name.clone();
        match &further.verdict {
            FurtherVerdict::Violated { .. } => broken.push(name),
            FurtherVerdict::Holds if outcome.is_initial_only(&name) => holding.push(name + " (initial states only)"),
            FurtherVerdict::Holds => holding.push(name),
            FurtherVerdict::Undecided { reason, .. } => open.push(format!("{name} ({reason})")),
        }
    }
    let lists = [("violated", broken), ("holds", holding), ("undecided", open)];
    let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = lists.map(|(status, names)| format!("{status}: {}", names.join(", "))).collect();
    Some(parts.join("; "))
}
