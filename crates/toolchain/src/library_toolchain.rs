//! A toolchain that gives each tool the modules of libraries that a specification needs: the tools themselves see only
//! specifications that are complete.

use std::borrow::Cow;

use tlaforge_tla::{CheckOutcome, Checker};

use super::local_modules::complete;
use super::{
    BoxFuture, CheckReport, CheckRequest, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation,
};

pub struct LibraryToolchain<T> {
    inner: T,
}

impl<T: Toolchain> LibraryToolchain<T> {
    pub fn new(inner: T) -> Self {
        Self { inner }
    }
}

/// The request with a complete specification; `None` if it is complete already, which saves a copy.
fn completed(request: &CheckRequest, cx: &ToolContext<'_>) -> Option<CheckRequest> {
    match complete(&cx.limits.libraries, &request.spec) {
        Cow::Borrowed(_) => None,
        Cow::Owned(spec) => Some(CheckRequest { spec, ..request.clone() }),
    }
}

/// A method whose first argument is a request.
macro_rules! with_completed_request {
    ($method:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        fn $method<'a>(
            &'a self,
            request: &'a CheckRequest,
            $($argument: &'a $type,)*
            cx: &'a ToolContext<'a>,
        ) -> BoxFuture<'a, Result<$result, ToolError>> {
            match completed(request, cx) {
                None => self.inner.$method(request, $($argument,)* cx),
                Some(request) => Box::pin(async move { self.inner.$method(&request, $($argument,)* cx).await }),
            }
        }
    };
}

impl<T: Toolchain> Toolchain for LibraryToolchain<T> {
    fn checker(&self) -> Checker {
        self.inner.checker()
    }

    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        // A translator reads no other module.
        self.inner.translate(spec, cx)
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(async move { self.inner.parse(&complete(&cx.limits.libraries, spec), cx).await })
    }

    with_completed_request!(check() -> CheckReport);
    with_completed_request!(decide() -> CheckReport);
    with_completed_request!(decide_each() -> SeparateVerdicts);
    with_completed_request!(check_without_details() -> CheckReport);
    with_completed_request!(find_refusal() -> Option<String>);
    with_completed_request!(probe(outcome: CheckOutcome) -> Option<ProbeReport>);

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        self.inner.info(cx)
    }
}
