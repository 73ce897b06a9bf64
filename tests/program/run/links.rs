//! A run folder from elsewhere in which a file or a folder is a link or a named pipe: nothing outside of it is read, shown to a
//! model, or changed, and nothing waits.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::counter::{self, INFORMAL, good};
use crate::support::folder::snapshot;
use crate::support::handoff::Waiting;
use crate::support::waiting::holds_within;
use crate::support::{Bench, Done};

const SECRET: &str = "a secret of the user";

/// Runs the program. A program that hangs is killed, and the test fails.
fn run(bench: &Bench, args: &[&str]) -> Done {
    let mut child = bench.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if !holds_within(Duration::from_secs(300), || child.try_wait().unwrap().is_some()) {
        child.kill().unwrap();
        panic!("{args:?} hangs");
    }
    Done::of(&child.wait_with_output().unwrap())
}

/// Moves a part of the run folder out of it, with a secret in it, and puts a link to it in its place.
fn replace_by_link(bench: &Bench, outside: &Path, part: &str) {
    let (inner, outer) = (bench.path("specs").join(part), outside.join(part.replace('/', "-")));
    match std::fs::rename(&inner, &outer) {
        Ok(()) if outer.is_dir() => std::fs::write(outer.join("secret.md"), SECRET).unwrap(),
        Ok(()) => {
            let text = std::fs::read_to_string(&outer).unwrap();
            std::fs::write(&outer, format!("{text}\n{SECRET}\n")).unwrap();
        }
        // The run has no such file: it is planted.
        Err(_) => std::fs::write(&outer, format!("{SECRET}\n")).unwrap(),
    }
    std::fs::create_dir_all(inner.parent().unwrap()).unwrap();
    symlink(&outer, &inner).unwrap();
}

fn replace_by_pipe(bench: &Bench, _: &Path, part: &str) {
    let inner = bench.path("specs").join(part);
    let _ = std::fs::remove_file(&inner);
    let _ = std::fs::remove_dir_all(&inner);
    std::fs::create_dir_all(inner.parent().unwrap()).unwrap();
    mknodat(CWD, &inner, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn no_part_of_a_run_folder_leads_out_of_it() {
    let template = counter::bench();
    template.forge(&good(), &[]).expect(0);
    let spec = template.read("specs/history/rev_0/Spec.tla");
    let mut artifacts = std::fs::read_dir(template.path("specs/artifacts")).unwrap().map(|entry| entry.unwrap().path());
    let of_spec = artifacts.find(|path| std::fs::read(path).unwrap() == spec.as_bytes()).unwrap();
    let artifact = format!("artifacts/{}", of_spec.file_name().unwrap().to_str().unwrap());
    let parts = [
        "journal.jsonl",
        "run.lock",
        "artifacts",
        &artifact,
        "history",
        "history/rev_0",
        "history/rev_0/Spec.tla",
        "history/rev_0/meta.json",
        "workspace",
        "workspace/docs",
        "candidates",
        "Spec.tla",
        "Spec.cfg",
        "informal_spec.md",
        "review.md",
        "tlc_output.txt",
        "accepted_drift.jsonl",
        "shared-run.txt",
        "checker.json",
        "defects",
        "labels",
        "handoff",
    ];
    let branch = ["resume", "specs", "--from", "rev_0", "--at", "formalize", "--recording", "script.jsonl"];
    let commands: [&[&str]; 6] = [
        &["report", "specs"],
        &["report", "specs", "--html", "page.html"],
        &["audit", "specs", "--policy", "default"],
        &["drift", "specs", "--docs", "docs"],
        &["resume", "specs", "--recording", "script.jsonl"],
        &branch,
    ];
    for make in [replace_by_link as fn(&Bench, &Path, &str), replace_by_pipe] {
        for part in parts {
            let (bench, outside) = (counter::bench(), tempfile::tempdir().unwrap());
            let mut copy = std::process::Command::new("cp");
            let from = ["specs", "script.jsonl"].map(|name| template.path(name));
            assert!(copy.arg("-a").args(from).arg(bench.path(".")).status().unwrap().success());
            make(&bench, outside.path(), part);
            let before = snapshot(outside.path());
            for command in commands {
                let done = run(&bench, command);
                let shown = done.stdout + &done.stderr;
                assert!(!shown.contains(SECRET), "{part} {command:?}: {shown}");
                let page = std::fs::read_to_string(bench.path("page.html")).unwrap_or_default();
                assert!(!page.contains(SECRET), "{part} {command:?}");
                assert_eq!(snapshot(outside.path()), before, "{part} {command:?} changes something outside: {shown}");
            }
            for kept in ["artifacts", "workspace", "handoff"].map(|folder| bench.path("specs").join(folder)) {
                assert!(!holds_secret(&kept), "{part}");
            }
        }
    }
}

/// Whether a file below a folder, which is no link, holds the secret.
fn holds_secret(folder: &Path) -> bool {
    let files = walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    files.into_iter().any(|file| std::fs::read_to_string(file.path()).is_ok_and(|text| text.contains(SECRET)))
        && !folder.is_symlink()
}

#[test]
fn an_answer_that_is_a_link_or_a_pipe_is_no_answer() {
    let handoff = ["run", "docs", "--provider", "handoff", "--out", "specs"];
    let plant: [fn(&Path, &Path); 4] = [
        |folder, secret| symlink(secret, folder.join("answer.md")).unwrap(),
        // The whole folder of the request.
        |folder, secret| {
            std::fs::copy(secret, secret.with_file_name("answer.md")).unwrap();
            std::fs::remove_dir_all(folder).unwrap();
            symlink(secret.parent().unwrap(), folder).unwrap();
        },
        |folder, _| mknodat(CWD, folder.join("answer.md"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap(),
        |folder, _| symlink("/dev/zero", folder.join("answer.md")).unwrap(),
    ];
    for (number, plant) in plant.into_iter().enumerate() {
        let (bench, outside) = (counter::bench(), tempfile::tempdir().unwrap());
        let secret: PathBuf = outside.path().join("secret.md");
        std::fs::write(&secret, format!("{INFORMAL}\n{SECRET}\n")).unwrap();
        // The run was ended while it waited, and its folder was sent to someone else, who goes on with it.
        let waiting = Waiting::start(&bench, &handoff);
        let folder = waiting.folder.clone();
        waiting.kill();
        plant(&folder, &secret);
        let before = snapshot(outside.path());
        let done = run(&bench, &["resume", "specs", "--provider", "handoff"]);
        assert_eq!(done.status, Some(5), "case {number}: {}{}", done.stdout, done.stderr);
        assert!(
            done.stderr.contains("a link") || done.stderr.contains("a named pipe"),
            "case {number}: {}",
            done.stderr
        );
        assert!(!holds_secret(&bench.path("specs/artifacts")), "case {number}");
        assert_eq!(snapshot(outside.path()), before, "case {number}");
    }
}
