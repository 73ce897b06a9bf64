//! What happens in a run, for the state machine: the events that the routing table decides on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::guards::{ApprovalClause, FlawClause};
use super::node_name::NodeName;
use super::review::ReviewVerdict;
use super::state::StopReason;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    Accepted,
    Rejected,
}

/// What a routing decision needs of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ReviewFacts {
    pub verdict: ReviewVerdict,
    /// The earliest node that an issue above minor names.
    pub earliest: Option<NodeName>,
    /// The first clause of the approval guard that fails; `None` if all hold.
    pub approval_refused_by: Option<ApprovalClause>,
    /// The first clause of the flaw guard that fails; `None` if all hold or no flaw is claimed.
    pub flaw_refused_by: Option<FlawClause>,
    /// Whether the check of the best revision so far is inconclusive.
    pub best_inconclusive: bool,
    /// Whether the objective ends the run if the revision closes now: it cannot be reached any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub objective_lost: bool,
    /// Whether a rule of severity `error` of the user's policy, or `--min-score`, prevents an approval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub violates_policy: bool,
}

/// What happened at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, strum::EnumDiscriminants)]
#[serde(rename_all = "snake_case")]
#[strum_discriminants(
    name(EventKind),
    derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr, strum::VariantArray),
    serde(rename_all = "snake_case"),
    strum(serialize_all = "snake_case"),
    doc = "An event without its data."
)]
pub enum Event {
    /// `informal_spec` or `formalize` answered readably.
    Answered,
    /// A model's answer could not be read (not at `review`).
    Unreadable,
    /// `validate` has finished.
    Validated(Acceptance),
    /// `generate_invariants` answered readably, and the merge was parsed.
    Merged(Acceptance),
    /// `model_check` has a verdict, whichever it is.
    Checked,
    /// The mutants were judged, or cannot be judged.
    Judged {
        /// Some of them survive.
        survivors: bool,
        /// More of them are killed than by the properties before.
        kills_more: bool,
    },
    /// `review` answered readably.
    Reviewed(ReviewFacts),
    /// `review` answered unreadably.
    ReviewUnreadable {
        /// The first clause of the approval guard that fails.
        approval_refused_by: Option<ApprovalClause>,
        /// Whether the check of the best revision so far is inconclusive.
        best_inconclusive: bool,
        /// See [`ReviewFacts`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        objective_lost: bool,
    },
    /// The second reader has answered.
    SecondRead {
        /// Whether it agrees that every step is granted and the requirement breaks.
        agrees: bool,
        /// Whether a step is granted only by the reading that an open point takes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ambiguous: bool,
        /// Whether the check of the best revision so far is inconclusive.
        best_inconclusive: bool,
        /// See [`ReviewFacts`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        objective_lost: bool,
    },
    /// Ended from outside.
    Stop(StopReason),
    /// Continues after a stop.
    Resume,
}

impl Event {
    /// Whether the check of the best revision so far is inconclusive.
    pub(in crate::pipeline) fn best_inconclusive(self) -> bool {
        match self {
            Event::Reviewed(ReviewFacts { best_inconclusive, .. })
            | Event::ReviewUnreadable { best_inconclusive, .. }
            | Event::SecondRead { best_inconclusive, .. } => best_inconclusive,
            _ => false,
        }
    }

    /// Whether the run ends because the objective cannot be reached any more; `None` for events to which this does not apply.
    pub(in crate::pipeline) fn objective_lost(self) -> Option<bool> {
        match self {
            Event::Reviewed(ReviewFacts { objective_lost, .. })
            | Event::ReviewUnreadable { objective_lost, .. }
            | Event::SecondRead { objective_lost, .. } => Some(objective_lost),
            _ => None,
        }
    }

    /// The earliest node that an issue above minor names.
    pub(in crate::pipeline) fn earliest(self) -> Option<NodeName> {
        if let Event::Reviewed(review) = self { review.earliest } else { None }
    }

    /// The same review, whose approval would violate a rule of the user's policy.
    #[must_use]
    pub(in crate::pipeline) fn violating_policy(self) -> Self {
        match self {
            Event::Reviewed(review) => Event::Reviewed(ReviewFacts { violates_policy: true, ..review }),
            other => other,
        }
    }

    /// The same event at the end of a revision after which the objective is lost or not.
    #[must_use]
    pub(in crate::pipeline) fn with_objective(mut self, is_lost: bool, is_best_inconclusive: bool) -> Self {
        match &mut self {
            Event::Reviewed(ReviewFacts { best_inconclusive, objective_lost, .. })
            | Event::ReviewUnreadable { best_inconclusive, objective_lost, .. }
            | Event::SecondRead { best_inconclusive, objective_lost, .. } => {
                (*best_inconclusive, *objective_lost) = (is_best_inconclusive, is_lost);
            }
            _ => {}
        }
        self
    }

    /// The first clause of the approval guard that failed at a review.
    pub fn refused_by(self) -> Option<ApprovalClause> {
        match self {
            Event::Reviewed(ReviewFacts { approval_refused_by, .. })
            | Event::ReviewUnreadable { approval_refused_by, .. } => approval_refused_by,
            _ => None,
        }
    }

    /// The first clause of the flaw guard that failed at a review.
    pub fn flaw_refused_by(self) -> Option<FlawClause> {
        if let Event::Reviewed(review) = self { review.flaw_refused_by } else { None }
    }
}
