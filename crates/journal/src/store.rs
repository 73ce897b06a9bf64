//! The artifact store: texts named by the SHA-256 of their content. A stored artifact is never rewritten.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::replica::{Replica, ReplicaError};
use tlaforge_files::{self as files, Sha, write_atomically};

/// Why an artifact could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The shared store did not take an artifact.
    #[error(transparent)]
    Replica(#[from] ReplicaError),
    #[error("{what} {path}: {source}")]
    Io {
        /// The operation, as in `read PATH`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The content no longer has the SHA-256 in its name.
    #[error("artifact {path} was altered: its content no longer has the SHA-256 in its name")]
    Altered { path: PathBuf },
    #[error("artifact {path} is not UTF-8 text")]
    NotText { path: PathBuf },
}

/// The folder `artifacts/` of a run.
#[derive(Debug, Clone)]
pub struct ArtifactStore {
    dir: PathBuf,
    replica: Option<Arc<dyn Replica>>,
}

impl ArtifactStore {
    /// Opens the store, and creates its folder if needed.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        // The folder of the run may have come from elsewhere, with a link in it.
        files::create_folder_below(folder_of(dir), dir).map_err(|source| StoreError::Io {
            what: "create the folder",
            path: dir.to_owned(),
            source,
        })?;
        Ok(Self { dir: dir.to_owned(), replica: None })
    }

    /// Every artifact also goes to `replica`, and there first.
    #[must_use]
    pub fn replicated(self, replica: Option<Arc<dyn Replica>>) -> Self {
        Self { replica, ..self }
    }

    /// The path of an artifact.
    pub fn path(&self, sha: &Sha) -> PathBuf {
        self.dir.join(sha.as_str())
    }

    /// Stores bytes durably and returns their name. Storing the same bytes again writes nothing.
    pub fn put(&self, bytes: impl AsRef<[u8]>) -> Result<Sha, StoreError> {
        let bytes = bytes.as_ref();
        let sha = Sha::digest(bytes);
        let path = self.path(&sha);
        // On some file systems a crash can leave a name without content, so the length is checked as well.
        if std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file() && m.len() == bytes.len() as u64) {
            return Ok(sha);
        }
        if let Some(replica) = &self.replica {
            replica.put_artifact(&sha, bytes)?;
        }
        write_atomically(&path, bytes).map_err(|source| StoreError::Io { what: "store", path, source })?;
        Ok(sha)
    }

    /// Reads an artifact and checks its content against its name.
    pub fn get(&self, sha: &Sha) -> Result<Vec<u8>, StoreError> {
        let path = self.path(sha);
        let bytes = files::read_below(folder_of(&self.dir), &path, files::LARGE).map_err(|source| StoreError::Io {
            what: "read",
            path: path.clone(),
            source,
        })?;
        if Sha::digest(&bytes) == *sha { Ok(bytes) } else { Err(StoreError::Altered { path }) }
    }

    /// Reads an artifact that must be UTF-8 text.
    pub fn text(&self, sha: &Sha) -> Result<String, StoreError> {
        String::from_utf8(self.get(sha)?).map_err(|_| StoreError::NotText { path: self.path(sha) })
    }
}

/// The folder that the folder of the artifacts is in.
fn folder_of(dir: &Path) -> &Path {
    dir.parent().unwrap_or(Path::new(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_altered_artifact_is_never_read_as_the_original() {
        let dir = tempfile::tempdir().unwrap();
        let store = ArtifactStore::open(&dir.path().join("artifacts")).unwrap();
        let sha = store.put("hello").unwrap();
        assert_eq!(sha.as_str(), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        assert_eq!(store.text(&sha).unwrap(), "hello");
        std::fs::write(store.path(&sha), "hullo").unwrap();
        assert!(matches!(store.get(&sha), Err(StoreError::Altered { .. })));
        std::fs::write(store.path(&sha), "").unwrap();
        store.put("hello").unwrap();
        assert_eq!(store.text(&sha).unwrap(), "hello");
    }
}
