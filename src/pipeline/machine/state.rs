//! Where a run is, and the moves between positions that the routing table in `routes` is made of. Pure: it reads no clock,
//! no file and no journal. `tests/program/routing.rs` enumerates every reachable state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lifelines::{MUTANTS, SECOND_READING};
use super::node_name::NodeName;

/// Limits and options that routing depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoutingSettings {
    /// How many revisions may follow the first on one branch.
    pub max_revisions: u32,
    /// How often a rejected module goes back to `formalize` within one revision.
    pub validate_retry_limit: u32,
    /// How often a rejected merge goes back to `generate_invariants` within one revision.
    pub invariant_retry_limit: u32,
    /// Whether the run repairs the protocol after a confirmed flaw instead of ending.
    pub repair: bool,
    /// How many rounds of stronger properties a revision may have, because of surviving mutants.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub strengthen: u32,
    /// Whether an author who has not seen the algorithm writes contracts of its steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contracts: bool,
    /// Whether a sample of mutants is judged before each review, which has to accept the surviving ones by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judges_mutants: bool,
    /// Whether a review has to accept by name the larger bounds that were not decided. It is absent, so false, in
    /// journals of version 0.2.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_bounds_accepted: bool,
    /// The least mutation score of an approved specification, in thousandths; 0 asks for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_score: u32,
}

impl Default for RoutingSettings {
    fn default() -> Self {
        Self {
            max_revisions: 3,
            validate_retry_limit: 2,
            invariant_retry_limit: 2,
            repair: false,
            strengthen: 0,
            contracts: false,
            judges_mutants: false,
            requires_bounds_accepted: false,
            min_score: 0,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Approved,
    /// Approved after the protocol was changed because of a confirmed flaw.
    ApprovedRepaired,
    /// The protocol as documented breaks one of its own requirements.
    FlawFound,
    /// A requirement breaks under one reading of the documents, and an open point chose that reading.
    AmbiguityFound,
    /// No revision is left, or a rule prevents the approval.
    NotApproved,
    /// No revision is left, and the check of the best one is inconclusive.
    Undecided,
    /// Ended from outside; can be resumed.
    Stopped,
}

impl Outcome {
    pub(in crate::pipeline) const ALL: [Outcome; 7] = [
        Outcome::Approved,
        Outcome::ApprovedRepaired,
        Outcome::FlawFound,
        Outcome::AmbiguityFound,
        Outcome::NotApproved,
        Outcome::Undecided,
        Outcome::Stopped,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Outcome::Approved => "approved",
            Outcome::ApprovedRepaired => "approved_repaired",
            Outcome::FlawFound => "flaw_found",
            Outcome::AmbiguityFound => "ambiguity_found",
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
    /// The limit of money or tokens is reached.
    Budget,
    Deadline,
    /// By a person or a signal.
    Interrupted,
    /// The model provider failed.
    Provider,
    /// The provider does not have the model that the settings name.
    Settings,
    /// A tool is missing or failed.
    Tool,
}

/// Who works at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    Node(NodeName),
    /// The second, independent reader of a flaw.
    SecondReading,
    /// The specification's mutants are judged.
    Mutants,
}

impl Activity {
    pub fn lifeline(self) -> &'static str {
        match self {
            Activity::Node(node) => node.name(),
            Activity::SecondReading => SECOND_READING,
            Activity::Mutants => MUTANTS,
        }
    }
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// A node works.
    Node(NodeName),
    /// The second, independent reader of a flaw works.
    SecondReading,
    /// The specification's mutants are judged.
    Mutants,
    /// The run has ended.
    Done(Outcome),
    /// The run was ended from outside while a node worked.
    Stopped(Activity),
}

impl Position {
    /// What works here; `None` if the run has ended or is stopped.
    pub fn activity(self) -> Option<Activity> {
        match self {
            Position::Node(node) => Some(Activity::Node(node)),
            Position::SecondReading => Some(Activity::SecondReading),
            Position::Mutants => Some(Activity::Mutants),
            Position::Done(_) | Position::Stopped(_) => None,
        }
    }
}

impl From<Activity> for Position {
    fn from(activity: Activity) -> Self {
        match activity {
            Activity::Node(node) => Position::Node(node),
            Activity::SecondReading => Position::SecondReading,
            Activity::Mutants => Position::Mutants,
        }
    }
}

/// The whole state of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct State {
    pub position: Position,
    /// How many revisions precede this one on its branch.
    pub branch_index: u32,
    /// How often `validate` has sent the module back in this revision; the rejection that ends the retries does not
    /// count.
    pub validate_retries: u32,
    /// How often a rejected merge has been sent back in this revision.
    pub invariant_retries: u32,
    /// How often rejected contracts have been sent back in this revision.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub contract_retries: u32,
    /// The last answer at this position was unreadable.
    pub unreadable: bool,
    /// There is an informal specification.
    pub informal: bool,
    /// Translator and parser accepted the current module.
    pub module_accepted: bool,
    /// The parser accepted the current merged module and configuration.
    pub merged_accepted: bool,
    /// The protocol was changed after a flaw.
    pub repaired: bool,
    /// A requirement broke under the reading of an open point, and the run tries the other reading.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_reading: bool,
    /// Rounds of strengthening in this revision.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounds: u32,
    /// The current properties are on trial; the view has saved those before them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_trial: bool,
}

/// What a branch takes over from its parent. The caller has parsed what it calls accepted.
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
    /// A requirement broke under the reading of an open point, and the run tries the other reading.
    pub other_reading: bool,
}

impl State {
    /// The start of a run.
    pub fn start() -> Self {
        Self {
            position: Position::Node(NodeName::InformalSpec),
            branch_index: 0,
            validate_retries: 0,
            invariant_retries: 0,
            contract_retries: 0,
            unreadable: false,
            informal: false,
            module_accepted: false,
            merged_accepted: false,
            repaired: false,
            other_reading: false,
            rounds: 0,
            on_trial: false,
        }
    }

    /// The start of a branch at a node, with what the parent revision hands over.
    pub fn branch(at: NodeName, carried: Carried) -> Self {
        let Carried { informal, module_accepted, merged_accepted, repaired, other_reading } = carried;
        Self { informal, module_accepted, merged_accepted, repaired, other_reading, ..Self::start() }.moved_to(at)
    }

    /// Moves to a node, or to the earlier node that has to make its input first.
    pub(super) fn moved_to(self, node: NodeName) -> Self {
        let node = match node {
            NodeName::StepContracts | NodeName::ModelCheck if !self.merged_accepted => NodeName::GenerateInvariants,
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
        Self { position: Position::Node(node), unreadable: false, ..self }
    }

    /// Moves to a position that needs no input.
    pub(super) fn moved_to_position(self, position: Position) -> Self {
        Self { position, unreadable: false, ..self }
    }

    /// The state with a new or rejected module: no merge with it is accepted either.
    pub(super) fn without_module(self) -> Self {
        Self { module_accepted: false, merged_accepted: false, ..self }
    }

    /// The effect of being at this position.
    pub(super) fn perform(self) -> Next {
        let effect = match self.position {
            Position::Node(node) => Effect::Perform(node),
            Position::SecondReading => Effect::ReadAgain,
            Position::Mutants => Effect::JudgeMutants,
            Position::Done(outcome) => Effect::Finish(outcome),
            Position::Stopped(_) => Effect::Finish(Outcome::Stopped),
        };
        Next { state: self, effects: vec![effect] }
    }

    /// Goes back to a node in a new revision.
    pub(super) fn next_revision(self, node: NodeName) -> Next {
        let state = Self {
            branch_index: self.branch_index + 1,
            validate_retries: 0,
            invariant_retries: 0,
            contract_retries: 0,
            rounds: 0,
            ..self
        };
        state.moved_to(node).perform().after(&[Effect::CloseRevision, Effect::OpenRevision])
    }

    /// Begins a trial of stronger properties.
    pub(super) fn strengthen(self) -> Next {
        let state = Self { rounds: self.rounds + 1, on_trial: true, ..self };
        state.moved_to(NodeName::GenerateInvariants).perform().after(&[Effect::SetAside])
    }

    /// Goes back to the properties before the trial. Their surviving mutants are still known, so the next round, if one is
    /// left, begins without judging mutants again.
    pub(super) fn drop_trial(self, settings: &RoutingSettings) -> Next {
        let state = Self { merged_accepted: true, on_trial: false, ..self };
        let is_round_left = state.rounds < settings.strengthen;
        let next = if is_round_left { state.strengthen() } else { state.moved_to(NodeName::Review).perform() };
        next.after(&[Effect::Restore])
    }

    /// The outcome of a run that ends without a positive one. The question that an ambiguity raised stays its result.
    pub(super) fn outcome_or_ambiguity(self, outcome: Outcome) -> Outcome {
        if self.other_reading { Outcome::AmbiguityFound } else { outcome }
    }

    /// Closes the revision and ends the run.
    pub(super) fn finish(self, outcome: Outcome) -> Next {
        let state = self.moved_to_position(Position::Done(outcome));
        Next { state, effects: vec![Effect::CloseRevision, Effect::Finish(outcome)] }
    }

    /// Ends the run from outside, so that it can be resumed here.
    pub(super) fn stop(self) -> Next {
        match self.position.activity() {
            // `unreadable` stays: a second unreadable answer after the resume is still the second one.
            Some(activity) => Self { position: Position::Stopped(activity), ..self }.perform(),
            None => self.stay(),
        }
    }

    /// Goes on where the run was stopped.
    pub(super) fn resume(self) -> Next {
        let position = match self.position {
            Position::Stopped(activity) => activity.into(),
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
    /// Puts these effects before the others.
    fn after(mut self, first: &[Effect]) -> Self {
        self.effects.splice(0..0, first.iter().copied());
        self
    }
}

/// What a transition causes, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    CloseRevision,
    OpenRevision,
    Perform(NodeName),
    ReadAgain,
    JudgeMutants,
    /// Save the specification and its checks before a trial.
    SetAside,
    /// Restore what was saved before the trial.
    Restore,
    Finish(Outcome),
}
