//! Makes a specification ready for a command that does not check it: translates its algorithm, and parses the module.

use super::checking::LoadedSpec;
use super::failure::Failure;
use super::tools::tool_failure;
use crate::tla::Diagnostic;
use crate::toolchain::{ParseOutcome, ToolContext, Toolchain, Translation};

/// Replaces an algorithm's translation by a new one.
pub(super) async fn translate(
    loaded: &mut LoadedSpec,
    tools: &dyn Toolchain,
    cx: &ToolContext<'_>,
) -> Result<(), Failure> {
    if loaded.module.algorithm.is_none() {
        return Ok(());
    }
    match tools.translate(&loaded.spec, cx).await.map_err(|error| tool_failure(&error))? {
        Translation::Translated(text) => loaded.spec.text = text,
        Translation::NoAlgorithm => {}
        Translation::Rejected(diagnostics) => return Err(rejected(loaded, &diagnostics, "it is not translated")),
    }
    Ok(())
}

/// Refuses a module that does not parse.
pub(super) async fn require_parsed(
    loaded: &LoadedSpec,
    tools: &dyn Toolchain,
    cx: &ToolContext<'_>,
) -> Result<(), Failure> {
    match tools.parse(&loaded.spec, cx).await.map_err(|error| tool_failure(&error))? {
        ParseOutcome::Rejected(diagnostics) => Err(rejected(loaded, &diagnostics, "it does not parse")),
        ParseOutcome::Accepted { .. } => Ok(()),
    }
}

fn rejected(loaded: &LoadedSpec, diagnostics: &[Diagnostic], otherwise: &str) -> Failure {
    let what = diagnostics.first().map_or_else(|| otherwise.to_owned(), ToString::to_string);
    Failure::usage(format!("{}: {what}", loaded.path.display()))
}
