//! Files that another person may have planted: only regular files are opened, up to a limit, and no link leads out of its
//! folder.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::counter::{MODULE, bench, good};
use crate::support::folder::{RUN, ready, snapshot};
use crate::support::waiting::holds_within;
use crate::support::{Bench, Done};

const SECRET: &str = "---- MODULE Secret ----\nthe secret of another folder\n====\n";

/// Runs the program. A program that hangs is killed, and the test fails.
fn run(bench: &Bench, args: &[&str]) -> Done {
    let mut child = bench.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if !holds_within(Duration::from_secs(300), || child.try_wait().unwrap().is_some()) {
        child.kill().unwrap();
        panic!("{args:?} hangs");
    }
    Done::of(&child.wait_with_output().unwrap())
}

fn pipe(path: &Path) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

fn endless(path: &Path) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink("/dev/zero", path).unwrap();
}

fn huge(path: &Path) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
}

#[test]
fn an_input_that_is_not_regular_or_too_large_is_rejected_at_once() {
    let check = ["check", "Bad.tla", "--checker", "embedded"];
    let cases: [(&str, &[&str]); 9] = [
        ("exemplars/X.tla", &RUN),
        ("prompts/review/role.md.hbs", &RUN),
        ("tlaforge.toml", &RUN),
        ("prices.toml", &[&RUN[..], &["--prices", "prices.toml"]].concat()),
        ("policy.toml", &[&RUN[..], &["--policy", "policy.toml"]].concat()),
        ("goal.toml", &[&RUN[..], &["--objective", "goal.toml"]].concat()),
        ("Bad.tla", &check),
        ("Bad.tla", &["translate", "Bad.tla"]),
        ("specs/journal.jsonl", &["report", "specs"]),
    ];
    for (make, words) in [
        (pipe as fn(&Path), &["named pipe"][..]),
        (endless, &["a device", "leads out of", "a link"]),
        (huge, &["larger than"]),
    ] {
        for (file, args) in &cases {
            let bench = ready();
            make(&bench.path(file));
            let done = run(&bench, args).expect(2);
            assert!(words.iter().any(|w| done.stderr.contains(w)), "{file}: {}", done.stderr);
            let name = Path::new(file).file_name().unwrap().to_str().unwrap();
            assert!(done.stderr.contains(name), "{file}: {}", done.stderr);
            assert_eq!(bench.path("specs").exists(), file.starts_with("specs"), "{file}");
        }
    }
}

#[test]
fn a_run_file_replaced_by_a_pipe_or_device_is_rejected_at_once() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let spec = bench.read("specs/history/rev_0/Spec.tla");
    let artifacts = std::fs::read_dir(bench.path("specs/artifacts")).unwrap().map(|entry| entry.unwrap().path());
    let artifact = artifacts.into_iter().find(|path| std::fs::read(path).unwrap() == spec.as_bytes()).unwrap();
    let artifact = artifact.strip_prefix(bench.dir.path()).unwrap().to_str().unwrap().to_owned();
    let branch = ["resume", "specs", "--from", "rev_0", "--at", "formalize", "--recording", "script.jsonl"];
    for make in [pipe as fn(&Path), endless] {
        for (file, args) in [
            ("specs/journal.jsonl", &["resume", "specs"][..]),
            ("specs/journal.jsonl", &["audit", "specs", "--policy", "default"]),
            ("specs/run.lock", &["resume", "specs"]),
            ("specs/history/rev_0/Spec.tla", &branch),
            (&artifact, &branch),
        ] {
            let kept = bench.path("kept");
            // The lock is gone once the run has ended.
            let is_kept = bench.path(file).exists();
            if is_kept {
                std::fs::rename(bench.path(file), &kept).unwrap();
            }
            make(&bench.path(file));
            let done = run(&bench, args);
            assert_ne!(done.status, Some(0), "{file} {args:?}: {}", done.stdout);
            assert!(done.stderr.contains(Path::new(file).file_name().unwrap().to_str().unwrap()), "{}", done.stderr);
            std::fs::remove_file(bench.path(file)).unwrap();
            if is_kept {
                std::fs::rename(&kept, bench.path(file)).unwrap();
            }
        }
    }
}

#[test]
fn a_pipe_as_files_read_txt_lists_nothing() {
    use crate::support::handoff::Waiting;
    let bench = bench();
    let mut waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
    pipe(&waiting.folder.join("files_read.txt"));
    waiting.answer(crate::support::counter::INFORMAL);
    waiting.next();
    waiting.kill();
}

/// What a test lays out before it runs the program.
type Prepare<'a> = Box<dyn Fn(&Bench) + 'a>;

#[test]
fn a_link_out_of_a_folder_shows_nothing_to_a_model() {
    let elsewhere = Bench::without_tools();
    let secret = elsewhere.write("Secret.tla", SECRET);
    elsewhere.write("x/Secret.tla", SECRET);
    elsewhere.write("p/review/role.md.hbs", SECRET);
    elsewhere.write("d/secret.md", SECRET);
    let outside = |name: &str| elsewhere.path(name).display().to_string();
    let link = |from: &'static str, to: &'static str| -> Prepare<'_> {
        let to = elsewhere.path(to);
        Box::new(move |bench: &Bench| {
            std::fs::create_dir_all(bench.path(from).parent().unwrap()).unwrap();
            symlink(&to, bench.path(from)).unwrap();
        })
    };
    let settings = |text: String| -> Prepare<'_> {
        Box::new(move |bench: &Bench| {
            bench.write("tlaforge.toml", &text);
        })
    };
    assert!(secret.exists());
    let cases: Vec<(Prepare<'_>, Vec<&str>, &str)> = vec![
        (link("exemplars/X.tla", "Secret.tla"), vec![], "leads out of"),
        (link("exemplars", "x"), vec![], "--exemplars DIR"),
        (link("prompts", "p"), vec![], "--prompts DIR"),
        (link("prompts/review/role.md.hbs", "Secret.tla"), vec![], "leads out of"),
        (link("prompts/review", "p/review"), vec![], "leads out of"),
        (link("own/X.tla", "Secret.tla"), vec!["--exemplars", "own"], "leads out of"),
        (settings(format!("exemplars = {:?}\n", outside("x"))), vec![], "--exemplars DIR"),
        (settings("exemplars = \"../\"\n".into()), vec![], "--exemplars DIR"),
        (settings(format!("prompts = {:?}\n", outside("p"))), vec![], "--prompts DIR"),
        (settings(format!("prices = {:?}\n", outside("Secret.tla"))), vec![], "--prices FILE"),
    ];
    for (number, (prepare, more, words)) in cases.iter().enumerate() {
        let bench = ready();
        prepare(&bench);
        let done = run(&bench, &[&RUN[..], more].concat());
        assert_eq!(done.status, Some(2), "case {number}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(words), "case {number}: {}", done.stderr);
        assert!(!bench.path("specs").exists(), "case {number}");
    }
    // Named on the command line, a folder may be anywhere, and links within it are followed.
    let bench = ready();
    settings(format!("exemplars = {:?}\n", outside("x")))(&bench);
    symlink(elsewhere.path("x/Secret.tla"), elsewhere.path("x/Again.tla")).unwrap();
    run(&bench, &["run", "docs", "--provider", "replay", "--recording", "none", "--exemplars", &outside("x")])
        .expect(2)
        .says(&["none"]);
    // The documents of a case.
    let case = ready();
    case.write("case/checklist.json", "{\"name\": \"c\", \"required_invariants\": []}");
    symlink(elsewhere.path("d"), case.path("case/docs")).unwrap();
    run(&case, &["run", "--case", "case", "--recording", "script.jsonl"]).expect(2).says(&["leads out of the case"]);
}

#[test]
fn a_link_in_the_history_of_a_run_shows_nothing_to_a_model() {
    let elsewhere = Bench::without_tools();
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let spec = bench.path("specs/history/rev_0/Spec.tla");
    std::fs::remove_file(&spec).unwrap();
    symlink(elsewhere.write("Secret.tla", MODULE), &spec).unwrap();
    let before = snapshot(&bench.path("specs"));
    let branch = ["resume", "specs", "--from", "rev_0", "--at", "formalize", "--recording", "script.jsonl"];
    run(&bench, &branch).expect(2).says(&["Spec.tla", "a link"]);
    assert_eq!(snapshot(&bench.path("specs")), before);
}

#[test]
fn a_lock_or_journal_that_is_a_link_is_not_written_to() {
    let elsewhere = Bench::without_tools();
    for file in ["run.lock", "journal.jsonl"] {
        let bench = bench();
        bench.forge(&good(), &[]).expect(0);
        let was = std::fs::read_to_string(bench.path("specs").join(file)).unwrap_or_default();
        let own = elsewhere.write(file, was + "mine");
        let _ = std::fs::remove_file(bench.path("specs").join(file));
        symlink(&own, bench.path("specs").join(file)).unwrap();
        run(&bench, &["resume", "specs"]).expect(2).says(&[file, "a link"]);
        assert!(elsewhere.read(file).ends_with("mine"), "{file}");
    }
}
