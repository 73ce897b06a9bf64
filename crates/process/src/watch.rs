//! Cleans up after our own process, even if it is killed.
//!
//! SIGKILL leaves no chance to clean up, and a parent-death signal can only be requested between fork and exec, which needs
//! `unsafe`. But the kernel closes the files of a dead process: a shell that reads from a pipe whose other end only we hold
//! wakes up when we end, whatever the cause. A child that is our own program does the same by itself (see `lifeline`) and
//! has no shell. For other programs our own program could take the shell's place, but it takes 2.0 ms of CPU to start, the
//! shell 0.65 ms.

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// The shell. POSIX leaves its path open, but every system we know has it here.
pub(super) const SHELL: &str = "/bin/sh";

/// Waits until our process ends. Signals to the group are meant for the children and must not end the shell.
const WAIT: &str = "trap '' TERM INT HUP QUIT; read -r end;";

/// A shell in its own process group. Dropping this value kills the group.
#[derive(Debug)]
pub(super) struct Watch(Child);

impl Watch {
    fn start(then: &str, args: &[&OsStr]) -> io::Result<Self> {
        Command::new(SHELL)
            .arg("-c")
            .arg(format!("{WAIT} {then}"))
            .arg("tlaforge-watch")
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map(Self)
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.0.id()).ok().and_then(Pid::from_raw)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group() {
            // It fails only if no process of the group is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Kill before waiting: until the shell is waited for, its id is in use and cannot belong to another group.
        self.signal(Signal::KILL);
        let _ = self.0.wait();
    }
}

/// The process group of a child.
#[derive(Debug)]
pub(super) enum Group {
    /// It is killed when this value is dropped or our process ends.
    ///
    /// The shell leads the group and exists before any child, so every child that has joined is killed whenever we die. A
    /// child that is just being started keeps the pipe open until it has joined.
    Watched(Watch),
    /// Its only member is a child that ends with us. It must not be signalled after the child was waited for: its id can
    /// belong to another group then.
    Led(Pid),
}

impl Group {
    pub(super) fn watched() -> io::Result<Self> {
        Watch::start("kill -s KILL 0", &[]).map(Self::Watched)
    }

    /// The group that this running child leads.
    pub(super) fn led_by(child: Option<u32>) -> Option<Self> {
        child.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw).map(Self::Led)
    }

    pub(super) fn id(&self) -> i32 {
        let group = match self {
            Self::Watched(watch) => watch.group(),
            Self::Led(child) => Some(*child),
        };
        group.map_or(0, |pid| pid.as_raw_nonzero().get())
    }

    pub(super) fn signal(&self, signal: Signal) {
        match self {
            Self::Watched(watch) => watch.signal(signal),
            Self::Led(child) => {
                // It fails only if the child has ended.
                let _ = kill_process_group(*child, signal);
            }
        }
    }
}

/// A private folder. It is removed when this value is dropped or our process ends.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _watch: Watch,
}

impl Scratch {
    /// Creates a folder in `parent` whose name begins with `prefix`.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<Self> {
        // Processes that write into the folder are killed at the same moment, so the first attempt can come too early.
        const REMOVE: &str = "n=0; while [ -e \"$1\" ] && [ $n -lt 50 ]; do rm -rf -- \"$1\"; n=$((n+1)); \
                              [ -e \"$1\" ] && sleep 0.1; done";
        let made = tempfile::Builder::new().prefix(prefix).make_in(std::path::absolute(parent)?, |path| {
            // The watch first, so that at no moment the folder exists without a process that removes it.
            let watch = Watch::start(REMOVE, &[path.as_os_str()])?;
            DirBuilder::new().mode(0o700).create(path)?;
            Ok(watch)
        })?;
        let (watch, path) = made.keep().map_err(|e| e.error)?;
        Ok(Self { path, _watch: watch })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The watch is dropped after this, so it takes over if we are killed meanwhile.
        remove_folder(&self.path);
    }
}

/// Removes a folder of killed processes. One that is still dying may create a file after the others were removed, so this
/// tries again for a second.
pub fn remove_folder(path: &Path) {
    for _ in 0..50 {
        match std::fs::remove_dir_all(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => std::thread::sleep(Duration::from_millis(20)),
            _ => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_folder_is_removed_although_threads_still_write_into_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::new(dir.path(), "s-").expect("a scratch folder");
        let path = scratch.path().to_owned();
        // Each writes until the removal begins, and a hundred files more.
        let (path, removal_begins) = (&path, &AtomicBool::new(false));
        std::thread::scope(|threads| {
            for writer in 0..4 {
                threads.spawn(move || {
                    let mut left = 100;
                    for n in 0.. {
                        left -= u32::from(removal_begins.load(Ordering::SeqCst));
                        if left == 0 {
                            return;
                        }
                        let _ = std::fs::write(path.join(format!("{writer}-{n}")), "");
                    }
                });
            }
            while std::fs::read_dir(path).expect("a folder").count() < 20 {
                std::thread::yield_now();
            }
            removal_begins.store(true, Ordering::SeqCst);
            drop(scratch);
        });
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
    }
}
