//! Flags of the commands that draft a specification: `run` and `resume`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::format::Format;
use super::tool_args::ToolArgs;
use super::value_parsers::{parse_candidates, parse_rounds};
use crate::config::{Draft, Layer, seconds};

/// Flags of everything that forges.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct ForgeArgs {
    /// What answers prompts: claude (the Claude Code program), anthropic (the Messages API), openai (any compatible
    /// server), handoff (a person or another agent, through files) or replay (a recording) [default: claude where it is
    /// logged in, else anthropic where a key is set].
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The model's name [env for claude and anthropic: `CLAUDE_MODEL`] [their default: claude-sonnet-4-5].
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The model that answers where the first is overloaded.
    #[arg(long, value_name = "NAME")]
    pub fallback_model: Option<String>,
    /// How hard the model thinks, in the provider's words (low, medium, high).
    #[arg(long, value_name = "WORD")]
    pub effort: Option<String>,
    /// The model's temperature, from 0 to 2; claude has no setting for it.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub temperature: Option<f64>,
    /// Tokens that one answer may take [default: 32000 for anthropic, else what claude or the server takes].
    #[arg(long, value_name = "N")]
    pub max_output: Option<NonZeroU32>,
    /// Seconds without content after which a call to a server counts as failed; keep-alives do not count [default: 120].
    #[arg(long, value_name = "SECONDS")]
    pub idle_timeout: Option<NonZeroU64>,
    /// Where the server of `openai` or `anthropic` is [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The Claude Code program [default: `claude` on the path].
    #[arg(long, value_name = "FILE")]
    pub claude_path: Option<PathBuf>,
    /// Let Claude Code use `ANTHROPIC_API_KEY` instead of your login.
    #[arg(long)]
    pub claude_api_key: bool,
    /// US dollars that the run may cost; it stops before a call that would go beyond.
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    /// A table of prices; it is looked at before the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Tokens that the run may use; it stops before a call that would go beyond.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<NonZeroU64>,
    /// Time that the run may take from now on, e.g. 90s, 45m, 2h.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub max_time: Option<NonZeroU64>,
    /// The recording that `--provider replay` answers from.
    #[arg(long, value_name = "FILE")]
    pub recording: Option<PathBuf>,
    /// Refuse answers that were recorded for another wording of the prompt.
    #[arg(long)]
    pub strict_replay: bool,
    /// Record every answer into this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// A folder of prompts; its files stand in for the built-in ones [default: ./prompts where it exists].
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// How the first pass is drafted: `nodes` asks for the informal specification, the module and the properties one
    /// after the other, `whole` for all three in one answer; repairs go node by node [default: nodes].
    #[arg(long, value_enum, value_name = "HOW")]
    pub draft: Option<DraftChoice>,
    /// How many formalizations are drafted side by side, from 1 to 8: each is translated, parsed and quickly checked, the
    /// leaders are given properties, and the best goes on; the others stay in the history [default: 1].
    #[arg(long, value_name = "N", value_parser = parse_candidates, allow_negative_numbers = true)]
    pub candidates: Option<u32>,
    /// Revisions that may follow the first [default: 3].
    #[arg(long, value_name = "N")]
    pub max_revisions: Option<u32>,
    /// Where the protocol is flawed, make the smallest change to it and go on.
    #[arg(long)]
    pub repair: bool,
    /// If a check holds, test the properties on mutants of the specification and ask the model for properties that notice
    /// the mutants that survive. Repeat up to ROUNDS times in a revision. New properties are kept only if they hold and
    /// notice more mutants [default: off; without a number: 1].
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "1", value_parser = parse_rounds)]
    pub strengthen: Option<u32>,
    /// What the run's revisions are measured by: a goal over what is known of them (states, seconds, mutation score,
    /// requirements, issues, cost), in a .toml or .json file; it ranks them, tells the reviewer what is still owed, and ends
    /// a run that cannot reach it any more. It approves nothing. A run that goes on keeps its own.
    #[arg(long, value_name = "FILE")]
    pub objective: Option<PathBuf>,
    /// A file of rules that the run is watched by: a broken one of severity `error` forbids its approval. docs/policies.md
    /// has the format.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How events are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DraftChoice {
    /// One call for each node.
    Nodes,
    /// One call for all of them.
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
        // A recording says by itself who answers.
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
