//! Single checks on many machines: tools that send a check to a worker, and what the worker does with it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fleet::{Connection, Work};
use crate::process::Cancel;
use crate::tla::{Cfg, CheckOutcome, Checker};
use crate::toolchain::{
    BoxFuture, CheckReport, CheckRequest, Limits, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation, is_plain_name,
};

/// The method of the toolchain that a worker calls.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Method {
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
    pub heap_mib: Option<u64>,
    workers: Option<usize>,
    pub allowed_modules: Vec<String>,
}

/// A check that fails because of its module has an answer, too.
type Answer = Result<SeparateVerdicts, ToolError>;

impl CheckJob {
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
        let alone = |rest| SeparateVerdicts { violated: Vec::new(), rest };
        let checked = match method {
            Method::Check => tools.check(&request, &cx).await.map(alone),
            Method::CheckWithoutDetails => tools.check_without_details(&request, &cx).await.map(alone),
            Method::Decide => tools.decide(&request, &cx).await.map(alone),
            Method::DecideEach => tools.decide_each(&request, &cx).await,
        };
        match checked {
            // A checker that was killed says nothing either.
            Err(error @ ToolError::Broke { .. }) => Err(error.to_string()),
            Err(error) if error.is_fatal() => Err(error.to_string()),
            Err(error) => Ok(Err(error)),
            Ok(mut checked) => {
                // It can be longer than a message, and only a run stores it.
                checked.rest.output.clear();
                Ok(Ok(checked))
            }
        }
    }
}

/// Translates and parses here, and checks on the workers of an engine.
pub(super) struct RemoteToolchain {
    pub connection: Arc<Connection>,
    pub local: Box<dyn Toolchain>,
}

impl RemoteToolchain {
    async fn send(&self, method: Method, request: &CheckRequest, cx: &ToolContext<'_>) -> Answer {
        let Limits { check, heap_mib, workers, allowed_modules, .. } = cx.limits.clone();
        let (spec, cfg_text) = (request.spec.clone(), request.cfg_text.clone());
        let job = CheckJob { method, spec, cfg_text, check, heap_mib, workers, allowed_modules };
        self.connection.call::<Answer>(Work::Check(job), &request.spec.name, &*self.local, cx).await?
    }

    async fn send_one(
        &self,
        method: Method,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        Ok(self.send(method, request, cx).await?.rest)
    }
}

impl Toolchain for RemoteToolchain {
    fn checker(&self) -> Checker {
        self.local.checker()
    }

    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        self.local.translate(spec, cx)
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        self.local.parse(spec, cx)
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(self.send_one(Method::Check, request, cx))
    }

    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(self.send_one(Method::Decide, request, cx))
    }

    fn decide_each<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<SeparateVerdicts, ToolError>> {
        Box::pin(self.send(Method::DecideEach, request, cx))
    }

    fn check_without_details<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(self.send_one(Method::CheckWithoutDetails, request, cx))
    }

    fn find_refusal<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        self.local.find_refusal(request, cx)
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<ProbeReport>, ToolError>> {
        self.local.probe(request, outcome, cx)
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        self.local.info(cx)
    }
}
