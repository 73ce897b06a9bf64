//! Calls a model outside of a run, for `audit`, `policy formulate` and other programs (`toolkit`): with a budget, a
//! recording, and a folder for handoff.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as ClapArgs;

use super::failure::{Fails, Failure};
use super::forge_args::replay_provider;
use super::provider::{AnswerSource, create_caller};
use super::signals::cancel_on_signals;
use super::terminal::print_message;
use super::trust::{check_recording_target, create_recording, make_paths_absolute};
use super::value_parsers::parse_positive;
use crate::config::{Layer, Settings};
use crate::exit::Exit;
use crate::files;
use crate::journal::write_atomically;
use crate::llm::{Answer, CallEvent, Caller, FailedCall, FailureKind, LlmError, Recorded, Recording, Request, Used};
use crate::process::Cancel;
use crate::prompt::PromptLibrary;

/// Flags of a command that calls a model outside of a run.
#[derive(Debug, ClapArgs)]
pub struct ModelArgs {
    /// Provider of answers: claude, anthropic, openai, handoff or replay [default: as for `run`; required for `audit` if
    /// a rule needs labels].
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Name of the model; for handoff, a name for the person or agent that answers [default: as for `run`].
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Address of the `openai` or `anthropic` server [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Maximum cost in US dollars; the command stops before a request that would exceed it [default: no limit].
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    /// Price table that overrides the built-in one [default: none].
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Maximum tokens; the command stops before a request that would exceed them [default: no limit].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU64>)]
    pub max_tokens: Option<NonZeroU64>,
    /// Recording to answer from; implies `--provider replay`.
    #[arg(long, value_name = "FILE")]
    pub recording: Option<PathBuf>,
}

impl ModelArgs {
    /// The flags as settings. A recording implies the provider `replay`.
    pub fn layer(&self) -> Layer {
        Layer {
            provider: self.provider.clone().or_else(|| replay_provider(self.recording.as_deref())),
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            max_cost: self.max_cost,
            prices: self.prices.clone(),
            max_tokens: self.max_tokens,
            recording: self.recording.clone(),
            ..Layer::default()
        }
    }
}

/// A provider with the answers and the usage so far.
pub(super) struct ModelClient {
    pub caller: Caller,
    pub prompts: Arc<PromptLibrary>,
    /// The empty folder that a model may read.
    pub workspace: PathBuf,
    handoff: PathBuf,
    cancel: Cancel,
    /// Usage so far; estimated if the provider reports none and there is a budget.
    pub used: Used,
    record: Option<PathBuf>,
    recording: Recording,
}

impl ModelClient {
    /// Fails if provider, prompts or recording are unusable, before any request is sent.
    pub(super) async fn new(mut settings: Settings, record: Option<&Path>, out: &Path) -> Result<Self, Failure> {
        let mut recording = Recording::default();
        if let Some(path) = record {
            // Before the first request, because an answer that cannot be recorded would be lost.
            check_recording_target(path)?;
            // An empty recording is a single line end, which `Recording::load` refuses because it has no answer.
            if std::fs::metadata(path).is_ok_and(|meta| meta.len() > 1) {
                recording = Recording::load(path).fails(Exit::Usage)?;
            }
            create_recording(path)?;
        }
        let (caller, cancel) = create_configured_caller(&mut settings, out).await?;
        let prompts = Arc::new(PromptLibrary::load(settings.given.prompts.as_deref()).fails(Exit::Usage)?);
        let out = std::path::absolute(out).fails(Exit::Usage)?;
        let workspace = out.join("workspace");
        std::fs::create_dir_all(&workspace)
            .map_err(|e| Failure::usage(format!("cannot create {}: {e}", workspace.display())))?;
        Ok(Self {
            caller,
            prompts,
            workspace,
            handoff: out.join("handoff"),
            cancel,
            used: Used::default(),
            record: record.map(Path::to_owned),
            recording,
        })
    }

    /// Sends a request within the budget. The answer is in the recording when this returns.
    pub(super) async fn ask(&mut self, mut request: Request) -> Result<Answer, Failure> {
        if self.caller.name() == "handoff" {
            request.seq = self.next_free_number(&request);
            print_message(&format!("waiting for {}", self.folder(request.seq, &request).join("answer.md").display()));
        }
        let before = self.used;
        let mut used = before;
        let mut note = |note: CallEvent| {
            if let CallEvent::Failed(FailedCall { message, usage, cost_usd, estimated, .. }) = &note {
                print_message(&format!("the call failed: {message}"));
                let estimated_cost = estimated.map_or(0.0, |e| e.cost_usd.unwrap_or(0.0));
                used.cost_usd += cost_usd.unwrap_or(0.0) + estimated_cost;
                let tokens = usage.map_or(0, |u| u.total()) + estimated.map_or(0, |e| e.usage.total());
                used.tokens = used.tokens.saturating_add(tokens);
            }
        };
        let answer = self.caller.call(&request, &|| before, &self.cancel, &mut note).await;
        // Before the error is returned: failed calls cost, too.
        self.used = used;
        let answer = answer.map_err(|e| call_failure(&e))?;
        let estimated = self.caller.estimate(&request, &answer);
        self.used.cost_usd += answer.cost_usd.unwrap_or(0.0) + estimated.and_then(|e| e.cost_usd).unwrap_or(0.0);
        let usage = answer.usage.unwrap_or_default().plus(estimated.map(|e| e.usage).unwrap_or_default());
        self.used.tokens = self.used.tokens.saturating_add(usage.total());
        self.record_answer(&request, &answer)?;
        Ok(answer)
    }

    fn folder(&self, seq: u64, request: &Request) -> PathBuf {
        self.handoff.join(format!("{seq:04}-{}", request.key.node))
    }

    /// The first number whose folder has no answer to another request.
    fn next_free_number(&self, request: &Request) -> u64 {
        let is_taken = |seq: u64| {
            let folder = self.folder(seq, request);
            match files::read_text_below(&self.handoff, &folder.join("request.md"), files::LARGE) {
                Ok(text) => !text.contains(request.prompt.trim()),
                // An answer without its request answers something else.
                Err(_) => folder.join("answer.md").exists(),
            }
        };
        let mut seq = request.seq;
        while is_taken(seq) {
            seq += 1;
        }
        seq
    }

    fn record_answer(&mut self, request: &Request, answer: &Answer) -> Result<(), Failure> {
        let Some(path) = &self.record else { return Ok(()) };
        // A recording with two answers for one key would be refused.
        self.recording.answers.retain(|known| known.key != request.key);
        self.recording.answers.push(Recorded::new(request, answer, self.caller.name()));
        // `write_atomically` needs the folder, for its temporary file.
        let absolute = std::path::absolute(path).fails(Exit::Usage)?;
        write_atomically(&absolute, self.recording.render().as_bytes())
            .map_err(|e| Failure::usage(format!("cannot write the recording {}: {e}", path.display())))
    }
}

/// Creates the provider that the settings name, with its retries and budget; Ctrl-C and SIGTERM cancel its calls. `out` holds
/// the folder for handoff. Paths in the settings become absolute.
pub async fn create_configured_caller(settings: &mut Settings, out: &Path) -> Result<(Caller, Cancel), Failure> {
    make_paths_absolute(settings);
    let cancel = cancel_on_signals();
    let caller = create_caller(settings, AnswerSource::Configured, out, &cancel).await?;
    Ok((caller, cancel))
}

fn call_failure(error: &LlmError) -> Failure {
    Failure::new(exit_of_failed_call(error), error.to_string())
}

/// The exit status of a failed call. As in a run, an unknown model is a usage error.
pub fn exit_of_failed_call(error: &LlmError) -> Exit {
    match error {
        LlmError::Cancelled => Exit::Interrupted,
        LlmError::Budget { .. } | LlmError::Deadline => Exit::Undecided,
        LlmError::Failed(failure) if failure.kind == FailureKind::ModelNotFound => Exit::Usage,
        _ => Exit::Provider,
    }
}
