//! Drives the program while it waits for answers through files.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::waiting::{holds_within, wait_until};
use super::{Bench, Done};

/// Runs a shell command.
pub fn shell(line: &str) {
    assert!(Command::new("sh").arg("-c").arg(line).status().unwrap().success(), "{line}");
}

/// Waits for a request, answers it by a rename, and returns the request.
pub fn answer_at(folder: &Path, text: &str) -> String {
    wait_until(&format!("a request comes at {}", folder.display()), || folder.join("request.md").exists());
    let asked = std::fs::read_to_string(folder.join("request.md")).unwrap();
    std::fs::write(folder.join("draft"), text).unwrap();
    std::fs::rename(folder.join("draft"), folder.join("answer.md")).unwrap();
    asked
}

/// Waits for the next request without an answer in the run folder `specs`, and answers it.
pub fn answer_next(bench: &Bench, text: &str) {
    let mut open = None;
    wait_until("a request comes", || {
        let folders = std::fs::read_dir(bench.path("specs/handoff")).into_iter().flatten();
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        open = folders.into_iter().find(|f| f.join("request.md").exists() && !f.join("answer.md").exists());
        open.is_some()
    });
    answer_at(&open.unwrap(), text);
}

/// A process that waits for an answer.
pub struct Waiting {
    child: Option<Child>,
    root: PathBuf,
    /// The folder of the request.
    pub folder: PathBuf,
}

impl Waiting {
    /// Starts the program with the run folder `specs`, and waits for its first request without an answer.
    pub fn start(bench: &Bench, args: &[&str]) -> Self {
        let child = bench.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let root = bench.path("specs/handoff");
        let mut waiting = Self { child: Some(child), root, folder: PathBuf::new() };
        waiting.next();
        waiting
    }

    /// Waits for the next request without an answer from the current process.
    pub fn next(&mut self) -> PathBuf {
        let mut open = None;
        wait_until("a request comes", || {
            if self.child.as_mut().unwrap().try_wait().unwrap().is_some() {
                let done = self.end();
                panic!("it ended with {:?}\n{}\n{}", done.status, done.stdout, done.stderr);
            }
            open = self.open();
            open.is_some()
        });
        self.folder = open.unwrap();
        self.folder.clone()
    }

    fn open(&self) -> Option<PathBuf> {
        open_request(&self.root, self.pid())
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn signal(&self, name: &str) {
        shell(&format!("kill -{name} {}", self.pid()));
    }

    /// Kills it with SIGKILL.
    pub fn kill(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Answers the open request by a rename.
    pub fn answer(&self, text: &str) {
        std::fs::write(self.folder.join("draft"), text).unwrap();
        std::fs::rename(self.folder.join("draft"), self.folder.join("answer.md")).unwrap();
    }

    /// Waits for its end and returns the result. Fails if the run asks again, because no answer would come.
    pub fn end(&mut self) -> Done {
        let (pid, root, answered) = (self.pid(), self.root.clone(), self.folder.clone());
        let child = self.child.take().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let watch = std::thread::spawn({
            let ended = ended.clone();
            move || {
                let (mut open, mut looks): (Option<(PathBuf, Instant)>, u32) = (None, 0);
                holds_within(Duration::MAX, || {
                    looks += 1;
                    if looks % 50 != 0 {
                        return ended.load(Ordering::Relaxed);
                    }
                    let now = open_request(&root, pid).filter(|folder| *folder != answered);
                    open = now.map(|folder| match open.take() {
                        Some((known, since)) if known == folder => (known, since),
                        _ => (folder, Instant::now()),
                    });
                    // Another thread of the test may answer it soon.
                    let is_left = open.as_ref().is_some_and(|(_, since)| since.elapsed() > Duration::from_secs(30));
                    is_left || ended.load(Ordering::Relaxed)
                });
                let (folder, _) = open.filter(|_| !ended.load(Ordering::Relaxed))?;
                shell(&format!("kill -KILL {pid}"));
                std::fs::read_to_string(folder.join("request.md")).ok()
            }
        });
        let output = child.wait_with_output().unwrap();
        ended.store(true, Ordering::Relaxed);
        if let Some(request) = watch.join().unwrap() {
            panic!("it asks again:\n{request}");
        }
        Done::of(&output)
    }
}

/// The folder of the first request without an answer, if the process works on the run.
fn open_request(root: &Path, pid: u32) -> Option<PathBuf> {
    // The lock is taken before the first request. By then the signal handlers are installed as well.
    let lock = std::fs::read_to_string(root.parent()?.join("run.lock")).ok()?;
    let journal = std::fs::read_to_string(root.parent()?.join("journal.jsonl")).ok()?;
    let ready = lock.contains(&format!("\"pid\":{pid}")) && !journal.lines().last()?.contains("\"run_finished\"");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).ok()?.map(|e| e.unwrap().path()).collect();
    folders.sort();
    folders.into_iter().find(|f| ready && f.join("request.md").exists() && !f.join("answer.md").exists())
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
