//! What a fleet does: its runs, other jobs, the keys of its providers and its workers, as the engine knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use serde_json::value::RawValue;
use tlaforge_restate::{
    Deployment, EngineAddress, JobCount, JobReader, JobState, LimitsStatus, ObjectJob, RunRequests, UnreadableKey,
};
use tokio::time::{Instant, timeout_at};

use super::failure::{Fails, Failure};
use super::fleet::{PROGRAM, parse_address};
use super::fleet_args::FleetStatusArgs;
use super::fleet_limits::{keys_text, unreadable};
use super::forge_fleet::{JobEnd, RunEnd};
use super::forge_job::FORGE;
use super::format::Format;
use super::terminal::{print_json_line, print_result};
use crate::exit::Exit;
use crate::report::counted;

/// Runs that are listed unless all are asked for.
const MAX_LISTED: usize = 20;
/// Jobs of runs that are read at most.
const MAX_JOBS: usize = 5000;
/// Answers of ended jobs that are read at a time: each is a request.
const MAX_ANSWERS: usize = 1000;
const PARALLEL_ANSWERS: usize = 16;
/// Time for reading answers each time that the engine is read.
const ANSWERS_TIME_LIMIT: Duration = Duration::from_secs(10);
const MAX_REASON_CHARS: usize = 200;
const MAX_ADDRESS_CHARS: usize = 300;

/// How a run is. Those that need a person are first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FleetRunState {
    /// An attempt to give it to a worker has failed; the engine tries it again.
    Stuck,
    /// It could not begin or continue.
    Failed,
    /// By a limit, or because it was cancelled; `forge-all` continues it.
    Stopped,
    /// A worker has it, and the circuit breaker of its key is open.
    Parked,
    Working,
    /// For a worker with a free place.
    Waiting,
    /// Its job has ended, and the answer was not read: nothing is known of its outcome.
    NotRead,
    /// With an outcome.
    Ended,
}

impl FleetRunState {
    fn word(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Parked => "parked",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::NotRead => "not read",
            Self::Ended => "ended",
        }
    }
}

/// A run that waits, works, or ended within the last day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct FleetRun {
    /// Its address.
    run: String,
    state: FleetRunState,
    /// The outcome, what it waits for, or what went wrong.
    why: String,
    /// Since when: its end; if a worker has it, the beginning of the attempt; else when it was submitted. RFC 3339.
    since: String,
    submitted: String,
    /// How often it was sent to a worker, also to one without a free place, if it has not ended.
    attempts: Option<u64>,
    /// The exit status of its process, if that has ended.
    status: Option<u8>,
    /// The version of tlaforge that works on it.
    version: String,
    /// The address of its worker, or of the load balancer in front of it.
    worker: Option<String>,
    /// The job, for the tools of the engine.
    job: String,
    #[serde(skip)]
    since_ms: u64,
}

/// A fleet at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct FleetStatus {
    /// By the clock of the engine, RFC 3339.
    engine_time: String,
    /// In the order of their states.
    pub runs: Vec<FleetRun>,
    jobs: Vec<JobCount>,
    keys: Vec<LimitsStatus>,
    unreadable_keys: Vec<UnreadableKey>,
    workers: Vec<FleetWorkers>,
    #[serde(skip)]
    now_ms: u64,
}

/// Workers of one version behind one address.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct FleetWorkers {
    #[serde(flatten)]
    deployment: Deployment,
    registered: String,
}

/// Reads an engine again and again.
pub(super) struct FleetReader {
    engine: EngineAddress,
    jobs: JobReader,
    /// The answers of ended jobs, by job. They never change.
    answers: BTreeMap<String, Result<JobEnd, String>>,
}

impl FleetReader {
    pub(super) fn new(engine: EngineAddress) -> Result<Self, Failure> {
        let jobs = JobReader::new(PROGRAM, engine.clone()).fails(Exit::Tool)?;
        Ok(Self { engine, jobs, answers: BTreeMap::new() })
    }

    pub(super) async fn read(&mut self) -> Result<FleetStatus, String> {
        let now_ms = self.jobs.now().await?;
        let jobs = self.jobs.count().await?;
        let (keys, unreadable_keys) = read_keys(&self.engine).await?;
        let deployments = self.jobs.deployments().await?;
        let last_jobs = self.jobs.last_of_objects(FORGE, MAX_JOBS).await?;
        self.read_answers(&last_jobs).await;
        let mut runs: Vec<FleetRun> =
            last_jobs.into_iter().map(|job| FleetRun::new(job, &self.answers, &keys, &deployments)).collect();
        // Of those that have not ended, the oldest is first.
        runs.sort_by_key(|run| {
            let age_ms = now_ms.saturating_sub(run.since_ms);
            let has_ended = matches!(run.state, FleetRunState::Ended | FleetRunState::NotRead);
            (run.state, if has_ended { age_ms } else { u64::MAX - age_ms })
        });
        let workers = deployments
            .into_iter()
            .map(|deployment| FleetWorkers { registered: rfc3339(deployment.registered), deployment })
            .collect();
        Ok(FleetStatus { engine_time: rfc3339(now_ms), runs, jobs, keys, unreadable_keys, workers, now_ms })
    }

    /// Reads the answers that are not known yet, of the newest jobs first.
    async fn read_answers(&mut self, jobs: &[ObjectJob]) {
        let mut ended: Vec<&ObjectJob> = jobs.iter().filter(|job| job.state == JobState::Ended).collect();
        ended.sort_by_key(|job| std::cmp::Reverse(job.ended));
        let is_unknown = |job: &&&ObjectJob| !self.answers.contains_key(&job.id);
        let unknown: Vec<&ObjectJob> = ended.iter().filter(is_unknown).take(MAX_ANSWERS).copied().collect();
        let answers = read_answers_within(&self.jobs, &unknown, ANSWERS_TIME_LIMIT).await;
        let ids: BTreeSet<&str> = ended.iter().map(|job| job.id.as_str()).collect();
        self.answers.retain(|id, _| ids.contains(id.as_str()));
        for (id, answer) in answers {
            let end = answer.and_then(|json| serde_json::from_str(json.get()).map_err(|e| e.to_string()));
            self.answers.insert(id, end);
        }
    }
}

/// The answers that can be read in this time. An engine that does not answer must not keep the rest from being shown.
async fn read_answers_within(
    reader: &JobReader,
    jobs: &[&ObjectJob],
    time_limit: Duration,
) -> Vec<(String, Result<Box<RawValue>, String>)> {
    let requests = stream::iter(jobs.iter().map(|job| async { (job.id.clone(), reader.answer(&job.id).await) }));
    let mut requests = std::pin::pin!(requests.buffer_unordered(PARALLEL_ANSWERS));
    let deadline = Instant::now() + time_limit;
    let mut answers = Vec::new();
    while let Ok(Some((id, answer))) = timeout_at(deadline, requests.next()).await {
        // An answer that could not be read is requested again the next time.
        answers.extend(answer.ok().map(|answer| (id, answer)));
    }
    answers
}

impl FleetRun {
    fn new(
        job: ObjectJob,
        answers: &BTreeMap<String, Result<JobEnd, String>>,
        keys: &[LimitsStatus],
        deployments: &[Deployment],
    ) -> Self {
        let end = answers.get(&job.id);
        let (state, why) = match job.state {
            JobState::Retrying => (FleetRunState::Stuck, job.failure.clone().unwrap_or_default()),
            JobState::Waiting => (FleetRunState::Waiting, String::new()),
            JobState::Running => state_at_worker(&job, keys),
            JobState::Cancelled => (FleetRunState::Stopped, "the command that submitted it was interrupted".to_owned()),
            JobState::Failed => (FleetRunState::Failed, job.failure.clone().unwrap_or_default()),
            JobState::Ended => match end {
                Some(Ok(end)) => state_of_end(end),
                Some(Err(why)) => (FleetRunState::Failed, why.clone()),
                None => (FleetRunState::NotRead, "its answer was not read, so the outcome is unknown".to_owned()),
            },
        };
        let since_ms = match job.state {
            JobState::Ended | JobState::Cancelled | JobState::Failed => job.ended,
            JobState::Running => job.started,
            JobState::Retrying | JobState::Waiting => None,
        }
        .unwrap_or(job.submitted);
        let worker = deployments.iter().find(|deployment| Some(&deployment.id) == job.deployment.as_ref());
        Self {
            // Everyone who can submit jobs chooses both.
            run: one_line(&job.object, MAX_ADDRESS_CHARS),
            state,
            why: one_line(why.trim().lines().next().unwrap_or_default(), MAX_REASON_CHARS),
            since: rfc3339(since_ms),
            submitted: rfc3339(job.submitted),
            attempts: job.attempts,
            status: end.and_then(|end| end.as_ref().ok()).map(|end| end.status),
            version: job.version,
            worker: worker.map(|deployment| deployment.address.clone()),
            job: job.id,
            since_ms,
        }
    }
}

/// The keys of providers that can be read, and the others.
async fn read_keys(engine: &EngineAddress) -> Result<(Vec<LimitsStatus>, Vec<UnreadableKey>), String> {
    let (keys, mut unreadable) = LimitsStatus::read_all(PROGRAM, engine).await?;
    for key in &mut unreadable {
        // Everyone who reaches the engine can write the state, and the reason may quote it.
        key.why = one_line(&key.why, MAX_REASON_CHARS);
    }
    Ok((keys, unreadable))
}

/// The beginning of a text, without characters that make it look like another line or like other words.
fn one_line(text: &str, max_chars: usize) -> String {
    let is_shown = |letter: &char| !letter.is_control() && !('\u{202a}'..='\u{202e}').contains(letter);
    text.chars().filter(is_shown).filter(|letter| !('\u{2066}'..='\u{2069}').contains(letter)).take(max_chars).collect()
}

/// The state of a run at a worker, and what it waits for, by its requests to models.
fn state_at_worker(job: &ObjectJob, keys: &[LimitsStatus]) -> (FleetRunState, String) {
    let mut used_keys = keys.iter().filter_map(|key| Some((key, *key.requests.get(&job.object)?)));
    match used_keys.next() {
        Some((LimitsStatus { key, stopped: Some(why), .. }, RunRequests { under_way: 0, .. })) => {
            (FleetRunState::Parked, format!("no requests with {key}: {why}"))
        }
        Some((LimitsStatus { key, .. }, RunRequests { under_way: 0, .. })) => {
            (FleetRunState::Working, format!("waits for the limits of {key}"))
        }
        Some((_, RunRequests { under_way, .. })) => {
            (FleetRunState::Working, format!("{} to a model under way", counted(under_way, "request")))
        }
        None => {
            let why = job.failure.as_ref().map(|why| format!("an attempt before this one failed: {why}"));
            (FleetRunState::Working, why.unwrap_or_default())
        }
    }
}

/// The state of a run whose process has ended.
fn state_of_end(end: &JobEnd) -> (FleetRunState, String) {
    let exit = Exit::ALL.into_iter().map(|(exit, _)| exit).find(|exit| exit.code() == end.status);
    let error = || {
        let lines = || end.errors.lines().map(str::trim).filter(|line| !line.is_empty());
        let found = lines().find_map(|line| line.strip_prefix("error: ")).or_else(|| lines().next());
        found.map_or_else(|| format!("its process ended with status {}", end.status), str::to_owned)
    };
    match &end.run {
        Some(RunEnd { has_ended: true, outcome }) => (FleetRunState::Ended, outcome.clone()),
        Some(RunEnd { has_ended: false, outcome }) => (FleetRunState::Stopped, outcome.clone()),
        None if exit == Some(Exit::Interrupted) => (FleetRunState::Stopped, error()),
        None => (FleetRunState::Failed, error()),
    }
}

/// A time in milliseconds since 1970 as RFC 3339.
fn rfc3339(milliseconds: u64) -> String {
    let timestamp = i64::try_from(milliseconds).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    timestamp.map_or_else(String::new, |timestamp| timestamp.to_string())
}

pub(super) async fn show_status(args: &FleetStatusArgs) -> Result<Exit, Failure> {
    let engine = parse_address(&args.engine.engine)?;
    let status = FleetReader::new(engine.clone())?.read().await.map_err(|what| unreadable(&engine, &what))?;
    match args.engine.format {
        Format::Json => print_json_line(&status),
        Format::Text => {
            let listed = if args.all { usize::MAX } else { MAX_LISTED };
            print_result(&status_text(&status, listed, &engine));
        }
    }
    Ok(Exit::Ok)
}

fn status_text(status: &FleetStatus, listed: usize, engine: &EngineAddress) -> String {
    let FleetStatus { runs, jobs, keys, unreadable_keys, workers, now_ms, .. } = status;
    runs_text(runs, listed, *now_ms)
        + &jobs_text(jobs)
        + &keys_text(keys, unreadable_keys, engine)
        + &workers_text(workers, *now_ms, engine)
}

/// `2 stuck, 180 waiting`; empty without runs.
pub(super) fn count_states(runs: &[FleetRun]) -> String {
    let mut counts: BTreeMap<FleetRunState, usize> = BTreeMap::new();
    for run in runs {
        *counts.entry(run.state).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(state, count)| format!("{count} {}", state.word())).collect();
    counts.join(", ")
}

fn runs_text(runs: &[FleetRun], listed: usize, now_ms: u64) -> String {
    if runs.is_empty() {
        return "Runs\n  none in the last day\n".to_owned();
    }
    let mut text = format!("Runs: {}\n", count_states(runs));
    let shown = &runs[..runs.len().min(listed)];
    let width = shown.iter().map(|run| run.run.chars().count()).max().unwrap_or(0).min(80);
    for run in shown {
        let elapsed = duration_text(now_ms.saturating_sub(run.since_ms));
        let attempt = match run.state {
            FleetRunState::Stuck => run.attempts.map_or_else(String::new, |attempts| format!("attempt {attempts}: ")),
            _ => String::new(),
        };
        let line = format!("  {:<8}{elapsed:>10}  {:<width$}  {attempt}{}", run.state.word(), run.run, run.why);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if runs.len() > shown.len() {
        let _ = writeln!(text, "  and {} more; --all lists them", runs.len() - shown.len());
    }
    text
}

/// A duration in its largest units: `2 h 5 min`, `7 min`, `20 s`.
fn duration_text(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min"),
        _ => format!("{hours} h {} min", minutes % 60),
    }
}

fn jobs_text(jobs: &[JobCount]) -> String {
    let mut text = String::from("Jobs\n");
    if jobs.is_empty() {
        text.push_str("  none\n");
    }
    for JobCount { service, status, jobs } in jobs {
        let _ = writeln!(text, "  {service}: {jobs} {status}");
    }
    text
}

fn workers_text(workers: &[FleetWorkers], now_ms: u64, engine: &EngineAddress) -> String {
    if workers.is_empty() {
        return format!("Workers\n  none is registered; start one with: tlaforge worker --engine {engine}\n");
    }
    let mut text = String::from("Workers\n");
    for FleetWorkers { deployment, .. } in workers {
        let Deployment { address, version, jobs, registered, gets_new_jobs, running, .. } = deployment;
        let (running, elapsed) = (counted(*running, "job"), duration_text(now_ms.saturating_sub(*registered)));
        let jobs = if *gets_new_jobs { jobs.join(", ") } else { "no new jobs".to_owned() };
        let _ = writeln!(text, "  {version} at {address}: {jobs}; {running} under way; registered {elapsed} ago");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000;

    fn job(object: &str, state: JobState, seconds: u64) -> ObjectJob {
        ObjectJob {
            id: format!("inv_{object}"),
            object: format!("s3://bucket/runs/{object}"),
            version: "0.2.0".to_owned(),
            state,
            submitted: NOW - seconds * 1000,
            started: None,
            ended: None,
            attempts: Some(12),
            deployment: Some("dp_1".to_owned()),
            failure: (state == JobState::Retrying).then(|| "connection refused".to_owned()),
        }
    }

    fn run(job: ObjectJob, answer: Option<Result<JobEnd, String>>) -> FleetRun {
        let answers = answer.map(|answer| (job.id.clone(), answer)).into_iter().collect();
        FleetRun::new(job, &answers, &[], &[])
    }

    fn end(status: u8, has_ended: bool, outcome: &str) -> JobEnd {
        let run = Some(RunEnd { has_ended, outcome: outcome.to_owned() });
        JobEnd { status, run, errors: "note: x\n".to_owned() }
    }

    fn failed(status: u8, errors: &str) -> JobEnd {
        JobEnd { status, run: None, errors: errors.to_owned() }
    }

    #[test]
    fn a_run_is_shown_by_how_its_job_and_its_process_are() {
        let ended = |answer| {
            let run = run(job("a", JobState::Ended, 60), answer);
            (run.state, run.why, run.status)
        };
        let text = |text: &str| text.to_owned();
        let shown = |answer: JobEnd| ended(Some(Ok(answer)));
        assert_eq!(shown(end(0, true, "approved")), (FleetRunState::Ended, text("approved"), Some(0)));
        assert_eq!(shown(end(1, true, "not approved")), (FleetRunState::Ended, text("not approved"), Some(1)));
        // The same status, and the state does not follow from it.
        assert_eq!(shown(end(3, true, "undecided")), (FleetRunState::Ended, text("undecided"), Some(3)));
        assert_eq!(shown(end(3, false, "stopped")), (FleetRunState::Stopped, text("stopped"), Some(3)));
        assert_eq!(shown(end(4, false, "stopped: why")), (FleetRunState::Stopped, text("stopped: why"), Some(4)));
        let errors = "note: x\nerror: no API key\nhint: set one\n";
        assert_eq!(shown(failed(2, errors)), (FleetRunState::Failed, text("no API key"), Some(2)));
        let no_words = (FleetRunState::Failed, text("its process ended with status 9"), Some(9));
        assert_eq!(shown(failed(9, "")), no_words);
        assert_eq!(ended(Some(Err(text("no disk\nmore")))), (FleetRunState::Failed, text("no disk"), None));
        assert_eq!(ended(None).0, FleetRunState::NotRead);
    }

    #[test]
    fn trouble_is_first_and_long_lists_are_cut() {
        let mut runs = vec![run(job("a", JobState::Retrying, 300), None)];
        runs.extend((0..30).map(|_| run(job("long-name", JobState::Waiting, 7500), None)));
        let text = runs_text(&runs, 2, NOW);
        assert_eq!(
            text,
            "Runs: 1 stuck, 30 waiting\n  stuck        5 min  s3://bucket/runs/a          attempt 12: connection refused\n  \
             waiting  2 h 5 min  s3://bucket/runs/long-name\n  and 29 more; --all lists them\n"
        );
        assert_eq!(runs_text(&[], 20, NOW), "Runs\n  none in the last day\n");
        // Without its answer, the outcome is unknown.
        let runs = [
            run(job("b", JobState::Ended, 60), None),
            run(job("a", JobState::Ended, 60), Some(Ok(end(0, true, "approved")))),
        ];
        assert_eq!(count_states(&runs), "1 not read, 1 ended");
        let job = JobCount { service: "tlaforge-0.2.0".to_owned(), status: "running".to_owned(), jobs: 4 };
        assert_eq!(jobs_text(&[job]), "Jobs\n  tlaforge-0.2.0: 4 running\n");
    }

    #[test]
    fn workers_are_shown_by_version() {
        let engine: EngineAddress = "http://127.0.0.1:9070".parse().unwrap();
        let workers = |gets_new_jobs| FleetWorkers {
            deployment: Deployment {
                id: "dp_1".to_owned(),
                address: "http://workers:9080".to_owned(),
                version: "0.2.0".to_owned(),
                jobs: vec!["check".to_owned(), "forge_run".to_owned()],
                registered: NOW - 59_000,
                gets_new_jobs,
                running: 1,
            },
            registered: rfc3339(NOW),
        };
        assert_eq!(
            workers_text(&[workers(true), workers(false)], NOW, &engine),
            "Workers\n  0.2.0 at http://workers:9080: check, forge_run; 1 job under way; registered 59 s ago\n  \
             0.2.0 at http://workers:9080: no new jobs; 1 job under way; registered 59 s ago\n"
        );
        assert!(workers_text(&[], NOW, &engine).contains("tlaforge worker --engine http://127.0.0.1:9070"));
    }
}
