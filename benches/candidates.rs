//! Time cost of candidates: whole runs against a server that delays each answer, with one candidate and with three of
//! which two are broken, alternating. Uses the embedded checker.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark fails where its preparation does, and prints"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use support::Bench;
use support::counter::{DOC, INFORMAL, MODULE, fenced, good_sections, review};
use support::model_server::{ModelServer, Reply, Seen};

const WAIT: Duration = Duration::from_secs(1);
const PAIRS: usize = 5;

fn main() {
    let mut ratios: Vec<f64> = (0..PAIRS)
        .map(|_| {
            let (one, three) = (seconds(1), seconds(3));
            println!("one formalization {one:.2} s, three side by side {three:.2} s: {:.2} times", three / one);
            three / one
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "three / one, {PAIRS} pairs: min {:.2}, median {:.2}, max {:.2}",
        ratios[0],
        ratios[PAIRS / 2],
        ratios[PAIRS - 1]
    );
    assert!(ratios[PAIRS / 2] < 1.25, "three side by side take as long as one, and a little for the checks");
}

/// Seconds of a whole run with `candidates` candidates, the last of which is good.
fn seconds(candidates: u32) -> f64 {
    let mut drafted = 0;
    let server = ModelServer::start(move |seen| answer(seen, candidates, &mut drafted).delay(WAIT));
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    let url = server.url();
    let number = candidates.to_string();
    let args = [
        "run",
        "docs",
        "--out",
        "specs",
        "--provider",
        "openai",
        "--model",
        "m",
        "--checker",
        "embedded",
        "--mutants",
        "off",
    ];
    let env = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "k")];
    let started = Instant::now();
    let more = ["--candidates", &number, "--max-revisions", "0"];
    bench.run_with(&[&args[..], &more[..]].concat(), &env).expect(1).prints(&["holds: TypeOK, NeverAbove"]);
    started.elapsed().as_secs_f64()
}

fn answer(seen: &Seen, candidates: u32, drafted: &mut u32) -> Reply {
    let system = seen.system();
    if system.starts_with("You write informal") {
        Reply::text(INFORMAL)
    } else if system.starts_with("You write PlusCal") {
        *drafted += 1;
        let module = if *drafted == candidates { MODULE.to_owned() } else { MODULE.replace("end while;", "") };
        Reply::text(fenced(&module))
    } else if system.starts_with("You review") {
        Reply::text(review("revise"))
    } else {
        Reply::text(good_sections())
    }
}
