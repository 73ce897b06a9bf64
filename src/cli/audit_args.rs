//! Flags of `tlaforge audit`.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, ValueEnum};

use super::audit_labels::LabelArgs;
use super::failure::Failure;
use super::format::{FindingsFiles, FindingsFormat};
use super::page::PageArgs;
use super::run_folder::name_of_run;
use super::run_place::{Following, RunPlace};
use super::telemetry::name_run_in;
use crate::monitor::log::{Mapping, OtherCalls, Shape};

#[derive(Debug, ClapArgs)]
// A group, so that the error for a missing rule names both flags.
#[command(group(ArgGroup::new("rules").args(["policy", "formula"]).required(true).multiple(true)))]
pub(super) struct AuditArgs {
    /// Log to check: a run (its folder, or its address in a shared store), JSON lines, a transcript of Claude Code, or a list of messages; `-` reads stdin.
    pub log: PathBuf,
    /// Policy file; `default` is the policy that governs every run (see `tlaforge policy show`).
    #[arg(long, value_name = "FILE|default")]
    pub policy: Option<PathBuf>,
    /// Formula to check as a rule, in addition to those of --policy. Each tool call is a state with `tool.name` and
    /// `tool.input.…`; a path through a list needs `any(PATH, TEST)` or `every(PATH, TEST)`. Can be repeated.
    #[arg(long, value_name = "FORMULA")]
    pub formula: Vec<String>,
    /// Shape of the log [default: detected from its first records].
    #[arg(long, value_enum, value_name = "SHAPE")]
    pub shape: Option<ShapeChoice>,
    /// Path of a part in the records, e.g. `tool_call=payload.tool`. Parts: `tool_call`, text, `stop_reason`, lifeline,
    /// event, message, time, within. Can be repeated [default: the paths of the shape].
    #[arg(long, value_name = "PART=PATH")]
    pub map: Vec<String>,
    /// Restart a rule after each verdict, and count its violations.
    #[arg(long)]
    pub reset: bool,
    /// Keep reading while the log grows, and print each verdict as soon as it is decided.
    #[arg(long, conflicts_with = "reset")]
    pub follow: bool,
    /// Skip lines that are not records, with a warning for each.
    #[arg(long)]
    pub skip_invalid: bool,
    /// What to do with data that may be tool calls, in places or forms that no known shape has [default: no verdict if there
    /// is any].
    #[arg(long, value_enum, value_name = "HOW")]
    pub other_calls: Option<OtherCallsChoice>,
    /// Give a verdict on rules about tool calls also if no record has a call [default: no verdict].
    #[arg(long)]
    pub allow_no_calls: bool,
    /// Exit with status 3 instead of 0 if a record was left out, or if a rule asks for a tool, a field, a text or a stop reason
    /// that no record has [default: with --format sarif or github, and with --junit].
    #[arg(long, conflicts_with = "lenient")]
    pub strict: bool,
    /// Only warn in these cases [default: without --format sarif, --format github and --junit].
    #[arg(long)]
    pub lenient: bool,
    /// Write the verdicts to this file as `JUnit` XML.
    #[arg(long, value_name = "FILE", conflicts_with = "follow")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub page: PageArgs,
    /// Output format: `text`, `json` (one object), or what was found beside its lines, as `sarif`, `github` (annotations)
    /// or `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
    #[command(flatten)]
    pub labels: LabelArgs,
}

impl AuditArgs {
    /// Replaces the address of a run by its working copy, which is kept up to date for `--follow` until the result is dropped.
    pub(super) fn find_log(&mut self) -> Result<Option<Following>, Failure> {
        let place = RunPlace::find(&self.log)?;
        name_run_in(place.folder());
        if !place.is_shared() {
            return Ok(None);
        }
        let place = place.require_run(&self.log)?;
        place.folder().clone_into(&mut self.log);
        Ok(self.follow.then(|| place.follow()))
    }

    /// Whether doubts about a verdict change the status. A job of CI shows no one a warning.
    pub(super) fn is_strict(&self) -> bool {
        let is_for_ci = matches!(self.format, FindingsFormat::Sarif | FindingsFormat::Github) || self.junit.is_some();
        self.strict || is_for_ci && !self.lenient
    }

    /// The shape from the command line or the policy.
    pub(super) fn selected_shape(&self, mapping: &Mapping) -> Option<Shape> {
        let chosen = self.shape.map(|choice| match choice {
            ShapeChoice::Journal => Shape::Journal,
            ShapeChoice::Jsonl => Shape::Jsonl,
            ShapeChoice::Claude => Shape::Claude,
            ShapeChoice::Openai => Shape::Openai,
            ShapeChoice::Agentlog => Shape::Agentlog,
            ShapeChoice::Codex => Shape::Codex,
            ShapeChoice::Langchain => Shape::Langchain,
            ShapeChoice::Otel => Shape::Otel,
            ShapeChoice::Gemini => Shape::Gemini,
            ShapeChoice::Sweagent => Shape::Sweagent,
        });
        chosen.or(mapping.shape)
    }

    /// What is done with calls in places where the shape has none, if this is the shape of the log.
    pub(super) fn reading_of_other_calls(&self, is_shape_of_log: bool) -> OtherCalls {
        match self.other_calls {
            Some(OtherCallsChoice::Read) => OtherCalls::Read,
            Some(OtherCallsChoice::Ignore) => OtherCalls::Ignore,
            None if is_shape_of_log => OtherCalls::ReadKnown,
            None => OtherCalls::Report,
        }
    }

    /// The log as the user calls it.
    pub(super) fn log_name(&self) -> String {
        name_of_run(&self.log).display().to_string()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ShapeChoice {
    /// Journal of a run.
    Journal,
    /// JSON lines; each record is one state, or one state per tool call.
    Jsonl,
    /// Output of Claude Code with --output-format stream-json.
    Claude,
    /// List of messages in the format of OpenAI-compatible servers.
    Openai,
    /// Requests and responses with `kind` and `payload`; each `chat_response` is a state.
    Agentlog,
    /// Rollouts of Codex, or its output with --json.
    Codex,
    /// Messages that `LangChain` has dumped.
    Langchain,
    /// Spans of OpenTelemetry for generative AI, in the JSON of OTLP or flat.
    Otel,
    /// Requests and responses of Gemini.
    Gemini,
    /// Trajectory of SWE-agent.
    Sweagent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OtherCallsChoice {
    /// Read all that have a name as calls.
    Read,
    /// Leave them out.
    Ignore,
}

/// Sets the path that a value of `--map` gives.
pub(super) fn set_path(mapping: &mut Mapping, map: &str) -> Result<(), Failure> {
    let Some((what, path)) = map.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err(Failure::usage(format!("--map {map}: expected PART=PATH, such as tool_call=payload.tool")));
    };
    let list = |paths: &mut Option<Vec<String>>| paths.get_or_insert_default().push(path.to_owned());
    let one = |field: &mut Option<String>| *field = Some(path.to_owned());
    match what {
        "tool_call" => list(&mut mapping.tool_call),
        "text" => list(&mut mapping.text),
        "stop_reason" => list(&mut mapping.stop_reason),
        "lifeline" => one(&mut mapping.lifeline),
        "event" => one(&mut mapping.event),
        "message" => one(&mut mapping.message),
        "time" => one(&mut mapping.time),
        "within" => one(&mut mapping.within),
        _ => {
            return Err(Failure::usage(format!("--map {what}: unknown part"))
                .hint("the parts are tool_call, text, stop_reason, lifeline, event, message, time and within"));
        }
    }
    Ok(())
}
