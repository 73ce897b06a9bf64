//! Cleans up after our own process, even if it is killed.
//!
//! SIGKILL leaves no chance to clean up, and a parent-death signal can only be requested between fork and exec, which needs
//! `unsafe`. But the kernel closes the files of a dead process: a shell that reads from a pipe whose other end only we hold
//! wakes up when we end, whatever the cause.

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
struct Watch(Child);

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

/// A process group for children. It is killed when this value is dropped or our process ends.
///
/// The shell leads the group and exists before any child, so every child that has joined is killed whenever we die. A child
/// that is just being started keeps the pipe open until it has joined.
#[derive(Debug)]
pub(super) struct Group(Watch);

impl Group {
    pub(super) fn new() -> io::Result<Self> {
        Watch::start("kill -s KILL 0", &[]).map(Self)
    }

    pub(super) fn id(&self) -> i32 {
        self.0.group().map_or(0, |pid| pid.as_raw_nonzero().get())
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.0.signal(signal);
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
        // A process that writes into the folder may still be dying and create a file after the others were removed. The watch
        // is dropped after this, so it takes over if we are killed meanwhile.
        for _ in 0..50 {
            match std::fs::remove_dir_all(&self.path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => std::thread::sleep(Duration::from_millis(20)),
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_although_threads_still_write_into_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::new(dir.path(), "s-").expect("a scratch folder");
        let path = scratch.path().to_owned();
        let end = std::time::Instant::now() + Duration::from_millis(300);
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let path = path.clone();
                std::thread::spawn(move || {
                    for n in (0..).take_while(|_| std::time::Instant::now() < end) {
                        let _ = std::fs::write(path.join(format!("{writer}-{n}")), "");
                    }
                })
            })
            .collect();
        // In the middle of their work.
        while std::fs::read_dir(scratch.path()).expect("a folder").count() < 20 {
            std::thread::yield_now();
        }
        drop(scratch);
        for writer in writers {
            writer.join().expect("it ends");
        }
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
    }
}
