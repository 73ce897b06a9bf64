//! A folder with the answers of labelling requests, one file each, so that no request is paid for twice. The file name is
//! a hash of the provider, the model and the request.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use tlaforge_files as files;
use tlaforge_files::{Sha, write_atomically};
use tlaforge_llm::{Request, Usage};

/// A cached answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CachedAnswer {
    /// The version of the format: 1.
    pub v: u32,
    /// The model.
    pub by: String,
    /// The beginning of the step, for human readers.
    pub step: String,
    pub usage: Option<Usage>,
    /// US dollars; `None` if unknown.
    pub cost_usd: Option<f64>,
    /// The text of the answer, unchanged.
    pub answer: String,
}

/// Why an answer cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{path} is not a cached label: {why}; remove the file, and the step is labelled again")]
    Damaged { path: PathBuf, why: String },
}

#[derive(Debug, Clone)]
pub struct LabelCache {
    dir: PathBuf,
}

impl LabelCache {
    /// Opens the folder, and creates it if it does not exist.
    pub fn open(dir: &Path) -> Result<Self, CacheError> {
        let io = |source| CacheError::Io { what: "cannot create the folder", path: dir.to_owned(), source };
        std::fs::create_dir_all(dir).map_err(io)?;
        let dir = std::path::absolute(dir).map_err(io)?;
        Ok(Self { dir })
    }

    /// The absolute path of the folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The key of an answer: a hash of the provider, the model, and the role and prompt, which contain the propositions
    /// and the text of the step.
    pub fn key(provider: &str, request: &Request) -> Sha {
        let model = request.choice.model.as_deref().unwrap_or_default();
        Sha::digest(format!("{provider}\n{model}\n{}", request.wording()))
    }

    /// The answer with this key, if there is one.
    pub fn get(&self, key: &Sha) -> Result<Option<CachedAnswer>, CacheError> {
        let path = self.path(key);
        let text = match files::read_text_below(&self.dir, &path, files::MEDIUM) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CacheError::Io { what: "cannot read", path, source }),
        };
        match serde_json::from_str::<CachedAnswer>(&text) {
            Ok(answer) if answer.v == 1 => Ok(Some(answer)),
            Ok(answer) => Err(CacheError::Damaged { path, why: format!("format version {} is not 1", answer.v) }),
            Err(e) => Err(CacheError::Damaged { path, why: e.to_string() }),
        }
    }

    /// Stores an answer durably.
    pub fn put(&self, key: &Sha, answer: &CachedAnswer) -> Result<(), CacheError> {
        let path = self.path(key);
        let text = serde_json::to_string(answer).expect("plain data with string keys") + "\n";
        write_atomically(&path, text.as_bytes()).map_err(|source| CacheError::Io { what: "cannot write", path, source })
    }

    /// The file of an answer.
    pub fn path(&self, key: &Sha) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }
}
