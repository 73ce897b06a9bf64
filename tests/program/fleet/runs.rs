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
    /// The address of the runs.
    pub(super) runs: String,
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
        let runs = format!("file://{}", fleet.bench.path("store/runs").display());
        Self { fleet, model, sets, runs }
    }

    pub(super) fn worker(&self, number: u32) -> WorkerProcess {
        self.worker_in(number, &[], &[])
    }

    pub(super) fn worker_in(&self, number: u32, more: &[&str], variables: &[(&str, &str)]) -> WorkerProcess {
        let cache = self.fleet.bench.path(&format!("cache-{number}"));
        let args = [&["--runs", &self.runs, "--cache", cache.to_str().unwrap()][..], more].concat();
        self.fleet.worker_in(number, &args, variables)
    }

    pub(super) fn command(&self, out: &str, more: &[&str]) -> Command {
        let args = ["forge-all", "sets", "--provider", "anthropic", "--model", "claude-sonnet-4-5", "--mutants", "off"];
        let more = &[more, &["--blind-reading", "off", "--contracts", "off"][..]].concat();
        self.fleet.bench.command(&[&args, &["--out", out][..], more].concat())
    }

    /// On the fleet. The key is only in the environment of the workers.
    pub(super) fn remote(&self, more: &[&str]) -> Command {
        let engine = self.fleet.server.url();
        let mut command = self.command("remote", &[&["--engine", &engine, "--runs", &self.runs], more].concat());
        command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
        command
    }

    pub(super) fn begin_remote(&self) -> Client {
        Client(self.remote(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Kills a worker, or sometimes the server, each time the model has received the number of requests that `due` gives for
    /// the kill. Returns the largest number of answers that the kills can have lost; they are requested again.
    pub(super) fn kill_at_random(
        &mut self,
        random: &mut fastrand::Rng,
        working: &mut Vec<WorkerProcess>,
        kills: usize,
        due: impl Fn(usize) -> usize,
    ) -> usize {
        let mut lost = 0;
        for kill in 1..=kills {
            wait_until("the runs go on", || self.model.posts().len() >= due(kill));
            if random.u8(..4) == 0 {
                // Its workers end what they do for it.
                self.fleet.server.restart();
                lost += working.len();
            } else {
                // The next one has the cache of the one that was killed.
                let killed = random.usize(..working.len());
                working.remove(killed).kill();
                working.insert(killed, self.worker(u32::try_from(killed).unwrap() + 1));
                lost += 1;
            }
        }
        lost
    }

    /// What workers have in their caches.
    pub(super) fn copies(&self) -> Vec<PathBuf> {
        let list = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_cache = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("cache-");
        list(self.fleet.bench.dir.path().to_owned()).filter(is_cache).flat_map(list).collect()
    }

    /// Ends the workers, after which nothing of the runs is left on their machines.
    pub(super) fn terminate(&self, working: Vec<WorkerProcess>) {
        for worker in working {
            assert_eq!(worker.terminate(), Some(0));
        }
        assert_eq!(self.copies(), [""; 0].map(PathBuf::from));
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
    let lost = forges.kill_at_random(&mut random, &mut working, kills, |kill| requests + kill * requests / (kills + 1));
    assert_eq!(remote.0.wait().unwrap().code(), Some(0), "seed {seed}");
    println!("{runs} runs: {alone:?} in one process, {:?} on {workers} workers with {kills} kills", began.elapsed());
    forges.assert_same_as_local();
    assert_eq!(forges.results("remote"), forges.results("local"), "seed {seed}");
    let again = forges.model.posts().len() - 2 * requests;
    assert!(again <= lost, "seed {seed}: {again} requests of {requests} were repeated, and at most {lost} were lost");
    forges.terminate(working);
}

/// The requests that the model has received, and the groups of events of the runs in this folder.
fn count_work(forges: &Forges, out: &str) -> (usize, usize) {
    let journals = forges.sets.iter().map(|set| forges.fleet.bench.read(&format!("{out}/{set}/journal.jsonl")));
    let is_last = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["more"].as_u64().unwrap_or(0) == 0;
    let groups = journals.map(|journal| journal.lines().filter(is_last).count()).sum();
    (forges.model.posts().len(), groups)
}

/// Prints what 24 runs without kills take, for a model that answers at once and one that takes two seconds.
#[test]
#[ignore = "measures; nothing else should run on the machine"]
fn a_fleet_and_one_process_side_by_side() {
    let timed = |command: Command| {
        let began = std::time::Instant::now();
        done(command).expect(0);
        began.elapsed().as_secs_f64()
    };
    for delay in [0, 2] {
        let answer = move |seen: &Seen| answers(seen).delay(std::time::Duration::from_secs(delay));
        let mut forges = Forges::start_with(answer, (0..24).map(|number| format!("set-{number}")).collect());
        let alone = timed(forges.command("local", &["--jobs", "2"]));
        let (requests, groups) = count_work(&forges, "local");
        println!("answers after {delay} s, {requests} requests, {groups} groups of events");
        println!("one process, two runs at a time: {alone:.1} s");
        for workers in [1, 2, 4] {
            forges.runs = format!("file://{}", forges.fleet.bench.path(&format!("store/runs-{workers}")).display());
            let worker = |number| forges.worker_in(number, &["--capacity", "2"], &[]);
            let working: Vec<_> = (1..=workers).map(worker).collect();
            let time = timed(forges.remote(&[]));
            forges.assert_same_as_local();
            forges.terminate(working);
            std::fs::remove_dir_all(forges.fleet.bench.path("remote")).unwrap();
            println!("{workers} workers with two places each: {time:.1} s");
        }
    }
}

#[test]
fn a_worker_that_ends_hands_its_run_over() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let forges = Forges::start(answer_waits(2, go.clone()));
    let first = forges.worker(1);
    let mut remote = forges.begin_remote();
    wait_until("the worker asks", || forges.model.posts().len() >= 2);
    let second = forges.worker(2);
    assert_eq!(first.terminate(), Some(0));
    std::fs::write(&go, "go").unwrap();
    assert_eq!(remote.0.wait().unwrap().code(), Some(0));
    forges.terminate(vec![second]);
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
    wait_until("the worker has removed the copy of its run", || forges.copies().is_empty());
    std::fs::write(&go, "go").unwrap();
    done(forges.remote(&[])).expect(0).prints(&["4 approved"]);
}

#[test]
fn an_interrupted_call_does_not_wait_for_a_store_that_takes_nothing() {
    let forges = Forges::start(answers);
    // In the place of the folder for the documents of the run.
    forges.fleet.bench.write("store/runs/a/artifacts", "");
    let log = std::fs::File::create(forges.fleet.bench.path("client.log")).unwrap();
    let mut remote = Client(forges.remote(&[]).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    wait_until("the call waits for the store", || forges.fleet.bench.read("client.log").contains("cannot be used now"));
    kill_process(Pid::from_child(&remote.0), Signal::INT).unwrap();
    let mut ended = None;
    wait_until("the call ends", || {
        ended = remote.0.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().code(), Some(130));
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
    // One error for all runs.
    forges.fleet.bench.write("file", "");
    let no_store = format!("file://{}", forges.fleet.bench.path("file/runs").display());
    for more in [&[][..], &["--list"]] {
        let args = [&["--engine", &engine, "--runs", &no_store], more].concat();
        let refused = done(forges.command("unread", &args)).expect(4).says(&["cannot read file:///"]);
        assert_eq!((refused.stdout.as_str(), refused.stderr.matches("cannot read").count()), ("", 1));
    }
    let worker = |runs: &str, cache: &str| {
        let cache = forges.fleet.bench.path(cache);
        forges.fleet.bench.run(&["worker", "--engine", &engine, "--runs", runs, "--cache", cache.to_str().unwrap()])
    };
    worker("ftp://host/runs", "cache").expect(2).says(&["no store has this kind of address"]);
    worker(&no_store, "cache").expect(4).says(&["cannot write to file:///", "check the address"]);
    worker(&forges.runs, "file").expect(2).says(&["cannot keep working copies", "--cache DIR"]);
}
