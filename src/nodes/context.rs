//! What every node works with: the model caller, the tools, the prompts and the limits of the run. It knows no node and
//! no request.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::module_cache::ModuleCache;
use super::recording::build_recording;
use crate::journal::write_atomically;
use crate::llm::{Caller, FailureKind, LlmError, RequestKey};
use crate::pipeline::{Attempt, Halt, NodeError, NodeName, RunError, StopReason};
use crate::process::Cancel;
use crate::prompt::{PromptError, PromptLibrary};
use crate::toolchain::{Limits, Progress, ToolContext, ToolError, Toolchain};

/// How a sample of mutants is judged before an approval.
pub struct MutantSampling {
    pub toolchain: Box<dyn Toolchain>,
    /// Maximum number of mutants in the sample.
    pub size: usize,
}

/// Everything that a node works with.
pub struct NodeContext {
    pub caller: Caller,
    pub toolchain: Box<dyn Toolchain>,
    /// Checks mutants and larger bounds, if a faster checker than `toolchain` is available.
    pub side_toolchain: Option<Box<dyn Toolchain>>,
    /// `None` if no mutants are to be sampled.
    pub mutant_sample: Option<MutantSampling>,
    /// Time for larger bounds after a check that holds; zero tries none.
    pub bounds_budget: Duration,
    pub prompts: PromptLibrary,
    /// Limits of tool runs.
    pub limits: Limits,
    /// Ends every call and every tool run early.
    pub cancel: Cancel,
    /// Called with each progress report of the checker.
    pub progress: Box<dyn Fn(Progress) + Send + Sync>,
    /// File that the answers are recorded in (`--record`).
    pub recording_path: Option<PathBuf>,
    /// Modules that were parsed last.
    pub modules: ModuleCache,
}

/// Name of the provider whose answers come from a recording.
pub(super) const REPLAY: &str = "replay";

impl NodeContext {
    /// Whether a recording says that this candidate's answer came after the candidate had been chosen.
    pub(super) fn comes_late(&self, attempt: &Attempt<'_>, node: NodeName) -> bool {
        self.caller.comes_late(&draft_key(attempt, node))
    }

    /// Whether the answers come from a recording. Every choice that depends on time is then made as the recording says,
    /// and never by the clock: a slower or busier machine must make the same choices.
    pub fn is_replay(&self) -> bool {
        self.caller.name() == REPLAY
    }

    /// Whether the answers come from a recording of an earlier version, whose requests and rules were others in a few places. Recordings
    /// hold the words of normative sentences since these changed.
    pub fn replays_earlier_version(&self) -> bool {
        self.is_replay() && self.caller.normative_words().is_none()
    }

    /// Brings the recording up to date with the journal.
    pub(super) fn write_recording(&self, attempt: &Attempt<'_>) -> Result<(), NodeError> {
        if let Some(path) = &self.recording_path {
            let recording = build_recording(&attempt.run.entries(), attempt.run.store()).map_err(RunError::from)?;
            write_atomically(path, recording.render().as_bytes()).map_err(|source| RunError::Io {
                what: "write the recording",
                path: path.clone(),
                source,
            })?;
        }
        Ok(())
    }

    /// Limits, cancellation and progress reports of a tool run.
    pub(super) fn tool_context(&self) -> ToolContext<'_> {
        ToolContext { limits: &self.limits, cancel: &self.cancel, progress: &*self.progress }
    }

    /// The reason to stop after a failed model call.
    pub(super) fn halt_for_provider(&self, error: &LlmError) -> Halt {
        match error {
            LlmError::Cancelled => Halt::interrupted(),
            LlmError::Budget { .. } => Halt { reason: StopReason::Budget, message: error.to_string() },
            LlmError::Deadline => Halt { reason: StopReason::Deadline, message: error.to_string() },
            _ => {
                // A mistake in the settings, like a missing key (exit status 2); any other failure is one of the
                // provider (5).
                let unknown = matches!(error, LlmError::Failed(failure) if failure.kind == FailureKind::ModelNotFound);
                let reason = if unknown { StopReason::Settings } else { StopReason::Provider };
                Halt { reason, message: format!("{}: {error}", self.caller.name()) }
            }
        }
    }
}

/// The key under which a recording holds a candidate's first request at a node.
pub(super) fn draft_key(attempt: &Attempt<'_>, node: NodeName) -> RequestKey {
    RequestKey {
        node: node.name().to_owned(),
        branch_index: attempt.branch_index,
        attempt: attempt.attempt,
        purpose: "draft".to_owned(),
        sample: attempt.candidate,
    }
}

/// The reason to stop after a failed tool run.
pub(super) fn halt_for_tool(error: &ToolError) -> Halt {
    match error {
        ToolError::Cancelled => Halt::interrupted(),
        _ => Halt { reason: StopReason::Tool, message: error.to_string() },
    }
}

/// The reason to stop if a prompt template cannot be rendered.
pub(super) fn halt_for_template(error: &PromptError) -> Halt {
    Halt { reason: StopReason::Provider, message: format!("{error}; correct the template and resume") }
}

/// Parses a JSON schema that is compiled in.
pub(super) fn parse_schema(text: &str) -> Value {
    serde_json::from_str(text).expect("it is compiled in, and a test reads it")
}
