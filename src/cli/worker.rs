//! `tlaforge worker`: a stateless worker of an engine.

use std::net::SocketAddr;
#[cfg(feature = "restate")]
use std::num::NonZeroU64;
use std::num::NonZeroUsize;

use clap::Args as ClapArgs;

use super::failure::Failure;
use super::tool_args::ToolArgs;
use super::value_parsers::parse_positive;
use crate::exit::Exit;
use crate::toolchain::WorkerPlacement;

#[derive(Debug, ClapArgs)]
pub(super) struct WorkerArgs {
    /// Restate server to work for: the address of its admin API, such as `http://127.0.0.1:9070`.
    #[arg(long, value_name = "URL")]
    pub engine: String,
    /// Address to listen on; the server opens connections to it. Port 0 takes any free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080")]
    pub listen: SocketAddr,
    /// Where the server reaches this worker, or the load balancer in front of several workers [default: the address to listen
    /// on].
    #[arg(long, value_name = "URL")]
    pub advertise: Option<String>,
    /// Also forge: work on runs below this address, such as `s3://BUCKET/runs` or `file:///runs`; can be repeated. Model keys are
    /// those of the environment of the worker.
    #[arg(long, value_name = "ADDRESS")]
    pub runs: Vec<String>,
    /// Folder of the working copies of runs [env: `TLAFORGE_CACHE`] [default: `tlaforge/runs` in `$XDG_CACHE_HOME` or `~/.cache`].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<std::path::PathBuf>,
    /// Maximum number of jobs at a time [default: one per processor].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub capacity: Option<NonZeroUsize>,
    /// Only take part in TLC's distributed mode (`check --distributed HOST --engine URL`). HOST is the address of this machine that
    /// the servers of TLC reach. Everyone who can submit jobs can then run code here: read docs/src/distributed-tlc.md first.
    #[arg(long, value_name = "HOST", value_parser = parse_host, conflicts_with = "runs")]
    pub tlc_host: Option<String>,
    /// Only accept jobs that are signed by the server with this public identity key (`publickeyv1_…`); can be repeated.
    #[arg(long, value_name = "KEY")]
    pub identity_key: Vec<String>,
    #[command(flatten)]
    pub tools: ToolArgs,
}

/// An address of this machine.
fn parse_host(text: &str) -> Result<String, String> {
    match text.parse()? {
        // RMI announces the address: others cannot connect to an unspecified one.
        WorkerPlacement::Remote { host, .. } if host == text && !is_unspecified(text) => {
            let listener = std::net::TcpListener::bind((text, 0));
            listener.map(|_| host).map_err(|e| format!("cannot listen there: {e}; HOST is an address of this machine"))
        }
        _ => Err("HOST is an address of this machine, without a port".to_owned()),
    }
}

fn is_unspecified(host: &str) -> bool {
    host.parse().is_ok_and(|address: std::net::IpAddr| address.is_unspecified())
}

#[cfg(not(feature = "restate"))]
#[expect(clippy::unused_async, reason = "as in a build with the feature")]
pub(super) async fn worker(_: WorkerArgs) -> Result<Exit, Failure> {
    Err(super::engine::missing_feature("worker"))
}

#[cfg(feature = "restate")]
pub(super) async fn worker(args: WorkerArgs) -> Result<Exit, Failure> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    use tlaforge_process::allow_many_open_files;
    use tlaforge_restate::{Job, NoAnswer, TICK, Worker};

    use super::fleet::{JOB, JobRunner, MAX_LOST_ATTEMPTS, PROGRAM, TlcWorkerSettings, VERSION, parse_address};
    use super::fleet_tlc_worker::TLC_WORKER;
    use super::forge_job::{FORGE, ForgeWorker, RunProcesses};
    use super::job_span::in_span;
    use super::settings::load_settings;
    use super::shared_place::prepare_worker;
    use super::signals::cancel_on_signals;
    use super::terminal::print_message;
    use super::tools::tool_limits;
    use crate::toolchain::memory_per_run_mib;
    use tlaforge_store::{Address, remove_worker_copies};

    use super::failure::Fails as _;

    let engine = parse_address(&args.engine)?;
    let advertise = args.advertise.as_deref().map(parse_address).transpose()?;
    check_listen(&args, advertise.is_some())?;
    let runs =
        args.runs.iter().map(|address| Address::parse(address).fails(Exit::Usage)).collect::<Result<Vec<_>, _>>()?;
    let capacity = args.capacity.map_or_else(super::mutate::processors, NonZeroUsize::get);
    let settings = load_settings(args.tools.layer())?;
    let threads = NonZeroUsize::new(super::mutate::processors() / capacity).unwrap_or(NonZeroUsize::MIN);
    let threads = settings.given.workers.unwrap_or(threads);
    let takes_part = args.tlc_host.is_some();
    if takes_part {
        print_message(
            "warning: with --tlc-host, everyone who can submit jobs can run code here; see the page on TLC on several machines in the book",
        );
    }
    let tlc = args.tlc_host.map(|host| TlcWorkerSettings { host, threads });
    let runner = Arc::new(JobRunner::new(settings, capacity, tlc)?);
    // A waiting job holds a connection.
    allow_many_open_files();
    let cancel = cancel_on_signals();
    let check = |name, has_object| {
        let runner = runner.clone();
        let work = move |request: Vec<u8>| -> tlaforge_restate::JobFuture {
            let runner = runner.clone();
            Box::pin(async move {
                let work = Box::pin(async { runner.run(&request).await.map_err(NoAnswer::Failed) });
                in_span(name, &request, work).await
            })
        };
        Job { name, has_object, max_lost_attempts: Some(MAX_LOST_ATTEMPTS), work: Arc::new(work) }
    };
    // Such a worker may exist for one search only, so it must not become the one that
    // gets all checks and keeps all limits.
    let mut jobs = vec![if takes_part { check(TLC_WORKER, true) } else { check(JOB, false) }];
    let mut forging = None;
    if !runs.is_empty() {
        // Together, the checkers of all runs get the memory of one.
        let limits = tool_limits(&load_settings(args.tools.layer())?)?;
        let heap_mib = NonZeroU64::new(memory_per_run_mib(&limits, capacity));
        let tools = ToolArgs { heap_mib: heap_mib.or(args.tools.heap_mib), ..args.tools };
        let cache = prepare_worker(args.cache.as_deref(), &runs)?;
        let forge = Arc::new(ForgeWorker {
            runs,
            cache,
            engine: engine.clone(),
            tools: tools.to_flags(),
            cancel: cancel.clone(),
            failures_in_a_row: AtomicU32::new(0),
            processes: RunProcesses::default(),
        });
        forging = Some(forge.clone());
        let work = move |request: Vec<u8>| -> tlaforge_restate::JobFuture {
            let forge = forge.clone();
            Box::pin(async move { in_span(FORGE, &request, forge.forge(&request)).await })
        };
        // No limit here: the journal of the run counts killed processes.
        jobs.push(Job { name: FORGE, has_object: true, max_lost_attempts: None, work: Arc::new(work) });
    }
    let admin = engine.to_string();
    let worker = Worker {
        engine,
        listen: args.listen,
        advertise,
        capacity,
        identity_keys: args.identity_key,
        program: PROGRAM,
        version: VERSION.to_owned(),
        jobs,
        keeps_limits: !takes_part,
        tick: TICK,
    };
    let served = worker.serve(&cancel, &print_message).await;
    if let Some(forge) = forging {
        forge.processes.all_ended().await;
        if let Err(error) = remove_worker_copies(&forge.cache) {
            print_message(&format!("warning: a working copy of a run could not be removed: {error}"));
        }
    }
    served.map_err(|error| worker_failure(&error, &admin))?;
    Ok(Exit::Ok)
}

/// Refuses a `--listen` address that the server cannot connect to. Warns if other machines can submit jobs at it.
#[cfg(feature = "restate")]
fn check_listen(args: &WorkerArgs, is_advertised: bool) -> Result<(), Failure> {
    if !is_advertised && args.listen.ip().is_unspecified() {
        return Err(Failure::usage(format!("{} is not an address that the server can connect to", args.listen))
            .hint("give the address of this machine or of its load balancer: --advertise http://HOST:PORT"));
    }
    if args.identity_key.is_empty() && !args.listen.ip().is_loopback() {
        super::terminal::print_message(
            "warning: without --identity-key, everyone who reaches this port can send jobs; see the page on fleets in the book",
        );
    }
    Ok(())
}

#[cfg(feature = "restate")]
fn worker_failure(error: &tlaforge_restate::WorkerError, admin: &str) -> Failure {
    use tlaforge_restate::{RegistrationError, WorkerError};

    match error {
        WorkerError::Registration(RegistrationError::Refused { .. }) => Failure::new(Exit::Tool, error.to_string())
            .hint("--engine takes the address of the server's admin API, by default port 9070"),
        WorkerError::Registration(RegistrationError::OtherServices { deployment, .. }) => {
            Failure::usage(error.to_string()).hint(format!(
                "start it with the same --runs and --tlc-host as those workers, or give it another address with --advertise; \
                 to remove these services for good: curl -X DELETE '{admin}/deployments/{deployment}?force=true'"
            ))
        }
        WorkerError::Client(_) => Failure::new(Exit::Tool, error.to_string()),
        WorkerError::Listen { .. } | WorkerError::IdentityKey { .. } => Failure::usage(error.to_string()),
    }
}
