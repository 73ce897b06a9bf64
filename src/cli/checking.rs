//! A specification that is to be checked, and the exit status of what a check found: for `check` and `test`.

use std::path::{Path, PathBuf};

use super::failure::{Fails, Failure};
use super::outcome_text::CheckedFiles;
use super::run_place::RunPlace;
use super::spec_files::read_spec;
use super::tool_args::ToolArgs;
use crate::exit::Exit;
use crate::files::check_below;
use crate::report::{CheckedSource, Findings, check_findings};
use crate::shell::shell_word;
use crate::tla::semantic::is_standard_module;
use crate::tla::{Bounds, Cfg, CheckOutcome, Diagnostic, Module, Reached, Stage, Verdict, has_no_behaviour};
use crate::toolchain::{
    CheckReport, Detail, Examination, LastStage, Libraries, SpecText, ToolContext, ToolError, Toolchain,
    TranslationMode, examine, local_modules, missing_modules,
};

/// A module and its configuration, as read from their files, with the modules that it needs.
#[derive(Clone)]
pub(super) struct LoadedSpec {
    pub path: PathBuf,
    pub module: Module,
    pub spec: SpecText,
    pub cfg_path: PathBuf,
    pub cfg_text: String,
    pub libraries: Libraries,
}

impl LoadedSpec {
    /// Without `config`, the configuration is the .cfg file with the name of the module, in the same folder.
    pub(super) fn read(path: &Path, config: Option<&Path>, libraries: &Libraries) -> Result<Self, Failure> {
        let text = read_spec(path)?;
        let module = Module::parse(&text)
            .map_err(|e| Failure::usage(format!("{}: {e}", path.display())).hint("give a file with a TLA+ module"))?;
        let cfg_path = config_path(path, config);
        let cfg_text = read_spec(&cfg_path).map_err(|f| f.hint("name the configuration with --config FILE"))?;
        let local_modules = local_modules(path, &module, libraries).fails(Exit::Usage)?;
        let spec = SpecText { name: module.name.clone(), local_modules, text };
        Ok(Self { path: path.to_owned(), module, spec, cfg_path, cfg_text, libraries: libraries.clone() })
    }

    /// Reads a module, or the specification of a run. The second result is the folder of the run.
    pub(super) fn read_with_run(
        path: &Path,
        config: Option<&Path>,
        libraries: &Libraries,
    ) -> Result<(Self, Option<PathBuf>), Failure> {
        if !path.is_dir() {
            return Ok((Self::read(path, config, libraries)?, None));
        }
        let place = RunPlace::find_existing(path)?;
        let folder = place.folder();
        let module = folder.join("Spec.tla");
        if !module.exists() {
            let why = format!("{} has no Spec.tla: no revision of the run was checked so far", path.display());
            return Err(Failure::usage(why));
        }
        // The folder may come from elsewhere.
        for name in ["Spec.tla", "Spec.cfg"] {
            check_below(folder, &folder.join(name)).fails(Exit::Usage)?;
        }
        Ok((Self::read(&module, config, libraries)?, Some(folder.to_owned())))
    }

    /// The configuration, which has to name a behaviour.
    pub(super) fn behaviour_cfg(&self) -> Result<Cfg, Failure> {
        let wrong = |what: &str| Failure::usage(format!("{}: {what}", self.cfg_path.display()));
        let cfg = Cfg::parse(&self.cfg_text).map_err(|error| wrong(&error.to_string()))?;
        if cfg.gives_no_behaviour() {
            return Err(wrong("it names neither SPECIFICATION nor INIT and NEXT, so there is no behaviour"));
        }
        Ok(cfg)
    }

    pub(super) fn files(&self) -> CheckedFiles {
        CheckedFiles::new(&self.path, &self.spec, &self.cfg_path, &self.cfg_text, &self.libraries)
    }

    pub(super) fn findings(&self, outcome: &CheckOutcome) -> Findings {
        let files = self.files();
        let source = CheckedSource {
            spec: &self.path.display().to_string(),
            text: &self.spec.text,
            cfg: &self.cfg_path.display().to_string(),
            cfg_text: &self.cfg_text,
            modules: &files.module_files(),
            place: &|diagnostic| files.file_line(diagnostic),
        };
        check_findings(&source, outcome)
    }

    /// If the check failed because modules are missing: where they were looked for.
    pub(super) fn missing_modules_note(&self, outcome: &CheckOutcome) -> Option<String> {
        let Verdict::Invalid { reason, diagnostics, .. } = &outcome.verdict else { return None };
        let messages = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str());
        let messages: Vec<&str> = messages.chain([reason.as_str()]).collect();
        missing_modules_note(&self.path, &self.spec, &self.libraries, &messages.join("\n"))
    }

    /// Translates, parses and checks it.
    pub(super) async fn examine(
        &self,
        tools: &dyn Toolchain,
        mode: TranslationMode,
        cx: &ToolContext<'_>,
    ) -> Result<Examination, ToolError> {
        let Some(diagnostic) = check_module_name(&self.path, &self.spec) else {
            return examine(tools, self.spec.clone(), self.cfg_text.clone(), mode, Detail::Explained, cx).await;
        };
        let outcome = CheckOutcome::rejected(tools.checker(), Bounds::default(), vec![diagnostic]);
        let checked = CheckReport { outcome, output: String::new(), second_outcome: None };
        let last_stage = LastStage::Configuration;
        Ok(Examination { checked, last_stage, algorithm: false, spec: self.spec.clone() })
    }
}

/// The modules that are missing, where they were looked for, and how to name another place. `why` is the error: some jars of
/// the tools have `Json`, which is missing only if the error names it.
pub(super) fn missing_modules_note(path: &Path, spec: &SpecText, libraries: &Libraries, why: &str) -> Option<String> {
    let mut missing = missing_modules(spec);
    missing.retain(|name| !is_standard_module(name) || why.contains(name.as_str()));
    if missing.is_empty() {
        return None;
    }
    let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let searched: Vec<String> = std::iter::once(beside).chain(libraries.paths()).map(shell_word).collect();
    Some(format!(
        "not found: {} (searched: {}); add their folder or jar with --library DIR|JAR",
        missing.iter().map(|name| format!("{name}.tla")).collect::<Vec<_>>().join(", "),
        searched.join(", ")
    ))
}

/// The arguments of a suggested command that name the same specification with its configuration and libraries.
pub(super) fn specification_arguments(spec: &Path, config: Option<&Path>, tools: &ToolArgs) -> String {
    let config = config.map(|path| format!(" --config {}", shell_word(path))).unwrap_or_default();
    let libraries = tools.library.iter().map(|path| format!(" --library {}", shell_word(path)));
    format!("{}{config}{}", shell_word(spec), libraries.collect::<String>())
}

/// The configuration that was named, or the .cfg file with the name of the module in the same folder.
pub(super) fn config_path(spec: &Path, config: Option<&Path>) -> PathBuf {
    config.map_or_else(|| spec.with_extension("cfg"), Path::to_owned)
}

/// The exit status of a check that found this.
pub(super) fn exit_status(outcome: &CheckOutcome) -> Exit {
    let reached = |wanted: fn(&Reached) -> bool| outcome.witnesses.iter().any(|w| wanted(&w.reached));
    match outcome.verdict {
        // The properties hold, but a witness is unreachable (negative) or undecided.
        Verdict::Holds if reached(|r| matches!(r, Reached::No)) => Exit::Negative,
        Verdict::Holds if has_no_behaviour(outcome) => Exit::Negative,
        Verdict::Holds if reached(|r| matches!(r, Reached::Unknown(_))) => Exit::Undecided,
        Verdict::Holds => Exit::Ok,
        Verdict::Violated { .. } | Verdict::Invalid { .. } => Exit::Negative,
        Verdict::Inconclusive { .. } => Exit::Undecided,
    }
}

/// Reports a module whose file has another name: no module could extend it, and SANY does not accept it.
fn check_module_name(path: &Path, spec: &SpecText) -> Option<Diagnostic> {
    let stem = path.file_stem().filter(|_| path.extension().is_some_and(|extension| extension == "tla"))?;
    let stem = stem.to_string_lossy();
    let line = spec.text.lines().position(|line| line.contains("MODULE"))?;
    let (before, rest) = spec.text.lines().nth(line)?.split_once("MODULE")?;
    let column = before.chars().count() + "MODULE".len() + rest.len() - rest.trim_start().len() + 1;
    (stem != spec.name).then(|| Diagnostic {
        stage: Stage::Lint,
        line: line + 1,
        column,
        message: format!(
            "the module is named {} and its file {}.tla: they must be the same",
            spec.name,
            stem.escape_debug()
        ),
    })
}
