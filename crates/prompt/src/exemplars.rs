//! Reads exemplars: well-written modules that are shown to the model that formalizes. They are not parsed or checked here.

use std::path::{Path, PathBuf};

use tlaforge_files as files;

/// A module of the exemplar folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemplar {
    /// The module's file name without `.tla`.
    pub name: String,
    /// The text of the module.
    pub module: String,
    /// The text of its configuration, if it has one.
    pub cfg: Option<String>,
}

/// A folder of exemplars that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the exemplars: {path}: {source}")]
pub struct ExemplarsError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// Reads every `X.tla` of a folder, with `X.cfg` if it exists, sorted by name.
pub fn read_exemplars(dir: &Path) -> Result<Vec<Exemplar>, ExemplarsError> {
    let error = |path: &Path, source| ExemplarsError { path: path.to_owned(), source };
    let mut exemplars = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| error(dir, e))? {
        let path = entry.map_err(|e| error(dir, e))?.path();
        if path.extension().is_none_or(|e| e != "tla") {
            continue;
        }
        // Within the folder: a link in it could send any file of the user to a model.
        let module = files::read_text_within(dir, &path, files::SMALL).map_err(|e| error(&path, e))?;
        let cfg = match files::read_text_within(dir, &path.with_extension("cfg"), files::SMALL) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(error(&path.with_extension("cfg"), e)),
        };
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        exemplars.push(Exemplar { name, module, cfg });
    }
    exemplars.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(exemplars)
}
