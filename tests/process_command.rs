//! Child processes end, whatever they do.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

#[path = "support/waiting.rs"]
mod waiting;

use std::time::{Duration, Instant};

use tlaforge::process::{Cancel, Command, Ended, Status};
use waiting::holds_within;

fn shell(script: &str) -> Command {
    Command::new("/bin/sh").arg("-c").arg(script).env("PATH", "/usr/bin:/bin").grace(Duration::from_millis(200))
}

async fn run(command: &Command) -> Ended {
    command.run(&Cancel::new(), &mut |_| {}).await.expect("the shell starts")
}

fn alive(pid: &str) -> bool {
    // A zombie of a killed grandchild stays until init reaps it; it runs no more.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

fn ends(pid: &str) -> bool {
    holds_within(Duration::from_secs(2), || !alive(pid))
}

#[tokio::test]
async fn output_and_status_are_returned_and_lines_are_seen_at_once() {
    let mut lines = Vec::new();
    let ended = shell("echo one; echo two; echo bad >&2; printf end; exit 7")
        .run(&Cancel::new(), &mut |line| lines.push(line.to_owned()))
        .await
        .expect("the shell starts");
    assert_eq!(ended.status, Status::Exited(7));
    assert_eq!(ended.stdout, b"one\ntwo\nend");
    assert_eq!(ended.stderr, b"bad\n");
    assert_eq!(lines, ["one", "two", "end"]);
}

#[tokio::test]
async fn the_environment_has_only_the_given_variables() {
    let ended = run(&Command::new("/usr/bin/env").env("ONLY", "this")).await;
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "ONLY=this\n");
}

#[tokio::test]
async fn standard_input_is_given_or_empty() {
    let ended = run(&shell("cat").stdin("given")).await;
    assert_eq!(ended.stdout, b"given");
    let ended = run(&shell("cat")).await;
    assert_eq!((ended.status, ended.stdout.len()), (Status::Exited(0), 0));
    let big = vec![b'x'; 3 << 20];
    let ended = run(&shell("cat").stdin(big.clone())).await;
    assert_eq!(ended.stdout.len(), big.len());
    let ended = run(&shell("exit 3").stdin(big)).await;
    assert_eq!(ended.status, Status::Exited(3));
}

#[tokio::test]
async fn a_child_that_ignores_term_is_killed_with_its_children() {
    let ended =
        run(&shell("trap '' TERM; sleep 60 & echo $!; while :; do sleep 1; done").deadline(Duration::from_millis(300)))
            .await;
    assert_eq!(ended.status, Status::DeadlineExceeded);
    assert!(ended.wall < Duration::from_secs(5), "{:?}", ended.wall);
    let grandchild = String::from_utf8(ended.stdout).expect("digits");
    assert!(ends(grandchild.trim()));
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_pipe_open_is_killed_and_does_not_block() {
    let before = Instant::now();
    let ended = run(&shell("sleep 60 & echo $!")).await;
    assert_eq!(ended.status, Status::Exited(0));
    assert!(before.elapsed() < Duration::from_secs(5));
    let grandchild = String::from_utf8(ended.stdout).expect("digits");
    assert!(ends(grandchild.trim()));
}

#[tokio::test]
async fn a_grandchild_in_its_own_session_does_not_block() {
    let before = Instant::now();
    let ended = run(&shell("setsid sleep 3 & exit 0")).await;
    assert_eq!(ended.status, Status::Exited(0));
    assert!(before.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn the_output_is_limited() {
    let ended = run(&shell("while :; do echo flood; done").output_cap(10_000)).await;
    assert_eq!(ended.status, Status::OutputFlood);
    assert_eq!(ended.stdout.len(), 10_000);
}

#[tokio::test]
async fn cancel_ends_the_child() {
    let cancel = Cancel::new();
    let sleeps = shell("echo begun; exec sleep 60");
    let ended = sleeps.run(&cancel, &mut |_| cancel.cancel()).await.expect("the shell starts");
    assert_eq!(ended.status, Status::Cancelled);
    assert!(ended.wall < Duration::from_secs(5));
}

#[tokio::test]
async fn a_signal_from_outside_is_reported_as_such() {
    assert_eq!(run(&shell("kill -KILL $$")).await.status, Status::Signalled(9));
}

#[tokio::test]
async fn a_dropped_future_ends_the_group() {
    let (send, receive) = tokio::sync::oneshot::channel::<String>();
    let mut send = Some(send);
    let command = shell("sleep 60 & echo $!; wait");
    let cancel = Cancel::new();
    let mut on_line = move |line: &str| {
        if let Some(send) = send.take() {
            let _ = send.send(line.to_owned());
        }
    };
    let pid = tokio::select! {
        _ = command.run(&cancel, &mut on_line) => unreachable!("it sleeps"),
        pid = receive => pid.expect("a line"),
    };
    assert!(ends(&pid));
}

#[tokio::test]
async fn a_missing_program_is_an_error_that_names_it() {
    let error = Command::new("/no/such/program").run(&Cancel::new(), &mut |_| {}).await.expect_err("missing");
    assert!(error.to_string().contains("/no/such/program"), "{error}");
}

#[tokio::test]
async fn the_log_holds_both_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("child.log");
    run(&shell("echo out; echo err >&2").log(&log)).await;
    let text = std::fs::read_to_string(log).expect("the log");
    assert!(text.contains("out\n") && text.contains("err\n"), "{text}");
}

#[tokio::test]
async fn the_watch_on_a_child_costs_little() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut best = [Duration::MAX; 2];
    for _ in 0..20 {
        let begun = Instant::now();
        run(&Command::new("/bin/true")).await;
        best[0] = best[0].min(begun.elapsed());
        let begun = Instant::now();
        drop(tlaforge::process::Scratch::new(folder.path(), "x-").expect("a folder"));
        best[1] = best[1].min(begun.elapsed());
    }
    println!("a child and its watch: {:?}, a folder and its watch: {:?}", best[0], best[1]);
    assert!(best[0] + best[1] < Duration::from_millis(100), "{best:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
