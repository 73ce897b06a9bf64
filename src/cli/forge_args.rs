//! Flags of the commands that draft a specification: `run` and `resume`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{Args as ClapArgs, ValueEnum};

use super::format::{FindingsFiles, FindingsFormat};
use super::tool_args::ToolArgs;
use super::value_parsers::{parse_candidates, parse_mutants, parse_positive, parse_rounds, parse_share};
use crate::config::{Draft, Layer, seconds, seconds_or_off};

/// The heading of flags that select a model and limit its use.
const MODELS: &str = "Models";

#[derive(Debug, Clone, ClapArgs)]
pub(super) struct ForgeArgs {
    /// Provider of answers: claude (the Claude Code program), anthropic (the Messages API), openai (any compatible
    /// server), handoff (a person or another agent, through files) or replay (a recording) [default: claude if it is
    /// logged in, else anthropic if a key is set].
    #[arg(long, value_name = "NAME", help_heading = MODELS)]
    pub provider: Option<String>,
    /// Name of the model [env: `CLAUDE_MODEL`, for claude and anthropic] [default: claude-sonnet-4-5, for claude and
    /// anthropic; required for openai].
    #[arg(long, value_name = "NAME", help_heading = MODELS)]
    pub model: Option<String>,
    /// Model to use while the first one is overloaded [default: none].
    #[arg(long, value_name = "NAME", help_heading = MODELS)]
    pub fallback_model: Option<String>,
    /// Reasoning effort, as the provider names it (low, medium, high) [default: the provider's].
    #[arg(long, value_name = "WORD", help_heading = MODELS)]
    pub effort: Option<String>,
    /// Sampling temperature, from 0 to 2; claude ignores it [default: the provider's].
    // Without `allow_negative_numbers`, clap takes `-1` for an unknown flag, and the message would not name the range.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = MODELS)]
    pub temperature: Option<f64>,
    /// Maximum tokens of one answer [default: 32000 for anthropic, otherwise the provider's].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU32>, help_heading = MODELS)]
    pub max_output: Option<NonZeroU32>,
    /// Seconds without content after which a call to a server fails; keep-alives do not count as content [default: 120].
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>, help_heading = MODELS)]
    pub idle_timeout: Option<NonZeroU64>,
    /// Address of the `openai` or `anthropic` server [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL", help_heading = MODELS)]
    pub base_url: Option<String>,
    /// Path of the Claude Code program [default: `claude` on the PATH].
    #[arg(long, value_name = "FILE", help_heading = MODELS)]
    pub claude_path: Option<PathBuf>,
    /// Let Claude Code use `ANTHROPIC_API_KEY` instead of your login.
    #[arg(long, help_heading = MODELS)]
    pub claude_api_key: bool,
    /// Maximum cost of the run in US dollars; the run stops before a call that would exceed it [default: no limit].
    #[arg(long, value_name = "USD", allow_negative_numbers = true, help_heading = MODELS)]
    pub max_cost: Option<f64>,
    /// Price table that overrides the built-in one [default: none].
    #[arg(long, value_name = "FILE", help_heading = MODELS)]
    pub prices: Option<PathBuf>,
    /// Maximum tokens of the run; the run stops before a call that would exceed it [default: no limit].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU64>, help_heading = MODELS)]
    pub max_tokens: Option<NonZeroU64>,
    /// Maximum time of the run from now on, e.g. 90s, 45m, 2h [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = MODELS)]
    pub max_time: Option<NonZeroU64>,
    /// Recording to answer from; implies `--provider replay`.
    #[arg(long, value_name = "FILE", help_heading = MODELS)]
    pub recording: Option<PathBuf>,
    /// Refuse recorded answers if the prompt or a document has changed since the recording.
    #[arg(long, help_heading = MODELS)]
    pub strict_replay: bool,
    /// Record every answer in this file.
    #[arg(long, value_name = "FILE", help_heading = MODELS)]
    pub record: Option<PathBuf>,
    /// Folder of prompts that replace the built-in prompts of the same name [default: ./prompts if it exists].
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// How to draft the first revision: `nodes` requests the informal specification, the module and the properties one
    /// after the other, `single_call` requests all three in one answer. Repairs always go node by node [default:
    /// `single_call` for documents of up to 32 KiB together, `nodes` for larger ones and for candidates; a replay follows its
    /// recording, and a resumed run keeps its own].
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
    /// If mutants survive, ask the model before the review for properties that notice them, up to ROUNDS times in a revision; 0
    /// never asks. New properties are kept only if they hold, more mutants are noticed, and none that was noticed before is
    /// missed or undecided. Without this flag, a replay follows its recording [default: 1; with `--mutants off`: 0; without a
    /// number: 1].
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "1", value_parser = parse_rounds)]
    pub strengthen: Option<u32>,
    /// Ask an author who has not seen the algorithm what the documents say of each step, and check the specification
    /// against it. A violated contract is a disagreement of two readings, which the review decides. A replay follows its
    /// recording; a resumed run keeps its setting unless this is given [default: on].
    #[arg(long, value_name = "on|off", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub contracts: Option<bool>,
    /// Maximum number of mutants of the specification to judge before each review, in at most three minutes. The review has to
    /// accept by name each one that no property notices. As many others are judged before an approval, in at most a minute, for
    /// the score. `off` judges none [default: 40].
    #[arg(long, value_name = "N|off", value_parser = parse_mutants)]
    pub mutants: Option<u32>,
    /// Approve a specification only if its properties notice at least this share of the mutants that are judged before an
    /// approval. Mutants that were not decided count as not noticed. From 0 to 1, with at most three decimals [default: none].
    #[arg(long, value_name = "SCORE", value_parser = parse_share)]
    pub min_score: Option<f64>,
    /// Before an approval is possible, ask a reader who sees neither the names nor the documents what each property forbids;
    /// the review compares that with the requirements. A replay follows its recording [default: on].
    #[arg(long, value_name = "on|off", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub blind_reading: Option<bool>,
    /// Maximum time for larger bounds: after a check in which all properties hold, they are checked with each number of the
    /// configuration plus one and each set with one element more, one constant at a time. A replay checks those that its
    /// recording decided. `off` checks none, also in a replay [default: 1m].
    #[arg(long, value_name = "TIME|off", value_parser = seconds_or_off)]
    pub bounds_budget: Option<u64>,
    /// Objective file (.toml or .json): a goal over metrics of the revisions (states, seconds, mutation score,
    /// requirements, issues, cost). It ranks the revisions, informs the reviewer, and stops a run that can no longer
    /// reach it; it never approves a run. A resumed run keeps its objective [default: none].
    #[arg(long, value_name = "FILE")]
    pub objective: Option<PathBuf>,
    /// Policy file: rules that are monitored during the run. A violated rule of severity `error` prevents the approval.
    /// The format is in docs/src/policies.md [default: none].
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
}

/// Flags for what `run` and `resume` print.
#[derive(Debug, Clone, ClapArgs)]
pub(super) struct ForgeOutput {
    /// Output format: `text`, `json` (one event a line), or what was found beside its lines, as `sarif`, `github`
    /// (annotations) or `markdown`.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: FindingsFormat,
    #[command(flatten)]
    pub findings: FindingsFiles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DraftChoice {
    /// One request for each node.
    Nodes,
    /// One request for all three nodes.
    #[value(name = "single_call")]
    SingleCall,
}

impl From<DraftChoice> for Draft {
    fn from(choice: DraftChoice) -> Self {
        match choice {
            DraftChoice::Nodes => Draft::Nodes,
            DraftChoice::SingleCall => Draft::SingleCall,
        }
    }
}

impl ForgeArgs {
    pub(super) fn layer(&self) -> Layer {
        // Every field is named here, so that the compiler reports a flag that no setting receives.
        let Self {
            provider,
            model,
            fallback_model,
            effort,
            temperature,
            max_output,
            idle_timeout,
            base_url,
            claude_path,
            claude_api_key,
            max_cost,
            prices,
            max_tokens,
            max_time,
            recording,
            strict_replay,
            record,
            prompts,
            draft,
            candidates,
            max_revisions,
            repair,
            strengthen,
            contracts,
            mutants,
            min_score,
            blind_reading,
            bounds_budget,
            tools,
            // These are no settings: they cannot be set in a file.
            objective: _,
            policy: _,
        } = self.clone();
        // A switch can only turn a setting on: its absence must not override `true` in the settings file.
        let switch = |given: bool| given.then_some(true);
        Layer {
            provider: provider.or_else(|| replay_provider(recording.as_deref())),
            model,
            fallback_model,
            effort,
            temperature,
            max_output,
            idle_timeout,
            prices,
            base_url,
            claude_path,
            claude_api_key: switch(claude_api_key),
            max_cost,
            max_tokens,
            max_time,
            recording,
            strict_replay: switch(strict_replay),
            record,
            prompts,
            draft: draft.map(Draft::from),
            candidates,
            max_revisions,
            repair: switch(repair),
            strengthen,
            contracts,
            mutants,
            min_score,
            blind_reading,
            bounds_budget,
            ..tools.layer()
        }
    }
}

/// The provider that `--recording` implies if none is named.
pub(super) fn replay_provider(recording: Option<&Path>) -> Option<String> {
    recording.map(|_| "replay".to_owned())
}
