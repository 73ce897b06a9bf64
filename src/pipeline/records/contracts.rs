//! How the contracts of the steps compare with the specification: an independent reading of what each step does.

use std::fmt::Write as _;

use serde::Serialize;

use super::revision::Revision;
use super::view::RunView;
use crate::pipeline::machine::{ALL_STEPS, Review};
use crate::tla::{
    ANY_STEP, CheckOutcome, FurtherProperty, FurtherVerdict, PropertyStatus, SAME_LABEL, StepContract, UntakenCase,
    Verdict,
};

/// A step with the result of its contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepAgreement {
    pub step: String,
    pub process: String,
    #[serde(flatten)]
    pub agreement: Agreement,
    /// Variables that its contract leaves free.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub free_variables: Vec<String>,
    /// The cases of its contract that no reachable step is known to take, each with its line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untaken_cases: Vec<String>,
}

/// What the check of a contract showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "agreement", rename_all = "snake_case")]
pub enum Agreement {
    /// All of its properties hold, and the step was taken.
    Agrees,
    /// These properties are violated.
    Disagrees { violated: Vec<String> },
    /// The step was never taken, so nothing was compared.
    NotTaken,
    /// The check decided too little.
    Undecided { reason: String },
    /// Nothing is checked, because the documents leave this step open or, without `pc`, another one.
    Free { reason: String },
}

impl Agreement {
    pub fn words(&self) -> String {
        match self {
            Self::Agrees => "agrees with an independent reading of the documents".to_owned(),
            Self::Disagrees { violated } => {
                format!("disagrees with an independent reading of the documents ({} violated)", violated.join(", "))
            }
            Self::NotTaken => "was never taken, so its contract was not tested".to_owned(),
            Self::Undecided { reason } => format!("was not decided: {reason}"),
            Self::Free { reason } => format!("has no contract that is checked: {reason}"),
        }
    }
}

/// The results for all steps, in the order of the algorithm.
fn compare(contracts: &[StepContract], check: Option<&CheckOutcome>) -> Vec<StepAgreement> {
    let cases = check.map(|check| check.bounds.untaken_cases.as_slice()).unwrap_or_default();
    let untaken = |step: &StepContract| {
        let of_step = cases.iter().filter(|case| case.step == step.label);
        of_step.map(UntakenCase::words).collect()
    };
    let compare_step = |step: &StepContract| StepAgreement {
        step: step.label.clone(),
        process: step.process.clone(),
        agreement: agreement(step, contracts, check),
        free_variables: step.free_variables.clone(),
        untaken_cases: untaken(step),
    };
    contracts.iter().map(compare_step).collect()
}

fn agreement(step: &StepContract, all: &[StepContract], check: Option<&CheckOutcome>) -> Agreement {
    if step.checked_by.is_empty() {
        let reason = if step.is_free {
            step.free_words()
        } else {
            "no property checks it: another step, which the documents leave open, looks the same to the checker, or the \
             check has a constraint"
                .to_owned()
        };
        return Agreement::Free { reason };
    }
    let Some(check) = check else { return Agreement::Undecided { reason: "it was not checked".to_owned() } };
    let is_violated = |name: &&String| check.property_status(name) == PropertyStatus::Violated;
    let violated: Vec<&String> = step.checked_by.iter().filter(is_violated).collect();
    // A property about several steps is violated by the one that its counterexample ends with.
    let own: Vec<String> = violated
        .iter()
        .filter(|name| violating_step(check, all, name).is_none_or(|by| by == step.label || by == step.process))
        .map(|name| (*name).clone())
        .collect();
    if !own.is_empty() {
        return Agreement::Disagrees { violated: own };
    }
    if let Some(name) = violated.first() {
        return Agreement::Undecided { reason: format!("{name} is violated by another step") };
    }
    let open = step.checked_by.iter().filter(|name| !holds_at_the_start(check, name));
    let open = open.map(|name| (name, check.property_status(name))).find_map(|(name, status)| match status {
        PropertyStatus::Undecided(reason) => Some(reason.to_owned()),
        PropertyStatus::NotChecked => Some(format!("{name} was not checked")),
        PropertyStatus::Holds | PropertyStatus::Violated => None,
    });
    if let Some(reason) = open {
        return Agreement::Undecided { reason };
    }
    if step.process.is_empty() {
        return Agreement::Agrees;
    }
    match times_taken(step, all, check) {
        Some(0) => Agreement::NotTaken,
        Some(_) => Agreement::Agrees,
        None => Agreement::Undecided { reason: "the check does not say whether it was taken".to_owned() },
    }
}

/// How often the check took the step. Without `pc` the action has the name of the process, or is `Next` itself.
fn times_taken(step: &StepContract, all: &[StepContract], check: &CheckOutcome) -> Option<u64> {
    let actions = check.coverage.as_deref()?;
    let is_only_step = all.iter().filter(|other| !other.process.is_empty()).count() == 1;
    let names = [Some(step.label.as_str()), Some(step.process.as_str()), is_only_step.then_some("Next")];
    names.into_iter().flatten().find_map(|name| {
        let mut of_name = actions.iter().filter(|action| action.name() == name).map(|action| action.taken).peekable();
        of_name.peek().is_some().then(|| of_name.sum())
    })
}

/// The label or process of the step with which the counterexample to a contract of several steps ends; `None` for a contract of
/// a single step, or if the step has neither name.
fn violating_step<'c>(check: &'c CheckOutcome, all: &[StepContract], name: &str) -> Option<&'c str> {
    if ![SAME_LABEL, ANY_STEP].contains(&name) {
        return None;
    }
    let action = check.counterexample_to(name)?.steps.last()?.action.as_deref()?;
    let by = action.split('(').next()?;
    all.iter().any(|step| step.label == by || step.process == by).then_some(by)
}

/// Whether a property of the initial states alone was decided and holds.
fn holds_at_the_start(check: &CheckOutcome, name: &str) -> bool {
    let holds = |further: &FurtherProperty| further.name == name && further.verdict == FurtherVerdict::Holds;
    let is_decided = check.verdict == Verdict::Holds && check.properties.iter().any(|listed| listed == name);
    check.is_initial_only(name) && (is_decided || check.further.iter().any(holds))
}

impl RunView {
    /// How each step of the current specification compares with its contract; `None` if none were added to it.
    pub fn step_agreements(&self) -> Option<Vec<StepAgreement>> {
        self.specification.contracts.as_ref().map(|contracts| compare(contracts, self.fresh_check()))
    }

    /// The steps without a contract that the last check of this specification decided, unless the review accepts that.
    pub fn steps_without_contract(&self, review: Option<&Review>) -> Vec<String> {
        if !self.settings.routing.contracts {
            return Vec::new();
        }
        let Some(steps) = self.step_agreements() else { return vec![ALL_STEPS.to_owned()] };
        let is_decided = |agreement: &Agreement| {
            matches!(agreement, Agreement::Agrees | Agreement::Disagrees { .. } | Agreement::NotTaken)
        };
        let is_accepted = |label: &str| review.is_some_and(|review| review.accepts_without_contract(label));
        let open = steps.into_iter().filter(|step| !is_decided(&step.agreement) && !is_accepted(&step.step));
        open.map(|step| step.step).collect()
    }
}

impl Revision {
    /// How each of its steps compares with its contract; `None` without contracts.
    pub fn step_agreements(&self) -> Option<Vec<StepAgreement>> {
        self.contracts.as_ref().map(|contracts| compare(contracts, self.check.as_ref()))
    }
}

/// `14 of 14 steps and the initial state agree with an independent reading of the documents`, and what does not.
pub fn agreement_line(steps: &[StepAgreement]) -> String {
    // The first one is the initial state, which no process takes.
    let is_step = |step: &&StepAgreement| !step.process.is_empty();
    let agrees = |step: &&StepAgreement| step.agreement == Agreement::Agrees;
    let agreeing = steps.iter().filter(is_step).filter(agrees).count();
    let start =
        if steps.iter().filter(agrees).any(|step| step.process.is_empty()) { " and the initial state" } else { "" };
    let named = |is_it: &dyn Fn(&Agreement) -> bool| {
        let names: Vec<&str> = steps.iter().filter(|s| is_it(&s.agreement)).map(|s| s.step.as_str()).collect();
        names.join(", ")
    };
    let rest = [
        ("disagree", named(&|a| matches!(a, Agreement::Disagrees { .. }))),
        ("never taken", named(&|a| matches!(a, Agreement::NotTaken))),
        ("not decided", named(&|a| matches!(a, Agreement::Undecided { .. }))),
        ("not checked", named(&|a| matches!(a, Agreement::Free { .. }))),
    ];
    let mut line = format!(
        "{agreeing} of {} steps{start} agree with an independent reading of the documents",
        steps.iter().filter(is_step).count()
    );
    for (words, names) in rest.iter().filter(|(_, names)| !names.is_empty()) {
        let _ = write!(line, "; {words}: {names}");
    }
    let untaken: Vec<&str> =
        steps.iter().filter(|step| !step.untaken_cases.is_empty()).map(|step| step.step.as_str()).collect();
    if !untaken.is_empty() {
        let _ = write!(line, "; with a documented case that no step is known to take: {}", untaken.join(", "));
    }
    line
}
