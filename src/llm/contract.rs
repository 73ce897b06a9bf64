//! What every provider takes and gives.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::CallFailure;
use super::terms::Terms;
pub use crate::config::ModelChoice;
use crate::journal::Sha;
use crate::process::Cancel;

/// Which request of a run this is, independent of folder names and times, so that a recording can be replayed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RequestKey {
    /// The node that asks.
    pub node: String,
    /// Which pass of its branch the run is in, from 0.
    pub place: u32,
    /// The attempt at that node in that pass, from 1.
    pub attempt: u32,
    /// `draft`, `repair`, `second_reading`, …
    pub purpose: String,
    /// The candidate, from 0.
    pub candidate: u32,
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}, pass {}, attempt {}", self.purpose, self.node, self.place, self.attempt)?;
        if self.candidate > 0 {
            write!(f, ", candidate {}", self.candidate)?;
        }
        Ok(())
    }
}

/// A file that the model may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Its path below the workspace, with `/`.
    pub path: String,
    /// Its content's name.
    pub sha: Sha,
    /// Its size in bytes.
    pub bytes: u64,
    /// Many requests of a run offer it, word for word (documents, exemplars): worth a place in a cached prefix.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

/// One question.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which request it is.
    pub key: RequestKey,
    /// The number of its `request_sent` event.
    pub seq: u64,
    /// The role instructions.
    pub role: String,
    /// The prompt: short, and naming paths.
    pub prompt: String,
    /// The only folder that may be read.
    pub workspace: PathBuf,
    /// What is in it for this request.
    pub offered: Vec<Offered>,
    /// Who answers, and how.
    pub choice: ModelChoice,
    /// The JSON schema of the answer, for providers that can hold a model to one.
    pub schema: Option<Value>,
}

impl Request {
    /// The name of the wording: role and prompt, not the content of the files they point to.
    pub fn wording(&self) -> Sha {
        Sha::of(format!("{}\n\0\n{}", self.role, self.prompt))
    }
}

/// What the clock decided in one attempt of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// The node: `model_check` or `mutants`.
    pub node: String,
    /// The pass.
    pub place: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The check did not end in time; of mutants, the check of the specification that they are made from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_time: bool,
    /// Witnesses or mutants that were not decided in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed_out: Vec<String>,
    /// Mutants that were not begun in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<String>,
}

/// A file that the model did read, by the provider's own record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRead {
    /// Its path below the workspace.
    pub path: String,
    /// What it held when it was read.
    pub sha: Sha,
    /// All of it was read, in one piece or several.
    #[serde(default = "yes", skip_serializing_if = "std::clone::Clone::clone")]
    pub whole: bool,
}

fn yes() -> bool {
    true
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens that were not cached.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to it.
    pub cache_write: u64,
}

/// The longest answer that is read, in bytes: far beyond what a specification needs (a module of two megabytes is
/// handled), and far below what would trouble memory and journal.
pub const LONGEST_ANSWER: u64 = 8 << 20;

impl Usage {
    /// The counts of a server. Returns `None` unless both sides of the request are counted: no request and no answer takes
    /// zero tokens, so zero, like anything that is not a whole number, means that the server did not count. Budgets then
    /// use an estimate.
    pub(super) fn counted(input: &Value, output: &Value, cache_read: &Value, cache_write: &Value) -> Option<Usage> {
        let cached = |count: &Value| if count.is_null() { Some(0) } else { count.as_u64() };
        let (cache_read, cache_write) = (cached(cache_read)?, cached(cache_write)?);
        // A prompt that comes from the cache as a whole has no other input.
        let from_cache = cache_read > 0 || cache_write > 0;
        let input = if from_cache { cached(input)? } else { input.as_u64().filter(|input| *input > 0)? };
        let output = output.as_u64().filter(|output| *output > 0)?;
        Some(Usage { input, output, cache_read, cache_write })
    }

    /// All tokens together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, more: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cache_read: self.cache_read.saturating_add(more.cache_read),
            cache_write: self.cache_write.saturating_add(more.cache_write),
        }
    }
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// What the model read.
    pub reads: Vec<FileRead>,
    /// What it tried to read outside the workspace.
    pub refused_reads: Vec<String>,
    /// Tokens, where the provider counts them.
    pub usage: Option<Usage>,
    /// An estimate of the tokens of those requests of the call that the provider did not count, beside `usage`. Only under
    /// a budget.
    pub estimated: Option<Usage>,
    /// US dollars, where they are known.
    pub cost_usd: Option<f64>,
    /// The model, where the provider names it.
    pub model: Option<String>,
    /// The answer was recorded for another wording of the prompt.
    pub stale: bool,
    /// The server's own names of the requests that it took.
    pub request_ids: Vec<String>,
    /// Why the model stopped, in its provider's word, where that is told.
    pub stop_reason: Option<String>,
}

/// The absence of an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The recording does not hold the request.
    #[error("the recording {recording} has no answer to this request: {wanted}; the nearest it has is: {nearest}")]
    ReplayMiss {
        /// The recording.
        recording: String,
        /// What was asked.
        wanted: String,
        /// What comes closest.
        nearest: String,
    },
    /// The recorded answer belongs to another wording, and `--strict-replay` is set.
    #[error(
        "the answer recorded for {wanted} was given to another wording of the prompt; record again, or replay without --strict-replay"
    )]
    ReplayStale {
        /// What was asked.
        wanted: String,
    },
    /// The operating system refused.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The call failed.
    #[error(transparent)]
    Failed(#[from] CallFailure),
    /// A budget does not allow the call.
    #[error("{what}; give a larger {flag} and resume, or take a cheaper model")]
    Budget {
        /// What is spent, what the call would take, and the limit.
        what: String,
        /// The limit's flag.
        flag: &'static str,
    },
    /// The run's time is up.
    #[error("the time of --max-time is up; resume with more")]
    Deadline,
    /// An answer beyond [`LONGEST_ANSWER`].
    #[error("{path} is longer than {} MiB, which no answer needs; put a shorter one in its place", LONGEST_ANSWER >> 20)]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// An answer file that is not text.
    #[error("{path} is not UTF-8 text; save it as UTF-8")]
    NotText {
        /// The file.
        path: PathBuf,
    },
}

/// A future on the heap, so that the trait can be used as an object.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Answer, LlmError>> + Send + 'a>>;

/// What answers a prompt.
pub trait Provider: Send + Sync {
    /// Its name on the command line and in the journal.
    fn name(&self) -> &'static str;

    /// Whether the answer to this request is known to come when what it was asked for has been decided without it.
    fn comes_late(&self, _key: &RequestKey) -> bool {
        false
    }

    /// Whether the quick check of the answer to this request is known not to have ended in time.
    fn check_timed_out(&self, _key: &RequestKey) -> bool {
        false
    }

    /// What the clock decided in this attempt of a node, if that is known.
    fn timing(&self, _node: &str, _place: u32, _attempt: u32) -> Option<&Timing> {
        None
    }

    /// Asks, and waits for the answer. Dropping the future or giving `cancel` ends the call.
    fn ask<'a>(&'a self, request: &'a Request, cancel: &'a Cancel) -> Asking<'a>;

    /// The same, where one call is many requests to a server: each is looked at by `terms` before it is sent.
    fn ask_under<'a>(&'a self, request: &'a Request, _terms: &'a Terms, cancel: &'a Cancel) -> Asking<'a> {
        self.ask(request, cancel)
    }
}
