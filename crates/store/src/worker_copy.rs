//! The working copy of a run on a worker. The worker removes it after the job, because it holds other people's documents and
//! answers. The file `.NAME.worker-copy` beside it marks it, so that the copy of a killed worker is found. If a command of a user,
//! such as `report`, uses the copy, the mark is removed and the copy stays.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tlaforge_files as files;
use tlaforge_journal::RunLock;

use super::copy_lock::{LOCK, beside, try_lock_working_copy};
use super::error::SharedStoreError;

const MARK: &str = "worker-copy";

/// A killed process of a run may take a moment to end.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// A working copy for one job. Dropping this removes the copy, unless it existed before or a user's command has used it since.
#[derive(Debug)]
pub struct WorkerCopy {
    folder: PathBuf,
    /// The mark file, locked during the job. `None` if the copy existed before.
    mark: Option<File>,
}

impl WorkerCopy {
    /// `None` if another process uses the copy now.
    pub fn take(folder: &Path) -> Result<Option<Self>, SharedStoreError> {
        let Some(_lock) = try_lock_working_copy(folder)? else { return Ok(None) };
        let path = beside(folder, MARK);
        let failed = |source| SharedStoreError::Io { what: "prepare", path: path.clone(), source };
        if folder.exists() && !path.exists() {
            return Ok(Some(Self { folder: folder.to_owned(), mark: None }));
        }
        let mark = files::open_own(&path).map_err(failed)?;
        match mark.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if RunLock::is_held(folder) {
            return Ok(None);
        }
        // Left by a worker that was killed. The store has everything.
        remove_folder(folder).map_err(failed)?;
        Ok(Some(Self { folder: folder.to_owned(), mark: Some(mark) }))
    }
}

impl Drop for WorkerCopy {
    fn drop(&mut self) {
        if self.mark.take().is_none() {
            return;
        }
        for _ in 0..TRIES {
            // A process that ends may still write into it. What fails now is removed when a worker starts or ends.
            match remove_if_unused(&self.folder) {
                Ok(true) => return,
                Ok(false) | Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

/// Removes the copies in `cache` that workers have left and no process uses. The error is that of the first one that cannot be
/// removed; the others are.
pub fn remove_worker_copies(cache: &Path) -> io::Result<()> {
    let mut removed = Ok(());
    for entry in std::fs::read_dir(cache)? {
        let name = entry?.file_name();
        let run = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(MARK)?.strip_suffix('.'));
        if let Some(run) = run {
            removed = removed.and(remove_if_unused(&cache.join(run)).map(|_| ()));
        }
    }
    removed
}

/// Removes a copy that a worker has made, then its mark and its lock. `false` if a process uses it.
fn remove_if_unused(folder: &Path) -> io::Result<bool> {
    let Some(_lock) = try_lock_working_copy(folder).map_err(io::Error::other)? else { return Ok(false) };
    let path = beside(folder, MARK);
    let Ok(mark) = files::open(&path) else { return Ok(true) };
    if mark.try_lock().is_err() || RunLock::is_held(folder) {
        return Ok(false);
    }
    remove_folder(folder)?;
    std::fs::remove_file(path)?;
    // While it is held: another process that waits for it sees that it was removed.
    std::fs::remove_file(beside(folder, LOCK))?;
    Ok(true)
}

/// Keeps the copy after the job, because a user's command uses it. The caller holds its lock.
pub(crate) fn remove_mark(folder: &Path) {
    let _ = std::fs::remove_file(beside(folder, MARK));
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
