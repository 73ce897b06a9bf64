//! Loads the specification to evaluate from a run folder, or from any folder with a module and its configuration.

use std::path::{Path, PathBuf};

use crate::files;
use crate::journal;
use crate::pipeline::{Outcome, RunView, file};
use crate::tla::Module;
use crate::toolchain::{Libraries, SpecText, local_modules};

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
        let module = module_in(root);
        let unreadable = |file: PathBuf, e: std::io::Error| SpecsError {
            what: format!("cannot be read: {e}"),
            file,
            remedy: "name a run folder, or a folder with Spec.tla and Spec.cfg or with one other pair of these files",
        };
        let read = |name: &str| {
            let file = root.join(file::visible_name(name, &module));
            files::read_text(&file, files::MEDIUM).map_err(|e| unreadable(file, e))
        };
        let text = read(file::MODULE)?;
        let cfg_text = read(file::CFG)?;
        let path = root.join(file::visible_name(file::MODULE, &module));
        // A file that is not a module is a finding of the first tier, not an error.
        let module = Module::parse(&text).ok();
        let name = module.as_ref().map_or_else(|| "Spec".to_owned(), |module| module.name.clone());
        // The toolchain adds the modules of libraries.
        let beside = module.map(|module| local_modules(&path, &module, &Libraries::default())).transpose();
        let beside = beside.map_err(|e| unreadable(e.path, e.source))?.unwrap_or_default();
        Ok(Self {
            root: root.to_owned(),
            spec: SpecText { name, text, local_modules: beside },
            cfg_text,
            run: read_run_info(root)?,
        })
    }
}

/// The name of the module in a folder: `Spec`, or that of the only `.tla` file with a `.cfg` file beside it.
fn module_in(root: &Path) -> String {
    let default = file::DEFAULT_MODULE;
    if root.join(file::visible_name(file::MODULE, default)).exists() {
        return default.to_owned();
    }
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let modules =
        entries.filter(|path| path.extension().is_some_and(|e| e == "tla") && path.with_extension("cfg").exists());
    let names: Vec<String> = modules.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    match names.as_slice() {
        [name] => name.clone(),
        _ => default.to_owned(),
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
