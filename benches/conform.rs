//! Comparisons of logs: 100,000 events in one sequence, all variables observed, in time and memory; and short logs, each against TLC with a
//! generated module that follows the trace.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const MODULE: &str = "---- MODULE Counter ----
EXTENDS Integers
VARIABLES n, last
Init == n = 0 /\\ last = \"none\"
Add == n < 9 /\\ n' = n + 1 /\\ last' = \"add\"
Take == n > 0 /\\ n' = n - 1 /\\ last' = \"take\"
Next == Add \\/ Take
Spec == Init /\\ [][Next]_<<n, last>>
====
";

const MAP: &str = "[fields]
what = \"$.what\"
n = \"$.n\"

[[event]]
name = \"add\"
when = { what = \"add\" }
steps = [\"Add\"]
after = { \"n\" = \"n\", \"last\" = \"what\" }

[[event]]
name = \"take\"
when = { what = \"take\" }
steps = [\"Take\"]
after = { \"n\" = \"n\", \"last\" = \"what\" }
";

/// Steps of the counter, the same for the same seed.
fn walk(steps: usize, seed: u64) -> Vec<(&'static str, u32)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut n = 0;
    let mut all = Vec::new();
    for _ in 0..steps {
        let adds = n == 0 || n < 9 && random.bool();
        n = if adds { n + 1 } else { n - 1 };
        all.push((if adds { "add" } else { "take" }, n));
    }
    all
}

fn write_log(path: &Path, steps: &[(&str, u32)]) {
    let mut text = String::new();
    for (what, n) in steps {
        writeln!(text, "{{\"what\": \"{what}\", \"n\": {n}}}").unwrap();
    }
    fs::write(path, text).unwrap();
}

/// A module whose behaviours follow the trace.
fn trace_module(steps: &[(&str, u32)]) -> String {
    let all: Vec<String> = steps.iter().map(|(what, n)| format!("<<\"{what}\", {n}>>")).collect();
    format!(
        "---- MODULE Trace ----\nEXTENDS Counter, Sequences\nVARIABLE i\nLog == <<{}>>\nTInit == Init /\\ i = 0\n\
         TNext == i < Len(Log) /\\ i' = i + 1 /\\ Next /\\ last' = Log[i'][1] /\\ n' = Log[i'][2]\n\
         NotDone == i < Len(Log)\n====\n",
        all.join(", ")
    )
}

fn main() {
    let program = env!("CARGO_BIN_EXE_tlaforge");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("Counter.tla"), MODULE).unwrap();
    fs::write(path("Counter.cfg"), "SPECIFICATION Spec\n").unwrap();
    fs::write(path("conform.toml"), MAP).unwrap();
    let conform = |log: &str| {
        let start = Instant::now();
        let ended = Command::new(program)
            .current_dir(folder.path())
            .args(["conform", "Counter.tla", log, "--heap-mib", "300"])
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stdout));
        start.elapsed().as_secs_f64()
    };
    write_log(&path("long.log"), &walk(100_000, 1));
    let seconds = conform("long.log");
    println!("100,000 events within 300 MiB: {seconds:.1} s");
    assert!(seconds < 10.0, "100,000 events are compared within 10 s");

    let jar = jar();
    let (mut ours, mut theirs) = (0.0, 0.0);
    for seed in 0..8 {
        let steps = walk(40, seed);
        write_log(&path("short.log"), &steps);
        fs::write(path("Trace.tla"), trace_module(&steps)).unwrap();
        fs::write(path("Trace.cfg"), "INIT TInit\nNEXT TNext\nINVARIANT NotDone\n").unwrap();
        ours += conform("short.log");
        let start = Instant::now();
        let ended = Command::new("java")
            .current_dir(folder.path())
            .args(["-XX:+UseParallelGC", "-cp"])
            .arg(&jar)
            .args(["tlc2.TLC", "-deadlock", "-workers", "1", "Trace.tla"])
            .output()
            .unwrap();
        // The violated invariant says that the trace is followed to its end.
        assert_eq!(ended.status.code(), Some(12), "{}", String::from_utf8_lossy(&ended.stdout));
        theirs += start.elapsed().as_secs_f64();
    }
    println!("8 logs of 40 events: {ours:.2} s, TLC with a trace module {theirs:.2} s: {:.0} times", theirs / ours);
    assert!(theirs / ours > 10.0, "a short log is compared at least 10 times faster than by TLC");
}

fn jar() -> PathBuf {
    let named = std::env::var_os("TLA_TOOLS_JAR").map(PathBuf::from);
    let cache = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/tlaforge/tla2tools.jar"));
    let jar = named.into_iter().chain(cache).find(|path| path.is_file());
    jar.expect("tla2tools.jar is missing: scripts/setup fetches it, or set TLA_TOOLS_JAR")
}
