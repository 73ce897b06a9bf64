//! Jobs on many machines, by Restate: what `--engine` sends, and what a worker does with it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OnceCell};

use super::contradictions::CONTRADICTIONS_DIR;
use super::engine_args::EngineArgs;
use super::failure::{Fails, Failure};
use super::fleet_checks::CheckJob;
use super::fleet_tlc_worker::{MAX_SEARCH, SearchJob};
use super::telemetry::traceparent;
use super::terminal::print_message;
use super::tools::{create_quick_toolchain, discover_java_tools, tool_limits};
use crate::config::{CheckerChoice, Settings};
use crate::exit::Exit;
use crate::files::Sha;
use crate::mutation::{Engine, Judge, Judgement, Mutant, MutantJob};
use crate::process::Cancel;
use crate::toolchain::{BoxFuture, Limits, ToolContext, ToolError, Toolchain, memory_per_run_mib};
use tlaforge_restate::{CallError, Client, EngineAddress};

pub(super) const PROGRAM: &str = "tlaforge";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const JOB: &str = "check";

/// Time without progress after which the client gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);
/// A job takes several runs. All of them fit into the time after which the engine begins a job again.
const MAX_CHECK: Duration = Duration::from_secs(2 * 60 * 60);

/// How often a check may be lost with its worker, for example because it needs too much memory.
pub(super) const MAX_LOST_ATTEMPTS: usize = 5;

const NO_SEARCH: &str = "this worker takes no part in TLC's distributed mode; start it with --tlc-host HOST";

/// A job, as a worker gets it.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    /// The version of the program.
    tlaforge: String,
    checker: CheckerChoice,
    /// The versions of the tools: others may judge differently.
    tools: String,
    work: Work,
    /// The span of the client, if it sends telemetry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Work {
    Mutant(MutantJob),
    Check(CheckJob),
    /// A worker in a search of TLC's distributed mode.
    Search(SearchJob),
}

pub(super) fn check(args: &EngineArgs) -> Result<(), Failure> {
    args.engine.as_deref().map(parse_address).transpose().map(|_| ())
}

pub(super) fn parse_address(text: &str) -> Result<EngineAddress, Failure> {
    text.parse::<EngineAddress>().fails(Exit::Usage)
}

/// The engine of `--engine`, if it is given. `limits` are those of the jobs.
pub(super) fn connect(
    args: &EngineArgs,
    checker: CheckerChoice,
    limits: &Limits,
) -> Result<Option<Connection>, Failure> {
    connect_for(JOB, args, checker, limits, MAX_CHECK)
}

/// Like [`connect`], for jobs of this name with time limits of at most `longest`.
pub(super) fn connect_for(
    job: &'static str,
    args: &EngineArgs,
    checker: CheckerChoice,
    limits: &Limits,
    longest: Duration,
) -> Result<Option<Connection>, Failure> {
    let Some(address) = args.engine.as_deref().map(parse_address).transpose()? else { return Ok(None) };
    if let Some(jar) = limits.libraries.jars().next() {
        return Err(Failure::usage(format!("the library {} cannot be used with --engine", jar.display()))
            .hint("TLC may use Java code of a jar, which workers do not have; unpack its modules into a folder"));
    }
    if limits.check > longest {
        let (given, longest) = (limits.check.as_secs(), longest.as_secs());
        return Err(Failure::usage(format!(
            "the time limit of {given} s is too long for --engine: at most {longest} s"
        ))
        .hint("set a shorter one with --timeout or --tlc-timeout"));
    }
    let patience = args.engine_wait.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.get()));
    let client = Client::new(address, PROGRAM, VERSION, job, patience, print_message).fails(Exit::Tool)?;
    Ok(Some(Connection { client, checker, tools: OnceCell::new(), key: random_key() }))
}

/// A random number, so that other processes cannot guess and occupy the key of a job, and so that a stored answer of an earlier
/// process, such as a timeout, is not used.
pub(super) fn random_key() -> String {
    format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..))
}

/// Reads a job of this version. The version is read first: another one may have other fields.
pub(super) fn read_job<T: DeserializeOwned>(request: &[u8]) -> Result<T, String> {
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

/// Sends jobs to an engine.
pub(super) struct Connection {
    client: Client,
    checker: CheckerChoice,
    /// The versions of the tools, once they are known.
    tools: OnceCell<String>,
    /// Distinguishes the jobs of this process from those of all others.
    key: String,
}

impl Connection {
    pub(super) fn mutant_engine<'a>(self, judge: &'a Judge<'a>, cx: &'a ToolContext<'a>) -> Box<dyn Engine + 'a> {
        Box::new(MutantEngine { connection: self, judge, cx })
    }

    pub(super) async fn cancel_submitted(&self) {
        self.client.cancel_submitted().await;
    }

    /// The answer of a worker. `name` is that of the job in messages, `local` the tools of this machine.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        work: Work,
        name: &str,
        local: &dyn Toolchain,
        cx: &ToolContext<'_>,
    ) -> Result<T, ToolError> {
        let answer = async {
            let failed = |what: String| ToolError::WorkerFailed(format!("{name}: {what}"));
            let tools = self.tools.get_or_try_init(|| local.versions(cx));
            let tools = tools.await?.clone();
            let is_search = matches!(work, Work::Search(_));
            let tlaforge = VERSION.to_owned();
            let mut request = Request { tlaforge, checker: self.checker, tools, work, traceparent: None };
            let to_bytes = |request: &Request| serde_json::to_vec(request).expect("a request is plain data");
            // The same job is done once, however often and in whichever span it is submitted.
            let key = Sha::digest([self.key.as_bytes(), &to_bytes(&request)].concat());
            request.traceparent = traceparent();
            let request = to_bytes(&request);
            // An object of its own: a busy worker then gives it back at once instead of keeping it in its queue for hours.
            let object = is_search.then(|| key.as_str());
            let answer = self.client.call(object, key.as_str(), &request).await.map_err(|error| match error {
                CallError::Unavailable { .. } => ToolError::Unavailable(error.to_string()),
                CallError::TooLarge { .. } => failed(format!("{error}; check this specification without --engine")),
                CallError::Failed(what) => failed(what),
            })?;
            serde_json::from_str(answer.get()).map_err(|e| failed(e.to_string()))
        };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Err(ToolError::Cancelled),
            answer = answer => answer,
        }
    }
}

/// Judges mutants on the workers of an engine.
struct MutantEngine<'a> {
    connection: Connection,
    judge: &'a Judge<'a>,
    cx: &'a ToolContext<'a>,
}

impl Engine for MutantEngine<'_> {
    fn judge<'a>(&'a self, mutant: &'a Mutant) -> BoxFuture<'a, Result<Judgement, ToolError>> {
        let Self { connection, judge, cx } = self;
        Box::pin(async move {
            let name = mutant.name();
            let work = Work::Mutant(MutantJob::new(judge, mutant, cx.limits));
            let judgement: Judgement = connection.call(work, &name, judge.tools, cx).await?;
            if (&judgement.name, &judgement.key) != (&name, &judge.key(mutant)) {
                let what = format!("{name}: a worker answered with the judgement of another mutant");
                return Err(ToolError::WorkerFailed(what));
            }
            Ok(judgement)
        })
    }

    fn cancel_submitted(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.connection.cancel_submitted())
    }
}

/// What a worker has: its settings, and tools for each checker, created when a job first needs them.
pub(super) struct JobRunner {
    settings: Settings,
    /// Memory for each job in MiB: together, they get the memory of one check.
    heap_mib: u64,
    /// `None` if it takes no part in TLC's distributed mode.
    tlc: Option<TlcWorkerSettings>,
    prepared: Mutex<Vec<(CheckerChoice, Arc<PreparedTools>)>>,
}

/// How a worker takes part in TLC's distributed mode.
pub(super) struct TlcWorkerSettings {
    /// The address of this machine to which servers connect.
    pub host: String,
    /// Threads of each TLC worker.
    pub threads: NonZeroUsize,
}

struct PreparedTools {
    toolchain: Box<dyn Toolchain>,
    version: String,
}

impl JobRunner {
    /// For this number of jobs at a time.
    pub(super) fn new(settings: Settings, capacity: usize, tlc: Option<TlcWorkerSettings>) -> Result<Self, Failure> {
        let heap_mib = memory_per_run_mib(&tool_limits(&settings)?, capacity);
        Ok(Self { settings, heap_mib, tlc, prepared: Mutex::default() })
    }

    /// The answer as JSON, or why this machine cannot do it: that says nothing about the specification.
    pub(super) async fn run(&self, request: &[u8]) -> Result<String, String> {
        let Request { checker, tools, mut work, .. } = read_job(request)?;
        let (limit, longest, modules, heap_mib) = match &mut work {
            Work::Mutant(job) => (job.check, MAX_CHECK, &job.allowed_modules[..], &mut job.heap_mib),
            Work::Check(job) => (job.check, MAX_CHECK, &job.allowed_modules[..], &mut job.heap_mib),
            Work::Search(job) => (job.check, MAX_SEARCH, &[][..], &mut job.heap_mib),
        };
        *heap_mib = Some(heap_mib.unwrap_or(self.heap_mib).min(self.heap_mib));
        if limit > longest {
            return Err(format!("a time limit of {} s is too long", limit.as_secs()));
        }
        let allowed = &self.settings.given.allow_modules;
        if let Some(module) = modules.iter().find(|module| !allowed.contains(module)) {
            return Err(format!(
                "this worker does not allow the module {module}; start it with --allow-module {module}"
            ));
        }
        let prepared = self.tools(checker).await?;
        if prepared.version != tools {
            return Err(format!("this worker has other tools: {}; the job needs {tools}", prepared.version));
        }
        // Dropped with this future if the engine ends the job.
        let (tools, cancel) = (&*prepared.toolchain, Cancel::new());
        let answer = match work {
            Work::Mutant(job) => serde_json::to_string(&job.judge(tools, &cancel).await?),
            Work::Check(job) => serde_json::to_string(&job.run(tools, &cancel).await?),
            Work::Search(job) => {
                let TlcWorkerSettings { host, threads } = self.tlc.as_ref().ok_or(NO_SEARCH)?;
                let java = discover_java_tools(&self.settings).map_err(|e| e.to_string())?;
                serde_json::to_string(&job.run(&java, host, *threads, &cancel).await?)
            }
        };
        answer.map_err(|e| e.to_string())
    }

    async fn tools(&self, checker: CheckerChoice) -> Result<Arc<PreparedTools>, String> {
        let mut all = self.prepared.lock().await;
        if let Some((_, prepared)) = all.iter().find(|(of, _)| *of == checker) {
            return Ok(prepared.clone());
        }
        let settings = Settings { checker, ..self.settings.clone() };
        let toolchain =
            create_quick_toolchain(&settings, Path::new(CONTRADICTIONS_DIR)).map_err(|f| f.message)?.toolchain;
        let cx = ToolContext { limits: &Limits::default(), cancel: &Cancel::new(), progress: &|_| {} };
        let version = toolchain.versions(&cx).await.map_err(|e| e.to_string())?;
        let prepared = Arc::new(PreparedTools { toolchain, version });
        all.push((checker, prepared.clone()));
        Ok(prepared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_another_version_is_refused_with_both_versions() {
        let read = |json: &str| read_job::<Request>(json.as_bytes()).unwrap_err();
        // Its other fields may mean something else.
        let other = read(r#"{"tlaforge": "0.0.1", "checker": 1}"#);
        assert_eq!(other, format!("this worker has tlaforge {VERSION}, and the job is of 0.0.1"));
        let same = read(&format!(r#"{{"tlaforge": "{VERSION}", "checker": 1}}"#));
        assert!(same.starts_with(&format!("not a job of tlaforge {VERSION}: ")), "{same}");
        assert!(read("{}").starts_with("not a job of tlaforge: "));
    }
}
