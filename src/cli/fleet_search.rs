//! Workers of an engine in a search of TLC's distributed mode: `check --distributed HOST --engine URL`.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use super::engine_args::EngineArgs;
use super::failure::Failure;
use super::fleet::{Connection, Work, connect_for};
use super::terminal::print_message;
use super::tools::{discover_java_tools, tool_failure};
use crate::config::{CheckerChoice, Settings};
use crate::process::Cancel;
use crate::toolchain::{
    BoxFuture, JavaToolchain, Limits, RemoteWorker, RemoteWorkers, ToolContext, ToolError, WorkerEnd, WorkerPlacement,
    first_error_if_none_ended,
};

/// The name of the job.
pub(super) const TLC_WORKER: &str = "tlc_worker";

/// Shorter than the time after which the engine begins a job again.
pub(super) const MAX_SEARCH: Duration = Duration::from_secs(20 * 60 * 60);

/// One worker of TLC in a search.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SearchJob {
    /// Where TLC's server listens.
    server: String,
    /// Which of the jobs of the search this is.
    number: usize,
    /// Time limit of the search.
    pub check: Duration,
    pub heap_mib: Option<u64>,
}

impl SearchJob {
    /// `host` is the address of this machine to which the server connects.
    pub(super) async fn run(
        self,
        tools: &JavaToolchain,
        host: &str,
        threads: NonZeroUsize,
        cancel: &Cancel,
    ) -> Result<WorkerEnd, String> {
        let worker = RemoteWorker { server: self.server, host: host.to_owned(), threads, limit: self.check };
        let limits = Limits { heap_mib: self.heap_mib, ..Limits::default() };
        let cx = ToolContext { limits: &limits, cancel, progress: &|_| {} };
        tools.run_remote_worker(&worker, &cx).await.map_err(|e| e.to_string())
    }
}

/// Submits a job for each worker of a search.
struct EngineWorkers {
    connection: Arc<Connection>,
    /// Workers must have the same version of these tools.
    tools: JavaToolchain,
    server: String,
    count: NonZeroUsize,
}

/// Workers of the engine for this server of TLC.
pub(super) struct SearchConnection {
    pub remote: Box<dyn RemoteWorkers>,
    /// Cancels their jobs.
    pub connection: Arc<Connection>,
}

/// `count` workers of the engine, if one is named.
pub(super) fn connect_search(
    args: &EngineArgs,
    count: NonZeroUsize,
    server: &WorkerPlacement,
    settings: &Settings,
    limits: &Limits,
) -> Result<Option<SearchConnection>, Failure> {
    let Some(connection) = connect_for(TLC_WORKER, args, CheckerChoice::Tlc, limits, MAX_SEARCH)? else {
        return Ok(None);
    };
    let (connection, tools) = (Arc::new(connection), discover_java_tools(settings).map_err(|e| tool_failure(&e))?);
    let workers = EngineWorkers { connection: connection.clone(), tools, server: server.to_string(), count };
    Ok(Some(SearchConnection { remote: Box::new(workers), connection }))
}

impl RemoteWorkers for EngineWorkers {
    fn run<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<Vec<WorkerEnd>, ToolError>> {
        let work = async |number| {
            let (check, heap_mib) = (cx.limits.check, cx.limits.heap_mib);
            let job = SearchJob { server: self.server.clone(), number, check, heap_mib };
            let name = format!("worker {number} of TLC");
            let ended = self.connection.call(Work::Search(job), &name, &self.tools, cx).await;
            // The search goes on with the others.
            if let Err(error) = &ended
                && !matches!(error, ToolError::Cancelled)
            {
                print_message(&error.to_string());
            }
            ended
        };
        Box::pin(async move { first_error_if_none_ended(join_all((1..=self.count.get()).map(work)).await) })
    }
}
