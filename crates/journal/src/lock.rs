//! The lock of a run folder: one process at a time. It is an advisory lock of the operating system, so a killed process does
//! not leave it behind.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracing::{debug, info};

use tlaforge_files as files;

/// Why the lock cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{folder} is in use by process {pid} on {host} since {started}; wait for it or end it")]
    Held {
        folder: PathBuf,
        /// The process id of the holder; 0 if the file does not say.
        pid: u32,
        host: String,
        /// The time at which it took the lock.
        started: String,
    },
    #[error("lock {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
}

#[derive(Debug, Serialize, Deserialize)]
struct Owner {
    pid: u32,
    host: String,
    started: String,
}

/// Pauses before the lock of a process that has ended is given up, and the time of each. Their number counts, not the time:
/// on a busy machine, both processes are slower.
const PAUSES: u32 = 400;
const PAUSE: Duration = Duration::from_millis(5);

/// The lock. Dropping it releases the lock and removes the file.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    file: File,
}

impl RunLock {
    /// Takes the lock `run.lock` in `folder`. `started` is the time that other processes show in their error.
    pub fn take(folder: &Path, started: &str) -> Result<Self, LockError> {
        Self::take_with(folder, started, &mut || std::thread::sleep(PAUSE))
    }

    fn take_with(folder: &Path, started: &str, pause: &mut dyn FnMut()) -> Result<Self, LockError> {
        let path = folder.join("run.lock");
        let io = |source| LockError::Io { path: path.clone(), source };
        let mut file = files::open_own(&path).map_err(io)?;
        let mut pauses = 0;
        loop {
            match file.try_lock() {
                Ok(()) if files::check_in_place(&file, &path).is_ok() => break,
                // The last holder removed the file after we had opened it. A lock on it would protect nothing.
                Ok(()) => file = files::open_own(&path).map_err(io)?,
                Err(TryLockError::WouldBlock) => {
                    let held = held(folder, &mut file);
                    // A process that is killed between fork and exec of a child leaves the lock to the child until its exec,
                    // which takes milliseconds.
                    if pauses == PAUSES || !held.is_by_ended_process() {
                        return Err(held);
                    }
                    debug!(%held, pauses, "waiting for the lock of a process that has ended");
                    pause();
                    pauses += 1;
                }
                Err(TryLockError::Error(source)) => return Err(io(source)),
            }
        }
        let owner = Owner { pid: std::process::id(), host: this_host(), started: started.to_owned() };
        let text = serde_json::to_string(&owner).expect("plain strings and numbers");
        // The content is only for messages: the lock itself is held by the open file.
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes())).map_err(&io)?;
        info!(path = ?path, pauses, "lock taken");
        Ok(Self { path, file })
    }

    /// Checks that the lock file is still in place. If it was removed, another process could lock a new one.
    pub fn check(&self) -> Result<(), LockError> {
        files::check_in_place(&self.file, &self.path)
            .map_err(|source| LockError::Io { path: self.path.clone(), source })
    }

    /// The holder of the lock of `folder`, if there is one. Does not take the lock and writes nothing.
    pub fn holder(folder: &Path) -> Option<LockError> {
        let mut file = files::open(&folder.join("run.lock")).ok()?;
        // Shared, so that two callers who only ask do not see each other as holders. It ends with the file.
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| held(folder, &mut file))
    }
}

impl Drop for RunLock {
    /// Removes the file while the lock is still held, so that no other process can hold a lock on it.
    fn drop(&mut self) {
        if self.check().is_ok() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl LockError {
    /// Sends SIGINT to the process that holds the lock, if it runs on this machine.
    pub fn interrupt(&self) -> std::io::Result<()> {
        let Self::Held { pid, host, .. } = self else { return Err(std::io::ErrorKind::NotFound.into()) };
        let pid = i32::try_from(*pid).ok().and_then(rustix::process::Pid::from_raw);
        match pid.filter(|_| *host == this_host()) {
            Some(pid) => Ok(rustix::process::kill_process(pid, rustix::process::Signal::INT)?),
            None => Err(std::io::Error::other(format!("it runs on {host}"))),
        }
    }

    /// Whether the process that took the lock ran on this machine and has ended.
    fn is_by_ended_process(&self) -> bool {
        let LockError::Held { pid, host, .. } = self else { return false };
        let pid = i32::try_from(*pid).ok().and_then(rustix::process::Pid::from_raw);
        *host == this_host()
            && pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
    }
}

fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn held(folder: &Path, file: &mut File) -> LockError {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.take(4096).read_to_string(&mut text));
    let unknown = || "unknown".to_owned();
    let owner = serde_json::from_str(&text).unwrap_or(Owner { pid: 0, host: unknown(), started: unknown() });
    LockError::Held { folder: folder.to_owned(), pid: owner.pid, host: owner.host, started: owner.started }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_second_holder_names_the_pid_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let first = RunLock::take(dir.path(), "now").unwrap();
        let Err(LockError::Held { pid, .. }) = RunLock::take(dir.path(), "later") else { panic!("taken twice") };
        assert_eq!(pid, std::process::id());
        drop(first);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the file is removed with the lock");
        RunLock::take(dir.path(), "later").unwrap();
    }

    /// A folder whose lock this process still holds, in the name of a process that has ended.
    fn held_for_an_ended_process() -> (tempfile::TempDir, RunLock) {
        let dir = tempfile::tempdir().unwrap();
        let lock = RunLock::take(dir.path(), "now").unwrap();
        let mut child = std::process::Command::new("/bin/true").spawn().unwrap();
        child.wait().unwrap();
        let owner = Owner { pid: child.id(), host: this_host(), started: "before".to_owned() };
        std::fs::write(dir.path().join("run.lock"), serde_json::to_string(&owner).unwrap()).unwrap();
        (dir, lock)
    }

    #[test]
    fn the_lock_of_an_ended_process_is_waited_for_and_given_up_in_the_end() {
        let (dir, lock) = held_for_an_ended_process();
        let mut pauses = 0;
        let taken = RunLock::take_with(dir.path(), "later", &mut || pauses += 1);
        assert!(matches!(taken, Err(LockError::Held { started, .. }) if started == "before"));
        assert_eq!(pauses, PAUSES);

        let mut lock = Some(lock);
        let mut pauses = 0;
        let mut release_at_third = || {
            pauses += 1;
            if pauses == 3 {
                lock = None;
            }
        };
        RunLock::take_with(dir.path(), "later", &mut release_at_third).unwrap();
        assert_eq!(pauses, 3);
    }

    #[test]
    fn the_lock_of_a_running_process_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let _first = RunLock::take(dir.path(), "now").unwrap();
        RunLock::take_with(dir.path(), "later", &mut || panic!("it waits")).unwrap_err();
    }

    #[test]
    fn a_lock_file_that_was_removed_during_the_wait_is_created_again() {
        let dir = tempfile::tempdir().unwrap();
        // Many threads take and release it at once. No two of them hold it at the same time.
        let held = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(lock) = RunLock::take(dir.path(), "now") else { continue };
                        assert_eq!(held.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
    }
}
