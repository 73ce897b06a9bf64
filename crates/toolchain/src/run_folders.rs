//! Folders for the runs of the embedded checker, in one temporary folder. A folder is used again by a later run: to create
//! files costs more than to overwrite them, because ext4 searches past every inode that was freed within five seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
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
    /// Folders that no run uses, each with the names of its files.
    free: Vec<(PathBuf, BTreeSet<String>)>,
    count: usize,
}

/// The folder of one run. If it is dropped without [`RunFolder::put_back`], it is removed: a killed checker may not have
/// ended yet, so no later run can use it.
#[derive(Debug)]
pub(super) struct RunFolder<'a> {
    folder: PathBuf,
    /// Names of the files in `spec`.
    files: BTreeSet<String>,
    reusable: bool,
    folders: &'a RunFolders,
}

impl RunFolders {
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        Ok(Self { scratch: Scratch::new(parent, "tlaforge-")?, made: Mutex::default() })
    }

    pub(super) fn take(&self) -> io::Result<RunFolder<'_>> {
        let mut made = self.lock();
        let (folder, files) = made.free.pop().unwrap_or_else(|| {
            made.count += 1;
            (self.scratch.path().join(made.count.to_string()), BTreeSet::new())
        });
        let taken = RunFolder { folder, files, reusable: false, folders: self };
        drop(made);
        fs::create_dir_all(taken.spec())?;
        Ok(taken)
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        // A panic in between leaves at worst a folder that is not used again.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunFolder<'_> {
    /// A folder that the run may create and fill, as the checker sees it from [`RunFolder::spec`]. If our process is
    /// killed, all folders may be removed before the checker ends; by an absolute path it would create them anew.
    pub(super) const META: &'static str = "../meta";

    /// The folder of the files of [`RunFolder::write`].
    pub(super) fn spec(&self) -> PathBuf {
        self.folder.join("spec")
    }

    fn meta(&self) -> PathBuf {
        self.folder.join("meta")
    }

    /// Writes these files and removes all others of an earlier run.
    pub(super) fn write(&mut self, files: &BTreeMap<String, String>) -> io::Result<()> {
        let spec = self.spec();
        for name in self.files.iter().filter(|name| !files.contains_key(*name)) {
            match fs::remove_file(spec.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        for (name, text) in files {
            overwrite(&spec.join(name), text)?;
        }
        self.files = files.keys().cloned().collect();
        Ok(())
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
            self.folders.lock().free.push((std::mem::take(&mut self.folder), std::mem::take(&mut self.files)));
        } else {
            remove_folder(&self.folder);
        }
    }
}

/// Unlike [`fs::write`], it does not empty the file first: on its close, ext4 would write such a file to the disk.
fn overwrite(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[(&str, &str)]) -> BTreeMap<String, String> {
        names.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn seen(folder: &Path) -> BTreeMap<String, String> {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
            .collect()
    }

    #[test]
    fn a_later_run_sees_only_its_own_files() {
        let parent = tempfile::tempdir().unwrap();
        let folders = RunFolders::new(parent.path()).unwrap();
        let (first, second) =
            (files(&[("A.tla", "a long text"), ("B.tla", "b")]), files(&[("A.tla", "short"), ("C.tla", "")]));
        let mut folder = folders.take().unwrap();
        folder.write(&first).unwrap();
        assert_eq!(seen(&folder.spec()), first);
        fs::create_dir(folder.meta()).unwrap();
        fs::write(folder.meta().join("graph"), "").unwrap();
        let path = folder.spec();
        folder.put_back();

        let mut again = folders.take().unwrap();
        assert_eq!(again.spec(), path);
        assert!(!again.meta().exists());
        again.write(&second).unwrap();
        assert_eq!(seen(&path), second);
        let other = folders.take().unwrap();
        assert_ne!(other.spec(), path, "two runs at a time have two folders");
        drop(again);
        assert!(!path.exists(), "its checker may have been killed");
        drop(other);
        folders.take().unwrap().write(&second).unwrap();
        drop(folders);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
