//! The data of the events, a struct each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::candidates::{Candidate, Stage};
use super::claims::{CandidateClaims, Claims};
use super::mutants::{Judged, Tally};
use super::product::Product;
use super::spending::Spent;
use crate::journal::Sha;
use crate::llm::{
    ChangedDocument, Estimate, FailedCall, FileRead, LeftOut, ModelChoice, ModelSwitch, Offered, RequestKey, Usage,
};
use crate::pipeline::machine::{
    ApprovalClause, ApprovalFacts, Event as Step, FlawClause, FlawFacts, RoutingFacts, Row,
};
use crate::tla::Diagnostic;

/// Data of `attempt_started`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptStarted {}

/// Data of `request_sent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestSent {
    /// Why the request is sent: `draft`, `repair`, `second_reading`, …
    pub purpose: String,
    /// Which of several samples; 0 is the first.
    pub sample: u32,
    /// The request's key in recordings.
    pub key: RequestKey,
    pub provider: String,
    /// Model, temperature and effort.
    pub choice: ModelChoice,
    /// Role and prompt.
    pub prompt: Sha,
    /// The first 80 characters of the prompt.
    pub prompt_start: String,
    /// The hash of all that the request says.
    pub wording: Sha,
    /// The files that the model may read.
    pub offered: Vec<Offered>,
}

/// What rules can read of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerFacts {
    /// Its text.
    pub text: Sha,
    /// The tools that the model has used.
    pub tools: Vec<String>,
    /// Why the model stopped, in the provider's words.
    pub stop_reason: Option<String>,
    /// Its labels, if rules ask for some.
    #[serde(flatten)]
    pub labels: Option<AnswerLabels>,
}

/// The labels that a model gave an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerLabels {
    /// The propositions that are true of it.
    pub labels: Vec<String>,
    /// The hash of the propositions that the model judged.
    pub propositions: Sha,
    /// The model that gave them.
    pub model: String,
}

/// Data of `answer_received`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerReceived {
    pub purpose: String,
    /// Which of several samples; 0 is the first.
    pub sample: u32,
    /// The number of its `request_sent`.
    pub request: u64,
    /// The text of the answer.
    pub artifact: Sha,
    /// The provider that answered.
    pub provider: String,
    /// The model that answered, if the provider says so.
    pub model: Option<String>,
    /// Tokens, if the provider counts them.
    pub usage: Option<Usage>,
    /// US dollars, if the price is known.
    pub cost_usd: Option<f64>,
    /// An estimate of what the provider did not count.
    pub estimated: Option<Estimate>,
    /// The answer was recorded for a different prompt.
    pub stale: bool,
    /// The documents that differ from those that a recorded answer was given for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_documents: Vec<ChangedDocument>,
    /// The files that the model has read.
    pub reads: Vec<FileRead>,
    /// What rules can read of it, if it is accepted as it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerFacts>,
    /// The same for an answer that is not accepted yet: rules do not read this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_answer: Option<AnswerFacts>,
    /// Seconds from request to answer, retries included.
    pub seconds: f64,
    /// The request ids of the server.
    pub request_ids: Vec<String>,
}

impl AnswerReceived {
    /// What the call has cost.
    pub fn spent(&self) -> Spent {
        let spent = Spent::of_call(self.usage, self.cost_usd, self.estimated, false);
        let has_changed = self.changed_documents.iter().any(ChangedDocument::is_known);
        Spent {
            stale: u32::from(self.stale || has_changed),
            changed_documents: u32::from(has_changed),
            seconds: self.seconds,
            ..spent
        }
    }

    /// US dollars, with the estimate of what was not counted; `None` if neither is known.
    pub fn cost(&self) -> Option<f64> {
        let estimated = self.estimated.and_then(|estimated| estimated.cost_usd);
        self.cost_usd.or(estimated).map(|_| self.cost_usd.unwrap_or(0.0) + estimated.unwrap_or(0.0))
    }

    /// Tokens, with the estimate of what was not counted.
    pub fn tokens(&self) -> u64 {
        let parts = [self.usage, self.estimated.map(|estimated| estimated.usage)];
        parts.into_iter().flatten().fold(0, |sum, usage| sum.saturating_add(usage.total()))
    }
}

/// Data of `answer_accepted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerAccepted {
    pub purpose: String,
    /// Which of several samples; 0 is the first.
    pub sample: u32,
    /// The text of the answer.
    pub artifact: Sha,
    /// The provider that answered.
    pub provider: String,
    /// The files that the model has read.
    pub reads: Vec<FileRead>,
    /// What rules can read of it.
    pub answer: AnswerFacts,
}

/// Data of `answer_offered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerOffered {
    pub purpose: String,
    /// Which of several samples; 0 is the first.
    pub sample: u32,
    /// The text of the answer.
    pub artifact: Sha,
    /// The provider that answered.
    pub provider: String,
    /// The files that the model has read.
    pub reads: Vec<FileRead>,
    /// What rules will read of it if it is accepted.
    pub pending_answer: AnswerFacts,
}

impl AnswerAccepted {
    /// A pending answer as accepted, with these labels; `None` if it was accepted as it came.
    pub fn accept(received: &AnswerReceived, labels: Option<AnswerLabels>) -> Option<Self> {
        let AnswerReceived { purpose, sample, artifact, provider, reads, .. } = received.clone();
        let pending_answer = received.pending_answer.clone()?;
        let answer = AnswerFacts { labels: labels.or(pending_answer.labels), ..pending_answer };
        Some(Self { purpose, sample, artifact, provider, reads, answer })
    }
}

impl From<AnswerAccepted> for AnswerOffered {
    fn from(accepted: AnswerAccepted) -> Self {
        let AnswerAccepted { purpose, sample, artifact, provider, reads, answer: pending_answer } = accepted;
        Self { purpose, sample, artifact, provider, reads, pending_answer }
    }
}

impl From<AnswerOffered> for AnswerAccepted {
    fn from(offered: AnswerOffered) -> Self {
        let AnswerOffered { purpose, sample, artifact, provider, reads, pending_answer: answer } = offered;
        Self { purpose, sample, artifact, provider, reads, answer }
    }
}

/// Data of `labelled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Labelled {
    /// The purpose of the labelled answer.
    pub purpose: String,
    /// Which of several samples; 0 is the first.
    pub sample: u32,
    /// The hash of the text and the tools that were judged.
    pub step: Sha,
    /// The labels.
    #[serde(flatten)]
    pub given: AnswerLabels,
    /// A recording of another wording was used.
    pub stale: bool,
    /// Requests that it took.
    pub calls: usize,
    /// US dollars of these, if all their prices are known.
    pub cost_usd: Option<f64>,
    /// Their tokens.
    pub tokens: u64,
}

/// Data of `answer_normalised`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerNormalised {
    /// What was removed.
    pub removed: Vec<String>,
}

/// Data of `part_taken`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartTaken {
    /// The answer with all parts.
    pub whole_answer: Option<Sha>,
    /// The part.
    pub artifact: Sha,
}

/// Data of `part_missing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartMissing {
    /// The answer with all parts.
    pub whole_answer: Option<Sha>,
    /// The reason in words.
    pub why: String,
}

/// Data of `call_failed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallFailed {
    pub purpose: String,
    /// The number of its `request_sent`.
    pub request: u64,
    /// The failure.
    #[serde(flatten)]
    pub failure: FailedCall,
}

/// Data of `model_switched`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSwitched {
    pub purpose: String,
    /// The number of its `request_sent`.
    pub request: u64,
    /// The two models.
    #[serde(flatten)]
    pub models: ModelSwitch,
}

/// Data of `request_part_omitted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestPartOmitted {
    pub purpose: String,
    /// The number of its `request_sent`.
    pub request: u64,
    /// The part, and why.
    #[serde(flatten)]
    pub left_out: LeftOut,
}

/// Data of `read_refused`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadRefused {
    pub path: String,
    /// The reason in words.
    pub why: String,
}

/// Data of `answer_unreadable`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerUnreadable {
    /// The reason in words.
    pub why: String,
}

/// Data of `tool_finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFinished {
    /// The name of the tool.
    pub tool: String,
    /// Translator and parser accept the module.
    pub accepted: bool,
    /// The accepted module.
    pub module: Option<Sha>,
    pub diagnostics: Vec<Diagnostic>,
    /// Definitions that were added to the module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Vec<String>>,
    /// Definitions of the module that were replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Vec<String>>,
}

/// Data of `candidate_started` and `leader_notified`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateStarted {
    /// The number of the candidate, from 1.
    pub candidate: u32,
    /// How many candidates were to be drafted.
    pub total: u32,
}

/// Data of `candidate_finished`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateFinished {
    /// Its result.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Its claims.
    pub claims: CandidateClaims,
}

/// Data of `candidate_received`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateReceived {
    /// The number of the candidate, from 1.
    pub candidate: u32,
    /// The stage of the result.
    pub stage: Stage,
    /// The points of the result.
    pub points: u64,
}

/// Data of `leaders_selected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeadersSelected {
    /// The numbers of the leaders.
    pub leaders: Vec<u32>,
    /// The numbers of all candidates whose drafts had been received.
    pub received: Vec<u32>,
}

/// Data of `mutants_judged`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutantsJudged {
    /// The judgement.
    #[serde(flatten)]
    pub judged: Judged,
    /// Killed and surviving mutants.
    pub tally: Tally,
    /// The number of mutants by class.
    pub counts: BTreeMap<String, usize>,
}

impl From<Judged> for MutantsJudged {
    fn from(judged: Judged) -> Self {
        Self { tally: judged.tally(), counts: judged.counts(), judged }
    }
}

/// Data of `properties_read`: what a blind reader says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlindReading {
    /// The module that was read.
    pub module: Sha,
    /// What each property forbids, in the names of the module.
    pub forbids: BTreeMap<String, String>,
    /// The hash of each of these properties with all definitions that it uses. A property
    /// whose hash was read before is not read again.
    #[serde(default)]
    pub formulas: BTreeMap<String, Sha>,
    /// Properties that the reader was asked about and said nothing of.
    pub unread: Vec<String>,
}

impl BlindReading {
    /// Which properties were read, and which were not.
    pub fn words(&self) -> String {
        let missing = match self.unread.as_slice() {
            [] => String::new(),
            unread => format!(", not read: {}", unread.join(", ")),
        };
        format!("read blindly: {}{missing}", self.forbids.keys().cloned().collect::<Vec<_>>().join(", "))
    }
}

/// Data of `attempt_finished`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptFinished {
    #[serde(flatten)]
    pub product: Product,
    /// The claims of the node, for the guards; `None` if its answer was unreadable: then its earlier claims remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<Claims>,
}

/// Data of `guard_evaluated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "guard", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one event for each review")]
pub enum GuardEvaluated {
    /// The guard of an approval.
    Approval(Evaluation<ApprovalClause, ApprovalFacts>),
    /// The guard of a flaw.
    Flaw(Evaluation<FlawClause, FlawFacts>),
}

/// The result of a guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation<C, F> {
    /// Whether every clause holds.
    pub holds: bool,
    /// The first clause that fails.
    pub clause: Option<C>,
    /// Its formula.
    pub formula: Option<String>,
    /// The values that it saw, by the names in its formula.
    pub values: Option<Map<String, Value>>,
    /// Why it fails, in words.
    pub why: Option<String>,
    /// The lists behind the values.
    pub facts: F,
}

impl GuardEvaluated {
    /// The name of the guard.
    pub fn guard(&self) -> &'static str {
        match self {
            GuardEvaluated::Approval(_) => "approval",
            GuardEvaluated::Flaw(_) => "flaw",
        }
    }

    /// The first clause that fails, with the reason; `None` if all hold.
    pub fn failing(&self) -> Option<(String, &str)> {
        match self {
            GuardEvaluated::Approval(e) => e.clause.map(|c| (c.name(), e.why.as_deref().unwrap_or_default())),
            GuardEvaluated::Flaw(e) => e.clause.map(|c| (c.name(), e.why.as_deref().unwrap_or_default())),
        }
    }
}

/// Data of `routed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Routed {
    /// The lifeline that decides.
    pub from: String,
    /// The lifeline that goes on, or the outcome of the run.
    pub to: String,
    /// The row of the routing table.
    pub row: Row,
    /// What happened, for the machine.
    pub event: Step,
    /// The facts that the row was chosen by.
    pub routing: RoutingFacts,
    /// The reason in words.
    pub why: String,
}

/// Data of `claims_restored`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimsRestored {
    /// The claims that hold again.
    pub claims: Claims,
}
