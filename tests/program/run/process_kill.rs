//! After SIGKILL, the program leaves neither a running tool nor the tool's folder.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Bench;
use crate::support::waiting::{HANG, wait_until};

/// Whether a process runs; a zombie that init has not reaped yet does not.
fn alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

/// Kills these processes when it is dropped, so that a failing test leaves none.
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
    // With `auto`, the embedded checker would decide, and the fake `java` would not start.
    let checker = if bench.path("jre").exists() { "tlc" } else { "embedded" };
    bench
        .command(&["check", "M.tla", "--checker", checker])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn signal(name: &str, pids: &[String]) {
    Command::new("kill").arg(name).args(pids).stderr(Stdio::null()).status().unwrap();
}

fn folders(bench: &Bench) -> usize {
    std::fs::read_dir(bench.path("tmp")).unwrap().count()
}

/// Command lines of processes that name the temporary folder or whose working folder is in it.
fn concerned(bench: &Bench) -> Vec<String> {
    let tmp = bench.path("tmp");
    let named = |(folder, line): &(PathBuf, String)| works_in(folder, &tmp) || line.contains(tmp.to_str().unwrap());
    processes().into_iter().filter(named).map(|(_, line)| line).collect()
}

/// Whether the command line of one of these processes names the temporary folder.
fn names_the_folder(bench: &Bench, pids: &[String]) -> bool {
    let line = |pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    pids.iter().any(|pid| line(pid).contains(bench.path("tmp").to_str().unwrap()))
}

/// The folder in `/proc` and the command line of each process.
fn processes() -> Vec<(PathBuf, String)> {
    let process = |folder: PathBuf| std::fs::read_to_string(folder.join("cmdline")).ok().map(|line| (folder, line));
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| process(entry.ok()?.path())).collect()
}

fn works_in(process: &Path, folder: &Path) -> bool {
    std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
}

/// Ids of processes that work in this folder.
fn working_in(folder: &Path) -> Vec<String> {
    let working = processes().into_iter().filter(|(process, _)| works_in(process, folder));
    working.map(|(process, _)| process.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// Whether a process works in this folder, and each that does was given its own command line.
fn started_in(folder: &Path) -> bool {
    let working: Vec<_> = processes().into_iter().filter(|(process, _)| works_in(process, folder)).collect();
    !working.is_empty() && working.iter().all(|(_, line)| !line.contains("check\0M.tla"))
}

/// A specification whose check by the embedded checker does not end.
fn endless() -> Bench {
    let mut bench = Bench::without_tools();
    std::fs::create_dir(bench.path("tmp")).unwrap();
    let tmp = bench.path("tmp");
    bench.set("TMPDIR", tmp.to_str().unwrap());
    bench.write(
        "M.tla",
        "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = (x + 1) % 100000000\n\
         Back == []<>(x = 0)\nSpec == Init /\\ [][Next]_x /\\ WF_x(Next)\n====\n",
    );
    bench.write("M.cfg", "SPECIFICATION Spec\nPROPERTY Back\n");
    bench
}

#[test]
fn a_kill_ends_the_tool_and_removes_its_folder() {
    // It does not listen to SIGTERM, has a child of its own, and writes into its folder as long as it lives.
    let bench = faking(&format!(
        "trap '' TERM HUP INT\n{HANG} &\necho \"$$ $!\" >../../../new\nmv ../../../new ../../../seen\n\
         while :; do echo state >>../meta/states; done\n"
    ));
    let child = checking(&bench);
    wait_until("the tool is started", || bench.path("seen").exists());
    let seen = bench.read("seen");
    let ends = Ends(seen.split_whitespace().collect());
    let pids = &ends.0;
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| alive(pid)), "the test sees no process");
    assert!(folders(&bench) == 1 && !concerned(&bench).is_empty(), "the test sees no folder");

    kill(child);
    wait_until("the tool ends", || !pids.iter().any(|pid| alive(pid)));
    wait_until("its folder is removed", || folders(&bench) == 0);
    wait_until("no process of it is left", || concerned(&bench).is_empty());
}

#[test]
fn a_kill_ends_the_embedded_checker_and_removes_its_folder() {
    let bench = endless();
    let child = checking(&bench);
    wait_until("the checker works", || !working_in(&bench.path("tmp")).is_empty());
    let pids = working_in(&bench.path("tmp"));
    let ends = Ends(pids.iter().map(String::as_str).collect());
    assert!(folders(&bench) == 1, "the test sees no folder");
    // By such a path it could create the folder again after it was removed.
    assert!(!names_the_folder(&bench, &pids), "the checker knows an absolute path of its folder");
    kill(child);
    wait_until("the checker ends", || !ends.0.iter().any(|pid| alive(pid)));
    wait_until("its folder is removed", || folders(&bench) == 0);
    wait_until("no process of it is left", || concerned(&bench).is_empty());
}

#[test]
fn an_embedded_checker_that_is_killed_is_an_error_and_leaves_nothing() {
    let bench = endless();
    let mut child = checking(&bench);
    wait_until("the checker works", || !working_in(&bench.path("tmp")).is_empty());
    // Each run of the check, until the program gives up.
    wait_until("the program ends", || {
        drop(Ends(working_in(&bench.path("tmp")).iter().map(String::as_str).collect()));
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert_eq!(folders(&bench), 0);
    wait_until("no process of it is left", || concerned(&bench).is_empty());
}

#[test]
fn an_interrupt_ends_a_tool_although_its_watches_were_killed() {
    let bench = faking(&format!("echo $$ >../../../new\nmv ../../../new ../../../seen\n{HANG}\n"));
    let mut child = checking(&bench);
    wait_until("the tool is started", || bench.path("seen").exists());
    let seen = bench.read("seen");
    let parent = format!("PPid:\t{}\n", child.id());
    let is_watch = |(folder, line): &(PathBuf, String)| {
        line.contains("tlaforge-watch")
            && std::fs::read_to_string(folder.join("status")).is_ok_and(|status| status.contains(&parent))
    };
    let watches: Vec<_> = processes().into_iter().filter(is_watch).map(|(folder, _)| folder).collect();
    assert_eq!(watches.len(), 2, "one of the tool, one of the folder");
    drop(Ends(watches.iter().map(|folder| folder.file_name().unwrap().to_str().unwrap()).collect()));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_until("the tool ends", || !alive(seen.trim()));
    assert_eq!(folders(&bench), 0, "its folder is left");
}

#[test]
fn a_kill_at_any_instant_of_an_embedded_check_leaves_nothing_behind() {
    let bench = endless();
    let (mut with_folder, mut with_checker) = (0, 0);
    for round in 0..60 {
        let child = checking(&bench);
        let begun = Instant::now();
        while folders(&bench) == 0 && begun.elapsed() < Duration::from_secs(20) {
            std::hint::spin_loop();
        }
        let there = Instant::now();
        while there.elapsed() < Duration::from_micros(round * 100) {
            std::hint::spin_loop();
        }
        with_folder += folders(&bench);
        with_checker += working_in(&bench.path("tmp")).len();
        kill(child);
        wait_until(&format!("the folder of round {round} is removed"), || folders(&bench) == 0);
        wait_until(&format!("no process of round {round} is left"), || concerned(&bench).is_empty());
    }
    println!("60 kills, {with_folder} with a folder there, {with_checker} with the checker running");
    assert!(with_folder > 30, "the kills are not around the start");
}

/// On a busy machine, the shell can remove the folder before the checker notices that its parent was killed.
#[test]
fn a_checker_that_ends_late_does_not_create_its_folder_again() {
    let bench = endless();
    let mut with_checker = 0;
    for round in 0..40 {
        let child = checking(&bench);
        let begun = Instant::now();
        // A process that is stopped before it has its own program keeps the pipe open by which the shell sees the kill.
        while !started_in(&bench.path("tmp")) && begun.elapsed() < Duration::from_secs(20) {
            std::hint::spin_loop();
        }
        let checkers = working_in(&bench.path("tmp"));
        signal("-STOP", &checkers);
        with_checker += checkers.len();
        kill(child);
        wait_until(&format!("the folder of round {round} is removed"), || folders(&bench) == 0);
        signal("-CONT", &checkers);
        wait_until(&format!("no process of round {round} is left"), || !checkers.iter().any(|pid| alive(pid)));
        assert_eq!(folders(&bench), 0, "round {round}");
    }
    assert!(with_checker > 20, "{with_checker} of 40 kills were while the checker ran");
}

#[test]
fn a_kill_at_any_instant_ends_the_static_checks_of_a_long_module() {
    let bench = endless();
    // Long enough for a child of its own.
    let long = format!("\\* {}\n====\n", "a long comment ".repeat(5_000));
    bench.write("M.tla", bench.read("M.tla").replace("====\n", &long));
    let here = bench.path(".").canonicalize().unwrap();
    let mut with_child = 0;
    // On a busy machine, more kills come after the static checks.
    for round in 0..200 {
        let child = checking(&bench);
        let begun = Instant::now();
        while working_in(&here).len() < 2 && begun.elapsed() < Duration::from_secs(20) {
            std::hint::spin_loop();
        }
        let there = Instant::now();
        while there.elapsed() < Duration::from_micros(round % 20 * 500) {
            std::hint::spin_loop();
        }
        with_child += usize::from(working_in(&here).len() > 1);
        kill(child);
        wait_until(&format!("no process of round {round} is left"), || working_in(&here).is_empty());
        if round >= 19 && with_child > 10 {
            return;
        }
    }
    panic!("only {with_child} of 200 kills were during static checks");
}

#[test]
fn a_kill_at_any_instant_leaves_nothing_behind() {
    let bench = faking(&format!("echo x >>../../../seen\n{HANG}\n"));
    let mut with_folder = 0;
    for round in 0..60 {
        let child = checking(&bench);
        // Around the start of the first tool, which is where things are made one after the other.
        let begun = Instant::now();
        while folders(&bench) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(120), "round {round}: the check makes no folder");
            std::hint::spin_loop();
        }
        let there = Instant::now();
        while there.elapsed() < Duration::from_micros(round * 50) {
            std::hint::spin_loop();
        }
        with_folder += folders(&bench);
        kill(child);
        wait_until(&format!("the folder of round {round} is removed"), || folders(&bench) == 0);
        wait_until(&format!("no process of round {round} is left"), || concerned(&bench).is_empty());
    }
    let started = std::fs::read_to_string(bench.path("seen")).unwrap_or_default().lines().count();
    println!("60 kills, {with_folder} with a folder there, {started} with the tool running");
    assert!(with_folder > 30, "the kills are not around the start");
}
