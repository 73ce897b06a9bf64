//! The events of a run's journal as one enum, and how one is drafted.
//!
//! Every field that a rule, a report or an audit can read is declared in `event_data` or in a type that it names.
#![allow(unreachable_pub, reason = "strum derives `is_…` and `try_as_…` for each variant")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::candidates::{AbandonedCandidate, Chosen, QuickCheck};
use super::check::CheckRecord;
use super::claims::Claims;
use super::event_data::{
    AnswerAccepted, AnswerNormalised, AnswerOffered, AnswerReceived, AnswerUnreadable, AttemptFinished, AttemptStarted,
    CallFailed, CandidateFinished, CandidateReceived, CandidateStarted, ClaimsRestored, GuardEvaluated, Labelled,
    LeadersSelected, ModelSwitched, MutantsJudged, PartMissing, PartTaken, ReadRefused, RequestPartOmitted,
    RequestSent, Routed, ToolFinished,
};
use super::policy_events::{Intervened, Predicted, Violation};
use super::revision::{Finished, Revision};
use super::settings::{Branch, Changed, Settings};
use crate::journal::{self, Kind, Past};
use crate::pipeline::machine::Makers;

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
    /// A stopped run goes on, with these settings changed.
    RunResumed(Box<Changed>),
    /// A branch begins from an earlier revision.
    BranchStarted(Box<Branch>),
    /// A node begins an attempt.
    AttemptStarted(AttemptStarted),
    /// A request goes to a model.
    RequestSent(RequestSent),
    /// A model has answered.
    AnswerReceived(AnswerReceived),
    /// An answer is taken: rules see it from here on.
    AnswerAccepted(AnswerAccepted),
    /// A candidate's answer would be taken if the candidate is chosen.
    AnswerOffered(AnswerOffered),
    /// A model has labelled an answer.
    Labelled(Labelled),
    /// An answer that would have violated a rule was met with an intervention.
    Intervened(Intervened),
    /// It was predicted which rules an answer leads to a violation of.
    Predicted(Predicted),
    /// Something was removed from an answer before it was read.
    AnswerNormalised(AnswerNormalised),
    /// A node has taken its part of an answer that drafts everything at once.
    PartTaken(PartTaken),
    /// Such an answer lacks the part of this node.
    PartMissing(PartMissing),
    /// A call has failed.
    CallFailed(CallFailed),
    /// Another model is asked from here on.
    ModelSwitched(ModelSwitched),
    /// A part of the request is left out from here on, because the server refuses it.
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
    /// A candidate's module was checked with small constants and without properties.
    QuickCheckFinished(QuickCheck),
    /// A candidate has come to the end of a stage.
    CandidateFinished(Box<CandidateFinished>),
    /// `formalize` has received a candidate's result.
    CandidateReceived(CandidateReceived),
    /// A candidate ends without a result.
    CandidateAbandoned(AbandonedCandidate),
    /// The candidates that are given properties.
    LeadersSelected(LeadersSelected),
    /// A candidate learns that it is one of them.
    LeaderNotified(CandidateStarted),
    /// The candidate that goes on.
    CandidateChosen(Chosen),
    /// The mutants of the specification are judged.
    MutantsJudged(MutantsJudged),
    /// A node has finished an attempt.
    AttemptFinished(Box<AttemptFinished>),
    /// A guard was evaluated.
    GuardEvaluated(Box<GuardEvaluated>),
    /// The run goes on to a node, or ends.
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
    /// Its name in the journal.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Its data as JSON, as the journal holds it.
    pub fn data(&self) -> Value {
        let mut event = serde_json::to_value(self).expect("plain data with string keys");
        event["data"].take()
    }

    /// The claims that it publishes for the guards.
    pub fn claims(&self) -> Option<&Claims> {
        match self {
            RunEvent::AttemptFinished(finished) => finished.claims.as_ref(),
            RunEvent::ClaimsRestored(restored) => Some(&restored.claims),
            _ => None,
        }
    }
}

impl EventName {
    /// The lifelines that can have an event of this name.
    pub(in crate::pipeline) fn makers(self) -> Makers {
        match self {
            EventName::RunStarted
            | EventName::RunResumed
            | EventName::BranchStarted
            | EventName::RunFinished
            | EventName::RuleViolated => Makers::One("run"),
            EventName::AttemptStarted | EventName::AttemptFinished | EventName::Routed | EventName::RevisionClosed => {
                Makers::Jobs
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
            | EventName::AnswerUnreadable => Makers::Asking,
            EventName::ToolFinished => Makers::Inspecting,
            EventName::CheckFinished => Makers::Checking,
            EventName::CandidateStarted
            | EventName::QuickCheckFinished
            | EventName::CandidateFinished
            | EventName::CandidateAbandoned
            | EventName::LeaderNotified => Makers::Candidates,
            EventName::CandidateReceived | EventName::LeadersSelected | EventName::CandidateChosen => {
                Makers::One("formalize")
            }
            EventName::MutantsJudged => Makers::One("mutants"),
            EventName::GuardEvaluated => Makers::One("review"),
            EventName::ClaimsRestored => Makers::Restored,
        }
    }
}

/// A record that follows from the events of its own lifeline; see [`journal::Record::after_all`].
pub(in crate::pipeline) fn record(lifeline: &str, kind: Kind, rev: u32, attempt: u32, event: RunEvent) -> Record {
    Record { lifeline: lifeline.to_owned(), kind, rev, attempt, past: Past::Lifeline, event }
}

/// Our own types always serialise: string keys, no failing implementations.
pub(in crate::pipeline) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("plain data with string keys")
}
