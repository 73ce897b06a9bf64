//! What happens when our own process is no more.
//!
//! SIGKILL gives no chance to clean up, and a parent-death signal can only be asked for between fork and exec, which
//! needs `unsafe`. But the kernel closes what a dead process held: a shell that reads from a pipe whose other end only
//! we hold is woken by our end, whatever ended us.

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Where the shell is, on every system we know.
pub(super) const SHELL: &str = "/bin/sh";

/// Waits for our end. Signals that are meant for those it watches must not end it.
const WAIT: &str = "trap '' TERM INT HUP QUIT; read -r end;";

/// A shell in a process group of its own. The group ends with this value.
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
            // It fails only where nobody is left to receive the signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Before its id can be given to anyone else: not yet waited for, the shell keeps the group's id in use.
        self.signal(Signal::KILL);
        let _ = self.0.wait();
    }
}

/// A process group that children may join. All of it ends with this value, and with our process.
///
/// The shell leads the group and is there before any child: whenever we die, whoever has joined is killed. A child that
/// is just being started holds the pipe until it has joined.
#[derive(Debug)]
pub(super) struct Group(Watch);

impl Group {
    pub(super) fn new() -> io::Result<Self> {
        Watch::start("kill -s KILL 0", &[]).map(Self)
    }

    /// Its number.
    pub(super) fn id(&self) -> i32 {
        self.0.group().map_or(0, |pid| pid.as_raw_nonzero().get())
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.0.signal(signal);
    }
}

/// A private folder, removed with this value, and with our process.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _watch: Watch,
}

impl Scratch {
    /// Makes a folder in `parent` whose name begins with `prefix`.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<Self> {
        // Who wrote into it is killed at the same moment, so the first attempt may come too early.
        const REMOVE: &str = "n=0; while [ -e \"$1\" ] && [ $n -lt 50 ]; do rm -rf -- \"$1\"; n=$((n+1)); \
                              [ -e \"$1\" ] && sleep 0.1; done";
        let made = tempfile::Builder::new().prefix(prefix).make_in(std::path::absolute(parent)?, |path| {
            // The watch first: there is no instant at which the folder is there and nobody would remove it.
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
        // Who wrote into it may still be dying, and puts a file where all were just removed. The watch ends after this,
        // so that it takes over where we are killed on the way.
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
    fn a_folder_goes_though_somebody_still_writes_into_it() {
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
