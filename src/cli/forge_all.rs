//! `tlaforge forge-all`: many runs in one command, several at a time. The journals of the runs decide what has ended and what
//! was spent; this file plans, starts and continues runs, and keeps their results in one list.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use tokio::time::timeout;

use super::engine_args::EngineArgs;
use super::environment::clock;
use super::failure::{Fails, Failure};
use super::forge_args::ForgeArgs;
use super::forge_engine::{Fleet, connect_fleet};
use super::forge_fleet::NewWork;
use super::forged_run::{ForgedRun, ResultsFile, summarize};
use super::format::Format;
use super::new_run::{DocumentSource, NewRun, create_run};
use super::objective::read_objective;
use super::parallel::{do_in_parallel, worst_exit};
use super::policy_file::{PolicyFile, read_policy_text};
use super::progress::{Display, format_progress, with_status};
use super::provider::AnswerSource;
use super::resume::continue_run;
use super::run::read_case;
use super::run_end::{exit_of, has_ended, read_view};
use super::run_failure::run_failure;
use super::run_folder::open_run;
use super::run_place::{RunPlace, update_all};
use super::sets::{PlannedRun, RunSource, find_other_setting, plan_runs};
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::terminal::{print_json_line, print_result};
use super::trust::make_paths_absolute;
use super::value_parsers::parse_positive;
use crate::config::Settings;
use crate::exit::Exit;
use crate::journal::{RunLock, Sha};
use crate::llm::SharedBudget;
use crate::monitor::RunObjective;
use crate::nodes::NodeDispatcher;
use crate::pipeline::{self, Interface, Run, RunView, drive};
use crate::process::Cancel;
use crate::prompt::read_documents;
use crate::report::counted;
use crate::toolchain::memory_per_run_mib;

/// Time for reading what the runs have cost after Ctrl-C.
const FINAL_UPDATE_LIMIT: Duration = Duration::from_secs(3);

#[derive(Debug, ClapArgs)]
// Not the cost of a single run, as in `run`.
#[command(mut_arg("max_cost", |arg| arg.help(MAX_COST).long_help(MAX_COST)))]
#[command(mut_arg("engine", |arg| arg.help(ENGINE).long_help(ENGINE)))]
pub(super) struct ForgeAllArgs {
    /// Table of runs (.toml: sets of documents, models and settings), or a folder in which each subfolder is a set of documents
    /// or an evaluation case.
    pub sets: PathBuf,
    /// Folder of all runs, each in a subfolder of its own. A run that has ended there is not begun again, and one that has
    /// stopped continues.
    #[arg(long, value_name = "DIR", default_value = "specs")]
    pub out: PathBuf,
    /// Number of runs to work on at a time; in this process, their checkers together use the memory of one [default: one per processor; with `--engine`, 32].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub jobs: Option<NonZeroUsize>,
    /// List the runs with their state, and start none.
    #[arg(long)]
    pub list: bool,
    /// Address of the folder of all runs in the shared store of the workers, such as `s3://BUCKET/runs`; with `--engine`. The
    /// folders below `--out` are then copies for reading.
    #[arg(long, value_name = "ADDRESS", requires = "engine")]
    pub runs: Option<String>,
    #[command(flatten)]
    pub forge: ForgeArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Output format: `text`, or `json` (one run a line, as in `results.jsonl`).
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "FORMAT")]
    pub format: Format,
}

const ENGINE: &str = "Let the workers (`tlaforge worker --runs`) of this Restate server forge: the address of its admin API, such as \
                      `http://127.0.0.1:9070`; needs `--runs` [default: forge in this process]";

const MAX_COST: &str = "Maximum cost of all runs together in US dollars, including what they have cost before; no run starts \
                        after it is reached, and those that work stop before a call that would exceed it; refused with `--engine` [default: no limit]";

pub(super) async fn forge_all(args: ForgeAllArgs) -> Result<Exit, Failure> {
    let limit_usd = read_cost_limit(&args)?;
    let mut flags = args.forge.layer();
    flags.max_cost = None;
    let planned = plan_runs(&args.sets, &args.out, &flags)?;
    refuse_run_folders(&args.out, &planned)?;
    let objective = read_objective(args.forge.objective.as_deref())?;
    let policy = args.forge.policy.as_deref();
    let policy_sha = policy.map(|path| {
        read_policy_text(path).map(Sha::digest).map_err(|e| {
            Failure::usage(format!("cannot read {}: {e}", path.display())).hint("--policy takes a policy file")
        })
    });
    let mut all = AllRuns {
        out: &args.out,
        objective,
        policy,
        policy_sha: policy_sha.transpose()?,
        limit_usd,
        budget: None,
        parallel_runs: 1,
        cancel: Cancel::new(),
        fleet: connect_fleet(&args.engine, args.runs.as_deref())?,
    };
    if args.list {
        let mut failures = all.update_copies(planned.iter(), args.format).await?;
        for run in &planned {
            let known = all.inspect(run, failures.remove(&run.id));
            print_run(&known.result.unwrap_or_else(|| all.list_open(run)), args.format, None);
        }
        return Ok(Exit::Ok);
    }
    std::fs::create_dir_all(&args.out).map_err(|e| {
        Failure::usage(format!("cannot create {}: {e}", args.out.display())).hint("name another folder: --out DIR")
    })?;
    // Before the journals are read: another call may be working on the same runs.
    let _lock = RunLock::take(&args.out, &clock()()).fails(Exit::Usage)?;
    let mut failures = all.update_copies(planned.iter(), args.format).await?;
    let known: Vec<KnownRun> = planned.iter().map(|run| all.inspect(run, failures.remove(&run.id))).collect();
    if let Some(limit) = limit_usd {
        let mut spent = 0.0;
        for (run, known) in planned.iter().zip(&known) {
            spent += known.cost_usd.ok_or_else(|| unknown_cost_failure(&all.folder(run), known))?;
        }
        all.budget = Some(Arc::new(SharedBudget::new(limit, spent)));
    }
    let open: Vec<&PlannedRun> =
        planned.iter().zip(&known).filter(|(_, known)| known.result.is_none()).map(|(run, _)| run).collect();
    let usual =
        || args.engine.default_jobs().unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let jobs = args.jobs.map_or_else(usual, usize::from);
    all.parallel_runs = jobs.min(open.len()).max(1);
    all.cancel = cancel_on_signals();
    let display = Display::new(args.format);
    let mut results: Vec<ForgedRun> = known.into_iter().filter_map(|known| known.result).collect();
    let mut file = ResultsFile::begin(&args.out, &results)?;
    let ended = results.len();
    for run in &results {
        print_run(run, args.format, Some(&display));
    }
    display.announce(&format!("{} of {}, {jobs} at a time", counted(open.len(), "run"), planned.len()));
    let (began, finished, mut write_error) = (Instant::now(), AtomicUsize::new(0), None);
    let note_end = |run: &ForgedRun, count: usize| {
        finished.store(count, Relaxed);
        write_error = write_error.take().or(file.append(run).err());
        print_run(run, args.format, Some(&display));
    };
    let work = do_in_parallel(open.iter().map(|run| all.forge(run)), jobs, note_end);
    let status = || {
        let done = finished.load(Relaxed);
        display.show_status(&format_progress(done, open.len(), "runs ended", began));
    };
    results.extend(with_status(work, display.status_interval(), status).await);
    display.finish();
    if let Some(fleet) = &all.fleet {
        // What has no answer: after Ctrl-C, or if no worker was found in time.
        fleet.cancel_submitted().await;
        all.update_stopped(&planned, &mut results, args.format).await;
    }
    // In the order of the table, whichever ended first.
    let place = |run: &ForgedRun| planned.iter().position(|planned| planned.id == run.run);
    results.sort_by_key(place);
    file.finish(&results)?;
    write_error.map_or(Ok(()), Err)?;
    if args.format == Format::Text {
        print_result(&summarize(&results, ended, limit_usd));
    }
    display.note(&format!("results: {}", file.path().display()));
    if all.cancel.is_cancelled() {
        display.note("interrupted; the same command continues");
        return Ok(Exit::Interrupted);
    }
    Ok(worst_exit(results.iter().map(|run| run.exit)))
}

fn read_cost_limit(args: &ForgeAllArgs) -> Result<Option<f64>, Failure> {
    let limit_usd = args.forge.max_cost;
    if let Some(limit) = limit_usd.filter(|limit| !limit.is_finite() || *limit <= 0.0) {
        return Err(Failure::usage(format!("--max-cost is {limit}; it must be a number of US dollars above 0")));
    }
    if limit_usd.is_some() && args.engine.engine.is_some() {
        return Err(Failure::usage(
            "--max-cost cannot be used with --engine: the workers keep the limits of all runs with a key",
        )
        .hint("set the limit of the key: tlaforge fleet limits --engine URL --key NAME --max-cost USD")
        .hint("or max_cost for each run in the table"));
    }
    Ok(limit_usd)
}

fn print_run(run: &ForgedRun, format: Format, display: Option<&Display>) {
    let print = || match format {
        Format::Json => print_json_line(run),
        Format::Text => print_result(&run.line()),
    };
    match display {
        Some(display) => display.suspend(print),
        None => print(),
    }
}

/// Refuses a folder that is itself a run: the runs would be created among its files.
fn refuse_run_folders(out: &Path, planned: &[PlannedRun]) -> Result<(), Failure> {
    let parents =
        planned.iter().flat_map(|run| out.join(&run.id).ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>());
    match parents.filter(|parent| parent.starts_with(out)).find(|parent| Run::exists(parent)) {
        Some(run) => Err(Failure::usage(format!("{} is a run of its own", run.display()))
            .hint("choose another folder for all runs: --out DIR")),
        None => Ok(()),
    }
}

/// What is known of a run before anything starts.
struct KnownRun {
    /// Its result, if it needs no work: it has ended, or cannot be what the table says.
    result: Option<ForgedRun>,
    /// US dollars so far; `None` if its journal cannot be read.
    cost_usd: Option<f64>,
}

struct AllRuns<'a> {
    out: &'a Path,
    objective: Option<RunObjective>,
    policy: Option<&'a Path>,
    policy_sha: Option<Sha>,
    limit_usd: Option<f64>,
    budget: Option<Arc<SharedBudget>>,
    parallel_runs: usize,
    cancel: Cancel,
    /// Where the runs are forged, if not in this process.
    fleet: Option<Fleet>,
}

/// What a planned run starts from.
struct Start {
    docs: PathBuf,
    interface: Interface,
    settings: Settings,
}

impl AllRuns<'_> {
    fn folder(&self, run: &PlannedRun) -> PathBuf {
        self.out.join(&run.id)
    }

    fn place(&self, run: &PlannedRun) -> Result<RunPlace, Failure> {
        let folder = self.folder(run);
        match &self.fleet {
            Some(fleet) => fleet.place(&run.id, &folder),
            None => Ok(folder.into()),
        }
    }

    /// Updates the copies of these runs from the shared store, if there is one. Returns the failures of single runs.
    async fn update_copies<'r>(
        &self,
        runs: impl Iterator<Item = &'r PlannedRun>,
        format: Format,
    ) -> Result<BTreeMap<String, Failure>, Failure> {
        let (mut places, mut failures) = (Vec::new(), BTreeMap::new());
        for run in runs.filter(|_| self.fleet.is_some()) {
            match self.place(run) {
                Ok(place) => places.push((run.id.clone(), place)),
                Err(failure) => _ = failures.insert(run.id.clone(), failure),
            }
        }
        let (display, began, all, read) = (Display::new(format), Instant::now(), places.len(), AtomicUsize::new(0));
        let status =
            || display.show_status(&format_progress(read.load(Relaxed), all, "runs read from the store", began));
        let updated = with_status(update_all(places, &read), display.status_interval(), status).await;
        display.finish();
        failures.extend(updated?);
        Ok(failures)
    }

    /// Reads what the journal of a run says. Starts nothing. The failure is that of reading the run from the store.
    fn inspect(&self, planned: &PlannedRun, failure: Option<Failure>) -> KnownRun {
        let folder = self.folder(planned);
        let view = match failure.map_or_else(|| read_view(&folder), Err) {
            Ok(Some(view)) => view,
            Ok(None) => return KnownRun { result: None, cost_usd: Some(0.0) },
            Err(failure) => {
                let result = ForgedRun::failed(planned, &folder, None, failure);
                return KnownRun { result: Some(result), cost_usd: None };
            }
        };
        let result = match self.start(planned).and_then(|start| self.refuse_other_run(&start, &view, &folder)) {
            Ok(()) => has_ended(&view).then(|| ForgedRun::of_view(planned, &folder, &view, exit_of(&view, &folder))),
            Err(failure) => Some(ForgedRun::failed(planned, &folder, Some(&view), failure)),
        };
        let spent = view.spent_total();
        KnownRun { result, cost_usd: Some(spent.cost_usd + spent.estimated_usd) }
    }

    /// Brings the results of runs up to date that have no answer of a worker: they may have begun, and cost something.
    async fn update_stopped(&self, planned: &[PlannedRun], results: &mut [ForgedRun], format: Format) {
        let find = |result: &ForgedRun| planned.iter().find(|run| run.id == result.run);
        let stopped = results.iter().filter(|run| run.is_not_started()).filter_map(find);
        let limit = if self.cancel.is_cancelled() { FINAL_UPDATE_LIMIT } else { Duration::MAX };
        // If the store cannot be reached, the next call says what the runs have cost.
        let _ = timeout(limit, self.update_copies(stopped, format)).await;
        for result in results.iter_mut().filter(|run| run.is_not_started()) {
            if let Some(run) = find(result) {
                *result = self.not_reached(run, result.why(), result.exit);
            }
        }
    }

    /// A run that has not ended, as `--list` shows it.
    fn list_open(&self, planned: &PlannedRun) -> ForgedRun {
        let folder = self.folder(planned);
        match read_view(&folder) {
            Ok(Some(view)) => ForgedRun::of_view(planned, &folder, &view, exit_of(&view, &folder)),
            Ok(None) => ForgedRun::not_reached(planned, &folder, None, String::new(), Exit::Undecided),
            Err(failure) => ForgedRun::failed(planned, &folder, None, failure),
        }
    }

    /// A run that this call does not begin or continue. What it has cost before stays in its result.
    fn not_reached(&self, planned: &PlannedRun, why: &str, exit: Exit) -> ForgedRun {
        let folder = self.folder(planned);
        match read_view(&folder) {
            Ok(Some(view)) if has_ended(&view) => ForgedRun::of_view(planned, &folder, &view, exit_of(&view, &folder)),
            Ok(view) => ForgedRun::not_reached(planned, &folder, view.as_ref(), why.to_owned(), exit),
            Err(failure) => ForgedRun::failed(planned, &folder, None, failure),
        }
    }

    fn start(&self, planned: &PlannedRun) -> Result<Start, Failure> {
        let mut layer = planned.layer.clone();
        let (docs, interface) = match &planned.source {
            RunSource::Documents(docs) => (docs.clone(), Interface::default()),
            RunSource::Case(case) => {
                let (docs, interface, concern) = read_case(case)?;
                layer.concern = layer.concern.or(concern);
                (docs, interface)
            }
        };
        let mut settings = load_settings(layer)?;
        // A run alone may not cost more than all together; this also refuses models whose price is not known.
        if let Some(limit) = self.limit_usd {
            settings.given.max_cost = Some(settings.given.max_cost.map_or(limit, |own| own.min(limit)));
        }
        make_paths_absolute(&mut settings);
        Ok(Start { docs, interface, settings })
    }

    /// Starts or continues a run, and works on it until it ends or stops. A failure of one run ends no other.
    async fn forge(&self, planned: &PlannedRun) -> ForgedRun {
        if self.cancel.is_cancelled() {
            return self.not_reached(planned, "interrupted", Exit::Interrupted);
        }
        if let (Some(limit), true) = (self.limit_usd, self.budget.as_ref().is_some_and(|budget| budget.is_spent())) {
            return self.not_reached(
                planned,
                &format!("the limit of ${limit} for all runs is reached"),
                Exit::Undecided,
            );
        }
        let folder = self.folder(planned);
        match Box::pin(self.drive(planned, &folder)).await {
            Ok(run) => run,
            Err(failure) if failure.exit == Exit::Interrupted => {
                self.not_reached(planned, "interrupted", Exit::Interrupted)
            }
            Err(failure) => {
                let view = read_view(&folder).ok().flatten();
                ForgedRun::failed(planned, &folder, view.as_ref(), failure)
            }
        }
    }

    async fn drive(&self, planned: &PlannedRun, folder: &Path) -> Result<ForgedRun, Failure> {
        let start = self.start(planned)?;
        let display = Arc::new(Display::silent());
        if let Some(fleet) = &self.fleet {
            return self.drive_on(fleet, planned, start, &display).await;
        }
        let (run, mut prepared) = match read_view(folder)? {
            Some(_) => {
                let run = open_run(&folder.to_owned().into(), &display)?;
                let view = run.view();
                // Another process may have worked on the run before this one had its lock.
                self.refuse_other_run(&start, &view, folder)?;
                if has_ended(&view) {
                    return Ok(ForgedRun::of_view(planned, folder, &view, exit_of(&view, folder)));
                }
                let prepared = continue_run(&run, &start.settings.given, &display, self.cancel.clone()).await?;
                (run, prepared)
            }
            None => {
                if let Some(parent) = folder.parent() {
                    std::fs::create_dir_all(parent)
                        .map_err(|e| Failure::usage(format!("cannot create {}: {e}", parent.display())))?;
                }
                let Start { docs, interface, settings } = start;
                let job = NewRun {
                    out: folder.to_owned().into(),
                    docs: DocumentSource::Path(docs),
                    interface,
                    answers: AnswerSource::Configured,
                    objective: self.objective.clone(),
                    policy: self.policy.map(PolicyFile::read).transpose()?,
                    earlier: None,
                };
                create_run(job, &settings, &display, self.cancel.clone()).await?
            }
        };
        if let Some(budget) = &self.budget {
            prepared.context.caller.share_limits(budget.clone());
        }
        if self.parallel_runs > 1 {
            let limits = &mut prepared.context.limits;
            limits.heap_mib = Some(memory_per_run_mib(limits, self.parallel_runs));
        }
        let nodes = NodeDispatcher { context: prepared.context };
        let finished = drive(&run, &nodes).await.map_err(|e| run_failure(&e));
        nodes.context.caller.flush_limits().await;
        finished?;
        pipeline::reconcile(&run).map_err(|e| run_failure(&e))?;
        let view = run.view();
        // The report of a contradiction is not on the disk if it could not be written.
        let exit = if prepared.contradictions.has_any() { Exit::Defect } else { exit_of(&view, folder) };
        Ok(ForgedRun::of_view(planned, folder, &view, exit))
    }

    /// Lets a worker of the fleet drive a run, and brings the copy here up to date.
    async fn drive_on(
        &self,
        fleet: &Fleet,
        planned: &PlannedRun,
        start: Start,
        display: &Arc<Display>,
    ) -> Result<ForgedRun, Failure> {
        let (place, folder) = (self.place(planned)?, self.folder(planned));
        if let Some(view) = read_view(&folder)? {
            self.refuse_other_run(&start, &view, &folder)?;
        }
        let policy = self.policy.map(|path| {
            let text =
                read_policy_text(path).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?;
            Ok((path.display().to_string(), text))
        });
        let work = NewWork {
            documents: read_documents(&start.docs).fails(Exit::Usage)?,
            interface: start.interface.clone(),
            settings: start.settings.given.clone(),
            objective: self.objective.clone(),
            policy: policy.transpose()?,
        };
        let end = fleet.forge(&place, work, &self.cancel).await?;
        let updated = place.clone();
        self.run_blocking(move || updated.update()).await?;
        let Some(view) = read_view(&folder)? else { return Err(end.into_failure()) };
        // Another client may have begun a run at this address.
        self.refuse_other_run(&start, &view, &folder)?;
        let display = display.clone();
        self.run_blocking(move || {
            let run = open_run(&place, &display)?;
            pipeline::reconcile(&run).map(drop).map_err(|e| run_failure(&e))
        })
        .await?;
        // The journal decides: another process may have continued the run since the job ended, or before it began.
        if end.has_outcome() || has_ended(&view) {
            // The report of a contradiction of checkers is on the worker.
            let exit = if end.status == Exit::Defect.code() { Exit::Defect } else { exit_of(&view, &folder) };
            return Ok(ForgedRun::of_view(planned, &folder, &view, exit));
        }
        Ok(ForgedRun::failed(planned, &folder, Some(&view), end.into_failure()))
    }

    /// Does work that waits for the store.
    async fn run_blocking(&self, work: impl FnOnce() -> Result<(), Failure> + Send + 'static) -> Result<(), Failure> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Failure::new(Exit::Interrupted, "interrupted")),
            done = tokio::task::spawn_blocking(work) => done.fails(Exit::Defect)?,
        }
    }

    /// Refuses a run of other documents or settings: its result would be reported under the name of another one.
    fn refuse_other_run(&self, start: &Start, view: &RunView, folder: &Path) -> Result<(), Failure> {
        let other = |what: String| {
            Err(Failure::usage(format!("{} has another run: {what}", folder.display()))
                .hint("give this run another name in the table, or move the folder away to forge it again"))
        };
        if let Some(what) = find_other_setting(&start.settings.given, &view.settings.command_line)? {
            return other(what);
        }
        // Only a new run takes the policy and the objective, so that a change would have no effect.
        let different = [
            ("policy (--policy)", self.policy_sha.as_ref() != view.settings.policy.as_ref().map(|file| &file.sha)),
            ("objective (--objective)", self.objective.as_ref() != view.objective()),
            ("interface of the case", start.interface.words() != view.settings.interface),
        ];
        if let Some((what, _)) = different.into_iter().find(|(_, is_different)| *is_different) {
            return other(format!("its {what} is not the same"));
        }
        let now = read_documents(&start.docs).fails(Exit::Usage)?;
        let now: Vec<(&str, Sha)> =
            now.files.iter().map(|file| (file.path.as_str(), Sha::digest(&file.text))).collect();
        let then: Vec<(&str, Sha)> =
            view.settings.docs.iter().map(|file| (file.path.as_str(), file.sha.clone())).collect();
        let gone = then
            .iter()
            .find(|document| !now.contains(document))
            .or_else(|| now.iter().find(|document| !then.contains(document)));
        match gone {
            Some((path, _)) => other(format!("the document {path} is not the same")),
            None => Ok(()),
        }
    }
}

/// The total cost cannot be limited if a part of it is not known.
fn unknown_cost_failure(folder: &Path, known: &KnownRun) -> Failure {
    let why = known.result.as_ref().map_or("", ForgedRun::why);
    Failure::usage(format!("--max-cost cannot be enforced: the cost of {} is not known: {why}", folder.display()))
        .hint("repair its journal, or move the folder away to forge it again; without --max-cost, the other runs start")
}
