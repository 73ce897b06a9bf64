//! Compares `tlaforge translate` with `java pcal.trans` on the same file, each as a whole process: wall time of pairs of
//! runs, and processor time of all runs. Needs Java and `tla2tools.jar`, and `/proc` for the processor time.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use support::{jar, java, project};

const PAIRS: usize = 30;

fn main() {
    for file in [
        "tests/program/pluscal/cases/procedure_p.tla",
        "exemplars/FencedLease.tla",
        "tests/program/pluscal/cases/long_lines_are_broken.tla",
    ] {
        compare(&project().join(file));
    }
    translate_all_cases();
}

/// Wall and processor time of a process in seconds. It must succeed.
fn time(command: &mut Command) -> (f64, f64) {
    let (began, before) = (Instant::now(), processor_time());
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
    (began.elapsed().as_secs_f64(), processor_time() - before)
}

/// Processor time in seconds of all children that have ended.
fn processor_time() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return f64::NAN };
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // `cutime` and `cstime`, in hundredths of a second on Linux.
    (fields[13].parse::<f64>().unwrap() + fields[14].parse::<f64>().unwrap()) / 100.0
}

/// The mean of several runs, because a single run is shorter than the resolution of the processor clock.
fn ours(file: &Path) -> (f64, f64) {
    const RUNS: u32 = 8;
    let runs = (0..RUNS).map(|_| time(Command::new(env!("CARGO_BIN_EXE_tlaforge")).arg("translate").arg(file)));
    let sum = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    (sum.0 / f64::from(RUNS), sum.1 / f64::from(RUNS))
}

/// The Java translator overwrites its file, so each run gets a copy.
fn theirs(file: &Path) -> (f64, f64) {
    let dir = tempfile::tempdir().unwrap();
    let name = file.file_name().unwrap();
    std::fs::copy(file, dir.path().join(name)).unwrap();
    let mut command = Command::new(java());
    command.arg("-cp").arg(jar()).args(["pcal.trans", "-nocfg"]).arg(name).current_dir(dir.path());
    time(&mut command)
}

fn compare(file: &Path) {
    let (mut walls, mut ratios) = ((Vec::new(), Vec::new()), Vec::new());
    let mut processor = (0.0, 0.0);
    // Runs alternate, so that a change of the machine's speed affects both alike. The first pair warms the disk cache.
    for pair in 0..=PAIRS {
        let (ours, theirs) = (ours(file), theirs(file));
        if pair > 0 {
            walls.0.push(ours.0);
            walls.1.push(theirs.0);
            ratios.push(theirs.0 / ours.0);
            processor = (processor.0 + ours.1, processor.1 + theirs.1);
        }
    }
    println!(
        "{}: {:.1} ms against {:.0} ms of java pcal.trans, ratio {:.0} (medians of {PAIRS} pairs, quartiles {:.0} to {:.0}); \
         processor time {:.1} ms against {:.0} ms, ratio {:.0}",
        file.file_name().unwrap().display(),
        quartile(&mut walls.0, 2) * 1e3,
        quartile(&mut walls.1, 2) * 1e3,
        quartile(&mut ratios, 2),
        quartile(&mut ratios, 1),
        quartile(&mut ratios, 3),
        processor.0 / PAIRS as f64 * 1e3,
        processor.1 / PAIRS as f64 * 1e3,
        processor.1 / processor.0.max(0.001),
    );
}

/// Translates all cases in one process, to measure a translation without the start of a process.
fn translate_all_cases() {
    let files: Vec<_> = std::fs::read_dir(project().join("tests/program/pluscal/cases")).unwrap().collect();
    let texts: Vec<String> = files.into_iter().map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap()).collect();
    let began = Instant::now();
    for text in &texts {
        assert!(tlaforge::pluscal::translate(text, &tlaforge::pluscal::Options::default()).is_ok());
    }
    let micros = began.elapsed().as_secs_f64() * 1e6 / texts.len() as f64;
    println!("{} cases in one process: {micros:.0} us each", texts.len());
}

fn quartile(all: &mut [f64], quarter: usize) -> f64 {
    all.sort_by(f64::total_cmp);
    all[(all.len() - 1) * quarter / 4]
}
