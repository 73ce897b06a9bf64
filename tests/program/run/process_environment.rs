//! Signals, pipes, terminals, file limits and keys.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::counter::{CFG, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, sections};
use crate::support::folder::{RUN, ready, snapshot};
use crate::support::handoff::{Waiting, shell};
use crate::support::waiting::wait_until;
use crate::support::{name, outcome};

#[test]
fn a_run_interrupted_while_waiting_can_be_resumed() {
    for (signal, number) in [("INT", "Ctrl-C"), ("TERM", "SIGTERM")] {
        let bench = ready();
        let mut waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
        let folder = waiting.folder.clone();
        waiting.signal(signal);
        let done = waiting.end();
        assert_eq!(done.status, Some(130), "{number}: {}", done.stderr);
        let done = done.says(&["continue with: tlaforge resume", "stopped: interrupted"]);
        let printed = &done.stdout;
        assert!(
            printed.starts_with("Outcome: stopped, can be resumed")
                && printed.contains("\nWhy: interrupted\n")
                && printed.lines().count() < 8,
            "{printed}"
        );
        assert_eq!(outcome(&bench.journal("specs")), "stopped");
        let mut again = Waiting::start(&bench, &["resume", "specs"]);
        assert_eq!(again.folder, folder);
        again.signal("INT");
        assert_eq!(again.end().status, Some(130));
        let requests = bench.journal("specs").iter().filter(|e| name(e) == "request_sent").count();
        assert_eq!(requests, 1, "the same request, not a second one");
        assert_eq!(std::fs::read_dir(bench.path("specs/handoff")).unwrap().count(), 1);
    }
}

#[test]
fn an_interrupt_ends_a_running_checker_and_leaves_nothing_behind() {
    let mut bench = crate::support::counter::bench_with_java();
    let endless = MODULE.replace("while n < Max do", "while n >= 0 do");
    let loose = sections(&INVARIANTS.replace("0..10", "Nat").replace("n <= Max", "n >= 0"), "", WITNESSES, CFG);
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&endless)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &loose,
    );
    bench.write("script.jsonl", script.text());
    std::fs::create_dir(bench.path("tmp")).unwrap();
    let tmp = bench.path("tmp");
    bench.set("TMPDIR", tmp.to_str().unwrap());
    let mut command = bench.command(&RUN);
    let mut child = command.args(["--checker", "tlc"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = |text: &str| text.contains("\"lifeline\":\"model_check\"");
    let journal = bench.path("specs/journal.jsonl");
    wait_until("the check begins", || std::fs::read_to_string(&journal).is_ok_and(|t| begun(&t)));
    let ours = tmp.to_str().unwrap();
    let processes = || {
        let all = std::fs::read_dir("/proc").unwrap();
        let lines = all.filter_map(|e| std::fs::read_to_string(e.ok()?.path().join("cmdline")).ok());
        lines.filter(|line| line.contains(ours)).collect::<Vec<_>>()
    };
    wait_until("TLC runs", || processes().iter().any(|line| line.contains("tlc2.TLC")));
    shell(&format!("kill -INT {}", child.id()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0, "temporary folders are left");
    let left = processes();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(outcome(&bench.journal("specs")), "stopped");
}

#[test]
fn a_file_size_limit_is_an_error_with_a_message() {
    let bench = bench();
    bench.write("script.jsonl", good().text());
    for blocks in [2, 20] {
        let mut limited = std::process::Command::new("bash");
        let command = bench.command(&RUN);
        let program = command.get_program().to_owned();
        limited.arg("-c").arg(format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")).arg(program).args(command.get_args());
        limited.current_dir(bench.path(".")).envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
        let done = limited.output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(4), "{blocks}: {told}");
        assert!(told.contains("File too large") && told.contains("raise the limit"), "{told}");
        std::fs::remove_dir_all(bench.path("specs")).unwrap();
    }
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let script = bench.path("script.jsonl");
    let json = ["run", "docs", "--recording", script.to_str().unwrap(), "--format", "json", "--out", "other"];
    for (args, closed) in [
        (&["report", "specs"][..], "stdout"),
        (&["doctor"], "stdout"),
        (&["doctor", "--format", "json"], "stdout"),
        (&["--help"], "stdout"),
        (&["resume", "specs"], "stdout"),
        (&["resume", "specs"], "stderr"),
        (&json, "both"),
    ] {
        let mut command = bench.command(args);
        // A pipe whose reader is gone before the first byte.
        let broken = || {
            let mut cat = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
            let pipe = cat.stdin.take().unwrap();
            cat.wait().unwrap();
            Stdio::from(std::os::fd::OwnedFd::from(pipe))
        };
        command.stdout(if closed == "stderr" { Stdio::null() } else { broken() });
        command.stderr(if closed == "stdout" { Stdio::piped() } else { broken() });
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}, {closed} closed: {stderr}");
        assert!(!stderr.contains("panic"), "{stderr}");
    }
    assert_eq!(outcome(&bench.journal("other")), "approved");
}

#[test]
fn output_to_a_file_has_no_escape_codes() {
    let bench = bench();
    for (args, status) in [
        (&["run", "docs", "--recording", "nothing"][..], 2),
        (&["--help"], 0),
        (&["run", "--helf"], 2),
        (&["doctor"], 0),
    ] {
        for env in [&[][..], &[("NO_COLOR", "1")], &[("CI", "true")]] {
            let done = bench.run_with(args, env).expect(status);
            assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'), "{args:?}");
        }
    }
    let done = bench.forge(&good(), &[]).expect(0);
    assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'));
    assert!(!done.stderr.contains('\r'));
}

// ---- keys

#[test]
fn no_file_and_no_tools_environment_contains_a_key() {
    const MARKER: &str = "sk-marker-5f1c0a";
    let mut bench = crate::support::counter::bench_with_java();
    let real = bench.command(&[]).get_envs().find(|(k, _)| *k == "JAVA_HOME").unwrap().1.unwrap().to_owned();
    let dump = bench.path("environment.txt");
    let java = bench.write(
        "jdk/bin/java",
        format!(
            "#!/bin/sh\n{{ echo \"run: $*\"; env; }} >>'{}'\nexec '{}/bin/java' \"$@\"\n",
            dump.display(),
            Path::new(&real).display()
        ),
    );
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = bench.path("jdk");
    bench.set("JAVA_HOME", home.to_str().unwrap());
    for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
        bench.set(key, MARKER);
    }
    bench.forge(&good(), &["--record", "again.jsonl"]).expect(0);
    let environment = std::fs::read_to_string(&dump).unwrap();
    assert!(environment.contains("tlc2.TLC") && environment.contains("pcal.trans"), "{environment}");
    for (path, bytes) in snapshot(bench.dir.path()) {
        if path.ends_with("program") {
            continue;
        }
        let found = bytes.windows(MARKER.len()).any(|w| w == MARKER.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}
