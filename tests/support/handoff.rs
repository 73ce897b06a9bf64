//! Drives the program while it waits for answers through files.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::waiting::wait_until;
use super::{Bench, Done};

/// Runs a line of shell.
pub fn shell(line: &str) {
    assert!(Command::new("sh").arg("-c").arg(line).status().unwrap().success(), "{line}");
}

/// Answers a request when it comes, by a rename; what was asked.
pub fn answer_at(folder: &Path, text: &str) -> String {
    wait_until(&format!("a request comes at {}", folder.display()), || folder.join("request.md").exists());
    let asked = std::fs::read_to_string(folder.join("request.md")).unwrap();
    std::fs::write(folder.join("draft"), text).unwrap();
    std::fs::rename(folder.join("draft"), folder.join("answer.md")).unwrap();
    asked
}

/// A process that has asked, and waits.
pub struct Waiting {
    child: Option<Child>,
    root: PathBuf,
    /// The folder of the request.
    pub folder: PathBuf,
}

impl Waiting {
    /// Starts the program; the run folder is `specs`. Returns once a request without an answer is there.
    pub fn start(bench: &Bench, args: &[&str]) -> Self {
        let child = bench.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let root = bench.path("specs/handoff");
        let mut waiting = Self { child: Some(child), root, folder: PathBuf::new() };
        waiting.next();
        waiting
    }

    /// Waits for the next request without an answer whose process is the one that runs now.
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
        // The lock is taken before anything is asked: then signals are heard, too.
        let pid = format!("\"pid\":{}", self.pid());
        let lock = std::fs::read_to_string(self.root.parent()?.join("run.lock")).ok()?;
        let journal = std::fs::read_to_string(self.root.parent()?.join("journal.jsonl")).ok()?;
        let ready = lock.contains(&pid) && !journal.lines().last()?.contains("\"run_finished\"");
        let mut folders: Vec<PathBuf> = std::fs::read_dir(&self.root).ok()?.map(|e| e.unwrap().path()).collect();
        folders.sort();
        folders.into_iter().find(|f| ready && f.join("request.md").exists() && !f.join("answer.md").exists())
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn signal(&self, name: &str) {
        shell(&format!("kill -{name} {}", self.pid()));
    }

    /// Ends it as a crash would.
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

    /// What it came to.
    pub fn end(&mut self) -> Done {
        Done::of(&self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
