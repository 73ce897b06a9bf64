//! Loads the specification to evaluate from a run folder, or from any folder with `Spec.tla` and `Spec.cfg`.

use std::path::{Path, PathBuf};

use crate::files;
use crate::journal;
use crate::pipeline::{Outcome, RunView, file};
use crate::tla::Module;
use crate::toolchain::{SpecText, local_modules};

/// Why a folder cannot be evaluated.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", file.display())]
pub struct SpecsError {
    pub file: PathBuf,
    pub what: String,
    pub remedy: &'static str,
}

/// Facts from the journal of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunInfo {
    pub outcome: Option<Outcome>,
    pub revisions: usize,
    /// Number of answers that were recorded for another wording of the prompt.
    pub stale_answers: u32,
}

#[derive(Debug, Clone)]
pub struct Specs {
    pub root: PathBuf,
    pub spec: SpecText,
    pub cfg_text: String,
    /// `None` if the folder is not a run folder.
    pub run: Option<RunInfo>,
}

impl Specs {
    pub fn load(root: &Path) -> Result<Self, SpecsError> {
        let read = |name: &str| {
            let file = root.join(name);
            files::read_text(&file, files::MEDIUM).map_err(|e| SpecsError {
                what: format!("cannot be read: {e}"),
                file,
                remedy: "name a run folder, or a folder with Spec.tla and Spec.cfg",
            })
        };
        let text = read(file::MODULE)?;
        let cfg_text = read(file::CFG)?;
        let path = root.join(file::MODULE);
        // A file that is not a module is a finding of the first tier, not an error.
        let module = Module::parse(&text).ok();
        let name = module.as_ref().map_or_else(|| "Spec".to_owned(), |module| module.name.clone());
        let beside = module.map(|module| local_modules(&path, &module)).unwrap_or_default();
        Ok(Self {
            root: root.to_owned(),
            spec: SpecText { name, text, local_modules: beside },
            cfg_text,
            run: read_run_info(root)?,
        })
    }
}

fn read_run_info(root: &Path) -> Result<Option<RunInfo>, SpecsError> {
    let file = root.join("journal.jsonl");
    if !file.is_file() {
        return Ok(None);
    }
    let journal_error = |what: String| SpecsError {
        file: file.clone(),
        what,
        remedy: "restore the journal, or copy Spec.tla and Spec.cfg into another folder",
    };
    let entries = journal::read(&file).map_err(|e| journal_error(e.to_string()))?;
    let view = RunView::from_entries(&entries);
    Ok(Some(RunInfo {
        outcome: view.finished.as_ref().map(|finished| finished.outcome),
        revisions: view.revisions.len(),
        stale_answers: view.spent_total().stale,
    }))
}
