//! Flags of `tlaforge audit`.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, ValueEnum};

use super::audit_labels::LabelArgs;
use super::format::Format;

#[derive(Debug, ClapArgs)]
#[command(group(ArgGroup::new("rules").args(["policy", "formula"]).required(true).multiple(true)))]
pub(super) struct AuditArgs {
    /// The log: a run folder, JSON lines, a transcript of Claude Code, a list of messages; `-` reads stdin.
    pub log: PathBuf,
    /// A file of rules; `default` is the policy that every run is under (`tlaforge policy show`).
    #[arg(long, value_name = "FILE|default")]
    pub policy: Option<PathBuf>,
    /// One formula, as a rule of its own; with --policy, besides the file's rules. Each tool call is a state with
    /// `tool.name` and `tool.input.…`; a path that crosses a list is read by `any(PATH, TEST)` or `every(PATH, TEST)`.
    #[arg(long, value_name = "FORMULA")]
    pub formula: Vec<String>,
    /// What the log is [default: told from its first record].
    #[arg(long, value_enum, value_name = "SHAPE")]
    pub shape: Option<ShapeChoice>,
    /// Where the records keep something: `tool_call`, text, `stop_reason`, lifeline, event, message, time or within, then
    /// `=` and a path such as payload.tool.name.
    #[arg(long, value_name = "WHAT=PATH")]
    pub map: Vec<String>,
    /// Begin a rule anew after each verdict, and count how often it is violated.
    #[arg(long)]
    pub reset: bool,
    /// Go on reading as the log grows, and tell each verdict when it falls.
    #[arg(long, conflicts_with = "reset")]
    pub follow: bool,
    /// Leave out lines that are no records, and tell which.
    #[arg(long)]
    pub skip_invalid: bool,
    /// Write the verdicts as `JUnit` XML.
    #[arg(long, value_name = "FILE", conflicts_with = "follow")]
    pub junit: Option<PathBuf>,
    /// `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json")]
    pub format: Format,
    #[command(flatten)]
    pub labels: LabelArgs,
}

/// The shapes of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ShapeChoice {
    /// A run's journal.
    Journal,
    /// JSON lines, each record one state, or one for each of several tool calls.
    Jsonl,
    /// What Claude Code prints with --output-format stream-json.
    Claude,
    /// A list of messages as OpenAI-compatible servers take it.
    Openai,
    /// Requests and responses with `kind` and `payload`; each `chat_response` is a state.
    Agentlog,
}
