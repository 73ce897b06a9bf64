//! What a run knows about each requirement, as one status. `facts.md`, the report, its JSON and `meta.json` all show this
//! status, and the approval guard counts the uncovered requirements by it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::event::to_value;
use super::revision::{CoveredRequirement, Revision};
use super::view::RunView;
use crate::pipeline::machine::Review;
use crate::prompt::Requirement;
use crate::tla::{ASSERTION, CheckOutcome, DEADLOCK, PropertyStatus, Verdict, deadlock_sentence};

/// The status of a requirement. The worst property decides: a requirement with one violated property is broken, whatever
/// the others say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum RequirementStatus {
    /// These properties that cover it are violated.
    Broken { by: Vec<String> },
    /// The check ended before it had a verdict on these properties.
    Undecided { by: Vec<String>, why: String },
    /// These properties say that they cover it, and the check did not examine any of them in more than the initial states.
    NotChecked { by: Vec<String>, why: String },
    /// No property says that it covers it.
    Uncovered,
    /// No checked property covers it, and the review accepts that.
    AcceptedUncovered { reason: String },
    /// The check examined these properties, and all of them hold within its bounds.
    Holds {
        by: Vec<String>,
        /// Those of which the review accepts no blind reading, in a run that reads properties blindly: nobody has compared what their
        /// formulas forbid with what they are meant to forbid. Empty in an approved revision.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        unaccepted_readings: Vec<String>,
    },
}

impl RequirementStatus {
    pub fn words(&self) -> String {
        match self {
            Self::Broken { by } => format!("BROKEN by {}", by.join(", ")),
            Self::Undecided { by, why } => format!("UNDECIDED: {} ({why})", by.join(", ")),
            Self::NotChecked { by, why } => format!("NOT CHECKED: {} ({why})", by.join(", ")),
            Self::Uncovered => "NOT COVERED by any property".to_owned(),
            Self::AcceptedUncovered { reason } if reason.is_empty() => "not covered, as the review accepts".to_owned(),
            Self::AcceptedUncovered { reason } => format!("not covered, as the review accepts: {reason}"),
            Self::Holds { by, unaccepted_readings } if unaccepted_readings.is_empty() => {
                format!("holds, checked by {}", by.join(", "))
            }
            Self::Holds { by, unaccepted_readings } => {
                let (by, unaccepted) = (by.join(", "), unaccepted_readings.join(", "));
                format!("holds, checked by {by}; the review accepts no blind reading of {unaccepted}")
            }
        }
    }

    /// Like [`Self::words`], without the reason if it is `previous_reason`, which a reader has just read.
    pub fn words_without_repeated_reason(&self, previous_reason: Option<&str>) -> String {
        match self {
            Self::Undecided { by, .. } if previous_reason.is_some() && self.reason() == previous_reason => {
                format!("UNDECIDED: {} (for the same reason)", by.join(", "))
            }
            Self::NotChecked { by, .. } if previous_reason.is_some() && self.reason() == previous_reason => {
                format!("NOT CHECKED: {} (for the same reason)", by.join(", "))
            }
            _ => self.words(),
        }
    }

    /// Why the check does not decide it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Undecided { why, .. } | Self::NotChecked { why, .. } => Some(why),
            _ => None,
        }
    }

    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Broken { .. })
    }

    /// Whether no checked property covers the requirement and the review does not accept that.
    pub fn lacks_check(&self) -> bool {
        matches!(self, Self::NotChecked { .. } | Self::Uncovered)
    }

    /// The order in a report: what needs a decision first.
    fn urgency(&self) -> u8 {
        match self {
            Self::Broken { .. } => 0,
            Self::Undecided { .. } => 1,
            Self::NotChecked { .. } => 2,
            Self::Uncovered => 3,
            Self::AcceptedUncovered { .. } => 4,
            Self::Holds { .. } => 5,
        }
    }
}

/// A requirement with its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementResult {
    #[serde(flatten)]
    pub requirement: Requirement,
    #[serde(flatten)]
    pub status: RequirementStatus,
}

impl RunView {
    /// The requirements of the specification in work, in their order. `review` can accept that one is not covered.
    pub fn requirement_results(&self, review: Option<&Review>) -> Vec<RequirementResult> {
        let check = self.fresh_check();
        self.covered_requirements().into_iter().map(|covered| result(covered, check, review)).collect()
    }

    /// The requirements of a closed revision, the broken ones first.
    pub fn results_of(&self, revision: &Revision) -> Vec<RequirementResult> {
        let (check, review) = (revision.check.as_ref(), self.reviews.last_of(revision.revision));
        let mut results: Vec<RequirementResult> =
            revision.requirements.iter().cloned().map(|covered| result(covered, check, review)).collect();
        if self.settings.blind_reading {
            let read = self.blind_readings_of(revision);
            let is_accepted =
                |name: &String| read.contains_key(name) && review.is_some_and(|r| r.accepts_reading(name));
            let is_read = |name: &str| match name {
                DEADLOCK => false,
                ASSERTION => self.settings.reads_assertions,
                _ => true,
            };
            let is_unaccepted = |name: &&String| is_read(name) && !is_accepted(name);
            for result in &mut results {
                if let RequirementStatus::Holds { by, unaccepted_readings } = &mut result.status {
                    *unaccepted_readings = by.iter().filter(is_unaccepted).cloned().collect();
                }
            }
        }
        results.sort_by_key(|result| result.status.urgency());
        results
    }

    /// A closed revision for a reader: as in the journal, but each requirement has its status instead of the two lists
    /// that the status is computed from. `blind_reading` says what each property forbids; null if the run reads none.
    /// `contracts` says how each step compares with its contract, if there are any.
    pub fn revision_json(&self, revision: &Revision) -> serde_json::Value {
        let mut json = to_value(revision);
        json["requirements"] = to_value(&self.results_of(revision));
        json["violations"] = to_value(&self.judged_violations(revision));
        let readings = self.settings.blind_reading.then(|| self.blind_readings_of(revision));
        json["blind_reading"] = to_value(&readings);
        if let Some(steps) = revision.step_agreements() {
            json["contracts"] = to_value(&steps);
        }
        json
    }
}

fn result(covered: CoveredRequirement, check: Option<&CheckOutcome>, review: Option<&Review>) -> RequirementResult {
    let status = status(&covered, check, review);
    RequirementResult { requirement: covered.requirement, status }
}

fn status(covered: &CoveredRequirement, check: Option<&CheckOutcome>, review: Option<&Review>) -> RequirementStatus {
    let is_violated =
        |name: &&String| check.is_some_and(|check| check.property_status(name) == PropertyStatus::Violated);
    let broken: Vec<String> = covered.claims().filter(is_violated).cloned().collect();
    if !broken.is_empty() {
        return RequirementStatus::Broken { by: broken };
    }
    let (undecided, unchecked): (Vec<_>, Vec<_>) = covered
        .claimed_by
        .iter()
        .map(|name| (name.clone(), why_no_verdict(check, name)))
        .partition(|(_, why)| matches!(why, NoVerdict::EndedEarly(_)));
    if !undecided.is_empty() {
        let (by, why) = names_and_reasons(undecided);
        return RequirementStatus::Undecided { by, why };
    }
    if !covered.covered_by.is_empty() {
        return RequirementStatus::Holds { by: covered.covered_by.clone(), unaccepted_readings: Vec::new() };
    }
    if let Some(reason) = review.and_then(|review| review.uncovered_reason(&covered.requirement.id)) {
        return RequirementStatus::AcceptedUncovered { reason: reason.to_owned() };
    }
    if unchecked.is_empty() {
        return RequirementStatus::Uncovered;
    }
    let (by, why) = names_and_reasons(unchecked);
    RequirementStatus::NotChecked { by, why }
}

/// The names, and the different reasons, each once.
fn names_and_reasons(missing: Vec<(String, NoVerdict)>) -> (Vec<String>, String) {
    let (names, reasons): (Vec<String>, BTreeSet<String>) = missing
        .into_iter()
        .map(|(name, missing)| {
            let (NoVerdict::EndedEarly(why) | NoVerdict::NotExamined(why)) = missing;
            (name, why)
        })
        .unzip();
    (names, reasons.into_iter().collect::<Vec<_>>().join("; "))
}

/// Why a property has no verdict.
enum NoVerdict {
    /// The check examined it and ended too early.
    EndedEarly(String),
    /// The check did not examine it, or it is vacuous.
    NotExamined(String),
}

fn why_no_verdict(check: Option<&CheckOutcome>, name: &str) -> NoVerdict {
    let Some(check) = check else { return NoVerdict::NotExamined("the current files were not checked".to_owned()) };
    // The further runs after a violation know more than the verdict of the whole check.
    if check.further.iter().any(|further| further.name == name)
        && let PropertyStatus::Undecided(why) = check.property_status(name)
    {
        return NoVerdict::EndedEarly(why.to_owned());
    }
    if let Some(why) = check.why_vacuous(name) {
        return NoVerdict::NotExamined(why.to_owned());
    }
    let bounds = &check.bounds;
    // The journal does not say whether an assertion that can fail was reached. If the check ended early, it may have been.
    let is_examined = match name {
        DEADLOCK => bounds.deadlock_checked && bounds.always_enabled.is_empty(),
        ASSERTION => matches!(check.verdict, Verdict::Violated { .. } | Verdict::Inconclusive { .. }),
        _ => check.checked_names().any(|known| known == name),
    };
    match &check.verdict {
        Verdict::Violated { violated } if is_examined => {
            NoVerdict::EndedEarly(format!("the check stopped at a violation: {}", violated.description()))
        }
        Verdict::Inconclusive { reason, .. } if is_examined => NoVerdict::EndedEarly(reason.clone()),
        _ if is_examined => NoVerdict::EndedEarly("the check gave no verdict".to_owned()),
        // Then the outcome does not say which properties the configuration lists beyond those that were decided.
        Verdict::Violated { violated } if !matches!(name, DEADLOCK | ASSERTION) && !check.is_initial_only(name) => {
            NoVerdict::EndedEarly(format!("the check stopped at a violation: {}", violated.description()))
        }
        Verdict::Inconclusive { reason, .. }
            if !matches!(name, DEADLOCK | ASSERTION) && !check.is_initial_only(name) =>
        {
            NoVerdict::EndedEarly(reason.clone())
        }
        Verdict::Invalid { reason, .. } => NoVerdict::NotExamined(format!("the specification is invalid: {reason}")),
        _ => NoVerdict::NotExamined(match name {
            DEADLOCK => deadlock_sentence(bounds),
            ASSERTION => "no assertion that can fail was reached".to_owned(),
            _ if check.is_initial_only(name) => "checked in the initial states only".to_owned(),
            _ => "the configuration does not list it".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_once() {
        let undecided = |why: &str| RequirementStatus::Undecided { by: vec!["P".to_owned()], why: why.to_owned() };
        let stopped = undecided("the time is over");
        assert_eq!(stopped.words_without_repeated_reason(None), "UNDECIDED: P (the time is over)");
        assert_eq!(
            stopped.words_without_repeated_reason(Some("the time is over")),
            "UNDECIDED: P (for the same reason)"
        );
        assert_eq!(
            undecided("too many states").words_without_repeated_reason(Some("the time is over")),
            "UNDECIDED: P (too many states)"
        );
        let holds = RequirementStatus::Holds { by: vec!["P".to_owned()], unaccepted_readings: Vec::new() };
        assert_eq!(holds.words_without_repeated_reason(Some("the time is over")), holds.words());
    }
}
