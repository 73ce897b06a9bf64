//! A toolchain that gives each tool the modules of libraries that a specification needs: the tools themselves see only
//! specifications that are complete.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tlaforge_files::Sha;
use tlaforge_tla::{CheckOutcome, Checker, Diagnostic, find_foreign_operator, find_untranslated_algorithm};

use super::local_modules::{complete, needed_by};
use super::{
    CheckReport, CheckRequest, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext, ToolError,
    Toolchain, ToolchainInfo, Translation,
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

    /// The request with a complete specification.
    fn completed<'a>(
        &self,
        request: &'a CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<Cow<'a, CheckRequest>, ToolError> {
        Ok(match self.complete(&request.spec, cx)? {
            Cow::Borrowed(_) => Cow::Borrowed(request),
            Cow::Owned(spec) => Cow::Owned(CheckRequest { spec, ..request.clone() }),
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

#[async_trait]
impl<T: Toolchain> Toolchain for LibraryToolchain<T> {
    fn checker(&self) -> Checker {
        self.inner.checker()
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        // A translator reads no other module.
        Box::pin(async move {
            let mut translation = self.inner.translate(spec, cx).await?;
            if let Translation::Rejected(diagnostics) = &mut translation {
                explain_rejection(spec, diagnostics);
            }
            Ok(translation)
        })
        .await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        let mut parsed = self.inner.parse(&*self.complete(spec, cx)?, cx).await?;
        if let ParseOutcome::Rejected(diagnostics) = &mut parsed {
            explain_rejection(spec, diagnostics);
        }
        Ok(parsed)
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.inner.check(&*self.completed(request, cx)?, cx).await
    }

    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.inner.decide(&*self.completed(request, cx)?, cx).await
    }

    async fn decide_each(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<SeparateVerdicts, ToolError> {
        self.inner.decide_each(&*self.completed(request, cx)?, cx).await
    }

    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        self.inner.check_without_details(&*self.completed(request, cx)?, cx).await
    }

    async fn find_refusal(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Option<String>, ToolError> {
        self.inner.find_refusal(&*self.completed(request, cx)?, cx).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        self.inner.probe(&*self.completed(request, cx)?, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.inner.info(cx).await
    }

    async fn versions(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        self.inner.versions(cx).await
    }
}
