//! Tools whose checks run on the workers of an engine.

use std::sync::Arc;

use super::fleet::{Connection, Work};
use super::fleet_checks::{Answer, CheckJob, Method};
use crate::tla::{CheckOutcome, Checker};
use crate::toolchain::{
    CheckReport, CheckRequest, LibraryToolchain, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation,
};
use async_trait::async_trait;

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

#[async_trait]
impl Toolchain for RemoteToolchain {
    fn checker(&self) -> Checker {
        self.local.checker()
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        self.local.translate(spec, cx).await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        self.local.parse(spec, cx).await
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.send_one(Method::Check, request, cx).await
    }

    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.send_one(Method::Decide, request, cx).await
    }

    async fn decide_each(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<SeparateVerdicts, ToolError> {
        self.send(Method::DecideEach, request, cx).await
    }

    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        self.send_one(Method::CheckWithoutDetails, request, cx).await
    }

    async fn find_refusal(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Option<String>, ToolError> {
        self.local.find_refusal(request, cx).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        self.local.probe(request, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.local.info(cx).await
    }
}
