//! A run as a job of a fleet: what `forge-all --engine` submits, and what a worker does with it. Each run is a process of its
//! own, which ends with the worker. What it writes is durable in the shared store, so a worker that gets the job after another
//! one continues the run at the end of its journal.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args as ClapArgs;
use serde::{Deserialize, Serialize};

use super::fleet::VERSION;
use super::fleet_runs::shared;
use super::forge_fleet::JobEnd;
use super::forge_all::{exit_of, has_ended, read_view};
use super::failure::{Fails, Failure};
use super::new_run::{DocumentSource, NewRun, create_run};
use super::policy_file::PolicyFile;
use super::progress::Display;
use super::provider::AnswerSource;
use super::resume::continue_run;
use super::run_folder::{open_run, run_failure};
use super::run_place::RunPlace;
use super::settings::load_settings;
use super::shared_place::SharedPlace;
use super::signals::cancel_on_signals;
use super::tool_args::ToolArgs;
use super::trust::{make_paths_absolute, refuse_untrusted_file};
use crate::config::Layer;
use crate::exit::Exit;
use crate::monitor::RunObjective;
use crate::nodes::NodeDispatcher;
use crate::pipeline::{self, Interface, StoredFile, drive};
use crate::process::{Cancel, Command, Scratch, Status};
use crate::prompt::{Document, Documents, Skipped};
use tlaforge_restate::NoAnswer;

/// The name of the job.
pub(super) const FORGE: &str = "forge_run";

/// Time for a run to stop after SIGTERM: it stops between two steps, and a call of a model under way is lost.
const GRACE: Duration = Duration::from_secs(60);

/// Bytes that the process of a run may print.
const MAX_OUTPUT: u64 = 1 << 20;

/// How often a worker opens a run that another worker, which the engine has given up, still writes to.
const TAKE_OVERS: u32 = 3;

/// A run that a worker begins, or continues if it has begun.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ForgeJob {
    /// The version of the program.
    pub tlaforge: String,
    /// The address of the run.
    pub address: String,
    /// The documents. They are in the store already.
    pub documents: Vec<StoredFile>,
    pub skipped: Vec<Skipped>,
    pub interface: Interface,
    pub settings: Layer,
    pub objective: Option<RunObjective>,
    /// The name and the text of the policy file.
    pub policy: Option<(String, String)>,
}

/// What a worker needs to forge.
#[derive(Debug)]
pub(super) struct ForgeWorker {
    /// Addresses below which runs may be.
    pub runs: Vec<String>,
    /// Where the working copies are.
    pub cache: Option<PathBuf>,
    /// The flags of the worker for its tools.
    pub tools: Vec<std::ffi::OsString>,
    pub cancel: Cancel,
}

impl ForgeWorker {
    /// Works on the run until it ends or stops. The answer says nothing of the run itself: that is in its journal.
    pub(super) async fn forge(&self, request: Vec<u8>) -> Result<String, NoAnswer> {
        let job = read_job(&request).map_err(NoAnswer::Failed)?;
        if !self.runs.iter().any(|allowed| is_below(&job.address, allowed)) {
            return Err(NoAnswer::Failed(format!(
                "this worker does not work on {}; start it with --runs and an address above it",
                job.address
            )));
        }
        for _ in 0..TAKE_OVERS {
            let ended = self.run_process(&job.address, &request).await;
            if self.cancel.is_cancelled() {
                return Err(NoAnswer::GivenBack);
            }
            let (end, was_taken_over) = ended.map_err(NoAnswer::Failed)?;
            if !was_taken_over {
                return serde_json::to_string(&end).map_err(|e| NoAnswer::Failed(e.to_string()));
            }
        }
        Err(NoAnswer::Failed(format!("another process works on {}", job.address)))
    }

    /// How the process ended, and whether another process continued the run meanwhile.
    async fn run_process(&self, address: &str, request: &[u8]) -> Result<(JobEnd, bool), String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        // Relative settings, such as a settings file, are not those of the folder where the worker was started.
        let scratch = Scratch::new(&std::env::temp_dir(), "tlaforge-run-").map_err(|e| e.to_string())?;
        let mut command = Command::new(program).arg("forge-job").args(&self.tools).cwd(scratch.path());
        if let Some(cache) = &self.cache {
            command = command.arg("--cache").arg(cache);
        }
        // The keys, too: the process calls models.
        let command = std::env::vars_os().fold(command, |command, (name, value)| command.env(name, value));
        let command = command.stdin(request).grace(GRACE).output_cap(MAX_OUTPUT);
        let ended = command.run(&self.cancel, &mut |_| {}).await.map_err(|e| e.to_string())?;
        let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
        let place = SharedPlace::new(address, self.cache.as_deref()).map_err(|f| f.message)?;
        match ended.status {
            Status::Exited(status) => {
                let was_taken_over = place.was_taken_over();
                Ok((JobEnd { status: u8::try_from(status).unwrap_or(u8::MAX), errors }, was_taken_over))
            }
            other => Err(format!("the process of the run ended by {other:?}: {}", errors.trim())),
        }
    }
}

/// The version is read first: another one may have other fields.
fn read_job(request: &[u8]) -> Result<ForgeJob, String> {
    #[derive(Deserialize)]
    struct Version {
        tlaforge: String,
    }
    let Version { tlaforge } = serde_json::from_slice(request).map_err(|e| format!("not a job of tlaforge: {e}"))?;
    if tlaforge != VERSION {
        return Err(format!("this worker has tlaforge {VERSION}, and the job is of {tlaforge}"));
    }
    serde_json::from_slice(request).map_err(|e| format!("not a job of tlaforge {VERSION}: {e}"))
}

/// Whether an address is below another one. Addresses have no `..` (the store refuses them).
fn is_below(address: &str, above: &str) -> bool {
    let above = above.trim_end_matches('/');
    address.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')) && !address.contains("..")
}

/// The process of one run, which only a worker starts.
#[derive(Debug, ClapArgs)]
pub(super) struct ForgeJobArgs {
    #[arg(long)]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
}

pub(super) async fn forge_job(args: ForgeJobArgs) -> Result<Exit, Failure> {
    let mut request = Vec::new();
    std::io::stdin().lock().read_to_end(&mut request).fails(Exit::Usage)?;
    let job = read_job(&request).map_err(Failure::usage)?;
    let place = RunPlace::at(&job.address, args.cache.as_deref())?;
    place.update()?;
    let flags = args.tools.layer();
    let (display, cancel) = (Arc::new(Display::silent()), cancel_on_signals());
    let (run, prepared) = match read_view(place.folder())? {
        Some(_) => {
            let run = open_run(&place, &display)?;
            let view = run.view();
            if has_ended(&view) {
                return Ok(exit_of(&view, place.folder()));
            }
            let Layer { max_cost, max_tokens, max_time, .. } = job.settings;
            let table = Layer { max_cost, max_tokens, max_time, ..flags };
            let prepared = continue_run(&run, &table, &display, cancel).await?;
            (run, prepared)
        }
        None => begin(job, &place, flags, &display, cancel).await?,
    };
    let nodes = NodeDispatcher { context: prepared.context };
    drive(&run, &nodes).await.map_err(|e| run_failure(&e))?;
    pipeline::reconcile(&run).map_err(|e| run_failure(&e))?;
    Ok(if prepared.contradictions.has_any() { Exit::Defect } else { exit_of(&run.view(), place.folder()) })
}

async fn begin(
    job: ForgeJob,
    place: &RunPlace,
    flags: Layer,
    display: &Arc<Display>,
    cancel: Cancel,
) -> Result<(pipeline::Run, super::forge::Preparation), Failure> {
    refuse_paths(&job.settings)?;
    let provider = job.settings.provider.clone().unwrap_or_default();
    // Whoever can submit a job must not choose what runs here, or which server gets a key.
    refuse_untrusted_file("the job", &job.settings, &flags, &provider)?;
    let mut settings = load_settings(flags.merge_over(job.settings))?;
    make_paths_absolute(&mut settings);
    let texts = shared(place)?.read_artifacts(job.documents.iter().map(|file| &file.sha))?;
    let files = job.documents.into_iter().zip(texts).map(|(StoredFile { path, .. }, text)| Document { path, text });
    let documents = Documents { files: files.collect(), skipped: job.skipped };
    let new = NewRun {
        out: place.clone(),
        docs: DocumentSource::Loaded(documents),
        interface: job.interface,
        answers: AnswerSource::Configured,
        objective: job.objective,
        policy: job.policy.map(|(name, text)| PolicyFile::check(name, text)).transpose()?,
        earlier: None,
    };
    create_run(new, &settings, display, cancel).await
}

/// Refuses settings that name files: other machines do not have them.
pub(super) fn refuse_paths(settings: &Layer) -> Result<(), Failure> {
    let Layer { recording, record, prompts, exemplars, prices, claude_path, tla_tools, library, .. } = settings;
    let named = [
        ("--recording", recording.is_some()),
        ("--record", record.is_some()),
        ("--prompts", prompts.is_some()),
        ("--exemplars", exemplars.is_some()),
        ("--prices", prices.is_some()),
        ("--claude-path", claude_path.is_some()),
        ("--tla-tools", tla_tools.is_some()),
        ("--library", !library.is_empty()),
    ];
    match named.into_iter().find(|(_, is_named)| *is_named) {
        Some((flag, _)) => Err(Failure::usage(format!("{flag} cannot be used with --engine: it names a file of this machine"))
            .hint("workers take their own tools, prices and prompts; forge without --engine to use this file")),
        None => Ok(()),
    }
}
