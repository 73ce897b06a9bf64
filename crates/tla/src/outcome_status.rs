//! The verdict of each property of a check. The verdict of the whole check names only the first violation.

use super::outcome::{
    ASSERTION, CheckOutcome, DEADLOCK, FurtherProperty, FurtherVerdict, Trace, Verdict, Violation, ViolationKind,
};

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
        if self.first_violated() == Some(name) {
            return PropertyStatus::Violated;
        }
        match self.further.iter().find(|further| further.name == name).map(|further| &further.verdict) {
            Some(FurtherVerdict::Violated { .. }) => return PropertyStatus::Violated,
            Some(FurtherVerdict::Undecided { reason, .. }) => return PropertyStatus::Undecided(reason),
            // A verdict from the initial states alone, or about a step that is always enabled, does not count.
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

    /// The violated property that a model means: `deadlock` for `Deadlock`, for example.
    pub fn violated_name(&self, given: &str) -> Option<&str> {
        self.violated_names().find(|name| name.eq_ignore_ascii_case(given))
    }

    /// The counterexample to this property, if it is violated and has one.
    pub fn counterexample_to(&self, name: &str) -> Option<&Trace> {
        if self.first_violated() == Some(name) {
            return self.trace.as_ref();
        }
        let further = self.further.iter().find(|further| further.name == name)?;
        if let FurtherVerdict::Violated { trace, .. } = &further.verdict { trace.as_ref() } else { None }
    }

    /// The outcome as if this violated property had been found violated first, with its counterexample and the results of
    /// further runs on it; `None` if it is not violated.
    pub fn focused_on(&self, name: &str) -> Option<Self> {
        if self.first_violated() == Some(name) {
            return Some(self.clone());
        }
        let further = self.further.iter().find(|further| further.name == name)?;
        let FurtherVerdict::Violated { kind, trace, probes } = &further.verdict else { return None };
        let name = (!matches!(kind, ViolationKind::Deadlock | ViolationKind::Assertion)).then(|| name.to_owned());
        let verdict = Verdict::Violated { violated: Violation { kind: *kind, name } };
        Some(Self { verdict, trace: trace.clone(), probes: probes.clone(), ..self.clone() })
    }

    fn first_violated(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Violated { violated } => violated.property(),
            _ => None,
        }
    }

    /// The names of the properties that the check found violated, the first violation first.
    pub fn violated_names(&self) -> impl Iterator<Item = &str> {
        let further = self.further.iter().filter(|f| matches!(f.verdict, FurtherVerdict::Violated { .. }));
        self.first_violated().into_iter().chain(further.map(|further| further.name.as_str()))
    }

    /// Whether this check decided, within its bounds, if the named property holds.
    pub fn decided(&self, name: &str) -> bool {
        matches!(self.property_status(name), PropertyStatus::Holds | PropertyStatus::Violated)
    }

    /// Whether a run that explored every state found that this invariant holds, or that no deadlock occurs.
    fn is_decided_safety(&self, further: &FurtherProperty) -> bool {
        let is_safety = further.name == DEADLOCK || self.invariants.contains(&further.name);
        is_safety && further.verdict == FurtherVerdict::Holds
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
            (Verdict::Holds, _) => true,
            // Without an invariant nothing says that the run for safety came to a verdict.
            (_, Some(ViolationKind::Property | ViolationKind::ActionProperty) | None) => !self.invariants.is_empty(),
            // After another violation, the further runs found no failed assertion if they decided anything in every state.
            (_, Some(_)) => name == ASSERTION && self.further.iter().any(|further| self.is_decided_safety(further)),
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
            FurtherVerdict::Holds if outcome.cannot_deadlock(&name) => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;
    use crate::outcome::{Checker, Statistics};

    fn outcome(verdict: Verdict, invariants: &[&str], properties: &[&str]) -> CheckOutcome {
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        CheckOutcome {
            verdict,
            statistics: Statistics::default(),
            bounds: Bounds { deadlock_checked: true, ..Bounds::default() },
            coverage: None,
            branches: None,
            trace: None,
            invariants: names(invariants),
            properties: names(properties),
            further: Vec::new(),
            probes: None,
            larger_bounds: Vec::new(),
            witnesses: Vec::new(),
            warnings: Vec::new(),
            checker: Checker::Tlc,
            version: String::new(),
            confirmation: None,
        }
    }

    fn violated(kind: ViolationKind, name: Option<&str>) -> Verdict {
        Verdict::Violated { violated: Violation { kind, name: name.map(str::to_owned) } }
    }

    #[test]
    fn a_check_decides_only_the_properties_that_it_checked_to_the_end() {
        use ViolationKind::{Assertion, Deadlock, Invariant, Property};
        let inconclusive = || Verdict::inconclusive("a constraint");
        let (i, p): (&[&str], &[&str]) = (&["A", "B"], &["P", "Q"]);
        for (verdict, invariants, properties, decided) in [
            (Verdict::Holds, i, p, "A B P Q Deadlock Assertion"),
            (violated(Invariant, Some("A")), i, &[], "A"),
            (violated(Deadlock, None), i, &[], "Deadlock"),
            (violated(Assertion, None), i, &[], "Assertion"),
            (violated(Property, Some("P")), i, p, "A B P Deadlock Assertion"),
            // The run for temporal properties was bounded, or the other one was.
            (inconclusive(), i, &[], "A B Deadlock Assertion"),
            (inconclusive(), &[], p, "P Q"),
            (inconclusive(), &[], &[], ""),
        ] {
            let outcome = outcome(verdict, invariants, properties);
            let all = ["A", "B", "P", "Q", "Deadlock", "Assertion", "Unknown"];
            let found: Vec<&str> = all.into_iter().filter(|name| outcome.decided(name)).collect();
            assert_eq!(found.join(" "), decided, "{:?}", outcome.verdict);
        }
        let mut unchecked = outcome(Verdict::Holds, i, p);
        unchecked.bounds.deadlock_checked = false;
        assert!(!unchecked.decided("Deadlock"));
    }

    #[test]
    fn after_a_violation_each_property_has_the_verdict_of_the_further_runs() {
        use PropertyStatus::{Holds, NotChecked, Undecided, Violated};
        let mut outcome = outcome(violated(ViolationKind::Invariant, Some("A")), &["A", "B", "C"], &[]);
        assert_eq!(outcome.property_status("B"), Undecided("the check ended at the first violation"));
        let reason = "no time was left for it".to_owned();
        let further = [
            ("B", FurtherVerdict::Violated { kind: ViolationKind::Invariant, trace: None, probes: None }),
            ("C", FurtherVerdict::Holds),
            ("Start", FurtherVerdict::Holds),
            ("P", FurtherVerdict::Undecided { reason, timed_out: true }),
        ];
        outcome.further = further.map(|(name, verdict)| FurtherProperty { name: name.to_owned(), verdict }).to_vec();
        outcome.bounds.initial_state_properties = vec!["Start".to_owned()];
        let statuses = ["A", "B", "C", "P", "Start", "Unknown"].map(|name| outcome.property_status(name));
        assert_eq!(statuses, [Violated, Violated, Holds, Undecided("no time was left for it"), NotChecked, NotChecked]);
        assert_eq!(
            status_sentence(&outcome).as_deref(),
            Some("violated: A, B; holds: C, Start (initial states only); undecided: P (no time was left for it)")
        );
        let json = serde_json::to_value(&outcome).unwrap();
        assert_eq!(json["further"][1], serde_json::json!({"name": "C", "verdict": "holds"}));
        assert_eq!(serde_json::from_value::<CheckOutcome>(json).unwrap(), outcome);
    }
}
