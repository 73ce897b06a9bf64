//! What is evaluated: a run folder, or any folder with `Spec.tla` and `Spec.cfg`.

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
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What to do.
    pub remedy: &'static str,
}

/// What the journal of a run tells besides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// How the run ended.
    pub outcome: Option<Outcome>,
    /// Revisions that it took.
    pub revisions: usize,
    /// Answers that were recorded for another wording of the prompt.
    pub stale: u32,
}

/// A specification to be evaluated.
#[derive(Debug, Clone)]
pub struct Specs {
    /// Its folder.
    pub root: PathBuf,
    /// The module as it stands there.
    pub spec: SpecText,
    /// The configuration as it stands there.
    pub cfg_text: String,
    /// Where the folder is that of a run.
    pub told: Option<Told>,
}

impl Specs {
    /// Reads a folder.
    pub fn load(root: &Path) -> Result<Self, SpecsError> {
        let read = |name: &str| {
            let file = root.join(name);
            files::read_text(&file, files::MEDIUM).map_err(|e| SpecsError {
                what: format!("cannot be read: {e}"),
                file,
                remedy: "give a run folder, or a folder with Spec.tla and Spec.cfg",
            })
        };
        let text = read(file::MODULE)?;
        let cfg_text = read(file::CFG)?;
        let path = root.join(file::MODULE);
        // What is no module at all is a finding of the first tier.
        let module = Module::parse(&text).ok();
        let name = module.as_ref().map_or_else(|| "Spec".to_owned(), |module| module.name.clone());
        let local_modules = module.map(|module| local_modules(&path, &module)).unwrap_or_default();
        Ok(Self { root: root.to_owned(), spec: SpecText { name, text, local_modules }, cfg_text, told: told(root)? })
    }
}

fn told(root: &Path) -> Result<Option<Told>, SpecsError> {
    let file = root.join("journal.jsonl");
    if !file.is_file() {
        return Ok(None);
    }
    let trouble = |what: String| SpecsError {
        file: file.clone(),
        what,
        remedy: "restore the journal, or copy Spec.tla and Spec.cfg into a folder of their own",
    };
    let entries = journal::read(&file).map_err(|e| trouble(e.to_string()))?;
    let view = RunView::from_entries(&entries);
    Ok(Some(Told {
        outcome: view.finished.as_ref().map(|finished| finished.outcome),
        revisions: view.revisions.len(),
        stale: view.spent_total().stale,
    }))
}
