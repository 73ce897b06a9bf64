//! Exemplars: well-written modules that are shown to the model that formalizes.

use std::path::{Path, PathBuf};

use crate::files;

/// One exemplar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemplar {
    /// The module's file name without ending.
    pub name: String,
    /// Its text.
    pub module: String,
    /// Its configuration, where there is one.
    pub cfg: Option<String>,
}

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the exemplars: {path}: {source}")]
pub struct ExemplarsError {
    /// What could not be read.
    pub path: PathBuf,
    /// Why not.
    pub source: std::io::Error,
}

/// Reads every `X.tla` of a folder, with `X.cfg` where it exists, sorted by name.
pub fn read_exemplars(dir: &Path) -> Result<Vec<Exemplar>, ExemplarsError> {
    let fail = |path: &Path, source| ExemplarsError { path: path.to_owned(), source };
    let mut exemplars = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| fail(dir, e))? {
        let path = entry.map_err(|e| fail(dir, e))?.path();
        if path.extension().is_none_or(|e| e != "tla") {
            continue;
        }
        let module = files::read_text_within(dir, &path, files::SMALL).map_err(|e| fail(&path, e))?;
        let cfg = match files::read_text_within(dir, &path.with_extension("cfg"), files::SMALL) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(fail(&path.with_extension("cfg"), e)),
        };
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        exemplars.push(Exemplar { name, module, cfg });
    }
    exemplars.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(exemplars)
}
