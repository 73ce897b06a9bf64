//! Recorded cases, forged on a fleet while its processes are killed: the specifications are those of one process.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::Stdio;

use super::runs::{Client, Forges};
use super::{Fleet, WorkerProcess, done};
use crate::support::model_server::{Reply, Seen};
use crate::support::project;
use crate::support::recorded_model::{RecordedModel, words_of_recordings};

/// Those whose recordings end in the same way with the embedded checker.
const CASES: [&str; 8] = [
    "rw_lock",
    "bounded_queue",
    "alternating_bit",
    "cache_aside",
    "cache_leases",
    "token_bucket",
    "two_phase_commit",
    "uniswap_swap",
];

/// Each run names its own model, so that the server knows which recording it wants.
fn answers() -> impl FnMut(&Seen) -> Reply + Send + 'static {
    type Script = Box<dyn FnMut(&Seen) -> Reply + Send>;
    let mut scripts: HashMap<String, Script> = HashMap::new();
    move |seen| {
        let model = seen.body["model"].as_str().unwrap();
        let (case, _) = model.rsplit_once('-').unwrap();
        let recording = project().join("evals").join(case).join("recording/run.jsonl");
        let load = || Box::new(RecordedModel::load(&recording).script_by_prompt()) as Script;
        scripts.entry(model.to_owned()).or_insert_with(load)(seen)
    }
}

/// A table for `forge-all` with this number of runs of each case.
fn table(cases: &[&str], copies: usize) -> String {
    let mut table = String::new();
    for case in cases {
        let recording = std::fs::read_to_string(project().join(format!("evals/{case}/recording/run.jsonl"))).unwrap();
        let draft = if recording.contains("\"node\":\"formalize\"") { "nodes" } else { "single_call" };
        for copy in 1..=copies {
            let name = format!("{case}-{copy}");
            writeln!(
                table,
                "[[set]]\nname = \"{name}\"\ncase = \"evals/{case}\"\nmodel = \"{name}\"\ndraft = \"{draft}\""
            )
            .unwrap();
        }
    }
    table
}

/// In a campaign, 200 runs of all cases on four workers, and 30 kills.
#[test]
fn recorded_cases_give_the_same_specifications_whatever_is_killed() {
    let is_campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
    let (cases, copies, workers, kills) = if is_campaign { (&CASES[..], 25, 4, 30) } else { (&CASES[..2], 2, 2, 2) };
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut forges = Forges::on(Fleet::start(), answers(), Vec::new());
    for case in cases {
        let from = project().join("evals").join(case);
        for entry in walkdir::WalkDir::new(&from).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file()) {
            let name = entry.path().strip_prefix(project()).unwrap().to_str().unwrap();
            forges.fleet.bench.write(name, std::fs::read(entry.path()).unwrap());
        }
    }
    let words: Vec<String> = words_of_recordings().split(',').map(|word| format!("{word:?}")).collect();
    forges.fleet.bench.write("tlaforge.toml", format!("normative_words = [{}]\n", words.join(", ")));
    forges.fleet.bench.write("one.toml", table(cases, 1));
    forges.fleet.bench.write("all.toml", table(cases, copies));
    let forge = |forges: &Forges, sets: &str, more: &[&str]| {
        let args = ["forge-all", sets, "--provider", "anthropic", "--mutants", "off", "--bounds-budget", "off"];
        forges.fleet.bench.command(&[&args[..], more].concat())
    };
    let starts = |forges: &Forges| forges.model.posts().iter().filter(|seen| seen.tool_results().is_empty()).count();

    let local = done(forge(&forges, "one.toml", &["--out", "local"]));
    let is_as_recorded = |line: &str| line.starts_with("approved ") || line.starts_with("flaw_found ");
    assert_eq!(local.stdout.lines().filter(|line| is_as_recorded(line)).count(), cases.len(), "{}", local.stdout);
    let (requests, calls) = (forges.model.posts().len(), starts(&forges));
    let mut working: Vec<WorkerProcess> = (1..=workers).map(|number| forges.worker(number)).collect();
    let began = std::time::Instant::now();
    let engine = forges.fleet.server.url();
    let mut command = forge(&forges, "all.toml", &["--out", "remote", "--engine", &engine, "--runs", &forges.runs]);
    command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
    let mut remote = Client(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let expected = copies * requests;
    let lost = forges.kill_at_random(&mut random, &mut working, kills, |kill| requests + kill * expected / (kills + 1));
    assert_eq!(remote.0.wait().unwrap().code(), local.status, "seed {seed}");
    println!("{} runs with {kills} kills: {:?}", cases.len() * copies, began.elapsed());
    for case in cases {
        let answered = |folder: &str| {
            forges.fleet.bench.read(&format!("{folder}/journal.jsonl")).matches("\"answer_received\"").count()
        };
        let local = format!("local/{case}-1");
        for copy in 1..=copies {
            let remote = format!("remote/{case}-{copy}");
            for file in ["Spec.tla", "Spec.cfg", "informal_spec.md"] {
                let read = |folder: &str| forges.fleet.bench.read(&format!("{folder}/{file}"));
                assert_eq!(read(&remote), read(&local), "seed {seed}: {remote}/{file}");
            }
            assert_eq!(answered(&remote), answered(&local), "seed {seed}: {remote}");
        }
    }
    let again = starts(&forges) - calls - copies * calls;
    assert!(again <= lost, "seed {seed}: {again} calls were repeated, and at most {lost} were lost");
    forges.terminate(working);
}
