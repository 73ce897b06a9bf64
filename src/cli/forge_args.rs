//! Flags of the commands that draft a specification: `run` and `resume`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::format::Format;
use super::tool_args::ToolArgs;
use super::value_parsers::{parse_candidates, parse_rounds};
use crate::config::{Draft, Layer, seconds};

#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct ForgeArgs {
    /// Provider of answers: claude (the Claude Code program), anthropic (the Messages API), openai (any compatible
    /// server), handoff (a person or another agent, through files) or replay (a recording) [default: claude if it is
    /// logged in, else anthropic if a key is set].
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Name of the model [env: `CLAUDE_MODEL`, for claude and anthropic] [default: claude-sonnet-4-5, for claude and
    /// anthropic; required for openai].
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Model to use while the first one is overloaded [default: none].
    #[arg(long, value_name = "NAME")]
    pub fallback_model: Option<String>,
    /// Reasoning effort, as the provider names it (low, medium, high) [default: the provider's].
    #[arg(long, value_name = "WORD")]
    pub effort: Option<String>,
    /// Sampling temperature, from 0 to 2; claude ignores it [default: the provider's].
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub temperature: Option<f64>,
    /// Maximum tokens of one answer [default: 32000 for anthropic, otherwise the provider's].
    #[arg(long, value_name = "N")]
    pub max_output: Option<NonZeroU32>,
    /// Seconds without content after which a call to a server fails; keep-alives do not count as content [default: 120].
    #[arg(long, value_name = "SECONDS")]
    pub idle_timeout: Option<NonZeroU64>,
    /// Address of the `openai` or `anthropic` server [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Path of the Claude Code program [default: `claude` on the PATH].
    #[arg(long, value_name = "FILE")]
    pub claude_path: Option<PathBuf>,
    /// Let Claude Code use `ANTHROPIC_API_KEY` instead of your login.
    #[arg(long)]
    pub claude_api_key: bool,
    /// Maximum cost of the run in US dollars; the run stops before a call that would exceed it [default: no limit].
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    /// Price table that overrides the built-in one [default: none].
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Maximum tokens of the run; the run stops before a call that would exceed it [default: no limit].
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<NonZeroU64>,
    /// Maximum time of the run from now on, e.g. 90s, 45m, 2h [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub max_time: Option<NonZeroU64>,
    /// Recording to answer from; implies `--provider replay`.
    #[arg(long, value_name = "FILE")]
    pub recording: Option<PathBuf>,
    /// Refuse recorded answers if the prompt has changed since the recording.
    #[arg(long)]
    pub strict_replay: bool,
    /// Record every answer in this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Folder of prompts that replace the built-in prompts of the same name [default: ./prompts if it exists].
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// How to draft the first revision: `nodes` requests the informal specification, the module and the properties one
    /// after the other, `whole` requests all three in one answer. Repairs always go node by node [default: nodes].
    #[arg(long, value_enum, value_name = "HOW")]
    pub draft: Option<DraftChoice>,
    /// Number of formalizations to draft side by side, from 1 to 8. Each is translated, parsed and checked briefly; the
    /// leaders get properties, and the best one continues. The others stay in the history [default: 1].
    #[arg(long, value_name = "N", value_parser = parse_candidates, allow_negative_numbers = true)]
    pub candidates: Option<u32>,
    /// Maximum number of revisions after the first [default: 3].
    #[arg(long, value_name = "N")]
    pub max_revisions: Option<u32>,
    /// If the protocol is flawed, make the smallest change that repairs it and continue.
    #[arg(long)]
    pub repair: bool,
    /// If a check holds, test the properties on mutants of the specification and ask the model for properties that notice
    /// the mutants that survive. Repeat up to ROUNDS times in a revision. New properties are kept only if they hold and
    /// notice more mutants [default: off; without a number: 1].
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "1", value_parser = parse_rounds)]
    pub strengthen: Option<u32>,
    /// Objective file (.toml or .json): a goal over metrics of the revisions (states, seconds, mutation score,
    /// requirements, issues, cost). It ranks the revisions, informs the reviewer, and stops a run that can no longer
    /// reach it; it never approves a run. A resumed run keeps its objective [default: none].
    #[arg(long, value_name = "FILE")]
    pub objective: Option<PathBuf>,
    /// Policy file: rules that are monitored during the run. A violated rule of severity `error` prevents the approval.
    /// The format is in docs/policies.md [default: none].
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Output format of events.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DraftChoice {
    /// One request for each node.
    Nodes,
    /// One request for all three nodes.
    Whole,
}

impl From<DraftChoice> for Draft {
    fn from(choice: DraftChoice) -> Self {
        match choice {
            DraftChoice::Nodes => Draft::Nodes,
            DraftChoice::Whole => Draft::Whole,
        }
    }
}

impl ForgeArgs {
    pub(super) fn layer(&self) -> Layer {
        // --recording alone is enough: it implies the provider.
        let replay = self.recording.as_ref().map(|_| "replay".to_owned());
        Layer {
            provider: self.provider.clone().or(replay),
            model: self.model.clone(),
            fallback_model: self.fallback_model.clone(),
            effort: self.effort.clone(),
            temperature: self.temperature,
            max_output: self.max_output,
            idle_timeout: self.idle_timeout,
            prices: self.prices.clone(),
            base_url: self.base_url.clone(),
            claude_path: self.claude_path.clone(),
            claude_api_key: self.claude_api_key.then_some(true),
            max_cost: self.max_cost,
            max_tokens: self.max_tokens,
            max_time: self.max_time,
            recording: self.recording.clone(),
            strict_replay: self.strict_replay.then_some(true),
            record: self.record.clone(),
            prompts: self.prompts.clone(),
            draft: self.draft.map(Draft::from),
            candidates: self.candidates,
            max_revisions: self.max_revisions,
            repair: self.repair.then_some(true),
            strengthen: self.strengthen,
            ..self.tools.layer()
        }
    }

    pub(super) fn format(&self) -> Format {
        self.format.unwrap_or(Format::Text)
    }
}
