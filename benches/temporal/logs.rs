//! Audits from JSON lines on disk: 100,000 states and a formula of 22 nodes, beside shadow where `TLAFORGE_PEERS` names a
//! Python that has it (both read the same file, in one run); in a campaign also a log of 1 GB in bounded memory.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use tlaforge::monitor::log::{Mapping, Plan, ScanOptions, Shape, States, scan_lines};
use tlaforge::monitor::trac::Reset;
use tlaforge::monitor::{Auditor, Policy};
use tlaforge::temporal::{Formulas, Labels, eval_all_positions};

use super::peers::python;

/// 22 nodes, in the language that both read.
const FORMULA: &str = "G (tool_call:a -> F tool_call:b) & (!tool_call:d W tool_call:c) & G !text_contains:secret \
                       & F stop_reason:end_turn & G (tool_call:b -> X F tool_call:a)";

const STATES: usize = 100_000;

const SHADOW: &str = r"
import json, sys, time
from shadow.ltl.checker import eval_all_positions, trace_from_records
from shadow.ltl.compiler import parse_ltl
formula = parse_ltl(sys.argv[2])
whole = check = 1e9
for _ in range(3):
    start = time.perf_counter()
    records = [json.loads(line) for line in open(sys.argv[1])]
    trace = trace_from_records(records)
    read = time.perf_counter()
    values = eval_all_positions(formula, trace)
    end = time.perf_counter()
    whole, check = min(whole, end - start), min(check, end - read)
print(whole, check, sum(values[:len(trace)]))
";

fn log(states: usize) -> String {
    let mut random = fastrand::Rng::with_seed(6);
    let mut text = String::new();
    for number in 0..states {
        let tool = ["a", "b", "e", "f"][random.usize(..4)];
        let stop = if random.u8(..10) == 0 { "end_turn" } else { "tool_use" };
        writeln!(
            text,
            r#"{{"version":"0.1","id":"sha256:{number:064x}","kind":"chat_response","ts":"2026-01-01T00:00:00Z","parent":null,"payload":{{"model":"m","content":[{{"type":"text","text":"step {number} of the work"}},{{"type":"tool_use","id":"t{number}","name":"{tool}","input":{{"path":"/tmp/x","line":{number}}}}}],"stop_reason":"{stop}","latency_ms":12,"usage":{{"input_tokens":11,"output_tokens":7,"thinking_tokens":0}}}}}}"#
        )
        .unwrap();
    }
    text
}

fn auditor() -> Auditor {
    let mut formulas = Formulas::new();
    let policy = Policy::read(&format!("[[rule]]\nid = \"all\"\nformula = '{FORMULA}'\n"), &mut formulas).unwrap();
    Auditor::new(formulas, policy.rules, Mapping::default().with_shape_defaults(Shape::Agentlog)).unwrap()
}

fn options(threads: usize) -> ScanOptions {
    ScanOptions { skip_invalid: false, threads }
}

/// The log over and over, up to so many bytes.
struct Repeated<'a> {
    text: &'a [u8],
    at: usize,
    left: usize,
}

impl Read for Repeated<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.text.len() {
            if self.left < self.text.len() {
                return Ok(0);
            }
            self.at = 0;
        }
        let size = buffer.len().min(self.text.len() - self.at);
        buffer[..size].copy_from_slice(&self.text[self.at..self.at + size]);
        self.at += size;
        self.left = self.left.saturating_sub(size);
        Ok(size)
    }
}

/// The most memory that this process has had, in MB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb / 1024)
}

pub(crate) fn logs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let text = log(STATES);
    std::fs::write(&path, &text).unwrap();
    let auditor = auditor();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut best = [f64::INFINITY; 2];
    for _ in 0..15 {
        for (seconds, threads) in best.iter_mut().zip([1, threads]) {
            let began = Instant::now();
            let audited = auditor.audit_lines(&mut File::open(&path).unwrap(), options(threads), Reset::Never).unwrap();
            assert_eq!(audited.log.places.states(), STATES as u64);
            *seconds = seconds.min(began.elapsed().as_secs_f64());
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "audit from disk: {STATES} states, {megabytes:.0} MB: {:.1} ms on one thread ({:.0} MB/s), {:.1} ms on {threads} \
         ({:.0} MB/s)",
        best[0] * 1e3,
        megabytes / best[0],
        best[1] * 1e3,
        megabytes / best[1]
    );
    beside_shadow(&path, best);
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() {
        let before = peak();
        let began = Instant::now();
        let mut repeated = Repeated { text: text.as_bytes(), at: 0, left: 1_000_000_000 };
        let audited = auditor.audit_lines(&mut repeated, options(threads), Reset::Never).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "audit of 1 GB: {} states in {seconds:.1} s ({:.0} MB/s); peak memory {before:?} -> {:?} MB",
            audited.log.places.states(),
            1e3 / seconds,
            peak()
        );
    }
}

/// The check alone, on labels that are prepared: its time, and at how many positions the formula holds.
fn prepared(log: &Path) -> (f64, usize) {
    let mut formulas = Formulas::new();
    let formula = formulas.parse(FORMULA).unwrap();
    let plan = Plan::new(&Mapping::default().with_shape_defaults(Shape::Agentlog), &formulas, &[formula], &[]);
    let mut labels = Labels::new(&formulas, &[formula]);
    let fold = |part: &mut Option<Labels>, states: &States, _| {
        let labels = part.get_or_insert_with(|| Labels::new(&formulas, &[formula]));
        states.each().iter().for_each(|step| labels.push(&formulas, step));
    };
    let take = |part: Option<Labels>| part.iter().for_each(|part| labels.append(part));
    scan_lines(&mut File::open(log).unwrap(), &plan, options(1), fold, take).unwrap();
    let mut best = f64::INFINITY;
    let mut holds = 0;
    for _ in 0..200 {
        let began = Instant::now();
        let column = eval_all_positions(&formulas, formula, &labels).unwrap();
        best = best.min(began.elapsed().as_secs_f64());
        holds = (0..labels.len()).filter(|at| column.holds_at(*at)).count();
    }
    (best, holds)
}

fn beside_shadow(log: &Path, ours: [f64; 2]) {
    let (check, holds) = prepared(log);
    println!("the check on prepared labels: {:.1} us", check * 1e6);
    let Some(told) = python("shadow-diff", SHADOW, &[log.as_os_str(), FORMULA.as_ref()]) else { return };
    let words: Vec<&str> = told.iter().flat_map(|line| line.split_whitespace()).collect();
    let [all, theirs, held] = words[..] else { panic!("three numbers: {told:?}") };
    let (all, theirs): (f64, f64) = (all.parse().unwrap(), theirs.parse().unwrap());
    assert_eq!(held.parse(), Ok(holds), "at how many positions it holds");
    println!(
        "shadow, same file, same formula, same values: {:.0} ms from disk, {:.0} times ours on one thread, {:.0} on all; \
         on prepared labels {:.0} ms, {:.0} times ours",
        all * 1e3,
        all / ours[0],
        all / ours[1],
        theirs * 1e3,
        theirs / check
    );
}
