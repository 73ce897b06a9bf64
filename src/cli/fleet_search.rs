//! Workers of an engine in a search of TLC's distributed mode: `check --distributed HOST --engine URL`.

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::future::join_all;

use super::engine_args::EngineArgs;
use super::failure::Failure;
use super::fleet::{Connection, Work, connect_for};
use super::fleet_tlc_worker::{MAX_SEARCH, SearchJob, TLC_WORKER};
use super::terminal::print_message;
use super::tools::{discover_java_tools, tool_failure};
use crate::config::{CheckerChoice, Settings};
use crate::toolchain::{
    BoxFuture, JavaToolchain, Limits, RemoteWorkers, ToolContext, ToolError, WorkerEnd, WorkerPlacement,
    first_error_if_none_ended,
};

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
