//! Answers with labels that were paid for, kept in a folder: a file for each request, under the name of who was asked and
//! what. It is durable before the answer is read.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::journal::{Sha, write_atomically};
use crate::llm::{Request, Usage};

/// An answer, and what it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// Version of the format.
    pub v: u32,
    /// Who answered.
    pub by: String,
    /// The beginning of the step, for people.
    pub step: String,
    /// Tokens, where they were counted.
    pub usage: Option<Usage>,
    /// US dollars, where they are known.
    pub cost_usd: Option<f64>,
    /// The answer as it came.
    pub answer: String,
}

/// Why an answer cannot be kept or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The operating system refused.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file that is not as it was written.
    #[error("{path} is no label that was kept: {why}; take it out, and its step is asked again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// A folder of answers.
#[derive(Debug, Clone)]
pub struct LabelCache {
    dir: PathBuf,
}

impl LabelCache {
    /// The folder, which is made where it is not there.
    pub fn open(dir: &Path) -> Result<Self, CacheError> {
        let io = |source| CacheError::Io { what: "cannot create the folder", path: dir.to_owned(), source };
        std::fs::create_dir_all(dir).map_err(io)?;
        let dir = std::path::absolute(dir).map_err(io)?;
        Ok(Self { dir })
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The name of an answer: of who is asked, by provider and model, and of role and prompt word for word, in which the
    /// propositions with their words stand, and the step's text.
    pub fn name(provider: &str, request: &Request) -> Sha {
        let model = request.choice.model.as_deref().unwrap_or_default();
        Sha::of(format!("{provider}\n{model}\n{}", request.wording()))
    }

    /// The answer of this name, if there is one.
    pub fn get(&self, name: &Sha) -> Result<Option<KeptAnswer>, CacheError> {
        let path = self.path(name);
        let text = match files::read_text(&path, files::MEDIUM) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CacheError::Io { what: "cannot read", path, source }),
        };
        match serde_json::from_str::<KeptAnswer>(&text) {
            Ok(kept) if kept.v == 1 => Ok(Some(kept)),
            Ok(kept) => Err(CacheError::Damaged { path, why: format!("format version {} is not 1", kept.v) }),
            Err(e) => Err(CacheError::Damaged { path, why: e.to_string() }),
        }
    }

    /// Keeps an answer, durably.
    pub fn keep(&self, name: &Sha, kept: &KeptAnswer) -> Result<(), CacheError> {
        let path = self.path(name);
        let text = serde_json::to_string(kept).expect("plain data with string keys") + "\n";
        write_atomically(&path, text.as_bytes()).map_err(|source| CacheError::Io { what: "cannot write", path, source })
    }

    fn path(&self, name: &Sha) -> PathBuf {
        self.dir.join(format!("{name}.json"))
    }
}
