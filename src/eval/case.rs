//! Loads an evaluation case from disk, and validates all of it before anything runs. Runs no tool.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::files;
use crate::pipeline::{Interface, Name};
use crate::shell::shell_word;
use crate::tla::{Cfg, DEADLOCK, Diagnostic, Module, check_cfg_names};
use crate::toolchain::{Libraries, SpecText, local_modules};

#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", file.display())]
pub struct CaseError {
    pub file: PathBuf,
    pub what: String,
    pub remedy: String,
}

fn case_error(file: &Path, what: impl Into<String>, remedy: impl Into<String>) -> CaseError {
    CaseError { file: file.to_owned(), what: what.into(), remedy: remedy.into() }
}

/// A property that a good specification should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecklistProperty {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// `type_safety`, `safety`, `liveness`, …
    #[serde(default)]
    pub category: String,
}

/// The limits of every check of the case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Constraints {
    /// Maximum number of distinct states.
    #[serde(default)]
    pub max_states: Option<u64>,
    /// Time limit of one run of the checker in seconds.
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
    #[serde(default)]
    pub required_invariants: Vec<ChecklistProperty>,
    #[serde(default)]
    pub optional_invariants: Vec<ChecklistProperty>,
    #[serde(default)]
    known_bugs: Vec<ListedBug>,
    #[serde(default)]
    pub tlc_constraints: Constraints,
    /// Names that the specification must use.
    #[serde(default)]
    pub interface: Interface,
    /// The single concern of the specification.
    #[serde(default)]
    pub concern: Option<String>,
    /// How a good run ends, if not with an approval.
    #[serde(default)]
    pub expected_outcome: Option<Expected>,
}

#[derive(Debug, Clone, Deserialize)]
struct ListedBug {
    file: String,
    #[serde(default)]
    description: String,
    should_violate: String,
}

/// A module that properties are carried over to: a known bug or a reference.
#[derive(Debug, Clone)]
pub struct Target {
    /// File, relative to the case.
    pub file: String,
    /// Text of the module; it is checked in a file with the name of the module.
    pub spec: SpecText,
    /// Configuration without properties; `None` to use the constants of the generated configuration.
    pub cfg: Option<Cfg>,
}

/// A known bug: a hand-written faulty version of the specification.
#[derive(Debug, Clone)]
pub struct Bug {
    pub target: Target,
    /// What is wrong with it.
    pub description: String,
    /// The property of the checklist that the bug violates, or `Deadlock`.
    pub should_violate: String,
    /// Whether `should_violate` is a liveness property.
    pub breaks_liveness: bool,
}

#[derive(Debug, Clone)]
pub struct Case {
    /// Name of the case folder.
    pub name: String,
    pub root: PathBuf,
    pub checklist: Checklist,
    pub bugs: Vec<Bug>,
    /// Correct specifications of the protocol, which no property may reject.
    pub references: Vec<Target>,
    pub recording: Option<PathBuf>,
}

impl Checklist {
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Reads the checklist of a case folder.
    pub fn read(root: &Path) -> Result<Self, CaseError> {
        let path = root.join("checklist.json");
        let text = files::read_text_within(root, &path, files::SMALL).map_err(|e| {
            case_error(
                &path,
                format!("cannot be read: {e}"),
                "name a folder with docs/ and checklist.json (see evals/README.md)",
            )
        })?;
        Self::parse(&text)
            .map_err(|e| case_error(&path, e.to_string(), "correct it: evals/README.md describes the format"))
    }

    pub fn property(&self, name: &str) -> Option<&ChecklistProperty> {
        self.required_invariants.iter().chain(&self.optional_invariants).find(|wanted| wanted.name == name)
    }

    /// Whether the property with this name is a type invariant.
    pub fn is_type_invariant(&self, name: &str) -> bool {
        name == "TypeOK" || self.property(name).is_some_and(|wanted| wanted.category == "type_safety")
    }

    /// Whether the documented protocol is known to violate its own requirements.
    pub fn expects_flaw(&self) -> bool {
        self.expected_outcome.as_ref().is_some_and(|expected| expected.outcome == "flaw_found")
    }
}

impl Constraints {
    /// Time limit of one run of the checker.
    pub fn time_limit(&self) -> Option<Duration> {
        self.max_time_seconds.map(Duration::from_secs)
    }
}

impl Case {
    /// The names of its documents, relative to `docs/`.
    pub fn documents(&self) -> Vec<String> {
        document_names(&self.root.join("docs")).collect()
    }

    pub fn load(root: &Path) -> Result<Self, CaseError> {
        if !root.is_dir() {
            return Err(case_error(
                root,
                "the folder does not exist",
                "name the folder of a case, such as evals/uniswap_swap",
            ));
        }
        let checklist = Checklist::read(root)?;
        let docs = root.join("docs");
        if document_names(&docs).next().is_none() {
            return Err(case_error(&docs, "contains no document", "add the documents of the protocol there"));
        }
        let path = root.join("checklist.json");
        let mut bugs = Vec::new();
        for listed in &checklist.known_bugs {
            let ListedBug { file, description, should_violate } = listed;
            let at = root.join(file);
            // A case may come from another person, and its files go into reports.
            if !Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
                let what = format!("the known bug {file} is not in the case's folder");
                return Err(case_error(&path, what, "move it into known_bugs/ of the case"));
            }
            // It would count twice in the detection rate.
            if checklist.known_bugs.iter().filter(|other| other.file == *file).count() > 1 {
                return Err(case_error(&path, format!("the known bug {file} is listed twice"), "list it once"));
            }
            if !at.is_file() {
                let remedy = format!("correct \"file\" in {}, or add the file", path.display());
                return Err(case_error(&at, "does not exist, but is listed as a known bug", remedy));
            }
            let known = should_violate == DEADLOCK || checklist.property(should_violate).is_some();
            if !known {
                let what = format!("{file} should violate {should_violate}, which is not among the invariants");
                return Err(case_error(&path, what, format!("list {should_violate} there, or write \"Deadlock\"")));
            }
            let shared = root.join("known_bugs/Spec.cfg");
            let category = checklist.property(should_violate).map(|wanted| wanted.category.as_str());
            bugs.push(Bug {
                target: load_target(root, &at, Some(&shared))?,
                description: description.clone(),
                should_violate: should_violate.clone(),
                breaks_liveness: category == Some("liveness"),
            });
        }
        let violates = checklist.expected_outcome.as_ref().and_then(|expected| expected.violates.as_deref());
        if let Some(name) = violates.filter(|name| *name != DEADLOCK && checklist.property(name).is_none()) {
            let what = format!("a good run should violate {name}, which is not among the invariants");
            return Err(case_error(&path, what, format!("list {name} there, or write \"Deadlock\"")));
        }
        let mut references = Vec::new();
        for file in list_modules(&root.join("expected")) {
            // A module without a configuration is a dependency of another module.
            if file.with_extension("cfg").is_file() {
                references.push(load_target(root, &file, None)?);
            }
        }
        let recording = Some(root.join("recording/run.jsonl")).filter(|path| path.is_file());
        // `.` has no file name.
        let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let name =
            absolute.file_name().map_or_else(|| checklist.name.clone(), |name| name.to_string_lossy().into_owned());
        Ok(Self { name, root: root.to_owned(), checklist, bugs, references, recording })
    }

    /// Advice for the case that no property could be carried over to any known bug.
    pub fn interface_advice(&self) -> String {
        let interface = &self.checklist.interface;
        let names = interface.constants.iter().chain(&interface.variables).map(Name::name);
        let names: Vec<&str> = names.collect();
        let names = if names.is_empty() { "it lists none".to_owned() } else { names.join(", ") };
        format!(
            "no property could be carried over to any known bug, so there is no detection rate: evaluate the \
             specification against a case of its own protocol, or use the names of the case's interface: {names} \
             (tlaforge run --case {} requires them)",
            shell_word(&self.root)
        )
    }

    /// Notes about missing parts of the case.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let path = self.root.join("checklist.json");
        if self.bugs.is_empty() {
            remarks.push(format!(
                "{}: no known bugs are listed, so there is no overall score: add modules to known_bugs/ and list them",
                path.display()
            ));
        }
        if self.references.is_empty() && !self.bugs.is_empty() {
            remarks.push(format!(
                "{}: no reference with a configuration, so generated properties are not checked on a correct \
                 specification: add one (X.tla with X.cfg)",
                self.root.join("expected").display()
            ));
        }
        remarks
    }
}

/// The documents below a folder by their relative names, sorted.
fn document_names(docs: &Path) -> impl Iterator<Item = String> {
    let files = walkdir::WalkDir::new(docs).sort_by_file_name().into_iter().flatten();
    let name =
        move |entry: walkdir::DirEntry| Some(entry.path().strip_prefix(docs).ok()?.to_string_lossy().into_owned());
    files.filter(|entry| entry.file_type().is_file()).filter_map(name)
}

fn load_target(root: &Path, file: &Path, shared: Option<&Path>) -> Result<Target, CaseError> {
    let text = files::read_text(file, files::MEDIUM)
        .map_err(|e| case_error(file, format!("cannot be read: {e}"), "it must be a readable text file"))?;
    let module = Module::parse(&text).map_err(|e| case_error(file, e.to_string(), "write a TLA+ module into it"))?;
    let own = file.with_extension("cfg");
    let cfg_path = if own.is_file() { Some(own.as_path()) } else { shared.filter(|path| path.is_file()) };
    let cfg = cfg_path.map(|path| load_cfg_without_properties(path, &module)).transpose()?;
    let spec = SpecText {
        name: module.name.clone(),
        local_modules: local_modules(file, &module, &Libraries::default()),
        text,
    };
    let file = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
    Ok(Target { file, spec, cfg })
}

/// Loads a configuration and drops its properties: only generated properties are checked.
fn load_cfg_without_properties(path: &Path, module: &Module) -> Result<Cfg, CaseError> {
    let text = files::read_text(path, files::MEDIUM)
        .map_err(|e| case_error(path, format!("cannot be read: {e}"), "it must be a readable text file"))?;
    let remedy = || format!("correct it: it configures module {}", module.name);
    let cfg = Cfg::parse(&text).map_err(|d| case_error(path, d.to_string(), remedy()))?;
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
        Some(Diagnostic { message, .. }) => Err(case_error(path, message.clone(), remedy())),
        None => Ok(cfg),
    }
}

/// Every module below a folder, sorted by name.
fn list_modules(dir: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().flatten().map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|extension| extension == "tla")).collect()
}

/// A case of a suite by folder name, or the error of loading it.
pub type SuiteEntry = (String, Result<Case, CaseError>);

/// Loads the cases of a suite, sorted by name.
pub fn load_suite(dir: &Path) -> Result<Vec<SuiteEntry>, CaseError> {
    let remedy = "name a folder of cases, each with docs/ and checklist.json, such as evals/";
    let entries = std::fs::read_dir(dir).map_err(|e| case_error(dir, format!("cannot be read: {e}"), remedy))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    folders.sort();
    if folders.is_empty() {
        return Err(case_error(dir, "contains no case", remedy));
    }
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The error of one case must not hide the results of the others.
        (name, Case::load(&path))
    };
    Ok(folders.into_iter().map(named).collect())
}
