//! The routing table of a run as a pure, total function (design, section 3). Every reachable state of it is enumerated
//! in `tests/routing.rs`.

use serde::{Deserialize, Serialize};

use super::guard::{ApprovalClause, FlawClause};
use super::station::{ReviewVerdict, Station};

/// Limits and options that routing depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// A station works.
    At(Station),
    /// The second, independent reader of a flaw works.
    SecondReading,
    /// The specification's mutants are judged.
    Mutants,
    /// The run has ended.
    Done(Outcome),
    /// The run was ended from outside while a station worked.
    Stopped(Resumable),
}

/// Where a stopped run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resumable {
    /// At this station.
    At(Station),
    /// With the second reading.
    SecondReading,
    /// With the mutants.
    Mutants,
}

/// The whole state of the orchestrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// Where it is.
    pub position: Position,
    /// Which pass of the branch this is: 0 is the first.
    pub place: u32,
    /// Modules sent back by `validate` in this revision.
    pub validate_retries: u32,
    /// Answers sent back by the merge in this revision.
    pub invariant_retries: u32,
    /// The model at this station has answered unreadably once.
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
            position: Position::At(Station::InformalSpec),
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

    /// The start of a branch at a station, with what the parent revision hands over.
    pub fn branch(at: Station, carried: Carried) -> Self {
        let Carried { informal, module_accepted, merged_accepted, repaired } = carried;
        Self { informal, module_accepted, merged_accepted, repaired, ..Self::start() }.to(at)
    }

    /// Moves to a station, or to the one that must come before it.
    fn to(self, station: Station) -> Self {
        let station = match station {
            Station::ModelCheck if !self.merged_accepted => Station::GenerateInvariants,
            other => other,
        };
        let station = match station {
            Station::GenerateInvariants if !self.module_accepted => Station::Formalize,
            other => other,
        };
        let station = match station {
            Station::Formalize | Station::Validate if !self.informal => Station::InformalSpec,
            other => other,
        };
        Self { position: Position::At(station), unreadable: false, ..self }
    }
}

/// What a parse said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// Accepted.
    Accepted,
    /// Rejected, with diagnostics.
    Rejected,
}

/// What routing needs of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReviewFacts {
    /// The verdict.
    pub verdict: ReviewVerdict,
    /// The earliest station that an issue above minor names.
    pub earliest: Option<Station>,
    /// The first clause of the approval guard that fails.
    pub approval: Option<ApprovalClause>,
    /// The first clause of the flaw guard that fails.
    pub flaw: Option<FlawClause>,
    /// Whether the check of the best revision so far is inconclusive.
    pub best_inconclusive: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    },
    /// The second reader has spoken.
    SecondRead {
        /// Whether it agrees that the documents grant every step and the requirement breaks.
        agrees: bool,
        /// Whether the check of the best revision so far is inconclusive.
        best_inconclusive: bool,
    },
    /// Ended from outside.
    Stop(StopReason),
    /// Goes on after a stop.
    Resume,
}

/// What the driver does next, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Write the revision into history.
    CloseRevision,
    /// Start the next revision.
    OpenRevision,
    /// Let a station work.
    Perform(Station),
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

/// The row of the routing table that a transition took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// Any: budget, deadline or cancel.
    Stopped,
    /// A stopped run goes on.
    Resumed,
    /// `informal_spec` answered.
    InformalAnswered,
    /// `formalize` answered.
    FormalizeAnswered,
    /// An unreadable answer: the same station once more.
    UnreadableOnce,
    /// Unreadable twice: `review` with what there is.
    UnreadableTwice,
    /// `validate` accepted.
    Validated,
    /// `validate` rejected: back to `formalize`.
    ValidateRetry,
    /// `validate` rejected for the last time.
    ValidateExhausted,
    /// The merge parses.
    Merged,
    /// The merge does not parse: once more.
    InvariantRetry,
    /// The merge does not parse for the last time.
    InvariantExhausted,
    /// Any verdict of the checker.
    Checked,
    /// Any verdict of the checker, and the run strengthens its properties: the mutants come first.
    MutantsDue,
    /// The mutants are judged: `review`.
    MutantsJudged,
    /// Some survive: once more to `generate_invariants`.
    Strengthen,
    /// The properties on trial kill more: they stay.
    StrongerKept,
    /// The properties on trial kill no more, do not hold, or did not come so far: those before them stand again.
    StrongerDropped,
    /// Approved, and the guard holds.
    Approved,
    /// A flaw whose guard holds: the second reader is asked.
    FlawClaimed,
    /// The second reader agrees.
    FlawFound,
    /// The second reader agrees, and the protocol is to be repaired.
    FlawRepaired,
    /// The limit of revisions.
    RevisionLimit,
    /// Approved, but the guard fails.
    ApprovalRefused,
    /// A flaw whose guard fails, or with which the second reader disagrees.
    FlawRefused,
    /// Issues above minor.
    Issues,
    /// A verdict to revise without issues, or unreadable twice.
    NothingNamed,
    /// The event does not belong to this state: nothing happens.
    Ignored,
}

impl Row {
    /// Every row that a run can take.
    pub const ALL: [Row; 27] = [
        Row::Stopped,
        Row::Resumed,
        Row::InformalAnswered,
        Row::FormalizeAnswered,
        Row::UnreadableOnce,
        Row::UnreadableTwice,
        Row::Validated,
        Row::ValidateRetry,
        Row::ValidateExhausted,
        Row::Merged,
        Row::InvariantRetry,
        Row::InvariantExhausted,
        Row::Checked,
        Row::MutantsDue,
        Row::MutantsJudged,
        Row::Strengthen,
        Row::StrongerKept,
        Row::StrongerDropped,
        Row::Approved,
        Row::FlawClaimed,
        Row::FlawFound,
        Row::FlawRepaired,
        Row::RevisionLimit,
        Row::ApprovalRefused,
        Row::FlawRefused,
        Row::Issues,
        Row::NothingNamed,
    ];
}

/// The result of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The state after it.
    pub state: State,
    /// What to do, in order.
    pub effects: Vec<Effect>,
    /// The row taken.
    pub row: Row,
}

/// The transition function: total, and without any effect of its own.
pub fn transition(rules: &Rules, state: &State, event: &Event) -> Transition {
    use Station::{Formalize, GenerateInvariants, InformalSpec, ModelCheck, Review, Validate};
    let s = *state;
    match (s.position, *event) {
        (Position::At(station), Event::Stop(_)) => stop(s, Resumable::At(station)),
        (Position::SecondReading, Event::Stop(_)) => stop(s, Resumable::SecondReading),
        (Position::Mutants, Event::Stop(_)) => stop(s, Resumable::Mutants),
        (Position::Stopped(Resumable::At(station)), Event::Resume) => {
            perform(State { position: Position::At(station), ..s }, Row::Resumed)
        }
        (Position::Stopped(Resumable::SecondReading), Event::Resume) => {
            perform(State { position: Position::SecondReading, ..s }, Row::Resumed)
        }
        (Position::Stopped(Resumable::Mutants), Event::Resume) => {
            perform(State { position: Position::Mutants, ..s }, Row::Resumed)
        }

        (Position::At(InformalSpec), Event::Answered) => {
            // What was accepted before was made from another specification.
            let s = State { informal: true, module_accepted: false, merged_accepted: false, ..s };
            perform(s.to(Formalize), Row::InformalAnswered)
        }
        (Position::At(Formalize), Event::Answered) => {
            perform(State { module_accepted: false, merged_accepted: false, ..s }.to(Validate), Row::FormalizeAnswered)
        }

        (Position::At(InformalSpec | Formalize | GenerateInvariants), Event::Unreadable) if !s.unreadable => {
            perform(State { unreadable: true, ..s }, Row::UnreadableOnce)
        }
        (Position::At(GenerateInvariants), Event::Unreadable) if s.on_trial => dropped(rules, s),
        (Position::At(InformalSpec | Formalize | GenerateInvariants), Event::Unreadable) => {
            perform(s.to(Review), Row::UnreadableTwice)
        }

        (Position::At(Validate), Event::Validated(Acceptance::Accepted)) => {
            perform(State { module_accepted: true, ..s }.to(GenerateInvariants), Row::Validated)
        }
        (Position::At(Validate), Event::Validated(Acceptance::Rejected)) => {
            let s = State { module_accepted: false, merged_accepted: false, ..s };
            if s.validate_retries < rules.validate_retries {
                perform(State { validate_retries: s.validate_retries + 1, ..s }.to(Formalize), Row::ValidateRetry)
            } else {
                perform(s.to(Review), Row::ValidateExhausted)
            }
        }

        (Position::At(GenerateInvariants), Event::Merged(Acceptance::Accepted)) => {
            perform(State { merged_accepted: true, ..s }.to(ModelCheck), Row::Merged)
        }
        (Position::At(GenerateInvariants), Event::Merged(Acceptance::Rejected)) => {
            let s = State { merged_accepted: false, ..s };
            if s.invariant_retries < rules.invariant_retries {
                perform(
                    State { invariant_retries: s.invariant_retries + 1, ..s }.to(GenerateInvariants),
                    Row::InvariantRetry,
                )
            } else if s.on_trial {
                dropped(rules, s)
            } else {
                perform(s.to(Review), Row::InvariantExhausted)
            }
        }

        (Position::At(ModelCheck), Event::Checked) if s.on_trial || s.rounds < rules.strengthen => {
            perform(State { position: Position::Mutants, unreadable: false, ..s }, Row::MutantsDue)
        }
        (Position::At(ModelCheck), Event::Checked) => perform(s.to(Review), Row::Checked),

        (Position::Mutants, Event::Judged { better: false, .. }) if s.on_trial => dropped(rules, s),
        (Position::Mutants, Event::Judged { survivors, .. }) => {
            let again = survivors && s.rounds < rules.strengthen;
            let row = match (s.on_trial, again) {
                (true, _) => Row::StrongerKept,
                (false, true) => Row::Strengthen,
                (false, false) => Row::MutantsJudged,
            };
            let s = State { on_trial: false, ..s };
            if again { strengthen(s, row) } else { perform(s.to(Review), row) }
        }

        (Position::At(Review), Event::Reviewed(review)) => reviewed(rules, s, review),
        (Position::At(Review), Event::ReviewUnreadable { .. }) if !s.unreadable => {
            perform(State { unreadable: true, ..s }, Row::UnreadableOnce)
        }
        (Position::At(Review), Event::ReviewUnreadable { approval, best_inconclusive }) => {
            let station = approval.map_or(Formalize, ApprovalClause::station);
            revise(rules, s, station, Row::NothingNamed, best_inconclusive)
        }

        (Position::SecondReading, Event::SecondRead { agrees: true, .. }) => {
            if rules.repair && s.place < rules.max_revisions {
                next_revision(State { repaired: true, ..s }, InformalSpec, Row::FlawRepaired)
            } else {
                finish(s, Outcome::FlawFound, Row::FlawFound)
            }
        }
        (Position::SecondReading, Event::SecondRead { agrees: false, best_inconclusive }) => {
            revise(rules, s, Formalize, Row::FlawRefused, best_inconclusive)
        }
        (Position::SecondReading, Event::Unreadable) if !s.unreadable => {
            perform(State { unreadable: true, ..s }, Row::UnreadableOnce)
        }

        _ => Transition { state: s, effects: Vec::new(), row: Row::Ignored },
    }
}

/// The rows of a readable review, in the order of the table.
fn reviewed(rules: &Rules, s: State, review: ReviewFacts) -> Transition {
    match review {
        ReviewFacts { verdict: ReviewVerdict::Approved, earliest: None, approval: None, .. } => {
            let outcome = if s.repaired { Outcome::ApprovedRepaired } else { Outcome::Approved };
            finish(s, outcome, Row::Approved)
        }
        ReviewFacts { verdict: ReviewVerdict::Flaw, flaw: None, .. } => {
            perform(State { position: Position::SecondReading, unreadable: false, ..s }, Row::FlawClaimed)
        }
        ReviewFacts { verdict: ReviewVerdict::Approved, approval: Some(clause), best_inconclusive, .. } => {
            revise(rules, s, clause.station(), Row::ApprovalRefused, best_inconclusive)
        }
        ReviewFacts { verdict: ReviewVerdict::Flaw, flaw: Some(_), best_inconclusive, .. } => {
            revise(rules, s, Station::Formalize, Row::FlawRefused, best_inconclusive)
        }
        ReviewFacts { earliest: Some(station), best_inconclusive, .. } => {
            revise(rules, s, station, Row::Issues, best_inconclusive)
        }
        ReviewFacts { earliest: None, approval, best_inconclusive, .. } => {
            let station = approval.map_or(Station::Formalize, ApprovalClause::station);
            revise(rules, s, station, Row::NothingNamed, best_inconclusive)
        }
    }
}

/// Asks for stronger properties, on trial.
fn strengthen(s: State, row: Row) -> Transition {
    let mut t = perform(State { rounds: s.rounds + 1, on_trial: true, ..s }.to(Station::GenerateInvariants), row);
    t.effects.insert(0, Effect::SetAside);
    t
}

/// The properties before the trial stand again; what let their mutants survive is still there.
fn dropped(rules: &Rules, s: State) -> Transition {
    let s = State { merged_accepted: true, on_trial: false, ..s };
    let mut t = if s.rounds < rules.strengthen {
        strengthen(s, Row::StrongerDropped)
    } else {
        perform(s.to(Station::Review), Row::StrongerDropped)
    };
    t.effects.insert(0, Effect::Restore);
    t
}

/// Goes back to a station, unless the limit of revisions is reached.
fn revise(rules: &Rules, s: State, station: Station, row: Row, best_inconclusive: bool) -> Transition {
    if s.place >= rules.max_revisions {
        let outcome = if best_inconclusive { Outcome::Undecided } else { Outcome::NotApproved };
        return finish(s, outcome, Row::RevisionLimit);
    }
    next_revision(s, station, row)
}

fn next_revision(s: State, station: Station, row: Row) -> Transition {
    let next = State { place: s.place + 1, validate_retries: 0, invariant_retries: 0, rounds: 0, ..s }.to(station);
    let mut t = perform(next, row);
    t.effects.splice(0..0, [Effect::CloseRevision, Effect::OpenRevision]);
    t
}

fn perform(state: State, row: Row) -> Transition {
    let effect = match state.position {
        Position::At(station) => Effect::Perform(station),
        Position::SecondReading => Effect::ReadAgain,
        Position::Mutants => Effect::JudgeMutants,
        Position::Done(outcome) => Effect::Finish(outcome),
        Position::Stopped(_) => Effect::Finish(Outcome::Stopped),
    };
    Transition { state, effects: vec![effect], row }
}

fn finish(s: State, outcome: Outcome, row: Row) -> Transition {
    Transition {
        state: State { position: Position::Done(outcome), unreadable: false, ..s },
        effects: vec![Effect::CloseRevision, Effect::Finish(outcome)],
        row,
    }
}

fn stop(s: State, at: Resumable) -> Transition {
    perform(State { position: Position::Stopped(at), ..s }, Row::Stopped)
}
