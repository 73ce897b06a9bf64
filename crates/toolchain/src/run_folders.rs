//! Folders for the runs of the embedded checker, in one temporary folder. A folder is used again by a later run: to create
//! one costs more, because ext4 searches past every inode that was freed within five seconds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tlaforge_process::{Scratch, remove_folder};

/// The folders, and the temporary folder with all of them, which is removed when this value is dropped or our process ends.
#[derive(Debug)]
pub(super) struct RunFolders {
    scratch: Scratch,
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    /// Folders that no run uses.
    free: Vec<PathBuf>,
    count: usize,
}

/// The folder of one run. If it is dropped without [`RunFolder::put_back`], it is removed: a killed checker may not have
/// ended yet, so no later run can use it.
#[derive(Debug)]
pub(super) struct RunFolder<'a> {
    folder: PathBuf,
    reusable: bool,
    folders: &'a RunFolders,
}

impl RunFolders {
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        Ok(Self { scratch: Scratch::new(parent, "tlaforge-")?, made: Mutex::default() })
    }

    pub(super) fn take(&self) -> io::Result<RunFolder<'_>> {
        let mut made = self.lock();
        let folder = made.free.pop().unwrap_or_else(|| {
            made.count += 1;
            self.scratch.path().join(made.count.to_string())
        });
        let taken = RunFolder { folder, reusable: false, folders: self };
        drop(made);
        fs::create_dir_all(taken.work())?;
        Ok(taken)
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        // A panic in between leaves at worst a folder that is not used again.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunFolder<'_> {
    /// A folder that the run may create and fill, as the checker sees it from [`RunFolder::work`]. If our process is
    /// killed, all folders may be removed before the checker ends; by an absolute path it would create them anew.
    pub(super) const META: &'static str = "../meta";

    /// The folder in which the checker runs. It is empty.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    fn meta(&self) -> PathBuf {
        self.folder.join("meta")
    }

    /// Frees the disk space, and lets later runs use the folder. The checker must have ended.
    pub(super) fn put_back(mut self) {
        let _ = fs::remove_dir_all(self.meta());
        self.reusable = !self.meta().exists();
    }
}

impl Drop for RunFolder<'_> {
    fn drop(&mut self) {
        if self.reusable {
            self.folders.lock().free.push(std::mem::take(&mut self.folder));
        } else {
            remove_folder(&self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_run_gets_an_empty_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folders = RunFolders::new(parent.path()).unwrap();
        let folder = folders.take().unwrap();
        fs::create_dir(folder.meta()).unwrap();
        fs::write(folder.meta().join("graph"), "").unwrap();
        let path = folder.work();
        folder.put_back();

        let again = folders.take().unwrap();
        assert_eq!(again.work(), path);
        assert!(!again.meta().exists());
        let other = folders.take().unwrap();
        assert_ne!(other.work(), path, "two runs at a time have two folders");
        drop(again);
        assert!(!path.exists(), "its checker may have been killed");
        drop(other);
        drop(folders);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
