//! Two real programs with several processes over TCP, whose logs conform to their specification, and do not with each of the planted bugs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::PROGRAM;

/// The folder of an evaluation case, its specification, the program, and what it logs with each bug: the kind of the event that no
/// behaviour explains.
struct Implementation {
    case: &'static str,
    module: &'static str,
    program: &'static str,
    bugs: [(&'static str, &'static str); 6],
}

const TWO_PHASE_COMMIT: Implementation = Implementation {
    case: "two_phase_commit",
    module: "TwoPhaseCommit",
    program: "two_phase_commit.py",
    bugs: [
        ("commit_without_all_votes", "(decided)"),
        ("announce_before_record", "(announced)"),
        ("recovery_ignores_log", "(recovered)"),
        ("vote_before_record", "(vote sent)"),
        ("abort_after_yes", "(outcome)"),
        ("vote_again", "(restarted)"),
    ],
};

const RW_LOCK: Implementation = Implementation {
    case: "rw_lock",
    module: "RWLock",
    program: "rw_lock.py",
    bugs: [
        ("reader_overtakes", "(granted)"),
        ("writer_with_readers", "(granted)"),
        ("withdrawn_stays", "(withdrawn)"),
        ("expired_holder_stays", "(expired)"),
        ("last_reader_clears", "(released)"),
        ("slow_client_expires", "(released)"),
    ],
};

impl Implementation {
    fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("evals").join(self.case)
    }

    /// Runs the program, and compares its logs: the exit status and the first line.
    fn conform(&self, seed: u32, more: &[&str]) -> (i32, String) {
        let logs = tempfile::tempdir().unwrap();
        let own = self.folder().join("implementation");
        let ran = Command::new("python3")
            .arg(own.join(self.program))
            .arg(logs.path())
            .args(["--seed", &seed.to_string()])
            .args(more)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{} {seed} {more:?}: {}", self.case, String::from_utf8_lossy(&ran.stderr));
        let mut files: Vec<PathBuf> = logs.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let ended = Command::new(PROGRAM)
            .arg("conform")
            .arg(self.folder().join("expected").join(format!("{}.tla", self.module)))
            .arg("--config")
            .arg(own.join(format!("{}.cfg", self.module)))
            .arg("--map")
            .arg(own.join("conform.toml"))
            .args(files)
            .current_dir(logs.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
        (ended.status.code().unwrap(), text.lines().next().unwrap_or_default().to_owned())
    }

    fn check(&self) {
        let seeds = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 50 } else { 3 };
        for seed in 1..=seeds {
            let crashes = (seed % 4).to_string();
            let more = if self.case == TWO_PHASE_COMMIT.case { vec!["--crashes", &crashes] } else { Vec::new() };
            assert_eq!(self.conform(seed, &more).0, 0, "{} {seed}", self.case);
        }
        for (bug, event) in self.bugs {
            // Whether a bug shows depends on what happens first, so it gets several tries.
            let mut tries = (1..=5).map(|seed| self.conform(seed, &["--bug", bug]));
            let found = tries.find(|(status, _)| *status != 0);
            let (status, first) = found.unwrap_or_else(|| panic!("{bug} does not show"));
            assert_eq!(status, 1, "{bug}: {first}");
            assert!(
                first.contains("no behaviour of the specification explains") && first.contains(event),
                "{bug}: {first}"
            );
        }
    }
}

#[test]
fn the_logs_of_two_phase_commit_conform_unless_it_has_a_bug() {
    TWO_PHASE_COMMIT.check();
}

#[test]
fn the_logs_of_the_read_write_lock_conform_unless_it_has_a_bug() {
    RW_LOCK.check();
}
