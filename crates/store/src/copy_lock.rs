//! The lock of a working copy, and the files beside it.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tlaforge_files as files;

use super::error::SharedStoreError;

pub(crate) const LOCK: &str = "working-copy.lock";

/// A hidden name beside a working copy, which may have siblings with names of any kind.
pub(crate) fn beside(folder: &Path, what: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.{what}"))
}

/// The lock of a working copy, when no other process has it.
pub(crate) fn lock_working_copy(folder: &Path) -> Result<File, SharedStoreError> {
    Ok(open_lock(folder, |file| file.lock().map(|()| true))?.expect("it waits for the lock"))
}

/// The lock of a working copy; `None` if another process has it.
pub(crate) fn try_lock_working_copy(folder: &Path) -> Result<Option<File>, SharedStoreError> {
    open_lock(folder, |file| match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    })
}

fn open_lock(folder: &Path, lock: impl Fn(&File) -> io::Result<bool>) -> Result<Option<File>, SharedStoreError> {
    let path = beside(folder, LOCK);
    let locked = || {
        folder.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        loop {
            let file = files::open_own(&path)?;
            if !lock(&file)? {
                return Ok(None);
            }
            // A worker may have removed it since it was opened. A lock on it would protect nothing.
            if files::check_in_place(&file, &path).is_ok() {
                return Ok(Some(file));
            }
        }
    };
    locked().map_err(|source| SharedStoreError::Io { what: "lock", path: path.clone(), source })
}
