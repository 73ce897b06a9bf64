//! After SIGKILL, the program leaves neither a running tool nor the tool's folder.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Bench;
use crate::support::waiting::{holds_within, wait_until};

/// How long what was left behind may live.
const SOON: Duration = Duration::from_secs(2);

/// Whether a process runs; a zombie that init has not reaped yet does not.
fn alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

/// What a failing test leaves behind ends with it.
struct Ends<'a>(Vec<&'a str>);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg("-KILL").args(&self.0).stderr(Stdio::null()).status();
    }
}

/// A machine whose `java` is this script, with a temporary folder of its own.
fn faking(java: &str) -> Bench {
    let mut bench = Bench::without_tools();
    let java = bench.write("jre/bin/java", format!("#!/bin/sh\n{java}"));
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.write("tla2tools.jar", "a fake");
    std::fs::create_dir(bench.path("tmp")).unwrap();
    for (name, path) in [("JAVA_HOME", "jre"), ("TLA_TOOLS_JAR", "tla2tools.jar"), ("TMPDIR", "tmp")] {
        let path = bench.path(path);
        bench.set(name, path.to_str().unwrap());
    }
    bench.write("M.tla", "---- MODULE M ----\nVARIABLE x\nInit == x = 0\nNext == x' = x\n====\n");
    bench.write("M.cfg", "INIT Init\nNEXT Next\n");
    bench
}

fn checking(bench: &Bench) -> Child {
    bench.command(&["check", "M.tla"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn folders(bench: &Bench) -> usize {
    std::fs::read_dir(bench.path("tmp")).unwrap().count()
}

/// Command lines of processes that name the temporary folder or stand in it.
fn concerned(bench: &Bench) -> Vec<String> {
    let tmp = bench.path("tmp");
    let tmp = tmp.to_str().unwrap();
    let of = |folder: &Path| {
        let line = std::fs::read_to_string(folder.join("cmdline")).ok()?;
        let stands = std::fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd.to_str().unwrap().contains(tmp));
        (stands || line.contains(tmp)).then_some(line)
    };
    std::fs::read_dir("/proc").unwrap().filter_map(|e| of(&e.ok()?.path())).collect()
}

#[test]
fn a_kill_ends_the_tool_and_removes_its_folder() {
    // It does not listen to SIGTERM, has a child of its own, and writes into its folder as long as it lives.
    let bench = faking(
        "trap '' TERM HUP INT\nsleep 600 &\necho \"$$ $!\" >../../../new\nmv ../../../new ../../../seen\n\
         while :; do echo state >>../meta/states; done\n",
    );
    let child = checking(&bench);
    wait_until("the tool is started", || bench.path("seen").exists());
    let seen = bench.read("seen");
    let ends = Ends(seen.split_whitespace().collect());
    let pids = &ends.0;
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| alive(pid)), "the test sees no process");
    assert!(folders(&bench) == 1 && !concerned(&bench).is_empty(), "the test sees no folder");

    kill(child);
    assert!(holds_within(SOON, || !pids.iter().any(|pid| alive(pid))), "the tool runs on");
    assert!(holds_within(SOON, || folders(&bench) == 0), "its folder is left");
    assert!(holds_within(SOON, || concerned(&bench).is_empty()), "{:?} are left", concerned(&bench));
}

#[test]
fn a_kill_at_any_instant_leaves_nothing_behind() {
    let bench = faking("echo x >>../../../seen\nexec sleep 600\n");
    let mut with_folder = 0;
    for round in 0..60 {
        let child = checking(&bench);
        // Around the start of the first tool, which is where things are made one after the other.
        let begun = Instant::now();
        while folders(&bench) == 0 && begun.elapsed() < Duration::from_secs(20) {
            std::hint::spin_loop();
        }
        let there = Instant::now();
        while there.elapsed() < Duration::from_micros(round * 50) {
            std::hint::spin_loop();
        }
        with_folder += folders(&bench);
        kill(child);
        assert!(holds_within(SOON, || folders(&bench) == 0), "round {round}: a folder is left");
        assert!(holds_within(SOON, || concerned(&bench).is_empty()), "round {round}: {:?} are left", concerned(&bench));
    }
    let started = std::fs::read_to_string(bench.path("seen")).unwrap_or_default().lines().count();
    println!("60 kills, {with_folder} with a folder there, {started} with the tool running");
    assert!(with_folder > 30, "the kills are not around the start");
}
