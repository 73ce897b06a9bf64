//! `forge-all --engine`: runs on two workers, with their journals in a shared store.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Fleet, KEY, WorkerProcess, contains, done};
use crate::support::counter::{DOC, answers};
use crate::support::model_server::{ModelServer, Reply, Seen};
use crate::support::waiting::wait_until;

pub(super) const SETS: [&str; 4] = ["a", "b", "c", "d"];

/// A `forge-all`, killed when it is dropped.
pub(super) struct Client(pub(super) Child);

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Workers that forge, and the model that they ask.
pub(super) struct Forges {
    pub(super) fleet: Fleet,
    pub(super) model: ModelServer,
    sets: Vec<String>,
}

impl Forges {
    pub(super) fn start(script: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        Self::start_with(script, SETS.map(str::to_owned).to_vec())
    }

    pub(super) fn start_with(script: impl FnMut(&Seen) -> Reply + Send + 'static, sets: Vec<String>) -> Self {
        Self::on(Fleet::start(), script, sets)
    }

    pub(super) fn on(mut fleet: Fleet, script: impl FnMut(&Seen) -> Reply + Send + 'static, sets: Vec<String>) -> Self {
        let model = ModelServer::start(script);
        for set in &sets {
            fleet.bench.write(&format!("sets/{set}/counter.md"), DOC);
        }
        fleet.bench.set("ANTHROPIC_BASE_URL", &model.url());
        fleet.bench.set("ANTHROPIC_API_KEY", KEY);
        Self { fleet, model, sets }
    }

    pub(super) fn runs(&self) -> String {
        format!("file://{}", self.fleet.bench.path("store/runs").display())
    }

    pub(super) fn worker(&self, number: u32) -> WorkerProcess {
        self.worker_in(number, &[], &[])
    }

    pub(super) fn worker_in(&self, number: u32, more: &[&str], variables: &[(&str, &str)]) -> WorkerProcess {
        let cache = self.fleet.bench.path(&format!("cache-{number}"));
        let (runs, cache) = (self.runs(), cache.to_str().unwrap());
        let args = [&["--runs", &runs, "--cache", cache][..], more].concat();
        self.fleet.worker_in(number, &args, variables)
    }

    pub(super) fn command(&self, out: &str, more: &[&str]) -> Command {
        let args = ["forge-all", "sets", "--provider", "anthropic", "--model", "claude-sonnet-4-5", "--mutants", "off"];
        let more = &[more, &["--blind-reading", "off"][..]].concat();
        self.fleet.bench.command(&[&args, &["--out", out][..], more].concat())
    }

    /// On the fleet. The key is only in the environment of the workers.
    pub(super) fn remote(&self, more: &[&str]) -> Command {
        let (engine, runs) = (self.fleet.server.url(), self.runs());
        let mut command = self.command("remote", &[&["--engine", &engine, "--runs", &runs], more].concat());
        command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
        command
    }

    pub(super) fn begin_remote(&self) -> Client {
        Client(self.remote(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// The results without what depends on the place and the time.
    pub(super) fn results(&self, out: &str) -> BTreeMap<String, Value> {
        let read = |line: &str| {
            let mut run: Value = serde_json::from_str(line).unwrap();
            run.as_object_mut().unwrap().remove("folder");
            (run["run"].as_str().unwrap().to_owned(), run)
        };
        self.fleet.bench.read(&format!("{out}/results.jsonl")).lines().map(read).collect()
    }

    pub(super) fn assert_same_as_local(&self) {
        for set in &self.sets {
            let read = |out: &str, file: &str| self.fleet.bench.read(&format!("{out}/{set}/{file}"));
            for file in ["Spec.tla", "Spec.cfg", "informal_spec.md"] {
                assert_eq!(read("remote", file), read("local", file), "{set} {file}");
            }
            // A run whose worker loses the server stops, and is continued.
            let journal = read("remote", "journal.jsonl");
            let interrupted = journal.matches("\"reason\":\"interrupted\"").count();
            assert_eq!(journal.matches("\"run_finished\"").count(), 1 + interrupted, "{set}");
        }
    }
}

/// The model answers at once, but its answer to the request with this number waits for a file.
pub(super) fn answer_waits(number: usize, go: PathBuf) -> impl FnMut(&Seen) -> Reply + Send + 'static {
    let mut seen_before = 0;
    move |seen| {
        seen_before += 1;
        let reply = answers(seen);
        if seen_before == number { reply.after(go.clone(), "go") } else { reply }
    }
}

#[test]
fn runs_end_as_in_one_process_although_workers_and_the_server_are_killed() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    // The number of requests of one process, which come first.
    let alone = Forges::start(answers);
    done(alone.command("local", &[])).expect(0);
    let requests = alone.model.posts().len();

    let mut forges = Forges::start(answer_waits(requests + 3, go.clone()));
    done(forges.command("local", &[])).expect(0);
    let (first, second) = (forges.worker(1), forges.worker(2));
    let mut remote = forges.begin_remote();
    // A worker waits for the third answer.
    wait_until("the workers ask", || forges.model.posts().len() >= requests + 3);
    first.kill();
    second.kill();
    forges.fleet.server.restart();
    std::fs::write(&go, "go").unwrap();
    let _third = forges.worker(3);
    assert_eq!(remote.0.wait().unwrap().code(), Some(0));
    forges.assert_same_as_local();
    assert_eq!(forges.results("remote"), forges.results("local"));
    // Only what a killed worker had asked and got no answer for was asked again.
    let again = forges.model.posts().len() - 2 * requests;
    assert!((1..=2).contains(&again), "{again}");

    // What has ended is not begun again, also from another folder.
    let posts = forges.model.posts().len();
    done(forges.remote(&[])).expect(0).prints(&["4 of them earlier"]);
    std::fs::remove_dir_all(forges.fleet.bench.path("remote")).unwrap();
    done(forges.remote(&[])).expect(0).prints(&["4 of them earlier"]);
    assert_eq!(forges.model.posts().len(), posts);

    let data = forges.fleet.server.data();
    forges.fleet.server.kill();
    assert!(contains(&data, b"counter.md"), "the search finds what the server stores");
    assert!(!contains(&data, KEY.as_bytes()) && !contains(&forges.fleet.bench.path("store"), KEY.as_bytes()));
}

/// In a campaign, 200 runs on four workers, and 30 kills.
#[test]
fn every_run_ends_as_in_one_process_whatever_is_killed_at_random() {
    let is_campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
    let (runs, workers, kills) = if is_campaign { (200, 4, 30) } else { (8, 2, 4) };
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut forges = Forges::start_with(answers, (0..runs).map(|number| format!("set-{number}")).collect());
    let began = std::time::Instant::now();
    done(forges.command("local", &[])).expect(0);
    let (alone, requests) = (began.elapsed(), forges.model.posts().len());
    let mut working: Vec<WorkerProcess> = (1..=workers).map(|number| forges.worker(number)).collect();
    let began = std::time::Instant::now();
    let mut remote = forges.begin_remote();
    // What is under way at a kill is asked for again.
    let (mut started, mut lost) = (workers, 0);
    for kill in 1..=kills {
        let at = requests + kill * requests / (kills + 1);
        wait_until("the runs go on", || forges.model.posts().len() >= at);
        if random.u8(..4) == 0 {
            // Its workers end what they do for it.
            forges.fleet.server.restart();
            lost += workers as usize;
        } else {
            working.swap_remove(random.usize(..working.len())).kill();
            started += 1;
            working.push(forges.worker(started));
            lost += 1;
        }
    }
    assert_eq!(remote.0.wait().unwrap().code(), Some(0), "seed {seed}");
    println!("{runs} runs: {alone:?} in one process, {:?} on {workers} workers with {kills} kills", began.elapsed());
    forges.assert_same_as_local();
    assert_eq!(forges.results("remote"), forges.results("local"), "seed {seed}");
    let again = forges.model.posts().len() - 2 * requests;
    assert!(again <= lost, "seed {seed}: {again} requests of {requests} were repeated, and at most {lost} were lost");
}

#[test]
fn a_worker_that_ends_hands_its_run_over() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let forges = Forges::start(answer_waits(2, go.clone()));
    let first = forges.worker(1);
    let mut remote = forges.begin_remote();
    wait_until("the worker asks", || forges.model.posts().len() >= 2);
    let _second = forges.worker(2);
    assert_eq!(first.terminate(), Some(0));
    std::fs::write(&go, "go").unwrap();
    assert_eq!(remote.0.wait().unwrap().code(), Some(0));
    for set in SETS {
        let journal = forges.fleet.bench.read(&format!("remote/{set}/journal.jsonl"));
        assert_eq!(
            journal.matches("\"run_finished\"").count(),
            1 + journal.matches("\"reason\":\"interrupted\"").count(),
            "{set}"
        );
    }
}

#[test]
fn an_interrupted_call_ends_its_runs_and_the_next_one_continues_them() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let forges = Forges::start(answer_waits(2, go.clone()));
    let _worker = forges.worker(1);
    let mut remote = forges.begin_remote();
    wait_until("the worker asks", || forges.model.posts().len() >= 2);
    kill_process(Pid::from_child(&remote.0), Signal::INT).unwrap();
    assert_eq!(remote.0.wait().unwrap().code(), Some(130));
    std::fs::write(&go, "go").unwrap();
    done(forges.remote(&[])).expect(0).prints(&["4 approved"]);
}

#[test]
fn what_a_fleet_cannot_do_is_refused() {
    let forges = Forges::start(answers);
    let _worker = forges.worker(1);
    let engine = forges.fleet.server.url();
    done(forges.command("remote", &["--engine", &engine])).expect(2).says(&["--runs ADDRESS"]);
    done(forges.remote(&["--prompts", "sets"])).expect(2).prints(&["prompts (--prompts)"]);
    // Not below the address of the workers.
    let elsewhere = format!("file://{}", forges.fleet.bench.path("store/elsewhere").display());
    let refused = done(forges.command("remote", &["--engine", &engine, "--runs", &elsewhere])).expect(4);
    refused.prints(&["this worker does not work on", "--runs"]);
    assert!(!forges.fleet.bench.path("store/elsewhere/a/journal").exists());
    assert_eq!(forges.model.posts().len(), 0);
    let worker = forges.fleet.bench.run(&["worker", "--engine", &engine, "--runs", "ftp://host/runs"]);
    worker.expect(2).says(&["no store has this kind of address"]);
}
