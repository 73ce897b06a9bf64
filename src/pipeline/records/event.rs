//! The events of a run's journal as one enum, and how one is drafted.
//!
//! Every field that a rule, a report or an audit can read is declared in `event_data` or in a type that it names.
#![allow(clippy::large_enum_variant, reason = "entries are few, and answers the most frequent of the large ones")]
#![allow(unreachable_pub, reason = "strum derives `is_…` and `try_as_…` for each variant")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::candidates::{AbandonedCandidate, Chosen, QuickCheck};
use super::check::CheckRecord;
use super::claims::Claims;
use super::event_data::{
    AnswerAccepted, AnswerNormalised, AnswerOffered, AnswerReceived, AnswerUnreadable, AttemptFinished, AttemptStarted,
    BlindReading, CallFailed, CandidateFinished, CandidateReceived, CandidateStarted, ClaimsRestored, GuardEvaluated,
    Labelled, LeadersSelected, ModelSwitched, MutantsJudged, PartMissing, PartTaken, ReadRefused, RequestPartOmitted,
    RequestSent, Routed, ToolFinished,
};
use super::mutants::MutantSample;
use super::policy_events::{Intervened, Predicted, Violation};
use super::revision::{Finished, Revision};
use super::settings::{Branch, Changed, Settings};
use crate::journal::{self, Kind, Past};
use crate::pipeline::machine::LifelineGroup;

/// A durable event of a run, with its envelope.
pub type Entry = journal::Entry<RunEvent>;

/// An event of a run as it is written.
pub type Record = journal::Record<RunEvent>;

/// Events of a run that are not written yet.
pub type Draft = journal::Draft<RunEvent>;

/// An event of a run: its name in the journal and its data.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::EnumIs,
    strum::EnumTryAs,
    strum::IntoStaticStr,
    strum::EnumDiscriminants,
)]
#[serde(tag = "name", content = "data", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[strum_discriminants(
    name(EventName),
    derive(strum::IntoStaticStr, strum::VariantArray),
    strum(serialize_all = "snake_case"),
    doc = "The names of the events."
)]
pub enum RunEvent {
    /// The run begins.
    RunStarted(Box<Settings>),
    /// A stopped run continues, with these settings changed.
    RunResumed(Box<Changed>),
    /// A branch begins from an earlier revision.
    BranchStarted(Box<Branch>),
    /// A node begins an attempt.
    AttemptStarted(AttemptStarted),
    /// A request goes to a model.
    RequestSent(RequestSent),
    /// A model has answered.
    AnswerReceived(AnswerReceived),
    /// An answer is accepted: rules see it from here on.
    AnswerAccepted(AnswerAccepted),
    /// The answer of a candidate that will be accepted if the candidate is chosen.
    AnswerOffered(AnswerOffered),
    /// A model has labelled an answer.
    Labelled(Labelled),
    /// An intervention happened because an answer would have violated a rule.
    Intervened(Intervened),
    /// A model predicted which rules will be violated after an answer.
    Predicted(Predicted),
    /// Something was removed from an answer before it was read.
    AnswerNormalised(AnswerNormalised),
    /// A node uses its part of one answer that drafts everything.
    PartTaken(PartTaken),
    /// One answer that drafts everything lacks the part of this node.
    PartMissing(PartMissing),
    /// A call has failed.
    CallFailed(CallFailed),
    /// Requests go to another model from here on.
    ModelSwitched(ModelSwitched),
    /// A part of requests is omitted from here on, because the server refuses it.
    RequestPartOmitted(RequestPartOmitted),
    /// A model has tried to read a file outside the workspace.
    ReadRefused(ReadRefused),
    /// An answer could not be read.
    AnswerUnreadable(AnswerUnreadable),
    /// The translator and the parser have finished.
    ToolFinished(ToolFinished),
    /// The checker has finished.
    CheckFinished(Box<CheckRecord>),
    /// A candidate begins.
    CandidateStarted(CandidateStarted),
    /// A candidate's module was checked with small constants.
    QuickCheckFinished(QuickCheck),
    /// A candidate has finished a stage.
    CandidateFinished(Box<CandidateFinished>),
    /// `formalize` has received a candidate's result.
    CandidateReceived(CandidateReceived),
    /// A candidate ends without a result.
    CandidateAbandoned(AbandonedCandidate),
    /// `formalize` has selected the candidates that get properties.
    LeadersSelected(LeadersSelected),
    /// A candidate begins with properties, because it was selected.
    LeaderNotified(CandidateStarted),
    /// `formalize` has chosen the candidate that goes on.
    CandidateChosen(Chosen),
    /// The mutants of the specification are judged.
    MutantsJudged(MutantsJudged),
    /// A sample of the mutants of the specification is judged, which is about to be approved.
    MutantsSampled(Box<MutantSample>),
    /// A blind reader has said what the properties forbid.
    PropertiesRead(BlindReading),
    /// A node has finished an attempt.
    AttemptFinished(Box<AttemptFinished>),
    /// A guard was evaluated.
    GuardEvaluated(Box<GuardEvaluated>),
    /// The state machine has moved: the run goes on to a node, or ends.
    Routed(Box<Routed>),
    /// The claims of a node hold again, after a branch or a dropped trial.
    ClaimsRestored(ClaimsRestored),
    /// A revision is closed.
    RevisionClosed(Box<Revision>),
    /// The run has ended or stopped.
    RunFinished(Finished),
    /// A rule of the user's policy is violated.
    RuleViolated(Violation),
}

impl RunEvent {
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Its data as JSON, as the journal holds it.
    pub fn data(&self) -> Value {
        let mut event = serde_json::to_value(self).expect("plain data with string keys");
        event["data"].take()
    }

    /// The claims that the event publishes for the guards.
    pub fn claims(&self) -> Option<&Claims> {
        match self {
            RunEvent::AttemptFinished(finished) => finished.claims.as_ref(),
            RunEvent::ClaimsRestored(restored) => Some(&restored.claims),
            // A candidate's claims have another type: no guard reads them.
            RunEvent::RunStarted(_)
            | RunEvent::RunResumed(_)
            | RunEvent::BranchStarted(_)
            | RunEvent::AttemptStarted(_)
            | RunEvent::RequestSent(_)
            | RunEvent::AnswerReceived(_)
            | RunEvent::AnswerAccepted(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Labelled(_)
            | RunEvent::Intervened(_)
            | RunEvent::Predicted(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::CallFailed(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::RequestPartOmitted(_)
            | RunEvent::ReadRefused(_)
            | RunEvent::AnswerUnreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::CheckFinished(_)
            | RunEvent::CandidateStarted(_)
            | RunEvent::QuickCheckFinished(_)
            | RunEvent::CandidateFinished(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::CandidateAbandoned(_)
            | RunEvent::LeadersSelected(_)
            | RunEvent::LeaderNotified(_)
            | RunEvent::CandidateChosen(_)
            | RunEvent::MutantsJudged(_)
            | RunEvent::MutantsSampled(_)
            | RunEvent::PropertiesRead(_)
            | RunEvent::GuardEvaluated(_)
            | RunEvent::Routed(_)
            | RunEvent::RevisionClosed(_)
            | RunEvent::RunFinished(_)
            | RunEvent::RuleViolated(_) => None,
        }
    }
}

impl EventName {
    /// The lifelines that can have an event of this name.
    pub(in crate::pipeline) fn makers(self) -> LifelineGroup {
        match self {
            EventName::RunStarted
            | EventName::RunResumed
            | EventName::BranchStarted
            | EventName::RunFinished
            | EventName::RuleViolated => LifelineGroup::One("run"),
            EventName::AttemptStarted | EventName::AttemptFinished | EventName::Routed | EventName::RevisionClosed => {
                LifelineGroup::Activities
            }
            EventName::RequestSent
            | EventName::AnswerReceived
            | EventName::AnswerAccepted
            | EventName::AnswerOffered
            | EventName::Labelled
            | EventName::Intervened
            | EventName::Predicted
            | EventName::AnswerNormalised
            | EventName::PartTaken
            | EventName::PartMissing
            | EventName::CallFailed
            | EventName::ModelSwitched
            | EventName::RequestPartOmitted
            | EventName::ReadRefused
            | EventName::AnswerUnreadable => LifelineGroup::Asking,
            EventName::ToolFinished => LifelineGroup::Inspecting,
            EventName::CheckFinished => LifelineGroup::Checking,
            EventName::CandidateStarted
            | EventName::QuickCheckFinished
            | EventName::CandidateFinished
            | EventName::CandidateAbandoned
            | EventName::LeaderNotified => LifelineGroup::Candidates,
            EventName::CandidateReceived | EventName::LeadersSelected | EventName::CandidateChosen => {
                LifelineGroup::One("formalize")
            }
            EventName::MutantsJudged => LifelineGroup::One("mutants"),
            EventName::MutantsSampled | EventName::PropertiesRead | EventName::GuardEvaluated => {
                LifelineGroup::One("review")
            }
            EventName::ClaimsRestored => LifelineGroup::Restored,
        }
    }
}

/// A record whose causal past is that of its own lifeline; [`journal::Record::with_journal_past`] widens it to the whole journal.
pub(in crate::pipeline) fn record(lifeline: &str, kind: Kind, rev: u32, attempt: u32, event: RunEvent) -> Record {
    Record { lifeline: lifeline.to_owned(), kind, rev, attempt, past: Past::Lifeline, event }
}

/// The JSON of a value of our own types. They always serialise: string keys, no failing implementations.
pub(in crate::pipeline) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("plain data with string keys")
}
