//! The artifact store: texts named by the SHA-256 of their content. A stored artifact is never rewritten.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files;

/// The SHA-256 of a content, as 64 lower-case hexadecimal digits. It is also the name of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Sha(String);

impl Sha {
    /// The SHA-256 of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        use fmt::Write as _;
        let digest = Sha256::digest(bytes.as_ref());
        let mut name = String::with_capacity(64);
        for byte in digest {
            let _ = write!(name, "{byte:02x}");
        }
        Self(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why an artifact could not be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file operation failed.
    #[error("{what} {path}: {source}")]
    Io {
        /// The operation.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The content no longer has the SHA-256 in its name.
    #[error("artifact {path} was altered: its content no longer has the SHA-256 in its name")]
    Altered { path: PathBuf },
    /// It is not text.
    #[error("artifact {path} is not UTF-8 text")]
    NotText { path: PathBuf },
}

/// The folder `artifacts/` of a run.
#[derive(Debug, Clone)]
pub struct ArtifactStore {
    dir: PathBuf,
}

impl ArtifactStore {
    /// Opens the store, and creates its folder if needed.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(dir).map_err(|source| StoreError::Io {
            what: "create the folder",
            path: dir.to_owned(),
            source,
        })?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// The path of an artifact.
    pub fn path(&self, sha: &Sha) -> PathBuf {
        self.dir.join(sha.as_str())
    }

    /// Stores bytes durably and returns their name. Storing the same bytes again writes nothing.
    pub fn put(&self, bytes: impl AsRef<[u8]>) -> Result<Sha, StoreError> {
        let bytes = bytes.as_ref();
        let sha = Sha::of(bytes);
        let path = self.path(&sha);
        // On some file systems a crash can leave a name without content, so the length is checked as well.
        if std::fs::metadata(&path).is_ok_and(|m| m.len() == bytes.len() as u64) {
            return Ok(sha);
        }
        write_atomically(&path, bytes).map_err(|source| StoreError::Io { what: "store", path, source })?;
        Ok(sha)
    }

    /// Reads an artifact and checks its content against its name.
    pub fn get(&self, sha: &Sha) -> Result<Vec<u8>, StoreError> {
        let path = self.path(sha);
        let bytes = files::read(&path, files::LARGE).map_err(|source| StoreError::Io {
            what: "read",
            path: path.clone(),
            source,
        })?;
        if Sha::of(&bytes) == *sha { Ok(bytes) } else { Err(StoreError::Altered { path }) }
    }

    /// Reads a text artifact.
    pub fn text(&self, sha: &Sha) -> Result<String, StoreError> {
        String::from_utf8(self.get(sha)?).map_err(|_| StoreError::NotText { path: self.path(sha) })
    }
}

/// Writes a file under a temporary name in the same folder, syncs it to the disk and renames it, so that a crash leaves
/// either the old or the new content.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().ok_or_else(|| std::io::Error::other("no parent folder"))?;
    // The rename would replace a device or a named pipe by a file.
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|e| e.error)?;
    // The rename is durable only after its folder is synced.
    File::open(dir)?.sync_all()
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
