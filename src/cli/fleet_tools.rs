//! Tools whose checks run on the workers of an engine.

use std::sync::Arc;

use super::fleet::{Connection, Work};
use super::fleet_checks::{Answer, CheckJob, Method};
use crate::tla::{CheckOutcome, Checker};
use crate::toolchain::{
    BoxFuture, CheckReport, CheckRequest, LibraryToolchain, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText,
    ToolContext, ToolError, Toolchain, ToolchainInfo, Translation,
};

/// Translates and parses here, and checks on the workers of an engine.
struct RemoteToolchain {
    connection: Arc<Connection>,
    local: Box<dyn Toolchain>,
}

pub(super) fn remote_toolchain(connection: Arc<Connection>, local: Box<dyn Toolchain>) -> Box<dyn Toolchain> {
    // Workers have no libraries: what a specification needs of them is sent with it.
    Box::new(LibraryToolchain::new(RemoteToolchain { connection, local }))
}

impl RemoteToolchain {
    async fn send(&self, method: Method, request: &CheckRequest, cx: &ToolContext<'_>) -> Answer {
        let work = Work::Check(CheckJob::new(method, request, cx.limits));
        self.connection.call::<Answer>(work, &request.spec.name, &*self.local, cx).await?
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
