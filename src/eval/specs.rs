//! Loads the specification to evaluate from a run folder, or from any folder with a module and its configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files;
use crate::journal;
use crate::llm::Usage;
use crate::pipeline::{Entry, Outcome, RunEvent, RunView, file};
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

/// The answers of one model in a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ModelAnswers {
    pub answers: u32,
    /// Tokens of all of them; `None` if any was not counted.
    pub usage: Option<Usage>,
    /// US dollars of all of them; `None` if any has no known price.
    pub cost_usd: Option<f64>,
}

impl ModelAnswers {
    #[must_use]
    pub fn plus(&self, more: &Self) -> Self {
        Self {
            answers: self.answers + more.answers,
            usage: self.usage.zip(more.usage).map(|(a, b)| a.plus(b)),
            cost_usd: self.cost_usd.zip(more.cost_usd).map(|(a, b)| a + b),
        }
    }
}

/// Facts from the journal of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunInfo {
    pub outcome: Option<Outcome>,
    pub revisions: usize,
    /// Number of answers that were recorded for another wording of the prompt.
    pub stale_answers: u32,
    /// The models that answered, as far as their providers name them.
    pub models: BTreeMap<String, ModelAnswers>,
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
            files::read_text_within(root, &file, files::MEDIUM).map_err(|e| unreadable(file, e))
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
        models: answers_by_model(&entries),
    }))
}

fn answers_by_model(entries: &[Entry]) -> BTreeMap<String, ModelAnswers> {
    let mut models: BTreeMap<String, ModelAnswers> = BTreeMap::new();
    for entry in entries {
        let RunEvent::AnswerReceived(answer) = &entry.event else { continue };
        let Some(model) = &answer.model else { continue };
        let one = ModelAnswers { answers: 1, usage: answer.usage, cost_usd: answer.cost_usd };
        models.entry(model.clone()).and_modify(|known| *known = known.plus(&one)).or_insert(one);
    }
    models
}
