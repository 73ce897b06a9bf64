//! The types of the state machine of a run (design, section 3): its rules, state, events and effects, and the moves
//! that the routing table in `routes` is made of. Every reachable state is enumerated in `tests/routing.rs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::guard::{ApprovalClause, FlawClause};
use super::node_name::{NodeName, ReviewVerdict};

/// Limits and options that routing depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rules {
    /// How many revisions may follow the first on one branch.
    pub max_revisions: u32,
    /// How often a rejected module goes back to `formalize` within one revision.
    pub validate_retries: u32,
    /// How often a rejected merge goes back to `generate_invariants` within one revision.
    pub invariant_retries: u32,
    /// Whether a flaw is followed by the smallest change of the protocol instead of ending the run.
    pub repair: bool,
    /// How often within one revision the properties are asked for once more, for the mutants that they let survive.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub strengthen: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Self { max_revisions: 3, validate_retries: 2, invariant_retries: 2, repair: false, strengthen: 0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Approved, and everything that approval rests on is on disk.
    Approved,
    /// Approved after the protocol itself was changed.
    ApprovedRepaired,
    /// The protocol as documented breaks one of its own requirements.
    FlawFound,
    /// The limit was reached.
    NotApproved,
    /// The limit was reached, and the best revision's check was inconclusive.
    Undecided,
    /// Ended from outside; resumable.
    Stopped,
}

impl Outcome {
    /// Every outcome.
    pub(super) const ALL: [Outcome; 6] = [
        Outcome::Approved,
        Outcome::ApprovedRepaired,
        Outcome::FlawFound,
        Outcome::NotApproved,
        Outcome::Undecided,
        Outcome::Stopped,
    ];

    /// Its name in the journal and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Approved => "approved",
            Outcome::ApprovedRepaired => "approved_repaired",
            Outcome::FlawFound => "flaw_found",
            Outcome::NotApproved => "not_approved",
            Outcome::Undecided => "undecided",
            Outcome::Stopped => "stopped",
        }
    }
}

/// Why a run was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Money or tokens.
    Budget,
    /// Time.
    Deadline,
    /// A person or a signal.
    Interrupted,
    /// The model provider failed.
    Provider,
    /// The settings ask for what the provider does not have: the model.
    Settings,
    /// A tool is missing or broke.
    Tool,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// A node works.
    At(NodeName),
    /// The second, independent reader of a flaw works.
    SecondReading,
    /// The specification's mutants are judged.
    Mutants,
    /// The run has ended.
    Done(Outcome),
    /// The run was ended from outside while a node worked.
    Stopped(Resumable),
}

/// Where a stopped run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resumable {
    /// At this node.
    At(NodeName),
    /// With the second reading.
    SecondReading,
    /// With the mutants.
    Mutants,
}

/// The whole state of the orchestrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Where it is.
    pub position: Position,
    /// Which pass of the branch this is: 0 is the first.
    pub place: u32,
    /// Modules sent back by `validate` in this revision.
    pub validate_retries: u32,
    /// Answers sent back by the merge in this revision.
    pub invariant_retries: u32,
    /// The model at this node has answered unreadably once.
    pub unreadable: bool,
    /// There is an informal specification.
    pub informal: bool,
    /// The present module was accepted by translator and parser.
    pub module_accepted: bool,
    /// The present merged module and configuration were accepted.
    pub merged_accepted: bool,
    /// The protocol was changed after a flaw.
    pub repaired: bool,
    /// Rounds of strengthening in this revision.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounds: u32,
    /// The properties in work are on trial: those before them are kept aside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_trial: bool,
}

/// What a branch takes over. The caller has parsed what it says is accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// There is an informal specification.
    pub informal: bool,
    /// The module was accepted.
    pub module_accepted: bool,
    /// The merged module and the configuration were accepted.
    pub merged_accepted: bool,
    /// The protocol was changed after a flaw.
    pub repaired: bool,
}

impl State {
    /// The start of a run.
    pub fn start() -> Self {
        Self {
            position: Position::At(NodeName::InformalSpec),
            place: 0,
            validate_retries: 0,
            invariant_retries: 0,
            unreadable: false,
            informal: false,
            module_accepted: false,
            merged_accepted: false,
            repaired: false,
            rounds: 0,
            on_trial: false,
        }
    }

    /// The start of a branch at a node, with what the parent revision hands over.
    pub fn branch(at: NodeName, carried: Carried) -> Self {
        let Carried { informal, module_accepted, merged_accepted, repaired } = carried;
        Self { informal, module_accepted, merged_accepted, repaired, ..Self::start() }.moved_to(at)
    }

    /// Moves to a node, or to the one that must come before it.
    pub(super) fn moved_to(self, node: NodeName) -> Self {
        let node = match node {
            NodeName::ModelCheck if !self.merged_accepted => NodeName::GenerateInvariants,
            other => other,
        };
        let node = match node {
            NodeName::GenerateInvariants if !self.module_accepted => NodeName::Formalize,
            other => other,
        };
        let node = match node {
            NodeName::Formalize | NodeName::Validate if !self.informal => NodeName::InformalSpec,
            other => other,
        };
        Self { position: Position::At(node), unreadable: false, ..self }
    }

    /// Moves to a position for which nothing has to be made first, unlike a node.
    pub(super) fn moved_to_position(self, position: Position) -> Self {
        Self { position, unreadable: false, ..self }
    }

    /// The module is new or rejected, so no merge with it is accepted either.
    pub(super) fn without_module(self) -> Self {
        Self { module_accepted: false, merged_accepted: false, ..self }
    }

    /// Lets the job of this position work.
    pub(super) fn perform(self) -> Next {
        let effect = match self.position {
            Position::At(node) => Effect::Perform(node),
            Position::SecondReading => Effect::ReadAgain,
            Position::Mutants => Effect::JudgeMutants,
            Position::Done(outcome) => Effect::Finish(outcome),
            Position::Stopped(_) => Effect::Finish(Outcome::Stopped),
        };
        Next { state: self, effects: vec![effect] }
    }

    /// Goes back to a node in a new revision.
    pub(super) fn next_revision(self, node: NodeName) -> Next {
        let state = Self { place: self.place + 1, validate_retries: 0, invariant_retries: 0, rounds: 0, ..self };
        state.moved_to(node).perform().after(&[Effect::CloseRevision, Effect::OpenRevision])
    }

    /// Asks for stronger properties, on trial.
    pub(super) fn strengthen(self) -> Next {
        let state = Self { rounds: self.rounds + 1, on_trial: true, ..self };
        state.moved_to(NodeName::GenerateInvariants).perform().after(&[Effect::SetAside])
    }

    /// Goes back to the properties before the trial. The mutants that they let survive are still known, so the next
    /// round, if one is left, needs no judging before it.
    pub(super) fn drop_trial(self, rules: &Rules) -> Next {
        let state = Self { merged_accepted: true, on_trial: false, ..self };
        let is_round_left = state.rounds < rules.strengthen;
        let next = if is_round_left { state.strengthen() } else { state.moved_to(NodeName::Review).perform() };
        next.after(&[Effect::Restore])
    }

    /// Closes the revision and ends the run.
    pub(super) fn finish(self, outcome: Outcome) -> Next {
        let state = self.moved_to_position(Position::Done(outcome));
        Next { state, effects: vec![Effect::CloseRevision, Effect::Finish(outcome)] }
    }

    /// Ends the run from outside, so that it can be resumed here.
    pub(super) fn stop(self) -> Next {
        let at = match self.position {
            Position::At(node) => Resumable::At(node),
            Position::SecondReading => Resumable::SecondReading,
            Position::Mutants => Resumable::Mutants,
            Position::Done(_) | Position::Stopped(_) => return self.stay(),
        };
        // The answer may have been unreadable once: that is still so after a resume.
        Self { position: Position::Stopped(at), ..self }.perform()
    }

    /// Goes on where the run was stopped.
    pub(super) fn resume(self) -> Next {
        let position = match self.position {
            Position::Stopped(Resumable::At(node)) => Position::At(node),
            Position::Stopped(Resumable::SecondReading) => Position::SecondReading,
            Position::Stopped(Resumable::Mutants) => Position::Mutants,
            other => other,
        };
        Self { position, ..self }.perform()
    }

    /// Changes nothing.
    pub(super) fn stay(self) -> Next {
        Next { state: self, effects: Vec::new() }
    }
}

/// Where a row of the routing table leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) state: State,
    /// What the driver does, in this order.
    pub(super) effects: Vec<Effect>,
}

impl Next {
    /// The same after these effects.
    fn after(mut self, first: &[Effect]) -> Self {
        self.effects.splice(0..0, first.iter().copied());
        self
    }
}

/// What a parse said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// Accepted.
    Accepted,
    /// Rejected, with diagnostics.
    Rejected,
}

/// What routing needs of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ReviewFacts {
    /// The verdict.
    pub verdict: ReviewVerdict,
    /// The earliest node that an issue above minor names.
    pub earliest: Option<NodeName>,
    /// The first clause of the approval guard that fails.
    pub approval: Option<ApprovalClause>,
    /// The first clause of the flaw guard that fails.
    pub flaw: Option<FlawClause>,
    /// Whether the check of the best revision so far is inconclusive.
    pub best_inconclusive: bool,
    /// Whether the objective ends the run if the revision closes now: it cannot be reached any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub objective_lost: bool,
    /// Whether an approval would leave a rule of the user's policy broken that none may break.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, strum::EnumDiscriminants)]
#[serde(rename_all = "snake_case")]
#[strum_discriminants(
    name(EventKind),
    derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr),
    serde(rename_all = "snake_case"),
    strum(serialize_all = "snake_case"),
    doc = "An event without its data."
)]
pub enum Event {
    /// `informal_spec` or `formalize` answered readably.
    Answered,
    /// A model's answer could not be read (not at `review`).
    Unreadable,
    /// `validate` has spoken.
    Validated(Acceptance),
    /// `generate_invariants` answered readably, and the merge was parsed.
    Merged(Acceptance),
    /// `model_check` has a verdict, whichever it is.
    Checked,
    /// The mutants were judged, or could not be.
    Judged {
        /// Some of them survive.
        survivors: bool,
        /// More of them are killed than by the properties before.
        better: bool,
    },
    /// `review` answered readably.
    Reviewed(ReviewFacts),
    /// `review` answered unreadably.
    ReviewUnreadable {
        /// The first clause of the approval guard that fails.
        approval: Option<ApprovalClause>,
        /// Whether the check of the best revision so far is inconclusive.
        best_inconclusive: bool,
        /// As of [`ReviewFacts`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        objective_lost: bool,
    },
    /// The second reader has spoken.
    SecondRead {
        /// Whether it agrees that the documents grant every step and the requirement breaks.
        agrees: bool,
        /// Whether the check of the best revision so far is inconclusive.
        best_inconclusive: bool,
        /// As of [`ReviewFacts`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        objective_lost: bool,
    },
    /// Ended from outside.
    Stop(StopReason),
    /// Goes on after a stop.
    Resume,
}

impl Event {
    /// Whether the check of the best revision so far is inconclusive.
    pub(super) fn best_inconclusive(self) -> bool {
        match self {
            Event::Reviewed(ReviewFacts { best_inconclusive, .. })
            | Event::ReviewUnreadable { best_inconclusive, .. }
            | Event::SecondRead { best_inconclusive, .. } => best_inconclusive,
            _ => false,
        }
    }

    /// Whether the objective cannot be reached any more, and the run is to end then; `None` where that is not asked.
    pub(super) fn objective_lost(self) -> Option<bool> {
        match self {
            Event::Reviewed(ReviewFacts { objective_lost, .. })
            | Event::ReviewUnreadable { objective_lost, .. }
            | Event::SecondRead { objective_lost, .. } => Some(objective_lost),
            _ => None,
        }
    }

    /// The earliest node that an issue above minor names.
    pub(super) fn earliest(self) -> Option<NodeName> {
        if let Event::Reviewed(review) = self { review.earliest } else { None }
    }

    /// The same review, whose approval would leave a rule of the user's policy broken.
    #[must_use]
    pub fn broken(self) -> Self {
        match self {
            Event::Reviewed(review) => Event::Reviewed(ReviewFacts { broken: true, ..review }),
            other => other,
        }
    }

    /// The first clause of the approval guard that failed at a review.
    pub fn refused_by(self) -> Option<ApprovalClause> {
        match self {
            Event::Reviewed(ReviewFacts { approval, .. }) | Event::ReviewUnreadable { approval, .. } => approval,
            _ => None,
        }
    }

    /// The first clause of the flaw guard that failed at a review.
    pub fn flaw_refused_by(self) -> Option<FlawClause> {
        if let Event::Reviewed(review) = self { review.flaw } else { None }
    }
}

/// What the driver does next, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Write the revision into history.
    CloseRevision,
    /// Start the next revision.
    OpenRevision,
    /// Let a node work.
    Perform(NodeName),
    /// Let the second reader read.
    ReadAgain,
    /// Judge the mutants.
    JudgeMutants,
    /// Keep the properties aside while others are on trial.
    SetAside,
    /// Put the properties that were kept aside back in their place.
    Restore,
    /// End the run.
    Finish(Outcome),
}
