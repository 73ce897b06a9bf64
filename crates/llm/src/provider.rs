//! The interface of all providers: request, answer, error, and the trait.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_state::CallState;
use super::failure::CallFailure;
pub use super::model_choice::ModelChoice;
use super::shared_limits::NotAdmitted;
use super::usage::Usage;
use tlaforge_files::Sha;
use tlaforge_process::Cancel;

/// Identifies a request of a run. It does not depend on folder names or times, so that a recording can be replayed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RequestKey {
    /// The name of the node that asks.
    pub node: String,
    /// How many revisions precede this one on its branch. Recordings call it `place`.
    #[serde(rename = "place")]
    pub branch_index: u32,
    /// The attempt at that node in that revision, from 1.
    pub attempt: u32,
    /// `draft`, `repair`, `second_reading`, …
    pub purpose: String,
    /// The number of the answer among several to the same request, from 0. Recordings call it `candidate`.
    #[serde(rename = "candidate")]
    pub sample: u32,
}

impl fmt::Display for RequestKey {
    // The requests of `handoff` begin with this text, so its words stay.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}, pass {}, attempt {}", self.purpose, self.node, self.branch_index, self.attempt)?;
        if self.sample > 0 {
            write!(f, ", candidate {}", self.sample)?;
        }
        Ok(())
    }
}

/// A file that the model may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Its path below the workspace, with `/`.
    pub path: String,
    /// SHA-256 of its content.
    pub sha: Sha,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether many requests of a run offer the same file (documents, exemplars), so that a cached prefix pays off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Whether it is the index of the documents, which follows from them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_index: bool,
}

impl Offered {
    /// Whether it is one of the documents of the run.
    pub fn is_document(&self) -> bool {
        self.path.starts_with("docs/") && !self.is_index
    }
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct Request {
    pub key: RequestKey,
    /// The number of its `request_sent` event.
    pub seq: u64,
    /// The role instructions, sent as system prompt.
    pub role: String,
    /// The prompt. It is short and names the paths of files to read.
    pub prompt: String,
    /// The only folder that the model may read.
    pub workspace: PathBuf,
    /// The files in the workspace for this request.
    pub offered: Vec<Offered>,
    /// The model, and its settings.
    pub choice: ModelChoice,
    /// The JSON schema of the answer, for providers that can constrain a model to one.
    pub schema: Option<Value>,
}

impl Request {
    /// SHA-256 of role and prompt, without the content of the files that they refer to.
    pub fn wording(&self) -> Sha {
        Sha::digest(format!("{}\n\0\n{}", self.role, self.prompt))
    }
}

/// Decisions of one attempt of a node that depended on the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// The node: `model_check`, `mutants`, or `review` for the mutants that are sampled before an approval.
    pub node: String,
    /// How many revisions precede this one on its branch. Recordings call it `place`.
    #[serde(rename = "place")]
    pub branch_index: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Whether the check ran out of time; for mutants, the check of the original specification.
    #[serde(default, alias = "out_of_time", skip_serializing_if = "std::ops::Not::not")]
    pub check_timed_out: bool,
    /// Witnesses, properties after a violation, searches without open points, larger bounds (`N = 3`), or mutants that were not decided
    /// in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed_out: Vec<String>,
    /// Larger bounds of which the check met too many states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_many_states: Vec<String>,
    /// Mutants or larger bounds that were not started in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<String>,
    /// Whether counterexamples without the steps of open points were searched for after the check; older recordings do not say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open_points: bool,
    /// Whether larger bounds were tried after the check; older recordings do not say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub larger_bounds: bool,
}

/// A file that the model read, according to the provider's own record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRead {
    /// Its path below the workspace.
    pub path: String,
    /// SHA-256 of its content when it was read.
    pub sha: Sha,
    /// Whether all of it was read, in one piece or several.
    #[serde(default = "default_true", skip_serializing_if = "std::clone::Clone::clone")]
    pub whole: bool,
}

fn default_true() -> bool {
    true
}

/// A document that is not the one that a recorded answer was given for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedDocument {
    /// Its path below the workspace.
    pub path: String,
    pub change: DocumentChange,
}

/// How a document differs from the recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentChange {
    /// It has another text.
    Changed,
    /// The run does not have it.
    Missing,
    /// The recorded run did not have it.
    Added,
    /// The recording does not say whether the recorded run had it.
    Unknown,
}

impl ChangedDocument {
    /// Whether it is known to have changed.
    pub fn is_known(&self) -> bool {
        self.change != DocumentChange::Unknown
    }
}

impl fmt::Display for ChangedDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.change {
            DocumentChange::Changed => "its text has changed",
            DocumentChange::Missing => "it is missing now",
            DocumentChange::Added => "it was not there when the answer was recorded",
            DocumentChange::Unknown => "the recording does not say whether it was there",
        };
        write!(f, "{} ({change})", self.path)
    }
}

/// The documents in one line.
pub fn changed_documents_words(changed: &[ChangedDocument]) -> String {
    changed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Longest accepted answer, in bytes. Specifications stay far below it (a module of two megabytes is handled), and memory
/// and journal can handle it.
pub const MAX_ANSWER_BYTES: u64 = 8 << 20;

/// The answer of a model, with everything that the provider knows about the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    /// The files that the model read.
    pub reads: Vec<FileRead>,
    /// Paths outside the workspace that it tried to read.
    pub refused_reads: Vec<String>,
    /// Tokens, if the provider counts them.
    pub usage: Option<Usage>,
    /// Estimate of the tokens of those requests of the call that the provider did not count, besides `usage`. Only if there
    /// is a budget.
    pub estimated: Option<Usage>,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
    /// The model, if the provider names it.
    pub model: Option<String>,
    /// Whether the answer was recorded for another wording of the prompt.
    pub stale: bool,
    /// The documents that differ from those of the recording: the model did not read their present text for this answer.
    pub changed_documents: Vec<ChangedDocument>,
    /// The server's ids of the requests of the call.
    pub request_ids: Vec<String>,
    /// Why the model stopped, in the provider's term.
    pub stop_reason: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    #[error("cancelled")]
    Cancelled,
    /// The recording has no answer to the request.
    #[error(
        "the recording {recording} has no answer to this request: {wanted}; the most similar one that it answers: {nearest}"
    )]
    ReplayMiss {
        recording: String,
        wanted: String,
        /// The most similar request of the recording.
        nearest: String,
    },
    /// The recorded answer belongs to another wording, and `--strict-replay` is set.
    #[error(
        "the prompt has changed since the answer to {wanted} was recorded; record again, or replay without --strict-replay"
    )]
    ReplayStale { wanted: String },
    /// The recorded answer was given for other documents, and `--strict-replay` is set.
    #[error(
        "the answer to {wanted} was recorded for other documents: {documents}; record again, or restore the documents"
    )]
    ReplayOtherDocuments { wanted: String, documents: String },
    #[error("{what} {path}: {source}")]
    Io {
        /// The operation, as in `read PATH`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Failed(#[from] CallFailure),
    /// A budget does not allow the call.
    #[error("{what}; raise {flag} and resume, or choose a cheaper model")]
    Budget {
        /// The use so far, the estimate for the call, and the limit, in words.
        what: String,
        /// The command-line flag of the limit.
        flag: &'static str,
    },
    /// It is not known whether the limits that the run shares with others allow the call.
    #[error("the limits of all runs give no answer: {what}; resume when they do")]
    SharedLimits { what: String },
    /// The run's time is up.
    #[error("the time limit of the run (--max-time) is reached; resume with a longer one")]
    Deadline,
    /// An answer beyond [`MAX_ANSWER_BYTES`].
    #[error("{path} is longer than {} MiB, the limit for an answer; replace it by a shorter one", MAX_ANSWER_BYTES >> 20)]
    TooLong { path: PathBuf },
    /// An answer file that is not text.
    #[error("{path} is not UTF-8 text; save it as UTF-8")]
    NotText { path: PathBuf },
}

impl From<NotAdmitted> for LlmError {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::Cancelled => Self::Cancelled,
            NotAdmitted::Refused { what, flag } => Self::Budget { what, flag },
            NotAdmitted::Unknown { what } => Self::SharedLimits { what },
        }
    }
}

/// A boxed future, so that [`Provider`] is object-safe.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, LlmError>> + Send + 'a>>;

/// A source of answers: an API, a program, files or a recording.
pub trait Provider: Send + Sync {
    /// Its name on the command line and in the journal.
    fn name(&self) -> &'static str;

    /// A name of the key or login that pays, if it is known here: never the key itself.
    fn key_fingerprint(&self) -> Option<String> {
        None
    }

    /// Whether the answer to this request is known to arrive after the decision that it was meant for.
    fn comes_late(&self, _key: &RequestKey) -> bool {
        false
    }

    /// Whether the quick check of the answer is known to run out of time.
    fn check_timed_out(&self, _key: &RequestKey) -> bool {
        false
    }

    /// Whether it answers requests of this purpose. A recording does only if it has such an answer.
    fn answers(&self, _purpose: &str) -> bool {
        true
    }

    /// Whether it can answer this request. A recording can only if it has the answer.
    fn has_answer(&self, _key: &RequestKey) -> bool {
        true
    }

    /// The words that made a sentence normative when the answers were recorded, if this is known.
    fn normative_words(&self) -> Option<&[String]> {
        None
    }

    /// The clock's decisions in this attempt of a node, if they are known.
    fn timing(&self, _node: &str, _branch_index: u32, _attempt: u32) -> Option<&Timing> {
        None
    }

    /// Asks, and waits for the answer. Dropping the future or cancelling through `cancel` ends the call.
    fn ask<'a>(&'a self, request: &'a Request, cancel: &'a Cancel) -> AnswerFuture<'a>;

    /// Asks with a call state. A provider that sends several requests for one call checks the budget before each of them. By
    /// default, the call counts as one request, which is sent from the beginning: if it is dropped, it may be paid.
    fn ask_with<'a>(&'a self, request: &'a Request, state: &'a CallState, cancel: &'a Cancel) -> AnswerFuture<'a> {
        state.mark_sent();
        self.ask(request, cancel)
    }
}
