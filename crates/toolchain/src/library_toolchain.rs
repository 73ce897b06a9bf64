//! A toolchain that gives each tool the modules of libraries that a specification needs: the tools themselves see only
//! specifications that are complete.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tlaforge_files::Sha;
use tlaforge_tla::{CheckOutcome, Checker, Diagnostic, find_foreign_operator, find_untranslated_algorithm};

use super::local_modules::{complete, needed_by};
use super::{
    BoxFuture, CheckReport, CheckRequest, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation,
};

pub struct LibraryToolchain<T> {
    inner: T,
    /// The modules that a module needs, by the SHA-256 of its text: hundreds of mutants have the same other modules.
    needed: Mutex<BTreeMap<Sha, Vec<String>>>,
}

impl<T: Toolchain> LibraryToolchain<T> {
    pub fn new(inner: T) -> Self {
        Self { inner, needed: Mutex::default() }
    }

    fn complete<'a>(&self, spec: &'a SpecText, cx: &ToolContext<'_>) -> Result<Cow<'a, SpecText>, ToolError> {
        let needed_by_module = |text: &str| {
            let mut needed = self.needed.lock().unwrap_or_else(PoisonError::into_inner);
            needed.entry(Sha::digest(text)).or_insert_with(|| needed_by(text)).clone()
        };
        Ok(complete(&cx.limits.libraries, spec, &needed_by_module)?)
    }

    /// The request with a complete specification; `None` if it is complete already, which saves a copy.
    fn completed(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Option<CheckRequest>, ToolError> {
        Ok(match self.complete(&request.spec, cx)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(spec) => Some(CheckRequest { spec, ..request.clone() }),
        })
    }
}

/// Puts the likely cause before the messages of the parser, which often point at what follows it.
fn explain_rejection(spec: &SpecText, diagnostics: &mut Vec<Diagnostic>) {
    for wrong in diagnostics.iter_mut().filter(|wrong| !wrong.message.is_ascii() || wrong.message.contains("\\u")) {
        if ["Lexical error", "Illegal lexeme"].iter().any(|words| wrong.message.contains(words)) {
            wrong.message +=
                "; this version of the tools does not read Unicode operators: use --checker embedded, or write ASCII";
        }
    }
    let is_unknown = |wrong: &Diagnostic| {
        ["neither defined nor declared", "Unknown operator"].iter().any(|words| wrong.message.contains(words))
    };
    let others = spec.local_modules.iter().map(|(_, text)| text.as_str());
    let found = find_foreign_operator(&spec.text, others);
    let algorithm = || diagnostics.iter().any(is_unknown).then(|| find_untranslated_algorithm(&spec.text)).flatten();
    if let Some(found) = found.or_else(algorithm) {
        diagnostics.insert(0, found);
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
            match self.completed(request, cx) {
                Ok(None) => self.inner.$method(request, $($argument,)* cx),
                Ok(Some(request)) => Box::pin(async move { self.inner.$method(&request, $($argument,)* cx).await }),
                Err(error) => Box::pin(async move { Err(error) }),
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
        Box::pin(async move {
            let mut translation = self.inner.translate(spec, cx).await?;
            if let Translation::Rejected(diagnostics) = &mut translation {
                explain_rejection(spec, diagnostics);
            }
            Ok(translation)
        })
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        Box::pin(async move {
            let mut parsed = self.inner.parse(&*self.complete(spec, cx)?, cx).await?;
            if let ParseOutcome::Rejected(diagnostics) = &mut parsed {
                explain_rejection(spec, diagnostics);
            }
            Ok(parsed)
        })
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

    fn versions<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        self.inner.versions(cx)
    }
}
