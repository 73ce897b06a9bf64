//! The table of `forge-all`: sets of documents, models and settings, and the runs that are their product. Starts no run.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Table;

use super::failure::{Fails, Failure};
use super::provider::check_provider_name;
use super::secrets::refuse_secrets;
use super::trust::refuse_untrusted_file;
use crate::config::Layer;
use crate::exit::Exit;
use crate::files;

/// Names in the folder of all runs that are no runs.
pub(super) const RESULTS: &str = "results.jsonl";
const RESERVED: [&str; 5] = [RESULTS, "run.lock", "journal", "artifacts", "conditional-writes"];

/// One run of the product.
#[derive(Debug, Clone)]
pub(super) struct PlannedRun {
    /// Its name, and its folder below that of all runs: the names of model, settings and set, without those that the table
    /// does not distinguish. The set comes last, so that `eval --suite --runs` finds the runs of a model by their case.
    pub id: String,
    pub set: String,
    pub model: Option<String>,
    pub settings: Option<String>,
    pub source: RunSource,
    /// Its settings, of flags and table.
    pub layer: Layer,
}

#[derive(Debug, Clone)]
pub(super) enum RunSource {
    /// A document, or a folder of documents.
    Documents(PathBuf),
    /// An evaluation case.
    Case(PathBuf),
}

/// The file: `[[set]]`, `[[model]]` and `[[settings]]`, each with a name and with settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetsFile {
    #[serde(default)]
    set: Vec<Table>,
    #[serde(default)]
    model: Vec<Table>,
    #[serde(default)]
    settings: Vec<Table>,
}

struct Set {
    name: String,
    source: RunSource,
    layer: Layer,
}

struct Variant {
    name: String,
    layer: Layer,
}

/// The entries of a table.
struct SetsTable {
    sets: Vec<Set>,
    models: Vec<Variant>,
    settings: Vec<Variant>,
}

/// The runs of a table or of a folder of sets, in their order: by model, then settings, then set. `out` is the folder of all
/// runs, which may be below the folder of sets.
pub(super) fn plan_runs(path: &Path, out: &Path, flags: &Layer) -> Result<Vec<PlannedRun>, Failure> {
    let SetsTable { sets, models, settings } = if path.is_dir() {
        SetsTable { sets: sets_of_folder(path, out)?, models: Vec::new(), settings: Vec::new() }
    } else {
        read_table(path)?
    };
    let settings_file = Layer::from_file(Path::new(".")).fails(Exit::Usage)?;
    let mut runs: Vec<PlannedRun> = Vec::new();
    for model in optional(&models) {
        for variant in optional(&settings) {
            for set in &sets {
                let run = plan_run(path, set, model, variant, flags, settings_file.provider.as_deref())?;
                let writes_same_file =
                    |other: &&PlannedRun| run.layer.record.is_some() && other.layer.record == run.layer.record;
                if let Some(other) = runs.iter().find(writes_same_file) {
                    return Err(Failure::usage(format!("{} and {} would write the same recording", other.id, run.id))
                        .hint(
                            "--record needs {set}, {model} and {settings} in its name, as far as the table has them",
                        ));
                }
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

/// The variants, or none of them once.
fn optional(variants: &[Variant]) -> Vec<Option<&Variant>> {
    if variants.is_empty() { vec![None] } else { variants.iter().map(Some).collect() }
}

fn plan_run(
    path: &Path,
    set: &Set,
    model: Option<&Variant>,
    settings: Option<&Variant>,
    flags: &Layer,
    usual_provider: Option<&str>,
) -> Result<PlannedRun, Failure> {
    let name = |variant: Option<&Variant>| variant.map(|variant| variant.name.clone());
    let (model_name, settings_name) = (name(model), name(settings));
    let id = [&model_name, &settings_name].into_iter().flatten().chain([&set.name]);
    let id = id.map(String::as_str).collect::<Vec<_>>().join("/");
    let layer_of = |variant: Option<&Variant>| variant.map(|variant| variant.layer.clone()).unwrap_or_default();
    let fill_in = |layer: &mut Layer| {
        for path in [&mut layer.recording, &mut layer.record].into_iter().flatten() {
            let text = path.to_string_lossy().replace("{set}", &set.name);
            let text = text.replace("{model}", model_name.as_deref().unwrap_or_default());
            *path = PathBuf::from(text.replace("{settings}", settings_name.as_deref().unwrap_or_default()));
        }
    };
    let mut file = set.layer.clone().merge_over(layer_of(settings)).merge_over(layer_of(model));
    let mut given = flags.clone();
    fill_in(&mut file);
    fill_in(&mut given);
    let mut provider = given.provider.clone().or(file.provider.clone());
    if provider.is_none() && (given.recording.is_some() || file.recording.is_some()) {
        provider = Some("replay".to_owned());
    }
    // The table may come from another person, as the settings file. If the provider is chosen later, it can be either that
    // has a key.
    let named = provider.as_deref().or(usual_provider).filter(|name| *name != "auto");
    for provider in named.map_or(vec!["anthropic", "openai"], |name| vec![name]) {
        refuse_untrusted_file(&path.display().to_string(), &file, &given, provider)?;
    }
    let layer = Layer { provider, ..given.merge_over(file) };
    layer.provider.as_deref().map_or(Ok(()), check_provider_name)?;
    Ok(PlannedRun {
        id,
        set: set.name.clone(),
        model: model_name,
        settings: settings_name,
        source: set.source.clone(),
        layer,
    })
}

/// Each subfolder is a set; one with a checklist is a case. A subfolder that is, or contains, the folder of all runs is none.
fn sets_of_folder(folder: &Path, out: &Path) -> Result<Vec<Set>, Failure> {
    let entries = std::fs::read_dir(folder)
        .map_err(|e| Failure::usage(format!("cannot read {}: {e}", folder.display())).hint(USAGE))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let mut sets: Vec<Set> = Vec::new();
    for path in folders {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || contains(&path, out) {
            continue;
        }
        // A folder may come from another person, and the documents are sent to a model.
        if !files::is_within(folder, Path::new(&name)) {
            return Err(Failure::usage(format!("{} is a link that leads out of {}", path.display(), folder.display()))
                .hint("the documents of a set are sent to a model: replace the link by the folder, or remove it"));
        }
        check_name("set", &name, sets.iter().map(|set| set.name.as_str()))?;
        let is_case = path.join("checklist.json").is_file();
        let source = if is_case { RunSource::Case(path) } else { RunSource::Documents(path) };
        sets.push(Set { name, source, layer: Layer::default() });
    }
    if sets.is_empty() {
        return Err(Failure::usage(format!("{} has no subfolder with documents", folder.display())).hint(USAGE));
    }
    Ok(sets)
}

const USAGE: &str = "name a folder with a subfolder for each set of documents, or a table (.toml) with [[set]]; for the documents \
                   of one run: tlaforge run DOCS";

fn read_table(path: &Path) -> Result<SetsTable, Failure> {
    let shown = path.display().to_string();
    let text = files::read_text(path, files::SMALL)
        .map_err(|e| Failure::usage(format!("cannot read {shown}: {e}")).hint(USAGE))?;
    // Before anything of the table can appear in a message or a file.
    refuse_secrets(&shown, &text)?;
    let wrong =
        |what: String| Failure::usage(format!("{shown}: {what}")).hint("its format is in docs/src/forge-all.md");
    let file: SetsFile = toml::from_str(&text).map_err(|e| wrong(e.message().trim().to_owned()))?;
    let root = path.parent().unwrap_or(Path::new(""));
    // An empty root is the working folder.
    let folder = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    if file.set.is_empty() {
        return Err(wrong("it has no [[set]]".to_owned()));
    }
    let mut sets: Vec<Set> = Vec::new();
    for (at, mut table) in file.set.into_iter().enumerate() {
        let place = format!("[[set]] number {}", at + 1);
        let name = take_text(&mut table, "name", &place).map_err(wrong)?;
        let docs = take_text(&mut table, "docs", &place).map_err(wrong)?;
        let case = take_text(&mut table, "case", &place).map_err(wrong)?;
        let (named, is_case) = match (docs, case) {
            (Some(docs), None) => (docs, false),
            (None, Some(case)) => (case, true),
            _ => return Err(wrong(format!("{place} needs either docs or case"))),
        };
        let from = root.join(&named);
        // Documents that do not exist are an error of their run.
        let is_allowed = files::is_within(folder, Path::new(&named)) || files::is_within(Path::new("."), &from);
        if from.exists() && !is_allowed {
            return Err(wrong(format!("{place} names documents outside of this folder: {}", from.display()))
                .hint("its documents are sent to a model: run the command in a folder that contains them"));
        }
        let stem = from.file_stem().filter(|_| from.is_file()).or(from.file_name());
        let name = name.or_else(|| stem.map(|stem| stem.to_string_lossy().into_owned())).unwrap_or_default();
        check_name("set", &name, sets.iter().map(|set| set.name.as_str()))?;
        let source = if is_case { RunSource::Case(from) } else { RunSource::Documents(from) };
        sets.push(Set { name, source, layer: read_layer(table, &place, root).map_err(wrong)? });
    }
    let variants = |tables: Vec<Table>, kind: &str| -> Result<Vec<Variant>, Failure> {
        let mut variants: Vec<Variant> = Vec::new();
        for (at, mut table) in tables.into_iter().enumerate() {
            let place = format!("[[{kind}]] number {}", at + 1);
            let name = take_text(&mut table, "name", &place).map_err(wrong)?;
            let layer = read_layer(table, &place, root).map_err(wrong)?;
            let name = name.or_else(|| layer.model.clone()).unwrap_or_default();
            check_name(kind, &name, variants.iter().map(|variant| variant.name.as_str()))?;
            variants.push(Variant { name, layer });
        }
        Ok(variants)
    };
    Ok(SetsTable { sets, models: variants(file.model, "model")?, settings: variants(file.settings, "settings")? })
}

fn take_text(table: &mut Table, key: &str, place: &str) -> Result<Option<String>, String> {
    match table.remove(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(format!("{place}: {key} must be a text")),
    }
}

/// Whether `inner`, which need not exist, is `outer` or below it.
fn contains(outer: &Path, inner: &Path) -> bool {
    let inner = std::path::absolute(inner).unwrap_or_else(|_| inner.to_owned());
    let existing = inner.ancestors().find_map(|folder| folder.canonicalize().ok());
    outer.canonicalize().is_ok_and(|outer| existing.is_some_and(|existing| existing.starts_with(outer)))
}

/// The settings of an entry, with its paths relative to the file.
fn read_layer(table: Table, place: &str, root: &Path) -> Result<Layer, String> {
    let mut layer = Layer::from_table(table).map_err(|what| format!("{place}: {what}"))?;
    let paths = [
        &mut layer.recording,
        &mut layer.record,
        &mut layer.prompts,
        &mut layer.exemplars,
        &mut layer.prices,
        &mut layer.claude_path,
        &mut layer.tla_tools,
    ];
    for path in paths.into_iter().flatten().chain(&mut layer.library) {
        *path = root.join(&*path);
    }
    Ok(layer)
}

/// A name becomes a folder, and is what a later call finds the run by.
fn check_name<'a>(kind: &str, name: &str, mut others: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let is_usual = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || name.len() > 100 || !name.chars().all(is_usual) || name.starts_with(['.', '-']) {
        return Err(Failure::usage(format!("{name:?} cannot be the name of a {kind}: it names a folder"))
            .hint("set `name` to letters, digits, `_`, `-` and `.`, for example name = \"small\""));
    }
    if RESERVED.contains(&name) {
        return Err(Failure::usage(format!("{name:?} cannot be the name of a {kind}: it names a file of forge-all"))
            .hint("set another `name`"));
    }
    // Some file systems do not distinguish upper and lower case.
    match others.find(|other| other.eq_ignore_ascii_case(name)) {
        Some(other) => Err(Failure::usage(format!("two {kind} entries are called {other:?} and {name:?}"))
            .hint("set `name` to something else in one of them: each run needs a folder of its own")),
        None => Ok(()),
    }
}

/// Whether a run has the same documents and the same settings as planned, as far as these decide its outcome.
pub(super) fn find_other_setting(planned: &Layer, recorded: &serde_json::Value) -> Result<Option<String>, Failure> {
    /// Settings without which a run is another run. Limits, tools and servers are not among them.
    const DECIDING_SETTINGS: [&str; 22] = [
        "provider",
        "model",
        "recording",
        "effort",
        "temperature",
        "max_output",
        "nodes",
        "prompts",
        "exemplars",
        "concern",
        "module",
        "normative_words",
        "draft",
        "candidates",
        "max_revisions",
        "repair",
        "strengthen",
        "mutants",
        "blind_reading",
        "contracts",
        "min_score",
        "bounds_budget",
    ];
    let planned = serde_json::to_value(planned).fails(Exit::Defect)?;
    // Without a provider in the table, the first call chooses one, and the journal keeps it.
    let is_chosen = |key: &str| key == "provider" && (planned[key].is_null() || planned[key] == "auto");
    let other = DECIDING_SETTINGS.into_iter().filter(|key| !is_chosen(key)).find(|key| planned[*key] != recorded[*key]);
    Ok(other.map(|key| format!("{key} was {} and is {}", recorded[key], planned[key])))
}
