//! Compares `tlaforge mutate` on 200 mutants of reference specifications, two in parallel, with a plain loop that starts
//! `java pcal.trans` and `java tlc2.TLC` for each. Also measures the time to the first result.
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

const JOBS: usize = 2;
/// The bound on the speed-up. It is missed; docs/src/bounds.md says why.
const RATIO: f64 = 30.0;
/// The maximum time to the first result.
const FIRST: Duration = Duration::from_secs(1);
/// A campaign fails if the speed-up is smaller: two thirds of the one in docs/src/bounds.md.
const LEAST_RATIO: f64 = 10.0;
/// Number of mutants per specification.
const SPECS: [(&str, usize); 3] = [
    ("evals/ring_election/expected/RingElection.tla", 80),
    ("evals/rw_lock/expected/RWLock.tla", 70),
    ("evals/cache_leases/expected/CacheLeases.tla", 50),
];

fn main() {
    let (mut ours_all, mut theirs_all, mut mutants) = (Duration::ZERO, Duration::ZERO, 0);
    let mut latest = Duration::ZERO;
    for (name, count) in SPECS {
        let spec = project().join(name);
        let (ours, first, summary) = run_tlaforge(&spec, count);
        let theirs = run_plain_loop(&spec, count);
        println!(
            "{count} mutants of {name}: tlaforge {:.2} s, first result after {:.2} s; pcal.trans and TLC for each {:.1} s; \
             ratio {:.1}\n  {summary}",
            ours.as_secs_f64(),
            first.as_secs_f64(),
            theirs.as_secs_f64(),
            theirs.as_secs_f64() / ours.as_secs_f64(),
        );
        latest = latest.max(first);
        ours_all += ours;
        theirs_all += theirs;
        mutants += count;
    }
    let ratio = theirs_all.as_secs_f64() / ours_all.as_secs_f64();
    println!(
        "{mutants} mutants, {JOBS} at a time: {:.2} s against {:.1} s, ratio {ratio:.1} (wanted: {RATIO}); first results \
         after at most {:.2} s (wanted: {:.2})",
        ours_all.as_secs_f64(),
        theirs_all.as_secs_f64(),
        latest.as_secs_f64(),
        FIRST.as_secs_f64(),
    );
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() {
        assert!(ratio >= LEAST_RATIO && latest < FIRST, "slower than it is said to be");
    }
}

fn run_tlaforge(spec: &Path, count: usize) -> (Duration, Duration, Value) {
    let dir = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tlaforge"))
        .arg("mutate")
        .arg(spec)
        .args(["--checker", "embedded", "--jobs", &JOBS.to_string(), "--sample", &count.to_string()])
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
    assert_eq!(all["mutants"].as_array().unwrap().len(), count);
    (began.elapsed(), first, all["summary"].clone())
}

fn run_plain_loop(spec: &Path, count: usize) -> Duration {
    let source = std::fs::read_to_string(spec).unwrap();
    let cfg_text = std::fs::read_to_string(spec.with_extension("cfg")).unwrap();
    let module = Module::parse(&source).unwrap();
    let all = mutants(&module, &Cfg::parse(&cfg_text).unwrap());
    let chosen = Selection { sample: Some(count), ..Selection::default() }.select(all, &source);
    assert_eq!(chosen.len(), count);
    let next = Mutex::new(chosen.iter());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                loop {
                    let mutant = next.lock().unwrap().next();
                    let Some(mutant) = mutant else { return };
                    check_one(&module.name, mutant, &source, &cfg_text);
                }
            });
        }
    });
    began.elapsed()
}

/// Translates and checks one mutant, like a shell loop. A mutant that does not translate is not checked.
fn check_one(name: &str, mutant: &Mutant, source: &str, cfg: &str) {
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
