//! A temporary folder for each test, and the built program run in it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;

/// The result of one execution of the program.
#[derive(Clone)]
pub struct Done {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    pub fn of(output: &Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts the exit status. Shows the output if it differs.
    #[track_caller]
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that stderr contains each of these.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing in stderr:\n{}", self.stderr);
        }
        self
    }

    /// Asserts that stdout contains each of these.
    #[track_caller]
    pub fn prints(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stdout.contains(word), "{word:?} is missing in stdout:\n{}", self.stdout);
        }
        self
    }
}

/// A temporary folder, and an environment with only the variables that a test sets.
pub struct Bench {
    pub dir: tempfile::TempDir,
    env: Vec<(String, String)>,
    /// Journals that were found to obey the default policy.
    pub(super) audited: Mutex<BTreeSet<String>>,
}

impl Bench {
    /// Without any tools.
    pub fn without_tools() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let mut bench = Self { dir, env: Vec::new(), audited: Mutex::default() };
        bench.set("HOME", home.to_str().unwrap());
        bench.set("PATH", "/usr/bin:/bin");
        bench.set("CI", "1");
        bench
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(n, _)| n != name);
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// A variable of the environment of the program.
    pub fn variable(&self, name: &str) -> &str {
        self.env.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.ends_with("journal.jsonl") {
            std::fs::write(&path, with_checksums(content.as_ref())).unwrap();
        } else {
            std::fs::write(&path, content).unwrap();
        }
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The command that runs the program with these arguments in the folder. No mutants are sampled before an approval,
    /// which takes seconds, unless the arguments ask for some; no properties are read blindly and no larger bounds
    /// tried. A recording decides itself whether properties are read blindly, and, unless it is that of a case, about larger bounds.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(super::PROGRAM);
        command.args(args);
        if args.first().is_some_and(|first| ["run", "demo"].contains(first)) && !args.contains(&"--mutants") {
            command.args(["--mutants", "off"]);
        }
        let asks_a_model = match args.first() {
            Some(&"run") => !args.contains(&"--recording") && !args.contains(&"replay"),
            Some(&"resume") => args.contains(&"--provider"),
            _ => false,
        };
        for (flag, value) in
            [("--blind-reading", "off"), ("--contracts", "off"), ("--bounds-budget", "off"), ("--draft", "nodes")]
        {
            // Larger bounds take most of the time of a recorded case.
            let is_slow = flag == "--bounds-budget" && args.first() == Some(&"run") && args.contains(&"--case");
            if (asks_a_model || is_slow) && !args.contains(&flag) {
                command.args([flag, value]);
            }
        }
        command.current_dir(self.dir.path()).env_clear().stdin(std::process::Stdio::null());
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Done {
        Done::of(&self.command(args).output().unwrap())
    }

    pub fn run_with(&self, args: &[&str], env: &[(&str, &str)]) -> Done {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        Done::of(&command.output().unwrap())
    }
}

/// Recomputes the checksums of a journal that a test has changed. Lines that are not events stay as they are.
pub fn with_checksums(journal: &[u8]) -> Vec<u8> {
    use tlaforge::journal::Sha;
    let (mut before, mut text) = (String::new(), Vec::new());
    for line in journal.split_inclusive(|byte| *byte == b'\n') {
        let mut body = line.strip_suffix(b"\n").unwrap_or(line).to_vec();
        let event = serde_json::from_slice::<Value>(&body).ok();
        let sealed = event.filter(|event| event.get("sum").is_some() && line.ends_with(b"\n"));
        if let Some(Value::Object(mut event)) = sealed.clone() {
            event.shift_remove("sum");
            body = serde_json::to_vec(&event).unwrap();
        }
        Sha::digest([before.as_bytes(), &body].concat()).as_str().clone_into(&mut before);
        if sealed.is_some() {
            body.pop();
            text.extend([&body, ",\"sum\":\"".as_bytes(), &before.as_bytes()[..16], b"\"}\n"].concat());
        } else {
            text.extend(line);
        }
    }
    text
}
