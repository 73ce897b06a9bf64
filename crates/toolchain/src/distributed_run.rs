//! The processes of TLC's distributed mode: the server, and the workers if they are on this machine.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tlaforge_process::Status;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::discover::Tools;
use super::installation::{JavaToolchain, module_files};
use super::plan::{self, RunPlan};
use super::run::{self, Jvm, RmiProgram, Tool, ToolJob, ToolRun};
use super::{BoxFuture, Progress, SpecText, ToolContext, ToolError, tlc_output};

const SERVER: &str = "tlc2.tool.distributed.TLCServer";
const WORKER: &str = "tlc2.tool.distributed.TLCWorker";
/// The port of TLC's server, unless another one is given.
const DEFAULT_PORT: u16 = 10_997;
/// "TLC server at … is ready". A worker that starts before this waits longer and longer between its tries.
const READY: &str = "@!@!@STARTMSG 7000:0 @!@!@";
/// Otherwise it reports progress once a minute.
const REPORT_MILLISECONDS: u64 = 10_000;

/// Time for a worker on another machine to connect to the server, which is there already.
const SERVER_WAIT: Duration = Duration::from_secs(30);

/// Where the workers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerPlacement {
    /// This many processes, which we start. All sockets are bound to the loopback address.
    Local(NonZeroUsize),
    /// On other machines, where the user starts them. The server's sockets are bound to this address of this machine.
    Remote { host: String, port: u16 },
}

impl FromStr for WorkerPlacement {
    type Err = String;

    /// Parses `4`, `host` or `host:port`.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.bytes().all(|b| b.is_ascii_digit()) {
            let number = text.parse().map_err(|_| "the number of workers must be at least 1".to_owned())?;
            return Ok(Self::Local(number));
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0)),
            None => (text, Some(DEFAULT_PORT)),
        };
        let is_host = |b: u8| b.is_ascii_alphanumeric() || b == b'.' || b == b'-';
        match port {
            Some(port) if !host.is_empty() && !host.starts_with('-') && host.bytes().all(is_host) => {
                Ok(Self::Remote { host: host.to_owned(), port })
            }
            _ => {
                Err("give the number of workers to start here, or an address of this machine: HOST or HOST:PORT"
                    .to_owned())
            }
        }
    }
}

impl fmt::Display for WorkerPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(count) => write!(f, "{count}"),
            Self::Remote { host, port: DEFAULT_PORT } => write!(f, "{host}"),
            Self::Remote { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

impl WorkerPlacement {
    /// Whether the server can listen there. TLC itself reports any other address as a port that is in use.
    pub fn try_to_listen(&self) -> io::Result<()> {
        match self {
            Self::Local(_) => Ok(()),
            // Workers connect to it.
            Self::Remote { host, .. } if host.parse().is_ok_and(|address: IpAddr| address.is_unspecified()) => {
                Err(io::Error::new(io::ErrorKind::AddrNotAvailable, "workers cannot connect to it"))
            }
            Self::Remote { host, port } => TcpListener::bind((host.as_str(), *port)).map(|_| ()),
        }
    }

    /// The command that starts a worker on another machine.
    pub fn remote_command(&self) -> Option<String> {
        let Self::Remote { host, port } = self else { return None };
        Some(format!(
            "java -XX:+ExitOnOutOfMemoryError -Djava.rmi.server.hostname=WORKER_HOST -D{SERVER}.port={port} -cp \
             tla2tools.jar {WORKER} {host}"
        ))
    }
}

/// Starts the workers of a search on other machines.
pub trait RemoteWorkers: Send + Sync {
    /// Called when the server accepts workers. Returns how each of them ended; it is dropped if the server ends first.
    fn run<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<Vec<WorkerEnd>, ToolError>>;
}

/// How a worker of a search ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerEnd {
    /// Whether the server ended it, because the search is over.
    ended_by_server: bool,
    description: String,
}

/// A worker of a search whose server is on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteWorker {
    /// Where the server listens: `HOST:PORT`, or `HOST` for the usual port.
    pub server: String,
    /// The address of this machine to which the worker's sockets are bound. The server connects to it.
    pub host: String,
    pub threads: NonZeroUsize,
    /// After this time it ends in any case.
    pub limit: Duration,
}

impl JavaToolchain {
    /// Works for the server until the search is over. It gets the module from there.
    ///
    /// # Errors
    /// This machine has no jar, or could not start it.
    pub async fn run_remote_worker(&self, worker: &RemoteWorker, cx: &ToolContext<'_>) -> Result<WorkerEnd, ToolError> {
        require_jar(self)?;
        let Ok(WorkerPlacement::Remote { host: server, port }) = worker.server.parse() else {
            let what = format!("{:?} is not the address of a server of TLC", worker.server);
            return Err(ToolError::Environment { tool: Tool::Tlc.name().to_owned(), what });
        };
        // TLC's worker would wait for ever for a server that is gone, and then join the next one there.
        if let Err(description) = find_server(&server, port, cx).await? {
            return Ok(WorkerEnd { ended_by_server: false, description });
        }
        let common = [format!("-Djava.rmi.server.hostname={}", worker.host), format!("-D{SERVER}.port={port}")];
        run_worker(self, &worker_job(worker.threads.get(), &server, &common, worker.limit), cx).await
    }
}

/// Whether something listens there, or why not.
async fn find_server(server: &str, port: u16, cx: &ToolContext<'_>) -> Result<Result<(), String>, ToolError> {
    let connect = tokio::time::timeout(SERVER_WAIT, TcpStream::connect((server, port)));
    let connected = tokio::select! {
        () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
        connected = connect => connected,
    };
    let why = match connected {
        Ok(Ok(_)) => return Ok(Ok(())),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} s", SERVER_WAIT.as_secs()),
    };
    Ok(Err(format!("it does not reach the server of TLC at {server}:{port}: {why}")))
}

/// How the workers of a search ended, or the first error if none of them could work: the search goes on while one works.
pub fn first_error_if_none_ended(results: Vec<Result<WorkerEnd, ToolError>>) -> Result<Vec<WorkerEnd>, ToolError> {
    let (ended, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let used = if ended.is_empty() { failed } else { ended };
    used.into_iter().collect()
}

/// TLC's distributed mode cannot be started by a wrapper program.
pub(super) fn require_jar(tools: &JavaToolchain) -> Result<(), ToolError> {
    match tools.tools {
        Tools::Jar { .. } => Ok(()),
        Tools::Wrappers { .. } => Err(ToolError::NoJar {
            advice: "TLC's distributed mode cannot be started by a wrapper program; set TLA_TOOLS_JAR".to_owned(),
        }),
    }
}

pub(super) enum SearchEnd {
    Server(ToolRun),
    /// No worker is left, and the server did not tell them to end. How one of them ended.
    WorkersLost(String),
}

/// Runs the server to its end, and while it runs the workers on this machine, or those that `remote` starts.
pub(super) async fn run(
    tools: &JavaToolchain,
    placement: &WorkerPlacement,
    remote: Option<&dyn RemoteWorkers>,
    spec: &SpecText,
    plan: &RunPlan,
    cx: &ToolContext<'_>,
) -> Result<SearchEnd, ToolError> {
    let (host, port) = match placement {
        WorkerPlacement::Local(_) => (Ipv4Addr::LOCALHOST.to_string(), free_port()?),
        WorkerPlacement::Remote { host, port } => (host.clone(), *port),
    };
    let common = [format!("-Djava.rmi.server.hostname={host}"), format!("-D{SERVER}.port={port}")];
    let ready = Notify::new();
    let job = server_job(spec, plan, &common, cx);
    let mut on_line = |line: &str| {
        if line == READY {
            ready.notify_one();
        }
        if let Some((_, generated, distinct, queue)) = tlc_output::parse_progress(line) {
            (cx.progress)(Progress { run: plan.label.clone(), generated, distinct, queue });
        }
    };
    let server = run::run(&tools.tools, &tools.scratch, &job, cx, &mut on_line);
    let workers = async {
        ready.notified().await;
        let WorkerPlacement::Local(count) = placement else {
            return match remote {
                Some(remote) => remote.run(cx).await,
                None => std::future::pending().await,
            };
        };
        let threads = cx.limits.workers.unwrap_or(plan::processors() / *count).max(1);
        // They end with the server.
        let job = worker_job(threads, &host, &common, Duration::MAX);
        first_error_if_none_ended(join_all((0..count.get()).map(|_| run_worker(tools, &job, cx))).await)
    };
    tokio::pin!(server);
    tokio::select! {
        done = &mut server => return done.map(SearchEnd::Server),
        ended = workers => {
            let ended = ended?;
            if !ended.iter().any(|end| end.ended_by_server) {
                let how = ended.into_iter().next_back().map(|end| end.description);
                return Ok(SearchEnd::WorkersLost(how.unwrap_or_default()));
            }
        }
    }
    server.await.map(SearchEnd::Server)
}

fn server_job<'a>(spec: &'a SpecText, plan: &'a RunPlan, flags: &[String], cx: &ToolContext<'_>) -> ToolJob<'a> {
    let cfg = format!("{}.cfg", spec.name);
    // A checkpoint waits for every worker, also for one that is gone. `-fp 0`: see the arguments of TLC alone.
    let mut args: Vec<String> = ["-tool", "-checkpoint", "0", "-fp", "0"].map(str::to_owned).into();
    if !plan.deadlock {
        args.push("-deadlock".to_owned());
    }
    args.extend(["-config".to_owned(), cfg.clone(), format!("{}.tla", spec.name)]);
    let mut files = module_files(spec);
    files.push((cfg, &plan.cfg));
    let report = format!("-D{SERVER}.report={REPORT_MILLISECONDS}");
    ToolJob {
        tool: Tool::Tlc,
        jvm: Jvm::LongRun,
        args,
        files,
        deadline: cx.limits.check,
        read_back: None,
        rmi: Some(RmiProgram { main_class: SERVER, flags: [flags, &[report]].concat() }),
    }
}

fn worker_job(threads: usize, server: &str, flags: &[String], deadline: Duration) -> ToolJob<'static> {
    let own = [
        format!("-D{WORKER}.threadCount={threads}"),
        // A worker that goes on without memory reports an error for its states, and leaves out successors if it gets them
        // again.
        "-XX:+ExitOnOutOfMemoryError".to_owned(),
    ];
    ToolJob {
        tool: Tool::Tlc,
        jvm: Jvm::LongRun,
        args: vec![server.to_owned()],
        files: Vec::new(),
        deadline,
        read_back: None,
        rmi: Some(RmiProgram { main_class: WORKER, flags: [flags, &own].concat() }),
    }
}

async fn run_worker(tools: &JavaToolchain, job: &ToolJob<'_>, cx: &ToolContext<'_>) -> Result<WorkerEnd, ToolError> {
    let done = run::run(&tools.tools, &tools.scratch, job, cx, &mut |_| {}).await?;
    let end = worker_end(&done);
    match done.environment_error(Tool::Tlc) {
        Some(error @ ToolError::Environment { .. }) if !end.ended_by_server => Err(error),
        _ => Ok(end),
    }
}

fn worker_end(worker: &ToolRun) -> WorkerEnd {
    let how = match worker.ended.status {
        Status::Exited(status) => format!("it exited with status {status}"),
        Status::Signalled(signal) => format!("signal {signal} ended it"),
        Status::OutputFlood => "it wrote too much output".to_owned(),
        Status::DeadlineExceeded => "its time was over".to_owned(),
        Status::Cancelled => "it was cancelled".to_owned(),
    };
    let description = match worker.tail() {
        tail if tail.is_empty() => how,
        tail => format!("{how}: {tail}"),
    };
    let ended_by_server = worker.ended.status == Status::Exited(0) && worker.stdout().contains(", work completed at: ");
    WorkerEnd { ended_by_server, description }
}

/// A port that is free now. TLC cannot choose one itself, because workers have to know it.
fn free_port() -> Result<u16, ToolError> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    let error = |source| ToolError::Io { what: "find a free port".to_owned(), source };
    Ok(bound.map_err(error)?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_a_number_or_an_address() {
        let remote = |host: &str, port| Ok(WorkerPlacement::Remote { host: host.to_owned(), port });
        assert_eq!("2".parse(), Ok(WorkerPlacement::Local(NonZeroUsize::new(2).expect("not zero"))));
        assert_eq!("10.0.0.1".parse(), remote("10.0.0.1", 10_997));
        assert_eq!("tlc-1.example.org:4000".parse(), remote("tlc-1.example.org", 4000));
        for wrong in ["0", "", ":1", "host:", "host:0", "host:70000", "a b", "-Dx", "a,b", "::1"] {
            assert!(wrong.parse::<WorkerPlacement>().is_err(), "{wrong}");
        }
    }
}
