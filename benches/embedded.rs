//! The embedded checker compared with TLC, as whole processes: one check of a small specification, and many checks by two
//! jobs; and what 20 witnesses add to a check. What is compared is measured alternately in one run on one machine,
//! because only the ratios are meaningful.
//!
//! `cargo bench --bench embedded`; `EMBEDDED_BENCH_CHECKS=20` runs fewer checks than 200. It needs Java and `tla2tools.jar`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, and fails where its preparation does"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Fewer than 1,000 distinct states.
const CLIENTS: &str = "---- MODULE Clients ----
EXTENDS Naturals, Sequences
CONSTANTS P, Max
VARIABLES held, queue, n
vars == <<held, queue, n>>
Init == held = {} /\\ queue = <<>> /\\ n = [p \\in P |-> 0]
Ask(p) == n[p] < Max /\\ p \\notin held /\\ queue' = Append(queue, p) /\\ n' = [n EXCEPT ![p] = @ + 1] /\\ UNCHANGED held
Grant == queue # <<>> /\\ held = {} /\\ held' = {Head(queue)} /\\ queue' = Tail(queue) /\\ UNCHANGED n
Free(p) == held = {p} /\\ held' = {} /\\ UNCHANGED <<queue, n>>
Next == (\\E p \\in P : Ask(p) \\/ Free(p)) \\/ Grant
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Grant) /\\ \\A p \\in P : WF_vars(Free(p))
TypeOK == held \\subseteq P
Released == []<>(held = {})
====
";
const CFG: &str =
    "SPECIFICATION Spec\nCONSTANTS P = {p1, p2}\n Max = 2\nINVARIANT TypeOK\nPROPERTY Released\nCHECK_DEADLOCK FALSE\n";
/// How many witnesses a check may have for at most 1.3 times the time.
const WITNESSES: usize = 20;

/// The TLC of 2020 rejects `CHECK_DEADLOCK`.
const OLD_CFG: &str = "SPECIFICATION Spec\nCONSTANTS P = {p1, p2}\n Max = 2\nINVARIANT TypeOK\nPROPERTY Released\n";

fn jar() -> PathBuf {
    let cache = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/tlaforge/tla2tools.jar"));
    let jar = std::env::var_os("TLA_TOOLS_JAR").map(PathBuf::from).or(cache).filter(|jar| jar.is_file());
    jar.expect("tla2tools.jar is missing: scripts/setup fetches it, or set TLA_TOOLS_JAR")
}

struct Bench {
    folder: tempfile::TempDir,
    jar: PathBuf,
    runs: AtomicUsize,
}

/// Wall time, and processor time in seconds of the process with its children.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: Duration,
    cpu: f64,
}

impl Bench {
    fn embedded() -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tlaforge"));
        command.args(["check", "Clients.tla", "--checker", "embedded", "--format", "json"]);
        command
    }

    /// A check by this program with the module and configuration of this name.
    fn check(checker: &str, name: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tlaforge"));
        command.args(["check", &format!("{name}.tla"), "--checker", checker]);
        command
    }

    fn tlc(&self) -> Command {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.path().join(format!("run-{run}"));
        std::fs::create_dir(&own).unwrap();
        let mut command = Command::new("java");
        command.arg(format!("-Djava.io.tmpdir={}", own.display())).arg("-cp").arg(&self.jar);
        command.args(["tlc2.TLC", "-deadlock", "-workers", "2", "-config", "Old.cfg", "-metadir"]);
        command.arg(own.join("meta")).arg("Clients.tla");
        command
    }

    fn run(&self, mut command: Command) -> Duration {
        let started = Instant::now();
        let command = command.current_dir(self.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success(), "{command:?}");
        started.elapsed()
    }

    fn measure(&self, command: Command) -> Cost {
        let before = children_cpu();
        let wall = self.run(command);
        Cost { wall, cpu: children_cpu() - before }
    }

    /// Runs this many checks with two jobs.
    fn run_many(&self, checks: usize, command: impl Fn() -> Command + Sync) -> Cost {
        let (before, started, taken) = (children_cpu(), Instant::now(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while taken.fetch_add(1, Ordering::Relaxed) < checks {
                        self.run(command());
                    }
                });
            }
        });
        Cost { wall: started.elapsed(), cpu: children_cpu() - before }
    }
}

/// Seconds of processor time of all ended children and their children.
fn children_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    // cutime and cstime, in hundredths of a second.
    fields[13..15].iter().map(|field| field.parse::<f64>().unwrap() / 100.0).sum()
}

fn print_ratio(what: &str, tlc: Cost, embedded: Cost, wanted: f64) {
    let (wall, cpu) = (tlc.wall.as_secs_f64() / embedded.wall.as_secs_f64(), tlc.cpu / embedded.cpu);
    println!(
        "{what}: TLC {:.3} s wall, {:.3} s CPU; embedded {:.4} s wall, {:.4} s CPU; ratio {wall:.1} wall, {cpu:.1} CPU \
         (wanted: {wanted})",
        tlc.wall.as_secs_f64(),
        tlc.cpu,
        embedded.wall.as_secs_f64(),
        embedded.cpu
    );
}

fn median(mut costs: Vec<Cost>) -> Cost {
    let cpu = costs.iter().map(|cost| cost.cpu).sum::<f64>() / f64::from(u32::try_from(costs.len()).unwrap());
    costs.sort_by_key(|cost| cost.wall);
    Cost { wall: costs[costs.len() / 2].wall, cpu }
}

/// A larger and the small specification, each with witnesses of which the last ones are reached late, and without.
fn write_witness_specs(folder: &Path) {
    for (name, max) in [("Few", 2), ("Many", 4)] {
        let held = |k: usize| format!("W{k} == Len(queue) + n[CHOOSE p \\in P : TRUE] >= {}\n", k % (max + 1));
        let definitions: String = (0..WITNESSES).map(held).collect();
        let cfg = CFG.replace("P = {p1, p2}", "P = {p1, p2, p3}").replace("Max = 2", &format!("Max = {max}"));
        let listed: String = (0..WITNESSES).fold(String::new(), |all, k| all + &format!("\\* WITNESS W{k}\n"));
        for (module, cfg) in [(name.to_owned(), cfg.clone()), (format!("{name}Witnesses"), cfg + &listed)] {
            let text = CLIENTS.replace("MODULE Clients", &format!("MODULE {module}"));
            write(folder, &format!("{module}.tla"), &text.replace("====\n", &format!("{definitions}====\n")));
            write(folder, &format!("{module}.cfg"), &cfg);
        }
    }
}

fn measure_witnesses(bench: &Bench) {
    write_witness_specs(bench.folder.path());
    for (checker, name) in [("embedded", "Few"), ("embedded", "Many"), ("tlc", "Few"), ("tlc", "Many")] {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            without.push(bench.measure(Bench::check(checker, name)));
            with.push(bench.measure(Bench::check(checker, &format!("{name}Witnesses"))));
        }
        let (without, with) = (median(without).wall.as_secs_f64(), median(with).wall.as_secs_f64());
        println!(
            "{WITNESSES} witnesses, {checker}, {name}: {with:.2} s with, {without:.2} s without; ratio {:.2} (wanted: 1.3)",
            with / without
        );
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "Clients.tla", CLIENTS);
    write(folder.path(), "Clients.cfg", CFG);
    write(folder.path(), "Old.cfg", OLD_CFG);
    let bench = Bench { folder, jar: jar(), runs: AtomicUsize::new(0) };
    let (mut tlc, mut embedded) = (Vec::new(), Vec::new());
    for round in 0..11 {
        let costs = (bench.measure(bench.tlc()), bench.measure(Bench::embedded()));
        // The first round only warms the caches.
        if round > 0 {
            tlc.push(costs.0);
            embedded.push(costs.1);
        }
    }
    print_ratio("one check (median of 10; mean CPU)", median(tlc), median(embedded), 40.0);
    let checks = std::env::var("EMBEDDED_BENCH_CHECKS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let embedded = bench.run_many(checks, Bench::embedded);
    let tlc = bench.run_many(checks, || bench.tlc());
    print_ratio(&format!("{checks} checks, two jobs"), tlc, embedded, 25.0);
    measure_witnesses(&bench);
}
