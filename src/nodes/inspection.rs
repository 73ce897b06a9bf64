//! Translator and parser, and what they say of a module.

use super::desk::Desk;
use crate::journal::Kind;
use crate::pipeline::{Attempt, NodeError, RunError, RunEvent, ToolFinished};
use crate::tla::{Diagnostic, Merged, Stage, forbidden_blocks};
use crate::toolchain::{ParseOutcome, SpecText, ToolError, Translation};

impl Desk {
    /// Translates and parses a module, and says what both say of it. A module that makes one of them break, or that it
    /// cannot decide, is rejected with that: its author can mend it, and nobody else can.
    pub async fn inspect(&self, text: &str) -> Result<Inspection, ToolError> {
        match self.translate_and_parse(text).await {
            Err(error) if error.is_caused_by_input() => {
                let said = Diagnostic { stage: Stage::Parse, line: 0, column: 0, message: error.to_string() };
                Ok(Inspection { module: None, diagnostics: vec![said] })
            }
            other => other,
        }
    }

    async fn translate_and_parse(&self, text: &str) -> Result<Inspection, ToolError> {
        let cx = self.tools();
        let spec = |text: String| SpecText { name: "Spec".to_owned(), text, local_modules: Vec::new() };
        let forbidden = forbidden_blocks(text);
        // Without a module the parser has more to say.
        if !forbidden.is_empty() && text.contains("MODULE") {
            return Ok(Inspection { module: None, diagnostics: quoted(forbidden, text) });
        }
        let source = spec(text.to_owned());
        let module = match self.toolchain.translate(&source, &cx).await? {
            Translation::Rejected(diagnostics) => {
                return Ok(Inspection { module: None, diagnostics: quoted(diagnostics, text) });
            }
            Translation::NoAlgorithm => source,
            Translation::Translated(text) => spec(text),
        };
        Ok(match self.toolchain.parse(&module, &cx).await? {
            ParseOutcome::Accepted { .. } => Inspection { module: Some(module.text), diagnostics: Vec::new() },
            ParseOutcome::Rejected(diagnostics) => {
                Inspection { module: None, diagnostics: quoted(diagnostics, &module.text) }
            }
        })
    }
}

/// What translator and parser say of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The module with its translation, where both accept it.
    pub module: Option<String>,
    /// What they object to.
    pub diagnostics: Vec<Diagnostic>,
}

/// Journals an inspection, with what a merge did before it; the module itself goes into the store.
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

/// The inspection of this attempt from before a crash.
pub(super) fn recall_inspection(attempt: &Attempt<'_>) -> Result<Option<Inspection>, NodeError> {
    let Some(inspected) = attempt.recall(RunEvent::try_as_tool_finished_ref) else { return Ok(None) };
    let module = inspected.module.as_ref().map(|sha| attempt.run.store().text(sha));
    let module = module.transpose().map_err(RunError::from)?;
    Ok(Some(Inspection { module, diagnostics: inspected.diagnostics.clone() }))
}

/// Each diagnostic with the line it speaks of: the reader may have the text without its translation.
fn quoted(mut diagnostics: Vec<Diagnostic>, text: &str) -> Vec<Diagnostic> {
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
