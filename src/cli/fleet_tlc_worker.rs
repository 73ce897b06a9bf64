//! One worker of TLC's distributed mode as a job: what is sent of it, and what a worker of the fleet does with it.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::Cancel;
use crate::toolchain::{JavaToolchain, Limits, RemoteWorker, ToolContext, WorkerEnd};

/// The name of the job.
pub(super) const TLC_WORKER: &str = "tlc_worker";

/// Shorter than the time after which the engine begins a job again.
pub(super) const MAX_SEARCH: Duration = Duration::from_secs(20 * 60 * 60);

/// One worker of TLC in a search.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SearchJob {
    /// Where TLC's server listens.
    pub server: String,
    /// Which of the jobs of the search this is.
    pub number: usize,
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
