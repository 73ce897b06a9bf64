//! An evaluation case on disk: loaded and looked at as a whole, so that what is wrong with it is told with its file and
//! what to do, before anything runs.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::files;
use crate::pipeline::{Interface, Name};
use crate::tla::{Cfg, DEADLOCK, Diagnostic, Module, check_cfg_names};
use crate::toolchain::{SpecText, local_modules};

/// What is wrong with a case.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", file.display())]
pub struct CaseError {
    /// The file or folder.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

fn wrong(file: &Path, what: impl Into<String>, remedy: impl Into<String>) -> CaseError {
    CaseError { file: file.to_owned(), what: what.into(), remedy: remedy.into() }
}

/// A property that a good specification has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// What it says.
    #[serde(default)]
    pub description: String,
    /// `type_safety`, `safety`, `liveness`, …
    #[serde(default)]
    pub category: String,
}

/// The limits of every check of the case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Constraints {
    /// Distinct states.
    #[serde(default)]
    pub max_states: Option<u64>,
    /// Seconds of one run of the checker.
    #[serde(default)]
    pub max_time_seconds: Option<u64>,
}

/// How a good run of the case ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Expected {
    /// `approved`, `flaw_found`.
    pub outcome: String,
    /// The property of the checklist that the documented protocol violates.
    #[serde(default)]
    pub violates: Option<String>,
}

/// `checklist.json`.
#[derive(Debug, Clone, Deserialize)]
pub struct Checklist {
    /// The case's name in words.
    #[serde(default)]
    pub name: String,
    /// What must be there.
    #[serde(default)]
    pub required_invariants: Vec<Wanted>,
    /// What may be there.
    #[serde(default)]
    pub optional_invariants: Vec<Wanted>,
    #[serde(default)]
    known_bugs: Vec<Listed>,
    /// Limits.
    #[serde(default)]
    pub tlc_constraints: Constraints,
    /// Names that the specification must use.
    #[serde(default)]
    pub interface: Interface,
    /// The single concern of the specification.
    #[serde(default)]
    pub concern: Option<String>,
    /// How a good run ends, where that is not an approval.
    #[serde(default)]
    pub expected_outcome: Option<Expected>,
}

#[derive(Debug, Clone, Deserialize)]
struct Listed {
    file: String,
    #[serde(default)]
    description: String,
    should_violate: String,
}

/// A module that properties are carried over to: a mutant or a reference.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its file, relative to the case.
    pub file: String,
    /// Its text; the file that it is checked under follows the module's name.
    pub spec: SpecText,
    /// Its configuration without any property; `None` takes the constants of the generated one.
    pub cfg: Option<Cfg>,
}

/// A specification with one deliberate flaw.
#[derive(Debug, Clone)]
pub struct Bug {
    /// The module.
    pub target: Target,
    /// What is wrong with it.
    pub description: String,
    /// The property of the checklist that it breaks, or `Deadlock`.
    pub should_violate: String,
    /// Whether that property is one of liveness.
    pub breaks_liveness: bool,
}

/// A case.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its folder's name.
    pub name: String,
    /// Its folder.
    pub root: PathBuf,
    /// Its checklist.
    pub checklist: Checklist,
    /// The known bugs.
    pub bugs: Vec<Bug>,
    /// Correct references.
    pub references: Vec<Target>,
    /// Its recording, where there is one.
    pub recording: Option<PathBuf>,
}

impl Checklist {
    /// The checklist of a text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The checklist of a case.
    pub fn read(root: &Path) -> Result<Self, CaseError> {
        let path = root.join("checklist.json");
        let text = files::read_text_within(root, &path, files::SMALL).map_err(|e| {
            wrong(
                &path,
                format!("cannot be read: {e}"),
                "give a folder with docs/ and checklist.json (evals/README.md)",
            )
        })?;
        Self::parse(&text).map_err(|e| wrong(&path, e.to_string(), "mend it: evals/README.md says what is in it"))
    }

    /// The property of this name, where the checklist has it.
    pub fn wanted(&self, name: &str) -> Option<&Wanted> {
        self.required_invariants.iter().chain(&self.optional_invariants).find(|wanted| wanted.name == name)
    }

    /// Whether a property of this name only says what types variables have.
    pub fn is_type_invariant(&self, name: &str) -> bool {
        name == "TypeOK" || self.wanted(name).is_some_and(|wanted| wanted.category == "type_safety")
    }

    /// Whether the documented protocol is known to break its own requirements.
    pub fn expects_flaw(&self) -> bool {
        self.expected_outcome.as_ref().is_some_and(|expected| expected.outcome == "flaw_found")
    }
}

impl Constraints {
    /// Wall time for one run of the checker, where the case bounds it.
    pub fn time(&self) -> Option<Duration> {
        self.max_time_seconds.map(Duration::from_secs)
    }
}

impl Case {
    /// Loads a case.
    pub fn load(root: &Path) -> Result<Self, CaseError> {
        if !root.is_dir() {
            return Err(wrong(
                root,
                "there is no such folder",
                "give the folder of a case, such as evals/uniswap_swap",
            ));
        }
        let checklist = Checklist::read(root)?;
        let docs = root.join("docs");
        let has_docs = walkdir::WalkDir::new(&docs).into_iter().flatten().any(|entry| entry.file_type().is_file());
        if !has_docs {
            return Err(wrong(&docs, "holds no document", "put the documents that the case is forged from there"));
        }
        let path = root.join("checklist.json");
        let mut bugs = Vec::new();
        for listed in &checklist.known_bugs {
            let Listed { file, description, should_violate } = listed;
            let at = root.join(file);
            if !Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
                let what = format!("the known bug {file} is not in the case's folder");
                return Err(wrong(&path, what, "move it into known_bugs/ of the case"));
            }
            if checklist.known_bugs.iter().filter(|other| other.file == *file).count() > 1 {
                return Err(wrong(&path, format!("the known bug {file} is listed twice"), "list it once"));
            }
            if !at.is_file() {
                let remedy = format!("correct \"file\" in {}, or write the mutant", path.display());
                return Err(wrong(&at, "is named as a known bug, and there is no such file", remedy));
            }
            let known = should_violate == DEADLOCK || checklist.wanted(should_violate).is_some();
            if !known {
                let what = format!("{file} should violate {should_violate}, which is not among the invariants");
                return Err(wrong(&path, what, format!("list {should_violate} there, or write \"Deadlock\"")));
            }
            let shared = root.join("known_bugs/Spec.cfg");
            let category = checklist.wanted(should_violate).map(|wanted| wanted.category.as_str());
            bugs.push(Bug {
                target: target(root, &at, Some(&shared))?,
                description: description.clone(),
                should_violate: should_violate.clone(),
                breaks_liveness: category == Some("liveness"),
            });
        }
        let violates = checklist.expected_outcome.as_ref().and_then(|expected| expected.violates.as_deref());
        if let Some(name) = violates.filter(|name| *name != DEADLOCK && checklist.wanted(name).is_none()) {
            let what = format!("a good run should violate {name}, which is not among the invariants");
            return Err(wrong(&path, what, format!("list {name} there, or write \"Deadlock\"")));
        }
        let mut references = Vec::new();
        for file in modules(&root.join("expected")) {
            // A module without a configuration is one that another builds on.
            if file.with_extension("cfg").is_file() {
                references.push(target(root, &file, None)?);
            }
        }
        let recording = Some(root.join("recording/run.jsonl")).filter(|path| path.is_file());
        let whole = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let name = whole.file_name().map_or_else(|| checklist.name.clone(), |name| name.to_string_lossy().into_owned());
        Ok(Self { name, root: root.to_owned(), checklist, bugs, references, recording })
    }

    /// What to do if no property could be carried over to any known bug.
    pub fn names_to_use(&self) -> String {
        let interface = &self.checklist.interface;
        let names = interface.constants.iter().chain(&interface.variables).map(Name::name);
        let names: Vec<&str> = names.collect();
        let names = if names.is_empty() { "it lists none".to_owned() } else { names.join(", ") };
        format!(
            "no property could be carried over to any known bug, so they say nothing about this specification: evaluate \
             it against a case of its own protocol, or write its properties with the names of the case's interface: \
             {names} (tlaforge run --case {} asks for them)",
            self.root.display()
        )
    }

    /// What a person should know of the case, none of which keeps it from running.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let path = self.root.join("checklist.json");
        if self.bugs.is_empty() {
            remarks.push(format!(
                "{}: no known bugs are listed, so there is no overall score: add mutants to known_bugs/ and list them",
                path.display()
            ));
        }
        if self.references.is_empty() && !self.bugs.is_empty() {
            remarks.push(format!(
                "{}: no reference with a configuration, so no generated property is tried against a correct \
                 specification: add one (X.tla with X.cfg)",
                self.root.join("expected").display()
            ));
        }
        remarks
    }
}

fn target(root: &Path, file: &Path, shared: Option<&Path>) -> Result<Target, CaseError> {
    let text = files::read_text(file, files::MEDIUM)
        .map_err(|e| wrong(file, format!("cannot be read: {e}"), "make it a readable text file"))?;
    let module = Module::parse(&text).map_err(|e| wrong(file, e.to_string(), "write a TLA+ module into it"))?;
    let own = file.with_extension("cfg");
    let cfg_path = if own.is_file() { Some(own.as_path()) } else { shared.filter(|path| path.is_file()) };
    let cfg = cfg_path.map(|path| configuration(path, &module)).transpose()?;
    let spec = SpecText { name: module.name.clone(), local_modules: local_modules(file, &module), text };
    let file = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
    Ok(Target { file, spec, cfg })
}

/// A configuration without its properties, which are never used.
fn configuration(path: &Path, module: &Module) -> Result<Cfg, CaseError> {
    let text = files::read_text(path, files::MEDIUM)
        .map_err(|e| wrong(path, format!("cannot be read: {e}"), "make it a readable text file"))?;
    let remedy = || format!("correct it: it configures module {}", module.name);
    let cfg = Cfg::parse(&text).map_err(|d| wrong(path, d.to_string(), remedy()))?;
    let cfg = Cfg {
        invariants: Vec::new(),
        properties: Vec::new(),
        witnesses: Vec::new(),
        alias: None,
        postcondition: None,
        covers: std::collections::BTreeMap::new(),
        ..cfg
    };
    match check_cfg_names(module, &cfg).first() {
        Some(Diagnostic { message, .. }) => Err(wrong(path, message.clone(), remedy())),
        None => Ok(cfg),
    }
}

/// Every module below a folder, sorted.
fn modules(dir: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().flatten().map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|extension| extension == "tla")).collect()
}

/// A case of a suite by the name of its folder, or what is wrong with it.
pub(super) type Entry = (String, Result<Case, CaseError>);

/// The cases of a suite, in the order of their names.
pub fn load_suite(dir: &Path) -> Result<Vec<Entry>, CaseError> {
    let remedy = "give a folder of cases, each with docs/ and checklist.json, such as evals/";
    let entries = std::fs::read_dir(dir).map_err(|e| wrong(dir, format!("cannot be read: {e}"), remedy))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    folders.sort();
    if folders.is_empty() {
        return Err(wrong(dir, "holds no case", remedy));
    }
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, Case::load(&path))
    };
    Ok(folders.into_iter().map(named).collect())
}
