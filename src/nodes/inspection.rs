//! Inspects a module: runs the PlusCal translator and the parser on it and collects their diagnostics.

use super::context::NodeContext;
use crate::journal::Kind;
use crate::pipeline::{Attempt, NodeError, RunError, RunEvent, ToolFinished};
use crate::tla::{Diagnostic, Merged, Stage, forbidden_blocks};
use crate::toolchain::{ParseOutcome, SpecText, ToolError, Translation};

impl NodeContext {
    /// Translates and parses a module. A module on which a tool fails is rejected with the tool's error as diagnostic,
    /// because only its author can correct it.
    pub async fn inspect(&self, text: &str) -> Result<Inspection, ToolError> {
        match self.translate_and_parse(text).await {
            Err(error) if error.is_caused_by_input() => {
                let failure = Diagnostic { stage: Stage::Parse, line: 0, column: 0, message: error.to_string() };
                Ok(Inspection { module: None, diagnostics: vec![failure] })
            }
            other => other,
        }
    }

    async fn translate_and_parse(&self, text: &str) -> Result<Inspection, ToolError> {
        let cx = self.tool_context();
        let spec = SpecText::alone;
        let forbidden = forbidden_blocks(text);
        // Without a module header, the parser's diagnostics are more useful.
        if !forbidden.is_empty() && text.contains("MODULE") {
            return Ok(Inspection { module: None, diagnostics: quote_lines(forbidden, text) });
        }
        let source = spec(text.to_owned());
        let module = match self.toolchain.translate(&source, &cx).await? {
            Translation::Rejected(diagnostics) => {
                return Ok(Inspection { module: None, diagnostics: quote_lines(diagnostics, text) });
            }
            Translation::NoAlgorithm => source,
            Translation::Translated(text) => spec(text),
        };
        Ok(match self.toolchain.parse(&module, &cx).await? {
            ParseOutcome::Accepted { .. } => Inspection { module: Some(module.text), diagnostics: Vec::new() },
            ParseOutcome::Rejected(diagnostics) => {
                Inspection { module: None, diagnostics: quote_lines(diagnostics, &module.text) }
            }
        })
    }
}

/// The result of translating and parsing a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The module with its translation, if both tools accept it.
    pub module: Option<String>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Journals an inspection, and the merge before it if there was one. The module itself goes into the artifact store.
pub(super) fn record_inspection(
    attempt: &Attempt<'_>,
    tool: &str,
    inspection: &Inspection,
    merged: Option<&Merged>,
) -> Result<(), NodeError> {
    let module = inspection.module.as_ref().map(|text| attempt.keep(text)).transpose()?;
    let finished = ToolFinished {
        tool: tool.to_owned(),
        accepted: module.is_some(),
        module,
        diagnostics: inspection.diagnostics.clone(),
        added: merged.map(|merged| merged.added.clone()),
        replaced: merged.map(|merged| merged.replaced.clone()),
    };
    attempt.record(Kind::Act, RunEvent::ToolFinished(finished))?;
    Ok(())
}

/// The inspection that this attempt journaled before a crash.
pub(super) fn recall_inspection(attempt: &Attempt<'_>) -> Result<Option<Inspection>, NodeError> {
    let Some(inspected) = attempt.recall(RunEvent::try_as_tool_finished_ref) else { return Ok(None) };
    let module = inspected.module.as_ref().map(|sha| attempt.run.store().text(sha));
    let module = module.transpose().map_err(RunError::from)?;
    Ok(Some(Inspection { module, diagnostics: inspected.diagnostics.clone() }))
}

/// Quotes in each diagnostic the line that it refers to: a model sees the text without its translation, where line numbers
/// differ.
pub(super) fn quote_lines(mut diagnostics: Vec<Diagnostic>, text: &str) -> Vec<Diagnostic> {
    for diagnostic in &mut diagnostics {
        if let Some(line) = diagnostic.line.checked_sub(1).and_then(|i| text.lines().nth(i)) {
            let line = line.trim();
            if !line.is_empty() && !diagnostic.message.contains(line) {
                diagnostic.message = format!("{} (the line reads `{line}`)", diagnostic.message.trim_end());
            }
        }
    }
    diagnostics
}
