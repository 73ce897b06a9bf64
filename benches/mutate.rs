//! 200 mutants of a reference specification, two at a time: `tlaforge mutate` against a plain loop that starts
//! `java pcal.trans` and `java tlc2.TLC` for each of them, in the same run. And the time to the first result.
//! Needs Java and `tla2tools.jar`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{jar, java, project};
use tlaforge::mutation::{Mutant, Selection, mutants};
use tlaforge::tla::{Cfg, Module};

const MUTANTS: usize = 200;
const JOBS: usize = 2;
const SPEC: &str = "evals/cache_leases/expected/CacheLeases.tla";

fn main() {
    let spec = project().join(SPEC);
    let (ours, first, summary) = ours(&spec);
    let theirs = theirs(&spec);
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    println!(
        "{MUTANTS} mutants of {SPEC}, {JOBS} at a time: tlaforge {:.2} s ({:.0} mutants a second), first result after {:.2} s; \
         pcal.trans and TLC for each {:.1} s; ratio {ratio:.1} (wanted: 25)\n{summary}",
        ours.as_secs_f64(),
        200.0 / ours.as_secs_f64(),
        first.as_secs_f64(),
        theirs.as_secs_f64(),
    );
}

fn ours(spec: &Path) -> (Duration, Duration, Value) {
    let dir = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tlaforge"))
        .arg("mutate")
        .arg(spec)
        .args(["--checker", "embedded", "--jobs", &JOBS.to_string(), "--sample", &MUTANTS.to_string()])
        .args(["--format", "json", "--out"])
        .arg(dir.path().join("out"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let log = dir.path().join("out/outcomes.jsonl");
    while std::fs::metadata(&log).map_or(0, |m| m.len()) == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let first = began.elapsed();
    let mut text = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut text).unwrap();
    assert!(child.wait().unwrap().success());
    let all: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all["mutants"].as_array().unwrap().len(), MUTANTS);
    (began.elapsed(), first, all["summary"].clone())
}

fn theirs(spec: &Path) -> Duration {
    let source = std::fs::read_to_string(spec).unwrap();
    let cfg_text = std::fs::read_to_string(spec.with_extension("cfg")).unwrap();
    let module = Module::parse(&source).unwrap();
    let all = mutants(&module, &Cfg::parse(&cfg_text).unwrap());
    let chosen = Selection { sample: Some(MUTANTS), ..Selection::default() }.of(all, &source);
    assert_eq!(chosen.len(), MUTANTS);
    let next = Mutex::new(chosen.iter());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                loop {
                    let mutant = next.lock().unwrap().next();
                    let Some(mutant) = mutant else { return };
                    one(&module.name, mutant, &source, &cfg_text);
                }
            });
        }
    });
    began.elapsed()
}

/// What a loop in a shell does. A mutant that does not translate is not checked.
fn one(name: &str, mutant: &Mutant, source: &str, cfg: &str) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(format!("{name}.tla")), mutant.apply(source)).unwrap();
    std::fs::write(dir.path().join(format!("{name}.cfg")), cfg).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(java());
        command.arg("-cp").arg(jar()).args(args).arg(format!("{name}.tla")).current_dir(dir.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.success();
            }
            if began.elapsed() > Duration::from_secs(5) {
                child.kill().unwrap();
                child.wait().unwrap();
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    if run(&["pcal.trans", "-nocfg"]) {
        run(&["tlc2.TLC", "-workers", "1", "-deadlock"]);
    }
}
