//! A single check on another machine: what is sent of it, and what a worker does with it.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::process::Cancel;
use crate::tla::Cfg;
use crate::toolchain::{
    CheckRequest, Limits, SeparateVerdicts, SpecText, ToolContext, ToolError, Toolchain, is_plain_name,
};

/// The method of the toolchain that a worker calls.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Method {
    Check,
    CheckWithoutDetails,
    Decide,
    DecideEach,
}

/// One check with everything that it needs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CheckJob {
    method: Method,
    spec: SpecText,
    cfg_text: String,
    /// Time limit of each run of the checker.
    pub check: Duration,
    heap_mib: Option<u64>,
    workers: Option<usize>,
    pub allowed_modules: Vec<String>,
}

/// A check that fails because of its module has an answer, too.
pub(super) type Answer = Result<SeparateVerdicts, ToolError>;

impl CheckJob {
    pub(super) fn new(method: Method, request: &CheckRequest, limits: &Limits) -> Self {
        let CheckRequest { spec, cfg_text, .. } = request.clone();
        let Limits { check, heap_mib, workers, allowed_modules, .. } = limits.clone();
        Self { method, spec, cfg_text, check, heap_mib, workers, allowed_modules }
    }

    /// The error says why this machine could not check it.
    pub(super) async fn run(self, tools: &dyn Toolchain, cancel: &Cancel) -> Result<Answer, String> {
        let Self { method, spec, cfg_text, check, heap_mib, workers, allowed_modules } = self;
        // They become names of files.
        let mut names = std::iter::once(&spec.name).chain(spec.local_modules.iter().map(|(name, _)| name));
        if let Some(name) = names.find(|name| !is_plain_name(name)) {
            return Err(format!("{name:?} is not a name of a module"));
        }
        let cfg = Cfg::parse(&cfg_text).map_err(|e| format!("the configuration cannot be read: {e}"))?;
        let limits = Limits { check, heap_mib, workers, allowed_modules, ..Limits::default() };
        let cx = ToolContext { limits: &limits, cancel, progress: &|_| {} };
        let request = CheckRequest { spec, cfg_text, cfg };
        let began = Instant::now();
        let alone = |rest| SeparateVerdicts { violated: Vec::new(), rest };
        let checked = match method {
            Method::Check => tools.check(&request, &cx).await.map(alone),
            Method::CheckWithoutDetails => tools.check_without_details(&request, &cx).await.map(alone),
            Method::Decide => tools.decide(&request, &cx).await.map(alone),
            Method::DecideEach => tools.decide_each(&request, &cx).await,
        };
        match checked {
            Err(error) if error.is_fatal() => Err(error.to_string()),
            Err(error) => Ok(Err(error)),
            Ok(mut checked) => {
                // It can be longer than a message, and only a run stores it.
                checked.rest.output.clear();
                checked.rest.outcome.statistics.total_seconds = Some(began.elapsed().as_secs_f64());
                Ok(Ok(checked))
            }
        }
    }
}
