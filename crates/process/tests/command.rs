//! Child processes end, whatever they do.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

#[path = "../../../tests/support/waiting.rs"]
mod waiting;

use std::time::{Duration, Instant};

use tlaforge_process::{Cancel, Command, Ended, Status};
use waiting::{HANG, end_of, wait_until};

fn shell(script: &str) -> Command {
    Command::new("/bin/sh").arg("-c").arg(script).env("PATH", "/usr/bin:/bin").grace(Duration::from_millis(200))
}

async fn run(command: &Command) -> Ended {
    end_of("the child ends", command.run(&Cancel::new(), &mut |_| {})).await.expect("the shell starts")
}

fn alive(pid: &str) -> bool {
    // A zombie of a killed grandchild stays until init reaps it; it runs no more.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

#[track_caller]
fn assert_ends(pid: &str) {
    assert!(pid.parse::<u32>().is_ok(), "{pid:?}");
    wait_until("the grandchild ends", || !alive(pid));
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
    let mut lines = Vec::new();
    let noisy = shell("echo one; echo bad >&2; printf end >&2").reports_error_lines();
    noisy.run(&Cancel::new(), &mut |line| lines.push(line.to_owned())).await.expect("the shell starts");
    // The order between the two streams is not known.
    lines.sort();
    assert_eq!(lines, ["bad", "end", "one"]);
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
    // A deadline takes time by nature. A busy machine may need longer than the first one until the child has said anything.
    for millis in [300, 3_000, 30_000] {
        let deadline = Duration::from_millis(millis);
        let ended = run(&shell(&format!("trap '' TERM; {HANG} & echo $!; wait")).deadline(deadline)).await;
        assert_eq!(ended.status, Status::DeadlineExceeded);
        assert!(ended.wall >= deadline, "{:?}", ended.wall);
        let grandchild = String::from_utf8(ended.stdout).expect("digits");
        if !grandchild.is_empty() {
            return assert_ends(grandchild.trim());
        }
    }
    panic!("the child has said nothing");
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_pipe_open_is_killed_and_does_not_block() {
    let ended = run(&shell(&format!("{HANG} & echo $!"))).await;
    assert_eq!(ended.status, Status::Exited(0));
    let grandchild = String::from_utf8(ended.stdout).expect("digits");
    assert_ends(grandchild.trim());
}

#[tokio::test]
async fn a_grandchild_in_its_own_session_does_not_block() {
    let folder = tempfile::tempdir().expect("a folder");
    // The child ends only after the grandchild has left its group.
    let script = format!("setsid sh -c 'echo $$ >left; {HANG}' & while [ ! -s left ]; do :; done");
    let ended = run(&shell(&script).cwd(folder.path())).await;
    assert_eq!(ended.status, Status::Exited(0));
    let grandchild = std::fs::read_to_string(folder.path().join("left")).expect("its id");
    assert!(alive(grandchild.trim()), "it still holds the output open");
    let killed = std::process::Command::new("kill").arg(grandchild.trim()).status().expect("kill starts");
    assert!(killed.success());
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
    let hangs = shell(&format!("echo begun; {HANG}"));
    let mut on_line = |_: &str| cancel.cancel();
    let ended = end_of("the child ends", hangs.run(&cancel, &mut on_line)).await.expect("the shell starts");
    assert_eq!(ended.status, Status::Cancelled);
}

#[tokio::test]
async fn a_signal_from_outside_is_reported_as_such() {
    assert_eq!(run(&shell("kill -KILL $$")).await.status, Status::Signalled(9));
}

#[tokio::test]
async fn a_dropped_future_ends_the_group() {
    let (send, receive) = tokio::sync::oneshot::channel::<String>();
    let mut send = Some(send);
    let command = shell(&format!("{HANG} & echo $!; wait"));
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
    assert_ends(&pid);
}

#[tokio::test]
async fn a_child_that_ends_with_its_parent_needs_no_watch() {
    let ended = run(&shell("read -r line; echo $line; exit 3").stdin("given\n").ends_with_parent()).await;
    assert_eq!((ended.status, &*ended.stdout), (Status::Exited(3), &b"given\n"[..]));
    let unread = vec![b'x'; 3 << 20];
    assert_eq!(run(&shell("exit 3").stdin(unread).ends_with_parent()).await.status, Status::Exited(3));
    // Its standard input stays open as long as it runs, and it leads a group of its own.
    let deadline = Duration::from_millis(300);
    let ended = run(&shell("trap '' TERM; cat; echo over").stdin("given").ends_with_parent().deadline(deadline)).await;
    assert_eq!((ended.status, &*ended.stdout), (Status::DeadlineExceeded, &b"given"[..]));
    let ended = run(&shell("read -r _ _ _ _ group _ </proc/$$/stat; echo $group; echo $$").ends_with_parent()).await;
    let ids = String::from_utf8(ended.stdout).expect("digits");
    assert!(ids.lines().count() == 2 && ids.lines().all(|id| Some(id) == ids.lines().next()), "{ids}");
}

#[tokio::test]
async fn a_dropped_future_ends_a_child_that_ends_with_its_parent() {
    let (send, receive) = tokio::sync::oneshot::channel::<String>();
    let mut send = Some(send);
    let command = shell("echo $$; read -r end").ends_with_parent();
    let cancel = Cancel::new();
    let mut on_line = move |line: &str| {
        if let Some(send) = send.take() {
            let _ = send.send(line.to_owned());
        }
    };
    let pid = tokio::select! {
        _ = command.run(&cancel, &mut on_line) => unreachable!("it waits"),
        pid = receive => pid.expect("a line"),
    };
    assert_ends(&pid);
}

#[tokio::test]
async fn a_child_ends_although_its_watch_was_killed() {
    // The shell that watches over the group leads it.
    let script = format!(
        "read -r _ _ _ _ group _ </proc/$$/stat; kill -KILL $group; trap '' TERM; {HANG} & echo $!; \
         while :; do {HANG}; done"
    );
    let ended = run(&shell(&script).deadline(Duration::from_millis(500))).await;
    assert_eq!(ended.status, Status::DeadlineExceeded);
    let grandchild = String::from_utf8(ended.stdout).expect("digits");
    assert_ends(grandchild.trim());
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
    // Compared with the bare child, so that the speed of the machine does not matter.
    let mut best = [Duration::MAX; 3];
    for _ in 0..20 {
        let begun = Instant::now();
        std::process::Command::new("/bin/true").status().expect("it starts");
        best[2] = best[2].min(begun.elapsed());
        let begun = Instant::now();
        run(&Command::new("/bin/true")).await;
        best[0] = best[0].min(begun.elapsed());
        let begun = Instant::now();
        drop(tlaforge_process::Scratch::new(folder.path(), "x-").expect("a folder"));
        best[1] = best[1].min(begun.elapsed());
    }
    println!(
        "a child and its watch: {:?}, a folder and its watch: {:?}, a bare child: {:?}",
        best[0], best[1], best[2]
    );
    assert!(best[0] + best[1] < best[2] * 50, "{best:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
