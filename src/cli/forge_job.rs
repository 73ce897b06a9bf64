//! A run as a job of a fleet: what `forge-all --engine` submits, and what a worker does with it. Each run is a process of its
//! own, which ends with the worker. What it writes is durable in the shared store, so a worker that gets the job after another
//! one continues the run at the end of its journal.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use clap::Args as ClapArgs;
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedMutexGuard;
use tracing::Instrument as _;

use super::engine_args::refuse_both;
use super::failure::{Fails, Failure};
use super::fleet::{PATIENCE, parse_address, read_job};
use super::fleet_limits::share_limits;
use super::forge_fleet::{JobEnd, RunEnd};
use super::new_run::{DocumentSource, NewRun, create_run};
use super::policy_file::PolicyFile;
use super::progress::Display;
use super::provider::AnswerSource;
use super::resume::{continue_run, parse_recorded_settings};
use super::run_end::{exit_of, has_ended, read_view};
use super::run_failure::run_failure;
use super::run_folder::open_run;
use super::run_place::RunPlace;
use super::sets::find_other_setting;
use super::settings::load_settings;
use super::shared_place::SharedPlace;
use super::signals::cancel_on_first_signal;
use super::telemetry::{TRACEPARENT, name_run, traceparent};
use super::terminal::{print_json_line, print_message};
use super::tool_args::ToolArgs;
use super::trust::{make_paths_absolute, refuse_untrusted_file};
use crate::config::Layer;
use crate::exit::Exit;
use crate::files;
use crate::journal::{RunLock, Sha};
use crate::monitor::RunObjective;
use crate::nodes::{NodeContext, NodeDispatcher};
use crate::pipeline::{self, Entry, Halt, Interface, Outcome, Run, RunEvent, RunView, StopReason, StoredFile, drive};
use crate::process::{Cancel, Command, Ended, Scratch, Status};
use crate::prompt::{Document, Documents, Skipped};
use crate::report::heading;
use crate::toolchain::ToolContext;
use tlaforge_restate::{EngineAddress, Limits, NoAnswer};
use tlaforge_store::Address;

/// The name of the job.
pub(super) const FORGE: &str = "forge_run";

/// Time for a run to stop after SIGTERM: it stops between two steps, and a call of a model under way is lost.
const GRACE: Duration = Duration::from_secs(60);

/// Time after the signal to stop in which the limits may confirm what the run has used. If no worker is left, none answers; the
/// engine has stored what was reported.
const CONFIRMATION: Duration = Duration::from_secs(5);

/// The first and the longest pause after a run that could not begin or continue.
const PAUSES_AFTER_FAILURE: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// How often in a row a run is continued without a new event. The engine cannot count this: it also counts attempts that found no
/// worker, or none with a free turn. With this limit, all of 200 runs ended whose workers and server were killed 30 times at
/// random.
const MAX_RESUMED: usize = 5;

/// Bytes that the process of a run may print.
const MAX_OUTPUT: u64 = 1 << 20;

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
    /// The span of the submitter, if it sends telemetry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// What a worker needs to forge.
#[derive(Debug)]
pub(super) struct ForgeWorker {
    /// Addresses below which runs may be.
    pub runs: Vec<Address>,
    /// Where the working copies are, as an absolute path.
    pub cache: PathBuf,
    pub engine: EngineAddress,
    /// The flags of the worker for its tools.
    pub tools: Vec<std::ffi::OsString>,
    pub cancel: Cancel,
    /// How many runs in a row could not begin or continue here.
    pub failures_in_a_row: AtomicU32,
    pub processes: RunProcesses,
}

/// Locks for the runs that have a process here: a process may outlive its attempt while it stops.
#[derive(Debug, Default)]
pub(super) struct RunProcesses(Mutex<BTreeMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl RunProcesses {
    /// Waits until no process works on the run, and prevents another one.
    async fn lock_run(&self, run: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| turn.strong_count() > 0);
            let known = turns.get(run).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = Arc::default();
                turns.insert(run.to_owned(), Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }

    /// Waits until the processes of all runs have ended, after they were told to stop. Kills those that still run after [`GRACE`].
    pub(super) async fn all_ended(&self) {
        let is_one_left = || {
            let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.values().any(|turn| turn.strong_count() > 0)
        };
        while is_one_left() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Cancels when it is dropped.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl ForgeWorker {
    /// Works on the run until it ends or stops. The answer says nothing of the run itself: that is in its journal.
    pub(super) async fn forge(&self, request: &[u8]) -> Result<String, NoAnswer> {
        let failed = |failure: Failure| NoAnswer::Failed(failure.one_line());
        let job: ForgeJob = read_job(request).map_err(NoAnswer::Failed)?;
        if !self.allows(&job.address) {
            return Err(NoAnswer::Failed(format!(
                "this worker does not work on {}; start it with --runs and an address above it",
                job.address
            )));
        }
        name_run(&job.address);
        let place = SharedPlace::on_worker(&job.address, &self.cache).map_err(failed)?;
        let lock = self.processes.lock_run(&job.address).await;
        if self.cancel.is_cancelled() {
            return Err(NoAnswer::GivenBack);
        }
        let copy = match place.take_for_job() {
            Ok(Some(copy)) => copy,
            Ok(None) => return Err(NoAnswer::GivenBack),
            Err(failure) => {
                self.pause_after_failure().await;
                return Err(failed(failure));
            }
        };
        place.forget_takeover();
        let ended = self.run_process(&job.address, request, (copy, lock)).await;
        // Another process works on the run. If the engine still waits for this attempt, it sends the job again; if not, the
        // other process has it.
        if self.cancel.is_cancelled() || place.was_taken_over() || RunLock::is_held(place.folder()) {
            return Err(NoAnswer::GivenBack);
        }
        let ended = ended.and_then(|(ended, held)| {
            drop(held);
            read_end(&ended)
        });
        // What its tools could not do may fail for the next run here, too.
        if ended.as_ref().is_ok_and(|end| end.has_outcome() && end.status != Exit::Tool.code()) {
            self.failures_in_a_row.store(0, Ordering::Relaxed);
        } else {
            self.pause_after_failure().await;
        }
        serde_json::to_string(&ended.map_err(NoAnswer::Failed)?).map_err(|e| NoAnswer::Failed(e.to_string()))
    }

    /// Holds the place of a run that could not begin or continue, longer after each failure in a row. Otherwise a worker that lacks
    /// something would be free at once and take most runs from workers that can do them.
    async fn pause_after_failure(&self) {
        let failures = self.failures_in_a_row.fetch_add(1, Ordering::Relaxed);
        let pause = PAUSES_AFTER_FAILURE[0].saturating_mul(2_u32.saturating_pow(failures)).min(PAUSES_AFTER_FAILURE[1]);
        tokio::select! {
            () = self.cancel.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }

    /// Whether an address is below one of those of the worker. Only the usual form of an address is accepted, because the text
    /// decides which jobs exclude each other.
    fn allows(&self, address: &str) -> bool {
        Address::parse(address)
            .is_ok_and(|run| run.text() == address && self.runs.iter().any(|allowed| run.is_below(allowed)))
    }

    /// Lets a process work on the run. `held` is returned when the process has ended, or dropped if this attempt was.
    async fn run_process<T>(&self, run: &str, request: &[u8], held: T) -> Result<(Ended, T), String>
    where
        T: Send + 'static,
    {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        // The files of the folder where the worker was started, such as a settings file, are not for the runs of others.
        let scratch = Scratch::new(&std::env::temp_dir(), "tlaforge-run-").map_err(|e| e.to_string())?;
        let mut command = Command::new(program).arg("forge-job").arg("--engine").arg(self.engine.to_string());
        command = command.arg("--cache").arg(&self.cache).args(&self.tools).cwd(scratch.path());
        // Includes the model keys, because the process calls models. The model itself is part of the job.
        let environment = std::env::vars_os().filter(|(name, _)| name != "CLAUDE_MODEL");
        let environment = environment.filter(|(name, _)| name != TRACEPARENT);
        let trace = traceparent().map(|traceparent| (TRACEPARENT.into(), traceparent.into()));
        let command = environment.chain(trace).fold(command, |command, (name, value)| command.env(name, value));
        let command = command.stdin(request).grace(GRACE).output_cap(MAX_OUTPUT).reports_error_lines();
        // Such as that the run waits for the store: only the log of the worker shows it meanwhile.
        let run = run.to_owned();
        let mut print = move |line: &str| match serde_json::from_str::<RunEnd>(line) {
            Ok(end) => print_message(&format!("{run}: {}", end.outcome)),
            Err(_) => print_message(&format!("{run}: {line}")),
        };
        let stop = Cancel::new();
        // In a task: if this attempt is dropped because its connection is lost, or the job was cancelled, the process still gets the
        // time to journal that it stops. Otherwise the run would look as if it had killed the process.
        let stop_if_dropped = CancelOnDrop(stop.clone());
        let process = async move {
            let ended = command.run(&stop, &mut print).await;
            drop(scratch);
            ended.map(|ended| (ended, held))
        };
        let mut process = tokio::spawn(process.in_current_span());
        let ended = tokio::select! {
            ended = &mut process => ended,
            () = self.cancel.cancelled() => {
                drop(stop_if_dropped);
                process.await
            }
        };
        ended.map_err(|e| e.to_string())?.map_err(|e| e.to_string())
    }
}

/// What the process of a run has printed.
fn read_end(ended: &Ended) -> Result<JobEnd, String> {
    let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
    match ended.status {
        Status::Exited(status) => Ok(JobEnd {
            status: u8::try_from(status).unwrap_or(u8::MAX),
            run: serde_json::from_slice(&ended.stdout).ok(),
            errors: last_error(&errors).to_owned(),
        }),
        other => Err(format!("the process of the run ended by {other:?}: {}", errors.trim())),
    }
}

/// The error that ended a process, without what it printed before.
fn last_error(printed: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| *at == 0 || printed.as_bytes()[at - 1] == b'\n';
    printed.rmatch_indices("error: ").find(begins).map_or(printed, |(at, _)| &printed[at..])
}

/// The process of one run, which only a worker starts.
#[derive(Debug, ClapArgs)]
pub(super) struct ForgeJobArgs {
    /// Where the limits are that runs share.
    #[arg(long)]
    pub engine: String,
    #[arg(long)]
    pub cache: PathBuf,
    #[command(flatten)]
    pub tools: ToolArgs,
}

pub(super) async fn forge_job(args: ForgeJobArgs) -> Result<Exit, Failure> {
    let mut request = Vec::new();
    std::io::stdin().lock().read_to_end(&mut request).fails(Exit::Usage)?;
    let job: ForgeJob = read_job(&request).map_err(Failure::usage)?;
    let address = job.address.clone();
    name_run(&address);
    let place = RunPlace::from(SharedPlace::on_worker(&address, &args.cache)?);
    place.update()?;
    let flags = args.tools.layer();
    refuse_for_workers(&job.settings)?;
    // A submitter must not choose programs or servers. Everyone who can submit a job can also write to the store.
    let provider = job.settings.provider.clone().unwrap_or_default();
    refuse_untrusted_file("the job", &job.settings, &flags, &provider)?;
    refuse_both(flags.checker)?;
    let table = flags.merge_over(of_this_machine(job.settings.clone()));
    let (display, cancel) = (Arc::new(Display::silent()), cancel_on_first_signal());
    let stop = cancel.clone();
    let engine = parse_address(&args.engine)?;
    let (run, mut prepared) = match read_view(place.folder())? {
        Some(_) => {
            let run = open_run(&place, &display)?;
            let view = run.view();
            refuse_other_job(&job, &view)?;
            if has_ended(&view) {
                print_outcome(&view);
                return Ok(exit_of(&view, place.folder()));
            }
            // The libraries of the worker that began it are in the journal; this one has its own.
            let recorded = parse_recorded_settings(&view.settings.command_line)?;
            refuse_for_workers(&Layer { library: Vec::new(), ..recorded })?;
            if let Some(message) = why_hopeless(&run.entries()) {
                return stop_run(&run, &place, &Halt { reason: StopReason::Tool, message });
            }
            let prepared = continue_run(&run, &table, &display, cancel).await?;
            if let Some(message) = other_tools(&run.entries(), &prepared.context).await? {
                return stop_run(&run, &place, &Halt { reason: StopReason::Tool, message });
            }
            (run, prepared)
        }
        None => begin(job, &place, table, &display, cancel).await?,
    };
    // The limits of a key are set by `tlaforge fleet limits`.
    let shared = tokio::select! {
        biased;
        () = stop.cancelled() => return stop_run(&run, &place, &Halt::interrupted()),
        shared = share_limits(&mut prepared.context.caller, engine, &address, Limits::default(), PATIENCE) => shared,
    };
    if let Err(failure) = shared {
        // Otherwise it would look as if the run had killed this process.
        let halt = Halt { reason: StopReason::Tool, message: failure.one_line() };
        pipeline::stop(&run, &halt).map_err(|e| run_failure(&e))?;
        return Err(failure);
    }
    let nodes = NodeDispatcher { context: prepared.context };
    let finished = drive(&run, &nodes).await.map_err(|e| run_failure(&e));
    tokio::select! {
        () = nodes.context.caller.flush_limits() => {}
        () = async { stop.cancelled().await; tokio::time::sleep(CONFIRMATION).await } => {}
    }
    finished?;
    pipeline::reconcile(&run).map_err(|e| run_failure(&e))?;
    print_outcome(&run.view());
    Ok(if prepared.contradictions.has_any() { Exit::Defect } else { exit_of(&run.view(), place.folder()) })
}

/// Prints how the run is, for the answer of the job.
fn print_outcome(view: &RunView) {
    let stopped = view.finished.as_ref().filter(|finished| finished.outcome == Outcome::Stopped);
    let why =
        stopped.and_then(|finished| finished.why.lines().next()).map_or_else(String::new, |why| format!(": {why}"));
    print_json_line(&RunEnd { has_ended: has_ended(view), outcome: format!("{}{why}", heading(view)) });
}

async fn begin(
    job: ForgeJob,
    place: &RunPlace,
    table: Layer,
    display: &Arc<Display>,
    cancel: Cancel,
) -> Result<(Run, super::forge::Preparation), Failure> {
    if let Some(file) = job.documents.iter().find(|file| !files::stays_below(&file.path)) {
        return Err(Failure::usage(format!("{:?} cannot be the name of a document", file.path)));
    }
    let mut settings = load_settings(table)?;
    make_paths_absolute(&mut settings);
    let texts = place.require_shared()?.read_artifacts(job.documents.iter().map(|file| &file.sha))?;
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

/// Journals that the run stops before it goes on. The same command continues it.
fn stop_run(run: &Run, place: &RunPlace, halt: &Halt) -> Result<Exit, Failure> {
    pipeline::stop(run, halt).map_err(|e| run_failure(&e))?;
    print_outcome(&run.view());
    Ok(exit_of(&run.view(), place.folder()))
}

/// Why another process would probably not get further: the engine sends a job again that has killed its worker, without end.
fn why_hopeless(events: &[Entry]) -> Option<String> {
    // A process that was killed has written nothing else. One that stops in order also writes `run_finished`.
    let is_new = |event: &RunEvent| {
        !matches!(event, RunEvent::RunResumed(_) | RunEvent::AttemptStarted(_) | RunEvent::RequestSent(_))
    };
    let last = events.iter().rev().take_while(|entry| !is_new(&entry.event));
    let resumed = last.filter(|entry| entry.event.is_run_resumed()).count();
    (resumed >= MAX_RESUMED).then(|| {
        format!(
            "{resumed} times in a row, a process that continued this run was killed before it journaled anything new: look for \
             the reason in the logs of the workers, such as too little memory (--heap-mib) or a network that was cut; the same \
             command tries again"
        )
    })
}

/// The difference, if the last check of the run was made by other tools than this worker has: they may judge differently.
async fn other_tools(events: &[Entry], context: &NodeContext) -> Result<Option<String>, Failure> {
    let checks = events.iter().rev().find_map(|entry| entry.event.try_as_check_finished_ref());
    let Some(then) = checks.map(|check| &check.outcome.version) else { return Ok(None) };
    let NodeContext { toolchain, limits, cancel, .. } = context;
    let cx = ToolContext { limits, cancel, progress: &|_| {} };
    let now = toolchain.versions(&cx).await.fails(Exit::Tool)?;
    Ok((*then != now).then(|| {
        format!(
            "its last check was made by {then}, and this worker has {now}: give all workers the same tools, then the same command \
             continues it; `tlaforge resume` with its address continues it with the tools of its machine"
        )
    }))
}

/// Refuses to go on with a run that another job has begun at the address.
fn refuse_other_job(job: &ForgeJob, view: &RunView) -> Result<(), Failure> {
    let other = |what: String| {
        Err(Failure::usage(format!("{} has another run: {what}", job.address))
            .hint("give this run another name, or choose another address: --runs ADDRESS"))
    };
    if let Some(what) = find_other_setting(&job.settings, &view.settings.command_line)? {
        return other(what);
    }
    let policy = job.policy.as_ref().map(|(_, text)| Sha::digest(text));
    let different = [
        ("documents", job.documents != view.settings.docs),
        ("policy", policy.as_ref() != view.settings.policy.as_ref().map(|file| &file.sha)),
        ("objective", job.objective.as_ref() != view.objective()),
        ("interface", job.interface.words() != view.settings.interface),
    ];
    match different.into_iter().find(|(_, is_different)| *is_different) {
        Some((what, _)) => other(format!("not the same {what}")),
        None => Ok(()),
    }
}

/// The settings without those that each machine has for itself.
pub(super) fn of_this_machine(settings: Layer) -> Layer {
    Layer { base_url: None, workers: None, heap_mib: None, tla_tools: None, claude_path: None, ..settings }
}

/// Refuses settings of a run that workers cannot have: files of another machine, and a person who answers.
pub(super) fn refuse_for_workers(settings: &Layer) -> Result<(), Failure> {
    let Layer { provider, checker, recording, record, prompts, exemplars, prices, library, .. } = settings;
    refuse_both(*checker)?;
    if provider.as_deref() == Some("handoff") {
        return Err(Failure::usage(
            "the provider handoff cannot be used with --engine: on a worker, no person can answer the requests",
        )
        .hint("choose another provider, or forge without --engine"));
    }
    let named = [
        ("a recording (--recording)", recording.is_some()),
        ("a recording (--record)", record.is_some()),
        ("prompts (--prompts)", prompts.is_some()),
        ("exemplars (--exemplars)", exemplars.is_some()),
        ("prices (--prices)", prices.is_some()),
        ("a library (--library, TLA_PATH)", !library.is_empty()),
    ];
    match named.into_iter().find(|(_, is_named)| *is_named) {
        Some((what, _)) => {
            Err(Failure::usage(format!("the settings name {what}: files of this machine, which workers do not have"))
                .hint("forge without --engine to use them"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_error_that_ended_a_process_is_reported() {
        for printed in ["error: no key\n  help: set it\n", "note: an error: lost\nerror: no key\n  help: set it\n"] {
            assert_eq!(last_error(printed), "error: no key\n  help: set it\n");
        }
        assert_eq!(last_error("killed"), "killed");
    }

    #[test]
    fn a_worker_works_only_on_runs_below_its_addresses() {
        let worker = ForgeWorker {
            runs: vec![Address::parse("file:///runs").unwrap(), Address::parse("s3://bucket/team").unwrap()],
            cache: PathBuf::from("/cache"),
            engine: "http://127.0.0.1:9070".parse().unwrap(),
            tools: Vec::new(),
            cancel: Cancel::new(),
            failures_in_a_row: AtomicU32::new(0),
            processes: RunProcesses::default(),
        };
        for address in ["file:///runs/a", "file:///runs/model/a", "s3://bucket/team/a"] {
            assert!(worker.allows(address), "{address}");
        }
        for address in [
            "file:///runs",
            "file:///runs2/a",
            "file:///runs/../home/a",
            "file:///runs/%2e%2e/home/a",
            "file:///runs/.\t./home/a",
            "file:///runs/a/",
            "s3://bucket/other/a",
            "s3://Bucket/team/a",
            "runs/a",
        ] {
            assert!(!worker.allows(address), "{address}");
        }
    }

    #[test]
    fn settings_that_name_files_or_a_person_are_refused_and_servers_are_left_out() {
        let of = |text: &str| toml::from_str::<Layer>(text).unwrap();
        for (text, word) in [
            ("prices = \"/home/x/key\"", "--prices"),
            ("prompts = \"p\"", "--prompts"),
            ("library = [\"l\"]", "TLA_PATH"),
            ("provider = \"handoff\"", "handoff"),
            ("checker = \"both\"", "--checker both"),
        ] {
            let message = refuse_for_workers(&of(text)).unwrap_err().message;
            assert!(message.contains(word), "{message}");
        }
        let settings = of("model = \"m\"\nbase_url = \"http://10.0.0.5\"\nheap_mib = 900000\n");
        assert!(refuse_for_workers(&settings).is_ok());
        assert_eq!(of_this_machine(settings), of("model = \"m\""));
    }
}
