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
    #[error("{}", held_words(.folder, *.pid, .host, .started))]
    Held {
        folder: PathBuf,
        /// The process id of the holder; 0 if the file does not say.
        pid: u32,
        host: String,
        /// The time at which it took the lock.
        started: String,
        /// The start time of the holder, which distinguishes it from a later process with the same pid.
        process_start: Option<u64>,
    },
    #[error("lock {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
}

/// Who holds the lock, and what to do about it.
fn held_words(folder: &Path, pid: u32, host: &str, started: &str) -> String {
    let (folder, file) = (folder.display(), folder.join("run.lock").display().to_string());
    if pid == 0 {
        return format!("{folder} is in use by another process, of which {file} says nothing; wait for it or end it");
    }
    let held = format!("{folder} is in use by process {pid} on {host} since {started}");
    let here = this_host();
    if host == here {
        return format!("{held}; wait for it or end it");
    }
    // The lock is held, so a process of that host or container still runs, or a file server has not noticed its end.
    format!(
        "{held}; this is {here}: wait for it or end it there. On this machine's own disk it still runs, perhaps in a container. \
         Only if the folder is on a network file system and {host} is gone, remove {file}"
    )
}

#[derive(Debug, Serialize, Deserialize)]
struct Owner {
    pid: u32,
    host: String,
    started: String,
    #[serde(default)]
    process_start: Option<u64>,
}

/// Pauses before a lock without a known, living holder is reported as held, and the time of each. Their number counts, not
/// the time: on a busy machine, both processes are slower.
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
                    if pauses == PAUSES || !held.may_change_soon() {
                        return Err(held);
                    }
                    debug!(%held, pauses, "waiting for a lock without a known, living holder");
                    pause();
                    pauses += 1;
                }
                Err(TryLockError::Error(source)) => return Err(io(source)),
            }
        }
        let pid = std::process::id();
        let owner = Owner { pid, host: this_host(), started: started.to_owned(), process_start: process_start(pid) };
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
        Self::holder_with(folder, &mut || std::thread::sleep(PAUSE))
    }

    fn holder_with(folder: &Path, pause: &mut dyn FnMut()) -> Option<LockError> {
        let mut pauses = 0;
        loop {
            let held = held(folder, &mut open_held(folder)?);
            if pauses == PAUSES || !held.may_change_soon() {
                return Some(held);
            }
            pause();
            pauses += 1;
        }
    }

    /// Whether a process holds the lock of `folder`. Never waits.
    pub fn is_held(folder: &Path) -> bool {
        open_held(folder).is_some()
    }
}

/// The lock file of `folder`, if a process holds the lock.
fn open_held(folder: &Path) -> Option<File> {
    let file = files::open_below(folder, &folder.join("run.lock")).ok()?;
    // Shared, so that two callers who only ask do not see each other as holders. It ends with the file.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then_some(file)
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
    /// Sends SIGINT to the process that holds the lock, if it runs on this machine and still holds it.
    pub fn interrupt(&self) -> std::io::Result<()> {
        let Self::Held { folder, host, .. } = self else { return Err(std::io::ErrorKind::NotFound.into()) };
        let refused = |why: &str| Err(std::io::Error::other(why));
        if *host != this_host() {
            return refused(&format!("it runs on {host}"));
        }
        // Another process can have the pid of one that has ended.
        let is_same = open_held(folder).is_some_and(|mut file| held(folder, &mut file).owner() == self.owner());
        match self.process().filter(|_| is_same) {
            Some(pid) if self.is_running() => Ok(rustix::process::kill_process(pid, rustix::process::Signal::INT)?),
            _ => refused("it has ended"),
        }
    }

    /// Whether the lock file may soon name another holder.
    ///
    /// A process that has just taken the lock still has to write who it is; until then, the file is empty or names the last
    /// holder. A process that is killed between fork and exec of a child leaves the lock to the child until its exec, which
    /// takes milliseconds.
    fn may_change_soon(&self) -> bool {
        let Self::Held { pid, host, .. } = self else { return false };
        *pid == 0 || *host == this_host() && !self.is_running()
    }

    /// Whether the process that took the lock still runs on this machine.
    fn is_running(&self) -> bool {
        let Self::Held { pid, process_start: then, .. } = self else { return false };
        let is_there =
            self.process().is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
        is_there && then.is_none_or(|then| process_start(*pid).is_none_or(|now| now == then))
    }

    fn process(&self) -> Option<rustix::process::Pid> {
        let Self::Held { pid, .. } = self else { return None };
        i32::try_from(*pid).ok().and_then(rustix::process::Pid::from_raw)
    }

    /// What the lock file says of its holder.
    fn owner(&self) -> Option<(u32, &str, &str, Option<u64>)> {
        let Self::Held { pid, host, started, process_start, .. } = self else { return None };
        Some((*pid, host, started, *process_start))
    }
}

/// When the system started a process, in clock ticks since its boot; `None` if the system does not say.
fn process_start(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Field 22 in proc_pid_stat(5). The second field, the name of the program, can contain spaces and parentheses.
    stat.rsplit_once(')')?.1.split_whitespace().nth(22 - 3)?.parse().ok()
}

/// The name of this machine.
pub fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn held(folder: &Path, file: &mut File) -> LockError {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.take(4096).read_to_string(&mut text));
    let unknown = || "unknown".to_owned();
    let Owner { pid, host, started, process_start } = serde_json::from_str(&text).unwrap_or(Owner {
        pid: 0,
        host: unknown(),
        started: unknown(),
        process_start: None,
    });
    LockError::Held { folder: folder.to_owned(), pid, host, started, process_start }
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
        write_owner(dir.path(), child.id(), None);
        (dir, lock)
    }

    /// Writes another holder into the lock file.
    fn write_owner(folder: &Path, pid: u32, process_start: Option<u64>) {
        let owner = Owner { pid, host: this_host(), started: "before".to_owned(), process_start };
        std::fs::write(folder.join("run.lock"), serde_json::to_string(&owner).unwrap()).unwrap();
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
    fn a_lock_file_without_content_is_read_again_until_it_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let _lock = RunLock::take(dir.path(), "now").unwrap();
        let ask = |asks: &dyn Fn(&mut dyn FnMut()) -> Option<LockError>| {
            std::fs::write(dir.path().join("run.lock"), "").unwrap();
            let mut pauses = 0;
            let held = asks(&mut || {
                pauses += 1;
                if pauses == 3 {
                    write_owner(dir.path(), std::process::id(), None);
                }
            });
            assert!(matches!(held, Some(LockError::Held { pid, .. }) if pid == std::process::id()), "{held:?}");
        };
        ask(&|pause| RunLock::take_with(dir.path(), "later", pause).err());
        ask(&|pause| RunLock::holder_with(dir.path(), pause));

        // A file that stays empty is held all the same.
        std::fs::write(dir.path().join("run.lock"), "").unwrap();
        let held = RunLock::take_with(dir.path(), "later", &mut || {}).unwrap_err();
        assert!(matches!(held, LockError::Held { pid: 0, .. }), "{held}");
        held.interrupt().unwrap_err();
    }

    #[test]
    fn only_the_process_that_took_the_lock_is_interrupted() {
        use std::os::unix::process::ExitStatusExt as _;
        use std::process::{Command, Stdio};

        let dir = tempfile::tempdir().unwrap();
        let lock = RunLock::take(dir.path(), "now").unwrap();
        // What starts the tests in the background may have them ignore the signal, and children inherit that.
        let mut other = Command::new("env")
            .args(["--default-signal=INT", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while !std::fs::read(format!("/proc/{}/comm", other.id())).is_ok_and(|name| name == b"cat\n") {
            std::thread::yield_now();
        }
        let start = process_start(other.id());
        let start = start.expect("this system has /proc");
        let read = || held(dir.path(), &mut open_held(dir.path()).unwrap());
        let refused = |held: &LockError| held.interrupt().unwrap_err().to_string();

        // The process has the pid of one that took the lock and ended.
        write_owner(dir.path(), other.id(), Some(start - 1));
        assert_eq!(refused(&read()), "it has ended");
        assert!(read().may_change_soon(), "the pid of another process is no sign of life");
        // Another process took the lock after it was asked for.
        write_owner(dir.path(), other.id(), Some(start));
        let before = read();
        write_owner(dir.path(), std::process::id(), None);
        assert_eq!(refused(&before), "it has ended");
        write_owner(dir.path(), other.id(), Some(start));
        let last = read();
        drop(lock);
        assert_eq!(refused(&last), "it has ended");
        assert!(other.try_wait().unwrap().is_none(), "it was signalled");

        let _lock = RunLock::take(dir.path(), "now").unwrap();
        write_owner(dir.path(), other.id(), Some(start));
        read().interrupt().unwrap();
        assert_eq!(other.wait().unwrap().signal(), Some(2));
    }

    #[test]
    fn the_lock_of_another_host_says_what_to_do_if_that_host_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let _lock = RunLock::take(dir.path(), "now").unwrap();
        let path = dir.path().join("run.lock");
        std::fs::write(&path, r#"{"pid": 7, "host": "elsewhere.example", "started": "before"}"#).unwrap();
        let why = RunLock::take_with(dir.path(), "later", &mut || panic!("it waits")).unwrap_err().to_string();
        let words = format!(
            "this is {}: wait for it or end it there. On this machine's own disk it still runs, perhaps in a container. Only if \
             the folder is on a network file system and elsewhere.example is gone, remove {}",
            this_host(),
            path.display()
        );
        assert!(why.ends_with(&words), "{why}");
        // The advice works: the lock of a removed file protects nothing any more.
        std::fs::remove_file(&path).unwrap();
        RunLock::take(dir.path(), "later").unwrap();
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
